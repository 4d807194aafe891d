/**
 * Conversions between all types of values and elements, as `cast` and `bitcast` in ir/ops.ts have them.
 */
import { isNarrowFloat, type NarrowName } from '../../../dtype/index.ts';
import type { ElemType, ValueType } from '../../ir/ops.ts';
import { type C, callOf, castTo, type Gen, Level, typeOf, within } from './code.ts';
import { helper, toHalf } from './helpers.ts';

const NARROW: Readonly<Partial<Record<ElemType, readonly [least: number, most: number]>>> = {
  i8: [-128, 127],
  u8: [0, 255],
  i16: [-32768, 32767],
  u16: [0, 65535],
};

/** Narrows to `to` and widens again. */
export function convert(g: Gen, from: ValueType, to: ElemType, a: C): C {
  if (from === to) return a;
  const floating = from === 'f32' || from === 'f64';
  // Integers that f32 rounds are beyond the range of f16, which is the only narrow float that is left here.
  if (isNarrowFloat(to)) return callOf(toHalf(g, from === 'f64' ? 'f64' : 'f32'), floating ? a : castTo('float', a));
  switch (to) {
    case 'bool':
      if (floating) return callOf(helper(g, 'truth', from), a);
      return { text: `${within(a, Level.sum)} != 0`, level: Level.loose };
    case 'f32':
    case 'f64':
      return castTo(typeOf(to), a);
    default:
      return floating ? fromFloat(g, from, to, a) : betweenIntegers(from, to, a);
  }
}

function fromFloat(g: Gen, from: 'f32' | 'f64', to: Exclude<ElemType, 'bool' | NarrowName | 'f32' | 'f64'>, a: C): C {
  const range = NARROW[to];
  if (range === undefined) return callOf(helper(g, `to_${to as 'i32' | 'u32' | 'i64' | 'u64'}`, from), a);
  const word = callOf(helper(g, 'to_i32', from), a);
  return callOf('clamp', word, { text: String(range[0]), level: 0 }, { text: String(range[1]), level: 0 });
}

function betweenIntegers(from: ValueType, to: ElemType, a: C): C {
  switch (to) {
    case 'i8':
      return castTo('int', castTo('char', a));
    case 'i16':
      return castTo('int', castTo('short', a));
    case 'u8':
      return castTo('int', castTo('uchar', a));
    case 'u16':
      return castTo('int', castTo('ushort', a));
    default:
      return castTo(typeOf(to as ValueType), from === 'bool' ? castTo('int', a) : a);
  }
}

export function bitcastOf(from: ValueType, to: ValueType, a: C): C {
  return from === to ? a : callOf(`as_${typeOf(to)}`, a);
}
