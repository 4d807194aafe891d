/**
 * Replaces calls of approximated functions (exp, sin, pow …) by the bodies of the math table.
 *
 * The statements that compute a call stand right before the statement that uses it; loops have no expressions of their own,
 * so that nothing is moved out of one. What the f32 table expands to has f32, i32, u32 and bool operations only, and `if`s
 * for rare arguments. f64 calls stay, for devices that import the host's functions, or are expanded as far as there are
 * bodies.
 */
import { NotSupportedError } from '../../../errors.ts';
import { lowerGraph, mapOperands } from '../../math/lower.ts';
import { MATH_F32, MATH_F64, type MathBody } from '../../math/table.ts';
import type { Pos } from '../../source.ts';
import { assign, KernelBuilder, read, when } from '../builder.ts';
import type { Expr, Kernel, MemRef, Stmt } from '../ops.ts';

export interface ExpandMathOptions {
  /** Whether f32 calls are expanded. */
  readonly f32: boolean;
  /** `import`: f64 calls stay. `inline`: they are expanded, which throws NotSupportedError for all but `rsqrt` so far. */
  readonly f64: 'import' | 'inline';
}

/** The same kernel with calls expanded; the kernel itself when it has none. */
export function expandMath(kernel: Kernel, options: ExpandMathOptions = { f32: true, f64: 'import' }): Kernel {
  const symbols = KernelBuilder.from(kernel);
  let expanded = false;

  function body(e: Expr & { readonly op: 'call' }): MathBody | undefined {
    if (e.type === 'f32') return options.f32 ? MATH_F32[e.fn] : undefined;
    if (options.f64 === 'import') return undefined;
    const found = MATH_F64[e.fn];
    if (!found) throw new NotSupportedError('E_MATH_F64', `${e.fn} of f64 is not available on this device; use f32(x)`);
    return found;
  }

  /** Expands the calls in one statement's expressions, each node once; what they need goes to `out`. */
  function inStatement(out: Stmt[], pos: Pos): (e: Expr) => Expr {
    const done = new Map<Expr, Expr>();
    const name = (e: Expr, as: string): Expr => {
      if (e.op === 'const' || e.op === 'var' || e.op === 'param') return e;
      const v = symbols.variable(e.type, as);
      out.push(assign(v, e, pos));
      return read(v);
    };
    const expand = (e: Expr): Expr => {
      const known = done.get(e);
      if (known) return known;
      let result = mapOperands(e, expand);
      if (result.op === 'call') {
        const build = body(result);
        if (build) {
          expanded = true;
          const fn = result.fn;
          const args = result.args.map((a) => name(a, `%${fn}.x`));
          const value = lowerGraph(build(...args), out, (type) => symbols.variable(type, `%${fn}`), pos);
          result = name(value, `%${fn}`);
        }
      }
      done.set(e, result);
      return result;
    };
    return expand;
  }

  function list(statements: readonly Stmt[]): Stmt[] {
    const out: Stmt[] = [];
    for (const s of statements) out.push(statement(s, out));
    return out;
  }

  function statement(s: Stmt, out: Stmt[]): Stmt {
    const expand = inStatement(out, s.pos);
    const memory = (mem: MemRef): MemRef => {
      const load = expand({ op: 'load', type: 'i32', mem });
      return load.op === 'load' ? load.mem : mem;
    };
    switch (s.op) {
      case 'assign':
        return { ...s, value: expand(s.value) };
      case 'store':
        return { ...s, mem: memory(s.mem), value: expand(s.value) };
      case 'atomic':
        return { ...s, mem: memory(s.mem), args: s.args.map(expand) };
      case 'if':
        return when(expand(s.cond), list(s.then), list(s.else), s.pos);
      case 'loop':
        return { ...s, body: list(s.body), update: list(s.update) };
      case 'block':
        return { ...s, body: list(s.body) };
      case 'barrier':
        return s.pred ? { ...s, pred: expand(s.pred) } : s;
      case 'print':
        return { ...s, parts: s.parts.map((p) => (typeof p === 'string' ? p : expand(p))) };
      case 'break':
      case 'continue':
      case 'return':
      case 'fence':
      case 'trap':
        return s;
    }
  }

  const statements = list(kernel.body);
  return expanded ? { ...kernel, vars: [...symbols.vars], body: statements } : kernel;
}
