/**
 * Chapter: arrays that are one of several: chosen by a condition or an index, swapped, assigned to variables, fields and parameters,
 * returned by functions; in all memories, of all forms; and what is refused.
 */
import { cuda, f32, type f64, type In, i32, type Mat, ndarray, type Struct, struct, type Vec } from '../src/index.ts';
import { rejects, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { integers } from './support.ts';
import { launch, read } from './waiting.ts';

const N = 100;
const ramp = (n: number, from: number): Float32Array => Float32Array.from({ length: n }, (_, k) => from + k);

const LOW = Float32Array.of(1, 2, 3, 4);
const HIGH = Float32Array.of(100, 200, 300, 400, 500);

const pick = (flag: boolean, a: Vec<f32>, b: Vec<f32>): Vec<f32> => (flag ? a : b);

const last = (k: number, a: Vec<f32>, b: Vec<f32>, c: Vec<f32>): Vec<f32> => {
  if (k % 3 === 0) return a;
  if (k % 3 === 1) return b;
  return c;
};

/** Euclid's game with arrays: parameters are assigned to. */
const turned = (a: Vec<f32>, b: Vec<f32>, times: number, k: number): number => {
  for (let t = 0; t < times; t++) {
    const before = a;
    a = b;
    b = before;
  }
  return a[k]! - b[k]!;
};

const Particle = struct({ x: f32, v: f32 });

type Three = readonly [a: Float32Array, b: Float32Array, y: Float32Array];

/** A body of two arrays of 100 and 120 elements and one for results: run by JavaScript, and as a kernel in one block or two. */
function bodies(body: (i: number, a: Vec<f32>, b: Vec<f32>, y: Vec<f32>, n: i32) => void, n = 5): () => Promise<void> {
  return async () => {
    const host: Three = [ramp(N, 1), ramp(N + 20, 1000), new Float32Array(N)];
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<f32>, y: Vec<f32>, count: i32) => {
      const i = cuda.grid(1);
      if (i < y.length) body(i, a, b, y, count);
    });
    const [a, b, y] = host.map((v) => cuda.toDevice(v));
    await launch(kernel, { threads: N, block: 50 }, a!, b!, y!, cuda.scalar(i32, n) as never);
    for (let i = 0; i < N; i++) body(i, ...(host as unknown as [Vec<f32>, Vec<f32>, Vec<f32>]), n);
    sameElements(await read(y!), host[2], 'result');
    sameElements(await read(a!), host[0], 'element of a');
    sameElements(await read(b!), host[1], 'element of b');
  };
}

function refused(
  body: (a: Vec<f32>, b: Vec<f32>, other: Vec<i32>, m: Mat<f32>, i: number) => number,
  message: RegExp,
  code: string,
): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<f32>, other: Vec<i32>, m: Mat<f32>) => {
      a[0] = body(a, b, other, m, cuda.grid(1));
    });
    const f = cuda.deviceArray(4, 'f32');
    const [other, m] = [cuda.deviceArray(4, 'i32'), cuda.deviceArray([4, 4], 'f32')];
    await rejects(() => launch(kernel, { threads: 1 }, f, f, other, m as never), message, code);
  };
}

