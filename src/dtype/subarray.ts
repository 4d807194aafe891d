/**
 * Fixed sub-arrays: the dtype of a struct field that holds several elements, `f32.array(3, 2)`.
 *
 * They exist only inside structs, in C order and without padding, as in NumPy.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { DTYPE, type DType, describeDType } from './dtype.ts';

/** JavaScript arrays nested as deep as a sub-array has axes; the depth is not known to TypeScript. */
export type Nested<T> = readonly (T | Nested<T>)[];

/** A fixed number of elements of `T`, as the field of a struct. Read, it is a nested array. */
export interface SubArrayDType<out T = unknown> extends DType<Nested<T>> {
  readonly kind: 'V';
  readonly base: DType<T>;
  readonly subShape: readonly number[];
}

/** The dtype of `shape` elements of `base`. Throws TypeError or RangeError unless there are positive integers. */
export function subArray<T>(base: DType<T>, shape: readonly number[]): SubArrayDType<T> {
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
        `${describeDType(base)}.array(${shape.join(', ')}): lengths must be integers`,
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
  const name = `${base.name}[${shape.join(',')}]`;
  return Object.freeze({
    [DTYPE]: name,
    name,
    kind: 'V' as const,
    itemSize,
    alignment: base.alignment,
    typestr: `|V${itemSize}`,
    base,
    subShape: Object.freeze([...shape]),
    toString: () => name,
  });
}
