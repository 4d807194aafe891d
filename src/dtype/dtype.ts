/**
 * Data types: what an array element is, how many bytes it takes, and how it is written as a string.
 *
 * This file holds the description of a type, its TypeScript face, and the test that two are the same. The tokens that users
 * write (`f32`, `i32`, …), which are also casts, are made in `scalars.ts`; complex, struct and sub-array types have files of
 * their own; reading and writing elements is `codec.ts`.
 */
import { NotSupportedError } from '../errors.ts';
import { rowOf, SCALARS, type ScalarName, type StoredName } from './table.ts';

/** `c64`/`c128` are complex numbers of two f32 / two f64. */
export type ComplexName = 'c64' | 'c128';

/**
 * NumPy's letters: `'b'` boolean, `'i'` signed, `'u'` unsigned, `'f'` float, `'c'` complex, `'V'` struct, vector or sub-array, `'S'` and `'U'` strings,
 * `'M'` date, `'m'` duration.
 */
export type DTypeKind = 'b' | 'i' | 'u' | 'f' | 'c' | 'V' | 'S' | 'U' | 'M' | 'm';

/** Marks every dtype, across copies of the library in one process. Its value is the dtype's name. */
export const DTYPE: unique symbol = Symbol.for('tsamba.dtype') as never;

/** Phantom property: the TypeScript type of one element. Never present at run time. */
declare const elementType: unique symbol;

/** The description of an element type `T`. Two dtypes are the same type when `sameDType` says so. */
export interface DType<out T = unknown> {
  readonly [DTYPE]: string;
  readonly [elementType]?: T;
  /** `'f32'`, `'i64'`, …; `'f32x4'` for a vector, `'struct'` for a record, `'f32[3,2]'` for a fixed sub-array. */
  readonly name: string;
  /**
   * NumPy's letter: `'f'` for floats, `'i'` and `'u'` for integers, `'b'`, `'c'`, `'V'` for structs, `'S'` and `'U'` for strings, `'M'` and `'m'` for
   * dates and durations.
   */
  readonly kind: DTypeKind;
  /** Size of one element in bytes. */
  readonly itemSize: number;
  /** Natural alignment in bytes; 1 for a packed struct. */
  readonly alignment: number;
  /** NumPy's array-protocol string, e.g. `'<f4'`, `'|V12'`. */
  readonly typestr: string;
  /** Structs and vectors: the fields, in order of offset. */
  readonly fields?: readonly StructField[];
  /** Sub-array only: the element and the shape. */
  readonly base?: DType;
  /** Sub-array only: its shape. */
  readonly subShape?: readonly number[];
}

/** One field of a struct. */
export interface StructField {
  readonly name: string;
  readonly dtype: DType;
  /** Bytes from the start of the struct. */
  readonly offset: number;
}

/** Whether a value is a dtype: one of the tokens, or made by `struct()` or `.array()`. */
export function isDType(value: unknown): value is DType {
  if ((typeof value !== 'function' && typeof value !== 'object') || value === null) return false;
  return typeof (value as { [DTYPE]?: unknown })[DTYPE] === 'string';
}

/** Whether the dtype is one of the scalar types (not complex, struct or sub-array). */
export function isScalarDType(dtype: DType): boolean {
  return Object.hasOwn(SCALARS, dtype.name);
}

/** What memory of a scalar dtype is made of for the compiler. Throws NotSupportedError for types that kernels have no elements of. */
export function elemOf(dtype: DType): StoredName {
  if (isScalarDType(dtype)) {
    const name = dtype.name as ScalarName;
    return rowOf(name).stored ?? (name as StoredName);
  }
  throw new NotSupportedError(
    'E_DTYPE_KERNEL',
    `kernels cannot access elements of type ${describeDType(dtype)}; pass an array of ${
      dtype.kind === 'c' ? `its parts: a.view(${dtype.name === 'c64' ? 'f32' : 'f64'})` : 'one of its scalar fields'
    }`,
  );
}

/** Whether stores clamp and round, as those of Uint8ClampedArray do. */
export function isClamped(dtype: DType): boolean {
  return dtype.name === 'u8c';
}

