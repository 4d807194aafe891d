/**
 * Data types, gathered: what the rest of the library imports. Depends on nothing but errors, and how options are checked and values shown in them.
 */
export * from './codec.ts';
export * from './complex.ts';
export { converterBetween, converterTo, integerRange, roundToOdd } from './convert.ts';
export { type Descr, type DescrField, descrOf, dtypeOfDescr } from './descr.ts';
export * from './dtype.ts';
export { type Member, memberOf } from './members.ts';
export { greatestOf, nanOf, narrowCodec } from './narrow-float.ts';
export { asDType } from './parse.ts';
export * from './scalars.ts';
export * from './struct.ts';
export * from './subarray.ts';
export {
  isNarrowFloat,
  type NarrowFloat,
  type NarrowName,
  type PlainName,
  rowOf,
  SCALAR_NAMES,
  SCALARS,
  type ScalarName,
  type StoredName,
} from './table.ts';
export * from './text.ts';
export * from './time.ts';
export * from './time-units.ts';
export * from './typedarray.ts';
export type {
  Big,
  Complex,
  ComplexNum,
  DataOf,
  DTypeLike,
  DTypeName,
  ElementOf,
  FieldElement,
  FieldOf,
  Flag,
  InKernel,
  Num,
  Plain,
  Scalar,
  TypedArray,
  ValueOf,
  Vector,
  VectorParts,
} from './types.ts';
export * from './vector.ts';
