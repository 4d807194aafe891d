/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math table.
 *
 * What the f32 table expands to has f32, i32, u32 and bool operations only, and `if`s for rare arguments. f64 calls stay, for
 * devices that import the host's functions, or are expanded as far as there are bodies.
 */
import { NotSupportedError } from '../../../errors.ts';
import { gpuBody } from '../../math/gpu.ts';
import { MATH_F32, MATH_F64, type MathBody } from '../../math/table.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { expandOperations } from './expand.ts';
import { mapLists, mapStmtExprs } from './walk.ts';

export type ExpandMathOptions =
  | {
      /** The table for processors that have neither a fused multiply-add nor approximations. */
      readonly target?: 'cpu' | undefined;
      /** Whether f32 calls are expanded. */
      readonly f32: boolean;
      /** `import`: f64 calls stay. `inline`: they are expanded, which throws NotSupportedError for all but `rsqrt` so far. */
      readonly f64: 'import' | 'inline';
    }
  /**
   * The table for GPUs: every call is expanded, with fma and the approximations of `ApproxOp`. With `Kernel.fastMath`, f32
   * calls become such approximations as they are, and division and square root of f32 `divApprox` and `sqrtApprox`.
   */
  | { readonly target: 'gpu' };

/** The same kernel with calls expanded; the kernel itself when it has none. */
export function expandMath(kernel: Kernel, options: ExpandMathOptions = { f32: true, f64: 'import' }): Kernel {
  function body(e: Expr & { readonly op: 'call' }): MathBody | undefined {
    if (options.target === 'gpu') return gpuBody(e.fn, e.type, kernel.fastMath);
    if (e.type === 'f32') return options.f32 ? MATH_F32[e.fn] : undefined;
    if (options.f64 === 'import') return undefined;
    const found = MATH_F64[e.fn];
    if (!found) throw new NotSupportedError('E_MATH_F64', `${e.fn} of f64 is not available on this device; use f32(x)`);
    return found;
  }

  const expanded = expandOperations(kernel, (e) => (e.op === 'call' ? body(e) : undefined));
  const fast = options.target === 'gpu' && kernel.fastMath;
  return fast ? { ...expanded, body: approximate(expanded.body) } : expanded;
}

/** Division and square root of f32 by the hardware's approximations. */
function approximate(list: readonly Stmt[]): Stmt[] {
  const change = (e: Expr): Expr => {
    if (e.type !== 'f32') return e;
    if (e.op === 'binary' && e.fn === 'div') return { ...e, fn: 'divApprox' };
    return e.op === 'unary' && e.fn === 'sqrt' ? { ...e, fn: 'sqrtApprox' } : e;
  };
  return list.map((s) => mapLists(mapStmtExprs(s, change), approximate));
}
