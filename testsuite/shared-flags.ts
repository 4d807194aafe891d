/**
 * Chapter: loops with barriers that a flag in shared memory ends, which is the same for all threads between two barriers.
 */
import { cuda, i32, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

export const sharedFlags: readonly ConformanceTest[] = chapter('shared flags', {
  'a loop on a shared flag': async () => {
    // Distances in a ring, found in rounds until nothing changes: the block goes on while some thread has set the flag.
    const kernel = cuda.jit((out: Vec<i32>) => {
      const changed = cuda.shared.array(1, i32);
      const far = cuda.shared.array(64, i32);
      const t = cuda.threadIdx.x;
      const n = cuda.blockDim.x;
      far[t] = t === 0 ? 0 : 1000;
      let rounds = 0;
      do {
        cuda.syncThreads();
        if (t === 0) changed[0] = 0;
        const near = Math.min(far[(t + 1) % n], far[(t + n - 1) % n]) + 1;
        cuda.syncThreads();
        if (near < far[t]) {
          far[t] = near;
          cuda.atomic.exch(changed, 0, 1);
        }
        cuda.syncThreads();
        rounds++;
      } while (changed[0] > 0);
      out[cuda.grid(1)] = far[t] * 100 + rounds;
    });
    for (const block of [64, 33, 3]) {
      const out = zeros(2 * block, 'int32');
      await launch(kernel, { grid: 2, block }, out);
      const rounds = Math.floor(block / 2) + 1;
      const far = (t: number): number => Math.min(t, block - t);
      sameElements(
        await read(out),
        Array.from({ length: 2 * block }, (_, k) => far(k % block) * 100 + rounds),
      );
    }
  },
  'loops on shared flags in one another, after some threads have returned': async () => {
    const kernel = cuda.jit((out: Vec<i32>, most: i32) => {
      const left = cuda.shared.array(2, i32);
      const t = cuda.threadIdx.x;
      const k = cuda.grid(1);
      if (k >= out.length) return;
      if (t === 0) left[0] = most;
      cuda.syncThreads();
      let n = 0;
      while (left[0] > 0) {
        if (t === 0) left[1] = left[0];
        cuda.syncThreads();
        for (let j = 0; left[1] > 0; j++) {
          n += j;
          cuda.syncThreads();
          if (t === 0) left[1]--;
          cuda.syncThreads();
        }
        if (left[0] === 2) n += 100;
        cuda.syncThreads();
        if (t === 0) left[0]--;
        cuda.syncThreads();
      }
      out[k] = n + t;
    });
    for (const [threads, block] of [
      [50, 20],
      [64, 64],
    ] as const) {
      const out = zeros(threads, 'int32');
      await launch(kernel, { threads, block }, out, 4);
      sameElements(
        await read(out),
        Array.from({ length: threads }, (_, k) => 110 + (k % block)),
      );
    }
  },
});
