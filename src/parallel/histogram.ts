/**
 * `histogram`, `histogram2d` and `bincount`: how many elements are in each bin.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { type DType, describeDType, f64, i32, i64, vectorOf } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { scalar } from '../kernel/scalar.ts';
import type { Step } from '../kernel/steps.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { BEHIND_EDGES, edgesOf, edgeType, equalBins, ownBins, pairedBins, quickBins, searchedBins } from './bins.ts';
import { extentOf } from './extent.ts';
import {
  type Bins,
  BLOCK,
  type Counting,
  copiesOf,
  countAny,
  countBytes,
  countGlobally,
  countVectors,
  type QuickBins,
} from './histogram-kernels.ts';
import { type Input, inputOf, integersOf } from './input.ts';
import { Lazy, lengthOf, zip } from './lazy.ts';
import { remember } from './memo.ts';
import { jitOn, onHost, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { reduce } from './reduce.ts';
import type { OnStream, Sequence } from './types.ts';

/** Blocks of a launch: on GPUs for each multiprocessor. */
const GPU_BLOCKS = 4;
const HOST_BLOCKS = 16;

/** From where to where bins go. */
export type Range = readonly [low: number, high: number];

/** Options of `histogram`. */
export interface HistogramOptions extends OnStream {
  /** Elements outside it are not counted. Default: from the smallest to the largest element. */
  readonly range?: Range | undefined;
}

/** A histogram, or the promise of one. */
type Counts<L extends boolean> = L extends true ? Promise<DeviceNDArray<number, 1>> : DeviceNDArray<number, 1>;
/** Calls of `histogram`; `L`: whether it gives a promise. */
export type HistogramCall<L extends boolean> = (
  x: Sequence,
  bins?: number | readonly number[] | Float64Array | Float32Array,
  options?: HistogramOptions,
) => Counts<L>;
/** The type of `histogram`. */
export type Histogram = HistogramCall<false> & { readonly async: HistogramCall<true> };

/** Edges on the device, and how a bin is found by them. */
interface Binned {
  readonly bins: Bins;
  /** Where there is one: a quicker way for values of f32. */
  readonly quick?: QuickBins | undefined;
  /** Whether its launches have filled the counts with zeros. */
  readonly zeroes?: boolean | undefined;
  readonly count: number;
  readonly edges: unknown;
  readonly steps: readonly Step[];
}

/**
 * How many elements are in each of `bins` bins of equal width, or between ascending edges: a device array of i32 (of i64 where there are 2³¹ elements
 * or more). Does not wait. Bins are NumPy's: each includes its lower edge but not its upper one, except the last, which includes both; NaN is in none. CUB:
 * `DeviceHistogram`.
 *
 * @example
 * import { histogram } from 'tsamba/parallel';
 *
 * const x = Float32Array.of(0.5, 1, 1.5, 3, 4);
 * console.log(histogram(x, 4, { range: [0, 4] }).copyToHost()); // Int32Array(4) [ 1, 2, 0, 2 ]
 * console.log(histogram(x, [0, 1, 10]).copyToHost()); // Int32Array(2) [ 1, 4 ]
 */
export const histogram: Histogram = /* @__PURE__ */ primitive('histogram', planHistogram) as unknown as Histogram;

function planHistogram(x: unknown, bins: unknown, options: unknown): Plan<DeviceNDArray> {
  const own = readOptions('histogram', options as object, ['range', 'stream']) as {
    range?: unknown;
    stream?: StreamLike;
  };
  const place = placeOf('histogram', [x], own.stream);
  return planned(place, () => {
    const input = numbersOf(place, inputOf(place, x, 'x'));
    const to = countsFor(place, input, [countOf(place, bins ?? 10)]);
    return counted(place, input, binnedBy(place, input, bins ?? 10, own.range, to.counts), to);
  });
}

/** Options of `histogram2d`. */
export interface Histogram2dOptions extends OnStream {
  /** Of both: pairs outside are not counted. Default: from the smallest to the largest element. */
  readonly range?: readonly [x: Range, y: Range] | undefined;
}

