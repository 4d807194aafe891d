/** The host's f64 functions against values that mpmath gave with 40 digits, rounded to double. */
import { describe, expect, it } from 'vitest';
import { erf, erfc, HOST_MATH, lgamma, tgamma } from './host.ts';

/** The distance in units of the last place of `want`. */
function ulps(got: number, want: number): number {
  if (Object.is(got, want)) return 0;
  const exponent = Math.floor(Math.log2(Math.abs(want)));
  return Math.abs(got - want) / 2 ** Math.max(exponent - 52, -1074);
}

const ERF: readonly (readonly [number, number])[] = [
  [1e-300, 1.1283791670955126e-300],
  [1e-10, 1.1283791670955126e-10],
  [0.1, 0.1124629160182849],
  [0.5, 0.5204998778130465],
  [0.84, 0.7651427114549945],
  [0.86, 0.7761002683235567],
  [1.0, 0.8427007929497149],
  [1.5, 0.9661051464753108],
  [2.3, 0.9988568234026434],
  [3.7, 0.9999998328489421],
  [5.5, 0.9999999999999927],
  [-0.7, -0.6778011938374184],
  [-2.0, -0.9953222650189527],
];
const ERFC: readonly (readonly [number, number])[] = [
  [-3.0, 1.9999779095030015],
  [-0.7, 1.6778011938374184],
  [-0.1, 1.1124629160182848],
  [0.0, 1.0],
  [1e-18, 1.0],
  [0.3, 0.6713732405408726],
  [0.64, 0.36541417087785866],
  [0.66, 0.3506233120370458],
  [1.0, 0.15729920705028513],
  [1.7, 0.01620954140922544],
  [2.39, 0.0007249363295808059],
  [2.41, 0.0006537984174353506],
  [3.5, 7.430983723414128e-7],
  [6.0, 2.1519736712498913e-17],
  [10.0, 2.088487583762545e-45],
  [20.0, 5.395865611607901e-176],
  [26.0, 5.663192408856143e-296],
  [26.5, 2.2109076642637343e-307],
  [27.2, 1e-323],
];
const TGAMMA: readonly (readonly [number, number])[] = [
  [1e-300, 9.999999999999999e299],
  [1e-17, 1e17],
  [1e-5, 99999.42279422555],
  [0.25, 3.625609908221908],
  [0.5, 1.772453850905516],
  [0.75, 1.2254167024651776],
  [1.0, 1.0],
  [1.4616321449683622, 0.8856031944108887],
  [1.5, 0.886226925452758],
  [2.0, 1.0],
  [2.5, 1.329340388179137],
  [5.0, 24.0],
  [10.1, 454760.7514415856],
  [23.0, 1.1240007277776077e21],
  [50.5, 4.29046291235196e63],
  [100.0, 9.332621544394415e155],
  [140.25, 3.3053919654190797e239],
  [171.0, 7.257415615307999e306],
  [171.5, 9.4833675668248e307],
  [-1e-5, -100000.57722555555],
  [-0.5, -3.544907701811032],
  [-1.5, 2.363271801207355],
  [-2.4999, -0.9454130536870127],
  [-3.999, 41.72953287550348],
  [-10.3, -5.26236323953561e-7],
  [-50.5, -1.449954393907748e-65],
  [-120.7, -2.024068845414342e-200],
  [-170.5, -3.3127395215386074e-308],
  [-177.3, 2.5e-323],
];
const LGAMMA: readonly (readonly [number, number])[] = [
  [1e-300, 690.7755278982137],
  [1e-8, 18.42068073818021],
  [0.1, 2.252712651734206],
  [0.4999, 0.5725613186041184],
  [0.75, 0.20328095143129538],
  [0.999999, 5.772164873855652e-7],
  [1.000001, -5.772148423874147e-7],
  [1.25, -0.09827183642181316],
  [1.4999, -0.12078588195849393],
  [1.75, -0.08440112102048555],
  [1.999999, -4.227840125965854e-7],
  [2.000001, 4.2278465762452923e-7],
  [2.9999, 0.6930549041011312],
  [3.0, Math.LN2],
  [5.5, 3.9578139676187165],
  [7.999, 8.523145786158915],
  [8.0, 8.525161361065415],
  [12.5, 18.734347511936445],
  [100.0, 359.1342053695754],
  [100000.0, 1051287.7089736569],
  [1e17, 3.8143946580898775e18],
  [1e300, 6.897755278982137e302],
  [-0.5, 1.2655121234846454],
  [-1.5, 0.860047015376481],
  [-3.7, -1.3797399049658245],
  [-20.3, -41.887292480135244],
  [-149.5, -601.369224984736],
  [-151.5, -611.4037736938743],
];

describe('erf', () => {
  it.each(ERF)('erf(%d) = %d', (x, y) => {
    expect(ulps(erf(x), y)).toBeLessThanOrEqual(1);
  });
  it('is odd, keeps the sign of 0, and tends to ±1', () => {
    expect(erf(-0)).toBe(-0);
    expect(erf(-1.25)).toBe(-erf(1.25));
    expect(erf(-Infinity)).toBe(-1);
    expect(erf(Number.NaN)).toBeNaN();
  });
});

describe('erfc', () => {
  it.each(ERFC)('erfc(%d) = %d', (x, y) => {
    expect(ulps(erfc(x), y)).toBeLessThanOrEqual(2.5);
  });
  it('tends to 0 and 2', () => {
    expect(erfc(Infinity)).toBe(0);
    expect(erfc(-Infinity)).toBe(2);
    expect(erfc(Number.NaN)).toBeNaN();
  });
});

describe('tgamma', () => {
  it.each(TGAMMA)('tgamma(%d) = %d', (x, y) => {
    expect(ulps(tgamma(x), y)).toBeLessThanOrEqual(2.5);
  });
  it('is exact for factorials that a double holds', () => {
    let factorial = 1;
    for (let n = 1; n <= 22; n++) {
      expect(tgamma(n)).toBe(factorial);
      factorial *= n;
    }
  });
  it('has poles at 0 and the negative integers', () => {
    expect(tgamma(0)).toBe(Infinity);
    expect(tgamma(-0)).toBe(-Infinity);
    expect(tgamma(-3)).toBeNaN();
    expect(tgamma(-Infinity)).toBeNaN();
    expect(tgamma(Infinity)).toBe(Infinity);
    expect(tgamma(172)).toBe(Infinity);
    expect(tgamma(-190.5)).toBe(-0);
    expect(tgamma(-191.5)).toBe(0);
  });
});

describe('lgamma', () => {
  it.each(LGAMMA)('lgamma(%d) = %d', (x, y) => {
    expect(ulps(lgamma(x), y)).toBeLessThanOrEqual(2.5);
  });
  it('is 0 at 1 and 2, infinite at the poles', () => {
    expect(lgamma(1)).toBe(0);
    expect(lgamma(2)).toBe(0);
    expect(lgamma(0)).toBe(Infinity);
    expect(lgamma(-4)).toBe(Infinity);
    expect(lgamma(-Infinity)).toBe(Infinity);
    expect(lgamma(Infinity)).toBe(Infinity);
    expect(lgamma(Number.NaN)).toBeNaN();
  });
});

describe('HOST_MATH', () => {
  it('has exp2 and rsqrt, which Math has not', () => {
    expect(HOST_MATH.exp2(10)).toBe(1024);
    expect(HOST_MATH.exp2(-1074)).toBe(Number.MIN_VALUE);
    expect(HOST_MATH.rsqrt(16)).toBe(0.25);
    expect(HOST_MATH.rsqrt(-0)).toBe(-Infinity);
  });
});
