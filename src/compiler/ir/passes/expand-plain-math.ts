/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math table, as processors take them, which have neither a fused multiply-add nor approximations.
 *
 * What the f32 table expands to has f32, i32, u32 and bool operations only, and `if`s for rare arguments. f64 calls stay, for
 * devices that import the host's functions, or are expanded as far as there are bodies.
 */
import { NotSupportedError } from '../../../errors.ts';
import { MATH_F32, MATH_F64, type MathBody, type PairBody } from '../../math/table.ts';
import { sincos } from '../../math/trig.ts';
import type { Expr, Kernel } from '../ops.ts';
import { expandOperations } from './expand.ts';
import { shareAngles } from './share-angles.ts';

export interface PlainMathOptions {
  /** The table for processors that have neither a fused multiply-add nor approximations. */
  readonly target?: 'cpu' | undefined;
  /** Whether f32 calls are expanded. */
  readonly f32: boolean;
  /** `import`: f64 calls stay. `inline`: they are expanded, which throws NotSupportedError for all but `rsqrt` so far. */
  readonly f64: 'import' | 'inline';
}

/** A call of a function. */
export type Call = Expr & { readonly op: 'call' };

/** The same kernel with calls expanded; the kernel itself when it has none. */
export function expandPlainMath(kernel: Kernel, options: PlainMathOptions = { f32: true, f64: 'import' }): Kernel {
  const body = (e: Call): MathBody | undefined => {
    if (e.type === 'f32') return options.f32 ? MATH_F32[e.fn] : undefined;
    if (options.f64 === 'import') return undefined;
    const found = MATH_F64[e.fn];
    if (!found) throw new NotSupportedError('E_MATH_F64', `${e.fn} of f64 is not available on this device; use f32(x)`);
    return found;
  };
  return expandCalls(kernel, body, (type) => (type === 'f32' && options.f32 ? sincos : undefined));
}

/** The same kernel with calls replaced that have bodies; `pairOf`: those of sine and cosine of the same angle. */
export function expandCalls(
  kernel: Kernel,
  body: (call: Call) => MathBody | undefined,
  pairOf: (type: 'f32' | 'f64') => PairBody | undefined,
): Kernel {
  const shared = shareAngles(kernel, (type) => pairOf(type) !== undefined);
  return expandOperations(
    shared,
    (e) => (e.op === 'call' ? body(e) : undefined),
    (a, b) => {
      const both = a.op === 'call' && b.op === 'call' && a.fn === 'sin' && b.fn === 'cos' && !a.fast && !b.fast;
      return both ? pairOf(a.type) : undefined;
    },
  );
}
