/**
 * Chapter: objects that live in kernels: fields that are assigned to, names for one object, classes, `this`.
 */
import { cuda, type f32, type Vec } from '../src/index.ts';
import { rejects, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { integers } from './support.ts';
import { launch, read } from './waiting.ts';

class Point {
  x: number;
  y: number;
  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
  static origin(): Point {
    return new Point(0, 0);
  }
  static readonly UNIT = new Point(1, 1);
  plus(p: Point): Point {
    return new Point(this.x + p.x, this.y + p.y);
  }
  /** Changes the object itself. */
  move(p: Point): this {
    this.x += p.x;
    this.y += p.y;
    return this;
  }
  get sum(): number {
    return this.x + this.y;
  }
  set both(v: number) {
    this.x = v;
    this.y = v + 1;
  }
}

class Counter {
  count = 0;
  total = 0;
  #last = 7;
  readonly step: number;
  constructor(step = 1) {
    this.step = step;
  }
  hit(v: number): void {
    this.count += this.step;
    this.total += v;
    this.#last = v;
  }
  get last(): number {
    return this.#last;
  }
}

/** Options as people declare them. */
interface Options {
  readonly gain?: number;
  readonly bias?: number;
  readonly clip?: number;
  readonly change?: (v: number) => number;
}
interface Link {
  readonly v: number;
  readonly next: Link | null;
}
const defaults: Options = { gain: 2 };

class Filter {
  gain = 3;
  readonly offsets = [10, 20] as const;
  private bias = 1;
  apply(v: number): number {
    return this.scaled(v) + this.bias + this.offsets[1];
  }
  private scaled(v: number): number {
    return v * this.gain;
  }
}

const filter = new Filter();
const LIMITS = { low: 1, high: 2 };
const corner = new Point(5, 6);

/** As compilers for old engines write classes. */
function Old(this: { n: number }, n: number) {
  this.n = n;
}
Old.prototype.twice = function (this: { n: number }): number {
  return this.n * 2;
};

interface Hit {
  d: number;
  id: number;
}

function measure(hit: Hit, v: number, id: number): void {
  hit.d = (v - 3) * (v - 3);
  hit.id = id;
}

/** A kernel of one thread that is refused when it is launched. */
function refused(body: (y: Vec<f32>) => void, message: RegExp, code: string): () => Promise<void> {
  return () => rejects(() => launch(cuda.jit(body), { grid: 1, block: 1 }, cuda.deviceArray(8, 'f32')), message, code);
}

export const objects: readonly ConformanceTest[] = chapter('objects', {
  'fields are variables': integers((k, x) => {
    const o = { a: 0, b: 1 };
    for (let r = 0; r < (x[k] & 7); r++) {
      o.a += r;
      o.b = (o.b * 3 + o.a) & 1023;
    }
    o.a++;
    return o.a-- * 10000 + o.a + --o.b;
  }),
  'names for one object share its fields': integers((k, x) => {
    const o = { n: x[k] & 15, inner: { m: 1 } };
    const p = o;
    const { inner } = o;
    p.n += 5;
    inner.m = o.n;
    p.inner.m += 2;
    return o.n * 1000 + o.inner.m;
  }),
  'functions change the objects that they are given': integers((k, x) => {
    const bump = (o: { n: number }, by: number) => {
      o.n += by;
      return o;
    };
    const o = { n: x[k] & 255 };
    bump(bump(o, 1), o.n);
    return bump(o, 3).n + o.n;
  }),
  'a field that holds another object': integers((k, x) => {
    const o = { p: { v: 1 }, q: 2 };
    const first = o.p;
    first.v += 4;
    o.p = { v: x[k] & 31 };
    o.p.v++;
    return first.v * 1000 + o.p.v;
  }),
  'a field that holds one object or another': integers((k, x) => {
    const o = { p: { v: 1 } };
    for (let r = 0; r < 4; r++) {
      o.p.v += r;
      if (r === (x[k] & 3)) o.p = { v: 50 };
    }
    return o.p.v;
  }),
  'copies by spread, rest and destructuring': integers((k, x) => {
    const o = { a: 1, b: x[k] & 15, c: 3 };
    const copy = { ...o, a: 8 };
    const { a, ...rest } = o;
    rest.b += 100;
    copy.c = 70;
    o.c = 9;
    [o.a, o.b] = [o.b, o.a];
    ({ a: o.c, b: copy.b } = o);
    return a + copy.a * 2 + copy.b * 3 + copy.c * 5 + rest.b * 7 + rest.c * 11 + o.a * 13 + o.b * 17 + o.c * 19;
  }),
  'the order of evaluation': integers((k, x) => {
    const o = { n: x[k] & 15 };
    const f = (a: number, b: number, c: number) => a * 10000 + b * 100 + c;
    const g = (p: { n: number }, q: number) => p.n * 100 + q;
    const one = f(o.n, (o.n += 2), o.n++);
    return one + g(o, (o.n = 3)) + { ...o, z: o.n++ }.n;
  }),
  'fields of all kinds': integers((k, x) => {
    const o = { on: true, f: 0.5, n: 1, t: [1, 2] as readonly [number, number] };
    if (x[k] > 5) o.on = false;
    o.f *= 4;
    o.t = [o.n, x[k] & 7];
    return (o.on ? 1000 : 0) + Math.trunc(o.f) + o.t[0] + o.t[1] * 10;
  }),
  'a field that may be undefined': integers((k, x) => {
    const o: { a: number | undefined; b: number } = { a: undefined, b: 1 };
    if (x[k] > 3) o.a = x[k] & 63;
    o.b += o.a ?? 100;
    if (o.a !== undefined) o.b += o.a;
    o.a = undefined;
    return o.a === undefined ? o.b : -1;
  }),
  'the best of many': integers((k, x) => {
    let best: Hit = { d: 100000, id: -1 };
    for (let r = 0; r < 8; r++) {
      const hit: Hit = { d: 0, id: 0 };
      measure(hit, x[k + r] & 31, r);
      if (hit.d < best.d) best = hit;
    }
    return best.d * 10 + best.id;
  }),
  'the object of the round before': integers((k, x) => {
    let before: { v: number; w: { u: number } } | undefined;
    let sum = 0;
    for (let r = 0; r < 5; r++) {
      if (before !== undefined) sum = (sum * 3 + before.v + before.w.u) & 0xffff;
      const now = { v: 0, w: { u: r } };
      now.v += x[k + r] & 15;
      now.w.u *= 2;
      if (r !== 2) before = now;
    }
    return sum + (before?.v ?? 0);
  }),
  'one of two objects is changed': integers((k, x) => {
    const even = { n: 0, s: 0 };
    const odd = { n: 0, s: 0 };
    const pick = (v: number) => (v % 2 === 0 ? even : odd);
    for (let r = 0; r < 6; r++) {
      const o = pick(x[k + r]);
      o.n++;
      o.s += r;
    }
    return even.n * 1000 + even.s * 50 + odd.s - odd.n;
  }),
  'objects in tuples': integers((k, x) => {
    const a = { n: x[k] & 7 };
    const b = { n: 2 };
    for (const o of [a, b, a]) o.n = o.n * 2 + 1;
    const pair = [a, b] as const;
    pair[1].n += pair[0].n;
    return a.n * 100 + b.n;
  }),
  'objects that functions return on several paths': integers((k, x) => {
    const make = (v: number) => {
      const o = { n: v, m: 1 };
      if (v > 8) {
        o.n = 8;
        return o;
      }
      o.m = v;
      return o;
    };
    const o = make(x[k] & 15);
    o.n += 100;
    return o.n * 10 + o.m;
  }),
  'variables that trade objects': integers((k, x) => {
    let a = { n: x[k] & 15 };
    let b = { n: 2 };
    a.n++;
    [a, b] = [b, a];
    a.n += 10;
    return a.n * 100 + b.n;
  }),
  'closures over objects': integers((k, x) => {
    const state = { s: x[k] & 63 };
    const next = () => {
      state.s = (state.s * 5 + 3) & 63;
      return state.s;
    };
    let sum = 0;
    for (let r = 0; r < 4; r++) sum = sum * 2 + next();
    return sum + state.s;
  }),
  'methods and accessors of literals': integers((k, x) => {
    const o = {
      v: x[k] & 15,
      inc(by: number) {
        this.v += by;
        return this;
      },
      plain: (a: number) => a * 2,
      get twice() {
        return this.v * 2;
      },
      set half(v: number) {
        this.v = v >> 1;
      },
    };
    o.inc(2).inc(3);
    const t = o.twice;
    o.half = o.plain(t);
    return t * 1000 + o.v;
  }),
  'accessors of literals are properties of their own': integers((k, x) => {
    const o = {
      get twice(): number {
        return this.v * 2;
      },
      v: x[k] & 15,
    };
    const copy = { ...o };
    const { v, ...rest } = o;
    const over = {
      ...copy,
      get v(): number {
        return 5;
      },
    };
    o.v = 100;
    copy.v += v;
    const [first, second] = Object.values(copy);
    const names = Object.keys(o).map((name) => (name === 'v' ? 2 : 1));
    return (first! * 100 + second!) * 10 + rest.twice + over.v + over.twice + names[0]! * 1000 + names.length * 7000;
  }),
  'options with defaults': integers((k, x) => {
    const f = ({ a = 1, b = 2 }: { a?: number; b?: number } = {}) => a * 100 + b;
    return f() + f({ b: x[k] & 7 }) * 3 + f({ a: x[k] & 3, b: 1 }) * 5;
  }),
  'small classes that make new objects': integers((k, x) => {
    let p = new Point(x[k] & 15, 1);
    for (let r = 0; r < 3; r++) p = p.plus(Point.UNIT).plus(corner);
    return p.x * 100 + p.y + Point.origin().plus(p).sum;
  }),
  'methods that change this': integers((k, x) => {
    const p = new Point(x[k] & 15, 1);
    const q = p.move(new Point(1, 2)).move(p);
    q.both = p.sum;
    return p.x * 100 + q.y + corner.plus(p).x;
  }),
  'field initialisers, private fields, defaults': integers((k, x) => {
    const c = new Counter();
    const d = new Counter(10);
    for (let r = 0; r < 5; r++) if ((x[k + r] & 1) === 0) c.hit(x[k + r] & 31);
    d.hit(c.last);
    return c.count * 10000 + c.total * 10 + c.last + d.count + d.last;
  }),
  'a constructor with branches': integers((k, x) => {
    class Range {
      low: number;
      high: number;
      constructor(a: number, b: number) {
        if (a < b) {
          this.low = a;
          this.high = b;
        } else {
          this.low = b;
          this.high = a;
        }
      }
      get width() {
        return this.high - this.low;
      }
    }
    return new Range(x[k] & 15, x[k + 1] & 15).width;
  }),
  'a class of the kernel with static members': integers((k, x) => {
    class P {
      static readonly K = 7;
      #b = 2;
      a: number;
      constructor(a: number) {
        this.a = a;
      }
      static of(v: number) {
        return new P(v);
      }
      next() {
        this.#b += this.a;
        return this.#b;
      }
    }
    const p = P.of(x[k] & 15);
    return p.next() * 1000 + p.next() + P.K;
  }),
  'objects of a class in a variable that is assigned in loops': integers((k, x) => {
    let ray = { at: new Point(0, 0), by: new Point(1, x[k] & 3), t: 0 };
    for (let r = 0; r < 4; r++) {
      ray.at.move(ray.by);
      ray.t += r;
      if (r === 2) ray = { at: ray.at.plus(ray.by), by: new Point(2, 2), t: ray.t };
    }
    return ray.at.x * 1000 + ray.at.y * 10 + ray.t;
  }),
  'one of several objects, by a variable': integers((k, x) => {
    const bins = [
      { n: 0, sum: 0 },
      { n: 0, sum: 0 },
      { n: 5, sum: 1 },
    ];
    const counters = [new Counter(), new Counter(2)];
    for (let j = 0; j < 6; j++) {
      const v = x[(k + j) % 200] & 7;
      const bin = bins[v % 3];
      bin.n++;
      bin.sum += v;
      counters[v & 1].hit(v);
    }
    bins[k % 3].n += 100;
    const [even, odd] = counters;
    const all = bins.reduce((sum, b) => sum * 7 + b.n * 3 + b.sum, 0);
    return all + even.count * 1000 + odd.total * 10000 + counters[k & 1].last + odd.count;
  }),
  'fields that objects may have': integers((k, x) => {
    const scaled = ({ gain, bias, clip }: Options): number => {
      const v = (x[k] & 255) * (gain ?? 2) + (bias || 3);
      return clip === undefined ? v : Math.min(v, clip);
    };
    const o: Options = { gain: 3 };
    const asked =
      (o.bias ? 1 : 2) + (o.clip === undefined ? 10 : 20) + (typeof defaults.clip === 'undefined' ? 100 : 200);
    return (
      scaled(o) + 1000 * scaled({ clip: 50 }) + asked + (o.clip ?? 7) + (defaults.bias ?? 5) + (o.change?.(k) ?? -1)
    );
  }),
  'a variable that starts as a captured object': integers((k, x) => {
    let at = corner;
    let limits: { low: number; high: number } = LIMITS;
    for (let r = 0; r < (x[k] & 3); r++) {
      at = at.plus(Point.UNIT);
      limits = { low: limits.low + r, high: 3 };
    }
    const other = (x[k] & 4) === 0 ? corner : new Point(1, x[k] & 7);
    return at.sum * 1000 + limits.low * 10 + limits.high + other.sum;
  }),
  'a constructor that returns early': integers((k, x) => {
    class Maybe {
      a: number;
      b?: number;
      constructor(v: number) {
        this.a = v;
        if (v > 7) return;
        this.b = v * 2;
      }
    }
    const m = new Maybe(x[k] & 15);
    return m.a * 100 + (m.b ?? 77);
  }),
  'this of a captured object': integers((k, x) => filter.apply(x[k] & 255) + filter.gain),
  'a function used as a constructor': integers((k, x) => {
    const Make = Old as unknown as new (n: number) => { n: number; twice(): number };
    const o = new Make(x[k] & 15);
    return o.twice() + o.n;
  }),
  async 'objects of one thread each, in f32'() {
    const kernel = cuda.jit((y: Vec<f32>, n: number) => {
      const i = cuda.grid(1);
      const body = { x: 0, v: 1, steps: 0 };
      for (let s = 0; s < n; s++) {
        body.v -= body.x * 0.25;
        body.x += body.v * 0.5;
        body.steps++;
      }
      if (i < y.length) y[i] = body.x * i + body.steps;
    });
    const y = cuda.deviceArray(70, 'f32');
    await launch(kernel, { threads: 70, block: 32 }, y, 2);
    // Halves and quarters of small numbers are exact.
    sameElements(
      await read(y),
      Float32Array.from({ length: 70 }, (_, i) => (0.5 + (1 - 0.5 * 0.25) * 0.5) * i + 2),
    );
  },
  async 'a kernel that calls the function of another'() {
    const fill = cuda.jit((y: Vec<f32>, i: number, v: number) => {
      if (i < y.length) y[i] = v * 2;
    });
    const both = cuda.jit((y: Vec<f32>) => {
      const i = cuda.grid(1);
      fill(y, i, i + 1);
    });
    const y = cuda.deviceArray(40, 'f32');
    await launch(both, { threads: 40 }, y);
    sameElements(
      await read(y),
      Float32Array.from({ length: 40 }, (_, i) => (i + 1) * 2),
    );
  },
  'a change through a name for what another variable has a copy of': refused(
    (y) => {
      const a = { n: 0 };
      let c = { n: 5 };
      if (y[0] > 0) c = a;
      a.n = 4;
      y[0] = c.n;
    },
    /holds several objects in turn/,
    'K245',
  ),
  'a name for an object that has been replaced': refused(
    (y) => {
      let v = { n: 0 };
      v.n = 1;
      for (let k = 0; k < 3; k++) {
        const old = v;
        v = { n: k };
        v.n += 1;
        y[k] = old.n;
      }
    },
    /before it was given another/,
    'K245',
  ),
  'a store to a captured object': refused(
    (y) => {
      filter.gain = 2;
      y[0] = 1;
    },
    /cannot store to gain of \w+/,
    'K240',
  ),
  'a change of what may be a captured object': refused(
    (y) => {
      let at = corner;
      if (y[0] > 1) at = new Point(1, 1);
      at.x += 1;
      y[0] = at.x;
    },
    /captured or an argument of the launch/,
    'K240',
  ),
  'a field that there is none of': refused(
    (y) => {
      const o: { a: number; b?: number } = { a: 1 };
      o.b = 2;
      y[0] = o.a;
    },
    /there is no field b in \{ a \}/,
    'K312',
  ),
  'a use of a field that there is none of': refused(
    (y) => {
      const o: { a: number; bias?: number } = { a: 1 };
      const b = o.bias as number;
      y[0] = o.a + b;
    },
    /there is no field bias in \{ a \}/,
    'K312',
  ),
  'a variable that would hold objects of two forms': refused(
    (y) => {
      const last: Link = { v: 3, next: null };
      let p: Link | null = { v: 1, next: last };
      for (let k = 0; k < 3 && p !== null; k++) {
        y[0] += p.v;
        p = p.next;
      }
    },
    /\w+ holds .* whose next is .*, and cannot become one whose next is null/,
    'K231',
  ),
  'this in a function that is no method': refused(
    (y) => {
      const f = function (this: { n: number }) {
        return this.n;
      } as () => number;
      y[0] = f();
    },
    /`this` is undefined/,
    'K301',
  ),
});
