/**
 * Copies and fills of rectangular sets of elements between two byte buffers, for every kind of stride.
 *
 * Pure: works on Uint8Arrays and offsets, knows no device. Element-exact: no byte outside the elements is touched. Strides
 * are bytes and may be zero or negative. Drivers whose memory is this process's memory use it as it is. Overlap of source
 * and target is the caller's business (`extent` and `copyOut` help).
 */
import { TsambaRangeError } from '../errors.ts';
import { cStrides, sizeOf } from '../layout/index.ts';
import type { HostSide, StridedCopy, StridedFill } from './driver.ts';

/** One axis of a walk over two sides: element count, byte strides of target and source. */
interface Axis {
  n: number;
  t: number;
  s: number;
}

/** A walk in normal form: no axis of length 1, neighbours merged, innermost last, in units of `unit` bytes. */
interface Walk {
  readonly axes: readonly Axis[];
  readonly unit: 1 | 2 | 4 | 8;
  readonly targetOffset: number;
  readonly sourceOffset: number;
}

/** Tile edge for transposing copies: 32 rows of 4-byte elements stay in the first-level cache. */
const TILE = 32;

/** Lowest byte and end of what elements touch, relative to the first of them. No elements give [0, 0]. */
export function extent(
  strides: readonly number[],
  shape: readonly number[],
  itemSize: number,
): [low: number, high: number] {
  let low = 0;
  let high = itemSize;
  for (let axis = 0; axis < shape.length; axis++) {
    const n = shape[axis] ?? 0;
    if (n === 0) return [0, 0];
    const span = (n - 1) * (strides[axis] ?? 0);
    if (span < 0) low += span;
    else high += span;
  }
  return [low, high];
}

/** Copies every element; the two sides must not overlap unless they are equal. */
export function copyStrided(copy: StridedCopy<HostSide, HostSide>): void {
  const { target, source, shape, itemSize } = copy;
  checkSide('target', target, shape, itemSize);
  checkSide('source', source, shape, itemSize);
  const walk = normalise(copy, target.bytes.byteOffset, source.bytes.byteOffset);
  if (walk === undefined) return;
  const inner = walk.axes[walk.axes.length - 1];
  if (inner === undefined || (inner.t === walk.unit && inner.s === walk.unit && inner.n * walk.unit >= 128)) {
    copyRows(target.bytes, source.bytes, walk);
    return;
  }
  copyElements(target.bytes, source.bytes, walk);
}

/** Copies the elements out into a new compact array. */
export function copyOut(source: HostSide, shape: readonly number[], itemSize: number): HostSide {
  const bytes = new Uint8Array(sizeOf(shape) * itemSize);
  const target: HostSide = { bytes, offset: 0, strides: cStrides(shape, itemSize) };
  copyStrided({ target, source, shape, itemSize });
  return target;
}

/** Writes the pattern, which may have any length, to every element. */
export function fillStrided({ target, shape, pattern }: StridedFill<HostSide>): void {
  const itemSize = pattern.length;
  checkSide('target', target, shape, itemSize);
  // Items, one after another, are the contiguous case; all else is a copy from a source that does not move.
  const walk = normalise({ target, source: target, shape, itemSize }, 0, 0);
  if (walk === undefined) return;
  const [axis, more] = walk.axes;
  if (more === undefined && axis !== undefined && axis.t === walk.unit) {
    fillContiguous(target.bytes, walk.targetOffset, axis.n * walk.unit, pattern);
    return;
  }
  const source: HostSide = { bytes: pattern.slice(), offset: 0, strides: shape.map(() => 0) };
  copyStrided({ target, source, shape, itemSize });
}

/** Repeats `pattern` over `bytes` bytes. Doubling block copies: several times faster than `fill` on shared memory. */
function fillContiguous(target: Uint8Array, offset: number, bytes: number, pattern: Uint8Array): void {
  const limit = Math.max(pattern.length, Math.floor(65536 / pattern.length) * pattern.length);
  target.set(pattern, offset);
  let done = pattern.length;
  while (done < bytes) {
    const n = Math.min(done, limit, bytes - done);
    target.copyWithin(offset + done, offset, offset + n);
    done += n;
  }
}

