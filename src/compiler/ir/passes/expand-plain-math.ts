/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math table, as processors take them, which have neither a fused multiply-add nor approximations.
 *
 * What the f32 table expands to has f32, i32, u32 and bool operations only, and `if`s for rare arguments. f64 calls stay where there is no
 * body, and for arguments that a body is not good for: devices import the host's functions.
 */
import { f64Bodies } from '../../math/f64-bodies.ts';
import { MATH_F32, type MathBody, type PairBody } from '../../math/table.ts';
import { sincos } from '../../math/trig.ts';
import type { Expr, Kernel } from '../ops.ts';
import { expandOperations } from './expand.ts';
import { shareAngles } from './share-angles.ts';

export interface PlainMathOptions {
  /** The table for processors that have neither a fused multiply-add nor approximations. */
  readonly target?: 'cpu' | undefined;
  /** Whether f32 calls are expanded. */
  readonly f32: boolean;
  /** `import`: f64 calls stay. `vectors`: those are expanded that have a body, whose rare arguments are calls still. */
  readonly f64: 'import' | 'vectors';
}

/** A call of a function. */
export type Call = Expr & { readonly op: 'call' };

/** The same kernel with calls expanded; the kernel itself when it has none. */
export function expandPlainMath(kernel: Kernel, options: PlainMathOptions = { f32: true, f64: 'vectors' }): Kernel {
  const body = (e: Call): MathBody | undefined => {
    if (e.type === 'f32') return options.f32 ? MATH_F32[e.fn] : undefined;
    return options.f64 === 'vectors' ? f64Bodies().MATH_F64[e.fn] : undefined;
  };
  return expandCalls(kernel, body, (type) => {
    if (type === 'f32') return options.f32 ? sincos : undefined;
    return options.f64 === 'vectors' ? f64Bodies().SINCOS_F64 : undefined;
  });
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
