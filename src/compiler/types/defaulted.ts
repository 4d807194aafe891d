/**
 * Which arguments it matters to that nothing decides their type: a warning about others would be noise.
 */
import { expressionsOf, operands, walkExpression, walkStatements } from './parts.ts';
import type { Local, ScalarArg, TExpr, TStmt } from './tree.ts';

/** Operations that pass a number on as it is. */
const PLAIN: ReadonlySet<TExpr['k']> = new Set(['abs', 'neg', 'plus', 'sign', 'uniform', 'select', 'minmax', 'like']);
/** Operations that round what they give. */
const ROUNDED: ReadonlySet<TExpr['k']> = new Set(['arith', 'math', 'complex', 'exact', 'fma']);

/**
 * Arguments that something is computed of: not those that are merely compared, cut to integers or printed, and not those with a cast around
 * them, `f32(gain)`.
 */
export function computedWith(body: readonly TStmt[]): ReadonlySet<ScalarArg> {
  /** What variables have of arguments. */
  const held = new Map<Local, Set<ScalarArg>>();
  const found = new Set<ScalarArg>();
  const add = (e: TExpr, to: Set<ScalarArg>): void => {
    if (e.k === 'arg') to.add(e.arg);
    else if (e.k === 'local') for (const arg of held.get(e.local) ?? []) to.add(arg);
    else if (PLAIN.has(e.k)) for (const x of operands(e)) add(x, to);
  };
  const walk = (): void =>
    walkStatements(body, (s) => {
      if (s.k === 'store') add(s.value, found);
      if (s.k === 'assign') {
        const known = held.get(s.local) ?? new Set();
        held.set(s.local, known);
        add(s.value, known);
      }
      for (const e of expressionsOf(s))
        walkExpression(e, (x) => {
          if (ROUNDED.has(x.k)) for (const operand of operands(x)) add(operand, found);
        });
    });
  const size = (): number => [...held.values()].reduce((n, args) => n + args.size, found.size);
  // Until nothing more gets about through variables of loops.
  for (let before = -1; before < size(); ) {
    before = size();
    walk();
  }
  return found;
}
