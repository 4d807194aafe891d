/**
 * Operations that rearrange, drop or cut axes: transpose, squeeze, split, and a view of the bytes as another element size.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import { formatShape, normalizeAxis, type StridedLayout } from './shape.ts';
import { isCContiguous } from './strides.ts';

/**
 * The axes in another order; reversed when none is given. Negative axes count from the end. Throws RangeError unless the
 * axes are a permutation.
 */
export function transposeLayout(layout: StridedLayout, axes?: readonly number[]): StridedLayout {
  const ndim = layout.shape.length;
  const order = normalizePermutation(axes, ndim);
  return {
    shape: order.map((axis) => layout.shape[axis] ?? 1),
    strides: order.map((axis) => layout.strides[axis] ?? 0),
    offset: layout.offset,
    itemSize: layout.itemSize,
  };
}

/** The axes of a transposition as non-negative numbers; undefined reverses them. Throws RangeError, TypeError. */
export function normalizePermutation(axes: readonly number[] | undefined, ndim: number): number[] {
  if (axes === undefined) return Array.from({ length: ndim }, (_, i) => ndim - 1 - i);
  if (!Array.isArray(axes)) {
    throw new TsambaTypeError(
      'E_AXIS',
      `transpose takes the axes in their new order, such as [1, 0], got ${show(axes)}`,
    );
  }
  const order = axes.map((axis) => normalizeAxis(axis, ndim));
  if (order.length !== ndim || new Set(order).size !== ndim) {
    throw new TsambaRangeError(
      'E_AXIS',
      `transpose: ${formatShape(axes)} is not a permutation of the ${ndim} axes; name each axis from 0 to ${ndim - 1} once`,
    );
  }
  return order;
}

/**
 * The array without its axes of length 1: all of them, or those named (negative ones count from the end). Throws RangeError
 * for an axis of another length, out of range, or named twice.
 */
export function squeezeLayout(layout: StridedLayout, axis?: number | readonly number[]): StridedLayout {
  const { shape, strides } = layout;
  let dropped: Set<number>;
  if (axis === undefined) {
    dropped = new Set([...shape.keys()].filter((i) => shape[i] === 1));
  } else {
    if (typeof axis !== 'number' && !Array.isArray(axis)) {
      throw new TsambaTypeError('E_AXIS', `squeeze takes an axis or an array of axes, got ${show(axis)}`);
    }
    const axes = (typeof axis === 'number' ? [axis] : axis).map((a) => normalizeAxis(a, shape.length));
    dropped = new Set(axes);
    if (dropped.size !== axes.length) {
      throw new TsambaRangeError('E_AXIS', `squeeze: ${show(axis)} names an axis twice`);
    }
    for (const a of axes) {
      if (shape[a] !== 1) {
        throw new TsambaRangeError(
          'E_AXIS',
          `squeeze: axis ${a} of shape ${formatShape(shape)} has length ${shape[a]}; only axes of length 1 can be dropped`,
        );
      }
    }
  }
  return {
    shape: shape.filter((_, i) => !dropped.has(i)),
    strides: strides.filter((_, i) => !dropped.has(i)),
    offset: layout.offset,
    itemSize: layout.itemSize,
  };
}

/** The lengths of consecutive sections of an axis: `section` each, the last may be shorter. Throws TypeError, RangeError. */
export function splitLengths(length: number, section: number): number[] {
  if (!Number.isInteger(section)) {
    throw new TsambaTypeError('E_SPLIT', `split: the section must be an integer, got ${show(section)}`);
  }
  if (section < 1) throw new TsambaRangeError('E_SPLIT', `split: the section must be at least 1, got ${section}`);
  return Array.from({ length: Math.ceil(length / section) }, (_, i) => Math.min(section, length - i * section));
}

/** Consecutive sections (`section` is their length, not their number) of a rank-1 contiguous array. Throws RangeError. */
export function splitLayout(layout: StridedLayout, section: number): StridedLayout[] {
  const { shape, strides, offset, itemSize } = layout;
  if (shape.length !== 1) {
    throw new TsambaRangeError('E_SPLIT', `split works on one axis; this array has shape ${formatShape(shape)}`);
  }
  if (!isCContiguous(shape, strides, itemSize)) {
    throw new TsambaRangeError(
      'E_SPLIT',
      `split needs a contiguous array; the stride is ${strides[0]} bytes, not ${itemSize}; copy it first`,
    );
  }
  return splitLengths(shape[0] ?? 0, section).map((length, i) => ({
    shape: [length],
    strides: [itemSize],
    offset: offset + i * section * itemSize,
    itemSize,
  }));
}

/**
 * The same bytes as elements of another size. Of equal size: any layout. Otherwise the array must be C-contiguous, and its
 * last axis is resized. Throws RangeError where that does not come out whole.
 */
export function viewLayout(layout: StridedLayout, itemSize: number): StridedLayout {
  const { shape, strides, offset } = layout;
  if (itemSize === layout.itemSize) return { shape: [...shape], strides: [...strides], offset, itemSize };
  const change = `view from ${layout.itemSize}-byte to ${itemSize}-byte elements`;
  const last = shape.length - 1;
  if (last < 0)
    throw new TsambaRangeError('E_VIEW', `${change}: a 0-d array has no axis to resize; reshape it to [1] first`);
  if (!isCContiguous(shape, strides, layout.itemSize)) {
    throw new TsambaRangeError(
      'E_VIEW',
      `${change} needs a C-contiguous array; this one has shape ${formatShape(shape)}, strides ${formatShape(strides)}`,
    );
  }
  const bytes = (shape[last] ?? 0) * layout.itemSize;
  if (bytes % itemSize !== 0) {
    throw new TsambaRangeError(
      'E_VIEW',
      `${change}: the last axis has ${shape[last]} elements, ${bytes} bytes, which is not a multiple of ${itemSize}`,
    );
  }
  return {
    shape: [...shape.slice(0, last), bytes / itemSize],
    strides: [...strides.slice(0, last), itemSize],
    offset,
    itemSize,
  };
}
