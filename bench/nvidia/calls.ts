/**
 * What single calls cost: a launch, an allocation, the first kernel of a process and later ones, each beside the driver's own
 * calls through koffi in the same process or, for what happens once in a process, in one beside it.
 */
import { readFileSync } from 'node:fs';
import { cuda, f32, type Vec } from 'tsamba';
import { RawDriver } from './raw.ts';

export function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[list.length >> 1];
}

/** Microseconds: medians over batches that fit into the driver's queue, so that nothing waits for the GPU. */
export interface Calls {
  readonly rawLaunch: number;
  readonly launch: number;
  readonly configured: number;
  readonly rawAllocate: number;
  readonly allocate: number;
}

const BATCHES = 60;
const BATCH = 500;
/** Batches before the first that counts: engines compile what they run often. */
const WARM = 20;

/** Each of them in turns, a batch at a time. */
function interleaved(runs: Readonly<Record<string, () => void>>): Record<string, number> {
  const times: Record<string, number[]> = {};
  for (let batch = -WARM; batch < BATCHES; batch++) {
    for (const [name, run] of Object.entries(runs)) {
      const began = performance.now();
      for (let k = 0; k < BATCH; k++) run();
      const us = ((performance.now() - began) / BATCH) * 1000;
      cuda.synchronize();
      times[name] ??= [];
      if (batch >= 0) times[name].push(us);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

export function calls(): Calls {
  const nothing = cuda.jit((a: Vec<f32>, b: Vec<f32>, c: Vec<f32>, k: number) => {
    if (f32(k) > 1e30) a[0] = b[0] + c[0];
  });
  const [a, b, c] = [cuda.deviceArray(1024, f32), cuda.deviceArray(1024, f32), cuda.deviceArray(1024, f32)];
  const configured = nothing.configure(1, 32);
  const raw = new RawDriver();
  const launches = interleaved({
    rawLaunch: raw.preparedLaunch(),
    launch: () => nothing.launch({ grid: 1, block: 32 }, a, b, c, 3),
    configured: () => configured(a, b, c, 3),
  });
  const allocations = interleaved({
    rawAllocate: raw.preparedAllocation(4096),
    allocate: () => cuda.deviceArray(1024, f32).dispose(),
  });
  return { ...launches, ...allocations } as unknown as Calls;
}

/** Milliseconds. */
export interface FirstKernel {
  readonly first: number;
  readonly later: number;
  readonly worstLater: number;
  /** What was loaded, for `rawFirst`: the first kernel and one of the later ones. */
  readonly ptx: readonly [string, string];
}

/** What the driver alone takes for the same texts. Milliseconds. */
export type RawFirst = Omit<FirstKernel, 'ptx'>;

/** The device is open and has memory; then the first kernel is launched and waited for, then others of the same size. */
export function firstKernel(): FirstKernel {
  const x = cuda.toDevice(new Float32Array(1024));
  cuda.synchronize();
  const timed = (run: () => void): number => {
    const began = performance.now();
    run();
    cuda.synchronize();
    return performance.now() - began;
  };
  const kernel = cuda.jit((a: number, y: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] = a * y[i] + 1;
  });
  const first = timed(() => kernel.launch({ grid: 4, block: 256 }, 2, x));
  if (x.get(1023) !== 1) throw new Error('the first kernel is wrong');
  const kernels: { inspect(options: { target: 'ptx' }): unknown }[] = [kernel];
  const later = Array.from({ length: LATER }, (_, k) => {
    const gain = k + 2;
    const next = cuda.jit((a: number, y: Vec<f32>, n: number) => {
      const i = cuda.grid(1);
      let sum = 0;
      for (let m = 0; m < n; m++) sum += y[(i + m) % y.length] * gain;
      if (i < y.length) y[i] = a * Math.sqrt(Math.abs(sum));
    });
    kernels.push(next);
    return timed(() => next.launch({ grid: 4, block: 256 }, 2, x, 3));
  });
  return { first, later: median(later), worstLater: Math.max(...later), ptx: [ptxOf(kernels[0]), ptxOf(kernels[1])] };
}

const LATER = 12;

function ptxOf(kernel: { inspect(options: { target: 'ptx' }): unknown }): string {
  const text = kernel.inspect({ target: 'ptx' });
  return typeof text === 'string' ? text : String(Object.values(text as object)[0]);
}

/** The driver loads the same texts, as the first modules of a process. */
export function rawFirst(files: readonly string[]): RawFirst {
  const [first, other] = files.map((file) => readFileSync(file, 'utf8'));
  const raw = new RawDriver();
  raw.get('cuMemAlloc', 4096);
  const load = (ptx: string): number => raw.load(ptx, /\.entry\s+([\w$]+)/.exec(ptx)?.[1] ?? '').ms;
  const ms = load(first);
  const later = Array.from({ length: LATER }, () => load(other));
  return { first: ms, later: median(later), worstLater: Math.max(...later) };
}
