/**
 * Rounds and work items that seldom do anything, in scalar code: `for (k …) { v = a[row][k]; if (v > best[7]) … }`, `if (level[v] === d) …`.
 *
 * Whether any of several does is asked of all at once, as a vector (`pass-over.ts`); where none does, they are passed over. A guard is taken to hold seldom if what
 * it asks for is a record, which what it guards raises, or is looked for, and then found; of work items, if it guards a loop.
 */
import { and } from '../../ir/builder.ts';
import type { Loop } from '../../ir/loops.ts';
import type { Expr, Label, Stmt, Var } from '../../ir/ops.ts';
import { countingLoop } from '../../ir/passes/trip-counts.ts';
import { assignedIn, eachStmt, hasLoad, someExpr, someStmt } from '../../ir/passes/walk.ts';
import { type Assign, type LanedRounds, type Load, RoundValues } from './laned-rounds.ts';

export interface Rare extends LanedRounds {
  /** Whether a round, or an item, does anything. */
  readonly cond: Expr;
  /** What that asks of memory and is the same for all: loaded ahead of the vector. */
  readonly ahead: readonly Load[];
  /** Whether some of it is asked behind a guard, or by rounds to which a loop may never come: then all checks matter. */
  readonly guarded: boolean;
}

export interface RareRounds extends Rare {
  readonly counter: Var;
  readonly bound: Expr;
  /** What rounds do in which the guard holds. */
  readonly then: readonly Stmt[];
}

/** Assignments and guards on the way. */
const MOST = 8;

/** The loop as one whose rounds seldom do anything; undefined for any other. `isOver` says that a variable is not read behind the loop. */
export function rareRounds(loop: Loop, isOver: (v: Var) => boolean): RareRounds | undefined {
  const counting = countingLoop(loop);
  if (counting === undefined || counting.inclusive || counting.counter.type !== 'i32') return undefined;
  const { counter, bound, step, body } = counting;
  if (step.op !== 'const' || step.value !== 1 || hasLoad(bound)) return undefined;
  const [way] = waysIn(body).toReversed();
  if (way === undefined || !isSeldom(way.guard, loop.label)) return undefined;
  const { then } = way.guard;
  const rare = rareOn(way, new RoundValues(counter, assignedIn(body), assignedIn(then)), isOver);
  return rare && { ...rare, guarded: rare.guarded || mayLeave(then), counter, bound, then };
}

/** The items of a region as such that seldom do anything; undefined for any other. */
export function rareItems(body: readonly Stmt[]): Rare | undefined {
  for (const way of waysIn(body)) {
    if (!someStmt(way.guard.then, (s) => s.op === 'loop')) continue;
    const rare = rareOn(way, new RoundValues(undefined, assignedIn(body)), () => true);
    if (rare !== undefined) return rare;
  }
  return undefined;
}

type If = Stmt & { readonly op: 'if' };

/** Assignments and guards one inside of the other, and the innermost of these. */
interface Way {
  readonly steps: readonly (Assign | If)[];
  readonly guard: If;
}

/** How guards lead into a list that does nothing else: the longest way first. */
function waysIn(body: readonly Stmt[], before: readonly (Assign | If)[] = []): readonly Way[] {
  const guard = body.at(-1);
  const parts = body.slice(0, -1);
  if (guard?.op !== 'if' || guard.else.length > 0) return [];
  if (before.length + body.length > MOST || !parts.every((s) => s.op === 'assign')) return [];
  const steps = [...before, ...parts, guard];
  return [...waysIn(guard.then, steps), { steps, guard }];
}

/** What is to be known of several rounds at once to tell which of them go all the way. */
function rareOn({ steps }: Way, values: RoundValues, isOver: (v: Var) => boolean): Rare | undefined {
  const ahead = new Set<Load>();
  const mayLoad = (e: Load): boolean => {
    const { array, index, checks } = e.mem;
    const holds = checks.every((check) => isBelow(check.index, check.extent));
    if (array.space !== 'local' || index.op !== 'const' || !holds) return false;
    ahead.add(e);
    return true;
  };
  const conds: Expr[] = [];
  for (const s of steps) {
    if (s.op === 'if') {
      if (!values.isLaned(s.cond, mayLoad)) return undefined;
      conds.push(s.cond);
      continue;
    }
    if (values.isPart(s.var) || !isOver(s.var) || !values.isLaned(s.value, mayLoad)) return undefined;
    values.add(s);
  }
  const { found } = values;
  const cond = conds.reduce(and);
  if (found.shape(cond) !== 'V' || !found.loads.some((e) => found.shape(e) === 'V')) return undefined;
  return { ...found, cond, ahead: [...ahead], guarded: conds.length > 1 };
}

function isBelow(index: Expr, extent: Expr): boolean {
  if (index.op !== 'const' || extent.op !== 'const') return false;
  return Number(index.value) >= 0 && Number(index.value) < Number(extent.value);
}

/** Whether a list may end what is around it. */
function mayLeave(list: readonly Stmt[]): boolean {
  const inside = new Set<Label>();
  eachStmt(list, (s) => {
    if (s.op === 'loop' || s.op === 'block') inside.add(s.label);
  });
  return someStmt(
    list,
    (s) => s.op === 'return' || ((s.op === 'break' || s.op === 'continue') && !inside.has(s.label)),
  );
}

/** Whether a guard of rounds holds seldom, and guards what vectors of threads could not do well. */
function isSeldom({ cond, then }: Stmt & { op: 'if' }, label: Label): boolean {
  const last = then.at(-1);
  if (last?.op === 'break' && last.label === label) return true;
  const raised = assignedIn(then);
  const isRaised = (e: Expr): boolean =>
    (e.op === 'var' && raised.has(e.var.id)) ||
    (e.op === 'load' && someStmt(then, (s) => s.op === 'store' && s.mem.array === e.mem.array));
  return (
    someExpr(cond, isRaised) &&
    someStmt(then, (s) => s.op === 'loop' || (s.op === 'store' && s.mem.array.space === 'local'))
  );
}
