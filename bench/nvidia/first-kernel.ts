/**
 * The first kernel of a process and later ones, as a program of a user's own: a module by itself, for a kernel in a bundle of the whole library
 * closes over all of that, and reading it takes longer. Prints what they took, as JSON.
 */
import { cuda, type f32, type Vec } from 'tsamba';

/** Milliseconds. */
export interface FirstKernel {
  readonly first: number;
  readonly later: number;
  readonly worstLater: number;
  /** What was loaded, for `rawFirst`: the first kernel and one of the later ones. */
  readonly ptx: readonly [string, string];
}

const LATER = 12;

function timed(run: () => void): number {
  const began = performance.now();
  run();
  cuda.synchronize();
  return performance.now() - began;
}

function ptxOf(kernel: { inspect(options: { target: 'ptx' }): unknown }): string {
  const text = kernel.inspect({ target: 'ptx' });
  return typeof text === 'string' ? text : String(Object.values(text as object)[0]);
}

// The device is open and has memory before anything is timed.
const x = cuda.toDevice(new Float32Array(1024));
cuda.synchronize();
const kernel = cuda.jit((a: number, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * y[i] + 1;
});
const first = timed(() => kernel.launch({ grid: 4, block: 256 }, 2, x));
if (x.get(1023) !== 1) throw new Error('the first kernel is wrong');

const ptx = [ptxOf(kernel)];
const later = Array.from({ length: LATER }, (_, k) => {
  const gain = k + 2;
  const next = cuda.jit((a: number, y: Vec<f32>, n: number) => {
    const i = cuda.grid(1);
    let sum = 0;
    for (let m = 0; m < n; m++) sum += y[(i + m) % y.length] * gain;
    if (i < y.length) y[i] = a * Math.sqrt(Math.abs(sum));
  });
  const ms = timed(() => next.launch({ grid: 4, block: 256 }, 2, x, 3));
  if (k === 0) ptx.push(ptxOf(next));
  return ms;
}).sort((a, b) => a - b);
console.log(JSON.stringify({ first, later: later[LATER >> 1], worstLater: later.at(-1), ptx }));
