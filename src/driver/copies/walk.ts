/**
 * The normal form of a strided copy: as few axes as its strides allow. Pure; knows no memory.
 *
 * Axes of length 1 are dropped, negative target strides turned round, axes sorted by the target's strides and merged where both
 * sides run on, and a run that is contiguous on both sides becomes the item. What coincides on the target keeps the order of
 * indices, for then the last element in that order must win.
 */
import type { StridedCopy, StridedFill, StridedSide } from '../driver.ts';

/** One axis: its length and the byte strides of the two sides. */
export interface Axis {
  readonly n: number;
  readonly t: number;
  readonly s: number;
}

/** A copy in normal form; offsets are bytes relative to the first elements of the copy. */
export interface Walk {
  /** Outermost first. */
  readonly axes: readonly Axis[];
  /** Bytes that are contiguous on both sides. */
  readonly item: number;
  readonly t: number;
  readonly s: number;
  /** Target elements may coincide: they are to be written one after another, in order. */
  readonly ordered: boolean;
}

/** Normal form of a copy; undefined when there is nothing to copy. */
export function walkOf(copy: StridedCopy<StridedSide, StridedSide>): Walk | undefined {
  const { shape, itemSize } = copy;
  const { strides: target } = copy.target;
  const { strides: source } = copy.source;
  if (itemSize === 0) return undefined;
  let s = 0;
  const axes: Axis[] = [];
  for (let axis = 0; axis < shape.length; axis++) {
    const n = shape[axis] ?? 0;
    if (n === 0) return undefined;
    const step: Axis = { n, t: target[axis] ?? 0, s: source[axis] ?? 0 };
    if (n === 1) continue;
    // All elements along the axis go to one place, where the last of them stays.
    if (step.t === 0) s += (n - 1) * step.s;
    else axes.push(step);
  }
  const sorted = axes.toSorted((p, q) => Math.abs(q.t) - Math.abs(p.t));
  if (!distinct(sorted, itemSize)) return { axes: merge(axes), item: itemSize, t: 0, s, ordered: true };
  let t = 0;
  const upward = sorted.map((axis) => {
    if (axis.t > 0) return axis;
    t += (axis.n - 1) * axis.t;
    s += (axis.n - 1) * axis.s;
    return { n: axis.n, t: -axis.t, s: minus(axis.s) };
  });
  return absorb({ axes: merge(upward), item: itemSize, t, s, ordered: false });
}

/** Normal form of a fill: of the source only the place matters, and it stands still. */
export function fillWalkOf({ target, shape, pattern }: StridedFill<StridedSide>): Walk | undefined {
  return walkOf({ target, source: { strides: shape.map(() => 0) }, shape, itemSize: pattern.length });
}

/** Normal form again, after a side of a walk has been replaced. */
export function renormal(walk: Walk): Walk {
  const { axes, item, t, s } = walk;
  const normal = walkOf({
    target: { strides: axes.map((axis) => axis.t) },
    source: { strides: axes.map((axis) => axis.s) },
    shape: axes.map(({ n }) => n),
    itemSize: item,
  });
  return normal === undefined ? walk : { ...normal, t: normal.t + t, s: normal.s + s };
}

/** Elements of a walk. */
export function countOf(axes: readonly Axis[]): number {
  let count = 1;
  for (const { n } of axes) count *= n;
  return count;
}

/** Bytes that a walk moves. */
export function bytesOf(walk: Walk): number {
  return countOf(walk.axes) * walk.item;
}

/** Lowest byte and end of what one side touches, relative to the copy's first element. */
export function span(walk: Walk, side: 't' | 's'): readonly [low: number, high: number] {
  let low = walk[side];
  let high = low + walk.item;
  for (const axis of walk.axes) {
    const reach = (axis.n - 1) * axis[side];
    if (reach < 0) low += reach;
    else high += reach;
  }
  return [low, high];
}

/** Whether one side's elements are all the bytes of its span, each once. */
export function dense(walk: Walk, side: 't' | 's'): boolean {
  const sorted = walk.axes.toSorted((p, q) => Math.abs(p[side]) - Math.abs(q[side]));
  let run = walk.item;
  for (const axis of sorted) {
    if (Math.abs(axis[side]) !== run) return false;
    run *= axis.n;
  }
  return true;
}

/** The walk's elements, one after another in its order, as a side of another copy: byte strides of its axes. */
export function compact(walk: Walk): number[] {
  const strides = new Array<number>(walk.axes.length);
  let stride = walk.item;
  for (let axis = walk.axes.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= walk.axes[axis]?.n ?? 1;
  }
  return strides;
}

/** The same walk with one side elsewhere: `offset` and a stride for each axis. */
export function replaceSide(walk: Walk, side: 't' | 's', offset: number, strides: readonly number[]): Walk {
  const axes = walk.axes.map((axis, k) => ({ ...axis, [side]: strides[k] ?? 0 }));
  return { ...walk, axes, [side]: offset };
}

/** Cuts a walk along one axis into parts of at most `length`, in order. */
export function cut(walk: Walk, axis: number, length: number): Walk[] {
  const whole = walk.axes[axis];
  if (whole === undefined) return [walk];
  const parts: Walk[] = [];
  for (let from = 0; from < whole.n; from += length) {
    const n = Math.min(length, whole.n - from);
    const axes = walk.axes.map((each, k) => (k === axis ? { ...whole, n } : each));
    parts.push({ ...walk, axes, t: walk.t + from * whole.t, s: walk.s + from * whole.s });
  }
  return parts;
}

/** Whether axes sorted by falling target stride address each byte at most once. */
function distinct(axes: readonly Axis[], item: number): boolean {
  return axes.every((axis, k) => {
    const inner = axes[k + 1];
    return Math.abs(axis.t) >= (inner === undefined ? item : Math.abs(inner.t) * inner.n);
  });
}

function merge(axes: readonly Axis[]): Axis[] {
  const merged: Axis[] = [];
  for (const axis of axes) {
    const last = merged[merged.length - 1];
    if (last !== undefined && last.t === axis.t * axis.n && last.s === axis.s * axis.n) {
      merged[merged.length - 1] = { n: last.n * axis.n, t: axis.t, s: axis.s };
    } else {
      merged.push(axis);
    }
  }
  return merged;
}

/** Makes the innermost axis part of the item where it is one run on both sides. */
function absorb(walk: Walk): Walk {
  const inner = walk.axes.at(-1);
  if (inner === undefined || inner.t !== walk.item || inner.s !== walk.item) return walk;
  return { ...walk, axes: walk.axes.slice(0, -1), item: walk.item * inner.n };
}

/** No negative zero. */
function minus(stride: number): number {
  return stride === 0 ? 0 : -stride;
}
