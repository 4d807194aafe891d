/**
 * Which bin a value is in: device functions, over edges that have been computed as NumPy computes them.
 *
 * A bin has its lower edge and not its upper one; the last one has both.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, f32, f64, i32, SCALAR_TOKENS, type ScalarName } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Bins } from './histogram-kernels.ts';
import { castTo } from './operator.ts';

type Captured = Record<string, unknown>;
type Edges = Vec<number>;

/** What edges are kept in, and elements compared in: f32 for floats of up to 32 bits, f64 for all else. */
export function edgeType({ kind, itemSize }: DType): DType {
  return kind === 'f' && itemSize <= 4 ? f32 : f64;
}

/** Behind the edges of bins of equal width: what estimates multiply by, and how near to an edge they may be wrong. */
export const BEHIND_EDGES = 2;

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

/** Writes edges from the least and the greatest value. */
export type EdgesKernel = Kernel<[extent: Vec<Extent>, edges: Edges]>;
interface Extent {
  readonly low: number;
  readonly high: number;
}

/** Writes the edges of `bins` bins between the values of `extent`, rounded as elements of a dtype are, and what stands behind them. NumPy's `linspace`. */
export function edgesOf(jit: Jit, bins: number, dtype: DType): EdgesKernel {
  const type = edgeType(dtype);
  // Of f16 the edges are f16, too, as NumPy's.
  const round = dtype.kind === 'f' ? SCALAR_TOKENS[dtype.name as ScalarName] : f64;
  const error = type === f32 ? 2 ** -22 : 2 ** -51;
  const captures = { ...WORDS, bins, f64, round: round as unknown as (v: number) => number, to: castTo(type), error };
  return jit(
    ({ grid, bins, f64, round, to, error }: typeof captures) =>
      (extent: Vec<Extent>, edges: Edges) => {
        const k = grid(1);
        if (k > bins + 2) return;
        const { low: least, high: greatest } = extent[0] as Extent;
        const same = least === greatest;
        const low = (same ? f64(least) - 0.5 : f64(least)) as number;
        const high = (same ? f64(greatest) + 0.5 : f64(greatest)) as number;
        const scale = bins / (high - low);
        const near = (bins + (Math.abs(low) + Math.abs(high)) * scale + 2) * error;
        const edge = k === bins ? high : low + k * ((high - low) / bins);
        if (k <= bins) edges[k] = to(round(edge) as never);
        else edges[k] = to((k === bins + 1 ? scale : near) as never);
      },
    { captures, name: 'edges', contract: false },
  ) as unknown as EdgesKernel;
}
