/**
 * Loops that add up what lies in a row: `for (k = 0; k < n; k++) sum += a[row][k] * x[k]`, of integers.
 *
 * A vector of threads is in as many rows at once and takes each row's element for itself. One thread alone has its own elements side by
 * side: sixteen of its rounds are a vector (`rounds.ts`). Integers add up to the same in any order; floats do not, and are left alone.
 */
import { constant, select } from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import { canFail } from '../../ir/measures.ts';
import { type BinaryOp, ELEM_SIZE, type Expr, type Kernel, type Label, type Stmt, type Var } from '../../ir/ops.ts';
import { analyseLiveness, type Liveness } from '../../ir/passes/liveness.ts';
import { countingLoop } from '../../ir/passes/trip-counts.ts';
import { analyseUniformity, type Uniformity } from '../../ir/passes/uniformity.ts';
import {
  assignedIn,
  eachStmt,
  exprParts,
  hasLoad,
  mapExpr,
  someExpr,
  someStmt,
  stmtLists,
} from '../../ir/passes/walk.ts';
import { LaneFacts } from './lane-facts.ts';
import { type Assign, type LanedRounds, type Load, RoundValues } from './laned-rounds.ts';
import type { WasmVariant } from './module.ts';
import { type RareRounds, rareRounds } from './rare-rounds.ts';

/** `var = var fn value` in each round; `sub` takes the value away. */
export interface Sum {
  readonly var: Var;
  readonly fn: 'add' | 'sub' | 'and' | 'or' | 'xor' | 'min' | 'max';
  readonly value: Expr;
}

/** What rounds that are lanes do. */
export interface RowSum extends LanedRounds {
  readonly counter: Var;
  readonly bound: Expr;
  readonly sums: readonly Sum[];
}

/** A loop whose rounds are nothing but all rounds of another: a window of rows, each of which is a whole number of vectors. */
export interface Window {
  readonly row: RowSum;
  /** The loop along a row. */
  readonly label: Label;
  readonly counter: Var;
  readonly bound: Expr;
  /** Where the window begins, if that is known. */
  readonly first: number | undefined;
  /** What each row begins with: `const left = (y + j) * n + x`. */
  readonly ahead: readonly Assign[];
  /** Where each row begins, and its rounds. */
  readonly start: number;
  readonly rounds: number;
}

const SUMS: ReadonlySet<BinaryOp> = new Set<BinaryOp>(['add', 'sub', 'and', 'or', 'xor', 'min', 'max']);
/** Rounds of the shortest vector. */
const LEAST_ROUNDS = 4;
/** Statements of a round. */
const MOST = 8;

/** The loop as one whose rounds may be lanes; undefined for any other. `isOver` says that a variable is not read behind the loop. */
export function rowSum(loop: Loop, isOver: (v: Var) => boolean): RowSum | undefined {
  const counting = loop.body.length <= MOST ? countingLoop(loop) : undefined;
  if (counting === undefined || counting.inclusive || counting.counter.type !== 'i32') return undefined;
  const { counter, bound, step, body } = counting;
  if (step.op !== 'const' || step.value !== 1 || hasLoad(bound)) return undefined;
  if (bound.op === 'const' && Number(bound.value) < LEAST_ROUNDS) return undefined;
  const values = new RoundValues(counter, assignedIn(body));
  const sums: Sum[] = [];
  for (const s of body) {
    const sum = sumOf(s);
    if (sum !== undefined && !values.isPart(sum.var) && values.isLaned(sum.value)) {
      if (sums.some((other) => other.var === sum.var)) return undefined;
      sums.push(sum);
      continue;
    }
    if (s.op !== 'assign' || values.isPart(s.var) || !isOver(s.var) || !values.isLaned(s.value)) return undefined;
    if (sums.some((other) => other.var === s.var)) return undefined;
    values.add(s);
  }
  const { found } = values;
  if (sums.length === 0 || !found.loads.some((e) => found.shape(e) === 'V')) return undefined;
  return { counter, bound, ...found, ...inPlace(found, sums) };
}

/** Vectors with a name that is read once, `const d = a - b; sum += abs(d)`, in place of the name: lanes are chosen for whole expressions. */
function inPlace({ parts, shape }: LanedRounds, sums: readonly Sum[]): Pick<RowSum, 'parts' | 'sums'> {
  if (parts.length === 0) return { parts, sums };
  const reads = new Map<number, number>();
  const count = (e: Expr): void => {
    if (e.op === 'var') reads.set(e.var.id, (reads.get(e.var.id) ?? 0) + 1);
    for (const part of exprParts(e)) count(part);
  };
  for (const { value } of [...parts, ...sums]) count(value);
  const values = new Map<number, Expr>();
  const settled = (e: Expr): Expr => mapExpr(e, (x) => (x.op === 'var' ? (values.get(x.var.id) ?? x) : x));
  const kept: Assign[] = [];
  for (const s of parts) {
    const value = settled(s.value);
    if (reads.get(s.var.id) === 1 && shape(s.value) === 'V') values.set(s.var.id, value);
    else kept.push(value === s.value ? s : { ...s, value });
  }
  return { parts: kept, sums: sums.map((sum) => ({ ...sum, value: settled(sum.value) })) };
}

