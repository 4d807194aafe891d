/**
 * Conversions between all types of values and elements, as `cast` and `bitcast` in ir/ops.ts have them. Narrow floats have been expanded, but for f16 where the device rounds to it.
 */
import type { ElemType, ValueType } from '../../ir/ops.ts';
import { isNaNOf } from './arithmetic.ts';
import { call, define, type Gen, isWide } from './code.ts';
import { half } from './halves.ts';
import { wide } from './words.ts';

const RANGES: Readonly<Partial<Record<ElemType, readonly [least: string, most: string]>>> = {
  i8: ['-128i', '127i'],
  u8: ['0i', '255i'],
  i16: ['-32768i', '32767i'],
  u16: ['0i', '65535i'],
};

/** Narrows to `to` and widens again. */
export function convert(g: Gen, from: ValueType, to: ElemType, x: string): string {
  if (from === to) return x;
  if (from === 'f32') return fromFloat(g, to, x);
  if (to === 'bool') return isWide(from) ? `any(${x} != vec2<u32>())` : `(${x} != ${from === 'i32' ? '0i' : '0u'})`;
  if (to === 'f32') {
    if (isWide(from)) return call(wide(g, `f32_of_${from}`), x);
    return from === 'u32' && g.options.onProcessor ? call(fromU32(g), x) : `f32(${x})`;
  }
  return betweenIntegers(from, to, x);
}

function fromFloat(g: Gen, to: ElemType, x: string): string {
  switch (to) {
    case 'bool':
      isNaNOf(g);
      return call(define(g, 'truth', 'fn truth(a: f32) -> bool { return a != 0.0f && !is_nan(a); }'), x);
    case 'i64':
    case 'u64':
      return call(wide(g, `${to}_of_f32`), x);
    case 'u32':
      return call(toU32(g), x);
    case 'f16':
      return half(g, 'half_round', x);
    case 'i32':
      return call(toI32(g), x);
    default: {
      const range = RANGES[to];
      if (range === undefined) throw new Error(`internal error: a conversion to ${to} was not expanded`);
      return `clamp(${call(toI32(g), x)}, ${range[0]}, ${range[1]})`;
    }
  }
}

/** To nearest, which WGSL does not ask for: SwiftShader rounds the lower 31 bits before it adds the highest one. Both halves are exact here, so that their sum alone is rounded. */
function fromU32(g: Gen): string {
  const text = 'fn f32_of_u32(a: u32) -> f32 { return f32(a & 0xffff0000u) + f32(a & 0xffffu); }';
  return define(g, 'f32_of_u32', text);
}

/** Truncated, saturated, NaN as 0. */
function toI32(g: Gen): string {
  isNaNOf(g);
  const body =
    'if (is_nan(a)) { return 0i; } if (a >= 2147483648.0f) { return 2147483647i; } if (a < -2147483648.0f) { return i32(-2147483648); } return i32(a);';
  return define(g, 'to_i32', `fn to_i32(a: f32) -> i32 { ${body} }`);
}

function toU32(g: Gen): string {
  isNaNOf(g);
  const body =
    'if (is_nan(a) || a <= 0.0f) { return 0u; } if (a >= 4294967296.0f) { return 4294967295u; } return u32(a);';
  return define(g, 'to_u32', `fn to_u32(a: f32) -> u32 { ${body} }`);
}

function betweenIntegers(from: ValueType, to: ElemType, x: string): string {
  switch (to) {
    case 'i64':
    case 'u64':
      return isWide(from) ? x : widened(from, x);
    case 'u32':
      return isWide(from) ? `${x}.x` : `u32(${x})`;
    default:
      return narrowed(to, isWide(from) ? `bitcast<i32>(${x}.x)` : from === 'i32' ? x : `i32(${x})`);
  }
}

function widened(from: ValueType, x: string): string {
  if (from !== 'i32') return `vec2<u32>(u32(${x}), 0u)`;
  // One value in both halves, the upper of which is its sign: what is computed at length is computed once.
  return `bitcast<vec2<u32>>(vec2<i32>(${x}) >> vec2<u32>(0u, 31u))`;
}

function narrowed(to: ElemType, x: string): string {
  switch (to) {
    case 'i8':
      return `((${x} << 24u) >> 24u)`;
    case 'i16':
      return `((${x} << 16u) >> 16u)`;
    case 'u8':
      return `(${x} & 255i)`;
    case 'u16':
      return `(${x} & 65535i)`;
    default:
      return x;
  }
}

export function bitcastOf(from: ValueType, to: ValueType, x: string): string {
  if (from === to || (isWide(from) && isWide(to))) return x;
  return `bitcast<${to}>(${x})`;
}
