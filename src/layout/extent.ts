/**
 * Which bytes an array touches: extents, bounds, and whether two arrays can share memory.
 */
import { TsambaRangeError } from '../errors.ts';
import { formatShape, type StridedLayout, sizeOf } from './shape.ts';
import { isCContiguous, isFContiguous } from './strides.ts';

/** Byte offsets from the first element: of the lowest byte touched (≤ 0), and past the highest. */
export interface Extent {
  readonly low: number;
  readonly high: number;
  /** `high - low`: the size of an allocation that holds the array. */
  readonly bytes: number;
}

/** The extent of an array; all zero when it has no elements. Negative strides reach below the first element. */
export function extentOf(shape: readonly number[], strides: readonly number[], itemSize: number): Extent {
  let low = 0;
  let high = itemSize;
  for (let axis = 0; axis < shape.length; axis++) {
    const length = shape[axis] ?? 1;
    if (length === 0) return { low: 0, high: 0, bytes: 0 };
    const reach = (length - 1) * (strides[axis] ?? 0);
    if (reach < 0) low += reach;
    else high += reach;
  }
  return { low, high, bytes: high - low };
}

/** Throws RangeError unless every element of a layout lies within a buffer of `bytes` bytes. `what` names the buffer. */
export function checkBounds(layout: StridedLayout, bytes: number, what: string): void {
  const { low, high } = extentOf(layout.shape, layout.strides, layout.itemSize);
  const first = layout.offset + low;
  const end = layout.offset + high;
  if (low === high || (first >= 0 && end <= bytes)) return;
  throw new TsambaRangeError(
    'E_BOUNDS',
    `an array of shape ${formatShape(layout.shape)}, strides ${formatShape(layout.strides)} and offset ${layout.offset} ` +
      `(bytes) spans bytes ${first} to ${end}, outside ${what} of ${bytes} bytes`,
  );
}

/**
 * The array with each broadcast axis (stride 0) cut down to its one element: the memory that there is. Axes of length 0 stay.
 */
export function coreOf(layout: StridedLayout): StridedLayout {
  const shape = layout.shape.map((length, axis) => (layout.strides[axis] === 0 && length > 1 ? 1 : length));
  return { ...layout, shape };
}

/** Whether an array, broadcast axes apart, is one block of memory: its core is C- or F-contiguous. */
export function isSingleRegion(layout: StridedLayout): boolean {
  const { shape, strides, itemSize } = coreOf(layout);
  return isCContiguous(shape, strides, itemSize) || isFContiguous(shape, strides, itemSize);
}

/**
 * Whether two arrays over one buffer can have a byte in common. False is certain; true may be wrong for arrays that interleave
 * in ways other than a common step.
 */
export function mayOverlap(a: StridedLayout, b: StridedLayout): boolean {
  const extentA = extentOf(a.shape, a.strides, a.itemSize);
  const extentB = extentOf(b.shape, b.strides, b.itemSize);
  if (extentA.bytes === 0 || extentB.bytes === 0) return false;
  if (a.offset + extentA.high <= b.offset + extentB.low) return false;
  if (b.offset + extentB.high <= a.offset + extentA.low) return false;
  // All addresses of both are their offsets plus multiples of the step. Modulo the step, each array is one run of bytes:
  // the even and the odd elements of one array have overlapping extents and no element in common.
  let step = 0;
  for (const layout of [a, b]) {
    layout.shape.forEach((length, axis) => {
      if (length > 1) step = gcd(step, Math.abs(layout.strides[axis] ?? 0));
    });
  }
  if (step === 0) return true;
  const distance = (((b.offset - a.offset) % step) + step) % step;
  return distance < a.itemSize || step - distance < b.itemSize;
}

/**
 * Whether two different indices can name the same bytes, as along a broadcast axis. False is certain. Writing to such an
 * array has no defined outcome where the values differ.
 */
export function mayOverlapItself(shape: readonly number[], strides: readonly number[], itemSize: number): boolean {
  if (sizeOf(shape) === 0) return false;
  const axes = shape
    .map((length, axis) => ({ length, stride: Math.abs(strides[axis] ?? 0) }))
    .filter(({ length }) => length > 1)
    .sort((a, b) => a.stride - b.stride);
  // No axis overlaps the ones inside it when one step along it clears everything that they span.
  let span = itemSize;
  for (const { length, stride } of axes) {
    if (stride < span) return true;
    span += (length - 1) * stride;
  }
  return false;
}

function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}
