/**
 * Latencies of the CPU device: the first kernel of a process, later ones, an empty launch; and how fast memory is copied.
 */
import { cuda, f32, type In, type Vec } from 'tsamba';
import { median } from '../statistics.ts';

export interface Latency {
  /** From the first `launch` to the end of the kernel, compilation and start of the device included. Milliseconds. */
  readonly firstKernel: number;
  /** Median of the 11th to 40th kernel compiled, when the compiler itself is still young. Milliseconds. */
  readonly warmKernel: number;
  /** Median of the last of many kernels, when the engine has compiled the compiler. Milliseconds. */
  readonly hotKernel: number;
  /** The same of kernels of one line. */
  readonly hotSmall: number;
  /** Microseconds. */
  readonly emptyLaunch: number;
  /** `deviceArray` and `dispose` of 4 KB. Microseconds. */
  readonly allocateAndFree: number;
}

export function latency(): Latency {
  const x = new Float32Array(1024);
  const kernel = cuda.jit((a: number, x: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < x.length) x[i] = a * x[i] + 1;
  });
  const start = performance.now();
  kernel.launch({ grid: 4, block: 256 }, 2, cuda.InOut(x));
  const firstKernel = performance.now() - start;
  if (x[1023] !== 1) throw new Error('the first kernel is wrong');

  const d = cuda.toDevice(x);
  const times: number[] = [];
  for (let k = 0; k < 1000; k++) {
    const gain = 1 + k;
    const next = cuda.jit((y: Vec<f32>, n: number) => {
      const i = cuda.grid(1);
      let sum = 0;
      for (let m = 0; m < n; m++) sum += y[(i + m) % y.length] * gain;
      if (i < y.length) y[i] = Math.sqrt(Math.abs(sum));
    });
    const began = performance.now();
    next.launch({ grid: 1, block: 32 }, d, 3);
    times.push(performance.now() - began);
  }
  const [warmKernel, hotKernel] = [median(times.slice(10, 40)), median(times.slice(-100))];

  const small: number[] = [];
  for (let k = 0; k < 1000; k++) {
    const offset = 1 + k;
    const next = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = a * x[i] + y[i] + offset;
    });
    const began = performance.now();
    next.launch({ grid: 4, block: 256 }, 2, d, d);
    small.push(performance.now() - began);
  }
  const hotSmall = median(small.slice(-100));

  const nothing = cuda.jit((_a: Vec<f32>, _b: Vec<f32>, _c: Vec<f32>, k: number) => {
    if (f32(k) > 1e30) return;
  });
  const launches: number[] = [];
  for (let round = 0; round < 9; round++) {
    const began = performance.now();
    for (let k = 0; k < 50_000; k++) nothing.launch({ grid: 1, block: 32 }, d, d, d, 3);
    launches.push((performance.now() - began) / 50);
  }
  launches.sort((a, b) => a - b);

  const frees: number[] = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    for (let k = 0; k < 10_000; k++) cuda.deviceArray(1024, f32).dispose();
    frees.push((performance.now() - began) / 10);
  }
  frees.sort((a, b) => a - b);
  return { firstKernel, warmKernel, hotKernel, hotSmall, emptyLaunch: launches[4], allocateAndFree: frees[2] };
}

/** Bytes read and written a second by a copy of 64 MiB, in GB/s: `TypedArray.set`, and a plain loop. */
export function copyBandwidth(): { readonly set: number; readonly loop: number } {
  const n = 2 ** 24;
  const a = new Float32Array(n).fill(1);
  const b = new Float32Array(n);
  const best = (run: () => void): number => {
    let t = Number.POSITIVE_INFINITY;
    for (let k = 0; k < 7; k++) {
      const start = performance.now();
      run();
      t = Math.min(t, performance.now() - start);
    }
    return (8 * n) / t / 1e6;
  };
  return {
    set: best(() => b.set(a)),
    loop: best(() => {
      for (let i = 0; i < n; i++) b[i] = a[i];
    }),
  };
}
