/**
 * Chapter: arrays of structs in kernels, in every layout and memory space; records on the device.
 *
 * A body that names members runs on the device and again on the plain objects that the elements are; both end the same. Layouts:
 * packed (with members that are not aligned), aligned, and packed with members that happen to be.
 */
import {
  cuda,
  type DeviceNDArray,
  type DType,
  f16,
  f32,
  f64,
  i8,
  i16,
  type Mat,
  type Struct,
  struct,
  u8,
  u16,
  u32,
  u64,
  type Vec,
} from '../src/index.ts';
import { same, sameElements } from './assert.ts';
import {
  filled,
  LAYOUTS,
  N,
  objects,
  type PACKED,
  PAIR,
  type Pair,
  type Particle,
  particle,
  sameRecords,
  text,
} from './struct-layouts.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { element, launch, read } from './waiting.ts';

const WIDE = struct({ i: i8, u: u16, s: i16, w: u32, big: u64, d: f64, h: f16 });
type Wide = Struct<typeof WIDE>;

/** A captured key. */
const IN_BRACKETS = 'f';

type Body = (p: Vec<Particle>, i: number) => void;

/** Runs `body` for each element of an array of every layout, and on plain objects. */
function onMembers(body: Body): () => Promise<void> {
  return () => {
    const kernel = cuda.jit((p: Vec<Particle>) => {
      const i = cuda.grid(1);
      if (i < p.length) body(p, i);
    });
    return eachType(Object.entries(LAYOUTS), async ([name, dtype]) => {
      // What is stored in f32 and f16 has been rounded: the model's numbers are, too.
      const rounded = (p: Particle[]): Particle[] =>
        filled(dtype as typeof PACKED, p).toArray() as unknown as Particle[];
      const before = rounded(objects());
      for (let i = 0; i < N; i++) body(before as unknown as Vec<Particle>, i);
      const model = rounded(before);
      const p = cuda.toDevice(filled(dtype as typeof PACKED, objects()));
      await launch(kernel, { threads: N, block: 32 }, p);
      await sameRecords(p, model, `${name}: element`);
      // The same elements, backwards and with gaps.
      const wide = cuda.toDevice(filled(dtype as typeof PACKED, objects(2 * N)));
      const odd = wide.slice([null, null, -2]) as DeviceNDArray<Particle, 1>;
      odd.copyToDevice(filled(dtype as typeof PACKED, objects()));
      await launch(kernel, { threads: N, block: 50 }, odd);
      await sameRecords(odd, model, `${name}, strided: element`);
      same(text(await element(wide, 0)), text(particle(0)), `${name}: the element between`);
    });
  };
}

/** Runs `body` once, in one thread, with an array of each layout and another of the same type. */
function onWhole(
  body: (p: Vec<Particle>, q: Vec<Particle>) => void,
  expected: (p: Particle[]) => Particle[],
): () => Promise<void> {
  return () =>
    eachType(Object.entries(LAYOUTS), async ([name, layout]) => {
      const dtype = layout as typeof PACKED;
      const kernel = cuda.jit((p: Vec<Particle>, q: Vec<Particle>) => body(p, q));
      const p = cuda.toDevice(filled(dtype, objects(6)));
      await launch(kernel, { grid: 1, block: 1 }, p, cuda.toDevice(filled(dtype, objects(12).slice(6))));
      await sameRecords(p, filled(dtype, expected(objects(6))).toArray() as unknown[], `${name}: element`);
    });
}

/** Copies all elements through memory of another space and back. */
async function through(dtype: DType<unknown>, values: readonly unknown[], name: string): Promise<void> {
  const type = dtype as typeof PACKED;
  const host = filled(type, values as Particle[]);
  const count = values.length;
  const shared = cuda.jit((to: Vec<Particle>, from: Vec<Particle>) => {
    const tile = cuda.shared.array(count, type);
    const i = cuda.threadIdx.x;
    if (i < count) tile[i] = from[i];
    cuda.syncThreads();
    if (i < count) to[i] = tile[count - 1 - i];
  });
  const dynamic = cuda.jit((to: Vec<Particle>, from: Vec<Particle>) => {
    const tile = cuda.shared.array(0, type);
    const i = cuda.threadIdx.x;
    if (i < tile.length) tile[i] = from[i];
    cuda.syncThreads();
    if (i < tile.length) to[i] = tile[tile.length - 1 - i];
  });
  const local = cuda.jit((to: Vec<Particle>, from: Vec<Particle>) => {
    const own = cuda.local.array(2, type);
    const i = cuda.threadIdx.x;
    own[1] = from[count - 1 - (i % count)];
    own[0] = own[1];
    if (i < count) to[i] = own[0];
  });
  const constant = cuda.jit((to: Vec<Particle>) => {
    const table = cuda.const.arrayLike(host);
    const i = cuda.threadIdx.x;
    if (i < count) to[i] = table[count - 1 - i];
  });
  const expected = (host.toArray() as unknown[]).reverse();
  const from = cuda.toDevice(host);
  const run = async (space: string, start: (to: DeviceNDArray<Particle, 1>) => Promise<void>): Promise<void> => {
    const to = cuda.deviceArray([count], type);
    await start(to as DeviceNDArray<Particle, 1>);
    await sameRecords(to, expected, `${name}, ${space}: element`);
  };
  await run('shared', (to) => launch(shared, { grid: 1, block: 64 }, to, from));
  await run('dynamic', (to) => launch(dynamic, { grid: 1, block: 64, sharedBytes: count * dtype.itemSize }, to, from));
  await run('local', (to) => launch(local, { grid: 1, block: 64 }, to, from));
  await run('constant', (to) => launch(constant, { grid: 1, block: 64 }, to));
}

