/**
 * Loops in which each thread goes down a column of a matrix, four rounds at a time, so that a block goes through them row by row.
 *
 * `for (r = 0; r < n; r++) sum += a[r][c]` takes a few columns at a time from top to bottom: a line of each row, rows apart, which no processor foresees, and
 * rows of 4 KB want the same few places of a cache. Round by round over the whole block (interchange.ts) a matrix is read as it lies in memory. What
 * threads carry from round to round is in memory then, which is why there are four rounds to each time that it is loaded and stored.
 *
 * Threads that a guard leaves out have no part in a round; the loop itself is outside of the guard, as all of a block go through it together. In these
 * rounds nothing can fail: whether all that they check holds is asked ahead of them, and what they leave is done by the loop as it was.
 */
import { add, and, assign, binary, breakTo, compare, i32, i64, ifElse, KernelBuilder, not, read } from '../builder.ts';
import type { Loop } from '../loops.ts';
import { canFail, exprsSize, mayFail } from '../measures.ts';
import type { Check, Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import { sameExpr } from '../same.ts';
import { foldExpr } from './fold.ts';
import { carriedVars, type FullRounds } from './full-rounds.ts';
import { keepsOrder } from './interchange.ts';
import { analyseLiveness, type Liveness } from './liveness.ts';
import { lowerReturns } from './returns.ts';
import { Copier, copyAt, isRead } from './round-copies.ts';
import { type Assignments, assignmentsOf, isConstant } from './row-bases.ts';
import { RowLimits, wide } from './row-limits.ts';
import { type CountingLoop, countingLoop } from './trip-counts.ts';
import { assignedIn, eachAccess, eachExpr, exprParts, someExpr, someStmt } from './walk.ts';

/** Rounds at a time. */
const TOGETHER = 4;
const ALL: readonly number[] = Array.from({ length: TOGETHER }, (_, k) => k);
/** Expression nodes of a round. */
const LARGEST = 120;
/** Values that threads carry from round to round, and all that they keep meanwhile. */
const MOST_CARRIED = 4;
const MOST_KEPT = 8;

/** What a thread must pass to get to a loop; in `list`, the statements behind it. */
interface Guard {
  readonly cond: Expr;
  /** The statements of the kernel before and behind the guarded ones. */
  readonly before: readonly Stmt[];
  readonly list: readonly Stmt[];
  readonly behind: readonly Stmt[];
}

/** After simplification for blocks that are one row of `width` items; the same kernel when it has no such loop. */
export function columnRounds(source: Kernel, width: number): FullRounds {
  const none: FullRounds = { kernel: source, loops: [], together: new Map(), adjacent: new Set() };
  if (!someStmt(source.body, isDown) || someStmt(source.body, isInOrder)) return none;
  const { kernel } = lowerReturns(source);
  const guard = guardOf(kernel.body);
  const b = KernelBuilder.from(kernel);
  const together = new Map<Label, number>();
  const down = new Down(b, kernel, width, guard?.cond);
  const out: Stmt[] = [];
  let mine: Stmt[] = [];
  const flush = (): void => {
    if (mine.length > 0 && guard !== undefined) out.push(ifElse(guard.cond, mine, [], kernel.pos));
    else out.push(...mine);
    mine = [];
  };
  for (const s of guard?.list ?? kernel.body) {
    const start = mine.at(-1);
    const rounds = s.op === 'loop' && start?.op === 'assign' ? down.split(s, start) : undefined;
    if (rounds === undefined || start?.op !== 'assign') {
      mine.push(s);
      continue;
    }
    mine.pop();
    flush();
    together.set(rounds.label, rounds.kept);
    out.push(...rounds.list);
    mine.push(assign(start.var, read(rounds.base), start.pos), s);
  }
  if (together.size === 0) return none;
  flush();
  const body = guard === undefined ? out : [...guard.before, ...out, ...guard.behind];
  return { ...none, kernel: { ...kernel, vars: [...b.vars], body }, together };
}

/** A loop that at first sight goes down a column. */
function isDown(s: Stmt): boolean {
  if (s.op !== 'loop') return false;
  const [update] = s.update;
  if (update?.op !== 'assign') return false;
  let found = false;
  eachAccess(s.body, ({ array, index }) => {
    found ||= array.space === 'global' && isFarApart(index, update.var);
  });
  return found;
}

/** Whether what lies at an index is a row further on in the next round. */
function isFarApart(index: Expr, counter: Var): boolean {
  return someExpr(
    index,
    (e) =>
      e.op === 'binary' &&
      (e.fn === 'mul' || e.fn === 'shl') &&
      exprParts(e).some((part) => someExpr(part, (x) => isRead(x, counter))),
  );
}

/** Statements that threads should come to one after another, or that keep them together already; ways out of a round are none. */
function isInOrder(s: Stmt): boolean {
  // Who waits in a loop for another thread would be in its way.
  if (s.op === 'loop') return countingLoop(s) === undefined;
  return s.op !== 'break' && s.op !== 'continue' && s.op !== 'return' && keepsOrder(s);
}

/** The guard around the kernel's loops; undefined where they are in none. */
function guardOf(body: readonly Stmt[]): Guard | undefined {
  const at = body.findIndex((s) => s.op === 'if' && s.then.some(isDown));
  const s = body[at];
  if (s?.op !== 'if' || s.else.length > 0 || mayFail(s.cond)) return undefined;
  const assigned = assignedIn(s.then);
  if (someExpr(s.cond, (e) => e.op === 'var' && assigned.has(e.var.id))) return undefined;
  return { cond: s.cond, before: body.slice(0, at), list: s.then, behind: body.slice(at + 1) };
}

interface Rounds {
  /** The statements that do them, and what counts them. */
  readonly list: readonly Stmt[];
  readonly base: Var;
  readonly label: Label;
  /** How many values each thread keeps meanwhile. */
  readonly kept: number;
}

class Down {
  readonly #b: KernelBuilder;
  readonly #checked: boolean;
  readonly #liveness: Liveness;
  readonly #assignments: Assignments;
  readonly #guard: Expr | undefined;
  readonly #limits: RowLimits;

  constructor(b: KernelBuilder, kernel: Kernel, width: number, guard: Expr | undefined) {
    this.#b = b;
    this.#checked = kernel.checked;
    this.#liveness = analyseLiveness(kernel.body);
    this.#assignments = assignmentsOf(kernel, this.#liveness);
    this.#guard = guard;
    this.#limits = new RowLimits(this.#assignments, width, guard);
  }

  /** The rounds of a loop that can be together; undefined where there are none. */
  split(loop: Loop, start: Stmt & { op: 'assign' }): Rounds | undefined {
    const counting = countingLoop(loop);
    if (counting === undefined || counting.counter !== start.var) return undefined;
    const { counter, body, inclusive } = counting;
    const [first, bound, step] = [start.value, counting.bound, counting.step].map((e) => this.#limits.settled(e));
    if (counter.type !== 'i32' || first === undefined || bound === undefined || step === undefined) return undefined;
    if (!this.#isWorthIt(counting)) return undefined;
    const live = new Set([counter.id, ...this.#liveness.before(loop), ...this.#liveness.after(loop)]);
    const carried = carriedVars(loop, this.#liveness.before(loop)).filter((v) => v !== counter);
    const kept = this.#b.vars.filter((v) => live.has(v.id) && !isConstant(read(v), this.#assignments)).length;
    if (carried.length > MOST_CARRIED || kept > MOST_KEPT) return undefined;
    const b = this.#b;
    const base = b.variable('i32', `%${counter.name}`);
    const at = (k: number): Expr => foldExpr(add(read(base), binary('mul', step, i32(k))));
    const inWide = (k: number): Expr => add(wide(read(base)), foldExpr(binary('mul', wide(step), i64(k))));
    const asked = this.#checked ? this.#asked(body, counter, inWide) : { always: [], each: [] };
    if (asked === undefined) return undefined;
    const label = b.label();
    const { pos } = loop;
    const copies = ALL.flatMap((k) =>
      new Copier(b, live, loop.label, label, () => false).list(body).map((s) => copyAt(s, counter, at(k))),
    );
    const down = step.op === 'const' && Number(step.value) < 0;
    const [low, high] = down ? [wide(bound), inWide(TOGETHER - 1)] : [inWide(TOGETHER - 1), wide(bound)];
    const more = compare(inclusive ? 'le' : 'lt', low, high);
    const forwards = step.op === 'const' ? [] : [compare('gt', step, i32(0))];
    const goesOn = [more, ...asked.each].reduce(and);
    const inside = this.#guard === undefined ? copies : [ifElse(this.#guard, copies, [], pos)];
    const rounds: Loop = {
      op: 'loop',
      label,
      body: [ifElse(not(goesOn), [breakTo(label, pos)], [], pos), ...inside],
      update: [assign(base, at(TOGETHER), pos)],
      pos,
    };
    const always = [...forwards, ...asked.always];
    const guarded = always.length === 0 ? rounds : ifElse(always.reduce(and), [rounds], [], pos);
    return { list: [assign(base, first, start.pos), guarded], base, label, kept };
  }

  /** Whether rounds do little but read or write matrices, row by row. */
  #isWorthIt({ counter, body }: CountingLoop): boolean {
    if (someStmt(body, (s) => s.op !== 'assign' && s.op !== 'if' && s.op !== 'store')) return false;
    if (exprsSize(body) > LARGEST) return false;
    let fails = false;
    eachExpr(body, (e) => {
      fails ||= e.op !== 'load' && canFail(e);
    });
    let [global, down] = [true, false];
    eachAccess(body, ({ array, index }) => {
      global &&= array.space === 'global';
      down ||= isFarApart(index, counter) && this.#limits.place(index, { counter, at: i64(0) })?.ofItem === true;
    });
    return !fails && global && down;
  }

  /** What must hold for the checks of four rounds: of all of them, and of those at hand. Undefined where it cannot be said. */
  #asked(
    body: readonly Stmt[],
    counter: Var,
    at: (k: number) => Expr,
  ): { readonly always: readonly Expr[]; readonly each: readonly Expr[] } | undefined {
    const checks: Check[] = [];
    eachAccess(body, (mem) => {
      for (const check of mem.checks)
        if (!checks.some((c) => sameExpr(c.index, check.index) && sameExpr(c.extent, check.extent))) checks.push(check);
    });
    const [always, each]: [Expr[], Expr[]] = [[], []];
    for (const { index, extent } of checks) {
      const size = this.#limits.settled(extent);
      if (index.type !== 'i32' || size?.type !== 'i32') return undefined;
      const counts = someExpr(index, (e) => isRead(e, counter));
      const rounds = counts ? ALL.filter((k) => k % (TOGETHER - 1) === 0 || isFarApart(index, counter)) : [0];
      for (const k of rounds) {
        const place = this.#limits.place(index, { counter, at: at(k) });
        if (place === undefined) return undefined;
        (counts ? each : always).push(this.#limits.fits(place, wide(size)));
      }
    }
    return { always: [...always, ...this.#limits.assumed], each };
  }
}
