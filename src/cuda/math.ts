/**
 * Arithmetic that JavaScript's `Math` has no word for. `Math.*` itself is used in kernels as it is.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

/** An integer in, one of the same type out. */
export interface SameInteger {
  (x: number): number;
  (x: bigint): bigint;
}

/** `selp(predicate, a, b)`. */
export interface Select {
  (predicate: boolean, a: number, b: number): number;
  (predicate: boolean, a: bigint, b: bigint): bigint;
  (predicate: boolean, a: boolean, b: boolean): boolean;
}

type Real = (x: number) => number;
type Real2 = (a: number, b: number) => number;

/** Number of bits set in an integer. Numba's `cuda.popc`. */
export const popc: SameInteger = intrinsic<SameInteger>('popc');
/** Number of zero bits above the highest bit set; the width for 0. Numba's `cuda.clz`. */
export const clz: SameInteger = intrinsic<SameInteger>('clz');
/** Place of the lowest bit set, from 1; 0 for 0. Numba's `cuda.ffs`. */
export const ffs: SameInteger = intrinsic<SameInteger>('ffs');
/** The bits of an integer in reverse order. Numba's `cuda.brev`. */
export const brev: SameInteger = intrinsic<SameInteger>('brev');

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
