/**
 * `cuda.fast`: functions as the hardware approximates them, where a kernel can do with less than `Math.*` gives.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

type Real = (x: number) => number;
type Real2 = (a: number, b: number) => number;

/**
 * Functions of f32 as GPUs approximate them by one or two instructions, each separately; `fastMath: true` does it to the whole kernel. PTX's
 * `sin.approx` and its kin, OpenCL's `native_sin`, CUDA's `__sinf`. Denormals are flushed to zero. Of f64, and on the CPU device and in the
 * simulator, they are the ordinary functions. Errors: docs/math.md.
 *
 * ```ts
 * y[i] = cuda.fast.exp(-x[i] * x[i]);
 * ```
 */
export interface FastFunctions {
  /**
   * 2⁻²¹ absolute for |x| ≤ π, with no care for large arguments. CUDA's `__sinf`.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.sin(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly sin: Real;
  /**
   * As `sin`. CUDA's `__cosf`.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.cos(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly cos: Real;
  /**
   * `[sin x, cos x]`. CUDA's `__sincosf`.
   * @example
   * const y = new Float32Array(2);
   * cuda.jit((y: Vec<f32>) => { [y[0], y[1]] = cuda.fast.sincos(0); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y); // Float32Array(2) [ 0, 1 ]
   */
  readonly sincos: (x: number) => readonly [sin: number, cos: number];
  /**
   * The quotient of both. CUDA's `__tanf`.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.tan(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly tan: Real;
  /**
   * 2⁻²⁰ relative for |x| < 20. CUDA's `__expf`.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.exp(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly exp: Real;
  /**
   * 2⁻²² relative.
   * @example
   * const y = Float32Array.of(3);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.exp2(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 8
   */
  readonly exp2: Real;
  /**
   * 10 to the power `x`. CUDA's `__exp10f`.
   * @example
   * const y = Float32Array.of(2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.exp10(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(Math.round(y[0]!)); // 100
   */
  readonly exp10: Real;
  /**
   * 2⁻²⁰ absolute. CUDA's `__logf`.
   * @example
   * const y = Float32Array.of(1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.log(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly log: Real;
  /**
   * 2⁻²⁰ absolute. CUDA's `__log2f`.
   * @example
   * const y = Float32Array.of(8);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.log2(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly log2: Real;
  /**
   * 2⁻²⁰ absolute. CUDA's `__log10f`.
   * @example
   * const y = Float32Array.of(100);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.log10(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
  readonly log10: Real;
  /**
   * 2⁻¹⁹ relative; NaN of a negative base. CUDA's `__powf`.
   * @example
   * const y = Float32Array.of(3);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.pow(y[0]!, 2); }).launch({ grid: 1, block: 1 }, y);
   * console.log(Math.round(y[0]!)); // 9
   */
  readonly pow: Real2;
  /**
   * 2⁻¹⁶ relative. PTX's `tanh.approx`.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.tanh(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly tanh: Real;
  /**
   * 2⁻²² relative. PTX's `sqrt.approx`.
   * @example
   * const y = Float32Array.of(9);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.sqrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly sqrt: Real;
  /**
   * 2⁻²² relative. PTX's `rsqrt.approx`.
   * @example
   * const y = Float32Array.of(4);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.rsqrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.5
   */
  readonly rsqrt: Real;
  /**
   * `1 / x`, 2⁻²³ relative. PTX's `rcp.approx`.
   * @example
   * const y = Float32Array.of(4);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.rcp(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.25
   */
  readonly rcp: Real;
  /**
   * `a / b`, 2 ulp for 2⁻¹²⁶ ≤ |b| ≤ 2¹²⁶. CUDA's `__fdividef`.
   * @example
   * const y = Float32Array.of(3);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.div(y[0]!, 2); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1.5
   */
  readonly div: Real2;
}

const real = (name: string): Real => intrinsic<Real>(`fast.${name}`);
const real2 = (name: string): Real2 => intrinsic<Real2>(`fast.${name}`);

/**
 * Functions of f32 as the hardware approximates them: `cuda.fast.sin(x)`. Numba's `fastmath`, for one call.
 * @example
 * const y = Float32Array.of(0);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fast.exp(-y[0]! * y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const fast: FastFunctions = Object.freeze({
  sin: real('sin'),
  cos: real('cos'),
  sincos: intrinsic<FastFunctions['sincos']>('fast.sincos'),
  tan: real('tan'),
  exp: real('exp'),
  exp2: real('exp2'),
  exp10: real('exp10'),
  log: real('log'),
  log2: real('log2'),
  log10: real('log10'),
  pow: real2('pow'),
  tanh: real('tanh'),
  sqrt: real('sqrt'),
  rsqrt: real('rsqrt'),
  rcp: real('rcp'),
  div: real2('div'),
});
