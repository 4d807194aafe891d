/**
 * Quotients of f32 on GPUs, for bodies whose divisors neither are denormal nor have denormal reciprocals.
 */
import type { Branch, Expr } from '../../ir/ops.ts';
import { mapParts } from '../../ir/parts.ts';
import { branch, neg } from '../notation.ts';
import { approx, fma, product } from './notation.ts';

/** The same graph, its f32 quotients by the hardware's reciprocal and one correction: within about half an ulp. */
export function divideByReciprocal(root: Expr): Expr {
  const done = new Map<Expr, Expr>();
  const rebuild = (e: Expr): Expr => {
    const known = done.get(e);
    if (known) return known;
    if (e.op === 'select' && e.branch !== undefined) rebuildBranch(e.cond, e.branch);
    const made = done.get(e) ?? divided(mapParts(e, rebuild));
    done.set(e, made);
    return made;
  };
  /** The members of a branch are rebuilt together. */
  const rebuildBranch = (cond: Expr, { unlikely, members }: Branch): void => {
    const [a, b] = [members.map((m) => rebuild(m.a)), members.map((m) => rebuild(m.b))];
    branch(unlikely, rebuild(cond), a, b).forEach((m, k) => {
      const old = members[k];
      if (old) done.set(old, m);
    });
  };
  return rebuild(root);
}

function divided(e: Expr): Expr {
  if (e.op !== 'binary' || e.fn !== 'div' || e.type !== 'f32') return e;
  const inverse = approx('rcpApprox', e.b);
  const q = product(e.a, inverse);
  return fma(fma(neg(q), e.b, e.a), inverse, q);
}
