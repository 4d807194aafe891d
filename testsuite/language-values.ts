/**
 * Chapter: variables, functions and compound values of the kernel language.
 */
import { cuda, type i32, type Mat, ndarray, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { asVec, integers, mixedIntegers, N } from './support.ts';
import { launch, read } from './waiting.ts';

const square = (v: number) => Math.imul(v, v);

const clamp = (v: number, lo: number, hi: number) => {
  if (v < lo) return lo;
  if (v > hi) return hi;
  return v;
};

function scaled(v: number, factor = 3, shift = factor + 1) {
  return v * factor + shift;
}

const minmax = (a: number, b: number) => (a < b ? ([a, b] as const) : ([b, a] as const));

/** `get` is what arrays have, too. */
interface Line {
  readonly inner: { get(v: number): number };
  get(v: number): number;
}
const line = (inner: Line['inner'], by: number): Line => ({ inner, get: (v) => (inner.get(v) + by) | 0 });
const lines = line(line(line({ get: (v: number) => v & 1023 }, 1), 20), 300);

const GAIN = 7;
const LIMITS = { low: -20, high: 20, steps: [1, 10, 100] };
const WEIGHTS = Int32Array.of(3, 1, 4, 1, 5, 9, 2, 6);

/** Runs a body that changes a private copy of 8 elements. */
function changing(body: (a: Vec<i32>, v: number) => void): () => Promise<void> {
  return async () => {
    const x = mixedIntegers();
    const kernel = cuda.jit((y: Vec<i32>, values: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k < values.length) body(y.slice([8 * k, 8 * k + 8]), values[k]);
    });
    const y = cuda.toDevice(new Int32Array(8 * N));
    await launch(kernel, { threads: N, block: 50 }, y, cuda.toDevice(x.subarray(0, N)));
    const expected = new Int32Array(8 * N);
    for (let k = 0; k < N; k++) body(asVec(expected.subarray(8 * k, 8 * k + 8)), x[k]);
    sameElements(await read(y), expected);
  };
}