/** Whether the elements of two dtypes are the same bytes: equal dtypes, or u8 and u8c. */
export function sameBytes(a: DType, b: DType): boolean {
  return sameDType(a, b) || (isByte(a) && isByte(b));
}

function isByte(dtype: DType): boolean {
  return dtype.name === 'u8' || isClamped(dtype);
}

/** Whether two dtypes describe the same element: equal scalars, or structs with equal fields at equal offsets. */
export function sameDType(a: DType, b: DType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.itemSize !== b.itemSize || a.name !== b.name) return false;
  if (a.base !== undefined || b.base !== undefined) {
    if (a.base === undefined || b.base === undefined) return false;
    return String(a.subShape) === String(b.subShape) && sameDType(a.base, b.base);
  }
  if (a.fields === undefined || b.fields === undefined) return a.fields === b.fields && a.name === b.name;
  const fields = b.fields;
  return (
    a.fields.length === fields.length &&
    a.fields.every((field, i) => {
      const other = fields[i];
      return (
        other !== undefined &&
        field.name === other.name &&
        field.offset === other.offset &&
        sameDType(field.dtype, other.dtype)
      );
    })
  );
}

/** The dtype as messages show it: `f32`, `struct{x: f32, y: i32}`, `f32[3,2]`. */
export function describeDType(dtype: DType): string {
  if (dtype.name === 'struct' && dtype.fields !== undefined) {
    return `struct{${dtype.fields.map((f) => `${f.name}: ${describeDType(f.dtype)}`).join(', ')}}`;
  }
  if (dtype.base !== undefined) return `${describeDType(dtype.base)}[${String(dtype.subShape)}]`;
  return dtype.name;
}

/** Two dtypes that are not the same, as one message shows both: structs that differ in nothing but the places of fields say so. */
export function describeDTypes(a: DType, b: DType): readonly [string, string] {
  const short: readonly [string, string] = [describeDType(a), describeDType(b)];
  return short[0] === short[1] ? [spellDType(a), spellDType(b)] : short;
}

/** The dtype as programs write it: `f32`, `f32.array(3, 2)`, `struct({ x: f32, y: i32 }, { align: true })`. */
export function spellDType(dtype: DType): string {
  const { fields, base } = dtype;
  if (base !== undefined) return `${spellDType(base)}.array(${(dtype.subShape ?? []).join(', ')})`;
  if (fields === undefined || dtype.name !== 'struct') return dtype.name;
  const inner = fields.map(({ name, dtype: type }) => `${spellKey(name)}: ${spellDType(type)}`).join(', ');
  const layout = layoutOf(dtype, fields);
  if (layout !== 'other') return `struct({ ${inner} }${layout === 'aligned' ? ', { align: true }' : ''})`;
  return `struct { ${inner} } with offsets ${fields.map((field) => field.offset).join(', ')} in ${dtype.itemSize} bytes`;
}

function spellKey(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}

/** What `struct()` must be told to lay fields out so; `'other'`: nothing will do, the struct is another program's. */
function layoutOf(dtype: DType, fields: readonly StructField[]): 'packed' | 'aligned' | 'other' {
  for (const aligned of [false, true]) {
    const alignments = fields.map((field) => (aligned ? field.dtype.alignment : 1));
    let end = 0;
    const fits = fields.every(({ dtype: { itemSize }, offset }, k) => {
      const start = roundUp(end, alignments[k] ?? 1);
      end = start + itemSize;
      return offset === start;
    });
    const alignment = Math.max(...alignments);
    if (fits && dtype.alignment === alignment && dtype.itemSize === roundUp(end, alignment))
      return aligned ? 'aligned' : 'packed';
  }
  return 'other';
}

/** The next multiple of `alignment` that is not below `bytes`. */
export function roundUp(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** Makes a dtype that is still being built print as programs write it. */
export function printable<D extends object>(dtype: D): D {
  const text = (): string => spellDType(dtype as unknown as DType);
  return Object.defineProperties(dtype, {
    toString: { value: text },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: text },
  });
}
