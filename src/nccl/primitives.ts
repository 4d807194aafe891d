/**
 * Primitives of `tsamba/parallel` over a communicator: each rank has a part of the elements.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { f64, i32, i64, u64 } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { histogram as histogramHere, type Range } from '../parallel/histogram.ts';
import { minmax } from '../parallel/queries.ts';
import { reduce as reduceHere } from '../parallel/reduce.ts';
import { searchSorted } from '../parallel/searching.ts';
import { sort as sortHere } from '../parallel/sort.ts';
import { show } from '../show.ts';
import type { Communicator } from './communicator.ts';
import { grouped } from './group.ts';
import { arrayOf } from './operands.ts';

/** Elements that each rank shows to the others, to divide the range among them evenly. */
const SAMPLES = 64;

type Numbers = DeviceNDArray<number, number> | DeviceNDArray<bigint, number> | DeviceNDArray;

/** An array on the communicator's device, from host values. */
function placed<A extends Float64Array | Int32Array | BigInt64Array | BigUint64Array>(
  comm: Communicator,
  data: A,
): DeviceNDArray<never, 1> {
  const dtype =
    data instanceof Float64Array ? f64 : data instanceof Int32Array ? i32 : data instanceof BigInt64Array ? i64 : u64;
  const array = new DeviceNDArray([data.length], null, dtype as typeof f64, { gpuData: comm.context });
  array.copyToDevice(data);
  return array as unknown as DeviceNDArray<never, 1>;
}

/** Combines one number or bigint of each rank. */
async function combined<V extends number | bigint>(
  comm: Communicator,
  value: V,
  op: 'sum' | 'prod' | 'min' | 'max',
  unsigned: boolean,
): Promise<V> {
  const data =
    typeof value === 'number' ? Float64Array.of(value) : unsigned ? BigUint64Array.of(value) : BigInt64Array.of(value);
  const array = placed(comm, data);
  try {
    await comm.allReduce(array, { op });
    const result = (await array.copyToHostAsync()) as unknown as ArrayLike<V>;
    return result[0] as V;
  } finally {
    array.dispose();
  }
}

/**
 * Reduces the elements of all ranks: `'sum'`, `'prod'`, `'min'` or `'max'`, on every rank. Each rank must have at least one element. The ranks'
 * results for floats are combined in f64. Waits without blocking. `reduce` of `tsamba/parallel` over ranks.
 */
export async function reduce(
  comm: Communicator,
  x: Numbers,
  op: 'sum' | 'prod' | 'min' | 'max',
): Promise<number | bigint> {
  const array = arrayOf('reduce', 'the array', x, comm.context);
  if (!['sum', 'prod', 'min', 'max'].includes(op)) {
    throw new TsambaTypeError('E_NCCL_ARGUMENT', `reduce: op is 'sum', 'prod', 'min' or 'max', got ${show(op)}`);
  }
  const own = (await reduceHere.async(array, op)) as number | bigint;
  return combined(comm, own, op, array.dtype.kind === 'u');
}

/**
 * How many elements of all ranks are in each bin, on every rank: like `histogram` of `tsamba/parallel`. Without a `range`, bins go from the smallest to
 * the largest element of all ranks.
 */
export async function histogram(
  comm: Communicator,
  x: Numbers,
  bins: number | readonly number[] = 10,
  options: { readonly range?: Range | undefined } = {},
): Promise<DeviceNDArray<number, 1>> {
  const array = arrayOf('histogram', 'the array', x, comm.context);
  const range = typeof bins === 'number' ? (options.range ?? (await extent(comm, array))) : undefined;
  const counts = await histogramHere.async(array, bins, range === undefined ? {} : { range });
  return comm.allReduce(counts);
}

