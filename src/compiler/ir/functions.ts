/**
 * Double-precision erf, erfc, tgamma and lgamma, which JavaScript's Math lacks.
 *
 * A few units in the last place, by series and continued fractions that can be checked by reading; speed is no concern
 * here. The math table of the renderers is elsewhere.
 */

const SQRT_PI = 1.772453850905516;

/** exp(-x*x) without the error that rounding x*x would bring. */
function expMinusSquare(x: number): number {
  const high = Math.round(x * 64) / 64;
  return Math.exp(-high * high) * Math.exp(-(x - high) * (x + high));
}

/** erf(x) = 2/sqrt(pi) exp(-x²) Σ 2ⁿ x²ⁿ⁺¹ / (1·3·…·(2n+1)): all terms have one sign. */
function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / SQRT_PI) * expMinusSquare(x) * sum;
}

/** erfc(x) for x >= 2 by its continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + …))), from the far end. */
function erfcFraction(x: number): number {
  let f = x;
  for (let k = 120; k >= 1; k--) f = x + k / 2 / f;
  return expMinusSquare(x) / SQRT_PI / f;
}

export function erf(x: number): number {
  if (Number.isNaN(x) || x === 0) return x;
  const a = Math.abs(x);
  if (a < 2.5) return erfSeries(x);
  return Math.sign(x) * (a > 6 ? 1 : 1 - erfcFraction(a));
}

export function erfc(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x < 0.5) return 1 - erf(x);
  if (x > 27.3) return 0;
  return x < 2 ? erfcMiddle(x) : erfcFraction(x);
}

/** Between the series, which cancels, and the fraction, which converges slowly: more rounds of the fraction. */
function erfcMiddle(x: number): number {
  let f = x;
  for (let k = 2000; k >= 1; k--) f = x + k / 2 / f;
  return expMinusSquare(x) / SQRT_PI / f;
}

/** Σ B₂ₖ / (2k (2k-1) z²ᵏ⁻¹): the tail of Stirling's formula, to double precision for z >= 10. */
function stirlingTail(z: number): number {
  const r = 1 / (z * z);
  const terms = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];
  return terms.reduceRight((sum, t) => sum * r + t, 0) / z;
}

/** JavaScript has no gamma function: Γ(x), exact for the integers up to 23. */
export function tgamma(x: number): number {
  if (Number.isNaN(x) || x === Number.POSITIVE_INFINITY) return x;
  if (x === 0) return 1 / x;
  if (x < 0) {
    if (Number.isInteger(x) || x === Number.NEGATIVE_INFINITY) return Number.NaN;
    if (x < -184) return sineOfPiTimes(x) < 0 ? 0 : -0;
    // Γ(x) Γ(1-x) = π / sin(πx); divided twice, because Γ(1-x) alone may overflow.
    const y = 1 - x;
    const half = y > 170 ? stirlingRoot(y) : 0;
    const s = Math.PI / sineOfPiTimes(x);
    return y > 170 ? s / half / half : s / tgamma(y);
  }
  if (x > 171.7) return Number.POSITIVE_INFINITY;
  if (Number.isInteger(x)) return factorial(x - 1);
  if (x >= 12) return stirling(x);
  // Upwards to where Stirling's formula is exact to the last bits.
  let z = x;
  let product = 1;
  while (z < 12) product *= z++;
  return stirling(z) / product;
}

function factorial(n: number): number {
  let y = 1;
  for (let k = 2; k <= n; k++) y *= k;
  return y;
}

function stirling(z: number): number {
  const half = stirlingRoot(z);
  return half * half;
}

/** The square root of Γ(z), which does not overflow. */
function stirlingRoot(z: number): number {
  return Math.sqrt(Math.sqrt(2 * Math.PI)) * z ** ((z - 0.5) / 2) * Math.exp(-z / 2) * Math.exp(stirlingTail(z) / 2);
}

/** sin(πx), with the argument reduced exactly. */
function sineOfPiTimes(x: number): number {
  const r = x - 2 * Math.round(x / 2);
  return Math.abs(r) > 0.5 ? Math.sin(Math.PI * (Math.sign(r) - r)) : Math.sin(Math.PI * r);
}

/** log |Γ(x)|. */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return x;
  if (!Number.isFinite(x)) return Number.POSITIVE_INFINITY;
  if (x <= 0) {
    if (Number.isInteger(x)) return Number.POSITIVE_INFINITY;
    if (x > -1e-17) return -Math.log(-x);
    return Math.log(Math.PI / Math.abs(sineOfPiTimes(x))) - lgamma(1 - x);
  }
  if (x < 0.5) return lgammaNearOne(x) - Math.log(x);
  // Zeros at 1 and 2: the series keeps the relative error small there.
  if (x < 1.5) return lgammaNearOne(x - 1);
  if (x < 12) {
    // Γ(x) = (x-1) (x-2) … z Γ(z) with 0.5 <= z < 1.5.
    let z = x - 1;
    let product = 1;
    while (z >= 1.5) product *= z--;
    return Math.log(product) + Math.log1p(z - 1) + lgammaNearOne(z - 1);
  }
  return logStirling(x);
}

function logStirling(z: number): number {
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + stirlingTail(z);
}

/** log Γ(1+d) = -γd + Σ ζ(k) (-d)ᵏ / k, with ζ(k) - 1 summed apart: Σ (-d)ᵏ/k = d - log1p(d). */
function lgammaNearOne(d: number): number {
  let sum = 0;
  let power = -d;
  for (let k = 2; k < 40; k++) {
    power *= -d;
    sum += (zetaMinusOne(k) * power) / k;
  }
  return d * (1 - 0.5772156649015329) - Math.log1p(d) + sum;
}

const zetas = new Map<number, number>();

/** ζ(k) - 1 by Euler and Maclaurin from the tenth term. */
function zetaMinusOne(k: number): number {
  let z = zetas.get(k);
  if (z === undefined) {
    const n = 12;
    z = n ** (1 - k) / (k - 1) + n ** -k / 2 + (k * n ** (-k - 1)) / 12 - (k * (k + 1) * (k + 2) * n ** (-k - 3)) / 720;
    z += (k * (k + 1) * (k + 2) * (k + 3) * (k + 4) * n ** (-k - 5)) / 30240;
    for (let i = n - 1; i >= 2; i--) z += i ** -k;
    zetas.set(k, z);
  }
  return z;
}
