/**
 * The scalar types, one row each: what a type is called, what its elements are in memory, and what they are in kernels.
 *
 * Everything that knows element types reads this table: dtype tokens and names, the editor's types, host arrays, codecs, DLPack, the
 * compiler's types and renderers. A float narrower than f32 is said by its bits alone (`NarrowFloat`): how it is encoded follows from
 * them, on the host (`narrow-float.ts`) and on devices (compiler/ir/passes/expand-narrow.ts). docs/architecture.md: "Add a dtype".
 */

/** A binary floating-point format as IEEE 754 lays one out: sign, exponent, fraction; subnormals, infinities and NaNs. */
export interface NarrowFloat {
  readonly exponentBits: number;
  readonly fractionBits: number;
  /** There are no infinities: all that has their exponent is a number, but for the last, which is NaN. */
  readonly finite?: boolean;
  /** What is too large for the format, infinities included, is stored as its greatest number (CUDA's `__NV_SATFINITE`). */
  readonly saturates?: boolean;
}

/** What memory is made of: the class of the TypedArray that host arrays of the type are kept in. */
export interface StorageArrays {
  readonly Int8Array: Int8Array;
  readonly Uint8Array: Uint8Array;
  readonly Uint8ClampedArray: Uint8ClampedArray;
  readonly Int16Array: Int16Array;
  readonly Uint16Array: Uint16Array;
  readonly Int32Array: Int32Array;
  readonly Uint32Array: Uint32Array;
  readonly BigInt64Array: BigInt64Array;
  readonly BigUint64Array: BigUint64Array;
  readonly Float32Array: Float32Array;
  readonly Float64Array: Float64Array;
}

/** One scalar type. */
export interface ScalarRow {
  /** `'b'` boolean, `'i'` signed, `'u'` unsigned, `'f'` float. */
  readonly kind: 'b' | 'i' | 'u' | 'f';
  readonly bytes: 1 | 2 | 4 | 8;
  /** The array protocol's name for the elements. */
  readonly typestr: string;
  /** What else users may call it, besides the typestr and the type's own name. */
  readonly names: readonly string[];
  readonly storage: keyof StorageArrays;
  /** The type of its values in kernels. */
  readonly value: 'bool' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';
  /** Memory is made of another type, which has stores of its own. */
  readonly stored?: 'u8';
  /** The elements are bits of this format, kept in an unsigned integer. */
  readonly narrow?: NarrowFloat;
  /** DLDataTypeCode; as a rule that of the kind. */
  readonly dlpack?: number;
}

