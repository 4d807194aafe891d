/**
 * The loops of a universal function: arrays of different shapes and layouts, seen as arrays of one shape with as few axes as will do.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { LaunchOptions } from '../kernel/launch-shape.ts';
import { broadcastTo, collapseAxes } from '../layout/index.ts';
import type { StreamLike, Workplace } from './operands.ts';

/** Axes that a kernel loops over; of more, the host goes through the first. */
const MOST_AXES = 3;
const BLOCK = 256;
/** Blocks along y that every device takes. */
const MOST_ROWS = 32768;

/** An array and how many axes at its end the function sees. */
export interface Looped {
  readonly array: DeviceNDArray;
  readonly core: number;
}

/** One launch: the arrays with their loop axes in front, `rank` of them. */
export interface Loop {
  readonly rank: 1 | 2 | 3;
  readonly views: readonly DeviceNDArray[];
  readonly shape: LaunchOptions;
}

/** The launches that go through all of `shape`; the first array is the one that is written. */
export function loopsOver(place: Workplace, shape: readonly number[], arrays: readonly Looped[]): Loop[] {
  const split = arrays.map(({ array, core }) => {
    const at = array.ndim - core;
    const own = { shape: array.shape.slice(0, at), strides: array.strides.slice(0, at), offset: 0, itemSize: 0 };
    return { array, strides: broadcastTo(own, shape).strides, core: at };
  });
  const axes = collapseAxes(
    shape,
    split.map(({ strides }) => strides),
  );
  if (axes.shape[0] === 0) return [];
  const lengths = axes.shape.length === 0 ? [1] : axes.shape;
  const inner = lengths.slice(-MOST_AXES);
  const outer = lengths.slice(0, -MOST_AXES);
  return offsetsOf(outer, axes.strides).map((offsets): Loop => {
    const views = split.map(({ array, core }, k) => {
      const own = axes.strides[k] ?? [];
      const strides = own.length === 0 ? [0] : own.slice(-MOST_AXES);
      return place.view(
        array,
        [...inner, ...array.shape.slice(core)],
        [...strides, ...array.strides.slice(core)],
        offsets[k] ?? 0,
      );
    });
    return { rank: inner.length as Loop['rank'], views, shape: launchOf(inner, place.stream) };
  });
}

/** The byte offsets of each array at every index of the outer axes. */
function offsetsOf(outer: readonly number[], strides: readonly (readonly number[])[]): number[][] {
  let all: number[][] = [strides.map(() => 0)];
  for (const [axis, length] of outer.entries()) {
    all = all.flatMap((offsets) =>
      Array.from({ length }, (_, i) => offsets.map((offset, k) => offset + i * (strides[k]?.[axis] ?? 0))),
    );
  }
  return all;
}

/** Neighbouring threads along the last axis; rows, of all other axes together, along y. */
function launchOf(lengths: readonly number[], stream: StreamLike): LaunchOptions {
  const columns = lengths.at(-1) ?? 1;
  if (lengths.length === 1) return { threads: columns, block: BLOCK, stream };
  const rows = lengths.slice(0, -1).reduce((a, b) => a * b);
  let x = 1;
  while (x < columns && x < BLOCK) x *= 2;
  const y = BLOCK / x;
  return { grid: [Math.ceil(columns / x), Math.min(Math.ceil(rows / y), MOST_ROWS)], block: [x, y], stream };
}
