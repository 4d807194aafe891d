/**
 * The kernel language, feature by feature: what a kernel computes is compared with the same JavaScript run on the host.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { f32, i32 } from '../dtype/index.ts';
import { run } from './testing.ts';

const f = (...x: number[]): Float32Array => Float32Array.from(x);
const i = (...x: number[]): Int32Array => Int32Array.from(x);

type V = { [k: number]: number; length: number };
type M = { [k: number]: V; shape: number[]; length: number };

describe('control flow', () => {
  it('loops, branches, break and continue with labels', () => {
    const body = (y: V): void => {
      let s = 0;
      outer: for (let a = 0; a < 10; a++) {
        for (let b = 0; b < 10; b++) {
          if (a * b > 20) break outer;
          if (b > a) continue outer;
          s += b;
        }
      }
      let n = 0;
      do {
        n++;
        if (n === 3) continue;
        s += n;
      } while (n < 5);
      while (true) {
        if (s > 1000) break;
        s *= 2;
      }
      y[0] = s;
    };
    const y = i(0);
    run(body, [y]);
    const want = i(0);
    body(want);
    expect(y).toEqual(want);
  });

  it('switch, with fall through and default in the middle', () => {
    const body = (x: V, y: V): void => {
      for (let k = 0; k < x.length; k++) {
        let r = 0;
        switch (x[k]) {
          case 0:
            r += 1;
            break;
          case 1:
            r += 10;
          default:
            r += 100;
          case 2:
            r += 1000;
            break;
          case 5:
          case 6: {
            r = 7;
            break;
          }
          case 7:
            r = 8;
        }
        switch (k) {
          case 3:
            r += 0.5 > 1 ? 1 : 20000;
        }
        y[k] = r;
      }
    };
    const x = i(0, 1, 2, 3, 4, 5, 6, 7);
    const y = new Int32Array(8);
    run(body, [x, y]);
    const want = new Int32Array(8);
    body(x, want);
    expect(y).toEqual(want);
  });

  it('early return stops the thread alone', () => {
    const y = i(0, 0, 0, 0);
    run(
      (a: V) => {
        const k = cuda.grid(1);
        if (k % 2 === 0) return;
        a[k] = k;
      },
      [y],
      { block: 4 },
    );
    expect(y).toEqual(i(0, 1, 0, 3));
  });

  it('ternaries with side effects, && and || as statements, comma', () => {
    const body = (y: V): void => {
      let a = 0;
      let b = 0;
      y[0] > 0 ? ((a = 1), b++) : b--;
      y[1] > 0 && (b += 5);
      y[2] > 0 || (a += 7);
      const c = a > 3 && y[0] > 5 ? b++ : --b;
      y[0] = a;
      y[1] = b;
      y[2] = c;
    };
    for (const start of [
      [1, 0, 0],
      [0, 1, 1],
      [9, 1, 0],
    ]) {
      const y = i(...start);
      const want = i(...start);
      run(body, [y]);
      body(want);
      expect(y).toEqual(want);
    }
  });

  it('evaluates operands in order', () => {
    const body = (y: V): void => {
      let k = 1;
      y[0] = k + (k = 5) + k;
      y[k - 4] = k++ * k;
      const add = (d: number): number => {
        y[2] += d;
        return y[2];
      };
      y[3] = y[2] + add(3) + add(4);
      y[k++ - 2] += k;
    };
    const y = i(0, 0, 1, 0, 9);
    const want = i(0, 0, 1, 0, 9);
    run(body, [y]);
    body(want);
    expect(y).toEqual(want);
  });
});

describe('variables', () => {
  it('a name may be used again with another type', () => {
    const y = f(1.5, 2.5);
    const k = i(3, 4);
    run(
      (a: V, b: V) => {
        var t = a[0];
        a[0] = t * 2;
        t = b[1];
        b[0] = t >> 1;
      },
      [y, k],
    );
    expect(y[0]).toBe(3);
    expect(k[0]).toBe(2);
  });

  it('destructuring, tuples, records, swap', () => {
    const body = (y: V): void => {
      let [a, b] = [1, 2];
      [a, b] = [b, a];
      const p = { x: a, y: { z: b * 10 } };
      const {
        x,
        y: { z },
      } = p;
      const [first, ...rest] = [5, 6, 7];
      y[0] = a;
      y[1] = b;
      y[2] = x + z;
      y[3] = first + rest[1] + rest.length;
      for (const v of [100, 200]) y[4] += v;
      for (const v of y as unknown as Iterable<number>) {
        if (v > 250) break;
        y[5] += v;
      }
    };
    const y = new Int32Array(6);
    const want = new Int32Array(6);
    run(body, [y]);
    body(want);
    expect(y).toEqual(want);
  });

  it('objects spread, and the rest of them', () => {
    const body = (y: V): void => {
      const p = { x: 1, y: 2, z: 3 };
      const { x, ...others } = { ...p, z: y[0], w: 5 };
      y[1] = x + others.y * 10 + others.z * 100 + others.w * 1000;
    };
    const y = i(7, 0);
    const want = i(7, 0);
    run(body, [y]);
    body(want);
    expect(y).toEqual(want);
  });

  it('closures see and change the variables around them', () => {
    const body = (y: V): void => {
      let n = 0;
      const bump = (by: number): void => {
        n += by;
      };
      function twice(g: (k: number) => void): void {
        g(1);
        g(2);
      }
      twice(bump);
      bump(10);
      y[0] = n;
    };
    const y = i(0);
    run(body, [y]);
    expect(y[0]).toBe(13);
  });

  it('device functions with several returns, tuples back, views in', () => {
    const clamp = (v: number, lo: number, hi: number): number => {
      if (v < lo) return lo;
      if (v > hi) return hi;
      return v;
    };
    const minmax = (a: V, n: number): readonly [number, number] => {
      let lo = a[0],
        hi = a[0];
      for (let k = 1; k < n; k++) {
        lo = Math.min(lo, a[k]);
        hi = Math.max(hi, a[k]);
      }
      return [lo, hi];
    };
    const y = f(3, -8, 12, 5);
    run(
      (a: V) => {
        const [lo, hi] = minmax(a, a.length);
        a[0] = lo;
        a[1] = hi;
        a[2] = clamp(99, lo, hi);
        a[3] = clamp(-99.5, lo, hi);
      },
      [y],
    );
    expect(y).toEqual(f(-8, 12, 12, -8));
  });
});

describe('arrays', () => {
  it('2-D and 3-D elements, rows as views, shape and strides', () => {
    const a = { data: f(...Array.from({ length: 24 }, (_, k) => k)), shape: [2, 3, 4] };
    const y = new Float32Array(6);
    run(
      (c: { [k: number]: M; shape: number[]; strides: number[]; size: number; ndim: number }, out: V) => {
        const plane = c[1];
        const row = plane[2];
        out[0] = row[3];
        out[1] = c[1][0][2];
        out[2] = row.length;
        out[3] = c.shape[1] * 100 + c.ndim;
        out[4] = c.strides[0];
        out[5] = c.size;
      },
      [a, y],
    );
    expect(y).toEqual(f(23, 14, 4, 303, 48, 24));
  });

  it('slices follow NumPy', () => {
    const x = f(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    const y = new Float32Array(12);
    run(
      (a: V & { slice(...s: unknown[]): V }, out: V, n: number) => {
        const r = a.slice('::-1');
        const s = a.slice([2, null, 3]);
        const t = a.slice([-3, n]);
        const e = a.slice([7, 3]);
        out[0] = r[0];
        out[1] = r[9];
        out[2] = s[0];
        out[3] = s.length;
        out[4] = s[2];
        out[5] = t[0];
        out[6] = t.length;
        out[7] = e.length;
        const back = (r as typeof a).slice('1:8:2');
        out[8] = back[0];
        out[9] = back[3];
        out[10] = back.length;
        out[11] = r.length;
      },
      [x, y, 9],
    );
    expect(y).toEqual(f(9, 0, 2, 3, 8, 7, 2, 0, 8, 2, 4, 10));
  });

  it('captured host arrays are constant memory, captured numbers constants', () => {
    const weights = f(1, 2, 3);
    const table = [
      [1, 2],
      [3, 4],
    ] as const;
    const scale = 10;
    const y = f(0, 0, 0);
    run(
      (out: V) => {
        const k = cuda.threadIdx.x;
        out[k] = weights[k] * scale + table[1][0];
      },
      [y],
      { block: 3 },
    );
    expect(y).toEqual(f(13, 23, 33));
  });

  it('shared memory, barriers, dynamic shared memory', () => {
    const y = f(1, 2, 3, 4, 5, 6, 7, 8);
    run(
      (a: V) => {
        const t = cuda.threadIdx.x;
        const s = cuda.shared.array(0, f32) as unknown as V;
        const k = cuda.grid(1);
        s[t] = a[k];
        cuda.syncThreads();
        for (let d = cuda.blockDim.x >> 1; d > 0; d >>= 1) {
          if (t < d) s[t] += s[t + d];
          cuda.syncThreads();
        }
        if (t === 0) a[cuda.blockIdx.x] = s[0];
      },
      [y],
      { grid: 2, block: 4, sharedBytes: 16 },
    );
    expect([y[0], y[1]]).toEqual([10, 26]);
  });

  it('local arrays and atomics', () => {
    const h = new Int32Array(4);
    const old = new Int32Array(8);
    run(
      (bins: V, out: V) => {
        const k = cuda.grid(1);
        const mine = cuda.local.array(2, i32) as unknown as V;
        mine[0] = k % 4;
        mine[1] = 1;
        out[k] = cuda.atomic.add(bins as never, mine[0], mine[1]) as number;
      },
      [h, old],
      { block: 8 },
    );
    expect(h).toEqual(i(2, 2, 2, 2));
    expect([...old].sort()).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
  });

  it('a view chosen by the loop', () => {
    const a = { data: f(1, 2, 3, 4), shape: [2, 2] };
    const y = f(0);
    run(
      (m: M, out: V) => {
        let row = m[0];
        let s = 0;
        for (let k = 0; k < 2; k++) {
          s += row[1];
          row = m[1];
        }
        out[0] = s;
      },
      [a, y],
    );
    expect(y[0]).toBe(6);
  });
});

describe('builtins', () => {
  it('rounding, min and max, sign, NaN', () => {
    const body = (x: V, y: V): void => {
      for (let k = 0; k < x.length; k++) {
        y[8 * k] = Math.round(x[k]);
        y[8 * k + 1] = Math.min(x[k], -x[k], 1);
        y[8 * k + 2] = Math.max(x[k], 0.5);
        y[8 * k + 3] = Math.sign(x[k]);
        y[8 * k + 4] = Number.isNaN(x[k]) ? 1 : 0;
        y[8 * k + 5] = Math.abs(x[k]);
        y[8 * k + 6] = Math.ceil(x[k]);
        y[8 * k + 7] = x[k] % 0.7;
      }
    };
    const x = Float64Array.of(
      0.5,
      -0.5,
      2.5,
      -2.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      -0,
      1e300,
      0.49999999999999994,
    );
    const y = new Float64Array(x.length * 8);
    const want = new Float64Array(x.length * 8);
    run(body, [x, y]);
    body(x, want);
    expect(y).toEqual(want);
  });

  it('Math functions of integers are fractions', () => {
    const y = f(0, 0);
    run(
      (a: V) => {
        const k = 9;
        let n = 0;
        n++;
        a[0] = Math.sqrt(k) / 2;
        a[1] = Math.hypot(3, n + 3);
      },
      [y],
    );
    expect(y).toEqual(f(1.5, 5));
  });

  it('console.log, assert and throw', () => {
    const y = i(1, 2);
    const r = run(
      (a: V) => {
        const k = cuda.grid(1);
        console.log('k', k, a[k] * 0.5);
        console.assert(k < 1, 'k is', 'big');
        a[k] = 7;
      },
      [y],
      { block: 2 },
    );
    expect(r.prints).toEqual(['k 0 0.5', 'k 1 1']);
    expect(r.fault).toMatch(/assertion failed: k is big/);
  });

  it('bit counting', () => {
    const y = new Int32Array(5);
    run(
      (a: V, x: V) => {
        a[0] = cuda.popc(x[0]);
        a[1] = cuda.clz(x[0]);
        a[2] = cuda.ffs(x[0]);
        a[3] = Math.clz32(x[0]);
        a[4] = cuda.brev(x[1]) >>> 24;
      },
      [y, i(0x00f0, 1)],
    );
    expect(y).toEqual(i(4, 24, 5, 24, 128));
  });
});
