/**
 * Sine and cosine of one angle stand side by side, so that the math table computes them together: they share their reduction.
 *
 * In straight code alone; the second is computed with the first, and nothing is moved into or out of a branch.
 */
import { assign, call, type KernelBuilder, read } from '../builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { ExpressionKeys } from './expression-keys.ts';
import { mapStretches } from './stretches.ts';
import { exprParts, mapParts, mapTopExprs, someExpr, someStmt, stmtExprs } from './walk.ts';

type Angle = Expr & { readonly op: 'call'; readonly fn: 'sin' | 'cos' };

/** The same kernel when no angle has both; `shared` says of which types both are computed together. */
export function shareAngles(kernel: Kernel, shared: (type: 'f32' | 'f64') => boolean): Kernel {
  const asks = (e: Expr): e is Angle =>
    e.op === 'call' && (e.fn === 'sin' || e.fn === 'cos') && e.fast !== true && shared(e.type);
  if (!someStmt(kernel.body, (s) => stmtExprs(s).some((e) => someExpr(e, asks)))) return kernel;
  return mapStretches(
    kernel,
    (s): s is Stmt => s.op === 'assign' || s.op === 'store' || s.op === 'atomic',
    (stretch, b) => inStretch(stretch, asks, b),
  );
}

/** What an angle is while variables and memory change. */
class Angles {
  readonly #keys = new ExpressionKeys();
  #stores = 0;

  of({ args: [angle], type }: Angle): string {
    if (angle === undefined) return '';
    const memory = someExpr(angle, (e) => e.op === 'load') ? `@${this.#stores}` : '';
    return `${type}${this.#keys.text(angle)}${memory}`;
  }

  after(s: Stmt): void {
    if (s.op === 'store' || s.op === 'atomic') this.#stores++;
    const v = s.op === 'assign' ? s.var : s.op === 'atomic' ? s.result : undefined;
    if (v !== undefined) this.#keys.assigned(v);
  }
}

function inStretch(stretch: readonly Stmt[], asks: (e: Expr) => e is Angle, b: KernelBuilder): readonly Stmt[] {
  const asked = new Map<string, Set<string>>();
  const found = new Angles();
  const visit = (e: Expr): void => {
    if (asks(e)) asked.set(found.of(e), (asked.get(found.of(e)) ?? new Set()).add(e.fn));
    for (const part of exprParts(e)) visit(part);
  };
  for (const s of stretch) {
    for (const e of stmtExprs(s)) visit(e);
    found.after(s);
  }
  if (![...asked.values()].some((fns) => fns.size === 2)) return stretch;
  const angles = new Angles();
  const pairs = new Map<string, Readonly<Record<'sin' | 'cos', Var>>>();
  return stretch.flatMap((s) => {
    const before: Stmt[] = [];
    const change = (e: Expr): Expr => {
      const key = asks(e) ? angles.of(e) : undefined;
      const inner = mapParts(e, change);
      if (key === undefined || !asks(inner) || asked.get(key)?.size !== 2) return inner;
      let pair = pairs.get(key);
      if (pair === undefined) {
        const [angle = inner] = inner.args;
        const held = b.variable(inner.type, '%angle');
        pair = { sin: b.variable(inner.type, '%sin'), cos: b.variable(inner.type, '%cos') };
        pairs.set(key, pair);
        before.push(assign(held, angle, s.pos));
        before.push(assign(pair.sin, call('sin', read(held)), s.pos), assign(pair.cos, call('cos', read(held)), s.pos));
      }
      return read(pair[inner.fn]);
    };
    const own = mapTopExprs(s, change);
    angles.after(s);
    return [...before, own];
  });
}
