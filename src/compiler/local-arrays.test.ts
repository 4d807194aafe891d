/**
 * JavaScript arrays in kernels, compared with the same JavaScript run on the host.
 */
import { describe, expect, it } from 'vitest';
import { eachExpr, eachStmt } from './ir/passes/walk.ts';
import { compileFor, run } from './testing.ts';

const f = (...x: number[]): Float32Array => Float32Array.from(x);
const i = (...x: number[]): Int32Array => Int32Array.from(x);

type V = { [k: number]: number; length: number };

/** Runs a body on the host and as a kernel, and compares what it leaves. */
function same(body: (x: V, y: V) => void, x: Float32Array | Int32Array = f(1, 2, 3, 4), length = 8): void {
  const like = (): typeof x => (x instanceof Float32Array ? new Float32Array(length) : new Int32Array(length));
  const [want, got] = [like(), like()];
  body(x.slice(), want);
  run(body as never, [x.slice(), got], {}, { defaultFloat: 'f32' });
  expect(got).toEqual(want);
}

const WEIGHTS = [1, 4, 6, 4, 1];
const Q = [
  [16, 11, 10],
  [12, 12, 14],
];
const SPHERES = [
  { x: 1, r: 0.5 },
  { x: 2, r: 0.25 },
];
const twice = (x: number): number => x * 2;
const square = (x: number): number => x * x;
const OPS = [twice, square, Math.sqrt];

describe('literals', () => {
  it('stay tuples where nothing asks for memory', () => {
    const body = (_x: V, y: V): void => {
      const t = [1, 2, 3];
      y[0] = t[0]! + t[2]!;
    };
    const { compiled } = run(body as never, [f(0), f(0)]);
    expect(compiled.kernel.arrays.some((a) => a.space !== 'global')).toBe(false);
    same(body);
  });

  it('are stored to and read by a variable', () => {
    same((x, y) => {
      const v = [0, 0, 0];
      for (let k = 0; k < 4; k++) v[k % 3]! += x[k]!;
      for (let k = 0; k < 3; k++) y[k] = v[k]!;
      v[1] = 7;
      v[1]++;
      y[4] = v[1]! + v.length;
    });
  });

  it('of rows', () => {
    same((x, y) => {
      const m = [
        [1, 2],
        [3, x[0]!],
      ];
      for (let k = 0; k < 2; k++) for (let j = 0; j < 2; j++) m[k]![j]! *= x[j]!;
      const row = m[1]!;
      row[0] = 9;
      for (let k = 0; k < 4; k++) y[k] = m[k >> 1]![k & 1]!;
    });
  });

  it('are fresh each round, and shared by their names', () => {
    same((x, y) => {
      for (let k = 0; k < 4; k++) {
        const v = [0, 10];
        const w = v;
        for (let j = 0; j <= k; j++) w[j & 1]! += x[j]!;
        y[k] = v[0]! + v[1]! * 100;
      }
    });
  });

  it('go to functions by reference', () => {
    const add = (v: number[], k: number, by: number): void => {
      v[k]! += by;
    };
    const made = (n: number): number[] => [n, n + 1, n + 2];
    const body = (x: V, y: V): void => {
      const v = [0, 0];
      for (let k = 0; k < 4; k++) add(v, k & 1, x[k]!);
      const w = made(5);
      for (let k = 0; k < 3; k++) y[k] = w[k]! + v[k & 1]!;
    };
    const scope = { add, made };
    void scope;
    same(body);
  });
});

describe('constants', () => {
  it('are constant memory when they are indexed by a variable', () => {
    const body = (x: V, y: V): void => {
      for (let k = 0; k < 5; k++) y[k] = WEIGHTS[k]! * x[k & 3]!;
      const near = [0.5, 0.25, 0.125];
      for (let k = 0; k < 3; k++) y[k]! += near[k]!;
    };
    same(body);
    const { compiled } = run(body as never, [f(1, 2, 3, 4), new Float32Array(8)]);
    const spaces = compiled.kernel.arrays.filter((a) => a.space !== 'global').map((a) => `${a.space} ${a.elem}`);
    expect(spaces).toEqual(['constant f32', 'constant f32']);
  });

  it('of rows and of objects', () => {
    same((x, y) => {
      for (let k = 0; k < 6; k++) y[k] = Q[k % 2]![k % 3]! + x[0]!;
      for (let k = 0; k < 2; k++) y[k]! += SPHERES[k]!.x * SPHERES[k]!.r;
    });
  });

  it('are integers where they are used as such', () => {
    same(
      (x, y) => {
        const order = [3, 1, 0, 2];
        for (let k = 0; k < 4; k++) y[k] = x[order[k]!]!;
        let h = 0;
        for (let k = 0; k < 4; k++) h = (h * 31 + order[k]!) | 0;
        y[5] = h;
      },
      i(10, 20, 30, 40),
    );
  });
});

describe('functions', () => {
  it('are called by a number', () => {
    same((x, y) => {
      for (let k = 0; k < 6; k++) y[k] = OPS[k % 3]!(x[k & 3]!);
      const f = OPS[y.length & 1]!;
      y[6] = f(3);
    });
  });
});

describe('counting', () => {
  it('into an array of integers', () => {
    same(
      (x, y) => {
        const bins = [0, 0, 0, 0];
        for (let k = 0; k < 4; k++) bins[x[k]! & 3]!++;
        for (let k = 0; k < 4; k++) y[k] = bins[k]! * 3;
      },
      i(1, 1, 3, 6),
    );
  });
});

describe('what fills an array', () => {
  it.each([4, 100])('is evaluated once, for %i elements', (n) => {
    const body = (x: V, y: V): void => {
      const a = new Array(n).fill(Math.sin(x[1]!) + x[2]!);
      for (let k = 0; k < 8; k++) y[k] = a[(k * 13) % n];
    };
    const { kernel } = compileFor(body as never, [f(1, 2, 3), f(0)]);
    let [sines, inLoops] = [0, 0];
    eachExpr(kernel.body, (e) => {
      if (e.op === 'call') sines++;
    });
    eachStmt(kernel.body, (s) => {
      if (s.op === 'loop') eachExpr(s.body, (e) => e.op === 'call' && inLoops++);
    });
    expect([sines, inLoops]).toEqual([1, 0]);
    same(body);
  });
});
