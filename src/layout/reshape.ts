/**
 * Reshaping: the same elements in the same logical order under another shape, without a copy wherever the strides allow it.
 */
import { TsambaRangeError } from '../errors.ts';
import { show } from '../show.ts';
import { formatShape, integers, type Order, type ShapeLike, type StridedLayout, sizeOf } from './shape.ts';
import { isCContiguous, isFContiguous, stridesFor } from './strides.ts';

/** The order in which elements are read and laid out again; A is F for an array that is F-contiguous only, else C. */
export type ReshapeOrder = 'C' | 'F' | 'A';

/** Resolves A, and checks. Throws RangeError. */
export function resolveOrder(layout: StridedLayout, order: unknown = 'C'): Order {
  if (order === 'C' || order === 'F') return order;
  if (order !== 'A') throw new TsambaRangeError('E_ORDER', `order must be 'C', 'F' or 'A', got ${show(order)}`);
  const { shape, strides, itemSize } = layout;
  return isFContiguous(shape, strides, itemSize) && !isCContiguous(shape, strides, itemSize) ? 'F' : 'C';
}

/**
 * The new shape of `size` elements, with one length given as -1 worked out. Throws TypeError for anything that is not an integer,
 * RangeError when the sizes differ or the unknown length does not come out whole.
 */
export function inferShape(newShape: ShapeLike, size: number): number[] {
  const shape = integers(newShape, 'shape');
  for (const length of shape) {
    if (length < -1) {
      throw new TsambaRangeError('E_RESHAPE', `reshape: length ${length} is negative; only -1 has a meaning`);
    }
  }
  const unknown = shape.indexOf(-1);
  if (unknown >= 0) {
    if (shape.indexOf(-1, unknown + 1) >= 0) {
      throw new TsambaRangeError('E_RESHAPE', `reshape to ${formatShape(shape)}: only one length can be -1`);
    }
    const known = sizeOf(shape) * -1;
    if (known === 0 || size % known !== 0) {
      throw new TsambaRangeError('E_RESHAPE', `reshape to ${formatShape(shape)}: cannot infer -1 for ${size} elements`);
    }
    shape[unknown] = size / known;
  }
  if (sizeOf(shape) !== size) {
    throw new TsambaRangeError(
      'E_RESHAPE',
      `reshape to ${formatShape(shape)} changes the number of elements: ${size} before, ${sizeOf(shape)} after`,
    );
  }
  return shape;
}

/**
 * The layout of the same elements under a new shape (whose size has been checked), or undefined when no strides can express
 * it and the elements must be copied. Elements are read and placed in the given order, whatever the order in memory.
 */
export function reshapeLayout(
  layout: StridedLayout,
  newShape: readonly number[],
  order: ReshapeOrder = 'C',
): StridedLayout | undefined {
  const resolved = resolveOrder(layout, order);
  const { shape, strides, offset, itemSize } = layout;
  const contiguous = resolved === 'C' ? isCContiguous : isFContiguous;
  const newStrides = contiguous(shape, strides, itemSize)
    ? stridesFor(newShape, itemSize, resolved)
    : regroup(layout, newShape, resolved);
  return newStrides === undefined ? undefined : { shape: [...newShape], strides: newStrides, offset, itemSize };
}

/** One axis that holds all elements, or undefined when they must be copied. */
export function ravelLayout(layout: StridedLayout, order: ReshapeOrder = 'C'): StridedLayout | undefined {
  return reshapeLayout(layout, [sizeOf(layout.shape)], order);
}

/**
 * Strides of the new axes. Old and new axes are cut into the shortest groups of equal size; within a group the old axes must
 * step as one, and the new ones divide that step among them.
 */
function regroup(layout: StridedLayout, newShape: readonly number[], order: Order): number[] | undefined {
  // In F order everything is mirrored: handle it as C on reversed axes.
  const mirrored = order === 'F';
  const old = layout.shape
    .map((length, axis) => ({ length, stride: layout.strides[axis] ?? 0 }))
    .filter(({ length }) => length !== 1);
  const target = [...newShape];
  if (mirrored) {
    old.reverse();
    target.reverse();
  }
  const strides = new Array<number>(target.length).fill(0);
  let o = 0;
  let n = 0;
  // The stride of a trailing axis of length 1 is never used; it gets that of its neighbour.
  let last = layout.itemSize;
  while (n < target.length) {
    const firstOld = o;
    const firstNew = n;
    let oldSize = old[o++]?.length ?? 1;
    let newSize = target[n++] ?? 1;
    while (oldSize !== newSize) {
      if (newSize < oldSize) newSize *= target[n++] ?? 1;
      else oldSize *= old[o++]?.length ?? 1;
    }
    for (let i = firstOld; i + 1 < o && i + 1 < old.length; i++) {
      const inner = old[i + 1];
      if (inner !== undefined && old[i]?.stride !== inner.length * inner.stride) return undefined;
    }
    let stride = old[o - 1]?.stride ?? last;
    last = stride;
    for (let axis = n - 1; axis >= firstNew; axis--) {
      strides[axis] = stride;
      stride *= target[axis] ?? 1;
    }
  }
  return mirrored ? strides.reverse() : strides;
}
