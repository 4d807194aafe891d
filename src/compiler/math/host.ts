/**
 * The functions of f64 that JavaScript's Math lacks: erf, erfc, tgamma, lgamma, exp2, rsqrt.
 *
 * The CPU device imports them into its modules next to Math.*, and the simulator calls them. Polynomials are interpolated at
 * Chebyshev points from 60-digit values, each with a second part of its constant term; products that would lose bits are kept
 * as unevaluated sums of two numbers. Errors: docs/math.md.
 */
import type { MathFn } from '../ir/ops.ts';

/** Γ(2 + t), |t| ≤ 1/2. */
const GAMMA_2 = [
  1.0, 0.42278433509846713, 0.41184033042644064, 0.08157691924708438, 0.07424901075338665, -0.00026698206858238155,
  0.011154045724613223, -0.002852645827564801, 0.0021039331732498803, -0.000919573700182685, 0.0004903909299068918,
  -0.00024094323456836658, 0.00012165153858755432, -6.0778315892822384e-5, 3.057661722370728e-5, -1.5309053056591383e-5,
  7.215655907571232e-6, -3.5838696168827447e-6, 2.626595151600183e-6, -1.3346544570502201e-6,
];
const GAMMA_2_LOW = -1.2139619103066546e-18;
/** log Γ(1 + t) / t, |t| ≤ 1/2. */
const LGAMMA_1 = [
  -0.5772156649015329, 0.8224670334241132, -0.40068563438653065, 0.27058080842778026, -0.20738555102889636,
  0.16955717699821546, -0.14404989674293042, 0.12550966945361255, -0.11133426744819344, 0.10009946106870661,
  -0.09095395937948512, 0.08335372852716888, -0.07693389168797567, 0.07143531456613504, -0.06664634848826916,
  0.06246601996645537, -0.05907935115771443, 0.055923603007143954, -0.05055361916461507, 0.047207949581154034,
  -0.05967209611450288, 0.06069988251670486, 0.005627198134008818, -0.017221996443625896, -0.17545100195447957,
  0.1933124209110138, 0.19662943603137412, -0.21990054046608104, -0.24134519253805736, 0.25001640963788685,
];
const LGAMMA_1_LOW = 4.521527039407291e-18;
/** log Γ(2 + t) / t, -1/2 ≤ t ≤ 1. */
const LGAMMA_2 = [
  0.42278433509846713, 0.3224670334241132, -0.06735230105319805, 0.020580808427784383, -0.007385551028678716,
  0.00289051033075394, -0.0011927539115513632, 0.0005096695243107221, -0.00022315476075441458, 9.945752067774074e-5,
  -4.492622011373156e-5, 2.050713238258249e-5, -9.439521103606875e-6, 4.37532324190998e-6, -2.0395164264695046e-6,
  9.538449068585311e-7, -4.4711802618142295e-7, 2.129236765559966e-7, -1.052211523535285e-7, 5.1338889967064936e-8,
  -2.095437386416452e-8, 5.7095304916325805e-9, -7.334114603398347e-10,
];
const LGAMMA_2_LOW = 4.837965861105085e-18;
/** (log Γ(v) - (v - 1/2) log v + v - log √2π) v in 1/v², v ≥ 8. */
const STIRLING = [
  0.08333333333333333, -0.002777777777777677, 0.0007936507935137132, -0.0005952380241878091, 0.0008417326650140297,
  -0.001914978845920009, 0.006208737238761576, -0.020866777238333346,
];
/** erf x / x - 1 in x², |x| ≤ 0.85. */
const ERF = [
  0.1283791670955126, -0.37612638903183754, 0.11283791670955118, -0.026866170645128896, 0.0052239776254048055,
  -0.0008548327019918612, 0.00012055332767399382, -1.4925641629272625e-5, 1.6461870664251107e-6, -1.6361159397040796e-7,
  1.474603374558874e-8, -1.1769477947726316e-9, 6.760560064452209e-11,
];
const ERF_LOW = -1.2422234933991118e-17;
/** (x + 7/2) e^x² erfc x in (x - 7/2) / (x + 7/2), 1/2 ≤ x ≤ 28. */
const ERFC = [
  1.08705558926226, -0.937799724567112, 0.6941136466346431, -0.4352560267168846, 0.22573862164748726,
  -0.09231870663869986, 0.026518619879859998, -0.0031770503385163316, -0.0013053546693353932, 0.0007145316456437206,
  -4.206233296005497e-5, -7.477687060990034e-5, 1.8647997716375395e-5, 7.243447048243006e-6, -3.3945837612859985e-6,
  -7.950184270990553e-7, 5.558698930509201e-7, 1.1488341980446894e-7, -9.064438329265072e-8, -2.178697402530744e-8,
  1.4683144453827129e-8, 4.295136450853416e-9, -2.205691038462349e-9, -5.611316350218154e-10, 2.3563747607833813e-10,
];
const ERFC_LOW = 1.0153452182812864e-16;
const ERFC_CENTRE = 3.5;
/** e^x² erfc x in x - 3/2, 0.6 ≤ x ≤ 2.4. */
const ERFC_MIDDLE = [
  0.3215854164543175, -0.16362291773256007, 0.07615103985547735, -0.032930905299562586, 0.013377340953069375,
  -0.005145957547986721, 0.001886134876978719, -0.0006619300663865164, 0.00022330994485498235, -7.265892240125823e-5,
  2.2864309334292366e-5, -6.974990587086061e-6, 2.0669810666156693e-6, -5.960856668502611e-7, 1.6752613603282962e-7,
  -4.596081758047122e-8, 1.235905671195921e-8, -3.242419192355752e-9, 7.997245586692266e-10, -2.0120418156206973e-10,
  6.701585472639048e-11, -1.629864377150491e-11,
];
const ERFC_MIDDLE_LOW = 1.7188862086161998e-17;

