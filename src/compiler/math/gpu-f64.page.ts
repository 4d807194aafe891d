/**
 * The math table of f64 for the GPUs that pages have: WebGPU has no f64.
 */
import type { MathFn } from '../ir/ops.ts';
import type { MathBody, PairBody } from './table.ts';

/** Bodies for f64 arguments. */
export const GPU_F64: Readonly<Partial<Record<MathFn, MathBody>>> = {};

/** Sine and cosine together. */
export const GPU_SINCOS_F64: PairBody | undefined = undefined;
