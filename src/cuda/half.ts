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
  /**
   * `a + b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hadd(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 5
   */
  readonly hadd: Binary;
  /**
   * `a - b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hsub(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hsub: Binary;
  /**
   * `a * b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hmul(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 6
   */
  readonly hmul: Binary;
  /**
   * `a / b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hdiv(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1.5
   */
  readonly hdiv: Binary;
  /**
   * `a * b + c`, rounded once.
   * @example
   * const y = Float32Array.of(3, 2, 1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hfma(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 7
   */
  readonly hfma: Ternary;
  /**
   * `a + b` clamped to 0 … 1; of NaN 0. CUDA's `__hadd_sat`.
   * @example
   * const y = Float32Array.of(0.75, 0.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.haddSat(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly haddSat: Binary;
  /**
   * `a - b` clamped to 0 … 1; of NaN 0. CUDA's `__hsub_sat`.
   * @example
   * const y = Float32Array.of(0.75, 0.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hsubSat(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.25
   */
  readonly hsubSat: Binary;
  /**
   * `a * b` clamped to 0 … 1; of NaN 0. CUDA's `__hmul_sat`.
   * @example
   * const y = Float32Array.of(0.75, 0.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hmulSat(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.375
   */
  readonly hmulSat: Binary;
  /**
   * `a * b + c` clamped to 0 … 1; of NaN 0. CUDA's `__hfma_sat`.
   * @example
   * const y = Float32Array.of(3, 2, 1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hfmaSat(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hfmaSat: Ternary;
  /**
   * `a * b + c`, at least 0; of NaN NaN. CUDA's `__hfma_relu`.
   * @example
   * const y = Float32Array.of(-3, 2, 1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hfmaRelu(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly hfmaRelu: Ternary;
  /**
   * `-a`
   * @example
   * const y = Float32Array.of(2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hneg(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // -2
   */
  readonly hneg: Unary;
  /**
   * The magnitude.
   * @example
   * const y = Float32Array.of(-2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.habs(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
  readonly habs: Unary;
  /**
   * The smaller; of a number and NaN the number.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hmin(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly hmin: Binary;
  /**
   * The larger; of a number and NaN the number.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hmax(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly hmax: Binary;
  /**
   * The smaller, or NaN where one is NaN. CUDA's `__hmin_nan`.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hminNan(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // NaN
   */
  readonly hminNan: Binary;
  /**
   * The larger, or NaN where one is NaN. CUDA's `__hmax_nan`.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hmaxNan(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // NaN
   */
  readonly hmaxNan: Binary;
  /**
   * `a === b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.heq(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly heq: Predicate;
  /**
   * Whether the numbers differ: false where one is NaN, unlike `a !== b`.
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hne(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hne: Predicate;
  /**
   * `a >= b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hge(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hge: Predicate;
  /**
   * `a > b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hgt(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hgt: Predicate;
  /**
   * `a <= b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hle(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly hle: Predicate;
  /**
   * `a < b`
   * @example
   * const y = Float32Array.of(3, 2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hlt(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly hlt: Predicate;
  /**
   * As `heq`, true where one is NaN.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hequ(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hequ: Predicate;
  /**
   * `a !== b`
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hneu(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hneu: Predicate;
  /**
   * As `hge`, true where one is NaN.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hgeu(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hgeu: Predicate;
  /**
   * As `hgt`, true where one is NaN.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hgtu(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hgtu: Predicate;
  /**
   * As `hle`, true where one is NaN.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hleu(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hleu: Predicate;
  /**
   * As `hlt`, true where one is NaN.
   * @example
   * const y = Float32Array.of(3, NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hltu(y[0]!, y[1]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hltu: Predicate;
  /**
   * `Number.isNaN(a)`
   * @example
   * const y = Float32Array.of(NaN);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hisnan(y[0]!) ? 1 : 0; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hisnan: (a: number) => boolean;
  /**
   * The sine.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hsin(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly hsin: Unary;
  /**
   * The cosine.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hcos(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hcos: Unary;
  /**
   * The hyperbolic tangent.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.htanh(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly htanh: Unary;
  /**
   * e to the power `a`.
   * @example
   * const y = Float32Array.of(0);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hexp(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hexp: Unary;
  /**
   * 2 to the power `a`.
   * @example
   * const y = Float32Array.of(3);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hexp2(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 8
   */
  readonly hexp2: Unary;
  /**
   * 10 to the power `a`.
   * @example
   * const y = Float32Array.of(2);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hexp10(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 100
   */
  readonly hexp10: Unary;
  /**
   * The natural logarithm.
   * @example
   * const y = Float32Array.of(1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hlog(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0
   */
  readonly hlog: Unary;
  /**
   * The logarithm to base 2.
   * @example
   * const y = Float32Array.of(8);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hlog2(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly hlog2: Unary;
  /**
   * The logarithm to base 10.
   * @example
   * const y = Float32Array.of(100);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hlog10(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
  readonly hlog10: Unary;
  /**
   * The square root.
   * @example
   * const y = Float32Array.of(9);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hsqrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 3
   */
  readonly hsqrt: Unary;
  /**
   * `1 / Math.sqrt(a)`
   * @example
   * const y = Float32Array.of(4);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hrsqrt(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.5
   */
  readonly hrsqrt: Unary;
  /**
   * `1 / a`
   * @example
   * const y = Float32Array.of(4);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hrcp(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.25
   */
  readonly hrcp: Unary;
  /**
   * Rounds up.
   * @example
   * const y = Float32Array.of(1.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hceil(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
  readonly hceil: Unary;
  /**
   * Rounds down.
   * @example
   * const y = Float32Array.of(1.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hfloor(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 1
   */
  readonly hfloor: Unary;
  /**
   * Cuts the fraction off.
   * @example
   * const y = Float32Array.of(-1.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.htrunc(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // -1
   */
  readonly htrunc: Unary;
  /**
   * Rounds to the nearest whole number, halves to even.
   * @example
   * const y = Float32Array.of(2.5);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hrint(y[0]!); }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 2
   */
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

/**
 * Functions of f16: `cuda.fp16.hfma(a, b, c)`. Numba's `cuda.fp16`, CUDA's cuda_fp16.h.
 * @example
 * const y = Float32Array.of(3, 2, 1);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.fp16.hfma(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 7
 */
export const fp16: HalfFunctions = functionsOf('fp16');
/**
 * Functions of bf16: `cuda.bf16.hfma(a, b, c)`. Numba's `cuda.bf16`, CUDA's cuda_bf16.h.
 * @example
 * const y = Float32Array.of(3, 2, 1);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.bf16.hfma(y[0]!, y[1]!, y[2]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 7
 */
export const bf16: HalfFunctions = functionsOf('bf16');