/** Calls of `histogram2d`; `L`: whether it gives a promise. */
export type Histogram2dCall<L extends boolean> = (
  x: Sequence,
  y: Sequence,
  bins?: number | readonly [x: number, y: number],
  options?: Histogram2dOptions,
) => L extends true ? Promise<DeviceNDArray<number, 2>> : DeviceNDArray<number, 2>;
/** The type of `histogram2d`. */
export type Histogram2d = Histogram2dCall<false> & { readonly async: Histogram2dCall<true> };

/**
 * How many pairs `x[i], y[i]` are in each of some bins: a device array of two axes, a row for each bin of `x`. Bins are those of `histogram`. NumPy: `histogram2d`.
 *
 * @example
 * import { histogram2d } from 'tsamba/parallel';
 *
 * const counts = histogram2d([0, 0, 1], [0, 1, 1], 2, { range: [[0, 1], [0, 1]] });
 * console.log(counts.get(0, 1), counts.get(1, 1)); // 1 1
 */
export const histogram2d: Histogram2d = /* @__PURE__ */ primitive('histogram2d', plan2d) as unknown as Histogram2d;

function plan2d(x: unknown, y: unknown, bins: unknown, options: unknown): Plan<DeviceNDArray> {
  const given = readOptions('histogram2d', options as object, ['range', 'stream']);
  const own = given as { range?: readonly unknown[]; stream?: StreamLike };
  const place = placeOf('histogram2d', [x, y], own.stream);
  return planned(place, () => {
    const inputs = [numbersOf(place, inputOf(place, x, 'x')), numbersOf(place, inputOf(place, y, 'y'))] as const;
    if (inputs[0].length !== inputs[1].length) {
      throw new TsambaRangeError(
        'E_PARALLEL',
        `histogram2d: x has ${inputs[0].length} elements, and y ${inputs[1].length}`,
      );
    }
    const wanted = Array.isArray(bins) ? (bins as unknown[]) : [bins ?? 10, bins ?? 10];
    const [a, b] = inputs.map((input, k) => binnedBy(place, input, wanted[k], own.range?.[k])) as [Binned, Binned];
    const to = countsFor(place, inputs[0], [a.count, b.count]);
    const binned: Binned = {
      bins: remember(['paired bins', a.bins, b.bins], () => pairedBins(a.bins, b.bins, b.count)),
      count: a.count * b.count,
      edges: [a.edges, b.edges],
      steps: [...a.steps, ...b.steps],
    };
    const pairs = inputOf(place, zip(sourceOf(x, inputs[0]), sourceOf(y, inputs[1])), 'x');
    return counted(place, pairs, binned, to);
  });
}

/** What has been brought to the device is not brought there again. */
const sourceOf = (given: unknown, { array }: Input): unknown => (given instanceof Lazy ? given : (array ?? given));

/** Options of `bincount`. */
export interface BincountOptions extends OnStream {
  /** How many values are counted: those from 0 to before it. Default: up to the largest element, which is waited for. */
  readonly length?: number | undefined;
}

/** Calls of `bincount`; `L`: whether it gives a promise. */
export type BincountCall<L extends boolean> = (x: Sequence, options?: BincountOptions) => Counts<L>;
/** The type of `bincount`. */
export type Bincount = BincountCall<false> & { readonly async: BincountCall<true> };

const countedIntegers = /* @__PURE__ */ primitive('bincount', planBincount);

/**
 * How often each of the integers 0, 1, … occurs: a device array of i32. Negative integers, and those from `length` on, are not counted. With
 * `length`, nothing waits. NumPy: `bincount`.
 *
 * @example
 * import { bincount } from 'tsamba/parallel';
 *
 * console.log(bincount(Uint8Array.of(1, 3, 1)).copyToHost()); // Int32Array(4) [ 0, 2, 0, 1 ]
 */
