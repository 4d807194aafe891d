/**
 * Which TypedArray belongs to which dtype, in both directions.
 *
 * Host arrays of bool are kept in Uint8Array (0 or 1), of narrow floats in unsigned integers (the bits: f16 on every engine, whether
 * it has Float16Array or not), of complex numbers in pairs, of structs in bytes.
 */
import { TsambaTypeError } from '../errors.ts';
import { type DType, isScalarDType } from './dtype.ts';
import { f16, f32, f64, i8, i16, i32, i64, u8, u8c, u16, u32, u64 } from './scalars.ts';
import { isNarrowFloat, rowOf, type ScalarName, type StorageArrays } from './table.ts';
import type { ElementOf, TypedArray } from './types.ts';

/** What all TypedArray constructors have in common, as far as host arrays need it. */
export interface TypedArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (length: number): TypedArray;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): TypedArray;
}

const CLASSES: Readonly<Record<keyof StorageArrays, TypedArrayConstructor>> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array,
  Float32Array,
  Float64Array,
};

/** The TypedArray class that host arrays of a dtype are kept in; Uint8Array for structs. */
export function dataClassOf(dtype: DType): TypedArrayConstructor {
  if (isScalarDType(dtype)) return CLASSES[rowOf(dtype.name as ScalarName).storage];
  return dtype.name === 'c64' ? Float32Array : dtype.name === 'c128' ? Float64Array : Uint8Array;
}

/** Whether the elements of a TypedArray of this dtype are the elements of the array: not so for bool, narrow floats, complex, struct. */
export function hasPlainData(dtype: DType): boolean {
  return isScalarDType(dtype) && dtype.kind !== 'b' && !isNarrowFloat(dtype.name as ScalarName);
}

const DTYPES: Readonly<Record<string, DType>> = {
  Int8Array: i8,
  Uint8Array: u8,
  Uint8ClampedArray: u8c,
  Int16Array: i16,
  Uint16Array: u16,
  Int32Array: i32,
  Uint32Array: u32,
  BigInt64Array: i64,
  BigUint64Array: u64,
  Float16Array: f16,
  Float32Array: f32,
  Float64Array: f64,
};

/** `%TypedArray%.prototype[Symbol.toStringTag]`: the class name whatever the subclass (Buffer) or realm; undefined for others. */
const tagOf: (value: unknown) => string | undefined = (() => {
  const prototype: object = Object.getPrototypeOf(Uint8Array.prototype);
  const get = Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)?.get;
  return (value) => (get === undefined ? undefined : (get.call(value) as string | undefined));
})();

/** Whether a value is a TypedArray (not a DataView), of any realm, Float16Array included. */
export function isTypedArray(value: unknown): value is TypedArray {
  return ArrayBuffer.isView(value) && tagOf(value) !== undefined;
}

/** The dtype of a TypedArray's elements; `u8` for Buffer. Throws TypeError for anything else. */
export function dtypeOfTypedArray<A extends TypedArray>(array: A): DType<ElementOf<A>> {
  const dtype = DTYPES[tagOf(array) ?? ''];
  if (dtype === undefined) throw new TsambaTypeError('E_DTYPE', 'expected a TypedArray such as Float32Array');
  return dtype as DType<ElementOf<A>>;
}

/** The bytes under a TypedArray, shared with it. Throws TypeError when its buffer was detached. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  try {
    return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  } catch (cause) {
    if (array.byteLength > 0) throw cause;
    throw new TsambaTypeError(
      'E_DETACHED',
      `the ArrayBuffer of this ${tagOf(array) ?? 'view'} is detached: it was transferred (postMessage, structuredClone or ` +
        'transfer()) and has no memory here any more. Copy it before, with slice(), or use what it was transferred to',
      { cause },
    );
  }
}
