/**
 * Chapter: whole programs as users write them, each compared with the same thing in plain JavaScript that shares nothing with it.
 *
 * The other chapters take the language and the library feature by feature; these are many of them at once.
 */
import {
  cuda,
  f32,
  f64,
  type In,
  i32,
  type Mat,
  ndarray,
  struct,
  u8,
  u16,
  u32,
  type u64,
  type Vec,
} from '../src/index.ts';
import { closeElements, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

/** Numbers from 0 to 1, the same every time. */
function randoms(count: number): number[] {
  let seed = 12345;
  return Array.from({ length: count }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  });
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function sha256Constants(): Uint32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  return Uint32Array.from(primes, (p) => Math.floor((Math.cbrt(p) % 1) * 2 ** 32));
}

export const programs: readonly ConformanceTest[] = chapter('programs', {
  'an image with three channels is blurred': async () => {
    const [h, w, c] = [13, 21, 3];
    const image = Uint8Array.from(randoms(h * w * c), (v) => v * 256);
    const blur = cuda.jit((from: In<readonly Mat<u8>[]>, to: readonly Mat<u8>[], radius: number) => {
      const [x, y, channel] = cuda.grid(3);
      if (x >= w || y >= h || channel >= c) return;
      let [sum, count] = [0, 0];
      for (let dy = -radius; dy <= radius; dy++) {
        for (let dx = -radius; dx <= radius; dx++) {
          const [yy, xx] = [y + dy, x + dx];
          if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
          sum += from[yy][xx][channel];
          count++;
        }
      }
      to[y][x][channel] = Math.round(sum / count);
    });
    const from = cuda.toDevice(ndarray(image, { shape: [h, w, c] }));
    const to = cuda.deviceArrayLike(from);
    await launch(blur, { threads: [w, h, c], block: [8, 4, 1] }, from as never, to as never, 2);
    const expected = Uint8Array.from(image, (_, k) => {
      const [y, x] = [Math.floor(k / c / w), Math.floor(k / c) % w];
      const around: number[] = [];
      for (let r = Math.max(0, y - 2); r <= Math.min(h - 1, y + 2); r++)
        for (let q = Math.max(0, x - 2); q <= Math.min(w - 1, x + 2); q++)
          around.push(image[(r * w + q) * c + (k % c)] as number);
      return Math.round(around.reduce((a, b) => a + b) / around.length);
    });
    sameElements(await read(to), expected);
  },

  'a sparse matrix (CSR) in a tuple times a vector': async () => {
    const n = 60;
    const dense = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => ((i * 7 + j * 3) % 11 === 0 ? i - j + 0.5 : 0)),
    );
    const rows = [0];
    const [columns, values]: [number[], number[]] = [[], []];
    for (const row of dense) {
      for (const [j, v] of row.entries()) if (v !== 0) [columns, values].map((list, k) => list.push(k === 0 ? j : v));
      rows.push(columns.length);
    }
    const multiply = cuda.jit(
      ([starts, column, value]: readonly [In<Vec<i32>>, In<Vec<u16>>, In<Vec<f64>>], x: In<Vec<f64>>, y: Vec<f64>) => {
        const i = cuda.grid(1);
        if (i >= y.length) return;
        let sum = 0;
        for (let k = starts[i], end = starts[i + 1]; k < end; ++k) sum += value[k] * x[column[k]];
        y[i] = sum;
      },
      { contract: false },
    );
    const matrix = [Int32Array.from(rows), Uint16Array.from(columns), Float64Array.from(values)] as const;
    const x = Float64Array.from(randoms(n));
    const y = cuda.deviceArray(n, f64);
    const [starts, column, value] = matrix;
    const device = [cuda.toDevice(starts), cuda.toDevice(column), cuda.toDevice(value)] as const;
    await launch(multiply, { threads: n }, device, cuda.toDevice(x), y);
    sameElements(
      await read(y),
      dense.map((row) => row.reduce((sum, v, j) => (v === 0 ? sum : sum + v * (x[j] as number)), 0)),
    );
  },

  'a Fourier transform (Stockham) in shared memory': async () => {
    const N = 64;
    const [re, im] = [Float64Array.from(randoms(N)), Float64Array.from(randoms(N).reverse())];
    const transform = cuda.jit((xr: Vec<f64>, xi: Vec<f64>) => {
      const r = cuda.shared.array([2, N], f64);
      const s = cuda.shared.array([2, N], f64);
      const t = cuda.threadIdx.x;
      for (let k = t; k < N; k += N / 2) [r[0][k], s[0][k]] = [xr[k], xi[k]];
      cuda.syncThreads();
      let from = 0;
      for (let size = 1; size < N; size *= 2) {
        const angle = (-2 * Math.PI * (t % size)) / (size * 2);
        const [c, d] = [Math.cos(angle), Math.sin(angle)];
        const [ar, ai, br, bi] = [r[from][t], s[from][t], r[from][t + N / 2], s[from][t + N / 2]];
        const [tr, ti] = [br * c - bi * d, br * d + bi * c];
        const at = Math.floor(t / size) * size * 2 + (t % size);
        from = 1 - from;
        [r[from][at], s[from][at]] = [ar + tr, ai + ti];
        [r[from][at + size], s[from][at + size]] = [ar - tr, ai - ti];
        cuda.syncThreads();
      }
      for (let k = t; k < N; k += N / 2) [xr[k], xi[k]] = [r[from][k], s[from][k]];
    });
    const [dr, di] = [cuda.toDevice(re), cuda.toDevice(im)];
    await launch(transform, { grid: 1, block: N / 2 }, dr, di);
    const sum = (k: number, part: (angle: number, j: number) => number): number =>
      Array.from(re, (_, j) => part((-2 * Math.PI * k * j) / N, j)).reduce((a, b) => a + b);
    const at = (a: Float64Array, j: number): number => a[j] as number;
    closeElements(
      await read(dr),
      re.map((_, k) => sum(k, (w, j) => at(re, j) * Math.cos(w) - at(im, j) * Math.sin(w))),
      1e-11,
    );
    closeElements(
      await read(di),
      re.map((_, k) => sum(k, (w, j) => at(re, j) * Math.sin(w) + at(im, j) * Math.cos(w))),
      1e-11,
    );
  },

  'a bitonic sort that swaps by destructuring': async () => {
    const N = 128;
    const data = Int32Array.from(randoms(N * 2), (v) => (v - 0.5) * 1e9);
    const sort = cuda.jit((a: Vec<i32>) => {
      const s = cuda.shared.array(N, i32);
      const t = cuda.threadIdx.x;
      const first = cuda.blockIdx.x * N;
      s[t] = a[first + t];
      cuda.syncThreads();
      for (let size = 2; size <= N; size <<= 1) {
        for (let step = size >> 1; step > 0; step >>= 1) {
          const other = t ^ step;
          if (other > t && s[t] > s[other] === ((t & size) === 0)) [s[t], s[other]] = [s[other], s[t]];
          cuda.syncThreads();
        }
      }
      a[first + t] = s[t];
    });
    const d = cuda.toDevice(data);
    await launch(sort, { grid: 2, block: N }, d);
    sameElements(await read(d), [...data.slice(0, N).sort(), ...data.slice(N).sort()]);
  },

  'a radix sort whose ranks are counted by votes': async () => {
    const N = 128;
    const keys = Uint32Array.from(randoms(N), (v) => v * 2 ** 32);
    const sort = cuda.jit((k: Vec<u32>) => {
      const s = cuda.shared.array(N, u32);
      const zerosOf = cuda.shared.array(N / 32, u32);
      const t = cuda.threadIdx.x;
      s[t] = k[t];
      cuda.syncThreads();
      for (let bit = 0; bit < 32; bit++) {
        const v = s[t];
        const isZero = ((v >>> bit) & 1) === 0;
        const zero = cuda.ballotSync(0xffffffff, isZero);
        if (cuda.laneId === 0) zerosOf[t >> 5] = cuda.popc(zero);
        cuda.syncThreads();
        let [before, all] = [cuda.popc(zero & cuda.laneMaskLt()), u32(0)];
        for (let warp = 0; warp < N / 32; warp++) {
          if (warp < t >> 5) before += zerosOf[warp];
          all += zerosOf[warp];
        }
        s[isZero ? before : all + u32(t) - before] = v;
        cuda.syncThreads();
      }
      k[t] = s[t];
    });
    const d = cuda.toDevice(keys);
    await launch(sort, { grid: 1, block: N }, d);
    sameElements(await read(d), keys.slice().sort());
  },

  'prefix sums (Blelloch) of one block': async () => {
    const N = 128;
    const data = Int32Array.from(randoms(N), (v) => v * 100);
    const scan = cuda.jit((x: Vec<i32>) => {
      const s = cuda.shared.array(N, i32);
      const t = cuda.threadIdx.x;
      for (const k of [2 * t, 2 * t + 1]) s[k] = x[k];
      let step = 1;
      for (let d = N >> 1; d > 0; d >>= 1) {
        cuda.syncThreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        step *= 2;
      }
      if (t === 0) s[N - 1] = 0;
      for (let d = 1; d < N; d *= 2) {
        step >>= 1;
        cuda.syncThreads();
        if (t < d) {
          const [low, high] = [step * (2 * t + 1) - 1, step * (2 * t + 2) - 1];
          [s[low], s[high]] = [s[high], s[low] + s[high]];
        }
      }
      cuda.syncThreads();
      for (const k of [2 * t, 2 * t + 1]) x[k] = s[k];
    });
    const d = cuda.toDevice(data);
    await launch(scan, { grid: 1, block: N / 2 }, d);
    let sum = 0;
    sameElements(
      await read(d),
      Array.from(data, (v) => {
        sum += v;
        return sum - v;
      }),
    );
  },

  'the longest common subsequence, one diagonal after another': async () => {
    const [a, b] = [
      bytesOf('the quick brown fox jumps over the lazy dog'),
      bytesOf('pack my box with five dozen jugs'),
    ];
    const fill = cuda.jit((s: In<Vec<u8>>, t: In<Vec<u8>>, table: Mat<u16>) => {
      const [n, m] = [s.length, t.length];
      for (let diagonal = 2; diagonal <= n + m; diagonal++) {
        for (let i = cuda.threadIdx.x + 1; i <= n; i += cuda.blockDim.x) {
          const j = diagonal - i;
          if (j < 1 || j > m) continue;
          const longer = Math.max(table[i - 1][j], table[i][j - 1]);
          table[i][j] = s[i - 1] === t[j - 1] ? table[i - 1][j - 1] + 1 : longer;
        }
        cuda.syncThreads();
      }
    });
    const table = cuda.deviceArray([a.length + 1, b.length + 1], u16);
    table.set(0);
    await launch(fill, { grid: 1, block: 32 }, cuda.toDevice(a), cuda.toDevice(b), table);
    const known = new Map<string, number>();
    const longest = (i: number, j: number): number => {
      if (i === 0 || j === 0) return 0;
      const key = `${i},${j}`;
      let best = known.get(key);
      if (best === undefined) {
        best = a[i - 1] === b[j - 1] ? longest(i - 1, j - 1) + 1 : Math.max(longest(i - 1, j), longest(i, j - 1));
        known.set(key, best);
      }
      return best;
    };
    sameElements(
      await read(table),
      Array.from({ length: a.length + 1 }, (_, i) =>
        Array.from({ length: b.length + 1 }, (_, j) => longest(i, j)),
      ).flat(),
    );
  },

  'rays march towards a sphere and a plane': async () => {
    const [w, h] = [24, 16];
    type Point = readonly [number, number, number];
    const sphere = (p: Point, radius: number) => Math.sqrt(p[0] ** 2 + p[1] ** 2 + p[2] ** 2) - radius;
    const scene = (p: Point) => Math.min(sphere(p, 1), p[1] + 0.75);
    const march = (from: Point, to: Point) => {
      let [t, steps] = [0, 0];
      while (steps < 64) {
        const near = scene([from[0] + to[0] * t, from[1] + to[1] * t, from[2] + to[2] * t]);
        if (near < 1e-3) return { hit: true, t, steps };
        t += near;
        steps++;
        if (t > 20) break;
      }
      return { hit: false, t: 20, steps };
    };
    const ray = (x: number, y: number) => {
      const [u, v] = [((x + 0.5) / w) * 2 - 1, 1 - ((y + 0.5) / h) * 2];
      const length = Math.sqrt(u * u + v * v + 1);
      return march([0, 0, -3], [u / length, v / length, 1 / length]);
    };
    const render = cuda.jit(
      (depth: Mat<f64>, steps: Mat<i32>) => {
        const [x, y] = cuda.grid(2);
        if (x >= w || y >= h) return;
        const { hit, t, steps: taken } = ray(x, y);
        depth[y][x] = hit ? t : -1;
        steps[y][x] = taken;
      },
      { contract: false },
    );
    const [depth, steps] = [cuda.deviceArray([h, w], f64), cuda.deviceArray([h, w], i32)];
    await launch(render, { threads: [w, h] }, depth, steps);
    const rays = Array.from({ length: h * w }, (_, k) => ray(k % w, Math.floor(k / w)));
    sameElements(
      await read(depth),
      rays.map(({ hit, t }) => (hit ? t : -1)),
    );
    sameElements(
      await read(steps),
      rays.map((r) => r.steps),
    );
  },

  'random numbers by xorshift64*, in bigints': async () => {
    const next = cuda.jit((states: Vec<u64>, out: Vec<u64>) => {
      const i = cuda.grid(1);
      if (i >= states.length) return;
      let x = states[i];
      for (let round = 0; round < 5; round++) {
        x ^= x >> 12n;
        x ^= x << 25n;
        x ^= x >> 27n;
      }
      states[i] = x;
      out[i] = x * 0x2545f4914f6cdd1dn;
    });
    const wrap = (v: bigint): bigint => BigInt.asUintN(64, v);
    const seeds = BigUint64Array.from({ length: 50 }, (_, k) => wrap(BigInt(k + 1) * 0x9e3779b97f4a7c15n));
    const [states, out] = [cuda.toDevice(seeds), cuda.deviceArray(50, 'uint64')];
    await launch(next, { threads: 50 }, states, out);
    const after = Array.from(seeds, (seed) => {
      let x = seed;
      for (let round = 0; round < 5; round++) {
        x ^= x >> 12n;
        x ^= wrap(x << 25n);
        x ^= x >> 27n;
      }
      return x;
    });
    sameElements(await read(states), after);
    sameElements(
      await read(out),
      after.map((x) => wrap(x * 0x2545f4914f6cdd1dn)),
    );
  },

  'the digest (SHA-256) of a word': async () => {
    const K = sha256Constants();
    const turn = (x: number, n: number) => (x >>> n) | (x << (32 - n));
    const digest = cuda.jit((block: In<Vec<u32>>, h: Vec<u32>) => {
      const w = cuda.local.array(64, u32);
      for (let i = 0; i < 16; i++) w[i] = block[i];
      for (let i = 16; i < 64; i++) {
        const s = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        w[i] = w[i - 16] + s + w[i - 7] + (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10));
      }
      let [a, b, c, d, e, f, g, k] = [h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]];
      for (let i = 0; i < 64; i++) {
        const s = k + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i];
        const t = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        [k, g, f, e, d, c, b, a] = [g, f, e, d + s, c, b, a, s + t];
      }
      for (const [i, v] of [
        [0, a],
        [1, b],
        [2, c],
        [3, d],
        [4, e],
        [5, f],
        [6, g],
        [7, k],
      ] as const)
        h[i] += v;
    });
    const padded = new DataView(new ArrayBuffer(64));
    for (const [k, byte] of [...bytesOf('abc'), 0x80].entries()) padded.setUint8(k, byte);
    padded.setUint8(63, 24);
    const words = Uint32Array.from({ length: 16 }, (_, k) => padded.getUint32(4 * k));
    const initial = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
    const h = cuda.toDevice(Uint32Array.from(initial));
    await launch(digest, { grid: 1, block: 1 }, cuda.toDevice(words), h);
    const hex = Array.from((await read(h)) as Uint32Array, (v) => v.toString(16).padStart(8, '0')).join('');
    same(hex, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  },

  'bodies as structs and as arrays move alike': async () => {
    const Body = struct({ pos: f32.array(3), vel: f32.array(3), mass: f32, id: u16 });
    const n = 20;
    const given = randoms(4 * n).map(Math.fround);
    const bodies = Array.from({ length: n }, (_, id) => {
      const pos = given.slice(4 * id, 4 * id + 3) as [number, number, number];
      return { pos, vel: [0, 0, 0] as [number, number, number], mass: given[4 * id + 3] as number, id };
    });
    const pull = (d: number, mass: number) => mass / (d * Math.sqrt(d) + 0.1);
    const structs = cuda.jit(
      (all: Vec<typeof Body>, dt: number) => {
        const i = cuda.grid(1);
        if (i >= all.length) return;
        const me = all[i];
        for (let axis = 0; axis < 3; axis++) {
          let a = 0;
          for (const { pos, mass, id } of all) {
            if (id === me.id) continue;
            const [x, y, z] = [pos[0] - me.pos[0], pos[1] - me.pos[1], pos[2] - me.pos[2]];
            a += pull(x * x + y * y + z * z, mass) * (pos[axis] - me.pos[axis]);
          }
          me.vel[axis] += a * dt;
        }
      },
      { contract: false },
    );
    const arrays = cuda.jit(
      (p: In<Mat<f32>>, v: Mat<f32>, m: In<Vec<f32>>, dt: number) => {
        const [axis, i] = cuda.grid(2);
        if (axis >= 3 || i >= m.length) return;
        let a = 0;
        for (let j = 0; j < m.length; j++) {
          if (j === i) continue;
          const [x, y, z] = [p[j][0] - p[i][0], p[j][1] - p[i][1], p[j][2] - p[i][2]];
          a += pull(x * x + y * y + z * z, m[j]) * (p[j][axis] - p[i][axis]);
        }
        v[i][axis] += a * dt;
      },
      { contract: false },
    );
    const all = cuda.toDevice(ndarray(bodies, { dtype: Body }));
    await launch(structs, { threads: n }, all, 0.25);
    const v = cuda.deviceArray([n, 3], f32);
    v.set(0);
    const p = cuda.toDevice(
      ndarray(
        bodies.map(({ pos }) => pos),
        { dtype: f32 },
      ),
    );
    const m = cuda.toDevice(Float32Array.from(bodies, ({ mass }) => mass));
    await launch(arrays, { threads: [3, n] }, p, v, m, 0.25);
    sameElements(await read(all.field('vel')), await read(v));
    const expected = bodies.flatMap((me) =>
      me.pos.map((own, axis) => {
        const others = bodies
          .filter((other) => other !== me)
          .map(({ pos, mass }) => {
            const d = pos.reduce((sum, x, k) => sum + (x - (me.pos[k] as number)) ** 2, 0);
            return (mass / (d * Math.sqrt(d) + 0.1)) * ((pos[axis] as number) - own);
          });
        return others.reduce((a, b) => a + b) * 0.25;
      }),
    );
    closeElements(await read(v), expected, 1e-4);
  },

  'clusters (k-means) by atomic sums, in a few rounds': async () => {
    const [n, K] = [300, 4];
    const noise = randoms(2 * n);
    const points = Float32Array.from(noise, (v, k) => ((k >> 1) % K) * 10 + v);
    const assign = cuda.jit((p: In<Mat<f32>>, centre: In<Mat<f32>>, label: Vec<u8>) => {
      const i = cuda.grid(1);
      if (i >= label.length) return;
      let [best, nearest] = [0, Number.POSITIVE_INFINITY];
      for (let k = 0; k < centre.length; k++) {
        const d = (p[i][0] - centre[k][0]) ** 2 + (p[i][1] - centre[k][1]) ** 2;
        if (d < nearest) [best, nearest] = [k, d];
      }
      label[i] = best;
    });
    const gather = cuda.jit((p: In<Mat<f32>>, label: In<Vec<u8>>, sums: Mat<f32>, counts: Vec<i32>) => {
      for (let i = cuda.grid(1); i < label.length; i += cuda.gridSize(1)) {
        for (const axis of [0, 1]) cuda.atomic.add(sums, [label[i], axis], p[i][axis]);
        cuda.atomic.add(counts, label[i], 1);
      }
    });
    const move = cuda.jit((centre: Mat<f32>, sums: In<Mat<f32>>, counts: In<Vec<i32>>) => {
      const { x: k, y: axis } = cuda.threadIdx;
      if (counts[k] > 0) centre[k][axis] = sums[k][axis] / counts[k];
    });
    const p = cuda.toDevice(ndarray(points, { shape: [n, 2] }));
    const centre = cuda.toDevice(
      ndarray(
        [
          [1, 0],
          [9, 12],
          [21, 19],
          [28, 33],
        ],
        { dtype: f32 },
      ),
    );
    const [label, sums, counts] = [cuda.deviceArray(n, u8), cuda.deviceArray([K, 2], f32), zeros(K, 'int32')];
    for (let round = 0; round < 3; round++) {
      await launch(assign, { threads: n }, p, centre, label);
      sums.set(0);
      counts.set(0);
      await launch(gather, { grid: 2, block: 64 }, p, label, sums, counts);
      await launch(move, { grid: 1, block: [K, 2] }, centre, sums, counts);
    }
    sameElements(
      await read(label),
      Array.from({ length: n }, (_, i) => i % K),
    );
    sameElements(await read(counts), new Array(K).fill(n / K));
    const mean = (k: number, axis: number): number =>
      points.filter((_, at) => (at >> 1) % K === k && at % 2 === axis).reduce((a, b) => a + b) / (n / K);
    closeElements(
      await read(centre),
      Array.from({ length: 2 * K }, (_, k) => mean(k >> 1, k % 2)),
      1e-5,
    );
  },

  'random numbers as doubles (Park and Miller), which never wrap': async () => {
    const M = 2147483647;
    const next = cuda.jit((out: Vec<f64>, rounds: number) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      let seed = i + 1;
      for (let k = 0; k < rounds; k++) seed = (seed * 16807) % M;
      out[i] = seed / M;
    });
    const out = cuda.deviceArray(40, f64);
    await launch(next, { threads: 40 }, out, 20);
    const expected = Array.from({ length: 40 }, (_, i) => {
      let seed = BigInt(i + 1);
      for (let k = 0; k < 20; k++) seed = (seed * 16807n) % BigInt(M);
      return Number(seed) / M;
    });
    sameElements(await read(out), expected);
  },
});
