/**
 * Which bin a value is in: device functions, over edges that have been computed as NumPy computes them.
 *
 * A bin has its lower edge and not its upper one; the last one has both.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, f32, f64, i32, SCALAR_TOKENS, type ScalarName, u32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Bins, QuickBins } from './histogram-kernels.ts';
import { LANE_WORDS } from './lane-words.ts';
import { castTo, type Value } from './operator.ts';

const { floatAsUint } = LANE_WORDS;

type Captured = Record<string, unknown>;
type Edges = Vec<number>;

/** What edges are kept in, and elements compared in: f32 for floats of up to 32 bits, f64 for all else. */
export function edgeType({ kind, itemSize }: DType): DType {
  return kind === 'f' && itemSize <= 4 ? f32 : f64;
}

/** Behind the edges of bins of equal width: what estimates multiply by, how near to an edge they may be wrong, and what they add. */
export const BEHIND_EDGES = 3;
/** 1.5 × 2 ** 23: floats of this size are whole numbers, so that adding it rounds, and the low bits are the number. */
const ROUNDING = 12_582_912;
const ROUNDING_BITS = 0x4b400000;

/** Among `bins` of equal width, in elements of a dtype: an estimate, which the edges correct where it might be wrong. */
export function equalBins(bins: number, dtype: DType): Bins {
  const captures = { bins, to: castTo(edgeType(dtype)), i32 };
  return {
    prepare: deviceFunction(
      ({ bins }: typeof captures) =>
        (edges: Edges): readonly unknown[] => [edges[0], edges[bins], edges[bins + 1], edges[bins + 2], edges],
      captures as typeof captures & Captured,
    ) as unknown as Bins['prepare'],
    binOf: deviceFunction(
      ({ bins, to, i32 }: typeof captures) =>
        (value: never, [low, high, scale, near, edges]: readonly [number, number, number, number, Edges]): number => {
          const v = to(value) as number;
          if (!(v >= low && v <= high)) return -1;
          // Not negative: the conversion cuts off what floor would.
          const estimate = (v - low) * scale;
          let bin = Math.min(i32(estimate as never) as number, bins - 1);
          const part = estimate - bin;
          if (part < near || part > 1 - near) {
            while (bin > 0 && v < (edges[bin] as number)) bin--;
            while (bin < bins - 1 && v >= (edges[bin + 1] as number)) bin++;
          }
          return bin;
        },
      captures as typeof captures & Captured,
    ) as unknown as Bins['binOf'],
  };
}

/**
 * The bins of several f32 values at once where no estimate is near an edge or outside, else undefined: without a conversion and without a branch for each value. An
 * estimate is half a bin too low, so that it rounds to the number of the bin, and what rounding took off says how far the edges are.
 */
export function quickBins(bins: number): QuickBins {
  const captures = { bins, f32, u32, floatAsUint, ROUNDING, ROUNDING_BITS };
  return {
    prepare: deviceFunction(
      ({ bins, f32 }: typeof captures) =>
        (edges: Edges): readonly unknown[] => [
          edges[bins + 1],
          edges[bins + 3],
          f32((0.5 - (edges[bins + 2] as number)) as never),
        ],
      captures as typeof captures & Captured,
    ) as unknown as QuickBins['prepare'],
    estimate: deviceFunction(
      ({ f32, ROUNDING }: typeof captures) =>
        (v: number, [scale, offset]: readonly [number, number, number]): readonly number[] => {
          const estimate = f32((v * scale + offset) as never) as number;
          return [estimate, f32((estimate + ROUNDING) as never) as number];
        },
      captures as typeof captures & Captured,
    ) as unknown as QuickBins['estimate'],
    binIn: deviceFunction(
      ({ u32, floatAsUint, ROUNDING_BITS }: typeof captures) =>
        ([, rounded]: readonly [number, number]): number =>
          u32((floatAsUint(rounded) - ROUNDING_BITS) as never) as number,
      captures as typeof captures & Captured,
    ) as unknown as QuickBins['binIn'],
    isSure: deviceFunction(
      ({ bins, u32, f32, floatAsUint, ROUNDING, ROUNDING_BITS }: typeof captures) =>
        ([estimate, rounded]: readonly [number, number], [, , calm]: readonly [number, number, number]): boolean => {
          const off = f32((estimate - (f32((rounded - ROUNDING) as never) as number)) as never) as number;
          const bin = u32((floatAsUint(rounded) - ROUNDING_BITS) as never) as number;
          return Math.abs(off) < calm && bin < u32(bins as never);
        },
      captures as typeof captures & Captured,
    ) as unknown as QuickBins['isSure'],
  };
}

