/**
 * The same bits every time: reductions and scans of floats whose sums depend on the order, many times over while other work keeps the device busy, and all of one outcome.
 */
import { cuda, type DeviceNDArray, scope } from '../../src/index.ts';
import {
  any,
  exclusiveScan,
  inclusiveScan,
  reduceByKey,
  reduceInto,
  segmentedReduce,
  zip,
} from '../../src/parallel/index.ts';
import { same } from '../../testsuite/assert.ts';
import { Random } from '../fuzz/random.ts';
import type { GpuModule } from './suite.ts';

/** How often, and of how many elements. */
export interface Repeats {
  readonly runs: number;
  readonly length: number;
}

/** Floats of very different sizes: in another order their sum is another one. */
function floats(length: number): Float32Array {
  const r = new Random(length);
  return Float32Array.from({ length }, () => (r.unit() - 0.5) * 2 ** r.below(24));
}

/** Where segments of very different lengths begin, and where the last one ends. */
function bounds(length: number): number[] {
  const r = new Random(7);
  const list = [0];
  while ((list.at(-1) as number) < length) {
    list.push(Math.min(length, (list.at(-1) as number) + r.pick([0, 1, 3, 30, 500, 20_000])));
  }
  return list;
}

function keysOf(list: readonly number[], length: number): Int32Array {
  const keys = new Int32Array(length);
  list.slice(1).forEach((end, s) => {
    keys.fill(s, list[s], end);
  });
  return keys;
}

const sum = (a: number, b: number): number => a + b;
const bits = (x: DeviceNDArray<never>): DeviceNDArray<number> => x.view('uint32' as never) as never;

type Make = (x: DeviceNDArray<number>, stream: ReturnType<typeof cuda.stream>) => DeviceNDArray<never>;

/** Runs a call on two streams in turns, without waiting in between, and compares all results with the first. */
function isAlways(make: Make, { runs, length }: Repeats): void {
  const streams = [cuda.stream(), cuda.stream()];
  const x = cuda.toDevice(floats(length));
  cuda.synchronize();
  // Views that are made on the way are given back.
  const run = (k: number): DeviceNDArray<never> => scope(() => make(x as never, streams[k % 2] as never));
  const first = run(0);
  const rounds = 4;
  for (let k = 1; k < runs; k += rounds) {
    const results = Array.from({ length: Math.min(rounds, runs - k) }, (_, j) => run(k + j));
    cuda.synchronize();
    results.forEach((result, j) => {
      const differs = scope(() => any(zip({ p: bits(first), q: bits(result) }), (v) => v.p !== v.q));
      same(differs, false, `run ${k + j} has other bits`);
      result.dispose();
    });
  }
  for (const one of [first, x, ...streams]) one.dispose();
}

/** What is run: by name. */
export const REPEATED: Readonly<Record<string, (repeats: Repeats) => void>> = {
  'sums of f32': (repeats) =>
    isAlways((x, stream) => {
      const out = cuda.deviceArray(2, 'float32', { stream });
      reduceInto(x, 'sum', out, { deterministic: true, stream });
      reduceInto(x, sum as never, out.slice([1, 2]) as never, { deterministic: true, stream });
      return out as never;
    }, repeats),
  'inclusive scans': (repeats) =>
    isAlways((x, stream) => inclusiveScan(x, 'sum', { deterministic: true, stream }) as never, repeats),
  'exclusive scans': (repeats) =>
    isAlways(
      (x, stream) => exclusiveScan(x, sum as never, { init: 1 as never, deterministic: true, stream }) as never,
      repeats,
    ),
  'sums of segments': (repeats) => {
    const offsets = cuda.toDevice(Int32Array.from(bounds(repeats.length)));
    isAlways((x, stream) => segmentedReduce(x, offsets, 'sum', { deterministic: true, stream }) as never, repeats);
    offsets.dispose();
  },
  'sums by key': (repeats) => {
    const keys = cuda.toDevice(keysOf(bounds(repeats.length), repeats.length));
    isAlways((x, stream) => {
      const sums = reduceByKey(keys, x, 'sum', { deterministic: true, stream });
      sums.keys.dispose();
      return sums.values as never;
    }, repeats);
    keys.dispose();
  },
};

export const deterministic: GpuModule = {
  chapter: 'the same bits every time',
  tests: Object.entries(REPEATED).map(([name, run]) => ({
    name: `1,000 ${name}`,
    run: () => run({ runs: 1000, length: 2 ** 20 + 77 }),
    seconds: 120,
  })),
};
