/**
 * `cuda.fast`: functions as the hardware approximates them, where a kernel can do with less than `Math.*` gives.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

type Real = (x: number) => number;
type Real2 = (a: number, b: number) => number;

/**
 * Functions of f32 as GPUs approximate them by one or two instructions, each by itself; `fastMath: true` does it to the whole kernel. PTX's
 * `sin.approx` and its kin, OpenCL's `native_sin`, CUDA's `__sinf`. Denormals are flushed to zero. Of f64, and on the CPU device and in the
 * simulator, they are the ordinary functions. Errors: docs/math.md.
 *
 * ```ts
 * y[i] = cuda.fast.exp(-x[i] * x[i]);
 * ```
 */
export interface FastFunctions {
  /** 2⁻²¹ absolute for |x| ≤ π, with no care for large arguments. CUDA's `__sinf`. */
  readonly sin: Real;
  /** As `sin`. CUDA's `__cosf`. */
  readonly cos: Real;
  /** `[sin x, cos x]`. CUDA's `__sincosf`. */
  readonly sincos: (x: number) => readonly [sin: number, cos: number];
  /** The quotient of both. CUDA's `__tanf`. */
  readonly tan: Real;
  /** 2⁻²⁰ relative for |x| < 20. CUDA's `__expf`. */
  readonly exp: Real;
  /** 2⁻²² relative. */
  readonly exp2: Real;
  /** 10 to the power `x`. CUDA's `__exp10f`. */
  readonly exp10: Real;
  /** 2⁻²⁰ absolute. CUDA's `__logf`. */
  readonly log: Real;
  /** 2⁻²⁰ absolute. CUDA's `__log2f`. */
  readonly log2: Real;
  /** 2⁻²⁰ absolute. CUDA's `__log10f`. */
  readonly log10: Real;
  /** 2⁻¹⁹ relative; NaN of a negative base. CUDA's `__powf`. */
  readonly pow: Real2;
  /** 2⁻¹⁶ relative. PTX's `tanh.approx`. */
  readonly tanh: Real;
  /** 2⁻²² relative. PTX's `sqrt.approx`. */
  readonly sqrt: Real;
  /** 2⁻²² relative. PTX's `rsqrt.approx`. */
  readonly rsqrt: Real;
  /** `1 / x`, 2⁻²³ relative. PTX's `rcp.approx`. */
  readonly rcp: Real;
  /** `a / b`, 2 ulp for 2⁻¹²⁶ ≤ |b| ≤ 2¹²⁶. CUDA's `__fdividef`. */
  readonly div: Real2;
}

const real = (name: string): Real => intrinsic<Real>(`fast.${name}`);
const real2 = (name: string): Real2 => intrinsic<Real2>(`fast.${name}`);

/** Functions of f32 as the hardware approximates them: `cuda.fast.sin(x)`. Numba's `fastmath`, for one call. */
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
