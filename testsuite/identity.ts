/**
 * Chapter: which arrays and objects are one and the same (`===`, `!==`, `Object.is`), `Array.isArray`, and host-only methods.
 */
import { cuda, type f32, f64, type Vec } from '../src/index.ts';
import { rejects, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { launch, read } from './waiting.ts';

const N = 8;
const TABLE = [1, 2, 3];
const OTHER = [1, 2, 3];
const SETTINGS = { gain: 2 };

type Body = (k: number, a: Vec<f64>, b: Vec<f64>) => number;

/** What a kernel gives for each thread is what the function gives on the host. */
function asInJavaScript(body: Body): () => Promise<void> {
  return () =>
    eachType(['f64', 'f32'] as const, async (type) => {
      const kernel = cuda.jit(
        (y: Vec<f64>, a: Vec<f64>, b: Vec<f64>) => {
          const k = cuda.grid(1);
          if (k < y.length) y[k] = body(k, a, b);
        },
        { defaultFloat: type },
      );
      const [y, a, b] = [0, 1, 2].map(() => cuda.deviceArray(N, type)) as [never, never, never];
      await launch(kernel, { threads: N }, y, a, b);
      const [x, z] = [new Float64Array(N), new Float64Array(N)] as unknown as [Vec<f64>, Vec<f64>];
      sameElements(
        await read(y),
        Float64Array.from({ length: N }, (_, k) => body(k, x, z)),
        `${type}, thread`,
      );
    });
}

function refused(body: Body, message: RegExp, code: string): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<f64>, a: Vec<f64>, b: Vec<f64>) => {
      y[0] = body(cuda.grid(1), a, b);
    });
    const [y, a, b] = [0, 1, 2].map(() => cuda.deviceArray(N, 'f64')) as [never, never, never];
    await rejects(() => launch(kernel, { threads: 1 }, y, a, b), message, code);
  };
}

const point = (x: number): { x: number } => ({ x });

