/**
 * The kernels of universal functions, in the kernel language: a thread for each element, or for each core of generalised ones.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Loop } from './loops.ts';

/** An element or a core of whatever type. */
type Value = never;
interface Looping {
  readonly shape: readonly [number, number, number];
}
/** Arrays of one loop. */
type All = readonly [Looping, ...Looping[]];
/** What is the same for all elements. */
type Numbers = readonly Value[] | undefined;
type Operator = (...args: Value[]) => Value;

/** Takes the arrays of a loop, the first of which is written where there are results, and what is not an array. */
export type LoopKernel = Kernel<readonly unknown[]>;

/** What stands at a place of the loops. `r` counts all axes but the last, `i` the last. */
type At = (array: Value, r: number, i: number) => Value;
type Put = (array: Value, r: number, i: number, value: Value) => void;

const at1 = (array: Vec<Value>, _: number, i: number): Value => array[i] as Value;
const at2 = (array: Vec<Vec<Value>>, r: number, i: number): Value => (array[r] as Vec<Value>)[i] as Value;
const at3 = (array: Cube, r: number, i: number): Value => {
  const n = array.shape[1];
  return ((array[Math.floor(r / n)] as Vec<Vec<Value>>)[r % n] as Vec<Value>)[i] as Value;
};
const put1 = (array: Vec<Value>, _: number, i: number, value: Value): void => {
  array[i] = value;
};
const put2 = (array: Vec<Vec<Value>>, r: number, i: number, value: Value): void => {
  (array[r] as Vec<Value>)[i] = value;
};
const put3 = (array: Cube, r: number, i: number, value: Value): void => {
  const n = array.shape[1];
  ((array[Math.floor(r / n)] as Vec<Vec<Value>>)[r % n] as Vec<Value>)[i] = value;
};

interface Cube {
  readonly shape: readonly [number, number, number];
  readonly [i: number]: Vec<Vec<Value>>;
}

const AT = [at1, at2, at3] as unknown as readonly At[];
const PUT = [put1, put2, put3] as unknown as readonly Put[];

const grid2 = /* @__PURE__ */ intrinsic<(ndim: 2) => readonly [number, number]>('grid');
const gridSize2 = /* @__PURE__ */ intrinsic<(ndim: 2) => readonly [number, number]>('gridSize');

/** `out[…] = cast(op(a[…], b[…], …))`; `isArray[k]` says of each argument whether it is one. */
export function elementwise(jit: Jit, { op, cast, isArray, rank, name }: Elementwise): LoopKernel {
  const [at, put] = [AT[rank - 1] as At, PUT[rank - 1] as Put];
  const captures = { ...WORDS, grid2, gridSize2, op, cast, isArray, at, put };
  if (rank === 1) {
    return jit(
      ({ grid, op, cast, isArray, at, put }: typeof captures) =>
        (out: Looping, args: readonly Value[]) => {
          const i = grid(1);
          if (i < out.shape[0]) {
            put(out as Value, 0, i, cast(op(...args.map((a, k) => (isArray[k] ? at(a, 0, i) : a)))));
          }
        },
      { captures, name },
    ) as unknown as LoopKernel;
  }
  const more = { ...captures, rank };
  return jit(
    ({ grid2, gridSize2, op, cast, isArray, at, put, rank }: typeof more) =>
      (out: Looping, args: readonly Value[]) => {
        const [i, row] = grid2(2);
        const step = gridSize2(2)[1];
        if (i >= (out.shape[rank - 1] as number)) return;
        const rows = rank === 3 ? out.shape[0] * out.shape[1] : out.shape[0];
        for (let r = row; r < rows; r += step) {
          put(out as Value, r, i, cast(op(...args.map((a, k) => (isArray[k] ? at(a, r, i) : a)))));
        }
      },
    { captures: more, name },
  ) as unknown as LoopKernel;
}

/** What an element-wise kernel is compiled for. */
export interface Elementwise {
  readonly op: Operator;
  readonly cast: (value: Value) => Value;
  readonly isArray: readonly boolean[];
  readonly rank: Loop['rank'];
  readonly name: string;
}

/** `op(a[…], b[…], …, x, y, …)`, of views with the axes that are left, or of elements, and numbers. The first array's loop axes are those of all. */
export function coreWise(jit: Jit, { op, rank, name }: Pick<Elementwise, 'op' | 'rank' | 'name'>): LoopKernel {
  const at = AT[rank - 1] as At;
  const captures = { ...WORDS, grid2, gridSize2, op, at, rank };
  if (rank === 1) {
    return jit(
      ({ grid, op, at }: typeof captures) =>
        (args: All, numbers: Numbers) => {
          const i = grid(1);
          if (i < args[0].shape[0]) op(...args.map((a) => at(a as Value, 0, i)), ...(numbers ?? []));
        },
      { captures, name },
    ) as unknown as LoopKernel;
  }
  return jit(
    ({ grid2, gridSize2, op, at, rank }: typeof captures) =>
      (args: All, numbers: Numbers) => {
        const [i, row] = grid2(2);
        const step = gridSize2(2)[1];
        const { shape } = args[0];
        if (i >= (shape[rank - 1] as number)) return;
        const rows = rank === 3 ? shape[0] * shape[1] : shape[0];
        for (let r = row; r < rows; r += step) op(...args.map((a) => at(a as Value, r, i)), ...(numbers ?? []));
      },
    { captures, name },
  ) as unknown as LoopKernel;
}

/** Threads of a warp, and lines of a block in kernels that give each line a warp. */
export const WARP = 32;
export const WARPS = 8;

/** `op(lane, a[…], b[…], …)` by all threads of a warp; the last warps of the grid may repeat a line: `op` is told whether it is the first to have it. */
export function warpWise(jit: Jit, { op, rank, name }: Pick<Elementwise, 'op' | 'rank' | 'name'>): LoopKernel {
  const captures = { ...WORDS, op, at: AT[rank - 1] as At, rank, warps: WARPS };
  return jit(
    ({ threadIdx, blockIdx, op, at, rank, warps }: typeof captures) =>
      (args: All, numbers: Numbers) => {
        const { shape } = args[0];
        const columns = shape[rank - 1] as number;
        const rows = rank === 1 ? 1 : rank === 2 ? shape[0] : shape[0] * shape[1];
        const line = blockIdx.x * warps + (threadIdx.x >> 5);
        // All threads go on, as they exchange values.
        const own = Math.min(line, rows * columns - 1);
        const [r, i] = rank === 1 ? [0, own] : [Math.floor(own / columns), own % columns];
        op(
          (threadIdx.x & 31) as Value,
          (line === own) as Value,
          ...args.map((a) => at(a as Value, r, i)),
          ...(numbers ?? []),
        );
      },
    { captures, name },
  ) as unknown as LoopKernel;
}
