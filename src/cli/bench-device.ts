/**
 * In the process of its own: measures one device.
 */
import { cuda } from '../cuda/namespace.ts';
import type { DeviceKind } from '../driver/driver.ts';
import { f32 } from '../dtype/index.ts';
import { type Case, casesOf } from './bench-kernels.ts';
import { tell } from './children.ts';

/** What is measured of a kernel. */
export interface BenchRow {
  readonly name: string;
  /** Of a launch, in a queue of launches. */
  readonly milliseconds: number;
  /** The same in plain JavaScript. */
  readonly plainMilliseconds: number;
  /** What is wrong with the result, or why it does not run. */
  readonly problem?: string | undefined;
}

/** How fast memory is moved: GB/s. */
export interface BenchCopies {
  readonly copies: {
    readonly toDevice: number;
    readonly toHost: number;
    readonly onDevice: number;
    readonly bytes: number;
  };
}

const ROUNDS = 5;
/** Milliseconds that a round takes at least. */
const LEAST = 20;
const MOST_LAUNCHES = 2_000;

/** Elements of the larger arrays. */
const SIZES: Readonly<Record<DeviceKind, number>> = {
  nvidia: 2 ** 24,
  hip: 2 ** 24,
  opencl: 2 ** 22,
  webgpu: 2 ** 22,
  cpu: 2 ** 20,
  simulator: 2 ** 12,
};

/** Measures copies and all kernels, and tells of each. */
export async function benchDevice({ kind, index }: { kind: DeviceKind; index: number }): Promise<null> {
  await cuda.open(kind, index);
  tell({ copies: await measureCopies(SIZES[kind]) });
  for (const make of casesOf(SIZES[kind])) tell(await measure(make()));
  return null;
}

async function measure(one: Case): Promise<BenchRow> {
  try {
    await one.prepare();
    const milliseconds = await timeOf(one.launch);
    const plain = one.plain();
    const problem = wrong(await one.result(), plain, one);
    const plainMilliseconds = await timeOf(() => void one.plain(), false);
    return { name: one.name, milliseconds, plainMilliseconds, problem };
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return { name: one.name, milliseconds: Number.NaN, plainMilliseconds: Number.NaN, problem };
  }
}

function wrong(
  got: ArrayLike<number>,
  expected: ArrayLike<number>,
  { tolerance, share = 0 }: Case,
): string | undefined {
  let first: string | undefined;
  let count = 0;
  for (let i = 0; i < expected.length; i++) {
    const [a, b] = [got[i] ?? Number.NaN, expected[i] ?? Number.NaN];
    if (Math.abs(a - b) <= tolerance * Math.abs(b)) continue;
    count++;
    first ??= `wrong: element ${i} is ${a} and should be ${b}`;
  }
  return count > share * expected.length ? first : undefined;
}

const waited = (): Promise<void> => cuda.synchronizeAsync();

/** Milliseconds a call, of the quickest round. */
async function timeOf(call: () => void, waits = true): Promise<number> {
  const round = async (calls: number): Promise<number> => {
    const start = performance.now();
    for (let k = 0; k < calls; k++) call();
    if (waits) await waited();
    return performance.now() - start;
  };
  await round(1);
  let calls = 1;
  while (calls < MOST_LAUNCHES && (await round(calls)) < LEAST) calls *= 2;
  let best = Number.POSITIVE_INFINITY;
  for (let k = 0; k < ROUNDS; k++) best = Math.min(best, await round(calls));
  return best / calls;
}

async function measureCopies(elements: number): Promise<BenchCopies['copies']> {
  const host = new Float32Array(elements).fill(1);
  const a = cuda.deviceArray(elements, f32);
  const b = cuda.deviceArray(elements, f32);
  const speed = async (body: () => unknown): Promise<number> => {
    let best = Number.POSITIVE_INFINITY;
    for (let k = 0; k < ROUNDS; k++) {
      const start = performance.now();
      await body();
      await waited();
      best = Math.min(best, performance.now() - start);
    }
    return host.byteLength / best / 1e6;
  };
  const toDevice = await speed(() => a.copyToDevice(host));
  const toHost = await speed(() => a.copyToHostAsync(host));
  const onDevice = await speed(() => b.copyToDevice(a));
  return { toDevice, toHost, onDevice, bytes: host.byteLength };
}