function checkSide(side: string, at: HostSide, shape: readonly number[], itemSize: number): void {
  const { bytes, offset, strides } = at;
  if (strides.length !== shape.length) {
    throw new TsambaRangeError('E_STRIDES', `copy: ${side} has ${strides.length} strides for ${shape.length} axes`);
  }
  const [low, high] = extent(strides, shape, itemSize);
  if (low === high) return;
  if (offset + low < 0 || offset + high > bytes.length) {
    throw new TsambaRangeError(
      'E_BOUNDS',
      `copy: ${side} touches bytes ${offset + low} to ${offset + high} of a buffer of ${bytes.length} bytes`,
    );
  }
}

/** The bases are where the sides' bytes begin in their buffers. Undefined when there are no elements. */
function normalise(
  { target, source, shape, itemSize }: StridedCopy<HostSide, HostSide>,
  targetBase: number,
  sourceBase: number,
): Walk | undefined {
  let targetOffset = target.offset;
  let sourceOffset = source.offset;
  let bits = itemSize | (targetOffset + targetBase) | (sourceOffset + sourceBase);
  // Offsets beyond 32 bits lose their upper half in `|`, which is all the same for alignment.
  let axes: Axis[] = [];
  for (let axis = 0; axis < shape.length; axis++) {
    const n = shape[axis] ?? 0;
    if (n === 0) return undefined;
    if (n === 1) continue;
    const t = target.strides[axis] ?? 0;
    const s = source.strides[axis] ?? 0;
    bits |= t | s;
    axes.push({ n, t, s });
  }
  const unit = bits & 1 ? 1 : bits & 2 ? 2 : bits & 4 ? 4 : 8;
  if (itemSize !== unit) axes.push({ n: itemSize / unit, t: unit, s: unit });
  const byTarget = axes.toSorted((p, q) => Math.abs(q.t) - Math.abs(p.t));
  // Where elements of the target coincide, the last one in index order must win: no reordering then.
  if (distinct(byTarget)) {
    axes = byTarget;
    for (const axis of axes) {
      if (axis.t >= 0) continue;
      targetOffset += (axis.n - 1) * axis.t;
      sourceOffset += (axis.n - 1) * axis.s;
      axis.t = -axis.t;
      axis.s = axis.s === 0 ? 0 : -axis.s;
    }
  }
  return { axes: merge(axes), unit, targetOffset, sourceOffset };
}

/** Whether axes sorted by falling target stride address each element once. */
function distinct(axes: readonly Axis[]): boolean {
  for (let i = 0; i < axes.length; i++) {
    const outer = axes[i];
    const inner = axes[i + 1];
    if (outer === undefined) return true;
    if (Math.abs(outer.t) < (inner === undefined ? 1 : Math.abs(inner.t) * inner.n)) return false;
  }
  return true;
}

function merge(axes: readonly Axis[]): Axis[] {
  const merged: Axis[] = [];
  for (const axis of axes) {
    const last = merged[merged.length - 1];
    if (last !== undefined && last.t === axis.t * axis.n && last.s === axis.s * axis.n) {
      last.n *= axis.n;
      last.t = axis.t;
      last.s = axis.s;
    } else {
      merged.push({ ...axis });
    }
  }
  return merged;
}

/** The innermost axis is one run of bytes on both sides. */
function copyRows(target: Uint8Array, source: Uint8Array, walk: Walk): void {
  const inner = walk.axes[walk.axes.length - 1];
  const bytes = (inner?.n ?? 1) * walk.unit;
  const outer = walk.axes.slice(0, -1);
  const descend = (depth: number, t: number, s: number): void => {
    const axis = outer[depth];
    if (axis === undefined) {
      target.set(source.subarray(s, s + bytes), t);
      return;
    }
    for (let i = 0; i < axis.n; i++) descend(depth + 1, t + i * axis.t, s + i * axis.s);
  };
  descend(0, walk.targetOffset, walk.sourceOffset);
}