export const bincount: Bincount = /* @__PURE__ */ Object.assign(
  (x: Sequence, options: BincountOptions = {}) =>
    countedIntegers(x, withLength(x, options)) as DeviceNDArray<number, 1>,
  {
    async: async (x: Sequence, options: BincountOptions = {}) =>
      (await countedIntegers.async(x, await withLengthLater(x, options))) as DeviceNDArray<number, 1>,
  },
);

function withLength(x: Sequence, options: BincountOptions): BincountOptions {
  if (options.length !== undefined) return options;
  return { ...options, length: upTo(lengthOf(x) === 0 ? -1 : reduce(x, 'max', { stream: options.stream } as never)) };
}

async function withLengthLater(x: Sequence, options: BincountOptions): Promise<BincountOptions> {
  if (options.length !== undefined) return options;
  return {
    ...options,
    length: upTo(lengthOf(x) === 0 ? -1 : await reduce.async(x, 'max', { stream: options.stream } as never)),
  };
}

const upTo = (greatest: unknown): number => Math.max(0, Number(greatest) + 1);

function planBincount(x: unknown, options: unknown): Plan<DeviceNDArray> {
  const own = readOptions('bincount', options as object, ['length', 'stream']) as {
    length?: number;
    stream?: StreamLike;
  };
  const place = placeOf('bincount', [x], own.stream);
  return planned(place, () => {
    const input = integersOf(place, x, 'x');
    const count = own.length ?? 0;
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new TsambaRangeError('E_PARALLEL', `bincount: length must be 0 or a positive integer, got ${show(count)}`);
    }
    const bins = remember(['own bins', count], () => ownBins(count));
    return counted(place, input, { bins, count, edges: scalar(i32, 0), steps: [] }, countsFor(place, input, [count]));
  });
}

function numbersOf({ name }: Workplace, input: Input): Input {
  if ('iuf'.includes(input.dtype.kind) && input.dtype.fields === undefined) return input;
  throw new TsambaTypeError('E_PARALLEL', `${name} counts numbers, got elements of ${describeDType(input.dtype)}`);
}

/** How many bins there are. */
function countOf({ name }: Workplace, bins: unknown): number {
  if (typeof bins !== 'number') return edgesIn(name, bins).length - 1;
  if (Number.isSafeInteger(bins) && bins >= 1) return bins;
  throw new TsambaRangeError('E_PARALLEL', `${name}: the number of bins must be a positive integer, got ${show(bins)}`);
}

/** Bins of equal width, or those between edges. `counts` are filled with zeros on the way, where that costs nothing. */
function binnedBy(place: Workplace, input: Input, bins: unknown, range: unknown, counts?: DeviceNDArray): Binned {
  const { dtype } = input;
  const type = edgeType(dtype);
  const count = countOf(place, bins);
  if (typeof bins !== 'number') return betweenEdges(place, dtype, bins);
  const edges = place.temporary([count + 1 + BEHIND_EDGES], type);
  const jit = jitOn(place.context);
  const stated = range !== undefined;
  const zero = counts === undefined ? undefined : zeroOf(counts);
  const kernel = remember(['edges', jit, count, dtype.name, stated, typeof zero], () =>
    edgesOf(jit, count, dtype, stated, zero as never),
  );
  const extent = stated ? { argument: givenExtent(place, range), steps: [] } : extentOf(place, input);
  const step: Step = {
    kernel: kernel as unknown as Step['kernel'],
    shape: { threads: count + 1 + BEHIND_EDGES, block: 128, stream: place.stream },
    args: [extent.argument, edges, counts],
  };
  const found = remember(['equal bins', count, dtype.name], () => equalBins(count, dtype));
  const quick = dtype.name === 'f32' ? remember(['quick bins', count], () => quickBins(count)) : undefined;
  return { bins: found, quick, zeroes: counts !== undefined, count, edges, steps: [...extent.steps, step] };
}

const zeroOf = ({ dtype }: DeviceNDArray): number | bigint => (dtype === i64 ? 0n : 0);

