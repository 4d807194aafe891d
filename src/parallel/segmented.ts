/**
 * `segmentedReduce`: each of many runs of elements combined into one value.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { asDType, type DType, type DTypeLike, i32, spellDType } from '../dtype/index.ts';
import type { Step } from '../kernel/steps.ts';
import { readOptions } from '../options.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { packedOf } from './accesses.ts';
import { type Input, inputOf } from './input.ts';
import { remember } from './memo.ts';
import { offsetsOf } from './offsets.ts';
import { castTo, type Operator, operatorOf } from './operator.ts';
import { jitOn, onHost, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { initOf } from './reduce-values.ts';
import { BLOCK, blockSegments, type Segments, threadSegments, WARP, warpSegments } from './segment-kernels.ts';
import { outOf, resultFor } from './transform.ts';
import type { Elements, OnStream, OperatorLike, Sequence } from './types.ts';

/** Elements that a lane is given of a segment of average length. */
const PER_LANE = 8;
/** Segments this many times as long as what a thread, or some lanes, should take are left to blocks. */
const LONG = 64;
/** Segments of this average length have a block each, all of them. */
const FOR_BLOCK = 2048;
/** Blocks of such a launch at most. */
const MOST_BLOCKS = 2 ** 24;
/** A warp's worth of rounds: blocks for each multiprocessor of launches that go through segments in rounds. */
const BLOCKS = 16;

/** Options of `segmentedReduce`. */
export interface SegmentedReduceOptions<T> extends OnStream {
  /** A value that is combined with each segment, once, before its elements; and the result of those without elements. */
  readonly init?: T | undefined;
  /** A device array that gets the results. Default: a new one. */
  readonly out?: DeviceNDArray | DeviceNDArray<never> | undefined;
  /** What to compute in, and the dtype of the results. Default: 64-bit integers for sums of integers, else that of the elements. */
  readonly dtype?: DTypeLike | undefined;
  /** The same bits every time. It always is so on one device: the order depends on the lengths alone. */
  readonly deterministic?: boolean | undefined;
}

/** Calls of `segmentedReduce`; `L`: whether it gives a promise. */
export type SegmentedReduceCall<L extends boolean> = <const X extends Sequence>(
  x: X,
  offsets: Sequence,
  op: OperatorLike<Elements<X>>,
  options?: SegmentedReduceOptions<Elements<X>>,
) => L extends true ? Promise<DeviceNDArray<Elements<X>, 1>> : DeviceNDArray<Elements<X>, 1>;

/** The type of `segmentedReduce`. */
export type SegmentedReduce = SegmentedReduceCall<false> & { readonly async: SegmentedReduceCall<true> };

interface Own {
  readonly init?: unknown;
  readonly out?: unknown;
  readonly dtype?: DTypeLike | undefined;
  readonly stream?: StreamLike;
}

/**
 * Segment `s`, the elements from `offsets[s]` to before `offsets[s + 1]`, combined into element `s` of a device array, which has one less than `offsets`. Segments
 * of all lengths are processed at once, each by a thread, some lanes of a warp, or a block. Does not wait. Empty segments give `init`, otherwise 0
 * for sums and 1 for products, otherwise undefined values. CUB: `DeviceSegmentedReduce`.
 *
 * Sums of integers are 64-bit integers. If offsets do not ascend or leave the array, the results are undefined.
 *
 * @example
 * import { segmentedReduce } from 'tsamba/parallel';
 *
 * const sums = segmentedReduce(Float32Array.of(1, 2, 3, 4, 5), Int32Array.of(0, 2, 2, 5), 'sum');
 * console.log(sums.copyToHost()); // Float32Array(3) [ 3, 0, 12 ]
 */
export const segmentedReduce: SegmentedReduce = /* @__PURE__ */ primitive(
  'segmentedReduce',
  planSegmented,
) as unknown as SegmentedReduce;

