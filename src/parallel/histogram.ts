/**
 * `histogram`, `histogram2d` and `bincount`: how many elements are in each bin.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { type DType, describeDType, f64, i32, i64, struct, vectorOf } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Step } from '../kernel/steps.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { BEHIND_EDGES, edgesOf, edgeType, equalBins, ownBins, pairedBins, searchedBins } from './bins.ts';
import { extentOf } from './extent.ts';
import {
  type Bins,
  BLOCK,
  copiesOf,
  countAny,
  countBytes,
  countGlobally,
  countVectors,
  spreadBytes,
} from './histogram-kernels.ts';
import { arrayInput, type Input, inputOf } from './input.ts';
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
  /** Elements outside of it are not counted. Default: from the least to the greatest element. */
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
/** What `histogram` is. */
export type Histogram = HistogramCall<false> & { readonly async: HistogramCall<true> };

/** Edges on the device, and how a bin is found by them. */
interface Binned {
  readonly key: string;
  readonly bins: Bins;
  readonly count: number;
  readonly edges: unknown;
  readonly steps: readonly Step[];
}

/**
 * How many elements are in each of `bins` bins of equal width, or in each between edges that ascend: a device array of i32 (of i64 where there are 2³¹ elements
 * or more). Nothing is waited for. Bins are NumPy's: each has its lower edge and not its upper one, but the last, which has both; NaN is in none. CUB:
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
    const binned = binnedBy(place, input, bins ?? 10, own.range);
    return counted(place, input, binned, [binned.count]);
  });
}

/** Options of `histogram2d`. */
export interface Histogram2dOptions extends OnStream {
  /** Of both: pairs outside are not counted. Default: from the least to the greatest elements. */
  readonly range?: readonly [x: Range, y: Range] | undefined;
}

/** Calls of `histogram2d`; `L`: whether it gives a promise. */
export type Histogram2dCall<L extends boolean> = (
  x: Sequence,
  y: Sequence,
  bins?: number | readonly [x: number, y: number],
  options?: Histogram2dOptions,
) => L extends true ? Promise<DeviceNDArray<number, 2>> : DeviceNDArray<number, 2>;
/** What `histogram2d` is. */
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
    const wanted = Array.isArray(bins) ? (bins as unknown[]) : [bins ?? 10, bins ?? 10];
    const [a, b] = inputs.map((input, k) => binnedBy(place, input, wanted[k], own.range?.[k])) as [Binned, Binned];
    const binned: Binned = {
      key: `${a.key} × ${b.key}`,
      bins: remember(['paired bins', a.bins, b.bins], () => pairedBins(a.bins, b.bins, b.count)),
      count: a.count * b.count,
      edges: [a.edges, b.edges],
      steps: [...a.steps, ...b.steps],
    };
    const pairs = inputOf(place, zip(sourceOf(x, inputs[0]), sourceOf(y, inputs[1])), 'x');
    return counted(place, pairs, binned, [a.count, b.count]);
  });
}

/** What has been brought to the device is not brought there again. */
const sourceOf = (given: unknown, { array }: Input): unknown => (given instanceof Lazy ? given : (array ?? given));

/** Options of `bincount`. */
export interface BincountOptions extends OnStream {
  /** How many values are counted: those from 0 to before it. Default: up to the greatest element, which is waited for. */
  readonly length?: number | undefined;
}

/** Calls of `bincount`; `L`: whether it gives a promise. */
export type BincountCall<L extends boolean> = (x: Sequence, options?: BincountOptions) => Counts<L>;
/** What `bincount` is. */
export type Bincount = BincountCall<false> & { readonly async: BincountCall<true> };

const countedIntegers = /* @__PURE__ */ primitive('bincount', planBincount);

