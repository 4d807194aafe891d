/**
 * Chapter: barriers, and what lives across them.
 */
import { cuda, f32, type In, i32, type i64, type Mat, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { mixedIntegers, zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const BLOCK = 48;

/** 200 integers between -99 and 99. */
function small(): Int32Array {
  return mixedIntegers()
    .subarray(0, 200)
    .map((v) => v % 100);
}

const blockSum = (t: number, s: Vec<i32>, n: number) => {
  for (let half = 32; half > 0; half >>= 1) {
    if (t < half && t + half < n) s[t] += s[t + half];
    cuda.syncThreads();
  }
  return s[0];
};

function sums(x: Int32Array, block: number): number[] {
  return Array.from({ length: Math.ceil(x.length / block) }, (_, b) =>
    x.subarray(b * block, (b + 1) * block).reduce((s, v) => s + v, 0),
  );
}

export const barriers: readonly ConformanceTest[] = chapter('barriers', {
  'tree reduction': async () => {
    const x = small();
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const s = cuda.shared.array(64, i32);
      const t = cuda.threadIdx.x;
      const k = cuda.grid(1);
      s[t] = k < v.length ? v[k] : 0;
      cuda.syncThreads();
      for (let half = cuda.blockDim.x >> 1; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        cuda.syncThreads();
      }
      if (t === 0) out[cuda.blockIdx.x] = s[0];
    });
    for (const block of [64, 16, 2]) {
      const out = zeros(Math.ceil(x.length / block), 'int32');
      await launch(kernel, { threads: x.length, block }, out, cuda.toDevice(x));
      sameElements(await read(out), sums(x, block), `block of ${block}`);
    }
  },
  'a reduction in a device function, of odd blocks': async () => {
    const x = small();
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const s = cuda.shared.array(64, i32);
      const t = cuda.threadIdx.x;
      const k = cuda.grid(1);
      s[t] = k < v.length ? v[k] : 0;
      cuda.syncThreads();
      const sum = blockSum(t, s, cuda.blockDim.x);
      if (t === 0) out[cuda.blockIdx.x] = sum;
    });
    for (const block of [33, 7, 1, 50]) {
      const out = zeros(Math.ceil(x.length / block), 'int32');
      await launch(kernel, { threads: x.length, block }, out, cuda.toDevice(x));
      sameElements(await read(out), sums(x, block), `block of ${block}`);
    }
  },
  'values live across barriers': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      const mine = t * 3 + cuda.blockIdx.x;
      let other = t & 1 ? 100 : 200;
      const flag = t % 5 === 0;
      s[t] = mine;
      cuda.syncThreads();
      const left = s[(t + 1) % BLOCK];
      other += left;
      cuda.syncThreads();
      s[t] = other;
      cuda.syncThreads();
      out[cuda.grid(1)] = s[BLOCK - 1 - t] * 10 + mine + (flag ? 1000000 : 0);
    });
    const out = zeros(2 * BLOCK, 'int32');
    await launch(kernel, { grid: 2, block: BLOCK }, out);
    const expected = Array.from({ length: 2 * BLOCK }, (_, k) => {
      const [b, t] = [(k / BLOCK) | 0, k % BLOCK];
      const far = BLOCK - 1 - t;
      const other = (far & 1 ? 100 : 200) + ((far + 1) % BLOCK) * 3 + b;
      return other * 10 + t * 3 + b + (t % 5 === 0 ? 1000000 : 0);
    });
    sameElements(await read(out), expected);
  },
  'local arrays live across barriers': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const mine = cuda.local.array(4, i32);
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      for (let i = 0; i < 4; i++) mine[i] = t * 10 + i;
      s[t] = mine[t & 3];
      cuda.syncThreads();
      mine[1] += s[(t + 5) % BLOCK];
      cuda.syncThreads();
      out[cuda.grid(1)] = mine[0] + mine[1] + mine[2] * 1000 + mine[3];
    });
    const out = zeros(BLOCK, 'int32');
    await launch(kernel, { grid: 1, block: BLOCK }, out);
    const expected = Array.from({ length: BLOCK }, (_, t) => {
      const other = (t + 5) % BLOCK;
      return t * 10 + (t * 10 + 1 + other * 10 + (other & 3)) + (t * 10 + 2) * 1000 + t * 10 + 3;
    });
    sameElements(await read(out), expected);
  },
  'barriers in a loop with a count from an argument': async () => {
    const kernel = cuda.jit((out: Vec<i32>, rounds: number) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      s[t] = t;
      for (let r = 0; r < rounds; r++) {
        cuda.syncThreads();
        const next = s[(t + 1) % BLOCK] + r;
        cuda.syncThreads();
        s[t] = next;
      }
      out[t] = s[t];
    });
    for (const rounds of [0, 1, 7]) {
      const out = zeros(BLOCK, 'int32');
      await launch(kernel, { grid: 1, block: BLOCK }, out, rounds);
      let s = Array.from({ length: BLOCK }, (_, t) => t);
      for (let r = 0; r < rounds; r++) s = s.map((_, t) => s[(t + 1) % BLOCK] + r);
      sameElements(await read(out), s, `${rounds} rounds, thread`);
    }
  },
  'barriers in nested loops with break and continue': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      s[t] = 1;
      outer: for (let a = 0; a < 4; a++) {
        for (let b = 0; b < 4; b++) {
          cuda.syncThreads();
          const v = s[(t + a) % BLOCK] + s[(t + b) % BLOCK];
          cuda.syncThreads();
          if (b > a) continue outer;
          if (a + b > 4) break outer;
          s[t] = (v + t) & 0xffff;
        }
      }
      cuda.syncThreads();
      out[t] = s[t];
    });
    const out = zeros(BLOCK, 'int32');
    await launch(kernel, { grid: 1, block: BLOCK }, out);
    let s = new Array<number>(BLOCK).fill(1);
    outer: for (let a = 0; a < 4; a++) {
      for (let b = 0; b < 4; b++) {
        if (b > a) continue outer;
        if (a + b > 4) break outer;
        s = s.map((_, t) => (s[(t + a) % BLOCK] + s[(t + b) % BLOCK] + t) & 0xffff);
      }
    }
    sameElements(await read(out), s);
  },
  'barriers in uniform branches': async () => {
    const kernel = cuda.jit((out: Vec<i32>, mode: number) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      s[t] = t * t;
      if (cuda.blockIdx.x % 2 === 0) {
        cuda.syncThreads();
        out[cuda.grid(1)] = s[BLOCK - 1 - t];
      } else if (mode > 3) {
        cuda.syncThreads();
        out[cuda.grid(1)] = s[(t + 1) % BLOCK] + mode;
      } else out[cuda.grid(1)] = -t;
    });
    for (const mode of [3, 4]) {
      const out = zeros(3 * BLOCK, 'int32');
      await launch(kernel, { grid: 3, block: BLOCK }, out, mode);
      const expected = Array.from({ length: 3 * BLOCK }, (_, k) => {
        const [b, t] = [(k / BLOCK) | 0, k % BLOCK];
        if (b % 2 === 0) return (BLOCK - 1 - t) ** 2;
        return mode > 3 ? ((t + 1) % BLOCK) ** 2 + mode : 0 - t;
      });
      sameElements(await read(out), expected, `mode ${mode}, thread`);
    }
  },
  'a barrier in a switch': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(8, i32);
      const t = cuda.threadIdx.x;
      s[t] = t + 10 * cuda.blockIdx.x;
      switch (cuda.blockIdx.x) {
        case 0:
          cuda.syncThreads();
          out[cuda.grid(1)] = s[7 - t];
          break;
        case 1:
          out[cuda.grid(1)] = -1;
          break;
        default:
          cuda.syncThreads();
          out[cuda.grid(1)] = s[(t + 3) & 7];
      }
    });
    const out = zeros(24, 'int32');
    await launch(kernel, { grid: 3, block: 8 }, out);
    sameElements(await read(out), [7, 6, 5, 4, 3, 2, 1, 0, ...new Array(8).fill(-1), 23, 24, 25, 26, 27, 20, 21, 22]);
  },
  'threads that returned early take no part': async () => {
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      const k = cuda.grid(1);
      if (k >= v.length) return;
      s[t] = v[k];
      cuda.syncThreads();
      const last = Math.min(BLOCK, v.length - cuda.blockIdx.x * BLOCK) - 1;
      out[k] = s[last - t] * 2 + s[0];
    });
    const x = small().subarray(0, 100);
    const out = zeros(x.length, 'int32');
    await launch(kernel, { threads: x.length, block: BLOCK }, out, cuda.toDevice(x));
    const expected = Array.from(x, (_, k) => {
      const start = k - (k % BLOCK);
      const last = Math.min(start + BLOCK, x.length) - 1;
      return x[last - (k % BLOCK)] * 2 + x[start];
    });
    sameElements(await read(out), expected);
  },
  'returns between barriers': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      s[t] = t;
      cuda.syncThreads();
      out[t] = s[BLOCK - 1 - t];
      if (t % 3 === 0) return;
      cuda.syncThreads();
      s[t] = 100 + t;
      if (t % 3 === 1) {
        out[t] = 7;
        return;
      }
      cuda.syncThreads();
      out[t] = s[t - 1] + s[t - 2];
    });
    const out = zeros(BLOCK, 'int32');
    await launch(kernel, { grid: 1, block: BLOCK }, out);
    const expected = Array.from({ length: BLOCK }, (_, t) =>
      t % 3 === 0 ? BLOCK - 1 - t : t % 3 === 1 ? 7 : 100 + t - 1 + (t - 2),
    );
    sameElements(await read(out), expected);
  },
  'loops with barriers end when all threads have returned': async () => {
    const found = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>, n: number) => {
      const t = cuda.threadIdx.x;
      if (t >= n) return;
      let k = i32(0);
      // Only threads that are there may look.
      for (;;) {
        if (v[k] > 3) break;
        k++;
        cuda.syncThreads();
      }
      out[t] = k;
    });
    const oneByOne = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const t = cuda.threadIdx.x;
      for (let k = i32(0); ; k++) {
        cuda.syncThreads();
        if (v[t] <= k) return;
        out[t]++;
      }
    });
    const v = cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5));
    for (const n of [3, 0]) {
      const out = zeros(5, 'int32');
      await launch(found, { grid: 1, block: 5 }, out, v, n);
      sameElements(
        await read(out),
        [0, 1, 2, 3, 4].map((t) => (t < n ? 3 : 0)),
        `${n} threads`,
      );
    }
    const out = zeros(5, 'int32');
    await launch(oneByOne, { grid: 1, block: 5 }, out, v);
    sameElements(await read(out), [1, 2, 3, 4, 5]);
  },
  'a guard around the end of a kernel is an early return': async () => {
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      const k = cuda.grid(1);
      if (k < v.length) {
        s[t] = v[k];
        cuda.syncThreads();
        const n = cuda.syncThreadsCount(v[k] > 0);
        if (t % 2 === 0) out[k] = s[0] + n * 1000;
        else {
          cuda.syncThreads();
          out[k] = s[t - 1];
        }
      } else if (k === v.length) out[k] = 1;
    });
    const x = small().subarray(0, 50);
    const out = zeros(51, 'int32');
    await launch(kernel, { grid: 2, block: BLOCK }, out, cuda.toDevice(x));
    const positive = (k: number) => {
      const start = k - (k % BLOCK);
      return x.subarray(start, start + BLOCK).filter((v) => v > 0).length;
    };
    const expected = Array.from(x, (_, k) =>
      (k % BLOCK) % 2 === 0 ? x[k - (k % BLOCK)] + positive(k) * 1000 : x[k - 1],
    );
    sameElements(await read(out), [...expected, 1]);
  },
  'syncThreadsCount, And and Or': async () => {
    const kernel = cuda.jit((out: Mat<i32>, v: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      const n = cuda.syncThreadsCount(v[k] > 0);
      const all = cuda.syncThreadsAnd(v[k] > -50);
      const any = cuda.syncThreadsOr(v[k] > 95);
      out[k][0] = n;
      out[k][1] = all;
      out[k][2] = any;
    });
    const x = small();
    const out = cuda.deviceArray([200, 3], 'int32');
    await launch(kernel, { grid: 8, block: 25 }, out, cuda.toDevice(x));
    const expected = Array.from(x, (_, k) => {
      const block = x.subarray(k - (k % 25), k - (k % 25) + 25);
      return [
        block.filter((v) => v > 0).length,
        block.every((v) => v > -50) ? 1 : 0,
        block.some((v) => v > 95) ? 1 : 0,
      ];
    });
    sameElements(await read(out), expected.flat());
  },
  'each thread is counted once behind a barrier that was not taken': async () => {
    const kernel = cuda.jit((out: Vec<i32>, flags: In<Vec<i64>>) => {
      const t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x;
      for (let round = i32(0); round < 1; round++) {
        if (flags[0] !== 0n) cuda.syncThreads();
        const n = cuda.syncThreadsCount(true);
        out[t] = n;
      }
    });
    const out = zeros(4, 'int32');
    for (const flag of [0n, 1n]) {
      await launch(kernel, { grid: 1, block: [1, 4] }, out, cuda.toDevice(new BigInt64Array([flag])));
      sameElements(await read(out), [4, 4, 4, 4], `flag ${flag}`);
    }
  },
  'counting barriers leave out threads that returned': async () => {
    const kernel = cuda.jit((out: Mat<i32>) => {
      const t = cuda.threadIdx.x;
      if (t % 4 === 0) return;
      out[t][0] = cuda.syncThreadsCount(t % 2 === 0);
      if (t % 4 === 1) return;
      out[t][1] = cuda.syncThreadsAnd(t % 4 > 1);
      out[t][2] = cuda.syncThreadsOr(t % 4 === 1 || t > 100);
    });
    const out = cuda.deviceArray([40, 3], 'int32');
    out.set(-1);
    await launch(kernel, { grid: 1, block: 40 }, out);
    const expected = Array.from({ length: 40 }, (_, t) =>
      t % 4 === 0 ? [-1, -1, -1] : t % 4 === 1 ? [10, -1, -1] : [10, 1, 0],
    );
    sameElements(await read(out), expected.flat());
  },
  'a loop until no thread has anything to do': async () => {
    const kernel = cuda.jit((v: Vec<i32>) => {
      const s = cuda.shared.array(64, i32);
      const t = cuda.threadIdx.x;
      s[t] = v[t];
      let parity = 0;
      let calm = 0;
      while (true) {
        cuda.syncThreads();
        let changed = false;
        const next = t + 1;
        if (t % 2 === parity && next < cuda.blockDim.x && s[t] > s[next]) {
          [s[t], s[next]] = [s[next], s[t]];
          changed = true;
        }
        parity = 1 - parity;
        calm = cuda.syncThreadsOr(changed) ? 0 : calm + 1;
        if (calm === 2) break;
      }
      v[t] = s[t];
    });
    const x = small().subarray(0, 50);
    const v = cuda.toDevice(x);
    await launch(kernel, { grid: 1, block: 50 }, v);
    sameElements(await read(v), x.slice().sort());
  },
  'inclusive scan': async () => {
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const s = cuda.shared.array([2, 64], i32);
      const t = cuda.threadIdx.x;
      let from = 0;
      s[0][t] = v[cuda.grid(1)];
      for (let step = 1; step < cuda.blockDim.x; step *= 2) {
        cuda.syncThreads();
        const to = 1 - from;
        s[to][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
        from = to;
      }
      out[cuda.grid(1)] = s[from][t];
    });
    const x = small();
    const out = zeros(200, 'int32');
    await launch(kernel, { grid: 4, block: 50 }, out, cuda.toDevice(x));
    let sum = 0;
    sameElements(
      await read(out),
      Array.from(x, (v, k) => {
        sum = (k % 50 === 0 ? 0 : sum) + v;
        return sum;
      }),
    );
  },
  'transpose by tiles': async () => {
    const kernel = cuda.jit((to: Mat<f32>, from: In<Mat<f32>>) => {
      const tile = cuda.shared.array([8, 9], f32);
      const { x: tx, y: ty } = cuda.threadIdx;
      const [x, y] = cuda.grid(2);
      if (y < from.shape[0] && x < from.shape[1]) tile[ty][tx] = from[y][x];
      cuda.syncThreads();
      const tox = cuda.blockIdx.y * 8 + tx;
      const toy = cuda.blockIdx.x * 8 + ty;
      if (toy < to.shape[0] && tox < to.shape[1]) to[toy][tox] = tile[tx][ty];
    });
    const from = cuda.toDevice(Float32Array.from({ length: 19 * 13 }, (_, k) => k)).reshape([19, 13]);
    const to = cuda.deviceArray([13, 19], 'float32');
    await launch(kernel, { threads: [13, 19], block: [8, 8] }, to, from);
    sameElements(await read(to), await read(from.T));
  },
  'matrix product by tiles': async () => {
    const kernel = cuda.jit((C: Mat<f32>, A: In<Mat<f32>>, B: In<Mat<f32>>) => {
      const sA = cuda.shared.array([4, 4], f32);
      const sB = cuda.shared.array([4, 4], f32);
      const [x, y] = cuda.grid(2);
      const { x: tx, y: ty } = cuda.threadIdx;
      let sum = 0;
      for (let i = 0; i < cuda.gridDim.x; i++) {
        sA[ty][tx] = 0;
        sB[ty][tx] = 0;
        if (y < A.shape[0] && tx + i * 4 < A.shape[1]) sA[ty][tx] = A[y][tx + i * 4];
        if (x < B.shape[1] && ty + i * 4 < B.shape[0]) sB[ty][tx] = B[ty + i * 4][x];
        cuda.syncThreads();
        for (let j = 0; j < 4; j++) sum += sA[ty][j] * sB[j][tx];
        cuda.syncThreads();
      }
      if (y < C.shape[0] && x < C.shape[1]) C[y][x] = sum;
    });
    const n = 11;
    const [a, b] = [
      Float32Array.from({ length: n * n }, (_, k) => k % 7),
      Float32Array.from({ length: n * n }, (_, k) => k % 5),
    ];
    const C = cuda.deviceArray([n, n], 'float32');
    await launch(
      kernel,
      { threads: [n, n], block: [4, 4] },
      C,
      cuda.toDevice(a).reshape([n, n]),
      cuda.toDevice(b).reshape([n, n]),
    );
    const expected = Array.from({ length: n * n }, (_, k) => {
      let sum = 0;
      for (let j = 0; j < n; j++) sum += a[((k / n) | 0) * n + j] * b[j * n + (k % n)];
      return sum;
    });
    sameElements(await read(C), expected);
  },
  'uniform() lets data decide about a barrier': async () => {
    const kernel = cuda.jit((out: Vec<i32>, mode: In<Vec<i32>>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      s[t] = t;
      if (cuda.uniform(mode[cuda.blockIdx.x]) > 0) {
        cuda.syncThreads();
        out[cuda.grid(1)] = s[BLOCK - 1 - t];
      } else out[cuda.grid(1)] = -5;
    });
    const out = zeros(2 * BLOCK, 'int32');
    await launch(kernel, { grid: 2, block: BLOCK }, out, cuda.toDevice(Int32Array.of(0, 1)));
    sameElements(
      await read(out),
      Array.from({ length: 2 * BLOCK }, (_, k) => (k < BLOCK ? -5 : 2 * BLOCK - 1 - k)),
    );
  },
  'blocks of two and three dimensions meet as one': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(60, i32);
      const { x, y, z } = cuda.threadIdx;
      const t = x + cuda.blockDim.x * (y + cuda.blockDim.y * z);
      s[t] = 1 << (t % 16);
      cuda.syncThreads();
      let sum = 0;
      for (let i = 0; i < 60; i++) sum += s[i];
      out[t] = sum + t;
    });
    const total = Array.from({ length: 60 }, (_, t) => 1 << (t % 16)).reduce((a, b) => a + b, 0);
    for (const block of [
      [5, 4, 3],
      [10, 6],
      [1, 60],
      [3, 1, 20],
    ]) {
      const out = zeros(60, 'int32');
      await launch(kernel, { grid: 1, block: block as [number, number] }, out);
      sameElements(
        await read(out),
        Array.from({ length: 60 }, (_, t) => total + t),
        `block ${block}, thread`,
      );
    }
  },
  'divergent work between barriers': async () => {
    const kernel = cuda.jit((out: Vec<i32>, v: In<Vec<i32>>) => {
      const s = cuda.shared.array(BLOCK, i32);
      const t = cuda.threadIdx.x;
      let n = 0;
      for (let r = 0; r < 3; r++) {
        for (let i = 0; i < (v[t] & 15); i++) {
          if ((i + r) % 5 === 4) continue;
          n += i;
          if (n > 60) break;
        }
        s[t] = n;
        cuda.syncThreads();
        n += s[(t + 1) % BLOCK];
        cuda.syncThreads();
      }
      out[t] = n;
    });
    const x = small();
    const out = zeros(BLOCK, 'int32');
    await launch(kernel, { grid: 1, block: BLOCK }, out, cuda.toDevice(x));
    let n = new Array<number>(BLOCK).fill(0);
    for (let r = 0; r < 3; r++) {
      n = n.map((start, t) => {
        let m = start;
        for (let i = 0; i < (x[t] & 15); i++) {
          if ((i + r) % 5 === 4) continue;
          m += i;
          if (m > 60) break;
        }
        return m;
      });
      n = n.map((m, t) => m + n[(t + 1) % BLOCK]);
    }
    sameElements(await read(out), n);
  },
  'global memory is seen by the block after a barrier': async () => {
    const kernel = cuda.jit((v: Vec<i32>) => {
      const k = cuda.grid(1);
      const base = cuda.blockIdx.x * cuda.blockDim.x;
      v[k] = k + 1;
      cuda.threadFenceBlock();
      cuda.syncThreads();
      const neighbour = v[base + ((cuda.threadIdx.x + 1) % cuda.blockDim.x)];
      cuda.syncThreads();
      v[k] = neighbour;
    });
    const v = zeros(60, 'int32');
    await launch(kernel, { grid: 3, block: 20 }, v);
    sameElements(
      await read(v),
      Array.from({ length: 60 }, (_, k) => k - (k % 20) + (((k % 20) + 1) % 20) + 1),
    );
  },
});
