/**
 * Tests of the suite that ask of a device what SwiftShader does not have.
 */

/** Denormal numbers of f32, which it takes for zero, as WGSL lets it; and a fused `fma`. */
const FLUSHED: readonly string[] = [
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
  'small types, casts and stores: single precision arithmetic rounds after each operation',
  'small types, casts and stores: single precision division',
  'small types, casts and stores: single precision square roots',
  'special functions: logb, ilogb, fdim and saturate',
  'special functions: the normal distribution',
];

/** Blocks of more than 256 threads, and 48 KiB of workgroup memory: it has 32, and takes some for itself. */
const SMALL: readonly string[] = [
  'devices: limits are those of a device that can run the suite',
  'geometry: a full block of 1024',
  'geometry: every thread runs exactly once',
  'launch: a block beyond the limits',
  'launch: too many threads in a block',
  'sizes: 48 KiB of shared memory',
  'sizes: as much dynamic shared memory as there is',
  'sizes: blocks of 1024 threads with barriers',
  'sizes: static and dynamic shared memory, together as much as there is',
];

/** Kernels for eleven types, each in four passes, take it minutes to compile. */
const LONG: readonly string[] = ['parallel sort: numbers of every type, as typed arrays sort'];

export const BEYOND_SWIFTSHADER: readonly string[] = [...FLUSHED, ...SMALL, ...LONG];
