/**
 * Calls of intrinsics that few kernels make: what a warp does together, caches, half precision, vectors in memory, complex numbers, and the words of `roc`.
 */
import { CACHE_HANDLERS } from './cache-calls.ts';
import { COMPLEX_HANDLERS } from './complex-calls.ts';
import { HALF_HANDLERS, isHalfArithmetic } from './half-calls.ts';
import type { Handler } from './intrinsic-call.ts';
import { ROC_HANDLERS } from './roc-calls.ts';
import { VECTOR_HANDLERS } from './vector-calls.ts';
import { WARP_HANDLERS } from './warp-calls.ts';

export const RARE_HANDLERS: Readonly<Record<string, Handler>> = {
  ...WARP_HANDLERS,
  ...CACHE_HANDLERS,
  ...COMPLEX_HANDLERS,
  ...ROC_HANDLERS,
  ...VECTOR_HANDLERS,
  ...HALF_HANDLERS,
};

/** Functions of numbers among them, each thread for itself. */
export { isHalfArithmetic };
