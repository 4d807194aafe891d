/**
 * Device arrays against a model without strides: an array is a shape and a list of numbers of cells, in index order, and the
 * cells stand in a table. Views pick and reorder the list; copies and assignments read and write the table.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freshBlockDevice, freshCpuDevice } from '../../test/support/with-device.ts';
import { deviceArray, deviceArrayLike, toDevice } from '../cuda/host.ts';
import { type DType, f32, f64, i16, i32, u8 } from '../dtype/index.ts';
import { randomCases } from '../required.testing.ts';
import { DeviceNDArray } from './device-array.ts';
import { NDArray } from './ndarray.ts';
import { ndarray } from './ndarray-create.ts';

interface Model {
  readonly shape: readonly number[];
  readonly cells: readonly number[];
}

function count(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** All indices of a shape, last axis fastest. */
function indices(shape: readonly number[]): number[][] {
  const [length, ...rest] = shape;
  if (length === undefined) return [[]];
  const inner = indices(rest);
  return Array.from({ length }, (_, i) => inner.map((index) => [i, ...index])).flat();
}

function cellAt(model: Model, index: readonly number[]): number {
  const position = index.reduce((sum, i, axis) => sum * (model.shape[axis] ?? 0) + i, 0);
  const cell = model.cells[position];
  if (cell === undefined) throw new Error(`the model has no element at ${String(index)}`);
  return cell;
}

/** One axis of a slice, and the positions that it picks, worked out by walking. */
interface Pick {
  readonly spec: number | string;
  readonly positions: readonly number[];
}

function pickArbitrary(length: number): fc.Arbitrary<Pick> {
  const bound = fc.option(fc.integer({ min: -length - 2, max: length + 2 }), { nil: undefined });
  const range = fc.tuple(bound, bound, fc.constantFrom(-3, -2, -1, 1, 2, 3)).map(([start, stop, step]): Pick => {
    const wrap = (value: number): number => (value < 0 ? value + length : value);
    const positions: number[] = [];
    // Every position that a walk of this step from `start` meets before `stop`.
    let at = start === undefined ? (step > 0 ? 0 : length - 1) : wrap(start);
    if (step > 0 && at < 0) at = 0;
    if (step < 0 && at >= length) at = length - 1;
    const end = stop === undefined ? (step > 0 ? length : -1) : Math.max(wrap(stop), -1);
    for (; step > 0 ? at < Math.min(end, length) : at > end; at += step) if (at >= 0) positions.push(at);
    return { spec: `${start ?? ''}:${stop ?? ''}:${step}`, positions };
  });
  if (length === 0) return range;
  const single = fc.integer({ min: -length, max: length - 1 }).map(
    (i): Pick => ({
      spec: i,
      positions: [i < 0 ? i + length : i],
    }),
  );
  return fc.oneof({ weight: 4, arbitrary: range }, { weight: 1, arbitrary: single });
}

function sliceModel(model: Model, picks: readonly Pick[]): Model {
  const kept = picks.filter(({ spec }) => typeof spec === 'string');
  const cells = indices(picks.map(({ positions }) => positions.length)).map((index) =>
    cellAt(
      model,
      index.map((i, axis) => picks[axis]?.positions[i] ?? -1),
    ),
  );
  return { shape: kept.map(({ positions }) => positions.length), cells };
}

function transposeModel(model: Model, axes: readonly number[]): Model {
  const shape = axes.map((axis) => model.shape[axis] ?? 0);
  const cells = indices(shape).map((index) => {
    const source = new Array<number>(index.length);
    axes.forEach((axis, k) => {
      source[axis] = index[k] ?? 0;
    });
    return cellAt(model, source);
  });
  return { shape, cells };
}

/** A device array, its model, and the table of cells (the elements of the whole allocation). */
interface Pair {
  readonly array: DeviceNDArray;
  readonly model: Model;
}

const DTYPES: readonly DType<number>[] = [u8, i16, i32, f32, f64];
const shapes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 });

/** An array some views away from a new allocation. */
function drawPair(draw: <T>(arbitrary: fc.Arbitrary<T>) => T): Pair & { table: number[] } {
  const shape = draw(shapes);
  const dtype = draw(fc.constantFrom(...DTYPES));
  const order = draw(fc.constantFrom('C' as const, 'F' as const));
  const array = deviceArray(shape, dtype, { order }) as unknown as DeviceNDArray;
  const table = Array.from({ length: count(shape) }, (_, i) => i % 100);
  array.copyToDevice(ndarray(table, { shape, dtype }));
  let pair: Pair = { array, model: { shape, cells: table.map((_, i) => i) } };
  for (let steps = draw(fc.integer({ min: 0, max: 3 })); steps > 0; steps--) pair = step(pair, draw);
  return { ...pair, table };
}

/** One more view. */
function step({ array, model }: Pair, draw: <T>(arbitrary: fc.Arbitrary<T>) => T): Pair {
  const ndim = model.shape.length;
  switch (draw(fc.constantFrom('slice', 'slice', 'transpose', 'reshape', 'squeeze'))) {
    case 'slice': {
      const picks = draw(fc.tuple(...model.shape.map(pickArbitrary)));
      if (!picks.some(({ spec }) => typeof spec === 'string')) return { array, model };
      return { array: array.slice(...picks.map(({ spec }) => spec)), model: sliceModel(model, picks) };
    }
    case 'transpose': {
      const axes = draw(fc.shuffledSubarray([...model.shape.keys()], { minLength: ndim }));
      return { array: array.transpose(axes), model: transposeModel(model, axes) };
    }
    case 'squeeze':
      return { array: array.squeeze(), model: { ...model, shape: model.shape.filter((length) => length !== 1) } };
    default: {
      if (!array.isCContiguous()) return { array, model };
      const shape = [...model.shape.slice(1), 1, ...model.shape.slice(0, 1)];
      return { array: array.reshape(shape), model: { ...model, shape } };
    }
  }
}