export const values: readonly ConformanceTest[] = chapter('variables and functions', {
  'nested functions and closures': integers((k, x) => {
    let n = x[k] & 255;
    const bump = (by: number) => {
      n += by;
    };
    function twice(f: (v: number) => void) {
      f(1);
      f(n & 3);
    }
    twice(bump);
    return n;
  }),
  'closures in closures see their own variables': integers((k, x) => {
    const outer = (a: number) => {
      let n = a & 15;
      const inner = (b: number) => {
        const m = n + b;
        n++;
        return m * 2;
      };
      return inner(1) + inner(2) * 100;
    };
    return outer(x[k]) + outer(x[k + 1]);
  }),
  'methods of objects inside each other, of one syntax': integers((k, x) => {
    const outer = { of: (v: number) => lines.inner.get(v) - 1, get: (v: number) => lines.get(v) };
    return outer.get(x[k]) * 31 + outer.of(x[k + 1]);
  }),
  'functions chosen as values': integers((k, x) => {
    const add = (a: number, b: number) => a + b;
    const sub = (a: number, b: number) => a - b;
    const apply = (f: (a: number, b: number) => number, a: number, b: number) => f(a, b);
    const table = { plus: add, minus: sub };
    return apply(add, x[k] & 255, 3) * 1000 + apply(table.minus, x[k] & 255, x[k + 1] & 15);
  }),
  'device functions with several returns': integers((k, x) => clamp(x[k], -10, 10) + square(clamp(x[k], 0, 7))),
  'functions declared after their use': integers((k, x) => {
    return later(x[k] & 7);
    function later(v: number) {
      return v * v + 1;
    }
  }),
  'default parameters': integers((k, x) => scaled(x[k] & 15) + scaled(x[k] & 15, 2) + scaled(1, x[k + 1] & 7, 5)),
  'rest parameters and spread arguments': integers((k, x) => {
    const sum = (...v: number[]) => {
      let s = 0;
      for (const w of v) s = s * 3 + w;
      return s + v.length;
    };
    const pair = [x[k] & 15, x[k + 1] & 15] as const;
    return sum(...pair, 1) + sum();
  }),
  'parameters may be assigned': integers((k, x) => {
    const halve = (v: number) => {
      v >>= 1;
      v += 3;
      return v;
    };
    const a = x[k];
    return halve(a) + a;
  }),
  'functions that return tuples and objects': integers((k, x) => {
    const [lo, hi] = minmax(x[k] & 255, x[k + 1] & 255);
    const polar = (a: number, b: number) => ({ sum: a + b, diff: a - b });
    const { sum, diff } = polar(lo, hi);
    return sum * 1000 + diff + minmax(3, x[k] & 7)[1];
  }),
  'tuples, objects, destructuring, swap': integers((k, x) => {
    let [a, b] = [x[k] & 255, x[k + 1] & 255];
    if (a < b) [a, b] = [b, a];
    const p = { hi: a, rest: { lo: b } };
    const {
      hi,
      rest: { lo },
    } = p;
    const [first, ...others] = [hi, lo, 3];
    return first * 1000 + others[0] + others.length;
  }),
  'computed and shorthand members': integers((k, x) => {
    const width = x[k] & 15;
    const box = { width, height: 2, area: width * 2 };
    return box.area * 100 + box['width'] + box.height;
  }),
  'defaults in destructuring': integers((k, x) => {
    const [a, b = 7] = [x[k] & 15] as number[];
    const { c = 5, d } = { d: x[k + 1] & 15 } as { c?: number; d: number };
    return a * 1000 + b * 100 + c * 10 + d;
  }),
  'for of over a tuple': integers((k, x) => {
    let s = 0;
    for (const v of [1, x[k] & 15, 3]) s = s * 10 + v;
    return s;
  }),
  'for of over an array, left early': async () => {
    const x = mixedIntegers();
    const body = (row: Vec<i32>, most: number) => {
      let s = 0;
      for (const v of row) {
        if (v < 0) continue;
        s += v & 255;
        if (s > most) break;
      }
      return s;
    };
    const kernel = cuda.jit((y: Vec<i32>, values: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k < y.length) y[k] = body(values.slice([k, k + 10]), k * 5);
    });
    const y = cuda.deviceArray(N, 'int32');
    await launch(kernel, { threads: N, block: 33 }, y, cuda.toDevice(x));
    sameElements(
      await read(y),
      Int32Array.from({ length: N }, (_, k) => body(asVec(x.subarray(k, k + 10)), k * 5)),
    );
  },
  'for of over the elements of a captured array': integers((k, x) => {
    let s = 0;
    for (const w of WEIGHTS) s = s * 2 + (x[k] & w);
    return s;
  }),
  'captured numbers, objects and arrays': integers((k, x) => {
    const v = clamp(x[k], LIMITS.low, LIMITS.high);
    return v * GAIN + WEIGHTS[k & 7] * LIMITS.steps[1] + LIMITS.steps.length;
  }),
  'a name with two lives': integers((k, x) => {
    var t = x[k] & 31;
    const half = t * 0.5;
    t = Math.floor(half);
    return t;
  }),
  'a variable that only some threads set': integers((k, x) => {
    let last = -1;
    for (let i = 0; i < 8; i++) {
      if ((x[k] >> i) & 1) last = i;
    }
    return last;
  }),
  shadowing: integers((k, x) => {
    const v = x[k] & 15;
    let s = v;
    {
      const v = 100;
      s += v;
      for (let k = 0; k < 2; k++) {
        const v = k;
        s += v * 1000;
      }
    }
    const f = (v: number) => v * 2;
    return s + f(v) + k;
  }),
  'var is hoisted': integers((k, x) => {
    if (x[k] > 5) {
      var r = 10;
    } else {
      r = 20;
    }
    for (var i = 0; i < (x[k + 1] & 7); i++);
    return r + i;
  }),
  'increments before and after': integers((k, x) => {
    let a = x[k] & 31;
    const b = a++ + ++a;
    const c = a-- - --a;
    return b * 100 + c * 10 + a;
  }),
  'all compound assignments': integers((k, x) => {
    let a = x[k] & 0xffff;
    a += 3;
    a -= 10;
    a *= 5;
    a %= 1000;
    a <<= 3;
    a >>= 1;
    a |= 0x101;
    a &= 0xff7;
    a ^= 0x2a;
    a >>>= 1;
    a **= 2;
    return a;
  }),
  'compound assignment of elements': changing((a, v) => {
    a[0] = v & 255;
    a[1] += 5;
    a[1] *= v & 7;
    a[2] -= a[0];
    a[3] |= v;
    a[3] <<= 2;
    a[4] = a[0]++;
    a[5] = --a[0];
    a[v & 7] ^= 1;
    a[6] = (a[7] = 3) + 1;
  }),
  'an index with a side effect happens once': changing((a, v) => {
    let i = v & 3;
    a[i++] += 10;
    a[i++]++;
    a[i] = i;
  }),
  'logical assignment': integers((k, x) => {
    let a = x[k] & 3;
    let b = x[k + 1] & 1;
    a ||= 9;
    b &&= a + 1;
    return a * 10 + b;
  }),
  'truth of numbers': integers((k, x) => {
    let r = 0;
    if (x[k]) r += 1;
    if (!x[k + 1]) r += 2;
    if (x[k] !== x[k + 1] && !(x[k] <= x[k + 2] || x[k] === 5)) r += 4;
    r += +(x[k] > 3) * 8;
    r += x[k] & 1 ? 16 : 0;
    return r;
  }),
  'booleans are counted by Number': integers((k, x) => {
    let count = Number(x[k] > 10);
    for (let j = 0; j < 8; j++) count += Number(x[k + j] % 3 === 0) * 2;
    const odd = (x[k] & 1) === 1;
    return count * 100 + Number(odd) + Number(!odd && x[k + 1] > x[k]) * 10;
  }),
  'booleans in variables': integers((k, x) => {
    const big = x[k] > 25;
    let any = false;
    for (let i = 0; i < 4; i++) any = any || x[k + i] < 0;
    const both = big && any;
    return (big ? 1 : 0) + (any ? 2 : 0) + (both ? 4 : 0) + (big === any ? 8 : 0);
  }),
  'a view chosen in a loop': async () => {
    const kernel = cuda.jit((out: Vec<i32>, A: Mat<i32>) => {
      const k = cuda.grid(1);
      if (k >= out.length) return;
      let row = A[0];
      let s = 0;
      for (let i = 0; i < 6; i++) {
        s = s * 3 + row[i];
        row = (i + k) % 2 === 0 ? A[1] : A[2];
      }
      out[k] = s;
    });
    const rows = [
      [1, 2, 3, 4, 5, 6],
      [10, 20, 30, 40, 50, 60],
      [-1, -2, -3, -4, -5, -6],
    ];
    const out = cuda.deviceArray(5, 'int32');
    await launch(
      kernel,
      { threads: 5, block: 5 },
      out,
      cuda.toDevice(ndarray(rows, { dtype: 'int32', shape: [3, 6] })),
    );
    const expected = [0, 1, 2, 3, 4].map((k) => {
      let s = 0;
      for (let i = 0; i < 6; i++) s = s * 3 + rows[i === 0 ? 0 : (i - 1 + k) % 2 === 0 ? 1 : 2][i];
      return s;
    });
    sameElements(await read(out), expected);
  },
  'rows walked like a list': async () => {
    const kernel = cuda.jit((out: Vec<i32>, a: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k >= out.length) return;
      let rest = a;
      let s = 0;
      for (let i = 0; i <= k; i++) {
        s += rest[0];
        rest = rest.slice('1:');
      }
      out[k] = s * 100 + rest.length;
    });
    const out = cuda.deviceArray(6, 'int32');
    await launch(kernel, { threads: 6, block: 4 }, out, cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5, 6, 7)));
    sameElements(await read(out), [106, 305, 604, 1003, 1502, 2101]);
  },
  'views of different lengths, chosen by each thread for itself': async () => {
    const kernel = cuda.jit((out: Vec<i32>, sums: Vec<i32>, a: Vec<i32>) => {
      const i = cuda.grid(1);
      const rest = i % 3 === 0 ? a.slice('4:40') : a;
      if (i >= rest.length) return;
      out[i] = rest[i] + 100 * rest[(i * 7) % rest.length] + 10000 * rest.length;
      cuda.atomic.add(i % 2 === 0 ? sums.slice('2:') : sums, i % 4, i);
    });
    const a = Int32Array.from({ length: 64 }, (_, i) => i);
    for (const block of [64, 60, 5]) {
      const out = cuda.toDevice(new Int32Array(64));
      const sums = cuda.toDevice(new Int32Array(6));
      await launch(kernel, { grid: Math.ceil(64 / block), block }, out, sums, cuda.toDevice(a));
      const expected = Array.from(a, (i) => {
        const [first, length] = i % 3 === 0 ? [4, 36] : [0, 64];
        return i < length ? first + i + 100 * (first + ((i * 7) % length)) + 10000 * length : 0;
      });
      sameElements(await read(out), expected);
      const added = [0, 0, 0, 0, 0, 0];
      for (const i of a) if (i < (i % 3 === 0 ? 36 : 64)) added[(i % 4) + (i % 2 === 0 ? 2 : 0)] += i;
      sameElements(await read(sums), added);
    }
  },
  'strings built of what is known, and told apart': async () => {
    const kernel = cuda.jit((out: Vec<i32>, mode: string) => {
      let s = 0;
      for (const k of [1, 2, 3]) if (mode === `a${k}`) s += k;
      if (mode + '!' === 'a2!') s += 10;
      switch (`${mode}-${GAIN}`) {
        case 'a2-7':
          s += 100;
          break;
        case 'b-7':
          s += 200;
      }
      out[0] = s;
    });
    const out = cuda.toDevice(new Int32Array(1));
    const found: number[] = [];
    for (const mode of ['a2', 'b', 'a3']) {
      await launch(kernel, { grid: 1, block: 1 }, out, mode);
      found.push(...(await read(out)));
    }
    sameElements(found, [112, 200, 3]);
  },
  'the rest of a slice, which is a copy': async () => {
    const kernel = cuda.jit((out: Vec<i32>, a: Vec<i32>) => {
      const k = cuda.grid(1);
      if (k >= out.length) return;
      const [first, ...rest] = a.slice([4 * k, 4 * k + 4]);
      a[4 * k + 1] = 1000;
      out[k] = first + 10 * rest[0] + 100 * rest[2] + 10000 * rest.length;
    });
    const out = cuda.toDevice(new Int32Array(3));
    const a = Int32Array.from({ length: 12 }, (_, i) => i % 7);
    await launch(kernel, { threads: 3, block: 3 }, out, cuda.toDevice(a));
    sameElements(
      await read(out),
      [0, 1, 2].map((k) => a[4 * k] + 10 * a[4 * k + 1] + 100 * a[4 * k + 3] + 30000),
    );
  },
});
