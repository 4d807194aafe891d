/**
 * Indexing from the host: `a.get(1, -1)`, `a.slice(0, '1:5', [null, null, -1])`, with Python's rules.
 *
 * Negative indices count from the end (in kernels they are errors). Every index is checked against the length of its axis,
 * broadcast and reversed axes included. Slices share memory; nothing is copied here.
 */
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { show } from '../show.ts';
import { formatShape, type StridedLayout } from './shape.ts';

/** The bound of a range: absent, `null` or `undefined` is the end that the step's sign makes natural. */
export type Bound = number | null | undefined;

/** A range of an axis: `[start?, stop?, step?]`, `[]` for all of it, or a string `'1:5'`, `'::2'`, `':'`. */
export type RangeSpec = readonly [start?: Bound, stop?: Bound, step?: Bound] | string;

/** One axis of a slice: an integer drops the axis, a range keeps it. */
export type SliceSpec = number | RangeSpec;

/** The elements of an axis that a range picks: `count` of them, from `start`, `step` apart. */
export interface ResolvedRange {
  readonly start: number;
  readonly count: number;
  readonly step: number;
}

/** An index made non-negative. Throws TypeError unless it is an integer, RangeError when it is outside the axis. */
export function normalizeIndex(index: unknown, axis: number, length: number): number {
  if (typeof index !== 'number' || !Number.isInteger(index)) {
    throw new TsambaTypeError('E_INDEX', `index on axis ${axis} must be an integer, got ${show(index)}`);
  }
  if (index < -length || index >= length) {
    throw new TsambaRangeError('E_INDEX', `index ${index} is out of range for axis ${axis} of length ${length}`);
  }
  return (index < 0 ? index + length : index) + 0;
}

/** The byte offset of one element, the layout's own included. Throws unless there is one valid index for each axis. */
export function elementOffset(layout: StridedLayout, index: readonly unknown[]): number {
  const { shape, strides } = layout;
  if (index.length !== shape.length) {
    const hint = index.length < shape.length ? '; use slice() for a part of an array' : '';
    throw new TsambaRangeError(
      'E_INDEX',
      `${count(index.length, 'index', 'indices')} given for an array with ${count(shape.length, 'axis', 'axes')}, shape ${formatShape(shape)}${hint}`,
    );
  }
  let offset = layout.offset;
  for (let axis = 0; axis < shape.length; axis++) {
    offset += normalizeIndex(index[axis], axis, shape[axis] ?? 0) * (strides[axis] ?? 0);
  }
  return offset;
}

/** What a range picks from an axis of a given length: Python's `slice.indices`. Ends beyond the axis are clipped. */
export function resolveRange(spec: RangeSpec, length: number, axis = 0): ResolvedRange {
  const [startBound, stopBound, stepBound] = typeof spec === 'string' ? parseRange(spec, axis) : spec;
  const step = bound(stepBound, 'step', axis) ?? 1;
  if (step === 0) throw new TsambaRangeError('E_INDEX', `slice step on axis ${axis} must not be 0`);
  // A backward range runs from the last element to "one before the first", which is -1 before any wrapping.
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const clip = (given: number | undefined, otherwise: number): number => {
    if (given === undefined) return otherwise;
    return Math.min(Math.max(given < 0 ? given + length : given, low), high) + 0;
  };
  const start = clip(bound(startBound, 'start', axis), step > 0 ? low : high);
  const stop = clip(bound(stopBound, 'stop', axis), step > 0 ? high : low);
  const count = Math.max(0, Math.ceil((stop - start) / step));
  // An empty range starts at the axis' own first element with its own stride, so that no address leaves the array.
  return count === 0 ? { start: 0, count: 0, step: 1 } : { start, count, step };
}

/**
 * The part of an array that integers and ranges pick, axis by axis; axes beyond those given are taken whole. With integers
 * alone the result is 0-d. Throws TypeError for other things, RangeError for too many or out of range.
 */