function values(array: DeviceNDArray): unknown[] {
  const host = array.copyToHost();
  return (ndarray(host as NDArray) as NDArray).toArray() as unknown[];
}

function expected({ model }: Pair, table: readonly number[]): unknown {
  const nest = (prefix: readonly number[]): unknown => {
    const length = model.shape[prefix.length];
    if (length === undefined) return table[cellAt(model, prefix)];
    return Array.from({ length }, (_, i) => nest([...prefix, i]));
  };
  return nest([]);
}

describe.each([
  ['a device that checks every address', freshBlockDevice],
  ['the CPU device', freshCpuDevice],
])('arrays on %s, against a model without strides', (_, fresh) => {
  fresh();
  const runs = { numRuns: randomCases(300) };

  it('read what the model reads, whatever the view', () => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const pair = drawPair((arbitrary) => g(() => arbitrary));
        expect(pair.array.shape).toEqual(pair.model.shape);
        expect(values(pair.array)).toEqual(expected(pair, pair.table));
        const all = indices(pair.model.shape);
        const index = all[Math.floor(all.length / 2)];
        if (index === undefined) return;
        expect(pair.array.get(...index)).toBe(pair.table[cellAt(pair.model, index)]);
      }),
      runs,
    );
  });

  it('write to the elements of the view, and to nothing else', () => {
    fc.assert(
      fc.property(fc.gen(), fc.boolean(), (g, scalar) => {
        const draw = <T>(arbitrary: fc.Arbitrary<T>): T => g(() => arbitrary);
        const pair = drawPair(draw);
        const { array, model, table } = pair;
        const base = wholeOf(array);
        const before = base.copyToHost() as NDArray;
        if (scalar) array.set(101);
        else
          array.copyToDevice(
            ndarray(
              model.cells.map((_, i) => 100 + (i % 27)),
              { shape: model.shape, dtype: array.dtype },
            ),
          );
        model.cells.forEach((cell, i) => {
          table[cell] = scalar ? 101 : 100 + (i % 27);
        });
        expect(values(array)).toEqual(expected(pair, table));
        // Of the whole allocation, just as many elements have changed as the view has.
        const after = base.copyToHost() as NDArray;
        const [was, is] = [ndarray(before).toArray() as number[], ndarray(after).toArray() as number[]];
        expect(is.filter((value, i) => value !== was[i])).toHaveLength(model.cells.length);
      }),
      runs,
    );
  });

  it('copy between any two layouts of one shape, overlapping or not', () => {
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const draw = <T>(arbitrary: fc.Arbitrary<T>): T => g(() => arbitrary);
        const pair = drawPair(draw);
        const { array, model, table } = pair;
        const like = deviceArrayLike(array);
        like.set(array);
        expect(values(like)).toEqual(expected(pair, table));
        // Onto itself with its axes reversed in direction: source and target are the same memory.
        if (model.shape.length === 0) return;
        const picks = model.shape.map(
          (length): Pick => ({
            spec: '::-1',
            positions: Array.from({ length }, (_, i) => length - 1 - i),
          }),
        );
        const reversed = sliceModel(model, picks);
        array.set(array.slice(...picks.map(({ spec }) => spec)));
        const read = reversed.cells.map((cell) => table[cell] ?? 0);
        model.cells.forEach((cell, i) => {
          table[cell] = read[i] ?? 0;
        });
        expect(values(array)).toEqual(expected(pair, table));
      }),
      runs,
    );
  });

  it('upload and download host arrays of every layout', () => {
    fc.assert(
      fc.property(shapes, fc.gen(), (shape, g) => {
        const buffer = Float64Array.from({ length: 600 }, (_, i) => i);
        const strides = shape.map(() => g(() => fc.integer({ min: -5, max: 5 })) * 8);
        const low = shape.reduce((sum, n, k) => sum + Math.min(0, (n - 1) * (strides[k] ?? 0)), 0);
        const source = new NDArray<number>(buffer, f64, { shape, strides, offset: count(shape) === 0 ? 0 : 0 - low });
        const device = toDevice(source);
        const at = (index: readonly number[]): number =>
          index.reduce((sum, i, k) => sum + i * (strides[k] ?? 0), source.byteOffset) / 8;
        for (const index of indices(shape)) expect(device.get(...index)).toBe(at(index));
        expect(values(device as unknown as DeviceNDArray)).toEqual(source.toArray());
        if (shape.length === 0) return;
        const into = ndarray.zeros([...shape, 2]).slice(...shape.map(() => ':'), 1);
        expect(device.copyToHost(into as NDArray).toArray()).toEqual(source.toArray());
      }),
      { numRuns: randomCases(200) },
    );
  });
});

/** All of the memory that an array looks at, in one axis. */
function wholeOf(array: DeviceNDArray): DeviceNDArray {
  const { owner, context, itemSize } = array;
  const gpuData = { context, owner, address: owner.address };
  return new DeviceNDArray(owner.bytes / itemSize, null, array.dtype, { gpuData });
}