export const arrayChoices: readonly ConformanceTest[] = chapter('array choices', {
  'one of two by a condition: read, stored to, its length': bodies((i, a, b, y) => {
    const from = i % 3 === 0 ? a : b;
    y[i] = from[i]! * 2 + from.length;
    from[i]! += 0.5;
    from[i]!++;
  }),
  'a variable that is given another array': bodies((i, a, b, y) => {
    let cur = a;
    if (i > 20) cur = b;
    y[i] = cur[i]!;
    cur[i] = -y[i]!;
    cur = i > 50 ? y : a;
    cur[i]! += 7;
  }),
  'arrays that are swapped in a loop': bodies((i, a, b, y, n) => {
    for (let s = 0; s < n + (i % 4); s++) {
      b[i] = a[i]! * 2 + 1;
      [a, b] = [b, a];
    }
    y[i] = a[i]! - b[i]!;
  }),
  'three arrays that change places': bodies((i, a, b, y, n) => {
    let [old, now, next] = [a, b, y];
    for (let s = 0; s < n; s++) {
      next[i] = 2 * now[i]! - old[i]! + 1;
      [old, now, next] = [now, next, old];
    }
    now[i]! += 0.25;
  }),
  'by an index: of a literal, of a list with a name': bodies((i, a, b, y) => {
    y[i] = [a, b][i & 1]![i]!;
    const rows = [a, b, y];
    for (let k = 0; k < rows.length; k++) rows[(i + k) % 3]![i]! += k;
  }),
  'a pair of a condition: from here to there': bodies((i, a, b, y, n) => {
    const [from, to] = n > 3 ? [a, b] : [b, a];
    to[i] = from[i]! + 0.5;
    y[i] = to[i]!;
  }),
  'functions that choose': bodies((i, a, b, y) => {
    y[i] = pick(i > 30, a, b)[i]! + last(i, a, b, y)[i]!;
    pick(i % 2 === 0, y, a)[i]! += 1;
  }),
  'parameters that are assigned to': bodies((i, a, b, y, n) => {
    y[i] = turned(a, b, n + i, i);
  }),
  'fields that hold arrays': bodies((i, a, b, y, n) => {
    const buffers = { cur: a, next: b };
    for (let s = 0; s < n + i; s++) {
      const t = buffers.cur;
      buffers.cur = buffers.next;
      buffers.next = t;
    }
    y[i] = buffers.cur[i]!;
    buffers.next[i] = i;
  }),
  'a closure sees what the variable holds': bodies((i, a, b, y) => {
    let cur = a;
    const at = (k: number): number => cur[k]!;
    const first = at(0);
    if (i % 2 === 0) cur = b;
    y[i] = first + at(i);
  }),
  'a name keeps the array that it was given': bodies((i, a, b, y) => {
    let cur = a;
    const before = cur;
    for (let s = 0; s < i % 3; s++) cur = s % 2 === 0 ? b : y;
    y[i] = before[i]! + cur[i]!;
  }),
  'a store may reach another name': bodies((i, a, b, y, n) => {
    const some = n > 3 ? a : b;
    const before = a[i]!;
    some[i] = 77;
    y[i] = before * 1000 + a[i]! + b[i]! * 2;
  }),
  'slices of different starts and steps': bodies((i, a, b, y) => {
    let part = a as Vec<f32> & { slice(range: string): Vec<f32> };
    const own = (v: Vec<f32>, start: number, step: number, k: number): number => v[start + step * k]!;
    y[i] = own(i > 40 ? b : part, i > 60 ? 3 : 0, i > 60 ? 2 : 1, i >> 2);
    part = (i > 40 ? b : a) as never;
    y[i]! += part[i >> 1]!;
  }),
  'what may be nothing': bodies((i, a, b, y) => {
    let own: Vec<f32> | undefined;
    if (i > 40) own = a;
    const from = own ?? b;
    y[i] = from[i]! + (own || y)[i]!;
  }),
  'a loop and methods over a choice': bodies((i, a, b, y) => {
    const v = i % 2 === 0 ? a : b;
    let sum = 0;
    for (const e of v) sum += e;
    y[i] = sum + v.reduce((s, e) => Math.max(s, e), 0);
  }),
  'loops that end early while arrays turn': bodies((i, a, b, y, n) => {
    let from = a;
    let to = b;
    let s = 0;
    while (true) {
      if (s >= n) break;
      s++;
      if ((i + s) % 3 === 0) continue;
      const t = from;
      from = to;
      to = t;
    }
    y[i] = from[i]! - to[i]! * s;
  }),

  'arrays of JavaScript that are swapped': integers((k, x) => {
    let from = [x[k], x[k + 1], x[k + 2], x[k + 3]];
    let to = [0, 0, 0, 0];
    for (let s = 0; s < 3; s++) {
      for (let j = 0; j < 4; j++) to[j] = (from[(j + s + k) & 3]! >> 1) + j;
      [from, to] = [to, from];
    }
    return (from[k & 3]! * 3 + to[1]!) | 0;
  }),
  'one of two literals, stored to': integers((k, x) => {
    const [p, q] = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    const some = x[k] > 0 ? p : q;
    some[k % 3] = x[k] & 255;
    return p[0]! * 5 + p[1]! * 7 + p[2]! * 11 + q[0]! * 13 + q[1]! * 17 + q[2]! * 19;
  }),
  'new Array(n).fill(0) by turns': integers((k, x) => {
    let row = new Array<number>(12).fill(0);
    let above = new Array<number>(12).fill(1);
    for (let s = 0; s < 5; s++) {
      for (let j = 1; j < 12; j++) row[j] = (above[j]! + row[j - 1]! + (x[k] & 3)) & 1023;
      const t = above;
      above = row;
      row = t;
    }
    return above[11]! * 1024 + row[5 + (k % 5)]!;
  }),

  'buffers in shared memory': async () => {
    const kernel = cuda.jit((y: Vec<f32>, steps: i32) => {
      let p = cuda.shared.array(64, f32);
      let q = cuda.shared.array(64, f32);
      const t = cuda.threadIdx.x;
      p[t] = t;
      cuda.syncThreads();
      for (let s = 0; s < steps; s++) {
        q[t] = p[(t + 1) % 64]! * 0.5 + p[t]!;
        cuda.syncThreads();
        [p, q] = [q, p];
      }
      y[cuda.grid(1)] = p[t]!;
    });
    const y = cuda.deviceArray(128, 'f32');
    await launch(kernel, { grid: 2, block: 64 }, y, 5);
    let p = Float32Array.from({ length: 64 }, (_, k) => k);
    for (let s = 0; s < 5; s++) p = p.map((v, k) => Math.fround(p[(k + 1) % 64]! * 0.5 + v));
    sameElements(await read(y), Float32Array.of(...p, ...p), 'thread');
  },
  'memories of all kinds, one of them captured': async () => {
    const kernel = cuda.jit((y: Vec<f32>, a: In<Vec<f32>>) => {
      const i = cuda.grid(1);
      const own = new Float32Array(4);
      const tile = cuda.shared.array(4, f32);
      own[i % 4] = i;
      if (i < 4) tile[i] = i * 10;
      cuda.syncThreads();
      const v = [own, tile, a, LOW, HIGH][i % 5]!;
      y[i] = v[i % 4]! + v.length * 1000;
    });
    const y = cuda.deviceArray(40, 'f32');
    await launch(kernel, { grid: 1, block: 40 }, y, cuda.toDevice(ramp(7, 0.5)) as never);
    const expected = Float32Array.from({ length: 40 }, (_, i) => {
      const own = new Float32Array(4);
      own[i % 4] = i;
      const v = [own, Float32Array.of(0, 10, 20, 30), ramp(7, 0.5), LOW, HIGH][i % 5]!;
      return v[i % 4]! + v.length * 1000;
    });
    sameElements(await read(y), expected, 'thread');
  },
  'atomics, also of memories of two kinds': async () => {
    const kernel = cuda.jit((a: Vec<i32>, b: Vec<i32>) => {
      const i = cuda.grid(1);
      const tile = cuda.shared.array(4, i32);
      if (i < 4) tile[i] = 0;
      cuda.syncThreads();
      const counts = i % 3 === 0 ? tile : i % 3 === 1 ? a : b;
      cuda.atomic.add(counts, i % 4, i);
      const old = cuda.atomic.max(i % 2 === 0 ? a : b, 4, i);
      if (old > 1000) a[0] = -1;
      cuda.syncThreads();
      if (i < 4) b[5 + i] = tile[i]!;
    });
    const [a, b] = [cuda.toDevice(new Int32Array(5)), cuda.toDevice(new Int32Array(9))];
    await launch(kernel, { grid: 1, block: 60 }, a, b);
    const [x, y, tile] = [new Int32Array(5), new Int32Array(9), new Int32Array(4)];
    for (let i = 0; i < 60; i++) {
      (i % 3 === 0 ? tile : i % 3 === 1 ? x : y)[i % 4]! += i;
      const v = i % 2 === 0 ? x : y;
      v[4] = Math.max(v[4]!, i);
    }
    y.set(tile, 5);
    sameElements(await read(a), x, 'a');
    sameElements(await read(b), y, 'b');
  },
  'matrices of other layouts, their shapes and rows': async () => {
    const kernel = cuda.jit((y: Vec<f32>, m: Mat<f32>, n: Mat<f32>) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      const v = i % 2 === 0 ? m : n;
      const row = i % 3 === 0 ? v[1]! : n.T[2]!;
      y[i] = v[2]![i % 3]! + v.shape[0]! * 100 + v.shape[1]! * 1000 + row[i % 3]! * 10000;
    });
    const m = cuda.toDevice(ramp(12, 1)).reshape([4, 3]);
    const n = (cuda.toDevice(ramp(15, 50)).reshape([3, 5]) as unknown as { T: unknown }).T;
    const y = cuda.deviceArray(24, 'f32');
    await launch(kernel, { threads: 24 }, y, m as never, n as never);
    const at = (r: number, c: number): number => 1 + 3 * r + c;
    const turn = (r: number, c: number): number => 50 + 5 * c + r;
    const expected = Float32Array.from({ length: 24 }, (_, i) => {
      const even = i % 2 === 0;
      const row = i % 3 !== 0 ? turn(i % 3, 2) : even ? at(1, i % 3) : turn(1, i % 3);
      return (even ? at : turn)(2, i % 3) + (even ? 4 : 5) * 100 + 3000 + row * 10000;
    });
    sameElements(await read(y), expected, 'thread');
  },
  'structs, their elements and members': async () => {
    const kernel = cuda.jit((y: Vec<f64>, p: Vec<typeof Particle>, q: Vec<typeof Particle>) => {
      const i = cuda.grid(1);
      const some = i % 2 === 0 ? p : q;
      const one: Struct<typeof Particle> = some[i]!;
      one.x += one.v;
      const members = i % 3 === 0 ? some.field('x') : some.field('v');
      members[i] = members[i]! * 2;
      const other = i > 3 ? p[i]! : q[i]!;
      y[i] = other.x * 100 + other.v;
      cuda.syncThreads();
      if (i === 5) {
        const first = some[0]!;
        some[0] = some[1]!;
        y[i] = first.x + some[0]!.x * 10;
      }
    });
    const all = (from: number) => Array.from({ length: 9 }, (_, k) => ({ x: from + k, v: k * 0.5 }));
    const [p, q] = [all(1), all(50)];
    const [dp, dq] = [p, q].map((v) => cuda.toDevice(ndarray(v, { dtype: Particle })));
    const y = cuda.deviceArray(9, 'f64');
    await launch(kernel, { grid: 1, block: 9 }, y, dp as never, dq as never);
    const expected = new Float64Array(9);
    for (let i = 0; i < 9; i++) {
      const some = i % 2 === 0 ? p : q;
      some[i]!.x += some[i]!.v;
      some[i]![i % 3 === 0 ? 'x' : 'v'] *= 2;
      const other = (i > 3 ? p : q)[i]!;
      expected[i] = other.x * 100 + other.v;
    }
    expected[5] = 50 + 51.5 * 10;
    sameElements((await read(y)) as Float64Array, expected, 'thread');
  },

  'arrays of two types are no choice': refused(
    (a, _b, other, _m, i) => (i > 0 ? a : (other as never as Vec<f32>))[0]!,
    /array of f32, .* one of i32/,
    'K232',
  ),
  'of two ranks': refused(
    (a, _b, _o, m, i) => {
      let v = a;
      for (let k = 0; k < i; k++) v = m as never as Vec<f32>;
      return v[0]!;
    },
    /array of rank 1, .* an array of rank 2/,
    'K232',
  ),
  'of numbers without a type': refused(
    (a, _b, _o, _m, i) => (i > 0 ? a : ([1, 2, 3] as never as Vec<f32>))[i]!,
    /array of f32, .* one of numbers/,
    'K232',
  ),
  'an array that each round makes anew': refused(
    () => {
      let above = [0, 0, 0];
      for (let s = 0; s < 3; s++) {
        const row = [1, 1, 1];
        for (let j = 1; j < 3; j++) row[j] = above[j]! + row[j - 1]!;
        above = row;
      }
      return above[2]!;
    },
    /\w+ is created anew in each iteration/,
    'K245',
  ),
  'a store where one of them is read-only': refused(
    (a, _b, _o, _m, i) => {
      const v = i > 0 ? a : (LOW as never as Vec<f32>);
      v[0] = 1;
      return 0;
    },
    /\w+ is a captured host array and read-only/,
    'K241',
  ),
  'an atomic where one of them is of the thread': refused(
    (a, _b, _o, _m, i) => {
      const v = i > 0 ? a : (new Float32Array(4) as never as Vec<f32>);
      cuda.atomic.add(v, 0, 1);
      return 0;
    },
    /local memory belongs to one thread/,
    'K334',
  ),
});
