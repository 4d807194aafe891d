/** The f64 table for processors against integer arithmetic, through the pass and the interpreter. */
import { describe, expect, it } from 'vitest';
import type { MathFn } from '../../ir/ops.ts';
import { HOST_MATH } from '../host.ts';
import { preciseUlps } from '../precise.testing.ts';
import { arity, evaluateF64Table, MATH_FNS, MAX_ULP_F64 } from '../testing.ts';
import { MATH_F64 } from './table.ts';

const FNS = MATH_FNS.filter((fn) => MATH_F64[fn] !== undefined);

/** Zeros, denormals, the ends of the range and of what bodies take, infinities, NaN, and what is exactly representable. */
const SPECIAL = [0, 2 ** -1074, 2 ** -1022 - 2 ** -1074, 2 ** -1022, 1e-200, 2 ** -30, 0.5, 1, 1.5, 2, 3, 4, 10, 20]
  .concat([708, 708.0000000000001, 709.5, 745, 1020, 1020.5, 1024, 131072, 131072.00000000003, 1e10, 2 ** 53, 1e22])
  .concat([1e150, 1e200, Number.MAX_VALUE, Number.POSITIVE_INFINITY])
  .flatMap((x) => [x, -x])
  .concat(Number.NaN);

const ordinary = Array.from({ length: 150 }, (_, k) => (k - 71.7) * 0.0871 + 1e-9 * k);
const wide = Array.from({ length: 150 }, (_, k) => (k % 2 ? -1 : 1) * 1.37 ** (k * 0.7 - 50));
/** Next to where sines and logarithms are zero. */
const zeros = Array.from({ length: 100 }, (_, k) =>
  k < 50 ? k * 1663 * (Math.PI / 2) : 1 + (k - 75) * 2 ** -(k - 20),
);

function worst(fn: MathFn, ...columns: readonly (readonly number[])[]) {
  let most = { ulp: 0, args: '', got: 0 };
  evaluateF64Table(fn, ...columns).forEach((got, k) => {
    const [x = 0, y = 1] = columns.map((column) => column[k] ?? 0);
    const about = HOST_MATH[fn](x, y);
    // What is the host's, or what it finds too, is not measured; the reference is not made for everything.
    if (Object.is(got, about)) return;
    const plain = Number.isFinite(about) && about !== 0 && Number.isFinite(x) && Number.isFinite(y) && x !== 0;
    const near = Math.abs(x) < 1e30 && Math.abs(about) > 1e-300 && Math.abs(y) < 1e30;
    // Beside the host's, whose result is rounded too.
    let ulp = plain ? Math.abs(got / about - 1) * 2 ** 52 - 0.5 : Number.POSITIVE_INFINITY;
    if (plain && near) ulp = preciseUlps(fn, got, x, y);
    if (ulp > most.ulp) most = { ulp, args: `${x}, ${y}`, got };
  });
  return most;
}

describe.each(FNS)('%s', (fn) => {
  const bounded = (w: { ulp: number }): boolean => w.ulp <= (MAX_ULP_F64[fn] ?? 0);
  it('stays within its bound', () => {
    for (const list of [ordinary, wide, zeros]) {
      const columns = [list, [...list].reverse()].slice(0, arity(fn));
      expect(worst(fn, ...columns)).toSatisfy(bounded);
    }
  });
  it('is right for special arguments, and pairs of them', () => {
    const first = arity(fn) === 1 ? SPECIAL : SPECIAL.flatMap((x) => SPECIAL.map(() => x));
    const columns = [first, SPECIAL.flatMap(() => SPECIAL)].slice(0, arity(fn));
    expect(worst(fn, ...columns)).toSatisfy(bounded);
  });
});

describe('results that a number holds', () => {
  const exactly = (fn: MathFn, ...columns: readonly (readonly number[])[]) =>
    Array.from(evaluateF64Table(fn, ...columns));
  const powers = Array.from({ length: 600 }, (_, k) => 2 ** (k - 300));
  it('are those of exp2 and log2', () => {
    const exponents = powers.map((_, k) => k - 300);
    expect(exactly('exp2', exponents)).toEqual(powers);
    expect(exactly('log2', powers)).toEqual(exponents);
  });
  it('are those of log10', () => {
    const tens = Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));
    expect(exactly('log10', tens)).toEqual(tens.map((_, k) => k));
  });
  it('are those of whole powers', () => {
    const cases = [2, 3, 5, 7, 10, 12, 1.5, 0.25].flatMap((x) =>
      Array.from({ length: 30 }, (_, n) => [x, n - 8] as const).filter(
        ([, y]) => Number.isSafeInteger(x ** Math.abs(y)) && y >= 0,
      ),
    );
    const want = cases.map(([x, y]) => Number(BigInt(Math.round(x)) ** BigInt(y)));
    const got = exactly(
      'pow',
      cases.map(([x]) => x),
      cases.map(([, y]) => y),
    );
    cases.forEach(([x, y], k) => {
      if (Number.isInteger(x)) expect(got[k], `${x} ** ${y}`).toBe(want[k]);
    });
  });
  it('are those of hypot', () => {
    expect(exactly('hypot', [3, 5, 8, 0, 20, -3], [4, 12, 15, 0, 21, -4])).toEqual([5, 13, 17, 0, 29, 5]);
  });
});
