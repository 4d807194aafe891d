/**
 * What this thread does while the driver starts, which takes it 80 to 200 ms and no JavaScript: it compiles a kernel that nobody runs.
 *
 * An engine compiles a function when it is first called, and that is most of what the first kernel of a process costs: on one host
 * 20 ms, of which 8 are left after this. Nothing else changes: whatever goes wrong here is silent, and comes up where it belongs.
 */
import { compileKernel } from '../../compiler/compile.ts';
import type { ArgType } from '../../compiler/contract.ts';
import { captureFunction } from '../../compiler/frontend/capture.ts';
import type { CapturedFunction } from '../../compiler/frontend/captured.ts';
import { intrinsic } from '../../compiler/intrinsics.ts';
import { BinaryCache, cacheFolder } from '../binary-cache.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { ptxPipeline } from './compile.ts';

/** CUDA_ERROR_NOT_INITIALIZED: cuInit has not run in this process. */
const NOT_INITIALIZED = 3;

/** Lets the driver start on a thread of the pool and prepares the compiler meanwhile; `cuInit` then waits for that thread. */
export function startDriver(cuda: Cuda): void {
  if (cuda.cuDeviceGetCount(0) !== NOT_INITIALIZED) return;
  cuda.later('cuInit', 0).catch(() => {});
  try {
    lookUp(warmUp());
  } catch {
    // Tools that rewrite functions (coverage, bundlers for old engines) may make the sample something that is no kernel.
  }
}

interface Values {
  [index: number]: number;
  readonly length: number;
}

const cuda = {
  grid: intrinsic<(ndim: number) => number>('grid'),
  gridSize: intrinsic<(ndim: number) => number>('gridSize'),
};
const gain = 0.5;

/** Has a bit of everything that kernels are made of. */
function sample(x: Values, y: Values, a: number, n: number): void {
  const first = cuda.grid(1);
  if (first >= y.length) return;
  for (let i = first; i < y.length; i += cuda.gridSize(1)) {
    let sum = 0;
    for (let k = 0; k < n; k++) {
      const v = x[(i + k) % x.length] as number;
      sum += v > 0 ? v * gain : Math.abs(v) / a;
    }
    y[i] = Math.sqrt(sum) + Math.max(y[i] as number, a) - 1;
  }
}

/** Short, as most first kernels are. */
function scaled(y: Values, a: number): void {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * (y[i] as number) + gain;
}

const VECTOR: ArgType = { kind: 'array', elem: 'f32', ndim: 1, layout: 'C', unit: 4 };
const NUMBER: ArgType = { kind: 'number' };

/** Looks for machine code of the sample, which is nowhere: loading the modules that this takes costs more than the looking. */
function lookUp(ptx: string): void {
  const folder = cacheFolder('nvidia');
  if (folder !== undefined) new BinaryCache(folder, 'none').read(ptx);
}

/** So often each is compiled, if the time allows: what has run some times is better code, and saves the first kernel another third. */
const ROUNDS = 3;
/** Milliseconds after which no further round begins. The first takes some 60 on a server, the others a quarter of it, a driver there 200. */
const LONGEST = 120;

/** Compiles the samples, by the way that every kernel goes; the PTX of the first. */
export function warmUp(): string {
  let text = '';
  const began = performance.now();
  for (let round = 0; round < ROUNDS && (round === 0 || performance.now() - began < LONGEST); round++) {
    compiled(captureFunction(scaled), [VECTOR, NUMBER]);
    text = compiled(captureFunction(sample), [VECTOR, VECTOR, NUMBER, NUMBER]);
  }
  return text;
}

function compiled(fn: CapturedFunction, types: readonly ArgType[]): string {
  const { kernel } = compileKernel(fn, types, {
    name: 'sample',
    checked: false,
    contract: true,
    fastMath: false,
    debug: false,
    defaultFloat: 'f32',
    indexBits: 32,
  });
  return ptxPipeline.compile(kernel, { capability: 90, isa: [8, 0] }, { name: 'sample', aliased: false }).text;
}
