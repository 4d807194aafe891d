/**
 * Chapter: loops with barriers that a flag in shared memory ends, which is the same for all threads between two barriers.
 */
import { cuda, i32, type Vec } from '../src/index.ts';
import { rejects, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

type Body = (flag: Vec<i32>, n: number, t: number) => void;

/** Bodies in which threads may read a flag while another stores to it, on some way: before a barrier that hangs on it they would part. */
const RACES: Readonly<Record<string, Body>> = {
  'stored at the end of a round, read at the start of the next': (flag, _, t) => {
    while (flag[0] > 0) {
      cuda.syncThreads();
      if (t === 0) flag[0]--;
    }
  },
  'read at the start of a round, stored behind': (flag, _, t) => {
    while (flag[0] > 0) {
      if (t === 0) flag[0]--;
      cuda.syncThreads();
    }
  },
  'stored where a round is cut short': (flag, n, t) => {
    for (let j = 0; j < 3 && flag[0] > 0; j++) {
      cuda.syncThreads();
      if (n > 2) {
        if (t === 0) flag[0]--;
        continue;
      }
      cuda.syncThreads();
    }
  },
  'stored where a block is left': (flag, n, t) => {
    cuda.syncThreads();
    part: {
      if (n > 2) {
        if (t === 0) flag[0] = n;
        break part;
      }
      cuda.syncThreads();
    }
    if (flag[0] > 0) cuda.syncThreads();
  },
  'stored where a loop is left': (flag, n, t) => {
    for (let j = 0; j < 3; j++) {
      cuda.syncThreads();
      if (t === 0) flag[0] = j;
      if (n > j) {
        break;
      }
      cuda.syncThreads();
    }
    if (flag[0] > 0) cuda.syncThreads();
  },
  'stored on one way, a barrier on the other': (flag, n, t) => {
    cuda.syncThreads();
    if (n > 2) {
      if (t === 0) flag[0] = n;
    } else {
      cuda.syncThreads();
    }
    if (flag[0] > 0) cuda.syncThreads();
  },
  'a barrier on one way, stored before': (flag, n, t) => {
    cuda.syncThreads();
    if (t === 0) flag[0] = n;
    if (n > 2) cuda.syncThreads();
    if (flag[0] > 0) cuda.syncThreads();
  },
  'stored at an index that is not known': (flag, n, t) => {
    cuda.syncThreads();
    if (t < 2) flag[t] = n;
    if (flag[0] > 0) cuda.syncThreads();
  },
};

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
  'flags that are stored to while threads read them are refused': async () => {
    for (const race of Object.values(RACES)) {
      const kernel = cuda.jit((out: Vec<i32>, n: i32) => {
        const flag = cuda.shared.array(2, i32);
        const t = cuda.threadIdx.x;
        if (t === 0) flag[0] = 2;
        cuda.syncThreads();
        race(flag, n, t);
        out[t] = 7;
      });
      const out = zeros(5, 'int32');
      await rejects(() => launch(kernel, { grid: 1, block: 5 }, out, 3), /barrier/, 'K401');
    }
  },
  'dynamic arrays are one memory': async () => {
    const kernel = cuda.jit((out: Vec<i32>, n: i32) => {
      const flag = cuda.shared.array(0, i32);
      const other = cuda.shared.array(0, i32);
      const t = cuda.threadIdx.x;
      cuda.syncThreads();
      if (t === 0) other[0] = n;
      if (flag[0] > 0) cuda.syncThreads();
      out[t] = n;
    });
    const out = zeros(5, 'int32');
    await rejects(() => launch(kernel, { grid: 1, block: 5, sharedBytes: 16 }, out, 3), /barrier/, 'K401');
  },
});
