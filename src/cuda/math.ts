/**
 * Arithmetic that JavaScript's `Math` has no word for, but that of integers, which is `compiler/intrinsics/integers.ts`. `Math.*` itself is
 * used in kernels as it is.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

/** `selp(predicate, a, b)`. */
interface Select {
  (predicate: boolean, a: number, b: number): number;
  (predicate: boolean, a: bigint, b: bigint): bigint;
  (predicate: boolean, a: boolean, b: boolean): boolean;
}

type Real = (x: number) => number;
type Real2 = (a: number, b: number) => number;

/** `predicate ? a : b` without a branch: both are evaluated. Numba's `cuda.selp`. */
export const selp: Select = intrinsic<Select>('selp');

/** `a * b + c`, rounded once. Numba's `cuda.fma`. */
export const fma: (a: number, b: number, c: number) => number =
  intrinsic<(a: number, b: number, c: number) => number>('fma');
/** The cube root. Numba's `cuda.cbrt`. */
export const cbrt: Real = intrinsic<Real>('cbrt');
/** `1 / Math.sqrt(x)`. Numba's `cuda.rsqrt`. */
export const rsqrt: Real = intrinsic<Real>('rsqrt');
/** C's fmin: of a number and NaN the number. `Math.min` gives NaN. */
export const fmin: Real2 = intrinsic<Real2>('fmin');
/** C's fmax: of a number and NaN the number. `Math.max` gives NaN. */
export const fmax: Real2 = intrinsic<Real2>('fmax');
/** Rounds to the nearest whole number, halves to even. `Math.round` rounds halves up. */
export const rint: Real = intrinsic<Real>('rint');
/** The magnitude of `a` with the sign of `b`. Python's `math.copysign`. */
export const copysign: Real2 = intrinsic<Real2>('copysign');
/** 2 to the power `x`. Python's `math.exp2`. */
export const exp2: Real = intrinsic<Real>('exp2');
/** The error function. Python's `math.erf`. */
export const erf: Real = intrinsic<Real>('erf');
/** `1 - erf(x)`, accurate also where that is tiny. Python's `math.erfc`. */
export const erfc: Real = intrinsic<Real>('erfc');
/** The gamma function. Python's `math.gamma`. */
export const tgamma: Real = intrinsic<Real>('tgamma');
/** The logarithm of the gamma function's magnitude. Python's `math.lgamma`. */
export const lgamma: Real = intrinsic<Real>('lgamma');
/** C's remainder of a division: that of `a % b`, also of integers as floats. Python's `math.fmod`. */
export const fmod: Real2 = intrinsic<Real2>('fmod');
/** `a - n * b` for the whole `n` nearest to `a / b`, ties to even; exact. Python's `math.remainder`. */
export const remainder: Real2 = intrinsic<Real2>('remainder');
/** `[sin x, cos x]`, which share their reduction. libdevice's `sincos`. */
export const sincos: (x: number) => readonly [sin: number, cos: number] =
  intrinsic<(x: number) => readonly [sin: number, cos: number]>('sincos');
/** `x * 2 ** n`, rounded once, for an integer `n` of any size. Python's `math.ldexp`. */
export const ldexp: (x: number, n: number) => number = intrinsic<(x: number, n: number) => number>('ldexp');
/** `[m, e]` with `x === m * 2 ** e` and 0.5 ≤ |m| < 1; `[x, 0]` of zeros, infinities and NaN. Python's `math.frexp`. */
export const frexp: (x: number) => readonly [mantissa: number, exponent: number] =
  intrinsic<(x: number) => readonly [mantissa: number, exponent: number]>('frexp');
/** `[fraction, whole]`, both with the sign of `x`. Python's `math.modf`. */
export const modf: (x: number) => readonly [fraction: number, whole: number] =
  intrinsic<(x: number) => readonly [fraction: number, whole: number]>('modf');
/** The float next to `x` on the way to `towards`. Python's `math.nextafter`. */
export const nextafter: (x: number, towards: number) => number =
  intrinsic<(x: number, towards: number) => number>('nextafter');
/** The length of a vector of three, without overflow. libdevice's `norm3d`. */
export const norm3d: (a: number, b: number, c: number) => number =
  intrinsic<(a: number, b: number, c: number) => number>('norm3d');
/** The length of a vector of four, without overflow. libdevice's `norm4d`. */
export const norm4d: (a: number, b: number, c: number, d: number) => number =
  intrinsic<(a: number, b: number, c: number, d: number) => number>('norm4d');
/** `1 / Math.hypot(a, b)`. libdevice's `rhypot`. */
export const rhypot: Real2 = intrinsic<Real2>('rhypot');
/** `1 / cuda.norm3d(a, b, c)`. libdevice's `rnorm3d`. */
export const rnorm3d: (a: number, b: number, c: number) => number =
  intrinsic<(a: number, b: number, c: number) => number>('rnorm3d');
/** `1 / cuda.norm4d(a, b, c, d)`. libdevice's `rnorm4d`. */
export const rnorm4d: (a: number, b: number, c: number, d: number) => number =
  intrinsic<(a: number, b: number, c: number, d: number) => number>('rnorm4d');

/**
 * The conjugate of a complex number: the sign of the imaginary part changed. Of a real number that number. Numba: `z.conjugate()`.
 *
 *     const power = (z * cuda.conj(z)).re;
 */
export const conj: (z: number) => number = intrinsic<(z: number) => number>('conj');
/**
 * The direction of a complex number: the angle in radians, -π to π. Python's `cmath.phase`.
 *
 *     hue[i] = cuda.arg(z[i]);
 */
export const arg: Real = intrinsic<Real>('arg');
/**
 * The complex number of this size and direction (radians). Python's `cmath.rect`. Its precision is that of what it is given, as of any
 * arithmetic: `c64(cuda.polar(1, angle))` computes in f32 if the angle is one.
 *
 *     const w = cuda.polar(1, -2 * Math.PI * k / n);   // a root of unity
 */
export const polar: (size: number, angle?: number) => number =
  intrinsic<(size: number, angle?: number) => number>('polar');
/** `Math.sin(Math.PI * x)` with an exact argument: 0 at whole numbers, however large. libdevice's `sinpi`. */
export const sinpi: Real = intrinsic<Real>('sinpi');
/** `Math.cos(Math.PI * x)` with an exact argument: 0 at halves of odd numbers. libdevice's `cospi`. */
export const cospi: Real = intrinsic<Real>('cospi');
