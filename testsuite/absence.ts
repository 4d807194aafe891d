/**
 * Chapter: values that may be undefined or null: results on some paths, variables without a value, tests, narrowing; and uses
 * of what may not be there, which are refused.
 */
import { cuda, type i32, type Vec } from '../src/index.ts';
import { rejects } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { integers } from './support.ts';
import { launch } from './waiting.ts';

/** The first of 16 elements from `from` on that is above `limit`; nothing if none is. */
// @ts-expect-error TS7030: the end of these functions is what is tested
const find = (x: Vec<i32>, from: number, limit: number): number | undefined => {
  for (let i = from; i < 16; i++) if (x[i] > limit) return i;
};

// @ts-expect-error TS7030: the end of these functions is what is tested
const kindOf = (v: number): number | undefined => {
  switch (v & 7) {
    case 0:
      return 10;
    case 3:
      return undefined;
    case 6:
      return 20;
  }
};

const half = (v: number): number | undefined => {
  if (v < 0) return;
  if ((v & 1) === 1) return void 0;
  return v >> 1;
};

/** A kernel that uses what may not be there. */
function refused(body: (k: number, x: Vec<i32>) => number, message: RegExp, code = 'K319'): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<i32>, x: Vec<i32>) => {
      y[0] = body(cuda.grid(1), x);
    });
    const [x, y] = [cuda.deviceArray(16, 'int32'), cuda.deviceArray(1, 'int32')];
    await rejects(() => launch(kernel, { threads: 1 }, y, x), message, code);
  };
}

export const absence: readonly ConformanceTest[] = chapter('absent values', {
  'a search that finds nothing': integers((k, x) => {
    const at = find(x, k & 15, 20);
    return at === undefined ? -1 : at;
  }),
  'every spelling of the test': integers((k, x) => {
    const at = find(x, k & 15, 20);
    let r = at !== undefined ? 1 : 0;
    if (at == null) r += 2;
    if (at != null) r += 4 * at;
    if (void 0 === at) r += 100;
    if (typeof at === 'undefined') r += 1000;
    if (!at) r += 10000;
    return r;
  }),
  '?? and ||, && and ? :': integers((k, x) => {
    const at = find(x, k & 15, 20);
    return (at ?? 30) + (at || 50) * 100 + ((at && at + 1) ?? 7) * 10000 + (at !== undefined && at > 4 ? 1 : 0);
  }),
  '??=, ||= and &&=': integers((k, x) => {
    let a = find(x, k & 15, 20);
    let b = find(x, k & 15, 30);
    let c = find(x, k & 15, 40);
    a ??= 50;
    b ||= 60;
    c &&= 70;
    return a + 100 * b + 10000 * (c ?? 1);
  }),
  'switch without default, bare return': integers((k, x) => (kindOf(x[k]) ?? -1) + (half(x[k]) ?? 1000)),
  'early exits narrow': integers((k, x) => {
    const at = find(x, k & 15, 20);
    if (at === undefined) return -5;
    const next = find(x, at + 1, 20);
    if (!next) return at;
    return at * 100 + next;
  }),
  'a loop on the value': integers((k, x) => {
    let n = 0;
    let at = find(x, k & 7, 10);
    while (at !== undefined) {
      n += at;
      at = find(x, at + 1, 10);
    }
    return n;
  }),
  'let is fresh in every round': integers((k, x) => {
    let r = 0;
    for (let i = 0; i < 8; i++) {
      let c: number | undefined;
      if (x[i] > x[k]) c = i;
      r = r * 3 + (c ?? 1);
    }
    return r;
  }),
  'var keeps its value': integers((k, x) => {
    let r = 0;
    for (let i = 0; i < 8; i++) {
      var c: number | undefined;
      if (x[i] > x[k]) c = i;
      r = r * 3 + (c ?? 1);
    }
    return r;
  }),
  'the best so far': integers((k, x) => {
    let best: number | undefined;
    for (let i = k & 7; i < 16; i++) if (x[i] < x[k] && (best === undefined || x[i] > best)) best = x[i];
    return best ?? -1000;
  }),
  'null, and values taken away again': integers((k, x) => {
    let last: number | null = null;
    let r = 0;
    for (let i = 0; i < 8; i++) {
      r = r * 3 + (last === null ? 7 : last & 3);
      last = x[i] > x[k] ? x[i] : null;
    }
    return r;
  }),
  'objects and tuples': integers((k, x) => {
    let best: { v: number; at: number } | undefined;
    for (let i = 0; i < 8; i++) if (best === undefined || x[i] > best.v) best = { v: x[i], at: i };
    const pair = (v: number): [number, number] | undefined => (v > 0 ? [v, v + 1] : undefined);
    const p = pair(x[k]);
    return (best?.at ?? -1) + (p === undefined ? 0 : p[1] * 10) + (pair(x[k + 1])?.[0] ?? 3);
  }),
  'parameters that are optional or have defaults': integers((k, x) => {
    const plus = (a: number, b?: number): number => a + (b ?? 100);
    const preset = (a = 5): number => a * 3;
    const at = find(x, k & 15, 20);
    return plus(1) + plus(2, at) * 2 + preset() + preset(at) * 7 + preset(undefined);
  }),
  'tests with a name': integers((k, x) => {
    const at = find(x, k & 15, 20);
    const found = at !== undefined;
    const large = x[k] > 10;
    let v: number | undefined;
    if (large) v = x[k] & 15;
    return (found ? at : -1) + (large ? (v as number) * 100 : 0);
  }),
  'equality with what is there': integers((k, x) => {
    const at = find(x, k & 15, 20);
    return (at === 3 ? 1 : 0) + (at !== 3 ? 10 : 0);
  }),
  'an assignment that asks for the value before': integers((k, x) => {
    let v: number | undefined;
    if (x[k] > 10) v = x[k] & 15;
    if (x[k] > 20) v = undefined;
    v = v === undefined ? 1 : 2;
    let w: number | undefined;
    if (x[k] > 10) w = 70;
    if (x[k] > 20) w = undefined;
    w ??= !w ? 3 : 5;
    return v + 10 * w;
  }),
  'a use without a test': refused((k, x) => (find(x, k, 3) as number) + 1, /\(\) returns nothing when this loop ends/),
  'a variable that some paths leave without a value': refused((k, x) => {
    let v: number;
    if (x[k] > 0) v = 1;
    return v! + 1;
  }, /may have no value here: \w+ is declared without a value/),
  'a loop that may have no rounds': refused((k, x) => {
    let v: number;
    for (let i = 0; i < x[k]; i++) v = i;
    return v!;
  }, /may have no value here/),
  'undefined or null, told apart': refused(
    (k, x) => {
      const v = x[k] > 1 ? 1 : x[k] > 0 ? null : undefined;
      return v === null ? 1 : 0;
    },
    /undefined or null/,
    'K320',
  ),
  'an element that is compared with undefined': refused((k, x) => x[k] ?? 0, /never undefined/, 'K321'),
});