type Words = Uint8Array | Uint16Array | Uint32Array;

/** Element by element, through typed arrays of the unit; 8-byte units as two words, since f64 elements lose NaN bits. */
function copyElements(target: Uint8Array, source: Uint8Array, walk: Walk): void {
  const width = walk.unit === 8 ? 4 : walk.unit;
  const to = words(target, width);
  const from = words(source, width);
  const axes = walk.axes.map((axis) => ({ n: axis.n, t: axis.t / width, s: axis.s / width }));
  const run = walk.unit === 8 ? runPairs : runSingles;
  const last = axes.length - 1;
  // A transposing copy: bring the axis along which the source runs next to the innermost, and walk the two in tiles.
  const lead = fastestSource(axes);
  if (lead !== last) axes.splice(last - 1, 0, ...axes.splice(lead, 1));
  const [rows, columns] = lead === last ? [undefined, axes[last]] : [axes[last - 1], axes[last]];
  if (columns === undefined) return;
  const outer = axes.slice(0, rows === undefined ? last : last - 1);
  const descend = (depth: number, t: number, s: number): void => {
    const axis = outer[depth];
    if (axis !== undefined) {
      for (let i = 0; i < axis.n; i++) descend(depth + 1, t + i * axis.t, s + i * axis.s);
    } else if (rows === undefined) {
      run(to, from, t, s, columns.n, columns.t, columns.s);
    } else {
      runTiles(run, to, from, t, s, rows, columns);
    }
  };
  descend(0, (target.byteOffset + walk.targetOffset) / width, (source.byteOffset + walk.sourceOffset) / width);
}

function words(bytes: Uint8Array, width: number): Words {
  const { buffer } = bytes;
  if (width === 1) return new Uint8Array(buffer);
  if (width === 2) return new Uint16Array(buffer, 0, Math.floor(buffer.byteLength / 2));
  return new Uint32Array(buffer, 0, Math.floor(buffer.byteLength / 4));
}

/** The axis with the smallest source stride, unless the target's elements coincide (then order is kept) or it is the last. */
function fastestSource(axes: readonly Axis[]): number {
  let best = axes.length - 1;
  if (axes.some((axis) => axis.t <= 0)) return best;
  for (let i = axes.length - 2; i >= 0; i--) {
    const stride = Math.abs(axes[i]?.s ?? 0);
    if (stride !== 0 && stride < Math.abs(axes[best]?.s ?? 0)) best = i;
  }
  const sorted = axes.every((axis, i) => axis.t >= (axes[i + 1]?.t ?? 0) * (axes[i + 1]?.n ?? 0));
  return sorted ? best : axes.length - 1;
}

type Run = (to: Words, from: Words, t: number, s: number, n: number, stepT: number, stepS: number) => void;

function runSingles(to: Words, from: Words, t: number, s: number, n: number, stepT: number, stepS: number): void {
  for (let i = 0; i < n; i++) {
    to[t] = from[s] as number;
    t += stepT;
    s += stepS;
  }
}

function runPairs(to: Words, from: Words, t: number, s: number, n: number, stepT: number, stepS: number): void {
  for (let i = 0; i < n; i++) {
    to[t] = from[s] as number;
    to[t + 1] = from[s + 1] as number;
    t += stepT;
    s += stepS;
  }
}

function runTiles(run: Run, to: Words, from: Words, t: number, s: number, rows: Axis, columns: Axis): void {
  for (let j = 0; j < columns.n; j += TILE) {
    const width = Math.min(TILE, columns.n - j);
    for (let i = 0; i < rows.n; i++) {
      run(to, from, t + i * rows.t + j * columns.t, s + i * rows.s + j * columns.s, width, columns.t, columns.s);
    }
  }
}
