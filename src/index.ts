/**
 * What `tsamba` exports: the namespaces `cuda` and `roc`, host arrays, data types, the types that kernels are annotated with, and errors.
 */
/// <reference lib="esnext.disposable" preserve="true" />
export { DeviceNDArray } from './array/device-array.ts';
export { DeviceRecord } from './array/device-record.ts';
export { NDArray } from './array/ndarray.ts';
export { ndarray } from './array/ndarray-create.ts';
export { type Side, SmartArray, type SmartArrayOptions, type SmartArrayShape } from './array/smart-array.ts';
export { type Cuda, cuda } from './cuda/namespace.ts';
export {
  bf16,
  bool,
  type Complex,
  c64,
  c128,
  type DType,
  type DTypeLike,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  type Struct,
  type StructDType,
  struct,
  type TypedArray,
  u8,
  u8c,
  u16,
  u32,
  u64,
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
export type { AsyncLaunchOptions } from './kernel/async-launch.ts';
export type { Kernel } from './kernel/kernel-types.ts';
export type { LaunchOptions } from './kernel/launch-shape.ts';
export type { JitOptions } from './kernel/options.ts';
export type { Cube, In, Mat, Vec, View } from './kernel/types.ts';
export { scope } from './memory/scope.ts';
export { hsa, type Roc, roc } from './roc/namespace.ts';
export type { Event } from './stream/event.ts';
export type { Stream } from './stream/stream.ts';
