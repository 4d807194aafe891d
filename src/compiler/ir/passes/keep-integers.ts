/**
 * Variables of f64 that are only ever given integers of 32 bits, and are asked for these again, as indices above all: they are i32. Exact, as f64 holds all of
 * them; f32 does not, and a variable of that type is what it is rounded to.
 */
import { cast, KernelBuilder, read } from '../builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { analyseLiveness } from './liveness.ts';
import { defined, eachExpr, eachStmt, mapLists, mapStmtExprs } from './walk.ts';

/** At any stage before regions are formed; `simplify` afterwards drops the conversions. The same kernel when there are none. */
export function keepIntegers(kernel: Kernel): Kernel {
  const given = new Map<number, Var>();
  const others = new Set<number>(analyseLiveness(kernel.body).entry);
  eachStmt(kernel.body, (s) => {
    if (s.op === 'assign' && integerOf(s.value) !== undefined) given.set(s.var.id, s.var);
    else others.add(defined(s) ?? -1);
  });
  const asked = new Set<number>();
  eachExpr(kernel.body, (e) => {
    if (e.op === 'cast' && e.to === 'i32' && e.a.op === 'var') asked.add(e.a.var.id);
  });
  const b = KernelBuilder.from(kernel);
  const kept = new Map<number, Var>();
  for (const [id, v] of given) if (asked.has(id) && !others.has(id)) kept.set(id, b.variable('i32', v.name));
  if (kept.size === 0) return kernel;
  const change = (e: Expr): Expr => {
    const v = e.op === 'var' ? kept.get(e.var.id) : undefined;
    return v === undefined ? e : cast('f64', read(v));
  };
  const put = (s: Stmt): Stmt => {
    const v = s.op === 'assign' ? kept.get(s.var.id) : undefined;
    const integer = v !== undefined && s.op === 'assign' ? integerOf(s.value) : undefined;
    const own =
      v !== undefined && integer !== undefined ? { ...(s as Stmt & { op: 'assign' }), var: v, value: integer } : s;
    return mapLists(mapStmtExprs(own, change), (list) => list.map(put));
  };
  return { ...kernel, vars: [...b.vars], body: kernel.body.map(put) };
}

/** The i32 that is converted. */
function integerOf(e: Expr): Expr | undefined {
  return e.op === 'cast' && e.to === 'f64' && e.a.type === 'i32' ? e.a : undefined;
}