async function extent(comm: Communicator, array: DeviceNDArray): Promise<Range> {
  const { min, max } = await minmax.async(array as DeviceNDArray<number, number>);
  const low = await combined(comm, Number(min), 'min', false);
  const high = await combined(comm, Number(max), 'max', false);
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/**
 * Sorts the elements of all ranks, stably: rank 0 gets the smallest, the last rank the largest, about as many each, as a new device array. For
 * numbers of one dtype with one axis. Equal elements go to the same rank, so parts are uneven if most are equal. A sample sort: two local sorts, and
 * each element is sent once.
 */
export async function sort<T>(comm: Communicator, x: DeviceNDArray<T, 1>): Promise<DeviceNDArray<T, 1>> {
  arrayOf('sort', 'the array', x, comm.context);
  const sorted = (await sortHere.async(x as never)) as unknown as DeviceNDArray<T, 1>;
  const bounds = await boundsOf(comm, sorted);
  const own = Int32Array.from(
    { length: comm.size },
    (_, rank) => (bounds[rank + 1] as number) - (bounds[rank] as number),
  );
  const matrix = placed(comm, new Int32Array(comm.size * comm.size));
  const mine = placed(comm, own);
  await comm.allGather(mine, matrix);
  const counts = (await matrix.copyToHostAsync()) as unknown as Int32Array;
  const incoming = Array.from({ length: comm.size }, (_, from) => counts[from * comm.size + comm.rank] as number);
  const total = incoming.reduce((a, b) => a + b, 0);
  const result = new DeviceNDArray<T, 1>([total], null, sorted.dtype, { gpuData: comm.context });
  await grouped(() => {
    const calls: Promise<unknown>[] = [];
    let at = 0;
    for (let rank = 0; rank < comm.size; rank++) {
      const [from, to] = [bounds[rank] as number, bounds[rank + 1] as number];
      const coming = incoming[rank] as number;
      if (to > from) calls.push(comm.send(sorted.slice([from, to]), rank));
      if (coming > 0) calls.push(comm.recv(result.slice([at, at + coming]), rank));
      at += coming;
    }
    return Promise.all(calls);
  });
  for (const array of [matrix, mine, sorted]) array.dispose();
  // Runs of all ranks, in their order: a stable sort keeps that among equal elements.
  if (total > 0) await sortHere.async(result as never, { out: result as never });
  return result;
}

/** Where this rank's sorted elements are divided among the ranks: `size + 1` places. */
async function boundsOf<T>(comm: Communicator, sorted: DeviceNDArray<T, 1>): Promise<readonly number[]> {
  const n = sorted.size;
  const { size } = comm;
  const all = placed(comm, new Int32Array(size));
  const one = placed(comm, Int32Array.of(n));
  await comm.allGather(one, all);
  const lengths = (await all.copyToHostAsync()) as unknown as Int32Array;
  const samples = new DeviceNDArray<T, 1>([SAMPLES * size], null, sorted.dtype, { gpuData: comm.context });
  const own = new DeviceNDArray<T, 1>([SAMPLES], null, sorted.dtype, { gpuData: comm.context });
  for (let k = 0; k < SAMPLES && n > 0; k++) {
    const from = Math.floor(((k + 0.5) * n) / SAMPLES);
    own.slice([k, k + 1]).copyToDevice(sorted.slice([from, from + 1]));
  }
  await comm.allGather(own, samples);
  // Ranks without elements have shown nothing.
  const shown = lengths.reduce((count, length) => count + (length > 0 ? 1 : 0), 0);
  const kept = new DeviceNDArray<T, 1>([SAMPLES * shown], null, sorted.dtype, { gpuData: comm.context });
  let at = 0;
  for (let rank = 0; rank < size; rank++) {
    if ((lengths[rank] as number) === 0) continue;
    kept.slice([at, at + SAMPLES]).copyToDevice(samples.slice([rank * SAMPLES, (rank + 1) * SAMPLES]));
    at += SAMPLES;
  }
  const bounds: number[] = [0];
  if (shown > 0 && n > 0 && size > 1) {
    await sortHere.async(kept as never, { out: kept as never });
    const splitters = new DeviceNDArray<T, 1>([size - 1], null, sorted.dtype, { gpuData: comm.context });
    for (let rank = 1; rank < size; rank++) {
      const from = Math.floor((rank * SAMPLES * shown) / size);
      splitters.slice([rank - 1, rank]).copyToDevice(kept.slice([from, from + 1]));
    }
    const places = await searchSorted.async(sorted as never, splitters as never);
    bounds.push(...Array.from((await places.copyToHostAsync()) as unknown as ArrayLike<number>, Number));
    for (const array of [splitters, places]) array.dispose();
  } else {
    for (let rank = 1; rank < size; rank++) bounds.push(0);
  }
  for (const array of [all, one, samples, own, kept]) array.dispose();
  bounds.push(n);
  return bounds;
}