/** What a sum takes without changing. */
function neutral({ fn, var: { type } }: Sum): Expr {
  const [least, most] = type === 'u32' ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
  return constant(type, fn === 'and' ? -1 : fn === 'min' ? most : fn === 'max' ? least : 0);
}

/** `v = v + e` or, under a condition, `v = v + (c ? e : 0)`. */
function sumOf(s: Stmt): Sum | undefined {
  if (s.op === 'if') {
    const [only] = s.then;
    const sum = s.then.length === 1 && s.else.length === 0 && only !== undefined ? sumOf(only) : undefined;
    if (sum === undefined || someExpr(sum.value, canFail)) return undefined;
    return { ...sum, value: select(s.cond, sum.value, neutral(sum)) };
  }
  if (s.op !== 'assign' || (s.var.type !== 'i32' && s.var.type !== 'u32')) return undefined;
  const { value } = s;
  const isOwn = (e: Expr): boolean => e.op === 'var' && e.var.id === s.var.id;
  if (value.op !== 'binary' || !SUMS.has(value.fn)) return undefined;
  const [own, other] = value.fn !== 'sub' && isOwn(value.b) ? [value.b, value.a] : [value.a, value.b];
  if (!isOwn(own)) return undefined;
  return { var: s.var, fn: value.fn as Sum['fn'], value: other };
}

/** The loop around a row as a window of rows; undefined for any other. `before` is the statement in front of it. */
function windowOf(loop: Loop, before: Stmt | undefined, rows: ReadonlyMap<Label, RowSum>): Window | undefined {
  const counting = countingLoop(loop);
  const [inner, start, ...others] = counting?.body.toReversed() ?? [];
  const row = inner?.op === 'loop' ? rows.get(inner.label) : undefined;
  if (counting === undefined || inner?.op !== 'loop' || row === undefined || counting.inclusive) return undefined;
  const { counter, bound, step } = counting;
  if (step.op !== 'const' || step.value !== 1 || counter.type !== 'i32' || hasLoad(bound)) return undefined;
  if (start?.op !== 'assign' || start.var !== row.counter || start.value.op !== 'const') return undefined;
  if (row.bound.op !== 'const') return undefined;
  const rounds = Number(row.bound.value) - Number(start.value.value);
  const known = before?.op === 'assign' && before.var === counter && before.value.op === 'const';
  const first = known && before.value.op === 'const' ? Number(before.value.value) : undefined;
  const ahead = rowStarts(others.toReversed(), loop);
  if (ahead === undefined || rounds % lanesOf(row) !== 0) return undefined;
  const values = new Map<number, Expr>();
  const settled = (e: Expr): Expr => mapExpr(e, (x) => (x.op === 'var' ? (values.get(x.var.id) ?? x) : x));
  for (const s of ahead) values.set(s.var.id, settled(s.value));
  const own: RowSum = {
    ...row,
    indices: new Map([...row.indices].map(([e, index]) => [e, settled(index)])),
    checks: row.checks.map(({ check, index }) => ({ check, index: settled(index) })),
  };
  const { label } = inner;
  const found = { row: own, label, counter, bound, first, ahead, start: Number(start.value.value), rounds };
  return own.checks.every(({ index }) => growth(found, index) !== undefined) ? found : undefined;
}

/** Statements ahead of a row that say where it lies; undefined where there are others. */
function rowStarts(list: readonly Stmt[], { body }: Loop): readonly Assign[] | undefined {
  const assigned = assignedIn(body);
  const names: Assign[] = [];
  /** What one row leaves to the next is not where a row lies. */
  const isOther = (e: Expr): boolean =>
    e.op === 'var' && assigned.has(e.var.id) && !names.some((s) => s.var.id === e.var.id);
  for (const s of list) {
    if (s.op !== 'assign' || someExpr(s.value, (e) => canFail(e) || isOther(e))) return undefined;
    names.push(s);
  }
  let times = 0;
  eachStmt(body, (s) => {
    if (s.op === 'assign' && names.some((name) => name.var === s.var)) times++;
  });
  return times === names.length ? names : undefined;
}

