/**
 * Arithmetic that JavaScript's `Math` lacks; that of integers is in `compiler/intrinsics/integers.ts`. `Math.*` itself is
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

/**
 * `predicate ? a : b` without a branch: both are evaluated. Numba's `cuda.selp`.
 * @example
 * const y = Float64Array.of(-3);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.selp(y[0]! > 0, 1, -1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -1
 */
export const selp: Select = intrinsic<Select>('selp');

/**
 * `a * b + c`, rounded once. Numba's `cuda.fma`.
 * @example
 * const y = Float64Array.of(2, 3);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.fma(y[0]!, y[1]!, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 7
 */
export const fma: (a: number, b: number, c: number) => number =
  intrinsic<(a: number, b: number, c: number) => number>('fma');
/**
 * The cube root. Numba's `cuda.cbrt`.
 * @example
 * const y = Float64Array.of(8);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.cbrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 2
 */
export const cbrt: Real = intrinsic<Real>('cbrt');
/**
 * `1 / Math.sqrt(x)`. Numba's `cuda.rsqrt`.
 * @example
 * const y = Float64Array.of(4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.rsqrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.5
 */
export const rsqrt: Real = intrinsic<Real>('rsqrt');
/**
 * C's fmin: if one operand is NaN, the result is the other one. `Math.min` gives NaN.
 * @example
 * const y = Float64Array.of(4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.fmin(y[0]!, NaN); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const fmin: Real2 = intrinsic<Real2>('fmin');
/**
 * C's fmax: if one operand is NaN, the result is the other one. `Math.max` gives NaN.
 * @example
 * const y = Float64Array.of(4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.fmax(y[0]!, NaN); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
export const fmax: Real2 = intrinsic<Real2>('fmax');
/**
 * Rounds to the nearest whole number, halves to even. `Math.round` rounds halves up.
 * @example
 * const y = Float64Array.of(2.5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.rint(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 2
 */
export const rint: Real = intrinsic<Real>('rint');
/**
 * The magnitude of `a` with the sign of `b`. Python's `math.copysign`.
 * @example
 * const y = Float64Array.of(4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.copysign(y[0]!, -1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -4
 */
export const copysign: Real2 = intrinsic<Real2>('copysign');
/**
 * 2 to the power `x`. Python's `math.exp2`.
 * @example
 * const y = Float64Array.of(10);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.exp2(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1024
 */
export const exp2: Real = intrinsic<Real>('exp2');
/**
 * The error function. Python's `math.erf`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.erf(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const erf: Real = intrinsic<Real>('erf');
/**
 * `1 - erf(x)`, accurate also where that is tiny. Python's `math.erfc`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.erfc(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const erfc: Real = intrinsic<Real>('erfc');
/**
 * What `erf` is x of, for -1 ≤ x ≤ 1; ±Infinity at the ends, NaN beyond. libdevice's `erfinv`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.erfinv(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const erfinv: Real = intrinsic<Real>('erfinv');
/**
 * What `erfc` is y of, for 0 ≤ y ≤ 2; Infinity at 0 and -Infinity at 2, NaN beyond. libdevice's `erfcinv`.
 * @example
 * const y = Float64Array.of(1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.erfcinv(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const erfcinv: Real = intrinsic<Real>('erfcinv');
/**
 * `Math.exp(x * x) * cuda.erfc(x)`, without the overflow of one and the underflow of the other. libdevice's `erfcx`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.erfcx(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const erfcx: Real = intrinsic<Real>('erfcx');
/**
 * The standard normal distribution: the probability of a number up to x. libdevice's `normcdf`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.normcdf(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.5
 */
export const normcdf: Real = intrinsic<Real>('normcdf');
/**
 * What `normcdf` is p of, for 0 ≤ p ≤ 1; ∓Infinity at the ends. libdevice's `normcdfinv`.
 *
 *     z[i] = cuda.normcdfinv(u[i]);   // normally distributed numbers of evenly distributed ones
 * @example
 * const y = Float64Array.of(0.5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.normcdfinv(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const normcdfinv: Real = intrinsic<Real>('normcdfinv');
/**
 * The Bessel function of the first kind, of order 0. libdevice's `j0`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.j0(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const j0: Real = intrinsic<Real>('j0');
/**
 * The Bessel function of the first kind, of order 1. libdevice's `j1`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.j1(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const j1: Real = intrinsic<Real>('j1');
/**
 * The Bessel function of the second kind, of order 0: -Infinity at 0, NaN below. libdevice's `y0`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.y0(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -Infinity
 */
export const y0: Real = intrinsic<Real>('y0');
/**
 * The Bessel function of the second kind, of order 1: -Infinity at 0, NaN below. libdevice's `y1`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.y1(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -Infinity
 */
