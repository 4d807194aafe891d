/**
 * Which operators there are for which types, as random expressions pick from them.
 */
import type { BinOp, CmpOp, QuotientOp, Ty, UnOp } from './program.ts';

export const CMPS: readonly CmpOp[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];
export const INT_BIN: readonly BinOp[] = [
  'add',
  'sub',
  'mul',
  'rem',
  'and',
  'or',
  'xor',
  'shl',
  'shr',
  'min',
  'max',
  'fmin',
  'fmax',
  'pow',
];
export const FLOAT_BIN: readonly BinOp[] = [
  'add',
  'sub',
  'mul',
  'div',
  'add',
  'sub',
  'mul',
  'div',
  'rem',
  'min',
  'max',
  'fmin',
  'fmax',
  'copysign',
];
export const INT_UN: readonly UnOp[] = [
  'neg',
  'not',
  'abs',
  'sign',
  'clz',
  'popc',
  'floor',
  'ceil',
  'trunc',
  'round',
  'rint',
  'square',
];
export const FLOAT_UN: readonly UnOp[] = [
  'neg',
  'abs',
  'sign',
  'sqrt',
  'floor',
  'ceil',
  'trunc',
  'round',
  'rint',
  'square',
];

export const QUOTIENT_OPS: readonly QuotientOp[] = ['or0', 'trunc', 'floor', 'ceil', 'round', 'rint'];

/** What widens to a type by itself, beside a value of that type. */
export const NARROWER: Readonly<Partial<Record<Ty, readonly Ty[]>>> = {
  i32: ['bool'],
  u32: ['bool'],
  i64: ['i32', 'u32'],
  u64: ['u32'],
  f32: ['i32', 'u32', 'bool', 'f16', 'bf16'],
  f64: ['i32', 'u32', 'f32', 'bool', 'f16'],
};
