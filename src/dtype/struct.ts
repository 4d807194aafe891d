/**
 * Record types: `struct({ x: f32, y: i32 }, { align?: true })`, laid out as NumPy lays out structured dtypes.
 *
 * Packed unless `align` is set; with it, each field starts at a multiple of its alignment and the whole is padded to the
 * largest, as a C compiler would. Structs nest, and fields may be sub-arrays (`f32.array(3, 2)`).
 */
import { TsambaTypeError } from '../errors.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { DTYPE, type DType, printable, roundUp, type StructField } from './dtype.ts';
import { asFieldDType } from './parse.ts';
import { type SubArrayDType, subArray } from './subarray.ts';
import type { DTypeLike, Plain, ValueOf } from './types.ts';

/** A record type; `T` is the plain object that an element is on the host. */
export interface StructDType<out T = unknown> extends DType<T> {
  readonly name: 'struct';
  /** NumPy's letter for structs. */
  readonly kind: 'V';
  readonly fields: readonly StructField[];
  /** Whether fields lie at multiples of their alignment. */
  readonly aligned: boolean;
  /** A fixed sub-array for the field of another struct. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<T, S>;
}

/** The plain object that one element of a struct is: `Struct<typeof Particle>`. */
export type Struct<D> = D extends DType<infer T> ? Plain<T> : never;

/** The plain object that stands for one element of a struct with these fields. */
export type StructValue<F> = { -readonly [K in keyof F]: Plain<ValueOf<F[K]>> };

/**
 * A record type with the given fields in the order written. Throws TypeError for no fields, for a field that is not a dtype, and
 * for a field name that JavaScript would move to the front (`'0'`). NumPy's `np.dtype([...], align=)`.
 */
export function struct<const F extends Readonly<Record<string, DTypeLike>>>(
  fields: F,
  options: { readonly align?: boolean } = {},
): StructDType<StructValue<F>> {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new TsambaTypeError('E_STRUCT', 'struct() takes an object of fields, as in struct({ x: f32, y: i32 })');
  }
  const { align: aligned = false } = readOptions('struct', options, ['align']);
  if (typeof aligned !== 'boolean')
    throw new TsambaTypeError('E_OPTION', `align of struct() must be true or false, got ${show(aligned)}`);
  const laidOut: StructField[] = [];
  let end = 0;
  let alignment = 1;
  for (const [name, like] of Object.entries(fields)) {
    // Such keys come first in any JavaScript object, whatever the order written: the layout would not be what it looks like.
    if (/^(0|[1-9]\d*)$/.test(name)) {
      throw new TsambaTypeError('E_STRUCT', `struct field '${name}' must not be a whole number; name it '_${name}'`);
    }
    const dtype = asFieldDType(like, `struct field '${name}'`);
    const offset = aligned ? roundUp(end, dtype.alignment) : end;
    if (aligned) alignment = Math.max(alignment, dtype.alignment);
    laidOut.push(Object.freeze({ name, dtype, offset }));
    end = offset + dtype.itemSize;
  }
  if (laidOut.length === 0) throw new TsambaTypeError('E_STRUCT', 'struct() needs at least one field');
  const itemSize = roundUp(end, alignment);
  const dtype: StructDType<StructValue<F>> = {
    [DTYPE]: 'struct',
    name: 'struct',
    kind: 'V',
    itemSize,
    alignment,
    typestr: `|V${itemSize}`,
    fields: Object.freeze(laidOut),
    aligned,
    array: (...shape) => subArray(dtype, shape),
  };
  return Object.freeze(printable(dtype));
}

/** A record type whose fields lie where they are said to, in the order of their offsets. */
export function structOf(fields: readonly StructField[], itemSize: number): StructDType {
  if (fields.length === 0) throw new TsambaTypeError('E_STRUCT', 'a struct needs at least one field');
  const natural = Math.max(...fields.map((field) => field.dtype.alignment));
  const aligned = itemSize % natural === 0 && fields.every(({ dtype, offset }) => offset % dtype.alignment === 0);
  const dtype: StructDType = {
    [DTYPE]: 'struct',
    name: 'struct',
    kind: 'V',
    itemSize,
    alignment: aligned ? natural : 1,
    typestr: `|V${itemSize}`,
    fields: Object.freeze(fields.map((field) => Object.freeze({ ...field }))),
    aligned,
    array: (...shape) => subArray(dtype, shape),
  };
  return Object.freeze(printable(dtype));
}
