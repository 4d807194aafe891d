/**
 * Rounded quotients of integers: held against exact rational arithmetic, at every type and rounding, and through variables.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { compileFor, run, type TestArray } from './testing.ts';

type V = { [k: number]: number; length: number };
type B = { [k: number]: bigint; length: number };

/** a / b rounded, in exact integers; a zero divisor gives 0. */
function rounded(fn: string, a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  const [n, d] = b < 0n ? [-a, -b] : [a, b];
  const down = n / d - (n % d < 0n ? 1n : 0n);
  const rest = n - down * d;
  switch (fn) {
    case 'floor':
      return down;
    case 'ceil':
      return rest === 0n ? down : down + 1n;
    case 'round':
      return 2n * rest >= d ? down + 1n : down;
    case 'rint':
      return 2n * rest > d || (2n * rest === d && down % 2n !== 0n) ? down + 1n : down;
    default:
      return n / d;
  }
}

const WORDS = [0, 1, -1, 2, -2, 3, -3, 7, 100, -100, 16777217, 99999999, 100000000];
const I32 = [...WORDS, 2 ** 31 - 1, 2 - 2 ** 31, 1 - 2 ** 31, -(2 ** 31)];
const U32 = [...WORDS.filter((x) => x >= 0), 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1];
const I64 = [...I32.map(BigInt), 2n ** 53n + 1n, 2n ** 63n - 1n, 1n - 2n ** 63n, -(2n ** 63n)];
const U64 = [...U32.map(BigInt), 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

function pairs<T>(list: readonly T[]): [a: T[], b: T[]] {
  const all = list.flatMap((a) => list.map((b) => [a, b] as const));
  return [all.map((p) => p[0]), all.map((p) => p[1])];
}

const FUNCTIONS = ['floor', 'ceil', 'round', 'trunc', 'rint'];
const COUNT = FUNCTIONS.length;

/** What an array of the given type holds of the exact results. */
function expected(a: TestArray, b: TestArray, y: TestArray): TestArray {
  const want = y.slice();
  for (let k = 0; k < a.length; k++)
    FUNCTIONS.forEach((fn, j) => {
      const q = rounded(fn, BigInt(a[k] ?? 0), BigInt(b[k] ?? 0));
      const bits = new BigInt64Array([BigInt.asIntN(64, q)]);
      if (want instanceof BigInt64Array || want instanceof BigUint64Array) want[COUNT * k + j] = bits[0] ?? 0n;
      else want[COUNT * k + j] = Number(BigInt.asIntN(32, q));
    });
  return want;
}

const direct = (a: V, b: V, y: V): void => {
  for (let k = 0; k < a.length; k++) {
    y[5 * k] = Math.floor(a[k] / b[k]);
    y[5 * k + 1] = Math.ceil(a[k] / b[k]);
    y[5 * k + 2] = Math.round(a[k] / b[k]);
    y[5 * k + 3] = Math.trunc(a[k] / b[k]);
    y[5 * k + 4] = cuda.rint(a[k] / b[k]);
  }
};

const named = (a: V, b: V, y: V): void => {
  for (let k = 0; k < a.length; k++) {
    const q = a[k] / b[k];
    y[5 * k] = Math.floor(q);
    y[5 * k + 1] = Math.ceil(q);
    y[5 * k + 2] = Math.round(q);
    y[5 * k + 3] = Math.trunc(+q);
    y[5 * k + 4] = cuda.rint(q);
  }
};

describe('quotients of integers are rounded exactly', () => {
  it.each([
    ['i32', ...pairs(I32).map((x) => Int32Array.from(x))],
    ['u32', ...pairs(U32).map((x) => Uint32Array.from(x))],
    ['i16', ...pairs(I32).map((x) => Int16Array.from(x))],
    ['u8', ...pairs(U32).map((x) => Uint8Array.from(x))],
  ] as [string, TestArray, TestArray][])('%s', (_, a, b) => {
    const Type = a instanceof Uint32Array ? Uint32Array : Int32Array;
    const want = expected(a, b, new Type(COUNT * a.length));
    for (const kernel of [direct, named]) {
      const y = new Type(COUNT * a.length);
      run(kernel, [a, b, y]);
      expect(y).toEqual(want);
    }
  });

  it.each([
    ['i64', ...pairs(I64).map((x) => BigInt64Array.from(x))],
    ['u64', ...pairs(U64).map((x) => BigUint64Array.from(x))],
  ] as [string, TestArray, TestArray][])('%s', (_, a, b) => {
    const y = a instanceof BigInt64Array ? new BigInt64Array(COUNT * a.length) : new BigUint64Array(COUNT * a.length);
    run(direct, [a, b, y]);
    expect(y).toEqual(expected(a, b, y));
  });

  it('as bit operations and indices see them', () => {
    const kernel = (a: V, b: V, y: V): void => {
      for (let k = 0; k < a.length; k++) {
        const q = a[k] / b[k];
        y[8 * k] = (a[k] / b[k]) | 0;
        y[8 * k + 1] = ~~q;
        y[8 * k + 2] = q >> 0;
        y[8 * k + 3] = (q >>> 0) | 0;
        y[8 * k + 4] = q & 0xff;
        y[8 * k + 5] = Math.imul(q, 3);
        y[8 * k + 6] = ~(a[k] / b[k]);
        y[8 * k + 7] = q << 1;
      }
    };
    for (const a of [Int32Array, Uint32Array]) {
      const [x, z] = pairs(a === Int32Array ? I32 : U32).map((list) => a.from(list)) as [Int32Array, Int32Array];
      const y = new Int32Array(8 * x.length);
      const want = new Int32Array(8 * x.length);
      run(kernel, [x, z, y]);
      kernel(x, z, want);
      expect(y).toEqual(want);
    }
  });

  it('whatever the fraction itself becomes', () => {
    // Beside f32 the fraction is an f32, and would be 1.
    const kernel = (a: V, y: V): void => {
      const q = a[0] / a[1];
      y[0] = q;
      y[1] = Math.floor(q);
      y[2] = Math.floor(a[0] / a[1]);
      y[3] = Math.trunc(-(a[0] / a[1]));
      y[4] = Math.trunc(Math.abs(a[0] / a[1]));
      y[5] = -(a[0] / a[1]) | 0;
    };
    const y = new Float32Array(6).fill(9);
    run(kernel, [Int32Array.of(99999999, 100000000), y], {}, { defaultFloat: 'f32' });
    expect([...y].map((v) => v + 0)).toEqual([1, 0, 0, 0, 0, 0]);
  });

  it('where a variable holds a quotient on some paths, and an integer on others', () => {
    const kernel = (a: V, b: V, y: V): void => {
      for (let k = 0; k < a.length; k++) {
        let q = -1;
        if (b[k] !== 0) q = a[k] / b[k];
        y[2 * k] = Math.ceil(q);
        const r = b[k] > 2 ? q : a[k] / 7;
        y[2 * k + 1] = Math.round(r);
      }
    };
    const [a, b] = pairs(I32).map((x) => Int32Array.from(x)) as [Int32Array, Int32Array];
    const y = new Int32Array(2 * a.length);
    const want = new Int32Array(2 * a.length);
    run(kernel, [a, b, y]);
    kernel(a, b, want);
    expect(y).toEqual(want);
  });

  it('of what was divided at the assignment, not of what is there now', () => {
    const kernel = (a: V, y: V): void => {
      const q = a[0] / a[1];
      a[0] = 50;
      let n = a[1];
      const r = a[0] / n;
      n = 7;
      y[0] = Math.floor(q);
      y[1] = Math.ceil(r);
      y[2] = n;
    };
    const y = new Int32Array(3);
    run(kernel, [Int32Array.of(-7, 3), y]);
    expect([...y]).toEqual([-3, 17, 7]);
  });

  it('and are integers to what uses them', () => {
    const c = compileFor(
      (x: V, n: V) => {
        const middle = n[0] / 2;
        const at = Math.floor(middle);
        x[at] = 1;
      },
      [new Float32Array(4), Int32Array.of(5)],
    );
    expect(c.types().find((t) => t.name === 'at')?.type).toBe('i32');
  });

  it('as bigints where a variable holds one: whole already', () => {
    const kernel = (a: B, y: B): void => {
      const q = a[0] / a[1];
      y[0] = q;
      // @ts-expect-error -- JavaScript's Math has no bigints.
      y[1] = Math.floor(q);
    };
    const y = new BigInt64Array(2);
    run(kernel, [BigInt64Array.of(-7n, 2n), y]);
    expect([...y]).toEqual([-3n, -3n]);
  });
});