const whole = ((edges: Edges) => edges) as unknown as Bins['prepare'];

/** Among bins with edges that ascend, by bisection. */
export function searchedBins(bins: number, dtype: DType): Bins {
  const captures = { bins, to: castTo(edgeType(dtype)) };
  const binOf = deviceFunction(
    ({ bins, to }: typeof captures) =>
      (value: never, edges: Edges): number => {
        const v = to(value) as number;
        if (!(v >= (edges[0] as number) && v <= (edges[bins] as number))) return -1;
        let [low, high] = [0, bins];
        while (high - low > 1) {
          const middle = (low + high) >> 1;
          if (v >= (edges[middle] as number)) low = middle;
          else high = middle;
        }
        return low;
      },
    captures as typeof captures & Captured,
  );
  return { prepare: whole, binOf: binOf as unknown as Bins['binOf'] };
}

/** The bin of `v.a` and that of `v.b`, row by row. */
export function pairedBins(first: Bins, second: Bins, columns: number): Bins {
  const captures = { first, second, columns };
  return {
    prepare: deviceFunction(
      ({ first, second }: typeof captures) =>
        ([a, b]: readonly [never, never]): readonly unknown[] => [first.prepare(a), second.prepare(b)],
      captures as typeof captures & Captured,
    ) as unknown as Bins['prepare'],
    binOf: deviceFunction(
      ({ first, second, columns }: typeof captures) =>
        (value: { readonly a: never; readonly b: never }, [a, b]: readonly [never, never]): number => {
          const row = first.binOf(value.a, a);
          const column = second.binOf(value.b, b);
          return row < 0 || column < 0 ? -1 : row * columns + column;
        },
      captures as typeof captures & Captured,
    ) as unknown as Bins['binOf'],
  };
}

/** The value itself, of integers below `bins`. */
export function ownBins(bins: number): Bins {
  const captures = { bins, i32 };
  const binOf = deviceFunction(
    ({ bins, i32 }: typeof captures) =>
      (value: number): number =>
        value >= 0 && value < bins ? (i32(value) as number) : -1,
    captures as typeof captures & Captured,
  );
  return { prepare: whole, binOf: binOf as unknown as Bins['binOf'] };
}

/** Writes edges from the least and the greatest value, and zeros into what is counted in, where that is given. */
export type EdgesKernel = Kernel<[extent: Vec<Extent> | Stated, edges: Edges, counts: Vec<Value> | undefined]>;
interface Extent {
  readonly low: number;
  readonly high: number;
}
/** An extent that was not computed. */
type Stated = readonly [low: number, high: number];

/**
 * Writes the edges of `bins` bins between the values of `extent`, rounded as elements of a dtype are, and what stands behind them. NumPy's `linspace`. `stated`: the
 * extent is two numbers, no array. `zero` is that of the counts.
 */
export function edgesOf(jit: Jit, bins: number, dtype: DType, stated: boolean, zero: Value): EdgesKernel {
  const type = edgeType(dtype);
  // Of f16 the edges are f16, too, as NumPy's.
  const round = dtype.kind === 'f' ? SCALAR_TOKENS[dtype.name as ScalarName] : f64;
  const error = type === f32 ? 2 ** -22 : 2 ** -51;
  const captures = {
    ...WORDS,
    bins,
    f64,
    round: round as unknown as (v: number) => number,
    to: castTo(type),
    error,
    stated,
    zero,
  };
  return jit(
    ({ grid, gridSize, bins, f64, round, to, error, stated, zero }: typeof captures) =>
      (extent: Vec<Extent> | Stated, edges: Edges, counts: Vec<Value> | undefined) => {
        const k = grid(1);
        if (counts !== undefined) for (let i = k; i < counts.length; i += gridSize(1)) counts[i] = zero;
        if (k > bins + 3) return;
        const least = stated ? (extent as Stated)[0] : ((extent as Vec<Extent>)[0] as Extent).low;
        const greatest = stated ? (extent as Stated)[1] : ((extent as Vec<Extent>)[0] as Extent).high;
        const same = least === greatest;
        const low = (same ? f64(least) - 0.5 : f64(least)) as number;
        const high = (same ? f64(greatest) + 0.5 : f64(greatest)) as number;
        const scale = bins / (high - low);
        const near = (bins + (Math.abs(low) + Math.abs(high)) * scale + 2) * error;
        const edge = k === bins ? high : low + k * ((high - low) / bins);
        if (k <= bins) edges[k] = to(round(edge) as never);
        else edges[k] = to((k === bins + 1 ? scale : k === bins + 2 ? near : -low * scale - 0.5) as never);
      },
    { captures, name: 'edges', contract: false },
  ) as unknown as EdgesKernel;
}
