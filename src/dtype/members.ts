/**
 * Members of records: where a field of a struct, or a part of a complex number, lies in each element.
 */
import { TsambaTypeError } from '../errors.ts';
import { type DType, describeDType } from './dtype.ts';
import { f32, f64 } from './scalars.ts';
import { nearest } from './spelling.ts';

/** One member: `shape` and `strides` (bytes) are those of a sub-array, empty for all else. */
export interface Member {
  readonly dtype: DType;
  /** Bytes from the start of the element. */
  readonly offset: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** The member `name` of a struct's or complex dtype's elements. Throws TypeError when there is none. */
export function memberOf(dtype: DType, name: unknown): Member {
  const fields = dtype.fields ?? parts(dtype);
  const field = fields.find((f) => f.name === name);
  if (field !== undefined) return split(field.dtype, field.offset);
  const names = fields.map((f) => f.name);
  const near = typeof name === 'string' ? nearest(name, names) : undefined;
  const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  const shown = typeof name === 'string' ? `'${name}'` : `of type ${typeof name}`;
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  throw new TsambaTypeError('E_FIELD', `${describeDType(dtype)} has no field ${shown}: ${known}${hint}`);
}

function parts(dtype: DType): readonly { readonly name: string; readonly dtype: DType; readonly offset: number }[] {
  if (dtype.kind !== 'c') return [];
  const part = dtype.name === 'c64' ? f32 : f64;
  return [
    { name: 're', dtype: part, offset: 0 },
    { name: 'im', dtype: part, offset: part.itemSize },
  ];
}

function split(dtype: DType, offset: number): Member {
  const { base, subShape } = dtype;
  if (base === undefined || subShape === undefined) return { dtype, offset, shape: [], strides: [] };
  const strides = subShape.map((_, axis) => subShape.slice(axis + 1).reduce((bytes, n) => bytes * n, base.itemSize));
  return { dtype: base, offset, shape: subShape, strides };
}
