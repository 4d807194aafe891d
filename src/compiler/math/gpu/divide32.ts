/**
 * Quotients of f32 on GPUs, for bodies whose divisors neither are denormal nor have denormal reciprocals.
 */
import type { Expr } from '../../ir/ops.ts';
import { mapOperands } from '../lower.ts';
import { neg } from '../notation.ts';
import { approx, type BranchSelect, branch, fma, product } from './notation.ts';

/** The same graph, its f32 quotients by the hardware's reciprocal and one correction: within about half an ulp. */
export function divideByReciprocal(root: Expr): Expr {
  const done = new Map<Expr, Expr>();
  const rebuild = (e: Expr): Expr => {
    const known = done.get(e);
    if (known) return known;
    if (e.op === 'select' && 'group' in e) regroup(e as BranchSelect);
    const made = done.get(e) ?? divided(mapOperands(e, rebuild));
    done.set(e, made);
    return made;
  };
  /** The members of a branch are rebuilt together. */
  const regroup = ({ cond, group: { rare, members } }: BranchSelect): void => {
    const [a, b] = [members.map((m) => rebuild(m.a)), members.map((m) => rebuild(m.b))];
    branch(rare, rebuild(cond), a, b).forEach((m, k) => {
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
