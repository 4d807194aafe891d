/**
 * Mistakes made on purpose, by which `sanitize.sh` makes sure that compute-sanitizer sees Tsamba's kernels at all. They pass when
 * nobody watches: `--filter "the sanitizer"`.
 */
import { cuda, f32, i32, scope, type Vec } from '../../src/index.ts';
import type { GpuModule } from './suite.ts';

/** memcheck must find it: a store behind the array's last element, inside what the driver handed out. */
function storesOutOfBounds(): void {
  const kernel = cuda.jit(
    (a: Vec<f32>, k: number) => {
      a[cuda.threadIdx.x + k] = 1;
    },
    { boundsCheck: false, signature: 'void(f32[:], i32)' },
  );
  const a = cuda.deviceArray(1000, f32);
  kernel.launch({ grid: 1, block: 8 }, a, 1000);
  cuda.synchronize();
}

/** racecheck must find it: an element of another warp's is read with no barrier between. */
function races(): void {
  const kernel = cuda.jit((out: Vec<i32>) => {
    const shared = cuda.shared.array(64, i32);
    const t = cuda.threadIdx.x;
    shared[t] = t;
    out[t] = shared[t ^ 32];
  });
  kernel.launch({ grid: 1, block: 64 }, cuda.deviceArray(64, i32));
  cuda.synchronize();
}

export const sanitizerControl: GpuModule = {
  chapter: 'the sanitizer',
  tests: [
    { name: 'memcheck: a store out of bounds', run: () => scope(storesOutOfBounds), onDemand: true },
    { name: 'racecheck: a race', run: () => scope(races), onDemand: true },
  ],
};
