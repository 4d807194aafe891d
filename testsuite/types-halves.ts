/**
 * Chapter: arithmetic on f16 and bf16. Each operation rounds once, so that every device gives the same bits: all values through functions of one
 * operand, edges and random ones through those of two and three, against exact arithmetic.
 */
import {
  bf16,
  bf16x4,
  cuda,
  type DType,
  f16,
  f16x2,
  f32,
  f64,
  type In,
  type i32,
  type i64,
  ndarray,
  type u8,
  type u32,
  type Vec,
} from '../src/index.ts';
import { ConformanceFailure, rejects, same, sameElements } from './assert.ts';
import { BF16, close, countOf, evenRound, F16, type Format, fused, nearest, numberOf } from './narrow-reference.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

type Half = DType<f16> & ((x: number) => number);

const TYPES: readonly (readonly [Format, Half])[] = [
  [F16, f16],
  [BF16, bf16 as never],
];

const ALL: Uint16Array<ArrayBuffer> = Uint16Array.from({ length: 65536 }, (_, bits) => bits);

/** Zeros, limits, what is next to them, powers of two and their neighbours, infinities and NaN, of both signs. */
function edges(format: Format): number[] {
  const one = (2 ** (format.exponentBits - 1) - 1) * 2 ** format.fractionBits;
  const infinity = countOf(format) / 2 - 2 ** format.fractionBits;
  const unit = 2 ** format.fractionBits;
  const some = [0, 1, 2, 3, unit - 1, unit, unit + 1, one - unit, one - 1, one, one + 1, one + 2, one + unit / 2]
    .concat([one + 5 * unit, one + 5 * unit + 1, infinity - unit, infinity - 2, infinity - 1, infinity, infinity + 1])
    .concat([one - 6 * unit + 1, one + (format.fractionBits + 1) * unit, one + format.fractionBits * unit + 1]);
  return some.flatMap((bits) => [bits, bits + countOf(format) / 2]);
}

/** Bits of operands: all pairs of edges, and as many of anything. */
function pairs(format: Format, seed: number): readonly [Uint16Array<ArrayBuffer>, Uint16Array<ArrayBuffer>] {
  const list = edges(format);
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 16;
  };
  const a = list.flatMap((x) => list.map(() => x));
  const b = list.flatMap(() => list);
  for (let k = 0; k < 12000; k++) {
    const x = random();
    a.push(x);
    // Every third pair is of about the same size, where sums cancel.
    b.push(k % 3 === 0 ? ((x + (random() % 4096) + 65536 - 2048) % 65536) ^ (random() & 0x8000) : random());
  }
  return [Uint16Array.from(a), Uint16Array.from(b)];
}

const numbers = (format: Format, bits: Uint16Array): number[] => Array.from(bits, (b) => numberOf(format, b));
const upload = (dtype: Half, bits: Uint16Array<ArrayBuffer>) => cuda.toDevice(ndarray(bits, { dtype }));

const sum = cuda.jit((y: Vec<f16>, a: In<Vec<f16>>, b: In<Vec<f16>>) => {
  const k = cuda.grid(1);
  if (k < y.length) y[k] = a[k] + b[k];
});

