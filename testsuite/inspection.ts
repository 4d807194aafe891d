/**
 * Chapter: what a kernel asks of values and JavaScript answers while it runs: `typeof`, `in`, `instanceof`, the keys of objects, and
 * which values are numbers.
 */
import { cuda, f32, type f64, i32, type i64, ndarray, struct, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { integers } from './support.ts';
import { launch, read } from './waiting.ts';

const PAIR = struct({ h: f32, g: i32 });
type Pair = { h: f32; g: i32 };

class Point {
  x = 1;
  readonly #kept: number;
  constructor(kept: number) {
    this.#kept = kept;
  }
  get double(): number {
    return 2 * this.#kept;
  }
  has(o: object): boolean {
    return #kept in o;
  }
}
class Other {
  z = 1;
}

const settings: { readonly gain: number; readonly bias?: number } = { gain: 2 };
const point = new Point(3);

/** What `typeof` says, as a number. */
const nameOf = (v: unknown): number => {
  switch (typeof v) {
    case 'number':
      return 1;
    case 'bigint':
      return 2;
    case 'boolean':
      return 3;
    case 'string':
      return 4;
    case 'undefined':
      return 5;
    case 'function':
      return 6;
    default:
      return 7;
  }
};

/** A function for arguments of two types, as people overload it. */
const sizeOf = (v: number | { readonly w: number; readonly h: number }): number =>
  typeof v === 'number' ? v * v : v.w * v.h;

export const inspection: readonly ConformanceTest[] = chapter('typeof, in and instanceof', {
  'typeof of every kind of value': integers((k, x) => {
    const f = (): number => 1;
    const kinds = [nameOf(k), nameOf(x[k]), nameOf(k > 3), nameOf('a'), nameOf(undefined), nameOf(f)];
    const more = [
      nameOf(Math.sqrt),
      nameOf({ a: 1 }),
      nameOf([1, 2]),
      nameOf(null),
      nameOf(5n),
      nameOf(Point),
      nameOf(point),
    ];
    return kinds.reduce((a, b) => a * 8 + b, 0) + more.reduce((a, b) => a * 3 + b, 0);
  }),
  'typeof chooses between forms of an argument': integers(
    (k, x) => sizeOf(x[k] & 15) + sizeOf({ w: x[k] & 7, h: k & 3 }),
  ),
  'typeof of what may be absent': integers((k, x) => {
    let v: number | undefined;
    if (x[k] > 10) v = x[k] & 255;
    const nothing = k % 2 === 0 ? null : { n: k };
    return (
      (typeof v === 'number' ? v : -1) + (typeof nothing === 'object' ? 1000 : 0) + (typeof v !== 'string' ? 5000 : 0)
    );
  }),
  'typeof of bigints, booleans and numbers in variables': async () => {
    const kernel = cuda.jit((y: Vec<i32>, wide: Vec<i64>, flag: boolean, n: number) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      const doubled = wide[i] * 2n;
      const isLess = n < i;
      const half = n / 2;
      const name = typeof half;
      y[i] =
        nameOf(doubled) + 10 * nameOf(flag) + 100 * nameOf(n) + 1000 * nameOf(isLess) + (name === 'number' ? 10000 : 0);
    });
    const y = cuda.deviceArray(3, 'int32');
    await launch(kernel, { threads: 3 }, y, cuda.toDevice(BigInt64Array.of(1n, 2n, 3n)), true, 4);
    sameElements(await read(y), Int32Array.of(13132, 13132, 13132));
  },
  'typeof of variables that give each other what they have': integers((k, x) => {
    let [a, b] = [x[k] & 7, k & 7];
    let m: number | undefined;
    for (let r = 0; r < 3; r++) {
      [a, b] = [b, a];
      // biome-ignore lint/correctness/noSelfAssign: as it is first given.
      m = m;
      if (typeof a === 'number' && a > 2) m = b;
      b = typeof m === 'number' ? m : a;
    }
    return a * 100 + b * 10 + (m === undefined || Number.isNaN(m) ? 9 : m);
  }),
  'in: fields of objects and of settings': integers((k) => {
    const o = { x: k, y: 2 };
    const bias = 'bias' in settings ? 100 : 0;
    return (
      ('x' in o ? 1 : 0) +
      ('z' in o ? 10 : 0) +
      ('gain' in settings ? settings.gain * 1000 : 0) +
      bias +
      ('toString' in o ? 7 : 0)
    );
  }),
  'in: fields, accessors and private names of classes': integers((k) => {
    const p = new Point(k & 7);
    return (
      ('x' in p ? 1 : 0) +
      ('double' in p ? 10 : 0) +
      ('has' in p ? 100 : 0) +
      ('y' in p ? 1000 : 0) +
      (p.has(p) ? 10000 : 0)
    );
  }),
  'in: places of arrays': integers((k) => {
    const near = [5, 6, 7];
    return (k - 1 in near ? 1 : 0) + (2 in near ? 10 : 0) + (3 in near ? 100 : 0) + ('length' in near ? 1000 : 0);
  }),
  'in: members of structs': async () => {
    const kernel = cuda.jit((p: Vec<Pair>, y: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = ('h' in p[i] ? 1 : 0) + ('q' in p[i] ? 10 : 0) + (i in p ? 100 : 0);
    });
    const y = cuda.deviceArray(3, 'int32');
    await launch(kernel, { threads: 3 }, cuda.deviceArray(2, PAIR), y);
    sameElements(await read(y), Int32Array.of(101, 101, 1));
  },
  instanceof: integers((k) => {
    const p = k > 3 ? new Point(1) : new Point(2);
    const made = new Other();
    return (
      (p instanceof Point ? 1 : 0) +
      (made instanceof Other ? 10 : 0) +
      ((made as object) instanceof Point ? 100 : 0) +
      (point instanceof Point ? 1000 : 0)
    );
  }),
  'keys, values and entries of objects': integers((k, x) => {
    const o = { a: x[k] & 7, b: 2, c: k };
    let sum = Object.keys(o).length;
    for (const key in o) sum = sum * 3 + o[key as 'a'];
    for (const key of Object.keys(o)) sum += o[key as 'b'];
    for (const [key, v] of Object.entries(o)) sum += key === 'b' ? 100 * v : v;
    return (
      sum + Object.values(o).reduce((p, q) => p + q) + (Object.hasOwn(o, 'c') ? 1 : 0) + (Object.hasOwn(o, 'd') ? 1 : 0)
    );
  }),
  'members of structs by constant keys': async () => {
    const KEY = 'g';
    const kernel = cuda.jit((p: Vec<Pair>, key: 'h' | 'g') => {
      if (cuda.grid(1) !== 0) return;
      p[0]['h'] = p[1]['h'];
      p[1][KEY] += p[0][KEY];
      p[0][KEY]++;
      for (const name in p[2]) p[2][name as 'h'] = p[1][name as 'h'];
      p[3][key] = 9;
    });
    const p = cuda.toDevice(
      ndarray(
        [
          { h: 1, g: 2 },
          { h: 5, g: 6 },
          { h: 0, g: 0 },
          { h: 0, g: 0 },
        ],
        { dtype: PAIR },
      ),
    );
    await launch(kernel, { threads: 1 }, p, 'h');
    const all = (await read(p)).toArray() as { h: number; g: number }[];
    sameElements(
      all.flatMap(({ h, g }) => [h, g]),
      [5, 3, 5, 8, 5, 8, 9, 0],
    );
  },
  'Number.isInteger and its like': async () => {
    const values = [1, 1.5, -0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 53 - 1, -(2 ** 60), 1e-300];
    const kernel = cuda.jit((y: Vec<i32>, x: Vec<f64>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = testsOf(x[i]);
    });
    const y = cuda.deviceArray(values.length, 'int32');
    await launch(kernel, { threads: values.length }, y, cuda.toDevice(Float64Array.from(values)));
    sameElements(await read(y), values.map(testsOf));
  },
  'Number.isInteger and its like of integers and of what is no number': integers((k, x) => {
    let v: number | undefined;
    if (x[k] > 10) v = x[k] / 2;
    const of = (u: unknown): number =>
      (Number.isInteger(u) ? 1 : 0) +
      (Number.isNaN(u) ? 2 : 0) +
      (Number.isFinite(u) ? 4 : 0) +
      (Number.isSafeInteger(u) ? 8 : 0);
    return (
      of(k) +
      16 * of(x[k] / 4) +
      256 * of(k > 3) +
      512 * of(undefined) +
      1024 * of(5n) +
      2048 * of({ a: 1 }) +
      4096 * of(v)
    );
  }),
  'void 0 and void of a call': integers((k, x) => {
    let n = 0;
    const count = (by: number): number => {
      n += by;
      return n;
    };
    let v: number | undefined = void count(1);
    if (x[k] > 10) v = 2;
    return (v === void 0 ? -1 : v) + 10 * n;
  }),
});

const testsOf = (v: number): number =>
  (Number.isInteger(v) ? 1 : 0) +
  (Number.isNaN(v) ? 2 : 0) +
  (Number.isFinite(v) ? 4 : 0) +
  (Number.isSafeInteger(v) ? 8 : 0) +
  (Number.isNaN(v - v) ? 16 : 0);
