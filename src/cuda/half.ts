/**
 * `cuda.fp16` and `cuda.bf16`: arithmetic of 16 bits by CUDA's names. Operators and `Math.*` do the same on values of type f16 and bf16.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

type Unary = (a: number) => number;
type Binary = (a: number, b: number) => number;
type Ternary = (a: number, b: number, c: number) => number;
type Predicate = (a: number, b: number) => boolean;

/**
 * Functions of one format of 16 bits. What they are given is rounded to it, and so is what they give: sums, products, quotients, `hfma` and `hsqrt` once
 * from the exact result, on every device alike; functions such as `hsin` are those of f32, rounded. All but the comparisons take vectors too, lane by lane.
 *
 * ```ts
 * y[i] = cuda.fp16.hfma(a[i], x[i], y[i]);
 * ```
 */
export interface HalfFunctions {
  /** `a + b` */
  readonly hadd: Binary;
  /** `a - b` */
  readonly hsub: Binary;
  /** `a * b` */
  readonly hmul: Binary;
  /** `a / b` */
  readonly hdiv: Binary;
  /** `a * b + c`, rounded once. */
  readonly hfma: Ternary;
  /** `a + b` clamped to 0 … 1; of NaN 0. CUDA's `__hadd_sat`. */
  readonly haddSat: Binary;
  /** `a - b` clamped to 0 … 1; of NaN 0. CUDA's `__hsub_sat`. */
  readonly hsubSat: Binary;
  /** `a * b` clamped to 0 … 1; of NaN 0. CUDA's `__hmul_sat`. */
  readonly hmulSat: Binary;
  /** `a * b + c` clamped to 0 … 1; of NaN 0. CUDA's `__hfma_sat`. */
  readonly hfmaSat: Ternary;
  /** `a * b + c`, at least 0; of NaN NaN. CUDA's `__hfma_relu`. */
  readonly hfmaRelu: Ternary;
  /** `-a` */
  readonly hneg: Unary;
  /** The magnitude. */
  readonly habs: Unary;
  /** The smaller; of a number and NaN the number. */
  readonly hmin: Binary;
  /** The larger; of a number and NaN the number. */
  readonly hmax: Binary;
  /** The smaller, or NaN where one is NaN. CUDA's `__hmin_nan`. */
  readonly hminNan: Binary;
  /** The larger, or NaN where one is NaN. CUDA's `__hmax_nan`. */
  readonly hmaxNan: Binary;
  /** `a === b` */
  readonly heq: Predicate;
  /** Whether the numbers differ: false where one is NaN, unlike `a !== b`. */
  readonly hne: Predicate;
  /** `a >= b` */
  readonly hge: Predicate;
  /** `a > b` */
  readonly hgt: Predicate;
  /** `a <= b` */
  readonly hle: Predicate;
  /** `a < b` */
  readonly hlt: Predicate;
  /** As `heq`, true where one is NaN. */
  readonly hequ: Predicate;
  /** `a !== b` */
  readonly hneu: Predicate;
  /** As `hge`, true where one is NaN. */
  readonly hgeu: Predicate;
  /** As `hgt`, true where one is NaN. */
  readonly hgtu: Predicate;
  /** As `hle`, true where one is NaN. */
  readonly hleu: Predicate;
  /** As `hlt`, true where one is NaN. */
  readonly hltu: Predicate;
  /** `Number.isNaN(a)` */
  readonly hisnan: (a: number) => boolean;
  /** The sine. */
  readonly hsin: Unary;
  /** The cosine. */
  readonly hcos: Unary;
  /** The hyperbolic tangent. */
  readonly htanh: Unary;
  /** e to the power `a`. */
  readonly hexp: Unary;
  /** 2 to the power `a`. */
  readonly hexp2: Unary;
  /** 10 to the power `a`. */
  readonly hexp10: Unary;
  /** The natural logarithm. */
  readonly hlog: Unary;
  /** The logarithm to base 2. */
  readonly hlog2: Unary;
  /** The logarithm to base 10. */
  readonly hlog10: Unary;
  /** The square root. */
  readonly hsqrt: Unary;
  /** `1 / Math.sqrt(a)` */
  readonly hrsqrt: Unary;
  /** `1 / a` */
  readonly hrcp: Unary;
  /** Rounds up. */
  readonly hceil: Unary;
  /** Rounds down. */
  readonly hfloor: Unary;
  /** Cuts the fraction off. */
  readonly htrunc: Unary;
  /** Rounds to the nearest whole number, halves to even. */
  readonly hrint: Unary;
}

function functionsOf(module: string): HalfFunctions {
  const a = (name: string): Unary => intrinsic<Unary>(`${module}.${name}`);
  const ab = (name: string): Binary => intrinsic<Binary>(`${module}.${name}`);
  const abc = (name: string): Ternary => intrinsic<Ternary>(`${module}.${name}`);
  const is = (name: string): Predicate => intrinsic<Predicate>(`${module}.${name}`);
  return Object.freeze({
    hadd: ab('hadd'),
    hsub: ab('hsub'),
    hmul: ab('hmul'),
    hdiv: ab('hdiv'),
    hfma: abc('hfma'),
    haddSat: ab('haddSat'),
    hsubSat: ab('hsubSat'),
    hmulSat: ab('hmulSat'),
    hfmaSat: abc('hfmaSat'),
    hfmaRelu: abc('hfmaRelu'),
    hneg: a('hneg'),
    habs: a('habs'),
    hmin: ab('hmin'),
    hmax: ab('hmax'),
    hminNan: ab('hminNan'),
    hmaxNan: ab('hmaxNan'),
    heq: is('heq'),
    hne: is('hne'),
    hge: is('hge'),
    hgt: is('hgt'),
    hle: is('hle'),
    hlt: is('hlt'),
    hequ: is('hequ'),
    hneu: is('hneu'),
    hgeu: is('hgeu'),
    hgtu: is('hgtu'),
    hleu: is('hleu'),
    hltu: is('hltu'),
    hisnan: intrinsic<(x: number) => boolean>(`${module}.hisnan`),
    hsin: a('hsin'),
    hcos: a('hcos'),
    htanh: a('htanh'),
    hexp: a('hexp'),
    hexp2: a('hexp2'),
    hexp10: a('hexp10'),
    hlog: a('hlog'),
    hlog2: a('hlog2'),
    hlog10: a('hlog10'),
    hsqrt: a('hsqrt'),
    hrsqrt: a('hrsqrt'),
    hrcp: a('hrcp'),
    hceil: a('hceil'),
    hfloor: a('hfloor'),
    htrunc: a('htrunc'),
    hrint: a('hrint'),
  });
}

/** Functions of f16: `cuda.fp16.hfma(a, b, c)`. Numba's `cuda.fp16`, CUDA's cuda_fp16.h. */
export const fp16: HalfFunctions = functionsOf('fp16');
/** Functions of bf16: `cuda.bf16.hfma(a, b, c)`. Numba's `cuda.bf16`, CUDA's cuda_bf16.h. */
export const bf16: HalfFunctions = functionsOf('bf16');
