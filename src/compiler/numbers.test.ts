/**
 * Numbers in kernels: how types are inferred, and what arithmetic on each of them gives.
 */
import { describe, expect, it } from 'vitest';
import { f32, f64, i32, i64, u8, u32, u64 } from '../dtype/index.ts';
import { compileFor, run } from './testing.ts';

const f = (...x: number[]): Float32Array => Float32Array.from(x);
const i = (...x: number[]): Int32Array => Int32Array.from(x);

type V = { [k: number]: number; length: number };

describe('types', () => {
  it('an accumulator takes the type of what is added to it', () => {
    const c = compileFor(
      (x: V, y: V) => {
        let acc = 0;
        for (let k = 0; k < x.length; k++) acc += x[k] * 2.5;
        y[0] = acc;
      },
      [f(1), f(1)],
    );
    expect(c.types().find((t) => t.name === 'acc')?.type).toBe('f32');
    expect(c.types().find((t) => t.name === 'k')?.type).toBe('i32 (index)');
  });

  it('a number argument is typed by its uses', () => {
    const c = compileFor(
      (x: V, n: number, a: number, b: number, m: number) => {
        for (let k = 0; k < n; k++) x[k] = a * x[k] + (m & 3);
        console.log(b);
      },
      [f(1), 1, 1, 1, 1],
    );
    const types = Object.fromEntries(c.types().map((t) => [t.name, t.type]));
    expect(types).toMatchObject({ n: 'i32', a: 'f32', b: 'f64', m: 'i32' });
    expect(c.defaulted).toEqual([]);
  });

  it('integers divide as JavaScript says, and round back as integer division', () => {
    const body = (x: V, y: V): void => {
      for (let k = 0; k + 1 < x.length; k += 2) {
        y[3 * k] = (x[k] / x[k + 1]) | 0;
        y[3 * k + 1] = Math.floor(x[k] / x[k + 1]);
        y[3 * k + 2] = Math.trunc(x[k] / x[k + 1]);
        y[3 * k + 3] = x[k] % x[k + 1];
        y[3 * k + 4] = Math.ceil(x[k] / x[k + 1]);
        y[3 * k + 5] = Math.round((x[k] / x[k + 1]) * 2);
      }
    };
    const x = i(7, 2, -7, 2, 7, -2, -7, -2, 2147483647, 3, -2147483648, 7);
    const y = new Int32Array(36);
    const want = new Int32Array(36);
    run(body, [x, y]);
    body(x, want);
    expect(y).toEqual(want);
  });

  it('floats become integers by casts, which saturate, and by bit operations, which wrap', () => {
    const x = f(1.9, -1.9, 3e9, -3e9, Number.NaN, 300);
    const y = new Int32Array(6);
    const b = new Uint8Array(6);
    const w = new Uint32Array(6);
    run(
      (a: V, r: V, s: V, t: V) => {
        for (let k = 0; k < a.length; k++) {
          r[k] = a[k] | 0;
          s[k] = u8(a[k]);
          t[k] = a[k] >>> 0;
        }
      },
      [x, y, b, w],
    );
    expect(y).toEqual(i(1, -1, 3e9 | 0, -3e9 | 0, 0, 300));
    expect(b).toEqual(Uint8Array.of(1, 0, 255, 0, 0, 255));
    expect(w).toEqual(Uint32Array.of(1, -1, 3e9, -3e9, 0, 300));
  });

  it('floats of unsigned integers and sums of bounded ones wrap where they may not fit', () => {
    const y = new Int32Array(3);
    run(
      (w: V, r: V) => {
        r[0] = f64(w[0]) | 0;
        r[1] = (Math.min(Math.max(f64(w[0]), 0), 2147483647) * 2) | 0;
        r[2] = (Math.min(f64(w[0]), 2147483647) + 1) | 0;
      },
      [Uint32Array.of(3e9), y],
    );
    expect(y).toEqual(i(3e9 | 0, (2147483647 * 2) | 0, -2147483648));
  });

  it('32-bit integers wrap; shifts follow the sign', () => {
    const body = (x: V, y: V): void => {
      y[0] = Math.imul(x[0], 31);
      y[1] = (x[0] << 5) ^ (x[0] >>> 7);
      y[2] = x[1] >> 3;
      y[3] = ~x[0] & 0xff00ff;
      y[4] = x[1] >>> 28;
    };
    const x = i(0x7fffff12, -77);
    const y = new Int32Array(5);
    const want = new Int32Array(5);
    run(body, [x, y]);
    body(x, want);
    expect(y).toEqual(want);
    const u = Uint32Array.of(0xfffffff0, 7);
    run(
      (a: V) => {
        a[0] = a[0] + 0x20;
        a[1] = (a[1] * 0x9e3779b9) >>> 0;
      },
      [u],
    );
    expect(u).toEqual(Uint32Array.of(0x10, Math.imul(7, 0x9e3779b9) >>> 0));
  });

  it('64-bit integers', () => {
    const x = BigInt64Array.of(9007199254740993n, -5n);
    const y = new BigInt64Array(3);
    run(
      (a: { [k: number]: bigint }, b: { [k: number]: bigint }) => {
        b[0] = a[0] * 3n + a[1];
        b[1] = a[1] / 2n;
        b[2] = (a[0] << 3n) ^ (a[1] >> 1n);
      },
      [x, y],
    );
    expect(y).toEqual(BigInt64Array.of(27021597764222974n, -2n, (9007199254740993n << 3n) ^ -3n));
    const h = BigUint64Array.of(0xcbf29ce484222325n);
    run(
      (a: { [k: number]: bigint }) => {
        a[0] = (a[0] ^ u64(255)) * 0x100000001b3n;
      },
      [h],
    );
    expect(h[0]).toBe(BigInt.asUintN(64, (0xcbf29ce484222325n ^ 255n) * 0x100000001b3n));
    const z = new Float64Array(1);
    run(
      (a: { [k: number]: bigint }, b: V) => {
        b[0] = Number(a[0] + i64(1));
      },
      [x, z],
    );
    expect(z[0]).toBe(9007199254740994);
  });

  it('small storage types widen and narrow', () => {
    const b = Uint8Array.of(200, 100, 7);
    run(
      (a: V) => {
        a[0] = a[0] + a[1];
        a[1] = Math.round(a[1] * 0.126);
        a[2] = (a[2] * 300) & 255;
      },
      [b],
    );
    expect(b).toEqual(Uint8Array.of(44, 13, (7 * 300) & 255));
  });

  it('casts and rounding intermediate results', () => {
    const d = Float64Array.of(0.1, 0.2, 0);
    run(
      (a: V) => {
        a[2] = f32(a[0]) + f32(a[1]);
        a[0] = Math.fround(a[0]);
        a[1] = f64(i32(a[1] * 12));
      },
      [d],
    );
    expect(d).toEqual(Float64Array.of(Math.fround(0.1), 2, Math.fround(Math.fround(0.1) + Math.fround(0.2))));
  });

  it('sums of whole numbers are whole: both neighbours of a position', () => {
    const y = f(0, 10, 20, 30);
    const out = f(0, 0);
    const taken = new Int32Array(1);
    run(
      (x: V, o: V, n: V) => {
        const at = x[1] * 0.15;
        const low = Math.floor(at);
        o[0] = x[low] * (low + 1 - at) + x[low + 1] * (at - low);
        o[1] = x[Math.floor(at) * 2 - 1];
        n[0] = Math.ceil(at) + 3;
      },
      [y, out, taken],
    );
    expect(out[0]).toBeCloseTo(15, 4);
    expect(out[1]).toBe(10);
    expect(taken[0]).toBe(5);
  });

  it('floor of a float is an index and can be stored to integers', () => {
    const h = new Int32Array(4);
    run(
      (x: V, bins: V) => {
        for (let k = 0; k < x.length; k++) {
          const b = Math.floor(x[k] * 4);
          bins[b] = bins[b] + 1;
        }
      },
      [f(0.1, 0.3, 0.99, 0.6), h],
    );
    expect(h).toEqual(i(1, 1, 1, 1));
  });
});

describe('u32 data', () => {
  it('compares and divides without a sign', () => {
    const x = Uint32Array.of(0xfffffff0, 3);
    const y = Uint32Array.of(0, 0, 0);
    run(
      (a: V, b: V) => {
        b[0] = a[0] > a[1] ? 1 : 0;
        b[1] = Math.floor(a[0] / a[1]);
        b[2] = a[0] % u32(7);
      },
      [x, y],
    );
    expect(y).toEqual(Uint32Array.of(1, Math.floor(0xfffffff0 / 3), 0xfffffff0 % 7));
  });
});
