/**
 * Conversions between all types of values and elements, as `cast` in ir/ops.ts has them.
 */
import { isNarrowFloat } from '../../../dtype/index.ts';
import type { ElemType, ValueType } from '../../ir/ops.ts';
import type { Operand } from './code.ts';
import { type Gen, immediate, inRegister, isWide, TYPES } from './gen.ts';
import { toNarrow, widenNarrow } from './narrow.ts';

const RANGES: Readonly<Partial<Record<ElemType, readonly [least: number, most: number]>>> = {
  i8: [-128, 127],
  u8: [0, 255],
  i16: [-32768, 32767],
  u16: [0, 65535],
};

/** Narrows to `to` and widens again. */
export function convert(g: Gen, from: ValueType, to: ElemType, operand: Operand): Operand {
  if (from === to) return operand;
  if (to === 'bool') return toBool(g, from, operand);
  const [source, a] =
    from === 'bool'
      ? (['u32', g.code.value('r', 'selp.b32', ['1', '0', operand])] as const)
      : ([from, inRegister(g, from, operand)] as const);
  if (isNarrowFloat(to)) return widenNarrow(g, to, toNarrow(g, to, source, a));
  switch (to) {
    case 'f32':
    case 'f64':
      return toFloat(g, source, to, a);
    default:
      return source === 'f32' || source === 'f64' ? fromFloat(g, source, to, a) : betweenIntegers(g, source, to, a);
  }
}

/** Not zero, and not NaN. */
function toBool(g: Gen, from: ValueType, a: Operand): Operand {
  const isFloating = from === 'f32' || from === 'f64';
  return g.code.value('p', `setp.ne.${isFloating ? from : TYPES[from].bits}`, [
    a,
    isFloating ? immediate(from, 0) : '0',
  ]);
}

function toFloat(g: Gen, from: ValueType, to: 'f32' | 'f64', a: Operand): Operand {
  if (from === to) return a;
  const exact = from === 'f32';
  return g.code.value(TYPES[to].reg, `cvt${exact ? '' : '.rn'}.${to}.${TYPES[from].arith}`, [a]);
}

/**
 * Truncates and saturates. PTX clamps by itself, and turns NaN into 0 only from f32 to 32 bits; wider conversions give
 * 2^(width-1) for it.
 */
function fromFloat(g: Gen, from: 'f32' | 'f64', to: ElemType, a: Operand): Operand {
  const range = RANGES[to];
  const wide: 'i32' | 'u32' | 'i64' | 'u64' = range || to === 'i32' ? 'i32' : (to as 'u32' | 'i64' | 'u64');
  const { arith, bits, reg } = TYPES[wide];
  const plain = g.code.value(reg, `cvt.rzi.${arith}.${from}`, [a]);
  const settled =
    from === 'f32' && !isWide(wide)
      ? plain
      : g.code.value(reg, `selp.${bits}`, ['0', plain, g.code.value('p', `setp.nan.${from}`, [a, a])]);
  if (!range) return settled;
  const above = g.code.value('r', 'max.s32', [settled, String(range[0])]);
  return g.code.value('r', 'min.s32', [above, String(range[1])]);
}

function betweenIntegers(g: Gen, from: ValueType, to: ElemType, a: Operand): Operand {
  if (to === 'i64' || to === 'u64') {
    if (isWide(from)) return a;
    return g.code.value('rd', from === 'u32' ? 'cvt.u64.u32' : 'cvt.s64.s32', [a]);
  }
  const word = isWide(from) ? g.code.value('r', 'cvt.u32.u64', [a]) : a;
  return narrow(g, to, word);
}

/** The low bits of a 32-bit integer, widened again. */
function narrow(g: Gen, to: ElemType, a: Operand): Operand {
  switch (to) {
    case 'i8':
      return g.code.value('r', 'cvt.s32.s8', [a]);
    case 'i16':
      return g.code.value('r', 'cvt.s32.s16', [a]);
    case 'u8':
      return g.code.value('r', 'and.b32', [a, '255']);
    case 'u16':
      return g.code.value('r', 'and.b32', [a, '65535']);
    default:
      return a;
  }
}