/**
 * How often each of the integers 0, 1, … is there: a device array of i32. Integers that are negative, or `length` and more, are not counted. With `length` nothing is
 * waited for. NumPy: `bincount`.
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
    const input = inputOf(place, x, 'x');
    if (!'iu'.includes(input.dtype.kind)) {
      throw new TsambaTypeError(
        'E_PARALLEL',
        `bincount counts integers, got elements of ${describeDType(input.dtype)}`,
      );
    }
    const count = own.length ?? 0;
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new TsambaRangeError('E_PARALLEL', `bincount: length must be an integer from 0 on, got ${show(count)}`);
    }
    const bins = remember(['own bins', count], () => ownBins(count));
    return counted(place, input, { key: `${count}`, bins, count, edges: 0, steps: [] }, [count]);
  });
}

function numbersOf({ name }: Workplace, input: Input): Input {
  if ('iuf'.includes(input.dtype.kind) && input.dtype.fields === undefined) return input;
  throw new TsambaTypeError('E_PARALLEL', `${name} counts numbers, got elements of ${describeDType(input.dtype)}`);
}

/** Bins of equal width, or those between edges. */
function binnedBy(place: Workplace, input: Input, bins: unknown, range: unknown): Binned {
  const { dtype } = input;
  const type = edgeType(dtype);
  if (typeof bins !== 'number') return betweenEdges(place, dtype, bins);
  if (!Number.isSafeInteger(bins) || bins < 1) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: the number of bins must be an integer from 1 on, got ${show(bins)}`,
    );
  }
  const edges = place.temporary([bins + 1 + BEHIND_EDGES], type);
  const jit = jitOn(place.context);
  const kernel = remember(['edges', jit, bins, dtype.name], () => edgesOf(jit, bins, dtype));
  const extent = range === undefined ? extentOf(place, input) : givenExtent(place, range);
  const step: Step = {
    kernel: kernel as unknown as Step['kernel'],
    shape: { threads: bins + 1 + BEHIND_EDGES, block: 128, stream: place.stream },
    args: [extent.array, edges],
  };
  const found = remember(['equal bins', bins, dtype.name], () => equalBins(bins, dtype));
  return { key: `${bins}`, bins: found, count: bins, edges, steps: [...extent.steps, step] };
}

const Extent = /* @__PURE__ */ struct({ low: f64, high: f64 });

function givenExtent(place: Workplace, range: unknown): { array: DeviceNDArray; steps: readonly Step[] } {
  const [low, high] = Array.isArray(range) ? (range as number[]) : [];
  if (!Number.isFinite(low) || !Number.isFinite(high) || (low as number) > (high as number)) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: range must be two numbers that ascend, got ${show(range)}`,
    );
  }
  const value = { low: low as number, high: high as number };
  const operand = place.read(ndarray([value] as never, { dtype: Extent }), 'range');
  return { array: (operand as { array: DeviceNDArray }).array, steps: [] };
}

function betweenEdges(place: Workplace, dtype: DType, given: unknown): Binned {
  const list = Array.from(
    ArrayBuffer.isView(given) || Array.isArray(given) ? (given as unknown as number[]) : [],
    Number,
  );
  const rises = list.every((edge, k) => k === 0 || edge >= (list[k - 1] as number));
  if (list.length < 2 || !rises) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: bins must be a number, or two edges or more that ascend, got ${show(given)}`,
    );
  }
  const count = list.length - 1;
  const edges = place.nested(list, edgeType(dtype));
  const bins = remember(['searched bins', count, dtype.name], () => searchedBins(count, dtype));
  return { key: `${count}`, bins, count, edges, steps: [] };
}

/** The plan of counting what an input has in each bin. */
function counted(
  place: Workplace,
  input: Input,
  binned: Binned,
  shape: readonly number[],
): Omit<Plan<DeviceNDArray>, 'place'> {
  const { stream } = place;
  const type = input.length >= 2 ** 31 ? i64 : i32;
  const result = place.own(newArray(place.context, [...shape], type, { stream }));
  const counts = place.view(result, [binned.count], [result.itemSize]);
  if (binned.count > 0) counts.set((type === i64 ? 0n : 0) as never);
  const steps = input.length === 0 || binned.count === 0 ? [] : counting(place, input, binned, counts);
  return { steps: [...binned.steps, ...steps], results: [result], give: () => result };
}

function counting(place: Workplace, input: Input, { bins, count, edges }: Binned, counts: DeviceNDArray): Step[] {
  const { context, stream, name } = place;
  const jit = jitOn(context);
  const host = onHost(context);
  const each = host ? HOST_BLOCKS : GPU_BLOCKS * context.info.limits.multiprocessors;
  const step = (kernel: unknown, from: Input, to: DeviceNDArray): Step => ({
    kernel: kernel as Step['kernel'],
    shape: { grid: Math.max(1, Math.min(each, Math.ceil(from.length / BLOCK))), block: BLOCK, stream },
    args: [from.argument, from.length, edges, to],
  });
  const isWide = !host && isWhole(input) && input.length >= 16 * BLOCK;
  if (isWide && input.dtype.itemSize === 1) {
    const times = place.temporary([256], i32);
    times.set(0);
    const signed = input.dtype.kind === 'i';
    const first = remember(['count bytes', jit], () => countBytes(jit, name));
    const second = remember(['spread bytes', jit, bins, signed], () => spreadBytes(jit, name, bins, signed));
    return [step(first, input, times), step(second, arrayInput(times), counts)];
  }
  const copies = copiesOf(count, host ? 1 : undefined);
  const keys = [jit, input.read, bins, count, copies];
  if (copies === 0) {
    return [
      step(
        remember(['count globally', ...keys], () => countGlobally(jit, name, input.read, bins)),
        input,
        counts,
      ),
    ];
  }
  const vector = isWide && input.dtype.itemSize === 4 ? vectorOf(input.dtype.name, 4) : undefined;
  const kernel =
    vector === undefined
      ? remember(['count', ...keys], () => countAny(jit, name, input.read, bins, count, copies))
      : remember(['count vectors', ...keys, vector], () => countVectors(jit, name, vector, bins, count, copies));
  return [step(kernel, input, counts)];
}

/** Whether all elements lie as vectors of 16 bytes. */
function isWhole({ array }: Input): boolean {
  return array?.isCContiguous() === true && array.pointer % 16 === 0 && array.size < 2 ** 31;
}
