/**
 * The table for GPUs, through the pass and the interpreter: f32 against double precision, f64 against integer arithmetic.
 * Samples only; `npm run ulp:gpu` takes many more.
 */
import { describe, expect, it } from 'vitest';
import { HOST_MATH } from './host.ts';
import { preciseUlps } from './precise.testing.ts';
import {
  arity,
  evaluateGpuTable,
  fromBits,
  GPU_MAX_ULP_F32,
  GPU_MAX_ULP_F64,
  MATH_FNS,
  SPECIAL,
  ulps,
} from './testing.ts';

const unary = MATH_FNS.filter((fn) => arity(fn) === 1);
const binary = MATH_FNS.filter((fn) => arity(fn) === 2);

/** Evenly spread bit patterns, with a stride that is no power of two: every exponent and sign. */
const spread = Array.from({ length: 400 }, (_, k) => fromBits((k * 10737421) >>> 0));
/** Where most functions have their curves. */
const ordinary = Array.from({ length: 400 }, (_, k) => Math.fround((k - 200) * 0.0491 + k * 1e-6));

function worstSingle(fn: (typeof MATH_FNS)[number], ...columns: readonly (readonly number[])[]) {
  let most = { ulp: 0, args: '', got: 0 };
  evaluateGpuTable(fn, {}, ...columns).forEach((got, k) => {
    const args = columns.map((column) => column[k] ?? 0);
    const want = HOST_MATH[fn](...args);
    let ulp = ulps(got, want);
    // Near its zeros below 0, lgamma is accurate absolutely.
    if (fn === 'lgamma' && (args[0] ?? 0) < 0 && Math.abs(want) < 1) ulp = Math.abs(got - want) * 2 ** 23;
    if (ulp > most.ulp) most = { ulp, args: args.join(', '), got };
  });
  return most;
}

describe.each(unary)('%s of f32', (fn) => {
  it('stays within its bound', () => {
    for (const arguments_ of [spread, ordinary, SPECIAL]) {
      expect(worstSingle(fn, arguments_)).toSatisfy((w: { ulp: number }) => w.ulp <= GPU_MAX_ULP_F32[fn]);
    }
  });
});

describe.each(binary)('%s of f32', (fn) => {
  it('stays within its bound, and is right for every pair of special arguments', () => {
    const a = SPECIAL.flatMap((x) => SPECIAL.map(() => x));
    const b = SPECIAL.flatMap(() => SPECIAL);
    expect(worstSingle(fn, a, b)).toSatisfy((w: { ulp: number }) => w.ulp <= GPU_MAX_ULP_F32[fn]);
    expect(worstSingle(fn, spread, [...spread].reverse())).toSatisfy(
      (w: { ulp: number }) => w.ulp <= GPU_MAX_ULP_F32[fn],
    );
  });
});

/** Zeros, denormals, the ends of the range, infinities, NaN, and what is exactly representable. */
const SPECIAL_F64 = [
  0,
  2 ** -1074,
  2 ** -1060,
  2 ** -1022,
  1e-200,
  2 ** -30,
  0.5,
  1,
  1.5,
  2,
  3,
  4,
  10,
  709.5,
  745,
  1e5,
  2 ** 30,
]
  .concat([2 ** 31 + 1, 2 ** 53, 1e22, 1e200, Number.MAX_VALUE, Number.POSITIVE_INFINITY])
  .flatMap((x) => [x, -x])
  .concat(Number.NaN);

const ordinaryF64 = Array.from({ length: 24 }, (_, k) => (k - 11.7) * 0.2371 + 1e-9 * k);
const wideF64 = Array.from({ length: 24 }, (_, k) => (k % 2 ? -1 : 1) * 1.37 ** (k * 3 - 36));

function worstDouble(fn: (typeof MATH_FNS)[number], ...columns: readonly (readonly number[])[]) {
  let most = { ulp: 0, args: '', got: 0 };
  evaluateGpuTable(fn, { type: 'f64' }, ...columns).forEach((got, k) => {
    const [x = 0, y = 1] = columns.map((column) => column[k] ?? 0);
    const about = HOST_MATH[fn](x, y);
    const plain = Number.isFinite(about) && about !== 0 && Number.isFinite(x) && Number.isFinite(y) && x !== 0;
    // Huge arguments take the reference long, and their results are known.
    const near = Math.abs(x) < 1e30 && Math.abs(about) > 1e-300 && Math.abs(y) < 1e30;
    let ulp = Object.is(got, about) ? 0 : plain ? Math.abs(got / about - 1) * 2 ** 52 : Number.POSITIVE_INFINITY;
    if (plain && near) ulp = preciseUlps(fn, got, x, y);
    if (fn === 'lgamma' && x < 0 && Math.abs(about) < 1) ulp = Math.abs(got - about) * 2 ** 52;
    if (ulp > most.ulp) most = { ulp, args: `${x}, ${y}`, got };
  });
  return most;
}

describe.each(unary)('%s of f64', (fn) => {
  it('stays within its bound', () => {
    for (const arguments_ of [ordinaryF64, wideF64, SPECIAL_F64]) {
      expect(worstDouble(fn, arguments_)).toSatisfy((w: { ulp: number }) => w.ulp <= GPU_MAX_ULP_F64[fn]);
    }
  });
});

describe.each(binary)('%s of f64', (fn) => {
  it('stays within its bound, and is right for pairs of special arguments', () => {
    const few = SPECIAL_F64.filter((_, k) => k % 2 === 0 || k > 40);
    const a = few.flatMap((x) => few.map(() => x));
    const b = few.flatMap(() => few);
    expect(worstDouble(fn, a, b)).toSatisfy((w: { ulp: number }) => w.ulp <= GPU_MAX_ULP_F64[fn]);
    expect(worstDouble(fn, ordinaryF64, [...ordinaryF64].reverse())).toSatisfy(
      (w: { ulp: number }) => w.ulp <= GPU_MAX_ULP_F64[fn],
    );
  });
});
