/**
 * What `tsamba doctor` has a device do: copies, a kernel with a guard, a sum in shared memory behind barriers, atomic additions, and f64 where the
 * device has it. Each result is compared with JavaScript's. Runs in a process of its own, which a driver may take down.
 */
import { cuda } from '../cuda/namespace.ts';
import type { DeviceKind } from '../driver/driver.ts';
import { type f32, type f64, i32 } from '../dtype/index.ts';
import type { Vec } from '../kernel/types.ts';
import { tell } from './children.ts';

/** What was tried, and what went wrong. */
export interface Attempt {
  readonly what: string;
  readonly milliseconds: number;
  readonly problem?: string | undefined;
}

const N = 4096;
const BLOCK = 64;

type Step = () => Promise<string | undefined>;

/** Why two arrays are not the same; undefined where they are. */
function difference(got: ArrayLike<number>, expected: (i: number) => number): string | undefined {
  for (let i = 0; i < got.length; i++) {
    const want = expected(i);
    if (!Object.is(got[i], want)) return `computes wrong numbers: element ${i} is ${got[i]} and should be ${want}`;
  }
  return undefined;
}

const copies: Step = async () => {
  const there = cuda.toDevice(Int32Array.from({ length: N }, (_, i) => i * 3));
  return difference((await there.copyToHostAsync()) as Int32Array, (i) => i * 3);
};

const saxpy: Step = async () => {
  const kernel = cuda.jit((a: number, x: Vec<f32>, y: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] = a * x[i]! + y[i]!;
  });
  const x = cuda.toDevice(Float32Array.from({ length: N }, (_, i) => i % 16));
  const y = cuda.toDevice(new Float32Array(N).fill(1));
  await kernel.launchAsync({ threads: N }, 2, x, y);
  return difference((await y.copyToHostAsync()) as Float32Array, (i) => 2 * (i % 16) + 1);
};

const blockSums: Step = async () => {
  const kernel = cuda.jit((x: Vec<i32>, sums: Vec<i32>) => {
    const part = cuda.shared.array(64, i32);
    const t = cuda.threadIdx.x;
    part[t] = x[cuda.grid(1)]!;
    cuda.syncThreads();
    for (let step = 32; step > 0; step >>= 1) {
      if (t < step) part[t]! += part[t + step]!;
      cuda.syncThreads();
    }
    if (t === 0) sums[cuda.blockIdx.x] = part[0]!;
  });
  const x = cuda.toDevice(Int32Array.from({ length: N }, (_, i) => i));
  const sums = cuda.toDevice(new Int32Array(N / BLOCK));
  await kernel.launchAsync({ grid: N / BLOCK, block: BLOCK }, x, sums);
  return difference((await sums.copyToHostAsync()) as Int32Array, (b) => (BLOCK * (2 * b * BLOCK + BLOCK - 1)) / 2);
};

const atomics: Step = async () => {
  const kernel = cuda.jit((counts: Vec<i32>) => {
    const i = cuda.grid(1);
    cuda.atomic.add(counts, i % 8, 1);
  });
  const counts = cuda.toDevice(new Int32Array(8));
  await kernel.launchAsync({ grid: N / BLOCK, block: BLOCK }, counts);
  return difference((await counts.copyToHostAsync()) as Int32Array, () => N / 8);
};

const doubles: Step = async () => {
  const kernel = cuda.jit((y: Vec<f64>) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] = Math.sqrt(y[i]!) / 3;
  });
  const y = cuda.toDevice(Float64Array.from({ length: N }, (_, i) => i));
  await kernel.launchAsync({ threads: N }, y);
  return difference((await y.copyToHostAsync()) as Float64Array, (i) => Math.sqrt(i) / 3);
};

/** In the child: tries a device, and tells of each step as it ends. */
export async function tryDevice({
  kind,
  index,
  hasF64,
}: {
  kind: DeviceKind;
  index: number;
  hasF64: boolean;
}): Promise<null> {
  await step('opening', async () => {
    await cuda.open(kind, index);
    return undefined;
  });
  await step('copies', copies);
  await step('a kernel over f32', saxpy);
  await step('shared memory and barriers', blockSums);
  await step('atomic additions', atomics);
  if (hasF64) await step('a kernel over f64', doubles);
  return null;
}

async function step(what: string, body: Step): Promise<void> {
  tell({ begun: what });
  const start = performance.now();
  let problem: string | undefined;
  try {
    problem = await body();
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const attempt: Attempt = { what, milliseconds: performance.now() - start, problem };
  tell(attempt);
}
