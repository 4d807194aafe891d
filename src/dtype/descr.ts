/**
 * Dtypes as the array protocols write them: a typestr, and for structs NumPy's `descr`, a list of `[name, type, shape?]`.
 *
 * Used by the CUDA array interface and by IPC handles. Fields without a name are padding.
 */
import { TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import type { DType } from './dtype.ts';
import { asDType } from './parse.ts';
import { structOf } from './struct.ts';
import { subArray } from './subarray.ts';
import { rowOf, SCALAR_NAMES } from './table.ts';

/** One field: its name, its type (a list for a struct), and its shape if it is a sub-array. */
export type DescrField =
  | readonly [name: string, type: string | Descr]
  | readonly [name: string, type: string | Descr, shape: readonly number[]];

/** The fields of a struct in the order of their offsets, with the padding between them. */
export type Descr = readonly DescrField[];

/** NumPy's `dtype.descr`: the fields of a struct, one field without a name for other types. */
export function descrOf(dtype: DType): Descr {
  if (dtype.fields === undefined) return [['', dtype.typestr]];
  const descr: DescrField[] = [];
  let end = 0;
  const pad = (to: number): void => {
    if (to > end) descr.push(['', `|V${to - end}`]);
  };
  for (const { name, dtype: type, offset } of dtype.fields) {
    pad(offset);
    const base = type.base ?? type;
    const written = base.fields === undefined ? base.typestr : descrOf(base);
    descr.push(type.subShape === undefined ? [name, written] : [name, written, type.subShape]);
    end = offset + type.itemSize;
  }
  pad(dtype.itemSize);
  return descr;
}

/**
 * The dtype that a typestr stands for; of a struct with its `descr`.
 * @throws TypeError for types that devices do not have, and for a struct whose fields are not said.
 */
export function dtypeOfDescr(typestr: unknown, descr: unknown): DType {
  if (typeof typestr !== 'string') {
    throw new TsambaTypeError('E_DTYPE', `the typestr must be a string such as '<f4', got ${show(typestr)}`);
  }
  const bytes = isScalarTypestr(typestr) ? null : /^[|<=]?V(\d+)$/.exec(typestr);
  if (bytes === null) return asDType(typestr);
  if (!Array.isArray(descr) || !descr.some((field) => isNamed(field))) {
    throw new TsambaTypeError(
      'E_DTYPE',
      `elements of type '${typestr}' have no fields: a structured array needs \`descr\`, as in NumPy's dtype.descr`,
    );
  }
  return structOfDescr(descr, Number(bytes[1]));
}

function isScalarTypestr(typestr: string): boolean {
  return SCALAR_NAMES.some((name) => rowOf(name).typestr === typestr);
}

function isNamed(field: unknown): boolean {
  return Array.isArray(field) && field[0] !== '';
}

function structOfDescr(descr: readonly unknown[], itemSize: number | undefined): DType {
  const fields: { name: string; dtype: DType; offset: number }[] = [];
  let end = 0;
  for (const field of descr) {
    if (!Array.isArray(field) || field.length < 2) {
      throw new TsambaTypeError('E_DTYPE', 'descr must be a list of [name, type] or [name, type, shape]');
    }
    const [given, type, shape] = field as readonly unknown[];
    // NumPy writes [title, name] for fields with a title.
    const name: unknown = Array.isArray(given) ? given[1] : given;
    if (name === '') {
      end += paddingOf(type);
      continue;
    }
    const dtype = fieldType(type, shape);
    fields.push({ name: String(name), dtype, offset: end });
    end += dtype.itemSize;
  }
  if (itemSize !== undefined && itemSize < end) {
    throw new TsambaTypeError('E_DTYPE', `the fields of descr take ${end} bytes, the elements have ${itemSize}`);
  }
  return structOf(fields, itemSize ?? end);
}

function fieldType(type: unknown, shape: unknown): DType {
  const base = Array.isArray(type) ? structOfDescr(type, undefined) : dtypeOfDescr(type, undefined);
  if (shape === undefined || shape === null) return base;
  const lengths = typeof shape === 'number' ? [shape] : [...(shape as Iterable<unknown>)].map(Number);
  return lengths.length === 0 ? base : subArray(base, lengths);
}

function paddingOf(type: unknown): number {
  const bytes = /^[|<=]?V(\d+)$/.exec(String(type));
  if (bytes !== null) return Number(bytes[1]);
  throw new TsambaTypeError(
    'E_DTYPE',
    `a field of descr without a name must be padding such as '|V4', got ${show(type)}`,
  );
}
