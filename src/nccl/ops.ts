/**
 * What is reduced, and as what: operators by name, and the types in which elements travel.
 *
 * NCCL has numbers only. What is merely moved goes as bytes, whatever it is; what is computed with goes as the numbers that it is made of.
 */
import { type DType, describeDType, isScalarDType, rowOf, type ScalarName } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** How contributions of ranks are combined. `avg` is the sum divided by the number of ranks, towards zero for integers. */
export type ReduceOp = 'sum' | 'prod' | 'min' | 'max' | 'avg';

/** In the order of ncclRedOp_t. */
export const OPS: readonly ReduceOp[] = ['sum', 'prod', 'max', 'min', 'avg'];

/** The number types of NCCL. */
export type WireType =
  | 'i8'
  | 'u8'
  | 'i32'
  | 'u32'
  | 'i64'
  | 'u64'
  | 'f16'
  | 'f32'
  | 'f64'
  | 'bf16'
  | 'f8e4m3'
  | 'f8e5m2';

/** By ncclDataType_t. */
export const WIRE_TYPES: Readonly<Record<WireType, number>> = {
  i8: 0,
  u8: 1,
  i32: 2,
  u32: 3,
  i64: 4,
  u64: 5,
  f16: 6,
  f32: 7,
  f64: 8,
  bf16: 9,
  f8e4m3: 10,
  f8e5m2: 11,
};

/** As what elements travel, and how many of that an element is. */
export interface Wire {
  readonly type: WireType;
  readonly lanes: number;
}

/** An operator that was given. Throws TypeError for what is none. */
export function operatorOf(call: string, op: unknown): ReduceOp {
  if (op === undefined) return 'sum';
  if (OPS.includes(op as ReduceOp)) return op as ReduceOp;
  throw new TsambaTypeError(
    'E_NCCL_ARGUMENT',
    `${call}: op is one of 'sum', 'prod', 'min', 'max', 'avg', got ${show(op)}`,
  );
}

/** Elements that are only moved: as bytes. */
export function movedAs(dtype: DType): Wire {
  return { type: 'u8', lanes: dtype.itemSize };
}

/**
 * Elements that are combined.
 * @throws NotSupportedError for types that NCCL cannot compute with, whatever the transport is.
 */
export function combinedAs(call: string, dtype: DType, op: ReduceOp): Wire {
  const parts = partsOf(dtype);
  if (parts === undefined) throw refused(call, dtype, `${op} of structs is not defined: reduce views of their fields`);
  const { name, isComplex } = parts;
  if (isComplex && op !== 'sum' && op !== 'avg') {
    throw refused(call, dtype, 'complex numbers only support sum and avg');
  }
  if (name === 'bool' && op !== 'min' && op !== 'max') {
    throw refused(call, dtype, "booleans have op: 'max' (any) and op: 'min' (all)");
  }
  if (name === 'i16' || name === 'u16') throw refused(call, dtype, 'NCCL has no integers of 16 bits: convert to i32');
  const type = name === 'bool' ? 'u8' : (rowOf(name).stored ?? name);
  return { type: type as WireType, lanes: dtype.itemSize / rowOf(name).bytes };
}

function partsOf(dtype: DType): { readonly name: ScalarName; readonly isComplex: boolean } | undefined {
  if (isScalarDType(dtype)) return { name: dtype.name as ScalarName, isComplex: false };
  if (dtype.kind === 'c') return { name: dtype.itemSize === 8 ? 'f32' : 'f64', isComplex: true };
  if (dtype.base !== undefined) return partsOf(dtype.base);
  const lane = (dtype as { readonly lane?: DType }).lane;
  return lane === undefined ? undefined : partsOf(lane);
}

function refused(call: string, dtype: DType, why: string): NotSupportedError {
  return new NotSupportedError('E_NCCL_DTYPE', `${call} of ${describeDType(dtype)}: ${why}`);
}