export const identity: readonly ConformanceTest[] = chapter('identity', {
  'of objects': asInJavaScript((k) => {
    const p = { x: 1 };
    const q = { x: 1 };
    const r = p;
    let bits = 0;
    if (p === q) bits |= 1;
    if (p === r) bits |= 2;
    if (p !== q) bits |= 4;
    if (Object.is(r, p)) bits |= 8;
    const made = point(k);
    if (made === point(k)) bits |= 16;
    return bits;
  }),
  'of objects that are changed, also of one that is either of two': asInJavaScript((k) => {
    const p = { x: 1 };
    const q = { x: 1 };
    p.x += k;
    q.x += k;
    const r = k % 2 === 0 ? p : q;
    const r2 = r;
    return (p === q ? 1 : 0) + (r === p ? 2 : 0) + (r !== q ? 4 : 0) + (r === r2 ? 8 : 0);
  }),
  'of arrays of the kernel': asInJavaScript((k) => {
    const v = [0, 0, 0];
    const w = [0, 0, 0];
    v[k % 3] = 1;
    const u = v;
    const t = [1, 2];
    const t2 = t;
    return (u === v ? 1 : 0) + (v === w ? 2 : 0) + (v !== w ? 4 : 0) + (t === t2 ? 8 : 0) + w[k % 3]!;
  }),
  'of an array that is one of two of the kernel': asInJavaScript((k) => {
    const v = [0, 0, 0];
    const w = [1, 1, 1];
    let from = v;
    let to = w;
    for (let j = 0; j < k; j++) {
      to[j % 3] = from[j % 3]! + 1;
      [from, to] = [to, from];
    }
    return (from === v ? 1 : 0) + (to === v ? 2 : 0) + (from !== to ? 4 : 0);
  }),
  'of arguments, and of captured arrays and objects': asInJavaScript((k, a) => {
    const c = a;
    const v = [k, k];
    const s = SETTINGS;
    const same = TABLE;
    return (
      (c === a ? 1 : 0) +
      (TABLE === OTHER ? 2 : 0) +
      (TABLE === same ? 4 : 0) +
      (s === SETTINGS ? 8 : 0) +
      ((v as never) === a ? 16 : 0)
    );
  }),
  'Object.is': asInJavaScript((k) => {
    const x = f64(k - 4) * 0;
    const nan = (k - k) / (k - k);
    let bits = 0;
    if (Object.is(x, -0)) bits |= 1;
    if (Object.is(x, 0)) bits |= 2;
    if (Object.is(nan, Number.NaN)) bits |= 4;
    if (Object.is(nan, nan)) bits |= 8;
    if (Object.is(k, 3)) bits |= 16;
    if (Object.is(x, x * 2)) bits |= 32;
    if (Object.is(x, -x)) bits |= 64;
    if (Object.is(k > 3, true)) bits |= 128;
    if (Object.is(k as unknown, k > 3)) bits |= 256;
    return bits;
  }),
  'Array.isArray': asInJavaScript((k, a) => {
    const v = [1, 2, 3];
    const typed = new Float32Array(3);
    v[k % 3] = 0;
    typed[k % 3] = 1;
    const list = [
      Array.isArray(v),
      Array.isArray([k]),
      Array.isArray(k),
      Array.isArray(a),
      Array.isArray(typed),
      Array.isArray(TABLE),
    ];
    let bits = 0;
    list.forEach((is, j) => {
      if (is) bits |= 1 << j;
    });
    return bits + v[0]! * 100;
  }),
  'tests of numbers': asInJavaScript((k) => {
    const x = k / 2;
    const tests = [
      Number.isInteger(x),
      Number.isFinite(1 / x),
      Number.isNaN(x / x),
      Number.isSafeInteger(f64(k) - 4 + 2 ** 53),
    ];
    return tests.reduce((bits, is, j) => bits + (is ? 1 << j : 0), 0);
  }),
  'of two arrays of a launch it is not known': refused(
    (_, a, b) => (a === b ? 1 : 0),
    /===.* asks whether .* are the same one, which is not known/s,
    'K221',
  ),
  'of a part of an array it is not known': refused(
    (k, a) => (a.subarray(k) === a ? 1 : 0),
    /are the same one, which is not known/,
    'K221',
  ),
  'methods that make text say what to do': refused(
    (k) => Number((k * 1.5).toFixed(2)),
    /toFixed.*text is made on the host.*Math\.round/s,
    'K223',
  ),
  'functions that make text say what to do': refused(
    (k) => String(k).length,
    /String is built into the engine.*text is made on the host/s,
    'K314',
  ),
  'a slice with bounds of the thread, of known length': asInJavaScript((k) => {
    const v = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    v[k] = 20;
    const w = v.slice(k, k + 3);
    w[1] = 100;
    return w.reduce((a, b) => a + b, 0) + 1000 * v[k + 1]!;
  }),
  'sub-views with bounds of the thread': async () => {
    const kernel = cuda.jit((y: Vec<f64>, x: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const part = x.subarray(k, k + 3);
      let s = 0;
      part.forEach((v, j) => {
        s += v * (j + 1);
      });
      const twice = part.map((v) => v * 2);
      y[k] = s + 100 * (part.every((v) => v > 2) ? 1 : 0) + 1000 * part.indexOf(4) + 1e4 * twice[k % 3]!;
    });
    const x = cuda.toDevice(Float32Array.from({ length: N + 3 }, (_, k) => k));
    const y = cuda.deviceArray(N, 'f64');
    await launch(kernel, { threads: N }, y, x);
    const expected = Float64Array.from({ length: N }, (_, k) => {
      const part = [k, k + 1, k + 2];
      return k + 2 * (k + 1) + 3 * (k + 2) + 100 * Number(k > 2) + 1000 * part.indexOf(4) + 2e4 * part[k % 3]!;
    });
    sameElements(await read(y), expected, 'thread');
  },
});
