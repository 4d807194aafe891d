/**
 * Loops that are too long to be written out, whose rounds do the work of several: the assembler overlaps what several rounds load, puts constants into
 * addresses, and tests and counts less often.
 */
import { binary, constant, ifElse, negate } from '../builder.ts';
import { type Loop, testedLoop } from '../loops.ts';
import type { Expr, Stmt, Var } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { anew, copyAt, copyOf, countRounds, isRead, laterBy, nodesIn } from './round-copies.ts';
import { assignedIn, eachExpr, exprParts, someStmt } from './walk.ts';

/** What is wanted of them. */
export interface SeveralOptions {
  /** At most this many expression nodes in all copies together. */
  readonly nodes: number;
  /** How many rounds are made one; 1 for none. */
  readonly factor: number;
}

/** Loops longer than this are not counted. */
export const MOST_COUNTED = 4096;

/** Expression nodes in twice as many rounds as are usually made one, where there are two times as many. */
const SHORT = 400;

/** Remainders by more than this have no rounds made for them. */
const LONGEST_PERIOD = 8;

/** Where counters begin, and what is added to them, so that nothing wraps. */
const FARTHEST = 2 ** 24;

/**
 * A loop of `rounds` rounds with fewer and longer ones, and what is left of them behind it; undefined where it stays. Where a round takes the counter
 * modulo a small number, as ring buffers do, that many rounds are made one, and the remainders are constants.
 */
export function severalRounds(
  loop: Loop,
  step: Stmt & { op: 'assign' },
  start: Expr,
  rounds: number,
  options: SeveralOptions,
): readonly Stmt[] | undefined {
  const tested = testedLoop(loop);
  const by = stepOf(step);
  if (tested === undefined || by === undefined || options.factor < 2) return undefined;
  const { exit, body } = tested;
  const counter = step.var;
  const period = periodOf(body, counter, start, by);
  const doubled = 2 * options.factor;
  const short = rounds % doubled === 0 && doubled * nodesIn(body) <= SHORT;
  const factor = period ?? (short ? doubled : options.factor);
  const left = rounds % factor;
  if (rounds < factor || (period === undefined && left > 0)) return undefined;
  if ((factor + left) * nodesIn(body) > options.nodes) return undefined;
  const at = (k: number): Expr => laterBy(counterOf(step), by, k);
  const settled = (e: Expr): Expr => (period === undefined ? undefined : remainder(e, counter, start)) ?? anew(e);
  const copies = (count: number): readonly Stmt[] =>
    Array.from({ length: count }, (_, k) => body.map((s) => copyAt(s, counter, at(k), settled))).flat();
  // The last of the rounds that are one must be there.
  const over = left === 0 ? exit : foldExpr(replaced(exit, counter, at(factor - 1)));
  const several: Loop = {
    ...loop,
    body: [{ ...(loop.body[0] as Stmt & { op: 'if' }), cond: over, then: exitJump(loop), else: [] }, ...copies(factor)],
    update: [{ ...step, value: at(factor) }],
  };
  return left === 0 ? [several] : [several, ...copies(left), { ...step, value: at(left) }];
}

function exitJump(loop: Loop): readonly Stmt[] {
  return [{ op: 'break', label: loop.label, pos: loop.pos }];
}

function replaced(e: Expr, counter: Var, put: Expr): Expr {
  return (copyAt(ifElse(e, []), counter, put) as Stmt & { op: 'if' }).cond;
}

function counterOf(step: Stmt & { op: 'assign' }): Expr {
  return (step.value as Expr & { op: 'binary' }).a;
}

/** What a counter grows by, if it is counter = counter + constant. */
function stepOf({ var: counter, value }: Stmt & { op: 'assign' }): Expr | undefined {
  if (value.op !== 'binary' || value.fn !== 'add' || value.b.op !== 'const') return undefined;
  return isRead(value.a, counter) ? value.b : undefined;
}

// ---------------------------------------------------------------- loops that end by a test of their own

/** Expression nodes in all rounds of a group. */
const LARGEST_GROUP = 300;

/**
 * A loop that goes on while a counter is below a bound and something else holds, `while (n < 300 && …)`, whose rounds come in groups: within one only the
 * other test is made. What that test computes is at hand in the round behind it. `list[k]` is where the loop stands.
 */