export const y1: Real = intrinsic<Real>('y1');
/**
 * The modified Bessel function of the first kind, of order 0. libdevice's `cyl_bessel_i0`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.cylBesselI0(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const cylBesselI0: Real = intrinsic<Real>('cylBesselI0');
/**
 * The modified Bessel function of the first kind, of order 1. libdevice's `cyl_bessel_i1`.
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.cylBesselI1(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const cylBesselI1: Real = intrinsic<Real>('cylBesselI1');
/**
 * `1 / cuda.cbrt(x)`. libdevice's `rcbrt`.
 * @example
 * const y = Float64Array.of(8);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.rcbrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.5
 */
export const rcbrt: Real = intrinsic<Real>('rcbrt');
/**
 * 10 to the power `x`; powers that are numbers of the type come out exactly. libdevice's `exp10`.
 * @example
 * const y = Float64Array.of(2);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.exp10(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 100
 */
export const exp10: Real = intrinsic<Real>('exp10');
/**
 * `a - b` where a is greater, else 0; NaN of NaN. libdevice's `fdim`.
 * @example
 * const y = Float64Array.of(3);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.fdim(y[0]!, 1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 2
 */
export const fdim: Real2 = intrinsic<Real2>('fdim');
/**
 * `x` between 0 and 1: what is below is 0, what is above 1, and NaN 0. libdevice's `saturatef`.
 * @example
 * const y = Float64Array.of(1.5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.saturate(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const saturate: Real = intrinsic<Real>('saturate');
/**
 * The exponent of x as a float: the whole number at or below log2 |x|, also of denormal numbers; -Infinity of 0, Infinity of ±Infinity. libdevice's `logb`.
 * @example
 * const y = Float64Array.of(8);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.logb(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 3
 */
export const logb: Real = intrinsic<Real>('logb');
/**
 * As `logb`, an i32: the least one of 0 and NaN, the greatest of ±Infinity. libdevice's `ilogb`.
 * @example
 * const y = Float64Array.of(8);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.ilogb(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 3
 */
export const ilogb: Real = intrinsic<Real>('ilogb');
/**
 * The gamma function. Python's `math.gamma`.
 * @example
 * const y = Float64Array.of(5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.tgamma(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 24
 */
export const tgamma: Real = intrinsic<Real>('tgamma');
/**
 * The logarithm of the gamma function's magnitude. Python's `math.lgamma`.
 * @example
 * const y = Float64Array.of(1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.lgamma(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const lgamma: Real = intrinsic<Real>('lgamma');
/**
 * C's remainder of a division: that of `a % b`, also of integers as floats. Python's `math.fmod`.
 * @example
 * const y = Float64Array.of(-7);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.fmod(y[0]!, 3); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -1
 */
export const fmod: Real2 = intrinsic<Real2>('fmod');
/**
 * `a - n * b` for the whole `n` nearest to `a / b`, ties to even; exact. Python's `math.remainder`.
 * @example
 * const y = Float64Array.of(5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.remainder(y[0]!, 6); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -1
 */
export const remainder: Real2 = intrinsic<Real2>('remainder');
/**
 * `[sin x, cos x]`, which share their reduction. libdevice's `sincos`.
 * @example
 * const y = new Float64Array(2);
 * cuda.jit((y: Vec<f64>) => { [y[0], y[1]] = cuda.sincos(0); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Float64Array(2) [ 0, 1 ]
 */
export const sincos: (x: number) => readonly [sin: number, cos: number] =
  intrinsic<(x: number) => readonly [sin: number, cos: number]>('sincos');
/**
 * `x * 2 ** n`, rounded once, for an integer `n` of any size. Python's `math.ldexp`.
 * @example
 * const y = Float64Array.of(3);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.ldexp(y[0]!, 4); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 48
 */
export const ldexp: (x: number, n: number) => number = intrinsic<(x: number, n: number) => number>('ldexp');
/**
 * `[m, e]` with `x === m * 2 ** e` and 0.5 ≤ |m| < 1; `[x, 0]` of zeros, infinities and NaN. Python's `math.frexp`.
 * @example
 * const y = Float64Array.of(12, 0);
 * cuda.jit((y: Vec<f64>) => { [y[0], y[1]] = cuda.frexp(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Float64Array(2) [ 0.75, 4 ]
 */
export const frexp: (x: number) => readonly [mantissa: number, exponent: number] =
  intrinsic<(x: number) => readonly [mantissa: number, exponent: number]>('frexp');
/**
 * `[fraction, whole]`, both with the sign of `x`. Python's `math.modf`.
 * @example
 * const y = Float64Array.of(-2.5, 0);
 * cuda.jit((y: Vec<f64>) => { [y[0], y[1]] = cuda.modf(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y); // Float64Array(2) [ -0.5, -2 ]
 */
export const modf: (x: number) => readonly [fraction: number, whole: number] =
  intrinsic<(x: number) => readonly [fraction: number, whole: number]>('modf');
/**
 * The float next to `x` on the way to `towards`. Python's `math.nextafter`.
 * @example
 * const y = Float64Array.of(1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.nextafter(y[0]!, 2) - 1; }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 2.220446049250313e-16
 */
