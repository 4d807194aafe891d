/**
 * Takes jumps out of a piece of code that lead to its end, by turning them into structure.
 *
 * `if (c) { jump } rest` becomes `if (!c) { rest }`; a jump out of a loop or block at the end becomes a break of it; what
 * cannot be said so breaks out of one new block around everything. Return lowering uses it on whole kernels and on the
 * stretches between two barriers.
 */
import { block, breakTo, ifElse, negate } from '../builder.ts';
import type { Label, Stmt } from '../ops.ts';
import { mapLists, neverEnds, someStmt } from './walk.ts';

export interface ExitRules {
  /** For a jump to the end of the code: what to do instead, before going there. Undefined for any other statement. */
  readonly replace: (s: Stmt) => readonly Stmt[] | undefined;
  readonly freshLabel: () => Label;
}

/** Rewrites a list after which control comes to its end wherever one of the jumps was. */
export function structureExits(list: readonly Stmt[], rules: ExitRules): readonly Stmt[] {
  let outer: Label | undefined;
  const out = tail(list);
  return outer === undefined ? out : [block(outer, out)];

  function exits(s: Stmt): boolean {
    return someStmt([s], (x) => rules.replace(x) !== undefined);
  }

  /** A list with nothing but the end of the code after it. */
  function tail(stmts: readonly Stmt[]): readonly Stmt[] {
    const out: Stmt[] = [];
    for (const [i, s] of stmts.entries()) {
      if (!exits(s)) {
        out.push(s);
        continue;
      }
      const instead = rules.replace(s);
      if (instead) return [...out, ...instead];
      const rest = stmts.slice(i + 1);
      if (s.op === 'if' && (rest.length === 0 || neverEnds(s.then))) {
        return [...out, branch(s, tail(s.then), tail([...s.else, ...rest]))];
      }
      if (s.op === 'if' && neverEnds(s.else)) {
        return [...out, branch(s, tail([...s.then, ...rest]), tail(s.else))];
      }
      if (rest.length === 0 && (s.op === 'loop' || s.op === 'block')) return [...out, inside(s, s.label)];
      outer ??= rules.freshLabel();
      out.push(inside(s, outer));
    }
    return out;
  }

  function branch(s: Stmt & { op: 'if' }, then: readonly Stmt[], otherwise: readonly Stmt[]): Stmt {
    if (then.length === 0 && otherwise.length > 0) return ifElse(negate(s.cond), otherwise, [], s.pos);
    return ifElse(s.cond, then, otherwise, s.pos);
  }

  /** A statement in which the jumps break `label` instead. */
  function inside(s: Stmt, label: Label): Stmt {
    return mapLists(s, (list) => jumping(list, label));
  }

  function jumping(stmts: readonly Stmt[], label: Label): readonly Stmt[] {
    return stmts.flatMap((s) => {
      const instead = rules.replace(s);
      return instead ? [...instead, breakTo(label, s.pos)] : [inside(s, label)];
    });
  }
}