export function indexLayout(layout: StridedLayout, specs: readonly unknown[]): StridedLayout {
  if (specs.length > layout.shape.length) {
    throw new TsambaRangeError(
      'E_INDEX',
      `${count(specs.length, 'index', 'indices')} given for an array with ${count(layout.shape.length, 'axis', 'axes')}, shape ${formatShape(layout.shape)}`,
    );
  }
  let offset = layout.offset;
  const shape: number[] = [];
  const strides: number[] = [];
  layout.shape.forEach((length, axis) => {
    const stride = layout.strides[axis] ?? 0;
    const spec = axis < specs.length ? specs[axis] : [];
    if (typeof spec === 'string' || isRange(spec)) {
      const { start, count, step } = resolveRange(spec, length, axis);
      offset += start * stride;
      shape.push(count);
      strides.push(stride * step + 0);
    } else if (typeof spec === 'number') {
      offset += normalizeIndex(spec, axis, length) * stride;
    } else {
      throw refuse(spec, axis);
    }
  });
  return { shape, strides, offset, itemSize: layout.itemSize };
}

/** As `indexLayout`, but integers on every axis are an error that points at `get`, which reads one element. */
export function sliceLayout(layout: StridedLayout, specs: readonly unknown[]): StridedLayout {
  const view = indexLayout(layout, specs);
  if (view.shape.length > 0) return view;
  throw new TsambaTypeError(
    'E_INDEX',
    `slice(${specs.map(show).join(', ')}) has no range and names a single element; ` +
      `use get(${specs.map(show).join(', ')}), or a range such as '1:2' to keep an axis`,
  );
}

function isRange(spec: unknown): spec is Exclude<RangeSpec, string> {
  return Array.isArray(spec) && spec.length <= 3;
}

function refuse(spec: unknown, axis: number): TsambaTypeError {
  const forms = `an integer, [start?, stop?, step?] or a string such as '1:5' or '::2'`;
  const hint =
    spec === null || spec === undefined
      ? `${spec} is not an axis: write [] or ':' for the whole axis; new axes are made by reshape`
      : typeof spec === 'boolean'
        ? 'a boolean is not an index: masks are not supported'
        : typeof spec === 'bigint'
          ? `got the bigint ${spec}n: write Number(${spec}n)`
          : Array.isArray(spec)
            ? `got an array of ${spec.length} numbers: arrays of indices are not supported`
            : `got ${show(spec)}`;
  return new TsambaTypeError('E_INDEX', `index on axis ${axis} must be ${forms}; ${hint}`);
}

function bound(value: unknown, what: string, axis: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new TsambaTypeError('E_INDEX', `slice ${what} on axis ${axis} must be an integer or null, got ${show(value)}`);
}

/** Programs slice in loops with the same few strings. */
const parsed = new Map<string, RangeBounds>();
const MOST_PARSED = 256;
type RangeBounds = readonly [Bound, Bound, Bound];

function parseRange(text: string, axis: number): RangeBounds {
  let range = parsed.get(text);
  if (range === undefined) {
    range = readRange(text, axis);
    if (parsed.size >= MOST_PARSED) parsed.clear();
    parsed.set(text, range);
  }
  return range;
}

function readRange(text: string, axis: number): RangeBounds {
  const parts = text.split(':').map((part) => part.trim());
  const valid = parts.length >= 2 && parts.length <= 3 && parts.every((part) => /^([+-]?\d+)?$/.test(part));
  if (!valid) {
    const hint = /^[+-]?\d+$/.test(text.trim())
      ? `; for one element of the axis give the number ${Number(text)}`
      : text.trim() === '...'
        ? "; an ellipsis is not supported: write ':' for each whole axis"
        : '';
    throw new TsambaTypeError(
      'E_INDEX',
      `slice '${text}' on axis ${axis} is not of the form 'start:stop:step', such as '1:5', '::2' or ':'${hint}`,
    );
  }
  const [start, stop, step] = parts.map((part) => (part === '' ? undefined : Number(part)));
  return [start, stop, step];
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}
