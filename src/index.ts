/**
 * What `tsamba` exports: the namespaces `cuda` and `roc`, host arrays, data types, the types that kernels are annotated with, and errors.
 */
/// <reference lib="esnext.disposable" preserve="true" />
export { type ArrayExpression, DeviceNDArray } from './array/device-array.ts';
export { DeviceRecord } from './array/device-record.ts';
export { NDArray } from './array/ndarray.ts';
export { ndarray } from './array/ndarray-create.ts';
export type { Namespace } from './array/rank.ts';
export { type Side, SmartArray, type SmartArrayOptions, type SmartArrayShape } from './array/smart-array.ts';
export { type Cuda, cuda } from './cuda/namespace.ts';
export {
  type Big,
  bf16,
  bf16x2,
  bf16x3,
  bf16x4,
  bool,
  type Complex,
  type ComplexNum,
  type ComplexToken,
  c64,
  c128,
  charSeq,
  type DateLike,
  type DatetimeToken,
  type DType,
  type DTypeLike,
  type DTypeName,
  type DTypeToken,
  datetime64,
  type Flag,
  f8e4m3,
  f8e5m2,
  f16,
  f16x2,
  f16x3,
  f16x4,
  f32,
  f32x2,
  f32x3,
  f32x4,
  f64,
  f64x2,
  f64x3,
  f64x4,
  i8,
  i8x2,
  i8x3,
  i8x4,
  i16,
  i16x2,
  i16x3,
  i16x4,
  i32,
  i32x2,
  i32x3,
  i32x4,
  i64,
  i64x2,
  i64x3,
  i64x4,
  isNaT,
  NaT,
  type Num,
  type Struct,
  type StructDType,
  type StructValue,
  type SubArrayDType,
  struct,
  type TextDType,
  type TimedeltaToken,
  type TimeUnit,
  type TypedArray,
  timedelta64,
  u8,
  u8c,
  u8x2,
  u8x3,
  u8x4,
  u16,
  u16x2,
  u16x3,
  u16x4,
  u32,
  u32x2,
  u32x3,
  u32x4,
  u64,
  u64x2,
  u64x3,
  u64x4,
  unicodeCharSeq,
  type Vector,
  type VectorToken,
} from './dtype/index.ts';
export {
  type Coded,
  DriverError,
  KernelError,
  NotSupportedError,
  OutOfMemoryError,
  type SourceLocation,
  TsambaRangeError,
  TsambaTypeError,
} from './errors.ts';
export type { Graph, GraphLaunchOptions } from './graph/graph.ts';
export type { AsyncLaunchOptions } from './kernel/async-launch.ts';
export {
  type DefineIntrinsic,
  defineIntrinsic,
  overload,
} from './kernel/extend.ts';
export type { Kernel } from './kernel/kernel-types.ts';
export type { LaunchOptions } from './kernel/launch-shape.ts';
export type { JitOptions } from './kernel/options.ts';
export { type ArgumentType, type SignatureItem, type SignatureValue, types } from './kernel/signature.ts';
export type { Cube, In, InCube, InMat, InVec, Mat, Vec, View } from './kernel/types.ts';
export { scope } from './memory/scope.ts';
export type { RandomGenerator } from './random/types.ts';
export type { XoroshiroState, XoroshiroStates } from './random/xoroshiro128p.ts';
export type { Reduction } from './reduce/reduce.ts';
export { hsa, type Roc, roc } from './roc/namespace.ts';
export type { Event } from './stream/event.ts';
export type { CreateStream, Stream, StreamOptions } from './stream/stream.ts';
export type { GUFunc, UFunc } from './ufunc/types.ts';