// biome-ignore format: a table
export const SCALARS = {
  bool: { kind: 'b', bytes: 1, typestr: '|b1', names: ['bool_', '?', 'b1'], storage: 'Uint8Array', value: 'bool' },
  i8: { kind: 'i', bytes: 1, typestr: '|i1', names: ['int8', 'i1'], storage: 'Int8Array', value: 'i32' },
  u8: { kind: 'u', bytes: 1, typestr: '|u1', names: ['uint8', 'u1'], storage: 'Uint8Array', value: 'i32' },
  u8c: { kind: 'u', bytes: 1, typestr: '|u1', names: [], storage: 'Uint8ClampedArray', value: 'i32', stored: 'u8' },
  i16: { kind: 'i', bytes: 2, typestr: '<i2', names: ['int16', 'i2'], storage: 'Int16Array', value: 'i32' },
  u16: { kind: 'u', bytes: 2, typestr: '<u2', names: ['uint16', 'u2'], storage: 'Uint16Array', value: 'i32' },
  i32: { kind: 'i', bytes: 4, typestr: '<i4', names: ['int32', 'i4'], storage: 'Int32Array', value: 'i32' },
  u32: { kind: 'u', bytes: 4, typestr: '<u4', names: ['uint32', 'u4'], storage: 'Uint32Array', value: 'u32' },
  i64: { kind: 'i', bytes: 8, typestr: '<i8', names: ['int64'], storage: 'BigInt64Array', value: 'i64' },
  u64: { kind: 'u', bytes: 8, typestr: '<u8', names: ['uint64'], storage: 'BigUint64Array', value: 'u64' },
  f16: { kind: 'f', bytes: 2, typestr: '<f2', names: ['float16', 'f2'], storage: 'Uint16Array', value: 'f32',
    narrow: { exponentBits: 5, fractionBits: 10 } },
  // NumPy has none; ml_dtypes and PyTorch call it so.
  bf16: { kind: 'f', bytes: 2, typestr: '<V2', names: ['bfloat16'], storage: 'Uint16Array', value: 'f32',
    narrow: { exponentBits: 8, fractionBits: 7 }, dlpack: 4 },
  // "OCP 8-bit floating point", as CUDA stores it. The typestrs are those of ml_dtypes.
  f8e4m3: { kind: 'f', bytes: 1, typestr: '<V1', names: ['float8_e4m3fn'], storage: 'Uint8Array', value: 'f32',
    narrow: { exponentBits: 4, fractionBits: 3, finite: true, saturates: true }, dlpack: 10 },
  f8e5m2: { kind: 'f', bytes: 1, typestr: '<f1', names: ['float8_e5m2'], storage: 'Uint8Array', value: 'f32',
    narrow: { exponentBits: 5, fractionBits: 2, saturates: true }, dlpack: 12 },
  f32: { kind: 'f', bytes: 4, typestr: '<f4', names: ['float32', 'f4'], storage: 'Float32Array', value: 'f32' },
  f64: { kind: 'f', bytes: 8, typestr: '<f8', names: ['float64', 'f8'], storage: 'Float64Array', value: 'f64' },
} as const;

type Rows = typeof SCALARS;

/** Scalar element types. */
export type ScalarName = keyof Rows;

/** Those that memory is made of: u8c is u8 with stores of its own. */
export type StoredName = Exclude<ScalarName, 'u8c'>;

/** Floats that are kept as bits. */
export type NarrowName = {
  [K in ScalarName]: Rows[K] extends { readonly narrow: NarrowFloat } ? K : never;
}[ScalarName];

/** The class of the TypedArray that host arrays of each type are kept in. */
export type StorageOf<K extends ScalarName> = StorageArrays[Rows[K]['storage']];

/** Types whose elements are those of the TypedArray: not so for bool and what is kept as bits. */
export type PlainName = Exclude<ScalarName, 'bool' | NarrowName>;

/** The strings that name a type. A bare `'i8'` or `'u8'` is eight bytes to NumPy, and uint8 is u8. */
export type NamesOf<K extends ScalarName> = Exclude<
  K | Rows[K]['names'][number] | (K extends 'u8c' ? never : Spellings<Rows[K]['typestr']>),
  'i8' | 'u8'
>;

/** NumPy's strings, with and without an order of bytes. */
type Spellings<S extends string> = S extends `|${infer Code}`
  ? `${'|' | '<' | '=' | ''}${Code}`
  : S extends `<${infer Code extends `${'i' | 'u' | 'f'}${number}`}`
    ? `${'<' | '=' | ''}${Code}`
    : S;

/** Types whose values in kernels are bigints. */
export type BigName = { [K in ScalarName]: Rows[K]['value'] extends 'i64' | 'u64' ? K : never }[ScalarName];

const ROWS: Readonly<Record<ScalarName, ScalarRow>> = SCALARS;

/** The row of a type. */
export function rowOf(name: ScalarName): ScalarRow {
  return ROWS[name];
}

/** The names of all scalar types, in the table's order. */
export const SCALAR_NAMES: readonly ScalarName[] = Object.keys(SCALARS) as ScalarName[];

/** Whether values of the type are floats that are kept as bits. */
export function isNarrowFloat(name: ScalarName): name is NarrowName {
  return ROWS[name].narrow !== undefined;
}
