/**
 * Data types: what an array element is, how many bytes it takes, and how it is written as a string.
 *
 * This file holds the description of a type and nothing else; the tokens that users write (`f32`, `i32`, …), which are
 * also casts, are made in `scalars.ts`, complex and struct types in their own files.
 */

/** Scalar element types. `c64`/`c128` are complex numbers of two f32 / two f64. */
export type ScalarName =
  | 'bool' | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f16' | 'f32' | 'f64';

export type ComplexName = 'c64' | 'c128';

/** `'b'` boolean, `'i'` signed, `'u'` unsigned, `'f'` float, `'c'` complex, `'V'` struct: NumPy's letters. */
export type DTypeKind = 'b' | 'i' | 'u' | 'f' | 'c' | 'V';

/** The description of an element type. Two dtypes are the same type when their `typestr`/fields are equal. */
export interface DType {
  /** `'f32'`, `'i64'`, …; `'struct'` for a record. */
  readonly name: string;
  readonly kind: DTypeKind;
  /** Size of one element in bytes. */
  readonly itemSize: number;
  /** Natural alignment in bytes. */
  readonly alignment: number;
  /** NumPy's array-protocol string, e.g. `'<f4'`. */
  readonly typestr: string;
}