export const structs: readonly ConformanceTest[] = chapter('structs', {
  'members are read and written': onMembers((p, i) => {
    p[i].x = p[i].y + 0.5;
    p[i].tag = p[i].tag ^ 85;
    p[i].n = p[i].n * 3n;
    p[i].h = p[i].h / 2;
  }),
  'compound assignment': onMembers((p, i) => {
    p[i].x += 1;
    p[i].y -= i;
    p[i].n += 7n;
    p[i].pos.a *= 2;
    p[i].y++;
    --p[i].y;
    p[i].tag |= 128;
  }),
  'members of members': onMembers((p, i) => {
    p[i].pos.b = p[i].pos.flag;
    p[i].pos.flag = i % 100;
    p[i].pos.a += p[i].x;
  }),
  'sub-arrays': onMembers((p, i) => {
    for (let k = 0; k < 3; k++) p[i].f[k][0] += p[i].f[2 - k][1];
    p[i].f[i % 3][i % 2] = -1;
    p[i].y = p[i].f.length;
  }),
  'rows of sub-arrays trade places': onMembers((p, i) => {
    const { f } = p[i];
    [f[0], f[2]] = [f[2], f[0]];
    [p[i].f[1], p[i].y] = [p[i].f[0], i];
    p[i].f[0] = [1, 2];
  }),
  'rows of sub-arrays: by a variable, by a name, whole': onMembers((p, i) => {
    const total = (row: ArrayLike<number>): number => row[0] + 2 * row[1];
    for (let k = 0; k < 3; k++) {
      const row = p[i].f[k];
      for (let j = 0; j < row.length; j++) row[j] += total(p[i].f[(k + 1) % 3]);
    }
    for (const row of p[i].f) row[0]++;
    p[i].f[i % 3] = [i, -1 - i];
  }),
  'members by their names in brackets': onMembers((p, i) => {
    p[i]['x'] = p[i]['y'] * 2;
    p[i]['pos']['b'] = 8;
  }),
  destructuring: onMembers((p, i) => {
    const {
      x,
      pos: { a, b },
      f: [[first], , last],
    } = p[i];
    p[i].x = a > 4 ? b : x;
    p[i].f[1][1] = first + last[1];
  }),
  'a name for an element': onMembers((p, i) => {
    const r = p[i];
    r.x += 2;
    r.pos.a = r.x;
    const row = r.f[1];
    row[0] = r.y;
  }),
  'a name for one element, then for another': onMembers((p, i) => {
    let r = p[i];
    let sum = 0;
    for (let k = 0; k < 3; k++) {
      sum += r.y;
      if (k === 1) r = p[i];
    }
    r.y = sum;
    const chosen = i % 2 === 0 ? p[i] : r;
    chosen.x = 3;
  }),
  'device functions take and give elements': onMembers((p, i) => {
    const move = (r: Particle, by: number): Particle => {
      r.x += by;
      return r;
    };
    const length = ({ pos: { a, b } }: Particle): number => a + b;
    move(p[i], i).y = 4;
    p[i].pos.a = length(p[i]);
  }),

  'whole elements are copied': onWhole(
    (p, q) => {
      p[0] = q[2];
      p[1] = p[0];
      p[0].x = 99;
      p[2].pos = q[0].pos;
      p[3].f = q[1].f;
    },
    (p) => {
      p[1] = particle(8);
      p[0] = { ...particle(8), x: 99 };
      (p[2] as Particle).pos = particle(6).pos;
      (p[3] as Particle).f = particle(7).f;
      return p;
    },
  ),
  'elements from object literals': onWhole(
    (p) => {
      const k = cuda.grid(1);
      p[1] = {
        tag: 9,
        x: p[k].y,
        y: 2,
        pos: { a: 0.5, flag: -1, b: 7 },
        f: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        n: 5n,
        h: 0.125,
      };
      p[0] = { ...p[2], pos: p[3].pos, y: p[2].y + 1 };
      p[4].pos = { a: p[4].pos.b, b: p[4].pos.a * 2, flag: 1 };
      p[5].f = [p[5].f[2], p[5].f[1], [p[5].f[0][1], p[5].f[0][0]]] as never;
    },
    (p) => {
      p[1] = {
        tag: 9,
        x: 3,
        y: 2,
        pos: { a: 0.5, flag: -1, b: 7 },
        f: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
        n: 5n,
        h: 0.125,
      };
      p[0] = { ...particle(2), pos: particle(3).pos, y: 2 };
      const four = p[4] as Particle;
      four.pos = { a: four.pos.b, b: four.pos.a * 2, flag: 1 };
      const five = p[5] as Particle;
      five.f = [five.f[2], five.f[1], [five.f[0]?.[1], five.f[0]?.[0]]] as number[][];
      return p;
    },
  ),
  'a copy is a spread, elements trade places': onWhole(
    (p) => {
      const old = { ...p[0] };
      p[0].x = 50;
      p[0].pos.a = 51;
      p[1] = old;
      [p[2], p[3]] = [p[3], p[2]];
      const { y, ...rest } = p[4];
      p[4].tag = 77;
      p[5] = { ...rest, y: y + 100 };
    },
    (p) => {
      p[1] = particle(0);
      p[0] = { ...particle(0), x: 50, pos: { ...particle(0).pos, a: 51 } };
      [p[2], p[3]] = [p[3] as Particle, p[2] as Particle];
      p[5] = { ...particle(4), y: 99 };
      (p[4] as Particle).tag = 77;
      return p;
    },
  ),
  'whole members by their names in brackets': onWhole(
    (p, q) => {
      p[0][IN_BRACKETS] = p[1]['f'];
      p[1][`pos`] = q[0]['pos'];
      p[2]['x'] = q[1][`x`];
      p[3]['f'][1] = p[4]['f'][2];
      p[5].f[0] = [7, p[5].f[0][0]];
    },
    (p) => {
      (p[0] as Particle).f = particle(1).f;
      (p[1] as Particle).pos = particle(6).pos;
      (p[2] as Particle).x = particle(7).x;
      (p[3] as Particle).f[1] = particle(4).f[2] as number[];
      (p[5] as Particle).f[0] = [7, 5];
      return p;
    },
  ),
  'padding is left alone': () =>
    eachType([f64, f32], async (b) => {
      const dtype = struct({ a: u8, b, c: i16 }, { align: true });
      const bytes = cuda.toDevice(new Uint8Array(2 * dtype.itemSize).fill(255));
      const kernel = cuda.jit((p: Vec<{ a: number; b: number; c: number }>) => {
        p[0] = { a: 1, b: 0, c: 0 };
        p[1] = p[0];
      });
      await launch(kernel, { grid: 1, block: 1 }, bytes.view(dtype as never));
      const written = (await read(bytes)) as Uint8Array;
      const [size, width] = [dtype.itemSize, b.itemSize];
      for (const at of [0, size]) {
        const padding = written.subarray(at, at + size).filter((_, k) => (k > 0 && k < width) || k >= 2 * width + 2);
        sameElements(padding, new Uint8Array(2 * width - 3).fill(255), 'byte of padding');
        sameElements([written[at], written[at + width], written[at + 2 * width]] as number[], [1, 0, 0]);
      }
    }),

  'every memory space': async () => {
    await eachType(Object.entries(LAYOUTS), ([name, dtype]) => through(dtype, objects(40), name));
    const pairs = Array.from({ length: 40 }, (_, i) => ({ x: i + 0.5, y: -i }));
    await through(PAIR, pairs, 'two numbers of 4 bytes');
    const bytes = Array.from({ length: 40 }, (_, i) => ({ r: i, g: 2 * i, b: 3 * i }));
    await through(struct({ r: u8, g: u8, b: u8 }), bytes, 'three bytes');
  },
  'long sub-arrays are copied in loops': async () => {
    const dtype = struct({ id: u8, v: i16.array(40), w: struct({ k: f32 }).array(2, 3) });
    const value = (i: number): Struct<typeof dtype> => ({
      id: i,
      v: Array.from({ length: 40 }, (_, k) => i * 100 + k),
      w: [0, 1].map((r) => [0, 1, 2].map((c) => ({ k: i + r / 2 + c / 8 }))),
    });
    await through(
      dtype,
      Array.from({ length: 9 }, (_, i) => value(i)),
      'long',
    );
  },
  'members at odd addresses hold every bit': async () => {
    const values: Wide[] = [
      { i: -128, u: 65535, s: -32768, w: 4294967295, big: 2n ** 64n - 1n, d: -Math.PI, h: 65504 },
      { i: 127, u: 1, s: 32767, w: 2 ** 31, big: 2n ** 63n, d: 5e-324, h: 2 ** -24 },
      { i: -1, u: 256, s: -1, w: 65536, big: 1n, d: Number.NaN, h: Number.NaN },
      { i: 0, u: 0, s: 0, w: 0, big: 0n, d: -0, h: -0 },
      { i: 5, u: 4660, s: 4660, w: 305419896, big: 0x0123456789abcdefn, d: 1e300, h: -1.5 },
      {
        i: 5,
        u: 4660,
        s: 4660,
        w: 305419896,
        big: 2n ** 32n,
        d: Number.NEGATIVE_INFINITY,
        h: Number.POSITIVE_INFINITY,
      },
      { i: 5, u: 4660, s: 4660, w: 305419896, big: 3n, d: 1, h: -(2 ** -14) },
      { i: 5, u: 4660, s: 4660, w: 305419896, big: 3n, d: 2, h: 1023 * 2 ** -24 },
    ];
    const kernel = cuda.jit((q: Vec<Wide>, p: Vec<Wide>, sum: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k >= p.length) return;
      const { i, u, s, w, big, d, h } = p[k];
      q[k] = { i, u, s, w, big, d, h };
      sum[k] = f64(i + u + s) + w + Number(big & 0xffffn) + h;
    });
    const host = filled(WIDE, values);
    const q = cuda.deviceArray([values.length], WIDE);
    const sum = cuda.deviceArray(values.length, f64);
    await launch(kernel, { grid: 1, block: 32 }, q, cuda.toDevice(host), sum);
    await sameRecords(q, host.toArray() as unknown[]);
    sameElements(
      await read(sum),
      values.map(({ i, u, s, w, big, h }) => i + u + s + w + Number(big & 0xffffn) + h),
    );
  },
  'rounding to f16 at odd addresses': async () => {
    const dtype = struct({ tag: u8, h: f16 });
    const x = Float32Array.of(1 / 3, 1e-8, 6e-8, 65519, 65520, -1e9, 2049, 2051, 6.1e-5, 6.097e-5, -3e-6, 0.1);
    const kernel = cuda.jit((p: Vec<Struct<typeof dtype>>, v: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < p.length) p[i] = { tag: i, h: v[i] };
    });
    const p = cuda.deviceArray([x.length], dtype);
    await launch(kernel, { grid: 1, block: 32 }, p, cuda.toDevice(x));
    await sameRecords(
      p,
      Array.from(x, (v, i) => ({ tag: i, h: f16(v) })),
    );
  },
  'matrices of structs, by rows and columns': async () => {
    const kernel = cuda.jit((A: Mat<Pair>) => {
      const [j, i] = cuda.grid(2);
      if (i < A.shape[0] && j < A.shape[1]) {
        A[i][j].x = 10 * i + j;
        A[i][j].y += A[i].length;
      }
    });
    for (const order of ['C', 'F'] as const) {
      const A = cuda.deviceArray([3, 5], PAIR, { order });
      A.set({ x: 0, y: 1 });
      await launch(kernel, { threads: [5, 3], block: [8, 8] }, A);
      const rows = (await read(A)).toArray() as unknown as Pair[][];
      same(text(rows[2]?.[4]), text({ x: 24, y: 6 }), order);
      same(text(rows[1]?.[3]), text({ x: 13, y: 6 }), order);
    }
  },
  'for … of elements': async () => {
    const kernel = cuda.jit((p: Vec<Pair>, sum: Vec<f32>) => {
      let total = 0;
      for (const { x, y } of p) total += x * y;
      for (const r of p) r.y = 8;
      sum[0] = total;
    });
    const p = cuda.toDevice(
      filled(PAIR, [
        { x: 1.5, y: 2 },
        { x: 2, y: 3 },
        { x: -1, y: 4 },
      ]),
    );
    const sum = cuda.deviceArray(1, f32);
    await launch(kernel, { grid: 1, block: 1 }, p, sum);
    same(await element(sum, 0), 5);
    same((await element(p, 2)).y, 8);
  },
});
