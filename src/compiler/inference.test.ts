/**
 * Inference, case by case: which type a variable or an argument gets from how it is used.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { f32, i32 } from '../dtype/index.ts';
import { compileFor, run } from './testing.ts';

type V = { [k: number]: number; length: number };

const f32s = new Float32Array(4);
const f64s = new Float64Array(4);
const i32s = new Int32Array(4);
const u32s = new Uint32Array(4);
const u8s = new Uint8Array(4);
const longs = new BigInt64Array(4);

function types(fn: (...args: never[]) => unknown, ...args: Parameters<typeof compileFor>[1]): Record<string, string> {
  const c = compileFor(fn, args);
  return Object.fromEntries(c.types().map((t) => [t.name, t.type.replace(/ \(index\)/, '')]));
}

describe('variables', () => {
  it('a running maximum starts with a literal and is f32 for f32 data', () => {
    expect(
      types(
        (x: V, y: V) => {
          let best = -1;
          for (let k = 0; k < x.length; k++) if (x[k] > best) best = x[k];
          y[0] = best;
        },
        f32s,
        f32s,
      ),
    ).toMatchObject({ best: 'f32' });
  });

  it('binary search is all integers', () => {
    const t = types(
      (x: V, y: V, n: number, key: number) => {
        let lo = 0;
        let hi = n - 1;
        while (lo < hi) {
          const mid = (lo + hi) >> 1;
          if (x[mid] < key) lo = mid + 1;
          else hi = mid;
        }
        y[0] = lo;
      },
      f32s,
      i32s,
      1,
      1,
    );
    expect(t).toMatchObject({ lo: 'i32', hi: 'i32', mid: 'i32', n: 'i32', key: 'f32' });
  });

  it('a generator of random numbers wraps in 32 bits, signed or not', () => {
    const signed = (seed: number): number => {
      let s = seed;
      for (let k = 0; k < 5; k++) s = (s * 1664525 + 1013904223) | 0;
      return s;
    };
    const unsigned = (seed: number): number => {
      let s = seed >>> 0;
      for (let k = 0; k < 5; k++) s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
      return s;
    };
    const y = new Int32Array(1);
    const u = new Uint32Array(1);
    expect(
      types(
        (o: V, seed: number) => {
          o[0] = signed(seed);
        },
        i32s,
        1,
      ),
    ).toMatchObject({ s: 'i32', seed: 'i32' });
    run(
      (o: V, seed: number) => {
        o[0] = signed(seed);
      },
      [y, 12345],
    );
    run(
      (o: V, seed: number) => {
        o[0] = unsigned(seed);
      },
      [u, 12345],
    );
    let want = 12345;
    for (let k = 0; k < 5; k++) want = (Math.imul(want, 1664525) + 1013904223) | 0;
    expect(y[0]).toBe(want);
    expect(u[0]).toBe(want >>> 0);
  });

  it('a quotient of integers takes the float it meets, else the default', () => {
    expect(
      types(
        (y: V, n: number) => {
          const inv = 1 / n;
          for (let k = 0; k < n; k++) y[k] = k * inv;
        },
        f32s,
        1,
      ),
    ).toMatchObject({ inv: 'f32', n: 'i32' });
    expect(
      types(
        (y: V, n: number) => {
          for (let k = 0; k < n; k++) {
            const q = k / n;
            console.log(q);
            y[k] = 0;
          }
        },
        f32s,
        1,
      ),
    ).toMatchObject({ q: 'f64' });
  });

  it('a weak float beside small integers is f32, beside i32 the default', () => {
    expect(
      types(
        (y: V, a: V) => {
          const v = a[0] * 0.5;
          y[0] = v;
        },
        f32s,
        u8s,
      ),
    ).toMatchObject({ v: 'f32' });
    expect(
      types(
        (y: V, a: V) => {
          const v = a[0] * 0.5;
          y[0] = v;
        },
        f64s,
        i32s,
      ),
    ).toMatchObject({ v: 'f64' });
  });

  it('a number argument that meets small integers is the i32 that they widen to', () => {
    const scale = (y: V, a: V, n: number) => {
      y[0] = a[0] * n;
    };
    expect(types(scale, f32s, u8s, 2)).toMatchObject({ n: 'i32' });
    const fractions = (y: V, a: V, n: number) => {
      y[0] = a[0] * f32(n);
    };
    expect(types(fractions, f32s, u8s, 2)).toMatchObject({ n: 'f64' });
  });

  it('a number argument is an integer where its quotient with an index is rounded', () => {
    const typeOfN = (fn: (y: V, n: number) => void): string | undefined => types(fn, f32s, 3)['n'];
    const whole = [
      (y: V, n: number): void => {
        y[0] = Math.floor(cuda.grid(1) / n) * 0.5;
      },
      (y: V, n: number): void => {
        y[0] = Math.ceil(n / (cuda.threadIdx.x + 1)) * 0.5;
      },
      (y: V, n: number): void => {
        y[0] = ((y.length / n) | 0) * 0.5;
      },
      (y: V, n: number): void => {
        let rows = 0;
        for (let k = 0; k < 4; k++) rows += Math.floor(k / n);
        y[0] = rows;
      },
      // Also where it is a factor besides: 3 is 3 as an f32.
      (y: V, n: number): void => {
        y[0] = Math.floor(cuda.grid(1) / n) + y[1] * n;
      },
    ];
    expect(whole.map(typeOfN)).toEqual(whole.map(() => 'i32'));
    const others = [
      (y: V, n: number): void => {
        y[0] = cuda.grid(1) / n;
      },
      (y: V, n: number): void => {
        y[0] = Math.floor(y[1] / n);
      },
      (y: V, n: number): void => {
        y[0] = Math.floor(cuda.grid(1) * n);
      },
    ];
    expect(others.map(typeOfN)).toEqual(['f32', 'f32', 'f32']);
  });

  it('the type is the join over all assignments', () => {
    expect(
      types(
        (y: V, a: V, b: V) => {
          let v = 0;
          if (a[0] > 1) v = a[0];
          else v = b[0];
          y[0] = v;
        },
        f64s,
        f32s,
        f64s,
      ),
    ).toMatchObject({ v: 'f64' });
    expect(
      types(
        (y: V, a: V, b: V) => {
          let v = a[0];
          if (b[0] > 1) v = b[0];
          y[0] = v;
        },
        f64s,
        i32s,
        f32s,
      ),
    ).toMatchObject({ v: 'f32' });
  });

  it('bigints', () => {
    expect(
      types(
        (y: { [k: number]: bigint }, a: { [k: number]: bigint }) => {
          let sum = 0n;
          for (let k = 0n; k < 3n; k++) sum += a[0] * k;
          y[0] = sum;
        },
        longs,
        longs,
      ),
    ).toMatchObject({ sum: 'i64', k: 'i64' });
  });
});

describe('arguments', () => {
  it('a bound, a shift and a mask are integers; a factor takes the type of the data', () => {
    const t = types(
      (y: V, n: number, shift: number, mask: number, a: number, b: number) => {
        const i = cuda.grid(1);
        if (i < n) y[i] = ((i >> shift) & mask) * a + b;
      },
      f32s,
      1,
      1,
      1,
      1,
      1,
    );
    expect(t).toMatchObject({ n: 'i32', shift: 'i32', mask: 'i32', a: 'f32', b: 'f32' });
  });

  it('a stride inside an index is an integer, through a variable too', () => {
    expect(
      types(
        (y: V, pitch: number) => {
          const [x, r] = cuda.grid(2);
          const at = r * pitch + x;
          y[at] = 1;
        },
        f32s,
        1,
      ),
    ).toMatchObject({ pitch: 'i32', at: 'i32' });
  });

  it('takes the widest type that it meets', () => {
    expect(
      types(
        (y: V, z: V, a: number) => {
          y[0] *= a;
          z[0] *= a;
        },
        f32s,
        f64s,
        1,
      ),
    ).toMatchObject({ a: 'f64' });
    expect(
      types(
        (y: V, a: number) => {
          y[0] = a;
        },
        i32s,
        1,
      ),
    ).toMatchObject({ a: 'i32' });
    expect(
      types(
        (y: V, a: number) => {
          y[0] = y[1] ^ a;
        },
        u32s,
        1,
      ),
    ).toMatchObject({ a: 'i32' });
  });

  it('is linked with others by arithmetic', () => {
    expect(
      types(
        (y: V, left: number, step: number) => {
          const i = cuda.grid(1);
          const x = left + i * step;
          y[i] = Math.sin(x);
        },
        f32s,
        1,
        1,
      ),
    ).toMatchObject({ left: 'f32', step: 'f32', x: 'f32' });
  });

  describe('variables that grow', () => {
    const growing = [
      (y: V, n: number) => {
        let s = 0;
        for (let j = 0; j < n; j++) s += j;
        y[0] = s;
      },
      (y: V, n: number) => {
        let s = 1;
        for (let j = 1; j <= n; ++j) s *= j;
        const t = s;
        y[0] = t;
      },
      (y: V, n: number) => {
        let s = 0;
        let b = 1;
        for (let j = 0; j < n; j++) [s, b] = [b, s + b];
        y[0] = s;
      },
      (y: V, n: number) => {
        let s = 0;
        for (let i = cuda.grid(1); i < n; i += 3) s -= i > 4 ? i : -i;
        y[0] = s;
      },
      (y: V, n: number) => {
        let s = n + 1;
        for (let j = 0; j < n; j++) s = (s * 16807) % 2147483647;
        y[0] = s;
      },
    ];
    it.each(growing)('take the type of what they meet, also when they grow by counters and indices: %s', (body) => {
      expect(types(body, new Float64Array(1), 50)).toMatchObject({ s: 'f64' });
      expect(types(body, new Int32Array(1), 50)).toMatchObject({ s: 'i32' });
      expect(types(body, new Uint32Array(1), 50)).toMatchObject({ s: 'u32' });
    });

    it('are what JavaScript computes, beyond 32 bits', () => {
      for (const body of growing.slice(0, 3)) {
        const [y, want] = [new Float64Array(1), new Float64Array(1)];
        run(body, [y, body === growing[0] ? 100_000 : 50]);
        body(want, body === growing[0] ? 100_000 : 50);
        expect(y).toEqual(want);
        expect(y[0]).toBeGreaterThan(2 ** 32);
      }
    });

    it('are what JavaScript computes where they are reduced again', () => {
      const lehmer = growing.at(-1) as (typeof growing)[number];
      const [y, want] = [new Float64Array(1), new Float64Array(1)];
      run(lehmer, [y, 50]);
      lehmer(want, 50);
      expect(y).toEqual(want);
    });

    it('are f64 where an f64 is a quotient of them, but integers where that is rounded', () => {
      const body = (y: V, n: number) => {
        let s = 0;
        let t = 0;
        for (let j = 0; j < n; j++) {
          s += j;
          t += j;
        }
        const mean = s / n;
        y[0] = mean + 1;
        y[1] = Math.floor(t / n) + ((t / 2) | 0);
      };
      expect(types(body, new Float64Array(2), 5)).toMatchObject({ s: 'f64', t: 'i32', n: 'i32' });
      expect(types(body, new Float32Array(2), 5)).toMatchObject({ s: 'i32', t: 'i32' });
      const [y, want] = [new Float64Array(2), new Float64Array(2)];
      run(body, [y, 100_000]);
      body(want, 100_000);
      expect(y[0]).toBe(want[0]);
    });

    it('are integers of 32 bits when they are used as such, or meet nothing wider', () => {
      const used = types(
        (y: V, n: number) => {
          let s = 0;
          for (let j = 0; j < n; j++) s += j;
          y[s] = s;
        },
        new Float64Array(9),
        3,
      );
      expect(used.s).toBe('i32');
      const alone = types(
        (y: V, n: number) => {
          let s = 0;
          for (let j = 0; j < n; j++) s += j;
          y[0] = s % 2 === 0 ? 1 : 0.5;
        },
        new Float64Array(1),
        3,
      );
      expect(alone.s).toBe('i32');
    });
  });

  it('takes a cast around an argument for the decision that it asks for', () => {
    const c = compileFor(
      (y: V, a: number, b: number, _unused: number) => {
        y[0] = f32(a) + i32(b);
      },
      [f32s, 1, 1, 1],
    );
    expect(c.defaulted).toEqual([]);
  });

  it('falls to the default float, and says so where something is computed of it', () => {
    const c = compileFor(
      (y: V, a: number, b: number) => {
        const half = b / 2;
        if (a > 1 && half > Math.sqrt(a)) y[0] = 1;
      },
      [f32s, 1, 1],
    );
    expect(c.defaulted).toEqual(['a', 'b']);
    const compared = compileFor(
      (y: V, a: number, b: number, mode: number, z: number) => {
        const isMore = (v: number, limit: number): boolean => Math.abs(v) > limit && v !== 0;
        const shapes = [(v: number) => v, Math.sqrt];
        if (isMore(a, b)) y[0] = shapes[z]?.(y[1] as number) ?? 0;
        switch (mode) {
          case 1:
            y[2] = 1;
            break;
          default:
            console.log(a);
        }
      },
      [f32s, 1, 1, 1, 1],
    );
    expect(compared.defaulted).toEqual([]);
    const d = compileFor(
      (y: V, a: number) => {
        console.log(a);
        y[0] = 1;
      },
      [f32s, 1],
      { defaultFloat: 'f32' },
    );
    expect(d.types().find((t) => t.name === 'a')?.type).toBe('f32');
  });

  it('through device functions', () => {
    const lerp = (a: number, b: number, t: number): number => a + (b - a) * t;
    expect(
      types(
        (y: V, t: number) => {
          y[0] = lerp(y[1], 2, t);
        },
        f32s,
        1,
      ),
    ).toMatchObject({ t: 'f32' });
  });
});

describe('64-bit indices', () => {
  it('index arithmetic and counters are 64 bits wide, data stays as it is', () => {
    const c = compileFor(
      (x: V, n: number) => {
        for (let i = cuda.grid(1); i < n; i += cuda.gridSize(1)) {
          const lane = cuda.threadIdx.x;
          x[i] = i * 0.5 + lane;
        }
      },
      [f32s, 1],
      { indexBits: 64 },
    );
    const t = Object.fromEntries(c.types().map((x) => [x.name, x.type]));
    expect(t).toMatchObject({ i: 'i64 (index)', n: 'i64', lane: 'i32' });
    const y = new Float32Array(5);
    run(
      (x: V, n: number) => {
        for (let i = cuda.grid(1); i < n; i += cuda.gridSize(1)) x[i] = i * 0.5;
      },
      [y, 5],
      { block: 2 },
      { indexBits: 64 },
    );
    expect([...y]).toEqual([0, 0.5, 1, 1.5, 2]);
  });
});
