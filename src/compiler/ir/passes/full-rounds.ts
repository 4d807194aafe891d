/**
 * Index set splitting of grid-stride loops: first the rounds that all items of a row make, then what is left.
 *
 * `for (i = base + threadIdx.x; i < n; i += stride)` ends for each item by itself, so that vectors go through it under masks. As
 * long as the last item of the row is below `n` nobody leaves: those rounds are a loop over the row's base, which all items
 * go through together. Every thread still makes the same rounds in the same order.
 *
 * A grid-stride loop that adds up may have rounds four at a time before these: run round by round over the whole row
 * (interchange.ts), with the sums of all items in memory, they read longer stretches of it, and go to the sums but once.
 */
import {
  add,
  assign,
  binary,
  cast,
  compare,
  constant,
  i32,
  ifElse,
  KernelBuilder,
  or,
  read,
  special,
} from '../builder.ts';
import type { Loop } from '../loops.ts';
import { exprsSize } from '../measures.ts';
import type { Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import { analyseLiveness, type Liveness } from './liveness.ts';
import { extentsOf, isOfCounter } from './loop-bounds.ts';
import { Copier, copyAt } from './round-copies.ts';
import { type Assignments, assignmentsOf, isOfItem, rowBase } from './row-bases.ts';
import { countingLoop } from './trip-counts.ts';
import { eachExpr, eachStmt, mapLists, someExpr, someStmt, written } from './walk.ts';

/** Expression nodes of a body that is worth having twice. */
const LARGEST = 120;

export interface FullRounds {
  readonly kernel: Kernel;
  /** The loops of full rounds. */
  readonly loops: readonly Loop[];
  /** The loops of several rounds at a time, and how many values they carry. */
  readonly together: ReadonlyMap<Label, number>;
  /** Those of them in which the row of the next block in x begins where a block's ends. */
  readonly adjacent: ReadonlySet<Label>;
}

/** Rounds at a time. Eight are hardly better, and twice the code. */
const TOGETHER = 4;

/**
 * After simplification for a block whose rows have `width` items; the same kernel when it has no such loop. `several` asks for
 * rounds together where they help.
 */
export function splitFullRounds(kernel: Kernel, width: number, several = false): FullRounds {
  const b = KernelBuilder.from(kernel);
  const loops: Loop[] = [];
  const together = new Map<Label, number>();
  const adjacent = new Set<Label>();
  let liveness: Liveness | undefined;
  let assignments: Assignments | undefined;
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    const out: Stmt[] = [];
    for (const [k, s] of list.entries()) {
      const before = list[k - 1];
      const whole = s.op === 'loop' && before?.op === 'assign' ? split(s, before) : undefined;
      out.push(...(whole ?? [mapLists(s, inList)]));
    }
    return out.length === list.length && out.every((s, k) => s === list[k]) ? list : out;
  };
  const split = (loop: Loop, start: Stmt & { op: 'assign' }): readonly Stmt[] | undefined => {
    const counting = countingLoop(withUpdate(loop));
    if (counting === undefined || counting.inclusive || counting.counter !== start.var) return undefined;
    const { counter, bound, step, body } = counting;
    if (counter.type !== 'i32' || (step.op === 'const' && Number(step.value) < 0) || !isWorthIt(body)) return undefined;
    liveness ??= analyseLiveness(kernel.body);
    assignments ??= assignmentsOf(kernel, liveness);
    const first = rowBase(start.value, assignments);
    if (first === undefined || isOfItem(bound, assignments) || isOfItem(step, assignments)) return undefined;
    const base = b.variable('i32', `%${counter.name}`);
    const { pos } = loop;
    const mine = assign(counter, add(read(base), special('threadIdx.x')), pos);
    const last = add(cast('i64', read(base)), constant('i64', width - 1));
    const over: Expr = { op: 'compare', type: 'bool', fn: 'ge', a: last, b: cast('i64', bound) };
    const label = b.label();
    const outer = new Set([counter.id, ...liveness.before(loop), ...liveness.after(loop)]);
    const copied = new Copier(b, outer, loop.label, label).list(body);
    const rounds: Loop = {
      op: 'loop',
      label,
      body: [ifElse(over, [{ op: 'break', label, pos }], [], pos), mine, ...copied],
      update: [assign(base, add(read(base), step), pos)],
      pos,
    };
    loops.push(rounds);
    const rest = [rounds, { ...mine }, loop];
    const carried = carriedVars(rounds, liveness.before(loop)).filter((v) => v !== counter);
    const far = several && step.op !== 'const' && carried.length > 0 && isStraight(body);
    if (!far) return [assign(base, first, pos), ...rest];
    const four = b.label();
    together.set(four, carried.length);
    if (isNextTo(first, width)) adjacent.add(four);
    return [assign(base, first, pos), fourRounds(four), ...rest];

    /** The rounds in which nothing can be out of bounds, four at a time. */
    function fourRounds(label: Label): Loop {
      const bases = [base, ...Array.from({ length: TOGETHER - 1 }, () => b.variable('i32', `%${counter.name}`))];
      const next = (v: Var | undefined): Expr => add(read(v ?? base), step);
      const limits = kernel.checked ? [bound, ...extentsOf(body, counter)] : [bound];
      const ahead = binary('mul', cast('i64', step), constant('i64', TOGETHER - 1));
      const end = add(add(cast('i64', read(base)), ahead), constant('i64', width - 1));
      const ends = limits.map((limit) => compare('ge', end, cast('i64', limit)));
      const backwards = or(compare('lt', step, i32(0)), compare('lt', read(base), i32(0)));
      // In indices, the row's base is one term and threadIdx.x another: where a row begins in memory is computed once for it.
      const copies = bases.flatMap((from) =>
        new Copier(b, outer, loop.label, label, (check) => !isOfCounter(check, counter))
          .list(body)
          .map((s) => copyAt(s, counter, add(read(from), special('threadIdx.x')))),
      );
      const later = bases.slice(1).map((v, k) => assign(v, next(bases[k]), pos));
      return {
        op: 'loop',
        label,
        body: [ifElse(ends.reduce(or, backwards), [{ op: 'break', label, pos }], [], pos), ...later, ...copies],
        update: [assign(base, next(bases.at(-1)), pos)],
        pos,
      };
    }
  };
  const body = inList(kernel.body);
  return { kernel: body === kernel.body ? kernel : { ...kernel, vars: [...b.vars], body }, loops, together, adjacent };
}

