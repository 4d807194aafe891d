/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math table.
 *
 * What the f32 table expands to has f32, i32, u32 and bool operations only, and `if`s for rare arguments. f64 calls stay, for
 * devices that import the host's functions, or are expanded as far as there are bodies.
 */
import { NotSupportedError } from '../../../errors.ts';
import { gpuBody, gpuSincos } from '../../math/gpu.ts';
import { MATH_F32, MATH_F64, type MathBody, type PairBody } from '../../math/table.ts';
import { sincos } from '../../math/trig.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { expandOperations } from './expand.ts';
import { shareAngles } from './share-angles.ts';
import { mapLists, mapStmtExprs, someExpr, someStmt, stmtExprs } from './walk.ts';

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
    if (options.target === 'gpu') return gpuBody(e.fn, e.type, kernel.fastMath || e.fast === true);
    if (e.type === 'f32') return options.f32 ? MATH_F32[e.fn] : undefined;
    if (options.f64 === 'import') return undefined;
    const found = MATH_F64[e.fn];
    if (!found) throw new NotSupportedError('E_MATH_F64', `${e.fn} of f64 is not available on this device; use f32(x)`);
    return found;
  }

  const pairOf = (type: 'f32' | 'f64'): PairBody | undefined =>
    options.target === 'gpu' ? gpuSincos(type, kernel.fastMath) : type === 'f32' && options.f32 ? sincos : undefined;
  const shared = shareAngles(kernel, (type) => pairOf(type) !== undefined);
  const expanded = expandOperations(
    shared,
    (e) => (e.op === 'call' ? body(e) : undefined),
    (a, b) => {
      const both = a.op === 'call' && b.op === 'call' && a.fn === 'sin' && b.fn === 'cos' && !a.fast && !b.fast;
      return both ? pairOf(a.type) : undefined;
    },
  );
  if (options.target !== 'gpu') return expanded;
  const all = kernel.fastMath;
  if (!all && !someStmt(kernel.body, (s) => stmtExprs(s).some((e) => someExpr(e, isFast)))) return expanded;
  return { ...expanded, body: approximate(expanded.body, all) };
}

const isFast = (e: Expr): boolean => (e.op === 'unary' || e.op === 'binary') && e.fast === true;

/** Division and square root of f32 by the hardware's approximations, all of them or those that ask for it. */
function approximate(list: readonly Stmt[], all: boolean): Stmt[] {
  const change = (e: Expr): Expr => {
    if (e.type !== 'f32' || !(all || isFast(e))) return e;
    if (e.op === 'binary' && e.fn === 'div') return { ...e, fn: 'divApprox' };
    return e.op === 'unary' && e.fn === 'sqrt' ? { ...e, fn: 'sqrtApprox' } : e;
  };
  return list.map((s) => mapLists(mapStmtExprs(s, change), (inner) => approximate(inner, all)));
}
