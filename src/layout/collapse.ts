/**
 * Collapsing axes: the fewest and longest loops that visit the same elements of one or several arrays in step.
 *
 * Copies and fills do not care in which order elements are visited, only that source and target go together. So axes of
 * length 1 go, the axis with the smallest step comes innermost, and neighbours that step as one are merged.
 */
import { sizeOf } from './shape.ts';

/** Loops over elements, outermost first: `strides[k]` belongs to the k-th array. */
export interface CollapsedAxes {
  readonly shape: readonly number[];
  readonly strides: readonly (readonly number[])[];
}

/** Collapses the axes of arrays of one shape. Without elements the shape is `[0]`; a single element gives `[]`. */
export function collapseAxes(shape: readonly number[], strides: readonly (readonly number[])[]): CollapsedAxes {
  if (sizeOf(shape) === 0) return { shape: [0], strides: strides.map(() => [0]) };
  const axes = shape
    .map((length, axis) => ({ length, steps: strides.map((list) => list[axis] ?? 0) }))
    .filter(({ length }) => length > 1)
    // By the first array, which callers make the target of a copy; equal steps (broadcasts) by the next.
    .sort((a, b) => compareSteps(b.steps, a.steps));
  const merged: { length: number; steps: number[] }[] = [];
  for (const axis of axes) {
    const outer = merged.at(-1);
    if (outer?.steps.every((step, k) => step === axis.length * (axis.steps[k] ?? 0)) === true) {
      outer.length *= axis.length;
      outer.steps = axis.steps;
    } else {
      merged.push({ ...axis });
    }
  }
  return { shape: merged.map((m) => m.length), strides: strides.map((_, k) => merged.map((m) => m.steps[k] ?? 0)) };
}

function compareSteps(a: readonly number[], b: readonly number[]): number {
  for (let k = 0; k < a.length; k++) {
    const difference = Math.abs(a[k] ?? 0) - Math.abs(b[k] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Calls `visit` with the byte offsets of both ends of each innermost run: `visit(offsets, length)`, where `offsets[k]` is where
 * the run starts in the k-th array. `offsets` is reused between calls.
 */
export function forEachRun(
  axes: CollapsedAxes,
  starts: readonly number[],
  visit: (offsets: readonly number[], length: number) => void,
): void {
  const { shape, strides } = axes;
  if (shape[0] === 0) return;
  const offsets = [...starts];
  const outer = shape.length - 1;
  const length = shape[outer] ?? 1;
  const counters = new Array<number>(Math.max(outer, 0)).fill(0);
  for (;;) {
    visit(offsets, length);
    let axis = outer - 1;
    for (; axis >= 0; axis--) {
      const count = (counters[axis] ?? 0) + 1;
      const wrap = count === shape[axis];
      counters[axis] = wrap ? 0 : count;
      for (let k = 0; k < offsets.length; k++) {
        const step = strides[k]?.[axis] ?? 0;
        offsets[k] = (offsets[k] ?? 0) + (wrap ? -step * (count - 1) : step);
      }
      if (!wrap) break;
    }
    if (axis < 0) return;
  }
}