/** Whether a body only reads and computes: assignments, and choices between them. */
function isStraight(body: readonly Stmt[]): boolean {
  return !someStmt(body, (s) => s.op !== 'assign' && s.op !== 'if');
}

/** A `while` loop that steps at the end of its body as the `for` loop that it is. */
function withUpdate(loop: Loop): Loop {
  const last = loop.body.at(-1);
  const jumps = someStmt(loop.body, (s) => s.op === 'continue' && s.label === loop.label);
  if (loop.update.length > 0 || last === undefined || jumps) return loop;
  return { ...loop, body: loop.body.slice(0, -1), update: [last] };
}

/** Whether a body is short, reads or writes memory, and is left only with the test at its top. */
function isWorthIt(body: readonly Stmt[]): boolean {
  const leaves = (s: Stmt): boolean => s.op === 'break' || s.op === 'return' || s.op === 'loop' || s.op === 'block';
  if (someStmt(body, leaves) || exprsSize(body) > LARGEST) return false;
  let touches = someStmt(body, (s) => written(s) !== undefined);
  eachExpr(body, (e) => {
    touches ||= e.op === 'load';
  });
  return touches;
}

/** Whether a row's base is `width` more in the next block: `blockIdx.x * width`, and terms that are the same in both. */
function isNextTo(base: Expr, width: number): boolean {
  const terms = (e: Expr): readonly Expr[] =>
    e.op === 'binary' && e.fn === 'add' ? [...terms(e.a), ...terms(e.b)] : [e];
  const ofBlock = terms(base).filter((e) =>
    someExpr(e, (x) => (x.op === 'special' && x.name === 'blockIdx.x') || x.op === 'var'),
  );
  const [term] = ofBlock;
  if (term?.op !== 'binary' || term.fn !== 'mul' || ofBlock.length > 1) return false;
  const [a, b] = term.b.op === 'const' ? [term.a, term.b] : [term.b, term.a];
  return a.op === 'special' && b.op === 'const' && Number(b.value) === width;
}

/** Variables of an item's own that go from one full round to the next. */
export function carriedVars(loop: Loop, live: { has(id: number): boolean }): readonly Var[] {
  const carried = new Map<number, Var>();
  eachStmt(loop.body, (s) => {
    if (s.op === 'assign' && live.has(s.var.id)) carried.set(s.var.id, s.var);
  });
  return [...carried.values()];
}
