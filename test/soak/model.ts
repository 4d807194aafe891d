/**
 * What a device array should hold: a list of cells in index order, and the values of all cells of its memory.
 *
 * Knows no strides: views pick and reorder the list.
 */
import type { DeviceNDArray } from '../../src/index.ts';
import type { Random } from './random.ts';

/** One allocation and what it should hold. */
export interface Memory {
  readonly values: Float64Array;
  readonly type: 'i32' | 'f64' | 'u8';
  /** The stream on which it was used last, by its number. */
  stream: number;
}

/** An array or view, and its cells. */
export interface Held {
  readonly array: DeviceNDArray<number>;
  readonly memory: Memory;
  readonly shape: readonly number[];
  readonly cells: Int32Array;
}

/** The values that an array should show, in index order. */
export function expected(held: Held): Float64Array {
  return Float64Array.from(held.cells, (cell) => held.memory.values[cell] ?? Number.NaN);
}

/** Writes values in index order, as if the source had been read first. */
export function assign(held: Held, values: Float64Array): void {
  held.cells.forEach((cell, k) => {
    held.memory.values[cell] = values[k] ?? Number.NaN;
  });
}

/** A random view of an array. */
export function randomView(random: Random, held: Held): Held {
  const { array, shape } = held;
  if (shape.length === 2 && random.below(3) === 0) {
    const [rows = 0, columns = 0] = shape;
    const cells = new Int32Array(held.cells.length);
    for (let i = 0; i < columns; i++)
      for (let j = 0; j < rows; j++) cells[i * rows + j] = held.cells[j * columns + i] ?? 0;
    return { ...held, array: array.T, shape: [columns, rows], cells };
  }
  const picks = shape.map((length) => randomRange(random, length));
  const specs = picks.map(({ spec }) => spec);
  const lists = picks.map(({ positions }) => positions);
  const [first = [], second] = lists;
  const columns = shape[1] ?? 1;
  const cells = first.flatMap((i) => (second ?? [0]).map((j) => held.cells[i * columns + j] ?? 0));
  return { ...held, array: array.slice(...specs), shape: lists.map((l) => l.length), cells: Int32Array.from(cells) };
}

function randomRange(random: Random, length: number): { spec: string; positions: number[] } {
  const start = random.below(length);
  const step = 1 + random.below(3);
  const positions: number[] = [];
  if (random.below(3) === 0) {
    for (let at = start; at >= 0; at -= step) positions.push(at);
    return { spec: `${start}::-${step}`, positions };
  }
  const stop = start + random.below(length - start + 1);
  for (let at = start; at < stop; at += step) positions.push(at);
  return { spec: `${start}:${stop}:${step}`, positions };
}
