/**
 * The scalar tokens `bool i8 … f64`: each is a dtype and, called, a cast.
 *
 * The same name is a type (`Vec<f32>`), a value (`deviceArray(n, f32)`) and a function (`f32(x)`). The compiler recognises
 * the tokens by identity, so they are frozen and made once. What each is stands in `table.ts`, how values convert in `convert.ts`.
 */
import { converterTo } from './convert.ts';
import { DTYPE, type DType, printable } from './dtype.ts';
import { type SubArrayDType, subArray } from './subarray.ts';
import { rowOf, type ScalarName } from './table.ts';
import type * as t from './types.ts';

/** A dtype that is called to convert a value to it: on the host `f32(x)` returns the plain rounded number. */
export interface DTypeToken<out T> extends DType<T> {
  /** Converts: a float to an integer type truncates and saturates (NaN gives 0), a bigint wraps. Throws TypeError. */
  (value: number | bigint | boolean): T;
  readonly name: ScalarName;
  /** A fixed sub-array for the field of a struct: `f32.array(3, 2)`. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<T, S>;
}

function token<T>(name: ScalarName): DTypeToken<T> {
  const { kind, bytes, typestr } = rowOf(name);
  const convert = converterTo(name);
  // An arrow around `convert`, so that every token is a function object of its own.
  const cast = (value: number | bigint | boolean): unknown => convert(value);
  const description = { kind, itemSize: bytes, alignment: bytes, typestr };
  Object.defineProperty(cast, 'name', { value: name });
  Object.defineProperty(cast, DTYPE, { value: name });
  Object.assign(cast, description, {
    array: <const S extends readonly number[]>(...shape: S) => subArray(cast as unknown as DType<T>, shape),
  });
  return Object.freeze(printable(cast)) as unknown as DTypeToken<T>;
}

/** An element of type bool, for annotations: `Vec<bool>`. */
export type bool = t.Flag;
/** A boolean, one byte in memory. Dtype, and cast: `bool(x)`. NumPy's bool_. */
export const bool: DTypeToken<bool> = token('bool');
/** An element of type i8, for annotations: `Vec<i8>`. */
export type i8 = t.Num<'i8'>;
/** A signed integer of 8 bits; i32 in expressions. Dtype, and cast: `i8(x)`. NumPy's int8. */
export const i8: DTypeToken<i8> = token('i8');
/** An element of type u8, for annotations: `Vec<u8>`. */
export type u8 = t.Num<'u8'>;
/** An unsigned integer of 8 bits; i32 in expressions. Dtype, and cast: `u8(x)`. NumPy's uint8. */
export const u8: DTypeToken<u8> = token('u8');
/** An element of type u8c, for annotations: `Vec<u8c>`. */
export type u8c = t.Num<'u8c'>;
/**
 * An unsigned integer of 8 bits whose stores clamp to 0 … 255 and round half to even, like those of `Uint8ClampedArray`, which
 * is what every `ImageData` has. Reads as u8 does. Dtype, and cast: `u8c(x)`. NumPy's uint8 in memory.
 */
export const u8c: DTypeToken<u8c> = token('u8c');
/** An element of type i16, for annotations: `Vec<i16>`. */
export type i16 = t.Num<'i16'>;
/** A signed integer of 16 bits; i32 in expressions. Dtype, and cast: `i16(x)`. NumPy's int16. */
export const i16: DTypeToken<i16> = token('i16');
/** An element of type u16, for annotations: `Vec<u16>`. */
export type u16 = t.Num<'u16'>;
/** An unsigned integer of 16 bits; i32 in expressions. Dtype, and cast: `u16(x)`. NumPy's uint16. */
export const u16: DTypeToken<u16> = token('u16');
/** An element of type i32, for annotations: `Vec<i32>`. */
export type i32 = t.Num<'i32'>;
/** A signed integer of 32 bits, which wraps. Dtype, and cast: `i32(x)`. NumPy's int32. */
export const i32: DTypeToken<i32> = token('i32');
/** An element of type u32, for annotations: `Vec<u32>`. */
export type u32 = t.Num<'u32'>;
/** An unsigned integer of 32 bits, which wraps. Dtype, and cast: `u32(x)`. NumPy's uint32. */
export const u32: DTypeToken<u32> = token('u32');
/** An element of type i64, for annotations: `Vec<i64>`. */
export type i64 = t.Big<'i64'>;
/** A signed integer of 64 bits, which wraps: a bigint. Dtype, and cast: `i64(x)`. NumPy's int64. */
export const i64: DTypeToken<i64> = token('i64');
/** An element of type u64, for annotations: `Vec<u64>`. */
export type u64 = t.Big<'u64'>;
/** An unsigned integer of 64 bits, which wraps: a bigint. Dtype, and cast: `u64(x)`. NumPy's uint64. */
export const u64: DTypeToken<u64> = token('u64');
/** An element of type f16, for annotations: `Vec<f16>`. */
export type f16 = t.Num<'f16'>;
/** Half precision, kept as its bits on the host. In kernels each operation on two f16 rounds to f16. Dtype, and cast: `f16(x)`. NumPy's float16. */
export const f16: DTypeToken<f16> = token('f16');
/** An element of type bf16, for annotations: `Vec<bf16>`. */
export type bf16 = t.Num<'bf16'>;
/** The upper half of an f32, "brain float": its range, and 8 digits. Kept as its bits on the host. In kernels each operation on two bf16 rounds to bf16. Dtype, and cast: `bf16(x)`. PyTorch's bfloat16. */
export const bf16: DTypeToken<bf16> = token('bf16');
/** An element of type f8e4m3, for annotations: `Vec<f8e4m3>`. */
export type f8e4m3 = t.Num<'f8e4m3'>;
/**
 * 8 bits with 4 digits up to 448, without infinities, for storage: kernels compute in f32. Stores round to the nearest element, ties to even, and
 * saturate. Dtype, and cast: `f8e4m3(x)`. CUDA's `__nv_fp8_e4m3`, PyTorch's float8_e4m3fn.
 */
export const f8e4m3: DTypeToken<f8e4m3> = token('f8e4m3');
/** An element of type f8e5m2, for annotations: `Vec<f8e5m2>`. */
export type f8e5m2 = t.Num<'f8e5m2'>;
/**
 * 8 bits with 3 digits up to 57344, for storage: kernels compute in f32. Stores round to the nearest element, ties to even, and saturate.
 * Dtype, and cast: `f8e5m2(x)`. CUDA's `__nv_fp8_e5m2`, PyTorch's float8_e5m2.
 */
export const f8e5m2: DTypeToken<f8e5m2> = token('f8e5m2');
/** An element of type f32, for annotations: `Vec<f32>`. */
export type f32 = t.Num<'f32'>;
/** Single precision. Dtype, and cast: `f32(x)`. NumPy's float32. */
export const f32: DTypeToken<f32> = token('f32');
/** An element of type f64, for annotations: `Vec<f64>`. */
export type f64 = t.Num<'f64'>;
/** Double precision, as JavaScript has it. Dtype, and cast: `f64(x)`. NumPy's float64. */
export const f64: DTypeToken<f64> = token('f64');

/** The tokens by their names. */
export const SCALAR_TOKENS: Readonly<Record<ScalarName, DTypeToken<unknown>>> = Object.freeze({
  bool,
  i8,
  u8,
  u8c,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  f32,
  f64,
});