/** An unevaluated sum. */
interface Pair {
  readonly hi: number;
  readonly lo: number;
}

/** c[0] + low + x (c[1] + …), as a pair. */
function polynomial(x: number, c: readonly number[], low: number): Pair {
  let sum = 0;
  for (let k = c.length - 1; k > 0; k--) sum = (sum + (c[k] ?? 0)) * x;
  const first = c[0] ?? 0;
  return quickSum(first, sum + low);
}

/** a + b exactly, |a| ≥ |b|. */
function quickSum(a: number, b: number): Pair {
  const hi = a + b;
  return { hi, lo: b - (hi - a) };
}

/** The upper 26 bits of a significand; |a| < 2⁹⁹⁶. */
function upper(a: number): number {
  const scaled = a * 134217729;
  return scaled - (scaled - a);
}

/** a · b exactly (Dekker); no overflow, no denormals. */
function exactProduct(a: number, b: number): Pair {
  const hi = a * b;
  const ah = upper(a);
  const al = a - ah;
  const bh = upper(b);
  const bl = b - bh;
  return { hi, lo: ah * bh - hi + ah * bl + al * bh + al * bl };
}

/** p · (a + tail). */
function times(p: Pair, a: number, tail = 0): Pair {
  const product = exactProduct(p.hi, a);
  return quickSum(product.hi, product.lo + (p.lo * a + p.hi * tail));
}

/** p / q. */
function quotient(p: Pair, q: Pair): Pair {
  const hi = p.hi / q.hi;
  if (!Number.isFinite(hi) || Math.abs(hi) < 1e-280) return { hi, lo: 0 };
  const back = exactProduct(hi, q.hi);
  return { hi, lo: (p.hi - back.hi - back.lo + p.lo - hi * q.lo) / q.hi };
}

export function erf(x: number): number {
  const a = Math.abs(x);
  if (a <= 0.85) return x + x * value(polynomial(x * x, ERF, ERF_LOW));
  if (a > 6) return Math.sign(x);
  const y = 1 - erfcTail(a);
  return x < 0 ? -y : y;
}

export function erfc(x: number): number {
  if (Math.abs(x) <= 0.65) return x < -1e-20 || x > 1e-20 ? 1 - x - x * value(polynomial(x * x, ERF, ERF_LOW)) : 1;
  if (x < 0) return x < -6 ? 2 : 2 - erfcTail(-x);
  return x > 27.3 ? 0 : erfcTail(x);
}

/** e^x² erfc x for 0.6 ≤ x ≤ 28. */
function erfcScaled(x: number): Pair {
  if (x < 2.4) return polynomial(x - 1.5, ERFC_MIDDLE, ERFC_MIDDLE_LOW);
  const den = quickSum(Math.max(x, ERFC_CENTRE), Math.min(x, ERFC_CENTRE));
  return quotient(polynomial((x - ERFC_CENTRE) / den.hi, ERFC, ERFC_LOW), den);
}

/** erfc x for 0.6 ≤ x ≤ 28. */
function erfcTail(x: number): number {
  const square = exactProduct(x, x);
  // Where the power is denormal it must be rounded last.
  const small = square.hi > 700;
  const power = Math.exp(small ? 64 - square.hi : -square.hi);
  const y = times(erfcScaled(x), power);
  const whole = y.hi + (y.lo - y.hi * square.lo);
  return small ? whole * 1.603810890548638e-28 : whole;
}

