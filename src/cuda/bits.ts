/**
 * The bits of numbers: floats as integers and back, without a conversion. NaN may come back as any NaN.
 */
import { intrinsic } from '../compiler/intrinsics.ts';

type ToInt = (x: number) => number;

/**
 * The bits of an f32 as an i32. `cuda.floatAsInt(1)` is 0x3f800000. CUDA's `__float_as_int`.
 * @example
 * const y = Int32Array.of(1);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.floatAsInt(f32(y[0]!)); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]!.toString(16)); // 3f800000
 */
export const floatAsInt: ToInt = intrinsic<ToInt>('floatAsInt');
/**
 * The bits of an f32 as a u32. CUDA's `__float_as_uint`.
 * @example
 * const y = Uint32Array.of(0);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.floatAsUint(f32(-1)); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]!.toString(16)); // bf800000
 */
export const floatAsUint: ToInt = intrinsic<ToInt>('floatAsUint');
/**
 * The f32 that 32 bits are; an integer of either sign. `cuda.intAsFloat(0x3f800000)` is 1. CUDA's `__int_as_float`.
 * @example
 * const y = new Float32Array(1);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.intAsFloat(0x3f800000); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const intAsFloat: ToInt = intrinsic<ToInt>('intAsFloat');
/**
 * The f32 that 32 bits are; an integer of either sign. CUDA's `__uint_as_float`.
 * @example
 * const y = new Float32Array(1);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.uintAsFloat(0xbf800000); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -1
 */
export const uintAsFloat: ToInt = intrinsic<ToInt>('uintAsFloat');
/**
 * The bits of an f64 as an i64. `cuda.doubleAsLong(1)` is 0x3ff0000000000000n. CUDA's `__double_as_longlong`.
 * @example
 * const y = new BigInt64Array(1);
 * cuda.jit((y: Vec<i64>) => { y[0] = cuda.doubleAsLong(1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]!.toString(16)); // 3ff0000000000000
 */
export const doubleAsLong: (x: number) => bigint = intrinsic<(x: number) => bigint>('doubleAsLong');
/**
 * The f64 that 64 bits are. CUDA's `__longlong_as_double`.
 * @example
 * const y = new Float64Array(1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.longAsDouble(0x3ff0000000000000n); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const longAsDouble: (bits: bigint) => number = intrinsic<(bits: bigint) => number>('longAsDouble');
/**
 * The upper 32 bits of an f64: sign, exponent, 20 bits of the fraction; an i32. CUDA's `__double2hiint`.
 * @example
 * const y = Int32Array.of(1);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.doubleToHiInt(f64(y[0]!)); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]!.toString(16)); // 3ff00000
 */
export const doubleToHiInt: ToInt = intrinsic<ToInt>('doubleToHiInt');
/**
 * The lower 32 bits of an f64, an i32. CUDA's `__double2loint`.
 * @example
 * const y = Int32Array.of(1);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.doubleToLoInt(f64(y[0]!)); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 0
 */
export const doubleToLoInt: ToInt = intrinsic<ToInt>('doubleToLoInt');
/**
 * An f64 of its upper and lower 32 bits. CUDA's `__hiloint2double`.
 * @example
 * const y = new Float64Array(1);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.hiLoIntToDouble(0x3ff00000, 0); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const hiLoIntToDouble: (high: number, low: number) => number =
  intrinsic<(high: number, low: number) => number>('hiLoIntToDouble');
/**
 * The bits of the f16 nearest to `x` as an i32 from -32768 to 32767. `cuda.halfAsShort(1)` is 0x3c00. CUDA's `__half_as_short`.
 * @example
 * const y = Int32Array.of(0);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.halfAsShort(1); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]!.toString(16)); // 3c00
 */
export const halfAsShort: ToInt = intrinsic<ToInt>('halfAsShort');
/**
 * The f16 that the lower 16 bits of an integer are. CUDA's `__short_as_half`.
 * @example
 * const y = new Float32Array(1);
 * cuda.jit((y: Vec<f32>) => { y[0] = cuda.shortAsHalf(0x3c00); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const shortAsHalf: ToInt = intrinsic<ToInt>('shortAsHalf');