/** Two numbers, as kernels take them. */
function givenExtent(place: Workplace, range: unknown): readonly unknown[] {
  const [low, high] = Array.isArray(range) ? (range as number[]) : [];
  if (!Number.isFinite(low) || !Number.isFinite(high) || (low as number) > (high as number)) {
    throw new TsambaRangeError('E_PARALLEL', `${place.name}: range must be two ascending numbers, got ${show(range)}`);
  }
  return [scalar(f64, low as number), scalar(f64, high as number)];
}

/** Edges that ascend. */
function edgesIn(name: string, given: unknown): readonly number[] {
  const list = Array.from(
    ArrayBuffer.isView(given) || Array.isArray(given) ? (given as unknown as number[]) : [],
    Number,
  );
  const rises = list.every((edge, k) => k === 0 || edge >= (list[k - 1] as number));
  if (list.length >= 2 && rises) return list;
  throw new TsambaRangeError(
    'E_PARALLEL',
    `${name}: bins must be a number, or at least two ascending edges, got ${show(given)}`,
  );
}

function betweenEdges(place: Workplace, dtype: DType, given: unknown): Binned {
  const list = edgesIn(place.name, given);
  const count = list.length - 1;
  const edges = place.nested(list, edgeType(dtype));
  const bins = remember(['searched bins', count, dtype.name], () => searchedBins(count, dtype));
  return { bins, count, edges, steps: [] };
}

/** A result, and all of it along one axis. */
interface Target {
  readonly result: DeviceNDArray;
  readonly counts: DeviceNDArray;
}

function countsFor(place: Workplace, { length }: Input, shape: readonly number[]): Target {
  const type = length >= 2 ** 31 ? i64 : i32;
  const result = place.own(newArray(place.context, [...shape], type, { stream: place.stream }));
  return { result, counts: shape.length === 1 ? result : place.view(result, [result.size], [result.itemSize]) };
}

/** The plan of counting what an input has in each bin. */
function counted(
  place: Workplace,
  input: Input,
  binned: Binned,
  { result, counts }: Target,
): Omit<Plan<DeviceNDArray>, 'place'> {
  if (binned.count > 0 && binned.zeroes !== true) counts.set(zeroOf(counts) as never);
  const steps = input.length === 0 || binned.count === 0 ? [] : counting(place, input, binned, counts);
  return { steps: [...binned.steps, ...steps], results: [result], give: () => result };
}

function counting(place: Workplace, input: Input, binned: Binned, counts: DeviceNDArray): Step[] {
  const { context, stream } = place;
  const blocks = onHost(context) ? HOST_BLOCKS : GPU_BLOCKS * context.info.limits.multiprocessors;
  const grid = Math.max(1, Math.min(blocks, Math.ceil(input.length / BLOCK)));
  const kernel = kernelFor(place, input, binned) as unknown as Step['kernel'];
  return [
    { kernel, shape: { grid, block: BLOCK, stream }, args: [input.argument, input.length, binned.edges, counts] },
  ];
}

function kernelFor(place: Workplace, input: Input, { bins, quick, count }: Binned): Counting {
  const { context, name } = place;
  const { read, dtype, length } = input;
  const jit = jitOn(context);
  const host = onHost(context);
  const isWide = !host && isWhole(input) && length >= 16 * BLOCK;
  if (isWide && dtype.itemSize === 1) {
    const signed = dtype.kind === 'i';
    return remember(['count bytes', jit, bins, signed], () => countBytes(jit, name, bins, signed));
  }
  const copies = copiesOf(count, host ? 1 : undefined);
  const keys = [jit, read, bins, count, copies];
  if (copies === 0) return remember(['count globally', ...keys], () => countGlobally(jit, name, read, bins));
  const vector = isWide && dtype.itemSize === 4 ? vectorOf(dtype.name, 4) : undefined;
  if (vector === undefined) return remember(['count', ...keys], () => countAny(jit, name, read, bins, count, copies));
  return remember(['count vectors', ...keys, vector], () =>
    countVectors(jit, name, vector, { ...bins, quick }, count, copies),
  );
}

/** Whether all elements lie as vectors of 16 bytes. */
function isWhole({ array }: Input): boolean {
  return array?.isCContiguous() === true && array.pointer % 16 === 0 && array.size < 2 ** 31;
}