export function inGroups(
  loop: Loop,
  list: readonly Stmt[],
  k: number,
  options: SeveralOptions,
): readonly Stmt[] | undefined {
  const tested = testedLoop(loop);
  if (tested === undefined || options.factor < 2) return undefined;
  const { exit, body } = tested;
  const round = [...body, ...loop.update];
  const step = round.at(-1);
  const conditions = conditionsOf(negate(exit));
  if (conditions.length < 2 || step?.op !== 'assign' || !isGrouped(loop, body)) return undefined;
  const counter = step.var;
  const start = startOf(list.slice(0, k), counter);
  if (start === undefined || stepOf(step) === undefined || assignedIn(round.slice(0, -1)).has(counter.id))
    return undefined;
  const bound = conditions.find(
    (c) =>
      c.op === 'compare' &&
      (isRead(c.a, counter) ? c.b : c.a).op === 'const' &&
      exprParts(c).some((e) => isRead(e, counter)),
  );
  const rounds = bound && countRounds(negate(bound), step.value, counter, start, MOST_COUNTED);
  const factor = [options.factor, 3, 2].find((f) => rounds !== undefined && rounds > 0 && rounds % f === 0);
  if (factor === undefined || factor * nodesIn(loop.body) > LARGEST_GROUP) return undefined;
  const goesOn = conditions.filter((c) => c !== bound).reduce((a, b) => binary('and', a, b));
  const test = ifElse(negate(goesOn), exitJump(loop), [], loop.pos);
  const others = Array.from({ length: factor - 1 }, () => [test, ...round].map(copyOf)).flat();
  return [{ ...loop, body: [...loop.body, ...loop.update, ...others.slice(0, others.length - loop.update.length)] }];
}

/** All that must hold, where it is said as one condition. */
function conditionsOf(cond: Expr): readonly Expr[] {
  if (cond.op === 'unary' && cond.fn === 'not') {
    const { a } = cond;
    return a.op === 'binary' && a.fn === 'or' ? [...conditionsOf(negate(a.a)), ...conditionsOf(negate(a.b))] : [cond];
  }
  return cond.op === 'binary' && cond.fn === 'and' ? [...conditionsOf(cond.a), ...conditionsOf(cond.b)] : [cond];
}

/** The constant that a counter has in front of a loop. */
function startOf(before: readonly Stmt[], counter: Var): Expr | undefined {
  const last = before.findLast((s) => assignedIn([s]).has(counter.id));
  return last?.op === 'assign' && last.value.op === 'const' ? last.value : undefined;
}

/** Whether copies of a body may stand behind each other: no labels of its own, no barriers, and nothing that goes on with the next round. */
function isGrouped(loop: Loop, body: readonly Stmt[]): boolean {
  return !someStmt(
    body,
    (s) =>
      s.op === 'loop' ||
      s.op === 'block' ||
      s.op === 'barrier' ||
      s.op === 'warp' ||
      (s.op === 'continue' && s.label === loop.label),
  );
}

// ---------------------------------------------------------------- counters modulo a number

/** After how many rounds all remainders of the counter that a round takes are what they were; undefined where there are none, or too many. */
function periodOf(body: readonly Stmt[], counter: Var, start: Expr, step: Expr): number | undefined {
  if (start.op !== 'const' || step.op !== 'const' || counter.type !== 'i32') return undefined;
  const [first, by] = [Number(start.value), Number(step.value)];
  if (by <= 0 || by > 2 ** 16 || first > FARTHEST) return undefined;
  let period: number | undefined = 1;
  eachExpr(body, (e) => {
    const of = moduloOf(e, counter);
    if (of === undefined || period === undefined) return;
    const own = of.by / gcd(of.by, by);
    // Of negative numbers remainders are negative.
    period = first + of.offset < 0 ? undefined : (period * own) / gcd(period, own);
  });
  return period !== undefined && period > 1 && period <= LONGEST_PERIOD ? period : undefined;
}

/** `(counter + offset) % by`. */
function moduloOf(e: Expr, counter: Var): { readonly offset: number; readonly by: number } | undefined {
  if (e.op !== 'binary' || e.fn !== 'rem' || e.type !== 'i32' || e.b.op !== 'const') return undefined;
  const [by, offset] = [Number(e.b.value), offsetOf(e.a, counter)];
  if (offset === undefined || Math.abs(offset) > FARTHEST) return undefined;
  return by > 1 && by <= LONGEST_PERIOD ? { offset, by } : undefined;
}

/** What a sum adds to the counter; undefined for anything else. */
function offsetOf(e: Expr, counter: Var): number | undefined {
  if (isRead(e, counter)) return 0;
  if (e.op !== 'binary' || e.b.op !== 'const' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
  const inner = offsetOf(e.a, counter);
  return inner === undefined ? undefined : inner + (e.fn === 'add' ? 1 : -1) * Number(e.b.value);
}

/** The value of a remainder in each round that the counter begins at `start`, or a whole number of periods later. */
function remainder(e: Expr, counter: Var, start: Expr): Expr | undefined {
  const of = moduloOf(e, counter);
  const first = start.op === 'const' && of !== undefined ? Number(start.value) + of.offset : -1;
  return of === undefined || first < 0 ? undefined : constant(e.type, first % of.by);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
