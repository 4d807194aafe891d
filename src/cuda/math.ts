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
