/**
 * Fixed sub-arrays: the dtype of a struct field that holds several elements, `f32.array(3, 2)`.
 *
 * They exist only inside structs, in C order and without padding, as in NumPy.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import { DTYPE, type DType, describeDType, printable } from './dtype.ts';

/** JavaScript arrays nested as deep as a sub-array has axes; the depth is not known to TypeScript. */
export type Nested<T> = readonly (T | Nested<T>)[];

/** The nested array that a sub-array of `T` with lengths `S` is. */
export type SubArrayValue<T, S extends readonly number[]> = S extends readonly [number]
  ? T[]
  : S extends readonly [number, number]
    ? T[][]
    : S extends readonly [number, number, number]
      ? T[][][]
      : Nested<T>;

/** A fixed number of elements of `T`, as the field of a struct. Read, it is a nested array. */
export interface SubArrayDType<out T = unknown, S extends readonly number[] = readonly number[]>
  extends DType<SubArrayValue<T, S>> {
  /** NumPy's letter for structs and sub-arrays. */
  readonly kind: 'V';
  readonly base: DType<T>;
  /** Length of each axis of the sub-array. */
  readonly subShape: readonly number[];
}

/** What fits a 32-bit offset, as the members of structs have. */
const MOST_BYTES = 2 ** 31 - 1;

/** The dtype of `shape` elements of `base`. Throws TypeError or RangeError unless there are positive integers. */
export function subArray<T, const S extends readonly number[]>(base: DType<T>, shape: S): SubArrayDType<T, S> {
  if (shape.length === 0) {
    throw new TsambaTypeError(
      'E_SHAPE',
      `${describeDType(base)}.array() needs at least one length, as in .array(3, 2)`,
    );
  }
  let count = 1;
  for (const length of shape) {
    if (!Number.isInteger(length)) {
      throw new TsambaTypeError(
        'E_SHAPE',
        `${describeDType(base)}.array(${shape.map(show).join(', ')}): lengths must be integers`,
      );
    }
    if (length < 1) {
      throw new TsambaRangeError(
        'E_SHAPE',
        `${describeDType(base)}.array(${shape.join(', ')}): lengths must be positive`,
      );
    }
    count *= length;
  }
  const itemSize = base.itemSize * count;
  if (itemSize > MOST_BYTES) {
    throw new TsambaRangeError(
      'E_SHAPE',
      `${describeDType(base)}.array(${shape.join(', ')}): an element of ${itemSize} bytes, more than ${MOST_BYTES}`,
    );
  }
  const name = `${base.name}[${shape.join(',')}]`;
  return Object.freeze(
    printable({
      [DTYPE]: name,
      name,
      kind: 'V' as const,
      itemSize,
      alignment: base.alignment,
      typestr: `|V${itemSize}`,
      base,
      subShape: Object.freeze([...shape]),
    }),
  );
}