function value(p: Pair): number {
  return p.hi + p.lo;
}

/** Γ(x): infinite at ±0 with its sign, NaN at negative integers and -Infinity. */
export function tgamma(x: number): number {
  if (!(Math.abs(x) >= 1e-16)) return 1 / x;
  if (x > 171.7) return Number.POSITIVE_INFINITY;
  const n = Math.round(x);
  if (x < 0 && n === x) return Number.NaN;
  if (x < -184) return Math.floor(x) % 2 === 0 ? 0 : -0;
  const f = x - n;
  const at2 = polynomial(f, GAMMA_2, GAMMA_2_LOW);
  if (n >= 2) {
    // Γ(2 + f) (2 + f) (3 + f) … (x - 1), 2⁶⁴ times smaller, so that no part overflows before the result does.
    let p: Pair = { hi: at2.hi * 2 ** -64, lo: at2.lo * 2 ** -64 };
    for (let k = 1; k <= n - 2; k++) p = times(p, x - k);
    return value(p) * 2 ** 64;
  }
  // Γ(2 + f) / (x (x + 1) … (1 + f)); x + k is exact but perhaps for the last.
  let p: Pair = { hi: 1, lo: 0 };
  let rest: Pair = { hi: 1, lo: 0 };
  for (let k = 0; k <= 1 - n; k++) {
    const factor = x + k;
    const tail = k - (factor - x) + (x - (factor - (factor - x)));
    if (k < 150) p = times(p, factor, tail);
    else rest = times(rest, factor, tail);
  }
  return value(quotient(at2, p)) / rest.hi;
}

/** log |Γ(x)|: infinite at the poles. Near its zeros below 0 accurate to about 2⁻⁵² absolutely. */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x <= 0) {
    if (Number.isInteger(x) || x === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
    if (x > -1e-17) return -Math.log(-x);
    if (x > -150) return Math.log(Math.abs(tgamma(x)));
    return Math.log(Math.PI / Math.abs(x * sinPi(x))) - lgamma(-x);
  }
  if (x < 0.5) return x * value(polynomial(x, LGAMMA_1, LGAMMA_1_LOW)) - Math.log(x);
  if (x < 1.5) return (x - 1) * value(polynomial(x - 1, LGAMMA_1, LGAMMA_1_LOW)) + 0; // no -0 at 1
  if (x < 3) return (x - 2) * value(polynomial(x - 2, LGAMMA_2, LGAMMA_2_LOW));
  if (x < 8) return Math.log(tgamma(x));
  const series = value(polynomial(1 / (x * x), STIRLING, 0)) / x;
  return (x - 0.5) * (Math.log(x) - 1) + (0.4189385332046727 + series);
}

/** sin πx, with the argument reduced exactly. */
function sinPi(x: number): number {
  const r = x - 2 * Math.round(x / 2);
  return Math.sin(Math.PI * (Math.abs(r) > 0.5 ? Math.sign(r) - r : r));
}

export function exp2(x: number): number {
  return 2 ** x;
}

export function rsqrt(x: number): number {
  return 1 / Math.sqrt(x);
}

type HostFunction = (...args: number[]) => number;

/** The functions of the IR that JavaScript has, on f64. */
const OF_MATH: Readonly<Partial<Record<MathFn, HostFunction>>> = {
  exp: Math.exp,
  expm1: Math.expm1,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  atan2: Math.atan2,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  pow: Math.pow,
  hypot: Math.hypot,
  cbrt: Math.cbrt,
};

/** Those that it lacks. */
const LACKING: Readonly<Partial<Record<MathFn, HostFunction>>> = {
  exp2: unary(exp2),
  rsqrt: unary(rsqrt),
  erf: unary(erf),
  erfc: unary(erfc),
  tgamma: unary(tgamma),
  lgamma: unary(lgamma),
};

/** Every function of the IR on f64: JavaScript's own, or the above. */
export const HOST_MATH: Readonly<Record<MathFn, HostFunction>> = { ...OF_MATH, ...LACKING } as Record<
  MathFn,
  HostFunction
>;

/** The function of `HOST_MATH` of this name. Pages load those that JavaScript lacks with the first kernel that calls one. */
export function hostMath(fn: MathFn): HostFunction {
  return OF_MATH[fn] ?? lacking(fn);
}

function lacking(fn: MathFn): HostFunction {
  const found = LACKING[fn];
  if (found === undefined) throw new Error(`internal error: there is no function ${fn} on the host`);
  return found;
}

function unary(f: (x: number) => number): (...args: number[]) => number {
  return (...args) => f(args[0] ?? Number.NaN);
}
