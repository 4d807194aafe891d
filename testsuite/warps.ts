/**
 * Chapter: what the lanes of a warp give each other, and barriers of the whole grid.
 */
import { cuda, f32, f64, type In, i32, type i64, type u32, type Vec } from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { mixedIntegers, zeros } from './support.ts';
import { element, launch, read, settled } from './waiting.ts';

const FULL = 0xffffffff;
/** Three warps, the last of them half full. */
const BLOCK = 80;

const byThread = (value: (thread: number, lane: number) => number, n = BLOCK): number[] =>
  Array.from({ length: n }, (_, t) => value(t, t % 32));

const warpSum = (v: number): number => {
  let sum = v;
  for (let step = 16; step > 0; step >>= 1) sum += cuda.shflDownSync(FULL, sum, step);
  return sum;
};

export const warps: readonly ConformanceTest[] = chapter('warps', {
  'lanes and warps': async () => {
    const kernel = cuda.jit((out: Vec<i32>, below: Vec<u32>) => {
      const i = cuda.grid(1);
      out[i] = cuda.laneId * 100 + cuda.warpSize;
      below[i] = cuda.laneMaskLt();
    });
    const [out, below] = [zeros(64, 'int32'), zeros(64, 'uint32')];
    await launch(kernel, { grid: 1, block: 64 }, out, below);
    sameElements(
      await read(out),
      byThread((_t, lane) => lane * 100 + 32, 64),
    );
    sameElements(
      await read(below),
      byThread((_t, lane) => 2 ** lane - 1, 64),
    );
  },
  shuffles: async () => {
    const kernel = cuda.jit((out: Vec<i32>, by: i32) => {
      const t = cuda.threadIdx.x;
      const n = cuda.blockDim.x;
      out[t] = cuda.shflSync(FULL, t, by);
      out[n + t] = cuda.shflUpSync(FULL, t, by);
      out[2 * n + t] = cuda.shflDownSync(FULL, t, by);
      out[3 * n + t] = cuda.shflXorSync(FULL, t, by);
    });
    const block = 64;
    for (const by of [0, 1, 7, 31]) {
      const out = zeros(4 * block, 'int32');
      await launch(kernel, { grid: 1, block }, out, by);
      const warp = (t: number): number => t - (t % 32);
      sameElements(
        await read(out),
        [
          byThread((t) => warp(t) + by, block),
          byThread((t, lane) => (lane < by ? t : t - by), block),
          byThread((t, lane) => (lane + by > 31 ? t : t + by), block),
          byThread((t) => t ^ by, block),
        ].flat(),
        `by ${by}`,
      );
    }
  },
  'shuffles of all types': async () => {
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<f64>, c: Vec<i64>, d: Vec<u32>) => {
      const t = cuda.threadIdx.x;
      a[t] = cuda.shflXorSync(FULL, a[t] as number, 1);
      b[t] = cuda.shflXorSync(FULL, b[t] as number, 1);
      c[t] = cuda.shflXorSync(FULL, c[t] as i64, 1);
      d[t] = cuda.shflXorSync(FULL, d[t] as number, 1);
    });
    const values = byThread((t) => t + 0.25, 32);
    const a = cuda.toDevice(Float32Array.from(values));
    const b = cuda.toDevice(Float64Array.from(values, (v) => v * 1e300));
    const c = cuda.toDevice(BigInt64Array.from(values, (v) => BigInt(Math.floor(v)) - (1n << 40n)));
    const d = cuda.toDevice(Uint32Array.from(values, (v) => 2 ** 31 + v));
    const [a0, b0, c0, d0] = [await read(a), await read(b), await read(c), await read(d)];
    await launch(kernel, { grid: 1, block: 32 }, a, b, c, d);
    sameElements(
      await read(a),
      byThread((t) => a0[t ^ 1] as number, 32),
    );
    sameElements(
      await read(b),
      byThread((t) => b0[t ^ 1] as number, 32),
    );
    same([...(await read(c))].join(), [...c0].map((_, t) => c0[t ^ 1]).join());
    sameElements(
      await read(d),
      byThread((t) => d0[t ^ 1] as number, 32),
    );
  },
  'votes and matches': async () => {
    const kernel = cuda.jit((x: In<Vec<i32>>, flags: Vec<i32>, masks: Vec<u32>) => {
      const t = cuda.threadIdx.x;
      const n = cuda.blockDim.x;
      const small = x[t] < 20;
      flags[t] = cuda.allSync(FULL, small) ? 1 : 0;
      flags[n + t] = cuda.anySync(FULL, small) ? 1 : 0;
      flags[2 * n + t] = cuda.eqSync(FULL, small) ? 1 : 0;
      const [mask, all] = cuda.matchAllSync(FULL, x[t] >> 6);
      flags[3 * n + t] = all ? 1 : 0;
      masks[t] = cuda.ballotSync(FULL, small);
      masks[n + t] = cuda.matchAnySync(FULL, x[t] & 3);
      masks[2 * n + t] = mask;
      masks[3 * n + t] = cuda.activeMask();
    });
    const n = 96;
    const x = Int32Array.from({ length: n }, (_, t) => (t < 32 ? t % 7 : t < 64 ? t : 100));
    const [flags, masks] = [zeros(4 * n, 'int32'), zeros(4 * n, 'uint32')];
    await launch(kernel, { grid: 1, block: n }, cuda.toDevice(x), flags, masks);
    const warpOf = (t: number): number[] => [...x.subarray(t - (t % 32), t - (t % 32) + 32)];
    const bits = (t: number, test: (v: number) => boolean): number =>
      warpOf(t).reduce((mask, v, lane) => (test(v) ? mask + 2 ** lane : mask), 0);
    const small = (v: number): boolean => v < 20;
    const agree = (t: number): boolean => new Set(warpOf(t).map((v) => v >> 6)).size === 1;
    sameElements(
      await read(flags),
      [
        byThread((t) => Number(warpOf(t).every(small)), n),
        byThread((t) => Number(warpOf(t).some(small)), n),
        byThread((t) => Number(warpOf(t).every(small) || !warpOf(t).some(small)), n),
        byThread((t) => Number(agree(t)), n),
      ].flat(),
      'flags',
    );
    sameElements(
      await read(masks),
      [
        byThread((t) => bits(t, small), n),
        byThread((t) => bits(t, (v) => (v & 3) === ((x[t] as number) & 3)), n),
        byThread((t) => (agree(t) ? FULL : 0), n),
        byThread(() => FULL, n),
      ].flat(),
      'masks',
    );
  },
  'a reduction of a block by shuffles': async () => {
    const kernel = cuda.jit((out: Vec<i32>, x: In<Vec<i32>>) => {
      const parts = cuda.shared.array(32, i32);
      const i = cuda.grid(1);
      const t = cuda.threadIdx.x;
      const warp = t >> 5;
      const sum = warpSum(i < x.length ? x[i] : 0);
      if (cuda.laneId === 0) parts[warp] = sum;
      cuda.syncThreads();
      if (warp === 0) {
        const total = warpSum(t < cuda.blockDim.x >> 5 ? parts[t] : 0);
        if (t === 0) cuda.atomic.add(out, 0, total);
      }
    });
    const x = mixedIntegers()
      .subarray(0, 200)
      .map((v) => v % 1000);
    const expected = x.reduce((s, v) => s + v, 0);
    for (const block of [32, 96, 256]) {
      const out = zeros(1, 'int32');
      await launch(kernel, { threads: x.length, block }, out, cuda.toDevice(x));
      same(await element(out, 0), expected, `blocks of ${block}`);
    }
  },
  'lanes that returned, and masks of some lanes': async () => {
    const kernel = cuda.jit((out: Vec<i32>, n: i32) => {
      const t = cuda.threadIdx.x;
      if (t >= n) return;
      const active = cuda.activeMask();
      const mask = cuda.ballotSync(active, t % 2 === 0);
      if (t % 2 === 0) out[t] = cuda.popc(mask) * 1000 + cuda.shflSync(mask, t, 4);
      cuda.syncWarp(active);
    });
    const out = zeros(32, 'int32');
    await launch(kernel, { grid: 1, block: 32 }, out, 20);
    sameElements(
      await read(out),
      byThread((t) => (t < 20 && t % 2 === 0 ? 10_004 : 0), 32),
    );
    const rest = cuda.jit((out: Vec<i32>, n: i32) => {
      const t = cuda.threadIdx.x;
      if (t < n) return;
      out[t] = cuda.shflUpSync(FULL, t, 1) * 100 + cuda.laneId;
    });
    const behind = zeros(64, 'int32');
    await launch(rest, { grid: 1, block: 64 }, behind, 5);
    // Of the first that is left the lane before has returned: what it would give is not defined.
    sameElements(
      (await read(behind)).slice(6),
      byThread((t, lane) => (lane === 0 ? t : t - 1) * 100 + lane, 64).slice(6),
    );
  },
  'memory between lanes': async () => {
    const kernel = cuda.jit((out: Vec<f32>) => {
      const s = cuda.shared.array(64, f32);
      const t = cuda.threadIdx.x;
      s[t] = t;
      cuda.syncWarp();
      for (let step = 1; step < 32; step *= 2) {
        const other = s[t ^ step];
        cuda.syncWarp();
        s[t] += other;
        cuda.syncWarp();
      }
      cuda.nanosleep(100);
      out[t] = s[t];
    });
    const out = cuda.deviceArray(64, f32);
    await launch(kernel, { grid: 1, block: 64 }, out);
    sameElements(
      await read(out),
      byThread((t) => (t < 32 ? 496 : 496 + 32 * 32), 64),
    );
  },
  'a loop that lanes leave at different times': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const t = cuda.threadIdx.x;
      for (let k = 0; k <= t; k++) out[t] += cuda.shflSync(FULL, k, 31);
    });
    const out = zeros(32, 'int32');
    const run = async (block: number | [number, number]): Promise<void> => {
      await launch(kernel, { grid: 1, block }, out);
      await settled();
    };
    const { kind } = cuda.currentDevice();
    const refusal = /exchanges values between lanes in a loop that its threads leave at different times/;
    if (kind !== 'cpu' && kind !== 'simulator') return;
    // Scalar code refuses it.
    const done = await run(32).then(
      () => true,
      (error: unknown) => (refusal.test(String(error)) ? false : Promise.reject(error)),
    );
    if (done)
      sameElements(
        await read(out),
        byThread((t) => (t * (t + 1)) / 2, 32),
      );
    // Where rows are not whole warps.
    if (kind === 'cpu') await rejects(() => run([16, 2]), refusal);
  },
  'lanes that do not come together are found by the simulator': async () => {
    if (cuda.currentDevice().kind !== 'simulator') return;
    const kernel = cuda.jit((out: Vec<i32>) => {
      const t = cuda.threadIdx.x;
      out[t] = t < 16 ? cuda.shflSync(FULL, t, 0) : cuda.shflSync(FULL, t, 31);
    });
    await launch(kernel, { grid: 1, block: 32 }, zeros(32, 'int32'));
    await rejects(
      () => settled(),
      /divergent exchange: 32 threads wait for lanes of the warp that never arrive/,
      'E_KERNEL_FAULT',
    );
  },
  'a barrier of the grid': async () => {
    const kernel = cuda.jit((parts: Vec<f64>, out: Vec<f64>) => {
      const t = cuda.threadIdx.x;
      if (t === 0) parts[cuda.blockIdx.x] = cuda.blockIdx.x + 1;
      cuda.cg.thisGrid().sync();
      if (t === 0) {
        let sum = 0;
        for (let k = 0; k < parts.length; k++) sum += parts[k];
        out[cuda.blockIdx.x] = sum;
      }
    });
    // Where blocks run one after another, there is no more than one that can wait.
    const blocks = cuda.currentDevice().kind === 'nvidia' ? 8 : 1;
    const [parts, out] = [cuda.deviceArray(blocks, f64), cuda.deviceArray(blocks, f64)];
    await launch(kernel, { grid: blocks, block: 64 }, parts, out);
    sameElements(
      await read(out),
      Array.from({ length: blocks }, () => (blocks * (blocks + 1)) / 2),
    );
  },
});
