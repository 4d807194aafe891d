/**
 * Shapes, strides, orders and axes as users write them, checked and made into plain arrays of numbers.
 *
 * Every other file of the layout engine takes what this one has let through: lengths that are non-negative safe integers and
 * whose product in bytes is exact in a double.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';

/** A shape or strides as users give them: one integer, or several in an array, a tuple or an integer TypedArray. */
export type ShapeLike = number | bigint | Iterable<number | bigint>;

/** Which axis is fastest in memory: C the last, F the first. */
export type Order = 'C' | 'F';

/** Where the elements of an array lie: strides and offset in bytes, the offset that of the first element. */
export interface StridedLayout {
  /** Length of each axis, in elements. */
  readonly shape: readonly number[];
  /** Bytes from one element to the next along each axis. */
  readonly strides: readonly number[];
  /** Bytes from the start of the memory to the first element. */
  readonly offset: number;
  /** Bytes of an element. */
  readonly itemSize: number;
}

/** Number of elements; 1 for a 0-d array. */
export function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (let axis = 0; axis < shape.length; axis++) size *= shape[axis] as number;
  return size;
}

/** A shape as messages show it: `[2, 3]`, `[]`. */
export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}

/**
 * The shape as an array of numbers. Throws TypeError for anything that is not an integer, RangeError for negative lengths and for arrays
 * whose size in bytes is beyond 2^53.
 */
export function normalizeShape(shape: ShapeLike, itemSize = 1): number[] {
  const lengths = integers(shape, 'shape');
  let bytes = itemSize;
  for (const length of lengths) {
    if (length < 0) {
      throw new TsambaRangeError('E_SHAPE', `shape ${formatShape(lengths)} has a negative length, ${length}`);
    }
    // A zero counts as one, so that the strides of the axes beside it are exact too.
    bytes *= Math.max(length, 1);
  }
  if (bytes > Number.MAX_SAFE_INTEGER) {
    throw new TsambaRangeError(
      'E_SHAPE',
      `an array of shape ${formatShape(lengths)} with ${itemSize}-byte elements is too big: ${bytes} bytes, beyond 2^53`,
    );
  }
  return lengths;
}

/** Strides in bytes as an array of numbers: any integers, one for each axis. Throws TypeError, RangeError. */
export function normalizeStrides(strides: ShapeLike, ndim: number): number[] {
  const list = integers(strides, 'strides');
  if (list.length !== ndim) {
    throw new TsambaRangeError(
      'E_STRIDES',
      `strides ${formatShape(list)} do not match the number of axes: ${list.length} given, the shape has ${ndim}`,
    );
  }
  return list;
}

/** Checks that an order is `'C'` or `'F'`; undefined is `'C'`. Throws RangeError. */
export function normalizeOrder(order: unknown): Order {
  if (order === undefined || order === 'C') return 'C';
  if (order === 'F') return 'F';
  throw new TsambaRangeError('E_ORDER', `order must be 'C' or 'F', got ${show(order)}`);
}

/** An axis number made non-negative; negative ones count from the end. Throws TypeError, RangeError. */
export function normalizeAxis(axis: number, ndim: number): number {
  if (!Number.isInteger(axis)) throw new TsambaTypeError('E_AXIS', `axis must be an integer, got ${show(axis)}`);
  if (axis < -ndim || axis >= ndim) {
    throw new TsambaRangeError('E_AXIS', `axis ${axis} is out of range for an array with ${ndim} axes`);
  }
  // Adding zero turns -0 into 0.
  return (axis < 0 ? axis + ndim : axis) + 0;
}

/** One integer or several, as an array of numbers. Throws TypeError for what is none, RangeError beyond 2^53. */
export function integers(value: unknown, what: string): number[] {
  if (typeof value === 'number' || typeof value === 'bigint') return [integer(value, what)];
  if (typeof value === 'object' && value !== null && Symbol.iterator in value && !(value instanceof Map)) {
    // A float array of lengths is refused even where the values are whole, as in NumPy: it points at a mistake.
    if (ArrayBuffer.isView(value) && /Float/.test(Object.prototype.toString.call(value))) {
      throw new TsambaTypeError('E_SHAPE', `${what} must be integers, got a ${value.constructor.name}`);
    }
    if (!Array.isArray(value)) return Array.from(value as Iterable<unknown>, (item) => integer(item, what));
    const items: readonly unknown[] = value;
    const list: number[] = [];
    // A hole is no integer; `for of` reads it as undefined, which says so.
    for (const item of items) list.push(integer(item, what));
    return list;
  }
  throw new TsambaTypeError('E_SHAPE', `${what} must be an integer or an array of integers, got ${show(value)}`);
}

function integer(value: unknown, what: string): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) {
    throw new TsambaTypeError('E_SHAPE', `${what} must be integers, got ${show(value)}`);
  }
  if (!Number.isSafeInteger(number)) {
    throw new TsambaRangeError('E_SHAPE', `${what}: ${String(value)} is beyond 2^53`);
  }
  return number + 0;
}
