/**
 * Indices of 64 bits that meet data of 32 bits or fewer: what keeps the width, what is cut, and that nothing else depends on the width.
 */
import { describe, expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import type { f64, i32, u8, u32, Vec } from '../index.ts';
import { compileFor, run } from './testing.ts';

type Arg = Parameters<typeof compileFor>[1][number];

const WIDE = { indexBits: 64, checked: true } as const;
const i32s = Int32Array.of(-7, 2 ** 31 - 1);
const u32s = Uint32Array.of(5, 2 ** 32 - 1);

/** What a kernel stores of indices that are 2³⁴ times a length of 1. */
function stored(count: number, fn: (...args: never[]) => unknown, ...args: Arg[]): number[] {
  const y = new Float64Array(count);
  expect(run(fn, [y, ...args], {}, WIDE).fault).toBeUndefined();
  return [...y];
}

/** The codes of what compiling for either width throws. */
function refusals(fn: (...args: never[]) => unknown, args: readonly Arg[]): unknown[] {
  return ([32, 64] as const).map((indexBits) => {
    try {
      compileFor(fn, args, { indexBits });
      return undefined;
    } catch (error) {
      return (error as { code?: string }).code;
    }
  });
}

describe('an index of 64 bits and data of 32', () => {
  it('make numbers as wide as the index', () => {
    const got = stored(
      6,
      (y: Vec<f64>, i: Vec<i32>, u: Vec<u32>, b: Vec<u8>) => {
        const far = (y.length - 5) * 2 ** 17 * 2 ** 17;
        y[0] = far + i[0];
        y[1] = Math.max(i[1], far);
        y[2] = far - u[1];
        y[3] = u[0] - y.length - u[0];
        let k = far;
        k += b[0];
        y[4] = k;
        y[5] = i[0] < 0 ? far : i[0];
      },
      i32s,
      u32s,
      Uint8Array.of(200),
    );
    expect(got).toEqual([2 ** 34 - 7, 2 ** 34, 2 ** 34 - 2 ** 32 + 1, -6, 2 ** 34 + 200, 2 ** 34]);
  });

  it('make numbers that bit operations and stores cut as in JavaScript', () => {
    const z = new Int32Array(2);
    const got = stored(
      5,
      (y: Vec<f64>, i: Vec<i32>, u: Vec<u32>, z: Vec<i32>) => {
        const far = (y.length - 4) * 2 ** 17 * 2 ** 17;
        y[0] = (far + i[0]) | 0;
        y[1] = (far - u[0]) >>> 0;
        y[2] = (far + i[1]) << 1;
        y[3] = (i[0] + u[1] + far) | 0;
        y[4] = Math.imul(far + i[0], 3);
        z[0] = far + i[0];
        z[1] = far - u[0];
      },
      i32s,
      u32s,
      z,
    );
    expect(got).toEqual([-7, 2 ** 32 - 5, -2, -8, -21]);
    expect([...z]).toEqual([-7, -5]);
  });

  it('go with the rules of the data, whatever the width', () => {
    const [y, wide] = [new Float64Array(1), new BigUint64Array(1)];
    const args = [y, i32s, u32s, wide];
    type P = [Vec<f64>, Vec<i32>, Vec<u32>, Vec<bigint>];
    const compare = (...[y, i, u]: P) => {
      y[0] = y.length + u[0] < i[0] ? 1 : 2;
    };
    const sign = (...[y, i, u]: P) => {
      y[0] = y.length + u[0] + i[0];
    };
    const mix = (...[y, i, , w]: P) => {
      w[0] = w[0]! + ((y.length + i[0]) as never);
    };
    const fine = (...[y, i, u]: P) => {
      y[0] = y.length + i[0] + (y.length + u[0] === 3 ? 1 : 0);
    };
    expect([compare, sign, mix, fine].map((fn) => refusals(fn, args))).toEqual([
      ['K203', 'K203'],
      ['K219', 'K219'],
      ['K203', 'K203'],
      [undefined, undefined],
    ]);
  });

  it('are checked where a lane or a bit count takes 32 bits of them', () => {
    const fn = (y: Vec<f64>, i: Vec<i32>) => {
      y[0] = cuda.popc((y.length - 4) * 2 ** 17 * 2 ** 17 + i[0]);
    };
    expect(run(fn, [new Float64Array(5), i32s], {}, WIDE).fault).toContain('does not fit i32');
  });
});

describe('numbers of blocks', () => {
  it('are indices: their products do not wrap', () => {
    const got = new Float64Array(3);
    const fn = (y: Vec<f64>) => {
      const b = cuda.blockIdx.x;
      y[b] = b * 2 ** 30 + cuda.threadIdx.x;
    };
    run(fn, [got], { grid: 3 }, WIDE);
    expect([...got]).toEqual([0, 2 ** 30, 2 ** 31]);
  });
});

describe('asking for an element by a bigint', () => {
  it('needs Number(), which is no float on the way', () => {
    const at = BigInt64Array.of(2n);
    const y = Float64Array.of(1, 2, 3);
    const fn = (y: Vec<f64>, at: Vec<bigint>) => {
      y[0] = y[Number(at[0])];
    };
    const { compiled } = run(fn, [y, at]);
    expect(y[0]).toBe(3);
    expect(
      JSON.stringify(compiled.kernel.body, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v)),
    ).not.toContain('"type":"f64","to":"f64"');
    const bare = (y: Vec<f64>, at: Vec<bigint>) => {
      y[0] = y[at[0] as never];
    };
    expect(() => compileFor(bare, [y, at])).toThrow(/write Number\(at\[0\]\)/);
  });
});