/** How a value changes from row to row: not at all, by ones, by the same each time; undefined for anything else. */
export function growth(window: Pick<Window, 'counter'>, e: Expr): 'none' | 'ones' | 'even' | undefined {
  const isCounter = (x: Expr): boolean => x.op === 'var' && x.var.id === window.counter.id;
  if (isCounter(e)) return 'ones';
  if (!someExpr(e, isCounter)) return 'none';
  if (e.type !== 'i32' && e.type !== 'u32') return undefined;
  if (e.op === 'bitcast') return growth(window, e.a);
  if (e.op !== 'binary') return undefined;
  const [a, b] = [growth(window, e.a), growth(window, e.b)];
  if (a === undefined || b === undefined) return undefined;
  if (e.fn === 'add') return a === 'none' ? b : b === 'none' ? a : 'even';
  if (e.fn === 'sub') return b === 'none' ? a : 'even';
  if (e.fn === 'mul') return a === 'none' || b === 'none' ? 'even' : undefined;
  return e.fn === 'shl' && b === 'none' ? 'even' : undefined;
}

/** Rounds of a vector: bytes of a whole one where there are any, and no more than there are rounds. */
export function lanesOf({ bound, loads }: Pick<RowSum, 'bound' | 'loads'>): 4 | 8 | 16 {
  const most = bound.op === 'const' ? Number(bound.value) : 16;
  const wanted = loads.some((e) => ELEM_SIZE[e.mem.elem] === 1) ? 16 : 8;
  return ([16, 8, 4] as const).find((n) => n <= wanted && n <= most) ?? 4;
}

export interface Rows {
  readonly rows: ReadonlyMap<Label, RowSum>;
  readonly windows: ReadonlyMap<Label, Window>;
  readonly rare: ReadonlyMap<Label, RareRounds>;
}

/** All loops of a kernel whose rounds may be lanes, those that go over windows of them, and those whose rounds seldom do anything. */
export function rowSums({ body }: Kernel): Rows {
  const rows = new Map<Label, RowSum>();
  const windows = new Map<Label, Window>();
  const rare = new Map<Label, RareRounds>();
  let liveness: Liveness | undefined;
  const inList = (list: readonly Stmt[]): void => {
    for (const [k, s] of list.entries()) {
      for (const inner of stmtLists(s)) inList(inner);
      if (s.op !== 'loop' || testedLoop(s) === undefined) continue;
      const isOver = (v: Var): boolean => {
        liveness ??= analyseLiveness(body);
        return !liveness.after(s).has(v.id) && !liveness.before(s).has(v.id);
      };
      const row = rowSum(s, isOver);
      if (row !== undefined) rows.set(s.label, row);
      const seldom = row === undefined ? rareRounds(s, isOver) : undefined;
      if (seldom !== undefined) rare.set(s.label, seldom);
      const window = windowOf(s, list[k - 1], rows);
      if (window !== undefined) windows.set(s.label, window);
    }
  };
  inList(body);
  return { rows, windows, rare };
}

/** Rounds of a row that are worth a vector by themselves; in a window fewer are. */
const LONG_ROW = 16;

/**
 * Loops for the sake of which a kernel is best run thread by thread: none, where some innermost loop does something else, or where
 * neighbouring threads find their elements side by side.
 */
export function loopsInRows(
  kernel: Kernel,
  { block, lanes }: Pick<WasmVariant, 'block' | 'lanes'>,
): ReadonlySet<Label> {
  const none: ReadonlySet<Label> = new Set();
  if (lanes === 1 || block[0] < 4 || someStmt(kernel.body, (s) => s.op === 'barrier' || s.op === 'warp')) return none;
  const { rows, windows, rare } = rowSums(kernel);
  if (rows.size + rare.size === 0) return none;
  let uniformity: Uniformity | undefined;
  let facts: LaneFacts | undefined;
  const isFar = ({ mem }: Load): boolean => {
    uniformity ??= analyseUniformity(kernel, { block: [Math.ceil(block[0] / 8) * 8, block[1], block[2]], lanes: 8 });
    facts ??= new LaneFacts(kernel, uniformity, 8);
    if (uniformity.shape(mem.index) !== 'V' || facts.likelyStep(mem.index) === 1) return false;
    return Math.abs(facts.offsets(mem.index)?.[1] ?? 2) > 1;
  };
  const inWindow = new Set([...windows.values()].map(({ label }) => label));
  const passedOver = new Set<Stmt>();
  for (const { then } of rare.values()) eachStmt(then, (s) => passedOver.add(s));
  let all = true;
  eachStmt(kernel.body, (s) => {
    if (s.op !== 'loop' || passedOver.has(s)) return;
    const row = rows.get(s.label) ?? rare.get(s.label);
    if (row === undefined && someStmt([...s.body, ...s.update], (x) => x.op === 'loop')) return;
    const isLong =
      row !== undefined && (row.bound.op !== 'const' || Number(row.bound.value) >= LONG_ROW || inWindow.has(s.label));
    all &&= isLong && row.loads.some((e) => row.shape(e) === 'V' && isFar(e));
  });
  return all ? new Set([...rows.keys(), ...rare.keys()]) : none;
}