function planSegmented(x: unknown, offsets: unknown, op: unknown, options: unknown): Plan<DeviceNDArray> {
  const keys = ['init', 'out', 'dtype', 'deterministic', 'stream'] as const;
  const own: Own = readOptions('segmentedReduce', options as object, keys);
  const place = placeOf('segmentedReduce', [x, offsets, own.out], own.stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const bounds = offsetsOf(place, offsets, input.length);
    const dtype = own.dtype === undefined ? undefined : (asDType(own.dtype) as DType);
    const operator = operatorOf(place, op, input.dtype, { exact: true, dtype });
    const target = outOf(place, own.out);
    const type = target?.dtype ?? dtype ?? (operator.identity === undefined ? input.dtype : resultOf(operator, input));
    const wanted = { length: bounds.length - 1, dtype: type, whole: true };
    const results = resultFor(place, target, wanted, [...input.arrays, ...bounds.arrays]);
    const steps = reducingSegments(place, operator, input, bounds, results.written, own.init);
    return { ...results, steps };
  });
}

/** Narrow elements are given as what they are, where no wider integer was needed. */
function resultOf({ type }: Operator, { dtype }: Input): DType {
  return type.itemSize === 8 ? type : dtype;
}

/** The launches that reduce segments into `out`, one element each. */
export function reducingSegments(
  place: Workplace,
  operator: Operator,
  input: Input,
  bounds: Input,
  out: DeviceNDArray,
  init: unknown,
): Step[] {
  const { context, stream } = place;
  const count = bounds.length - 1;
  if (count === 0) return [];
  const host = onHost(context);
  const average = input.length / count;
  const lanes = host ? 1 : lanesFor(average);
  // Vectors of one element would gain nothing.
  const wide = lanes < WARP ? undefined : packedOf(input.array);
  const packed = wide !== undefined && wide.count > 1 ? wide : undefined;
  const made = { operator, read: input.read, bound: bounds.read, to: castTo(out.dtype), packed };
  const jit = jitOn(context);
  const { op, name, type } = operator;
  const keys = [jit, op, name, spellDType(type), spellDType(out.dtype), input.read, bounds.read];
  const value = initOf(init, type);
  const empty = value ?? initOf(operator.identity, type);
  // More than a block has, so that each of its threads has an element.
  const most = host ? 2 ** 31 - 1 : Math.max(2 * BLOCK, lanes * PER_LANE * LONG);
  const step = (kernel: Segments, threads: number, queue: DeviceNDArray): Step => ({
    kernel: kernel as unknown as Step['kernel'],
    shape: { grid: Math.ceil(threads / BLOCK), block: BLOCK, stream },
    args: [input.argument, bounds.argument, out, empty, value, queue, most],
  });
  const blockwise = (queued: boolean): Segments =>
    remember(['block segments', queued, packed, ...keys], () => blockSegments(jit, made, queued));
  if (!host && average >= FOR_BLOCK) {
    // The queue is not looked at.
    return [step(blockwise(false), Math.min(count, MOST_BLOCKS) * BLOCK, place.temporary([1], i32))];
  }
  const queue = place.temporary([1 + Math.min(count, Math.floor(input.length / most) + 1)], i32);
  queue.set(0, 0);
  // An input without elements has no first one that lanes could load.
  const isSingle = lanes === 1 || input.length === 0;
  const first = isSingle ? threadSegments : (one: typeof jit, what: typeof made) => warpSegments(one, what, lanes);
  const short = remember(['segments', isSingle ? 1 : lanes, packed, ...keys], () => first(jit, made));
  const threads = isSingle ? count : Math.min(count * lanes, gridOf(place) * BLOCK);
  const steps = [step(short, threads, queue)];
  if (host || input.length <= most) return steps;
  const blocks = Math.min(gridOf(place), Math.floor(input.length / most) + 1);
  return [...steps, step(blockwise(true), blocks * BLOCK, queue)];
}

const gridOf = ({ context }: Workplace): number => BLOCKS * context.info.limits.multiprocessors;

/** Lanes for segments of an average length: a power of two, up to a warp. */
function lanesFor(average: number): number {
  let lanes = 1;
  while (lanes < 32 && lanes * PER_LANE < average) lanes *= 2;
  return lanes;
}
