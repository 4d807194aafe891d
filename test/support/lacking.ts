/**
 * Tests that a device refuses for what it lacks: no failures, but skipped.
 */

/** What WebGPU does not have: a kernel that asks for it is refused, in these words. */
export const WEBGPU_LACKS: readonly string[] = [
  'E_F64',
  'E_ATOMIC64',
  'E_ATOMIC_SCOPE',
  'E_FENCE',
  'E_HOST_MEMORY',
  'E_BUFFERS',
  'E_IPC',
  'E_COOPERATIVE',
];

/** Tests that ask of f32 what WGSL leaves open: denormal numbers, which adapters may take for zero, quotients and square roots of the last bit, a fused `fma`, and whether NaN is less than something. */
export const LEFT_OPEN_BY_WGSL: readonly string[] = [
  '16-bit floats, functions: functions of cuda.fp16 and cuda.bf16',
  '16-bit floats: comparisons, extremes, remainders',
  '16-bit floats: every value through exact functions',
  '16-bit floats: every value through functions of f32, rounded',
  '16-bit floats: sums, differences, products and quotients are rounded once',
  'bf16: fields of records, aligned and not, and sub-arrays',
  'math functions: Math.atan2',
  'math functions: Math.hypot of two',
  'math functions: Math.pow',
  'math functions: asin',
  'math functions: asinh',
  'math functions: atan',
  'math functions: atanh',
  'math functions: cbrt',
  'math functions: cuda.cbrt',
  'math functions: cuda.erfc',
  'math functions: cuda.exp2',
  'math functions: cuda.rsqrt',
  'math functions: division and its special cases',
  'math functions: exp',
  'math functions: log',
  'math functions: log10',
  'math functions: log2',
  'math functions: remainder and its special cases',
  'math functions: sinh',
  'math functions: sqrt is correctly rounded in f32',
  'math functions: tanh',
  'numbers in parts: fmod is the remainder of a division',
  'numbers in parts: frexp gives the exponent',
  'numbers in parts: frexp gives the mantissa',
  'numbers in parts: ldexp rounds once',
  'numbers in parts: modf gives the fraction',
  'numbers in parts: nextafter goes one step',
  'numbers in parts: remainder is exact, ties to even',
  'rounding, selection and bits: Math.ceil in f32',
  'rounding, selection and bits: Math.floor in f32',
  'rounding, selection and bits: cuda.fma rounds once in f32',
  'rounding, selection and bits: order of NaN and zeros in f32',
  'small types, casts and stores: single precision arithmetic rounds after each operation',
  'small types, casts and stores: single precision division',
  'small types, casts and stores: single precision square roots',
  'special functions: logb, ilogb, fdim and saturate',
  'special functions: the normal distribution',
];

/** What a device lacks for a test, if that is why it failed. */
export function lackingIn(error: unknown, codes: readonly string[]): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    if ('code' in e && codes.includes(String(e.code))) return e.message;
  }
  return undefined;
}
