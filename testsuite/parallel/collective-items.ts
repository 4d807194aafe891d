/**
 * Chapter: what the threads of a block sort, load, store, exchange and count together, and reductions and scans of several items a thread.
 */
import { cuda, type f32, type i32, type i64, roc, type u8, type Vec } from '../../src/index.ts';
import { sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { launch, read } from '../waiting.ts';

const ITEMS = 3;
const SHAPES = [[10, 7]] as const;
const threadsOf = (block: (typeof SHAPES)[number]): number => block[0] * block[1];
const upTo = (n: number): number[] => Array.from({ length: n }, (_, k) => k);
/** Numbers that repeat, in no order. */
const mixed = (n: number, of: number): number[] => upTo(n).map((k) => (((k * 2654435761) >>> 7) ^ (k * 40503)) % of);
const on = <T extends Int32Array | Float32Array | BigInt64Array | Uint8Array>(x: T) => cuda.toDevice(x as Int32Array);
const ints = (length: number) => cuda.deviceArray(length, 'int32');

/** The warps, or wavefronts, of a block, one after the other. */
const inGroups = (keys: readonly number[], size: number, sorts: (part: number[]) => number[]): number[] =>
  upTo(Math.ceil(keys.length / size)).flatMap((k) => sorts(keys.slice(k * size, (k + 1) * size)));

const ascending = (part: number[]): number[] => part.sort((a, b) => a - b);

export const collectiveItems: readonly ConformanceTest[] = chapter('collectives of items', {
  'blocks sort floats, up and down': async () => {
    const sorts = cuda.jit(
      (x: Vec<f32>, up: Vec<f32>, down: Vec<f32>) => {
        const items = cuda.block.load(x, 0, ITEMS);
        cuda.block.store(up, 0, cuda.block.sort(items));
        cuda.block.store(down, 0, cuda.block.sort(items, { descending: true }));
      },
      { launchBounds: 96 },
    );
    for (const block of SHAPES) {
      const x = Float32Array.from(mixed(ITEMS * threadsOf(block), 41), (v, k) =>
        k % 11 === 3 ? Number.NaN : v % 5 === 0 ? 0 : v % 7 === 0 ? -0 : v - 20,
      );
      const [up, down] = [cuda.deviceArray(x.length, 'float32'), cuda.deviceArray(x.length, 'float32')];
      await launch(sorts, { grid: 1, block }, on(x) as never, up as never, down as never);
      const sorted = Float32Array.from(x).sort();
      sameElements(await read(up), sorted);
      const numbers = sorted.filter((v) => !Number.isNaN(v)).reverse();
      sameElements(await read(down), [...numbers, ...sorted.filter(Number.isNaN)]);
    }
  },

  'sorts are stable: pairs, structs by a key, by a comparison': async () => {
    const sorts = cuda.jit(
      (x: Vec<i32>, places: Vec<i32>, ids: Vec<i32>, compared: Vec<i32>) => {
        const t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y;
        const keys = cuda.block.load(x, 0, ITEMS);
        const at = keys.map((_, k) => t * ITEMS + k);
        cuda.block.store(places, 0, cuda.block.sortByKey(keys, at, { descending: true }).values);
        const structs = keys.map((key, k) => ({ key: key & 3, id: at[k]! }));
        const byKey = cuda.block.sort(structs, { key: (v) => v.key > 1 });
        cuda.block.store(
          ids,
          0,
          byKey.map((v) => v.id),
        );
        const last = cuda.block.sort({ key: keys[0]!, id: t }, { compare: (a, b) => (b.key >> 2) - (a.key >> 2) });
        compared[t] = last.id;
      },
      { launchBounds: 96 },
    );
    for (const block of SHAPES) {
      const threads = threadsOf(block);
      const x = mixed(ITEMS * threads, 13);
      const [places, ids, compared] = [ints(x.length), ints(x.length), ints(threads)];
      await launch(sorts, { grid: 1, block }, on(Int32Array.from(x)), places, ids, compared);
      const at = (k: number): number => x[k] as number;
      sameElements(
        await read(places),
        upTo(x.length).sort((a, b) => at(b) - at(a)),
      );
      sameElements(
        await read(ids),
        upTo(x.length).sort((a, b) => Number((at(a) & 3) > 1) - Number((at(b) & 3) > 1)),
      );
      sameElements(
        await read(compared),
        upTo(threads).sort((a, b) => (at(ITEMS * b) >> 2) - (at(ITEMS * a) >> 2)),
      );
    }
  },

  'sorts of warps and of wavefronts, of bytes and of bigints, in loops': async () => {
    const sorts = cuda.jit(
      (x: Vec<u8>, big: Vec<i64>, warps: Vec<i32>, waves: Vec<i32>, up: Vec<i64>) => {
        const t = cuda.threadIdx.x;
        const [a, b] = cuda.warp.sort([x[2 * t]!, x[2 * t + 1]!]);
        warps[2 * t] = a!;
        warps[2 * t + 1] = b!;
        for (let k = 0; k < 2; k++) waves[t + k * cuda.blockDim.x] = roc.wave.sort(x[2 * t + k]!);
        up[t] = cuda.block.sort(big[t]!);
      },
      { launchBounds: 128 },
    );
    for (const block of [70]) {
      const x = mixed(2 * block, 256);
      const big = BigInt64Array.from(x.slice(0, block), (v) => BigInt(v - 128) << 40n);
      const [warps, waves, up] = [ints(2 * block), ints(2 * block), cuda.deviceArray(block, 'int64')];
      await launch(
        sorts,
        { grid: 1, block },
        on(Uint8Array.from(x)) as never,
        on(big) as never,
        warps,
        waves,
        up as never,
      );
      sameElements(await read(warps), inGroups(x, 64, ascending));
      const each = [0, 1].map((k) => x.filter((_, i) => i % 2 === k));
      sameElements(
        await read(waves),
        each.flatMap((part) => inGroups(part, 64, ascending)),
      );
      sameElements(await read(up), big.sort());
    }
  },

  'loads, stores and exchanges in every arrangement': async () => {
    const moves = cuda.jit(
      (x: Vec<i32>, blocked: Vec<i32>, striped: Vec<i32>, warps: Vec<i32>, turned: Vec<i32>, single: Vec<i32>) => {
        const t = cuda.threadIdx.x;
        const n = cuda.blockDim.x;
        const start = cuda.blockIdx.x * n * ITEMS;
        const own = cuda.block.load(x, start, ITEMS, { arrangement: 'transposed', otherwise: -1 });
        const far = cuda.block.load(x, start, ITEMS, { arrangement: 'striped', otherwise: -1 });
        const near = cuda.block.load(x, start, ITEMS, { arrangement: 'warpStriped', otherwise: -1 });
        cuda.block.store(blocked, start, own);
        cuda.block.store(striped, start, cuda.block.exchange(own, { to: 'striped' }), { arrangement: 'striped' });
        cuda.block.store(warps, start, cuda.block.exchange(near, { from: 'warpStriped' }), {
          arrangement: 'transposed',
        });
        const ranks = far.map((_, k) => n * ITEMS - 1 - (t + k * n));
        cuda.block.store(turned, start, cuda.block.exchange(far, { ranks, to: 'warpStriped' }), {
          arrangement: 'warpStriped',
        });
        if (cuda.blockIdx.x === 0) single[t] = 0;
        const next = cuda.block.exchange(t, { ranks: (t + 1) % n });
        if (cuda.blockIdx.x === 0) single[t] = next;
      },
      { launchBounds: 96 },
    );
    for (const block of [1, 70]) {
      const tile = block * ITEMS;
      const size = 2 * tile - Math.min(tile - 1, 5);
      const x = Int32Array.from(mixed(size, 1000));
      const outs = upTo(4).map(() => ints(size));
      const single = ints(block);
      const [blocked, striped, warps, turned] = outs as [
        (typeof outs)[0],
        (typeof outs)[0],
        (typeof outs)[0],
        (typeof outs)[0],
      ];
      await launch(moves, { grid: 2, block }, on(x), blocked, striped, warps, turned, single);
      for (const out of [blocked, striped, warps]) sameElements(await read(out), x);
      const padded = Array.from({ length: 2 * tile }, (_, k) => x[k] ?? -1);
      const reversed = [...padded.slice(0, tile).reverse(), ...padded.slice(tile).reverse()];
      sameElements(await read(turned), reversed.slice(0, size));
      sameElements(
        await read(single),
        upTo(block).map((t) => (t + block - 1) % block),
      );
    }
  },

  'histograms of blocks, again in a loop and into an array': async () => {
    const counts = cuda.jit((x: Vec<i32>, each: Vec<i32>, whole: Vec<i32>) => {
      const t = cuda.threadIdx.x;
      const sum = cuda.shared.array(10, 'int32');
      if (t < 10) sum[t] = 100;
      for (let k = 0; k < 3; k++) {
        const items = cuda.block.load(x, 2 * k * cuda.blockDim.x, 2);
        const found = cuda.block.histogram(items, 10);
        for (let b = t; b < 10; b += cuda.blockDim.x) each[10 * k + b] = found[b]!;
        cuda.block.histogram(items[1]!, 10, { into: sum });
      }
      for (let b = t; b < 10; b += cuda.blockDim.x) whole[b] = sum[b]!;
    });
    const x = mixed(3 * 2 * 50, 13).map((v) => v - 1);
    const [each, whole] = [ints(30), ints(10)];
    await launch(counts, { grid: 1, block: 50 }, on(Int32Array.from(x)), each, whole);
    const count = (part: readonly number[]): number[] => upTo(10).map((b) => part.filter((v) => v === b).length);
    sameElements(
      await read(each),
      upTo(3).flatMap((k) => count(x.slice(100 * k, 100 * k + 100))),
    );
    sameElements(
      await read(whole),
      count(x.filter((_, i) => i % 2 === 1)).map((n) => n + 100),
    );
  },

  'reductions and scans of several items, also of wavefronts': async () => {
    // Maps v → scale · v + shift, one after the other: the order shows.
    const scans = cuda.jit((shift: Vec<i32>, before: Vec<i32>, total: Vec<i32>, wave: Vec<i32>, lane: Vec<i32>) => {
      const t = cuda.threadIdx.x;
      const items = [0, 1].map((k) => ({ scale: (2 * t + k) % 5 === 0 ? -1 : 1, shift: 2 * t + k }));
      const then = (f: { scale: number; shift: number }, g: { scale: number; shift: number }) => ({
        scale: f.scale * g.scale,
        shift: f.shift * g.scale + g.shift,
      });
      cuda.block.store(
        shift,
        0,
        cuda.block.inclusiveScan(items, then).map((v) => v.shift),
      );
      cuda.block.store(
        before,
        0,
        cuda.block.exclusiveScan(items, then, { scale: 1, shift: 7 }).map((v) => v.shift),
      );
      total[t] = cuda.block.reduce(items, then).shift;
      cuda.block.store(
        wave,
        0,
        roc.wave.inclusiveScan(items, then).map((v) => v.shift),
      );
      lane[t] = roc.wave.exclusiveScan(t, (a, b) => a + b, 3) + 1000 * roc.wave.reduce(1, (a, b) => a + b);
    });
    for (const block of [150]) {
      const [shift, before, wave] = [ints(2 * block), ints(2 * block), ints(2 * block)];
      const [total, lane] = [ints(block), ints(block)];
      await launch(scans, { grid: 1, block }, shift, before, total, wave, lane);
      const along = (first: number, places: readonly number[]): number[] => {
        let v = first;
        return places.map((i) => {
          v = v * (i % 5 === 0 ? -1 : 1) + i;
          return v;
        });
      };
      const all = along(0, upTo(2 * block));
      sameElements(await read(shift), all);
      sameElements(await read(before), [7, ...along(7, upTo(2 * block))].slice(0, 2 * block));
      sameElements(await read(total), new Array(block).fill(all.at(-1)));
      sameElements(
        await read(wave),
        inGroups(upTo(2 * block), 128, (places) => along(0, places)),
      );
      sameElements(
        await read(lane),
        upTo(block).map((t) => {
          const first = t - (t % 64);
          const sum = upTo(t - first).reduce((a, k) => a + first + k, 3);
          return sum + 1000 * Math.min(64, block - first);
        }),
      );
    }
  },
});
