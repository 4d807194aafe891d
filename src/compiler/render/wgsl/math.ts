/**
 * By what calls of functions of f32 are replaced in WGSL.
 */
import type { Call } from '../../ir/passes/expand-plain-math.ts';
import { keepNaN } from '../../math/not-a-number.ts';
import { MATH_F32, type MathBody, type PairBody } from '../../math/table.ts';
import { sincos } from '../../math/trig.ts';

/** As in the table, but NaN stays NaN. */
export function wgslBody({ fn, type, args }: Call): MathBody | undefined {
  // WGSL's own is at least as accurate as its quotients and square roots.
  if (fn === 'rsqrt') return undefined;
  const body = type === 'f32' ? MATH_F32[fn] : undefined;
  if (body === undefined || args.length !== 1) return body;
  return (x, ...rest) => keepNaN(x, body(x, ...rest));
}

/** Sine and cosine together. */
export function wgslSincos(type: 'f32' | 'f64'): PairBody | undefined {
  return type === 'f32' ? sincos : undefined;
}
