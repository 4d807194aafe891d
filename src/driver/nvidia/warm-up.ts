/**
 * What this thread does while the driver starts, which takes it 80 to 200 ms and no JavaScript: it has the layers above rehearse, on a device
 * whose driver does nothing.
 *
 * An engine compiles a function when it is first called, and that is most of what the first kernel of a process costs. Nothing else
 * changes: whatever goes wrong here is silent, and comes up where it belongs.
 */
import { variable } from '../../environment.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { rehearsal } from '../rehearsal.ts';
import { NvidiaDriver } from './device.ts';
import { IDLE_DEVICE, idleCuda } from './idle.ts';

/** CUDA_ERROR_NOT_INITIALIZED: cuInit has not run in this process. */
const NOT_INITIALIZED = 3;

/** Lets the driver start on a thread of the pool and rehearses meanwhile; `cuInit` then waits for that thread. */
export function startDriver(cuda: Cuda): void {
  if (cuda.cuDeviceGetCount(0) !== NOT_INITIALIZED) return;
  cuda.later('cuInit', 0).catch(() => {});
  // Nobody should read about kernels that are not theirs.
  if (variable('TSAMBA_DEBUG') !== undefined) return;
  try {
    warmUp(cuda);
  } catch {
    // Tools that rewrite functions (coverage, bundlers for old engines) may make what is rehearsed something that is no kernel.
  }
}

/** So often kernels are rehearsed, if the time allows: what has run some times is better code. */
const ROUNDS = 3;
/** Milliseconds after which no further round begins. The first takes some 60 on a server, the others a third of it, a driver there 200. */
const LONGEST = 110;

/** Rehearses on a device that does nothing. */
export function warmUp(cuda: Cuda): void {
  const began = performance.now();
  for (let round = 0; round < ROUNDS && (round === 0 || performance.now() - began < LONGEST); round++) {
    rehearsal.run?.(new NvidiaDriver(idleCuda(cuda), IDLE_DEVICE));
  }
}
