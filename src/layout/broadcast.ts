/**
 * Broadcasting: an axis of length 1, or one that is missing in front, is repeated by giving it stride 0.
 */
import { TsambaRangeError } from '../errors.ts';
import { formatShape, type StridedLayout } from './shape.ts';

/** The shape that several shapes broadcast to together. Throws RangeError when two lengths differ and neither is 1. */
export function broadcastShapes(...shapes: readonly (readonly number[])[]): number[] {
  const ndim = Math.max(0, ...shapes.map((shape) => shape.length));
  return Array.from({ length: ndim }, (_, axis) => {
    let common = 1;
    for (const shape of shapes) {
      const length = shape[axis - (ndim - shape.length)] ?? 1;
      if (length === 1 || length === common) continue;
      if (common !== 1) {
        throw new TsambaRangeError(
          'E_BROADCAST',
          `shapes ${shapes.map(formatShape).join(', ')} cannot be broadcast together: ` +
            `lengths ${common} and ${length} meet on axis ${axis}`,
        );
      }
      common = length;
    }
    return common;
  });
}

/** An array seen with a larger shape: repeated axes have stride 0. Throws RangeError when it does not fit. */
export function broadcastTo(layout: StridedLayout, shape: readonly number[]): StridedLayout {
  const added = shape.length - layout.shape.length;
  const strides = shape.map((length, axis) => {
    const own = axis < added ? 1 : layout.shape[axis - added];
    if (own === length) return axis < added ? 0 : (layout.strides[axis - added] ?? 0);
    if (own === 1) return 0;
    throw mismatch(layout.shape, shape);
  });
  if (added < 0) throw mismatch(layout.shape, shape);
  return { shape: [...shape], strides, offset: layout.offset, itemSize: layout.itemSize };
}

/** As `broadcastTo`, for the right side of an assignment: superfluous leading axes of length 1 are dropped first. */
export function broadcastForAssignment(layout: StridedLayout, shape: readonly number[]): StridedLayout {
  let extra = layout.shape.length - shape.length;
  if (extra <= 0) return broadcastTo(layout, shape);
  while (extra > 0 && layout.shape[extra - 1] === 1) extra--;
  if (extra > 0) throw mismatch(layout.shape, shape);
  const drop = layout.shape.length - shape.length;
  return broadcastTo({ ...layout, shape: layout.shape.slice(drop), strides: layout.strides.slice(drop) }, shape);
}

function mismatch(from: readonly number[], to: readonly number[]): TsambaRangeError {
  return new TsambaRangeError(
    'E_BROADCAST',
    `an array of shape ${formatShape(from)} cannot be broadcast to shape ${formatShape(to)}: ` +
      'from the last axis backwards, lengths must be equal or 1',
  );
}