export const halves: readonly ConformanceTest[] = chapter('16-bit floats', {
  'sums, differences, products and quotients are rounded once': async () => {
    const kernel = cuda.jit((y: Vec<f32>, a: In<Vec<f16>>, b: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      // As f32, so that no store rounds.
      y[4 * k] = a[k] + b[k];
      y[4 * k + 1] = a[k] - b[k];
      y[4 * k + 2] = a[k] * b[k];
      y[4 * k + 3] = a[k] / b[k];
    });
    for (const [format, dtype] of TYPES) {
      const [a, b] = pairs(format, 1);
      const y = cuda.deviceArray(4 * a.length, f32);
      await launch(kernel, { threads: a.length }, y, upload(dtype, a), upload(dtype, b));
      const right = numbers(format, b);
      const exact = numbers(format, a).flatMap((x, k) => {
        const z = right[k] as number;
        return [x + z, x - z, x * z, x / z];
      });
      sameElements(
        await read(y),
        exact.map((x) => nearest(format, x)),
        format.name,
      );
      const stored = cuda.deviceArray(a.length, dtype);
      await launch(sum, { threads: a.length }, stored, upload(dtype, a), upload(dtype, b));
      sameElements(
        await read(stored),
        exact.filter((_, k) => k % 4 === 0).map((x) => nearest(format, x)),
        `stored ${format.name}`,
      );
    }
  },
  'fma is rounded once': async () => {
    const kernel = cuda.jit((y: Vec<f32>, a: In<Vec<f16>>, b: In<Vec<f16>>, c: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = cuda.fma(a[k], b[k], c[k]);
    });
    for (const [format, dtype] of TYPES) {
      const [a, b] = pairs(format, 2);
      const [left, right] = [numbers(format, a), numbers(format, b)];
      // Among anything: what nearly cancels the product, and what is so small that only a tie can tell.
      const c = Array.from(a, (_, k) => {
        const product = (left[k] as number) * (right[k] as number);
        if (k % 4 === 0) return -nearest(format, product);
        if (k % 4 === 1) return nearest(format, product * 2 ** -12);
        return k % 4 === 2 ? numberOf(format, 1 + (k & 0x8000)) : numberOf(format, (k * 40503) % 65536);
      });
      const y = cuda.deviceArray(a.length, f32);
      const third = cuda.toDevice(ndarray(c, { dtype }));
      await launch(kernel, { threads: a.length }, y, upload(dtype, a), upload(dtype, b), third);
      sameElements(
        await read(y),
        c.map((z, k) => fused(format, left[k] as number, right[k] as number, z)),
        format.name,
      );
    }
  },
  'comparisons, extremes, remainders': async () => {
    const kernel = cuda.jit((flags: Vec<i32>, y: Vec<f32>, a: In<Vec<f16>>, b: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k >= a.length) return;
      const [u, v] = [a[k], b[k]];
      flags[k] =
        (u === v ? 1 : 0) +
        (u !== v ? 2 : 0) +
        (u < v ? 4 : 0) +
        (u <= v ? 8 : 0) +
        (u > v ? 16 : 0) +
        (u >= v ? 32 : 0);
      y[3 * k] = Math.min(u, v);
      y[3 * k + 1] = Math.max(u, v);
      y[3 * k + 2] = u % v;
    });
    for (const [format, dtype] of TYPES) {
      const [a, b] = pairs(format, 3);
      const [left, right] = [numbers(format, a), numbers(format, b)];
      const flags = cuda.deviceArray(a.length, 'int32');
      const y = cuda.deviceArray(3 * a.length, f32);
      await launch(kernel, { threads: a.length }, flags, y, upload(dtype, a), upload(dtype, b));
      const expected = left.map((u, k) => {
        const v = right[k] as number;
        return [u === v, u !== v, u < v, u <= v, u > v, u >= v].reduce((bits, is, n) => bits + (is ? 2 ** n : 0), 0);
      });
      sameElements(await read(flags), expected, `${format.name} flags`);
      const values = left.flatMap((u, k) => [
        Math.min(u, right[k] as number),
        Math.max(u, right[k] as number),
        u % (right[k] as number),
      ]);
      sameElements(await read(y), values, format.name);
    }
  },
  'every value through exact functions': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      const v = x[k];
      const at = 10 * k;
      y[at] = -v;
      y[at + 1] = Math.abs(v);
      y[at + 2] = Math.floor(v);
      y[at + 3] = Math.ceil(v);
      y[at + 4] = Math.trunc(v);
      y[at + 5] = cuda.rint(v);
      y[at + 6] = Math.sqrt(v);
      y[at + 7] = 1 / v;
      y[at + 8] = v ** 2;
      y[at + 9] = Math.sign(v);
    });
    for (const [format, dtype] of TYPES) {
      const y = cuda.deviceArray(10 * 65536, f32);
      await launch(kernel, { threads: 65536 }, y, upload(dtype, ALL));
      const expected = numbers(format, ALL).flatMap((v) =>
        [-v, Math.abs(v), Math.floor(v), Math.ceil(v), Math.trunc(v), evenRound(v), Math.sqrt(v), 1 / v, v * v]
          .map((x) => nearest(format, x))
          .concat(Math.sign(v)),
      );
      sameElements(await read(y), expected, format.name);
    }
  },
  'every value through functions of f32, rounded': async () => {
    const kernel = cuda.jit((y: Vec<f16>, x: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      const n = x.length;
      if (k >= n) return;
      const v = x[k];
      y[k] = Math.sin(v);
      y[n + k] = Math.cos(v);
      y[2 * n + k] = Math.tanh(v);
      y[3 * n + k] = Math.exp(v);
      y[4 * n + k] = cuda.exp2(v);
      y[5 * n + k] = Math.log(v);
      y[6 * n + k] = Math.log2(v);
      y[7 * n + k] = Math.log10(v);
      y[8 * n + k] = cuda.rsqrt(v);
      y[9 * n + k] = 10 ** v;
    });
    const functions = [
      Math.sin,
      Math.cos,
      Math.tanh,
      Math.exp,
      (v: number) => 2 ** v,
      Math.log,
      Math.log2,
      Math.log10,
    ].concat(
      (v) => 1 / Math.sqrt(v),
      (v) => 10 ** v,
    );
    for (const [format, dtype] of TYPES) {
      const y = cuda.deviceArray(10 * 65536, dtype);
      await launch(kernel, { threads: 65536 }, y, upload(dtype, ALL));
      const got = numbers(format, (await read(y)).data as Uint16Array);
      const x = numbers(format, ALL);
      for (const [n, fn] of functions.entries())
        close(format, got.slice(n * 65536, (n + 1) * 65536), x.map(fn), `function ${n}`);
    }
  },
  'numbers without a type become halves, variables that begin with one f32': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f16>>, scale: number) => {
      y[0] = x[0] * 0.1;
      y[1] = x[0] * scale;
      const tenth = 0.1;
      y[2] = x[0] + tenth;
      let total = 0;
      for (let k = 0; k < x.length; k++) total += x[k];
      y[3] = total;
      let rounded = f16(0);
      for (let k = 0; k < x.length; k++) rounded += x[k];
      y[4] = rounded;
      y[5] = x[0] > 0.1 ? 1 : 0;
      y[6] = y[5] > 2 ? x[1] : 0.1;
      y[7] = Math.max(x[0], 0.3);
    });
    const x = new Array<number>(3000).fill(1);
    x[0] = 0.1;
    const y = cuda.deviceArray(8, f32);
    await launch(kernel, { grid: 1, block: 1 }, y, cuda.toDevice(ndarray(x, { dtype: f16 })), 0.3);
    const tenth = f16(0.1);
    sameElements(await read(y), [
      f16(tenth * tenth),
      f16(tenth * f16(0.3)),
      f16(tenth + tenth),
      Math.fround(tenth + 2999),
      2048,
      0,
      tenth,
      f16(0.3),
    ]);
  },
  'a NaN of whatever bits stays one': async () => {
    const kernel = cuda.jit((x: In<Vec<u32>>, y: Vec<f16>, z: Vec<bf16>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      const v = f16(cuda.uintAsFloat(x[k]));
      const w = bf16(cuda.uintAsFloat(x[k]));
      y[k] = v;
      z[k] = w;
    });
    const bits = [0x7fffffff, 0xffffffff, 0x7f800001, 0xff800001, 0x7fffefff, 0xfffff000, 0x7fc00000, 0x477fefff];
    const [y, z] = [cuda.deviceArray(bits.length, f16), cuda.deviceArray(bits.length, bf16)];
    await launch(kernel, { threads: bits.length }, cuda.toDevice(Uint32Array.from(bits)), y, z);
    sameElements(await read(y), [...bits.slice(1).map(() => Number.NaN), 65504], 'f16');
    sameElements(await read(z), [...bits.slice(1).map(() => Number.NaN), 65536], 'bf16');
  },
  'with f32, f64, integers and the other format': async () => {
    const kernel = cuda.jit(
      (
        y: Vec<f64>,
        h: In<Vec<f16>>,
        b: In<Vec<bf16>>,
        s: In<Vec<f32>>,
        d: In<Vec<f64>>,
        n: In<Vec<i32>>,
        c: In<Vec<u8>>,
      ) => {
        y[0] = h[0] * s[0];
        y[1] = h[0] * d[0];
        y[2] = h[0] + n[0];
        y[3] = h[0] * c[0];
        y[4] = h[0] + b[0];
        y[5] = h[0] * (cuda.grid(1) + 3000);
        y[6] = f32(h[0]) * f32(h[0]);
        y[7] = f16(b[0]) * h[0];
        y[8] = f16(s[0] + s[0]);
        y[9] = bf16(h[0]);
        const flag = n[0] > 0;
        y[10] = h[0] + (flag ? 1 : 0);
      },
    );
    const y = cuda.deviceArray(11, f64);
    const [s, d, n, c] = [Math.fround(1.1), 1.1, 100001, 255];
    const h = f16(0.1);
    const b = bf16(0.1);
    await launch(
      kernel,
      { grid: 1, block: 1 },
      y,
      cuda.toDevice(ndarray([0.1], { dtype: f16 })),
      cuda.toDevice(ndarray([0.1], { dtype: bf16 })),
      cuda.toDevice(Float32Array.of(s)),
      cuda.toDevice(Float64Array.of(d)),
      cuda.toDevice(Int32Array.of(n)),
      cuda.toDevice(Uint8Array.of(c)),
    );
    sameElements(await read(y), [
      Math.fround(h * s),
      h * d,
      Math.fround(h + n),
      Math.fround(h * c),
      Math.fround(h + b),
      Math.fround(h * 3000),
      Math.fround(h * h),
      f16(f16(b) * h),
      f16(Math.fround(s + s)),
      bf16(h),
      f16(h + 1),
    ]);
  },
  'what does not fit is refused': async () => {
    const large = cuda.jit((y: Vec<f16>) => {
      y[0] = y[1] + 1e6;
    });
    const array = cuda.deviceArray(2, f16);
    await rejects(async () => await launch(large, { grid: 1, block: 1 }, array), /1000000 does not fit f16/);
    const long = cuda.jit((y: Vec<f16>, n: In<Vec<i64>>) => {
      y[0] = y[1] + (n[0] as never as number);
    });
    const n = cuda.toDevice(BigInt64Array.of(1n));
    await rejects(async () => await launch(long, { grid: 1, block: 1 }, array, n), /cannot add f16 and i64/);
  },
  'atomic sums and extremes': async () => {
    const kernel = cuda.jit((y: Vec<f16>, old: Vec<f32>, x: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      const s = cuda.shared.array(3, f16);
      if (cuda.threadIdx.x < 3) s[cuda.threadIdx.x] = 0;
      cuda.syncThreads();
      cuda.atomic.add(s, 1, x[k]);
      cuda.syncThreads();
      if (cuda.threadIdx.x === 0) cuda.atomic.add(y, 1, s[1]);
      cuda.atomic.sub(y, 2, x[k]);
      cuda.atomic.max(y, 4, x[k]);
      cuda.atomic.min(y, 5, x[k]);
      if (k === 0) {
        old[0] = cuda.atomic.add(y, 6, 0.1, { order: 'acq_rel' });
        old[1] = cuda.atomic.add(y, 6, 2048);
        old[2] = cuda.atomic.sub(y, 6, 1);
        old[3] = s[0] + s[2];
      }
    });
    for (const [format, dtype] of TYPES) {
      // Sums of few whole numbers do not depend on their order.
      const x = Array.from({ length: 96 }, (_, k) => (k % 5) - 2);
      const y = cuda.toDevice(ndarray([7, 0, 0, 7, 0, 0, 0.3, 7], { dtype }));
      const old = cuda.deviceArray(4, f32);
      await launch(kernel, { grid: 3, block: 32 }, y, old, cuda.toDevice(ndarray(x, { dtype })));
      const total = x.reduce((a, b) => a + b, 0);
      const round = (v: number): number => nearest(format, v);
      const first = round(round(0.3) + round(0.1));
      const second = round(first + 2048);
      sameElements(await read(y), [7, total, -total, 7, 2, -2, round(second - 1), 7], format.name);
      sameElements(await read(old), [round(0.3), first, second, 0], `old ${format.name}`);
    }
  },
  'vectors, lane by lane': async () => {
    const kernel = cuda.jit((a: Vec<f16x2>, b: Vec<bf16x4>, c: In<Vec<f16x2>>) => {
      a[0] = a[0] * c[0] + 0.1;
      a[1] = cuda.fma(a[1], c[1], c[0]);
      a[2] = cuda.fp16.hadd(a[2], c[0]);
      b[0] = b[0] * 3 - 1;
    });
    const a = cuda.toDevice(
      ndarray(
        [
          { x: 0.1, y: 3 },
          { x: 5, y: -0.7 },
          { x: 0.3, y: 1000 },
        ],
        { dtype: f16x2 },
      ),
    );
    const b = cuda.toDevice(ndarray([{ x: 0.1, y: 3, z: -5.5, w: 1000 }], { dtype: bf16x4 }));
    const c = cuda.toDevice(
      ndarray(
        [
          { x: 0.7, y: 0.9 },
          { x: 0.11, y: 1.3 },
        ],
        { dtype: f16x2 },
      ),
    );
    await launch(kernel, { grid: 1, block: 1 }, a as never, b as never, c as never);
    const mixed = (x: number, z: number): number => f16(f16(f16(x) * f16(z)) + f16(0.1));
    const got = await read(a);
    same(
      JSON.stringify(got.toArray()),
      JSON.stringify([
        { x: mixed(0.1, 0.7), y: mixed(3, 0.9) },
        { x: fused(F16, 5, f16(0.11), f16(0.7)), y: fused(F16, f16(-0.7), f16(1.3), f16(0.9)) },
        { x: f16(f16(0.3) + f16(0.7)), y: f16(1000 + f16(0.9)) },
      ]),
    );
    const lane = (x: number): number => bf16(bf16(bf16(x) * 3) - 1);
    same(
      JSON.stringify((await read(b)).toArray()),
      JSON.stringify([{ x: lane(0.1), y: lane(3), z: lane(-5.5), w: lane(1000) }]),
    );
  },
  'device functions, exchanges, loops and JavaScript arrays': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f16>>) => {
      const t = cuda.threadIdx.x;
      const square = (v: number): number => v * v;
      const own = x[t];
      const other = cuda.shflXorSync(0xffffffff, own, 1);
      y[t] = square(own) + square(other);
      const list = [own, other, own * other];
      let product = own;
      for (let k = 0; k < 3; k++) product *= list[k];
      y[32 + t] = product;
      let state = own;
      while (state < 2) state = state * 1.1 + 0.01;
      y[64 + t] = state;
    });
    const x = Array.from({ length: 32 }, (_, k) => f16(0.1 + k / 9));
    const y = cuda.deviceArray(96, f32);
    await launch(kernel, { grid: 1, block: 32 }, y, cuda.toDevice(ndarray(x, { dtype: f16 })));
    const expected = new Array<number>(96);
    for (let t = 0; t < 32; t++) {
      const [own, other] = [x[t] as number, x[t ^ 1] as number];
      expected[t] = f16(f16(own * own) + f16(other * other));
      expected[32 + t] = f16(f16(f16(own * own) * other) * f16(own * other));
      let state = own;
      while (state < 2) state = f16(f16(state * f16(1.1)) + f16(0.01));
      expected[64 + t] = state;
    }
    sameElements(await read(y), expected);
  },
  'functions in several steps compute in f32': async () => {
    const kernel = cuda.jit((y: Vec<f32>, x: In<Vec<f16>>) => {
      const k = cuda.grid(1);
      if (k >= x.length) return;
      y[4 * k] = cuda.sinpi(x[k]);
      y[4 * k + 1] = cuda.norm3d(x[k], 1, 2);
      y[4 * k + 2] = cuda.nextafter(x[k], 1e9);
      y[4 * k + 3] = cuda.fast.exp10(x[k]);
    });
    const x = [0.1, 40000, 3.7, -2.3].map((v) => f16(v));
    const y = cuda.deviceArray(16, f32);
    await launch(kernel, { threads: 4 }, y, cuda.toDevice(ndarray(x, { dtype: f16 })));
    const got = await read(y);
    const next = (v: number): number => Math.fround(v + (v < 0 ? -v : v) * 2 ** -24);
    for (const [k, v] of x.entries()) {
      const near = [v === 40000 ? 0 : Math.sin(Math.PI * v), Math.hypot(v, 1, 2), next(v), 10 ** v];
      for (const [n, e] of near.entries()) {
        const a = got[4 * k + n] as number;
        if (a === e || a === Math.fround(e) || Math.abs(a - e) <= Math.abs(e) * 2 ** -17) continue;
        throw new ConformanceFailure(`function ${n} of ${v}: ${a} instead of ${e}`);
      }
    }
  },
  'the types that are shown': async () => {
    const kernel = cuda.jit((y: Vec<f16>, x: In<Vec<f16>>, scale: number) => {
      const k = cuda.grid(1);
      const v = x[k] * scale;
      let total = 0;
      total += v;
      y[k] = total;
    });
    await kernel.compileAsync(cuda.deviceArray(1, f16), cuda.deviceArray(1, f16), 1);
    const shown = kernel.inspect({ target: 'types' });
    // The number, the index, the product, the sum: names are the bundler's where it shortens them.
    const types = [...shown.matchAll(/^\w+ +(\w+)/gm)].map(([, type]) => type);
    same(types.slice(0, 4).join(' '), 'f16 i32 f16 f32', shown);
  },
});
