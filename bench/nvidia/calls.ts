/**
 * What single calls cost: a launch and an allocation, each beside the driver's own calls through koffi in the same process; and what the driver takes for a first kernel.
 */
import { readFileSync } from 'node:fs';
import { cuda, f32, type Vec } from 'tsamba';
import { median } from '../statistics.ts';
import { RawDriver } from './raw.ts';

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

/** What the driver alone takes for the texts of a first kernel and a later one. Milliseconds. */
export interface RawFirst {
  readonly first: number;
  readonly later: number;
  readonly worstLater: number;
}

/** As many as a program of `first-kernel.ts` has. */
const LATER = 12;

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
