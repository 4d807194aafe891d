/**
 * The f32 table against double precision, through the pass and the interpreter. Samples only; bench/ulp.ts runs over all 2³²
 * arguments.
 */
import { describe, expect, it } from 'vitest';
import { HOST_MATH } from './host.ts';
import { arity, evaluateTable, fromBits, MATH_FNS, MAX_ULP, SPECIAL, ulps } from './testing.ts';

/** Evenly spread bit patterns, with a stride that is no power of two: every exponent and sign. */
const spread = Array.from({ length: 1500 }, (_, k) => fromBits((k * 2863311) >>> 0));
/** Where most functions have their curves. */
const ordinary = Array.from({ length: 1500 }, (_, k) => Math.fround((k - 750) * 0.0131 + k * 1e-6));

function worst(fn: (typeof MATH_FNS)[number], ...columns: readonly (readonly number[])[]) {
  const got = evaluateTable(fn, ...columns);
  let most = { ulp: 0, args: '', got: 0, want: 0 };
  got.forEach((value, k) => {
    const args = columns.map((column) => column[k] ?? 0);
    const want = HOST_MATH[fn](...args);
    let ulp = ulps(value, want);
    // Near its zeros below 0, lgamma is accurate absolutely.
    if (fn === 'lgamma' && (args[0] ?? 0) < 0 && Math.abs(want) < 1) ulp = Math.abs(value - want) * 2 ** 23;
    if (ulp > most.ulp) most = { ulp, args: args.join(', '), got: value, want };
  });
  return most;
}

describe.each(MATH_FNS.filter((fn) => arity(fn) === 1))('%s', (fn) => {
  it('stays within its bound over all exponents', () => {
    expect(worst(fn, spread)).toSatisfy((w: { ulp: number }) => w.ulp <= MAX_ULP[fn]);
  });
  it('stays within its bound around 0', () => {
    expect(worst(fn, ordinary)).toSatisfy((w: { ulp: number }) => w.ulp <= MAX_ULP[fn]);
  });
  it('is right for zeros, denormals, infinities and NaN', () => {
    expect(worst(fn, SPECIAL)).toSatisfy((w: { ulp: number }) => w.ulp <= MAX_ULP[fn]);
  });
});

describe.each(MATH_FNS.filter((fn) => arity(fn) === 2))('%s', (fn) => {
  it('is right for every pair of special arguments', () => {
    const a = SPECIAL.flatMap((x) => SPECIAL.map(() => x));
    const b = SPECIAL.flatMap(() => SPECIAL);
    expect(worst(fn, a, b)).toSatisfy((w: { ulp: number }) => w.ulp <= MAX_ULP[fn]);
  });
  it('stays within its bound over all exponents', () => {
    expect(worst(fn, spread, [...spread].reverse())).toSatisfy((w: { ulp: number }) => w.ulp <= MAX_ULP[fn]);
  });
});

describe('pow', () => {
  it('stays within its bound where the result is as large or small as it can be', () => {
    const bases = Array.from({ length: 2000 }, (_, k) => Math.fround(1.0003 ** (k * 100 - 100000) * (1 + k * 1e-5)));
    const powers = bases.map((x, k) => Math.fround((((k * 37) % 254) - 127) / Math.log2(x)));
    expect(worst('pow', bases, powers)).toSatisfy((w: { ulp: number }) => w.ulp <= MAX_ULP.pow);
  });
  it('treats infinite exponents and NaN as JavaScript does', () => {
    const of = (x: number, y: number) => evaluateTable('pow', [x], [y])[0];
    expect(of(1, Infinity)).toBeNaN();
    expect(of(-1, -Infinity)).toBeNaN();
    expect(of(1, Number.NaN)).toBeNaN();
    expect(of(Number.NaN, 0)).toBe(1);
    expect(of(-8, 1 / 3)).toBeNaN();
    expect(of(-2, 3)).toBe(-8);
    expect(of(-0, -3)).toBe(-Infinity);
  });
});

describe('exact results', () => {
  it('log2 of powers of two and log10 of powers of ten are whole', () => {
    const twos = Array.from({ length: 277 }, (_, k) => k - 149);
    expect([
      ...evaluateTable(
        'log2',
        twos.map((k) => 2 ** k),
      ),
    ]).toEqual(twos);
    const tens = Array.from({ length: 11 }, (_, k) => k);
    expect([
      ...evaluateTable(
        'log10',
        tens.map((k) => 10 ** k),
      ),
    ]).toEqual(tens);
  });
  it('exp2 and pow of whole numbers, cbrt of cubes, hypot of Pythagorean triples', () => {
    const whole = Array.from({ length: 40 }, (_, k) => k - 20);
    expect([...evaluateTable('exp2', whole)]).toEqual(whole.map((k) => 2 ** k));
    expect([
      ...evaluateTable(
        'pow',
        whole,
        whole.map(() => 2),
      ),
    ]).toEqual(whole.map((k) => k * k));
    expect([
      ...evaluateTable(
        'cbrt',
        whole.map((k) => k ** 3),
      ),
    ]).toEqual(whole.map((k) => k));
    expect([...evaluateTable('hypot', [3, 5, 8, 7], [4, 12, 15, 24])]).toEqual([5, 13, 17, 25]);
  });
});