export const nextafter: (x: number, towards: number) => number =
  intrinsic<(x: number, towards: number) => number>('nextafter');
/**
 * The length of a vector of three, without overflow. libdevice's `norm3d`.
 * @example
 * const y = Float64Array.of(2, 3, 6);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.norm3d(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 7
 */
export const norm3d: (a: number, b: number, c: number) => number =
  intrinsic<(a: number, b: number, c: number) => number>('norm3d');
/**
 * The length of a vector of four, without overflow. libdevice's `norm4d`.
 * @example
 * const y = Float64Array.of(1, 1, 1, 1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.norm4d(y[0]!, y[1]!, y[2]!, y[3]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 2
 */
export const norm4d: (a: number, b: number, c: number, d: number) => number =
  intrinsic<(a: number, b: number, c: number, d: number) => number>('norm4d');
/**
 * The length of a vector of any number of parts, without overflow: `Math.hypot`. libdevice's `hypot`, `norm3d` and `norm4d`.
 * @example
 * const y = Float64Array.of(3, 4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.hypot(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 5
 */
export const hypot: (...parts: number[]) => number = intrinsic<(...parts: number[]) => number>('hypot');
/**
 * `1 / Math.hypot(a, b, …)`. libdevice's `rhypot`.
 * @example
 * const y = Float64Array.of(3, 4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.rhypot(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.2
 */
export const rhypot: (...parts: number[]) => number = intrinsic<(...parts: number[]) => number>('rhypot');
/**
 * `1 / cuda.norm3d(a, b, c)`. libdevice's `rnorm3d`.
 * @example
 * const y = Float64Array.of(0, 0, 4);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.rnorm3d(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.25
 */
export const rnorm3d: (a: number, b: number, c: number) => number =
  intrinsic<(a: number, b: number, c: number) => number>('rnorm3d');
/**
 * `1 / cuda.norm4d(a, b, c, d)`. libdevice's `rnorm4d`.
 * @example
 * const y = Float64Array.of(1, 1, 1, 1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.rnorm4d(y[0]!, y[1]!, y[2]!, y[3]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0.5
 */
export const rnorm4d: (a: number, b: number, c: number, d: number) => number =
  intrinsic<(a: number, b: number, c: number, d: number) => number>('rnorm4d');

/**
 * The conjugate of a complex number: the sign of the imaginary part changed. Of a real number that number. Numba: `z.conjugate()`.
 *
 *     const power = (z * cuda.conj(z)).re;
 * @example
 * const z = cuda.toDevice(ndarray([{ re: 1, im: 2 }], { dtype: c64 }));
 * cuda.jit((z: Vec<c64>) => { z[0] = cuda.conj(z[0]!); }).launch({ grid: 1, block: 1 }, z);
 * console.log(z.get(0)); // { re: 1, im: -2 }
 */
export const conj: (z: number) => number = intrinsic<(z: number) => number>('conj');
/**
 * The direction of a complex number: the angle in radians, -π to π. Python's `cmath.phase`.
 *
 *     hue[i] = cuda.arg(z[i]);
 * @example
 * const z = cuda.toDevice(ndarray([{ re: 0, im: 2 }], { dtype: c64 }));
 * const y = new Float32Array(1);
 * cuda.jit((z: Vec<c64>, y: Vec<f32>) => { y[0] = cuda.arg(z[0]!); }).launch({ grid: 1, block: 1 }, z, y);
 * console.log(y[0] === Math.fround(Math.PI / 2)); // true
 */
export const arg: Real = intrinsic<Real>('arg');
/**
 * The complex number of this size and direction (radians). Python's `cmath.rect`. Its precision is that of what it is given, as of any
 * arithmetic: `c64(cuda.polar(1, angle))` computes in f32 if the angle is one.
 *
 *     const w = cuda.polar(1, -2 * Math.PI * k / n);   // a root of unity
 * @example
 * const z = cuda.deviceArray(1, c64);
 * cuda.jit((z: Vec<c64>) => { z[0] = cuda.polar(2, 0); }).launch({ grid: 1, block: 1 }, z);
 * console.log(z.get(0)); // { re: 2, im: 0 }
 */
export const polar: (size: number, angle?: number) => number =
  intrinsic<(size: number, angle?: number) => number>('polar');
/**
 * `Math.sin(Math.PI * x)` with an exact argument: 0 at whole numbers, however large. libdevice's `sinpi`.
 * @example
 * const y = Float64Array.of(0.5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.sinpi(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const sinpi: Real = intrinsic<Real>('sinpi');
/**
 * `Math.cos(Math.PI * x)` with an exact argument: 0 at halves of odd numbers. libdevice's `cospi`.
 * @example
 * const y = Float64Array.of(0.5);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.cospi(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const cospi: Real = intrinsic<Real>('cospi');
