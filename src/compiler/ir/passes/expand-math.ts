/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math table.
 *
 * The statements that compute a call stand right before the statement that uses it; loops have no expressions of their own,
 * so that nothing is moved out of one. What the f32 table expands to has f32, i32, u32 and bool operations only, and `if`s
 * for rare arguments. f64 calls stay, for devices that import the host's functions, or are expanded as far as there are
 * bodies.
 */
import { NotSupportedError } from '../../../errors.ts';
import { gpuBody } from '../../math/gpu.ts';
import { lowerGraph } from '../../math/lower.ts';
import { MATH_F32, MATH_F64, type MathBody } from '../../math/table.ts';
import type { Pos } from '../../source.ts';
import { assign, KernelBuilder, read } from '../builder.ts';
import type { ArraySym, Expr, Kernel, Stmt } from '../ops.ts';
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
  const symbols = KernelBuilder.from(kernel);
  const tables = new Map<ArraySym, ArraySym>();
  let expanded = false;

  function body(e: Expr & { readonly op: 'call' }): MathBody | undefined {
    if (options.target === 'gpu') return gpuBody(e.fn, e.type, kernel.fastMath);
    if (e.type === 'f32') return options.f32 ? MATH_F32[e.fn] : undefined;
    if (options.f64 === 'import') return undefined;
    const found = MATH_F64[e.fn];
    if (!found) throw new NotSupportedError('E_MATH_F64', `${e.fn} of f64 is not available on this device; use f32(x)`);
    return found;
  }

  /** What an expression's node becomes; the statements that compute it go to `out`. */
  function expand(e: Expr, out: Stmt[], pos: Pos): Expr {
    const build = e.op === 'call' ? body(e) : undefined;
    if (e.op !== 'call' || !build) return e;
    expanded = true;
    const name = (value: Expr): Expr => {
      if (value.op === 'const' || value.op === 'var' || value.op === 'param') return value;
      const v = symbols.variable(value.type, `%${e.fn}`);
      out.push(assign(v, value, pos));
      return read(v);
    };
    const graph = build(...e.args.map(name));
    return name(lowerGraph(graph, out, { variable: (type) => symbols.variable(type, `%${e.fn}`), table, pos }));
  }

  /** A body's table as one of the kernel's constant arrays. */
  function table(array: ArraySym): ArraySym {
    const known = tables.get(array) ?? symbols.constants(array.elem, `%${array.name}`, array.data ?? new Uint8Array());
    tables.set(array, known);
    return known;
  }

  function list(statements: readonly Stmt[]): Stmt[] {
    const out: Stmt[] = [];
    for (const s of statements) {
      // A call may be shared, as an index and the check of it are.
      const done = new Map<Expr, Expr>();
      const own = mapStmtExprs(s, (e) => {
        const known = done.get(e) ?? expand(e, out, s.pos);
        if (e.op === 'call') done.set(e, known);
        return known;
      });
      out.push(mapLists(own, list));
    }
    return out;
  }

  const fast = options.target === 'gpu' && kernel.fastMath;
  const statements = fast ? approximate(list(kernel.body)) : list(kernel.body);
  return expanded || fast
    ? { ...kernel, arrays: [...symbols.arrays], vars: [...symbols.vars], body: statements }
    : kernel;
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
