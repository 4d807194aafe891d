/**
 * Chapter: objects, class instances, tuples, complex numbers and vectors that functions which call themselves return.
 */
import { c64, cuda, f32x2, type f64, type Vec } from '../src/index.ts';
import { rejects, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { launch, read } from './waiting.ts';

const N = 7;

type Body = (k: number) => number;

/** What a kernel gives for each thread is what the function gives on the host. */
function asInJavaScript(body: Body, expected: Body = body): () => Promise<void> {
  return () =>
    eachType(['f64', 'f32'] as const, async (type) => {
      const kernel = cuda.jit(
        (y: Vec<f64>) => {
          const k = cuda.grid(1);
          if (k < y.length) y[k] = body(k);
        },
        { maxRecursion: 12, defaultFloat: type },
      );
      const y = cuda.deviceArray(N, type as 'f64');
      await launch(kernel, { threads: N }, y);
      sameElements(
        await read(y),
        Float64Array.from({ length: N }, (_, k) => expected(k)),
        `${type}, thread`,
      );
    });
}

function refused(body: Body, message: RegExp, code?: string): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((y: Vec<f64>) => void (y[0] = body(cuda.grid(1))), { maxRecursion: 4 });
    await rejects(() => launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, 'f64')), message, code);
  };
}

interface Sum {
  sum: number;
  count: number;
}

const summed = (n: number): Sum => {
  if (n <= 0) return { sum: 0, count: 0 };
  const rest = summed(n - 1);
  return { sum: rest.sum + n * n, count: rest.count + 1 };
};

const changed = (n: number): Sum => {
  if (n <= 0) return { sum: 0, count: 0 };
  const rest = changed(n - 1);
  rest.sum += n;
  rest.count++;
  return rest;
};

class Pair {
  x: number;
  y: number;
  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
  plus(other: Pair): Pair {
    return new Pair(this.x + other.x, this.y + other.y);
  }
}

const paired = (n: number): Pair => (n < 2 ? new Pair(n, 1) : paired(n - 1).plus(paired(n - 2)));

interface Nested {
  readonly a: { readonly b: number };
  readonly t: readonly [number, number];
}

const nested = (n: number): Nested => {
  if (n <= 0) return { a: { b: 1 }, t: [1, 2] };
  const { a, t } = nested(n - 1);
  return { a: { b: a.b * 2 }, t: [t[1], t[0] + n] };
};

const either = (n: number): { x: number } => {
  const a = { x: n };
  const b = { x: -n };
  if (n <= 0) return a;
  const inner = either(n - 1);
  const one = n % 2 === 0 ? b : a;
  one.x += inner.x * 2;
  return one;
};

const powers = (n: number): c64 => (n <= 0 ? c64(1, 0) : powers(n - 1) * c64(0, 2));

const turned = (n: number): f32x2 => {
  if (n <= 0) return f32x2(1, 2);
  const v = turned(n - 1);
  return f32x2(-v.y, v.x + n);
};

const noted = (n: number, deepest: { at: number }): { x: number } => {
  const own = { x: n };
  if (n <= 0) {
    deepest.at = own.x + 5;
    return own;
  }
  const inner = noted(n - 1, deepest);
  inner.x += own.x;
  return inner;
};

const stats = (n: number): [Sum, number] => {
  if (n <= 0) return [{ sum: 1, count: 0 }, 0];
  const [s, depth] = stats(n - 1);
  return [{ sum: s.sum * 2, count: s.count + n }, depth + 1];
};

const given = (p: { x: number }, n: number): { x: number } => {
  if (n <= 0) return p;
  const q = given(p, n - 1);
  return q;
};

const kept = (n: number, h: { last: { x: number } }): { x: number } => {
  const p = { x: n };
  if (n <= 0) {
    h.last = p;
    return p;
  }
  const q = kept(n - 1, h);
  q.x += 1;
  return q;
};

export const recursionObjects: readonly ConformanceTest[] = chapter('objects of functions that call themselves', {
  'an object': asInJavaScript((k) => {
    const s = summed(k);
    return s.sum * 100 + s.count;
  }),
  'an object that callers change': asInJavaScript((k) => {
    const s = changed(k);
    s.sum *= 3;
    return s.sum * 100 + s.count;
  }),
  'two results, one of which is changed': asInJavaScript((k) => {
    const s = changed(k);
    const t = changed(k + 1);
    t.sum += 1000;
    return s.sum * 1e4 + t.sum;
  }),
  'instances of a class, and their methods': asInJavaScript((k) => {
    const p = paired(k);
    return p.x * 100 + p.y;
  }),
  'objects in objects, and tuples in them': asInJavaScript((k) => {
    const { a, t } = nested(k);
    return a.b * 1e4 + t[0] * 100 + t[1];
  }),
  'an object that is either of two': asInJavaScript((k) => either(k).x),
  'complex numbers': asInJavaScript(
    (k) => {
      const z = powers(k);
      return z.re * 1000 + z.im;
    },
    (k) => [1000, 2, -4000, -8, 16000, 32, -64000][k]!,
  ),
  vectors: asInJavaScript(
    (k) => {
      const v = turned(k);
      return v.x * 100 + v.y;
    },
    (k) => {
      let [x, y] = [1, 2];
      for (let n = 1; n <= k; n++) [x, y] = [-y, x + n];
      return x * 100 + y;
    },
  ),
  'an object that all calls share beside their own': asInJavaScript((k) => {
    const deepest = { at: 0 };
    const p = noted(k, deepest);
    return p.x * 100 + deepest.at;
  }),
  'objects in tuples': asInJavaScript((k) => {
    const [s, depth] = stats(k);
    return s.sum * 1e4 + s.count * 100 + depth;
  }),
  'an object that the caller still names is refused': refused(
    (k) => {
      const p = { x: k };
      const q = given(p, 3);
      q.x += 1;
      return p.x;
    },
    /K315: .*returns an object that .* still names.*\{ \.\.\.o \}/s,
    'K315',
  ),
  'an object that is kept elsewhere, and changed': refused((k) => {
    const h = { last: { x: 0 } };
    const p = kept(2 + k, h);
    return p.x + h.last.x;
  }, /K315|K245/),
});
