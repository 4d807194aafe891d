/**
 * Random chains of slices, transposes, reshapes, broadcasts, squeezes and views, held step by step against a model that knows
 * no strides; and at every step all that can be asked of a layout: contiguity, class, extent, overlap.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectTable } from '../../test/support/same.ts';
import {
  addressOf,
  bytesTouched,
  isCompact,
  isStrided,
  type Model,
  modelOfLayout,
  permuted,
  pick,
  placed,
  repeated,
  reshaped,
  tuples,
  viewed,
  walkRange,
} from '../../test/support/strided-model.ts';
import { randomCases } from '../required.testing.ts';
import {
  broadcastTo,
  classifyLayout,
  compactLayout,
  elementOffset,
  extentOf,
  indexLayout,
  isCContiguous,
  isFContiguous,
  mayOverlap,
  mayOverlapItself,
  type Order,
  type RangeSpec,
  ravelLayout,
  reshapeLayout,
  type StridedLayout,
  sizeOf,
  squeezeLayout,
  transposeLayout,
  viewLayout,
} from './index.ts';

interface State {
  readonly layout: StridedLayout;
  readonly model: Model;
}

/** Numbers from which each step takes what it needs, whatever the array looks like by then. */
const draws = fc.array(fc.nat(997), { minLength: 12, maxLength: 12 });
const steps = fc.array(
  fc.tuple(fc.constantFrom('slice', 'transpose', 'reshape', 'broadcast', 'squeeze', 'view'), draws),
  {
    maxLength: 6,
  },
);
const length = fc.oneof(
  { weight: 14, arbitrary: fc.integer({ min: 1, max: 5 }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
const start = fc.record({
  shape: fc.array(length, { maxLength: 4 }),
  itemSize: fc.constantFrom(1, 2, 3, 4, 8),
  order: fc.constantFrom<Order>('C', 'F'),
});

/** A range with bounds on either side of the axis, and its indices. */
function drawRange(length: number, a: number, b: number, c: number): { spec: RangeSpec; picked: number[] } {
  const bound = (n: number): number | null => (n % 3 === 0 ? null : (n % (2 * length + 5)) - length - 2);
  const step = [null, 1, 2, 3, -1, -2, -1, 7][c % 8] ?? null;
  let [from, to] = [bound(a), bound(b)];
  const place = (n: number): number => (n < 0 ? n + length : n);
  // Mostly the right way round, or nearly all ranges would be empty.
  if (from !== null && to !== null && c % 5 !== 0 && place(from) > place(to) === (step ?? 1) > 0)
    [from, to] = [to, from];
  const picked = walkRange(length, from, to, step);
  const text = [from, to, step].map((n) => n ?? '').join(':');
  return { spec: c % 3 === 0 ? text : [from, to, step], picked };
}

function slice({ layout, model }: State, draw: readonly number[]): State {
  const at = (i: number): number => Number(draw[i % draw.length]);
  const specs: (number | RangeSpec)[] = [];
  const picks: (number | number[])[] = [];
  model.shape.forEach((length, axis) => {
    if (length > 0 && at(axis) % 4 === 0) {
      const index = at(axis + 1) % length;
      specs.push(at(axis + 2) % 2 === 0 ? index : index - length);
      picks.push(index);
    } else {
      const { spec, picked } = drawRange(length, at(axis), at(axis + 5), at(axis + 7));
      specs.push(spec);
      picks.push(picked);
    }
  });
  // Trailing axes that are not named are taken whole.
  const named = at(11) % 3 === 0 ? at(10) % (specs.length + 1) : specs.length;
  for (let axis = named; axis < specs.length; axis++)
    picks[axis] = walkRange(Number(model.shape[axis]), null, null, null);
  return { layout: indexLayout(layout, specs.slice(0, named)), model: pick(model, picks) };
}

function shuffled(ndim: number, draw: readonly number[]): number[] {
  return Array.from({ length: ndim }, (_, i) => i).sort((a, b) => Number(draw[a]) - Number(draw[b]) || a - b);
}

/** Splits the elements over new axes: primes of the size, dealt out, with axes of length 1 in between. */
function drawShape(size: number, draw: readonly number[]): number[] {
  const ndim = Number(draw[0]) % 5;
  const shape = new Array<number>(Math.max(ndim, size === 1 ? 0 : 1)).fill(1);
  if (size === 0) shape[Number(draw[1]) % shape.length] = 0;
  let rest = size;
  for (let prime = 2, i = 1; rest > 1; ) {
    if (rest % prime !== 0) prime++;
    else {
      const axis = Number(draw[i++ % draw.length]) % shape.length;
      shape[axis] = Number(shape[axis]) * prime;
      rest /= prime;
    }
  }
  return shape;
}

function step(state: State, kind: string, draw: readonly number[]): State {
  const { layout, model } = state;
  const { shape } = model;
  const d = (i: number): number => Number(draw[i]);
  switch (kind) {
    case 'slice':
      return slice(state, draw);
    case 'transpose': {
      const axes = shuffled(shape.length, draw);
      const given = axes.map((axis, k) => (d(k) % 2 === 0 ? axis : axis - axes.length));
      return { layout: transposeLayout(layout, given), model: permuted(model, axes) };
    }
    case 'reshape': {
      const newShape = drawShape(sizeOf(shape), draw);
      const order = d(2) % 2 === 0 ? 'C' : 'F';
      const expected = reshaped(model, newShape, order);
      const result = reshapeLayout(layout, newShape, order);
      // A copy is needed exactly when no strides describe the outcome.
      expect(result !== undefined).toBe(isStrided(expected));
      return result === undefined ? state : { layout: result, model: expected };
    }
    case 'broadcast': {
      const larger = shape.map((length, axis) => (length === 1 ? d(axis) % 4 : length));
      if (d(6) % 2 === 0 && larger.length < 4) larger.unshift(d(5) % 4);
      return { layout: broadcastTo(layout, larger), model: repeated(model, larger) };
    }
    case 'squeeze': {
      const ones = shape.flatMap((length, axis) =>
        length === 1 && (d(7) % 2 === 0 || d(axis) % 2 === 0) ? [axis] : [],
      );
      const kept = shape.map((length, axis) => (ones.includes(axis) ? 0 : Array.from({ length }, (_, i) => i)));
      const given = ones.map((axis) => (d(axis) % 3 === 0 ? axis - shape.length : axis));
      const result = d(7) % 2 === 0 ? squeezeLayout(layout) : squeezeLayout(layout, given);
      return { layout: result, model: pick(model, kept) };
    }
    default: {
      const itemSize = [1, 2, 3, 4, 6, 8][d(0) % 6] ?? 1;
      if (itemSize === model.itemSize) return { layout: viewLayout(layout, itemSize), model };
      const expected = shape.length > 0 && isCompact(model, 'C') ? viewed(model, itemSize) : undefined;
      if (expected === undefined) {
        expect(() => viewLayout(layout, itemSize)).toThrow(RangeError);
        return state;
      }
      return { layout: viewLayout(layout, itemSize), model: expected };
    }
  }
}

/** Everything that a layout says of itself, against the addresses in the model. */
function check({ layout, model }: State): void {
  expect(layout.shape).toEqual(model.shape);
  expect(layout.itemSize).toBe(model.itemSize);
  expectTable(modelOfLayout(layout).at, model.at);
  for (const n of [...layout.shape, ...layout.strides, layout.offset]) expect(Object.is(n, -0)).toBe(false);

  const { shape, strides, itemSize } = layout;
  expect(isCContiguous(shape, strides, itemSize)).toBe(isCompact(model, 'C'));
  expect(isFContiguous(shape, strides, itemSize)).toBe(isCompact(model, 'F'));
  const kernelClass = classifyLayout(shape, strides, itemSize);
  if (model.at.size > 0 && strides.includes(0)) expect(kernelClass).toBe('A');
  else expect(kernelClass).toBe(isCompact(model, 'C') ? 'C' : isCompact(model, 'F') ? 'F' : 'A');

  const addresses = [...model.at.values()];
  const extent = extentOf(shape, strides, itemSize);
  const low = addresses.length === 0 ? 0 : Math.min(...addresses) - layout.offset;
  const high = addresses.length === 0 ? 0 : Math.max(...addresses) + itemSize - layout.offset;
  expect(extent).toEqual({ low, high, bytes: high - low });

  const distinct = bytesTouched(model).size === addresses.length * itemSize;
  if (!mayOverlapItself(shape, strides, itemSize)) expect(distinct).toBe(true);
  if (isCompact(model, 'C') || isCompact(model, 'F')) expect(mayOverlapItself(shape, strides, itemSize)).toBe(false);
  if (strides.some((stride, axis) => stride === 0 && Number(shape[axis]) > 1) && addresses.length > 0) {
    expect(mayOverlapItself(shape, strides, itemSize)).toBe(true);
  }

  const wrong = tuples(shape).filter((tuple) => {
    const fromEnd = tuple.map((i, axis) => i - Number(shape[axis]));
    const address = addressOf(model, tuple);
    return elementOffset(layout, tuple) !== address || elementOffset(layout, fromEnd) !== address;
  });
  expect(wrong).toEqual([]);
  for (const order of ['C', 'F'] as const) {
    const flat = reshaped(model, [model.at.size], order);
    const raveled = ravelLayout(layout, order);
    expect(raveled !== undefined).toBe(isStrided(flat));
    if (raveled !== undefined) expectTable(modelOfLayout(raveled).at, flat.at);
  }
}

function begin({ shape, itemSize, order }: { shape: number[]; itemSize: number; order: Order }): State {
  return { layout: compactLayout(shape, itemSize, order), model: placed(shape, itemSize, order) };
}

describe('chains of views', () => {
  test('agree with the model at every step', () => {
    fc.assert(
      fc.property(start, steps, (from, chain) => {
        let state = begin(from);
        check(state);
        for (const [kind, draw] of chain) {
          const next = step(state, kind, draw);
          if (next.model.at.size > 400) break;
          state = next;
          check(state);
        }
      }),
      { numRuns: randomCases(1500) },
    );
  });

  test('reach what they are meant to reach', () => {
    const seen = new Map<string, number>();
    const note = (what: string, yes = true): void => void seen.set(what, (seen.get(what) ?? 0) + (yes ? 1 : 0));
    fc.assert(
      fc.property(start, steps, (from, chain) => {
        let state = begin(from);
        for (const [kind, draw] of chain) {
          const next = step(state, kind, draw);
          if (next.model.at.size > 400) break;
          state = next;
          const { shape, strides, itemSize } = state.layout;
          note('elements', state.model.at.size > 1);
          note('none', state.model.at.size === 0);
          note('negative', state.model.at.size > 1 && strides.some((n) => n < 0));
          note('zero', state.model.at.size > 1 && strides.includes(0));
          note(
            '3-D strided',
            shape.length > 2 && shape.every((n) => n > 1) && classifyLayout(shape, strides, itemSize) === 'A',
          );
          note(`${kind} of strided`, !isCContiguous(shape, strides, itemSize));
        }
      }),
      { numRuns: 600, seed: 7 },
    );
    for (const [what, times] of seen) expect(times, what).toBeGreaterThan(40);
  });
});

describe('overlap of two slices of one array', () => {
  const ranges = fc.array(fc.tuple(fc.nat(6), fc.constantFrom(null, 6, 8), fc.constantFrom(1, 2, 3, -1, -2)), {
    minLength: 2,
    maxLength: 2,
  });

  test('is never denied where there is one', () => {
    let denied = 0;
    fc.assert(
      fc.property(
        fc.constantFrom<Order>('C', 'F'),
        fc.constantFrom(1, 3, 4),
        ranges,
        ranges,
        (order, itemSize, one, two) => {
          const whole = begin({ shape: [7, 8], itemSize, order });
          const [a, b] = [one, two].map((specs) => ({
            layout: indexLayout(whole.layout, specs),
            model: pick(
              whole.model,
              specs.map(([from, to, by], axis) => walkRange(axis === 0 ? 7 : 8, from, to, by)),
            ),
          })) as [State, State];
          const touched = bytesTouched(b.model);
          const common = [...bytesTouched(a.model)].some((byte) => touched.has(byte));
          const verdict = mayOverlap(a.layout, b.layout);
          expect(mayOverlap(b.layout, a.layout)).toBe(verdict);
          if (common) expect(verdict).toBe(true);
          const empty = a.model.at.size === 0 || b.model.at.size === 0;
          if (empty) expect(verdict).toBe(false);
          if (!verdict && !empty) denied++;
        },
      ),
      { numRuns: 600 },
    );
    expect(denied).toBeGreaterThan(20);
  });

  test('is told exactly for slices of one axis with the same step', () => {
    const whole = begin({ shape: [12], itemSize: 4, order: 'C' });
    for (const by of [1, 2, 3, 5]) {
      for (let i = 0; i < 12; i++) {
        for (let j = 0; j < 12; j++) {
          const [a, b] = [walkRange(12, i, i + 6, by), walkRange(12, j, null, by)];
          const common = a.some((index) => b.includes(index));
          const layouts = [
            indexLayout(whole.layout, [[i, i + 6, by]]),
            indexLayout(whole.layout, [[j, null, by]]),
          ] as const;
          expect(mayOverlap(layouts[0], layouts[1]), `${i}:${i + 6}:${by} and ${j}::${by}`).toBe(common);
        }
      }
    }
  });

  test('elements of different sizes that lie side by side', () => {
    const at = (offset: number, itemSize: number): StridedLayout => ({ shape: [3], strides: [8], offset, itemSize });
    expect(mayOverlap(at(0, 4), at(4, 4))).toBe(false);
    expect(mayOverlap(at(0, 5), at(4, 4))).toBe(true);
    expect(mayOverlap(at(4, 4), at(0, 5))).toBe(true);
    expect(mayOverlap(at(4, 5), at(16, 1))).toBe(true);
    expect(mayOverlap(at(4, 4), at(16, 1))).toBe(false);
  });
});
