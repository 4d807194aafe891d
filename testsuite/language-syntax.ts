/**
 * Chapter: the corners of the syntax: spellings of numbers and operators, patterns, constants, function forms.
 */
import { cuda, f32, i32, type Mat, ndarray, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { doubles, integers, singles, zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const { PI, sqrt, max } = Math;
const M = Math;
const { grid } = cuda;
const space = { cuda, nested: { tables: [Int32Array.of(5, 6, 7), Int32Array.of(8, 9, 10)], scale: 3 } };
const frozen = Object.freeze({ a: 1, b: [2, 3] as const });
const FLAG = true;
const BIG = 0x7fff_0000;

class Settings {
  readonly gain = 5;
  get half(): number {
    return this.gain / 2;
  }
}
const instance = new Settings();

const compose = (f: (v: number) => number, g: (v: number) => number) => (v: number) => f(g(v));
const addOne = (v: number) => v + 1;
const double = (v: number) => v * 2;
const both = compose(addOne, double);

export const syntax: readonly ConformanceTest[] = chapter('syntax', {
  'numbers in every spelling': integers((k, x) => (x[k] & 0xff) + 0b1010 + 0o17 + 1_000 + 1e3 + 0x7f),
  'unary plus, minus, not and void': integers((k, x) => +x[k] + -x[k + 1] + ~x[k] + +!x[k] + +!!x[k + 1]),
  '== and !=': integers((k, x) => {
    // biome-ignore lint/suspicious/noDoubleEquals: what is tested.
    return (x[k] == x[k + 1] ? 1 : 0) + (x[k] != 0 ? 2 : 0);
  }),
  'constants of Math and Number': doubles(
    (v) => v * Math.PI + Math.E - Math.SQRT2 + Math.LN2 + Number.EPSILON + Number.MAX_SAFE_INTEGER,
    [0, 1, 2.5],
  ),
  'Infinity and NaN by name': doubles((v) => (v > 1 ? Infinity : v < 0 ? -Infinity : v === 0 ? NaN : v), [0, 1, 2, -1]),
  'members of Math that were taken out of it': doubles((v) => sqrt(max(v, PI)) + M.abs(v), [0, 1, 10, -4]),
  'members of cuda that were taken out of it': async () => {
    const kernel = cuda.jit((y: Vec<i32>) => {
      const k = grid(1);
      y[k] = k + space.cuda.blockDim.x;
    });
    const y = zeros(4, 'int32');
    await launch(kernel, { grid: 2, block: 2 }, y);
    sameElements(await read(y), [2, 3, 4, 5]);
  },
  'captured objects within objects': integers(
    (k, x) => space.nested.tables[1][k % 3] * space.nested.scale + frozen.b[1] + frozen.a + (x[k] & 1),
  ),
  'captured booleans, large numbers and getters': integers((k, x) => (FLAG ? x[k] & 7 : BIG) + (BIG >>> 16)),
  'instances of classes as settings': doubles((v) => v * instance.gain, [1, 2]),
  'functions made by functions': integers((k, x) => both(x[k] & 255) + compose(double, addOne)(x[k + 1] & 255)),
  'functions called where they stand': integers((k, x) => {
    const v = (() => {
      const a = x[k] & 15;
      return a * a;
    })();
    return (
      v +
      (function twice(n: number) {
        return n * 2;
      })(3)
    );
  }),
  'functions that return functions of variables': integers((k, x) => {
    const base = x[k] & 31;
    const adder = (by: number) => (v: number) => v + by + base;
    const add5 = adder(5);
    return add5(1) * 100 + adder(x[k + 1] & 3)(2);
  }),
  'patterns in parameters': integers((k, x) => {
    const length = ({ a, b: { c } }: { a: number; b: { c: number } }, [d, e = 4]: readonly number[]) =>
      a * 1000 + c * 100 + d * 10 + e;
    return length({ a: x[k] & 7, b: { c: 2 } }, [x[k + 1] & 7]);
  }),
  'spread in tuples and objects': integers((k, x) => {
    const a = [x[k] & 7, 2] as const;
    const b = [0, ...a, 9];
    const p = { u: 1, v: 2 };
    const q = { ...p, v: x[k + 1] & 7, w: b.length };
    return b[1] * 1000 + b[3] * 100 + q.u * 10 + q.v + q.w * 10000;
  }),
  'rest of an object': integers((k, x) => {
    const { a, ...others } = { a: x[k] & 7, b: 2, c: 3 };
    return a * 100 + others.b * 10 + others.c;
  }),
  'assignment to patterns, swapping elements': async () => {
    const kernel = cuda.jit((v: Vec<i32>) => {
      const k = cuda.grid(1) * 2;
      [v[k], v[k + 1]] = [v[k + 1], v[k] * 10];
      let a = 0;
      let b = 0;
      ({ a, b } = { a: v[k], b: v[k + 1] });
      v[k] = a + b;
    });
    const v = cuda.toDevice(Int32Array.of(1, 2, 3, 4));
    await launch(kernel, { grid: 1, block: 2 }, v);
    sameElements(await read(v), [12, 10, 34, 30]);
  },
  'chained assignment': integers((k, x) => {
    let a = 1;
    let b = 2;
    a = b = x[k] & 15;
    a += b *= 2;
    return a * 100 + b;
  }),
  'variables declared in for, for each round its own': integers((k, x) => {
    let s = 0;
    for (let i = 0, n = x[k] & 7; i < n; i++) {
      const square = i * i;
      const f = () => square + i;
      s += f();
    }
    return s;
  }),
  'let in the cases of a switch': integers((k, x) => {
    switch (x[k] & 3) {
      case 0: {
        const v = 10;
        return v;
      }
      case 1: {
        const v = x[k + 1];
        return v & 255;
      }
      default: {
        let v = 5;
        v++;
        return v;
      }
    }
  }),
  'continue with a label in do while': integers((k, x) => {
    let s = 0;
    let i = 0;
    outer: do {
      i++;
      for (let j = 0; j < 3; j++) {
        if ((x[k] >> (i + j)) & 1) continue outer;
        s += 10 ** j;
      }
      s += 1000;
    } while (i < 5);
    return s;
  }),
  'conditions that are known when compiling': integers((k, x) => {
    if (FLAG && frozen.a > 0) return x[k] & 7;
    return -1;
  }),
  'loops over tuples with an index': integers((k, x) => {
    const weights = [1, 10, 100] as const;
    let s = 0;
    for (let i = 0; i < weights.length; i++) s += x[k + i] & 7;
    return s + weights[2] * weights.length;
  }),
  'a parameter of a kernel may be assigned': async () => {
    const kernel = cuda.jit((y: Vec<i32>, n: number) => {
      const k = cuda.grid(1);
      n += k;
      n *= 2;
      y[k] = n;
    });
    const y = zeros(3, 'int32');
    await launch(kernel, { grid: 1, block: 3 }, y, 5);
    sameElements(await read(y), [10, 12, 14]);
  },
  'a kernel written as a function, an arrow, a method': async () => {
    function named(y: Vec<i32>) {
      y[cuda.grid(1)] += 1;
    }
    const box = {
      method(y: Vec<i32>) {
        y[cuda.grid(1)] += 10;
      },
    };
    const y = zeros(2, 'int32');
    for (const fn of [named, (z: Vec<i32>) => void (z[cuda.grid(1)] += 100), box.method]) {
      await launch(cuda.jit(fn), { grid: 1, block: 2 }, y);
    }
    sameElements(await read(y), [111, 111]);
  },
  'casts by dtype tokens in every place': singles((v) => f32(i32(v) + f32(0.25)) * f32(2), [1.75, -3.5, 100.9]),
  'array methods by strings and tuples': async () => {
    const kernel = cuda.jit((to: Vec<i32>, A: Mat<i32>) => {
      const range = [1, 3] as const;
      const part = A.slice(range, ':');
      to[cuda.grid(1)] = part[0][0] + part.get(1, 1) * 100 + part.length * 10000;
    });
    const to = zeros(1, 'int32');
    await launch(
      kernel,
      { grid: 1, block: 1 },
      to,
      cuda.toDevice(ndarray(Int32Array.of(0, 1, 2, 3, 4, 5), { shape: [3, 2] })),
    );
    sameElements(await read(to), [20502]);
  },
  'comments, blank lines and semicolons are free': integers((k, x) => {
    /* a comment */ const a = x[k]; // another
    // on a line of its own

    return a & 7 /* in between */;
  }),
});
