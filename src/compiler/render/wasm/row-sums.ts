/**
 * Loops that add up what lies in a row: `for (k = 0; k < n; k++) sum += a[row][k] * x[k]`, of integers.
 *
 * A vector of threads is in as many rows at once and takes each row's element for itself. One thread alone has its own elements side by
 * side: sixteen of its rounds are a vector (`rounds.ts`). Integers add up to the same in any order; floats do not, and are left alone.
 */
import { constant, select } from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import { canFail } from '../../ir/measures.ts';
import {
  type BinaryOp,
  type Check,
  ELEM_SIZE,
  type Expr,
  type Kernel,
  type Label,
  type Stmt,
  type Var,
} from '../../ir/ops.ts';
import { analyseLiveness, type Liveness } from '../../ir/passes/liveness.ts';
import { countingLoop } from '../../ir/passes/trip-counts.ts';
import { analyseUniformity, type Shape, type Uniformity } from '../../ir/passes/uniformity.ts';
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
import type { WasmVariant } from './module.ts';

type Load = Expr & { readonly op: 'load' };
type Assign = Stmt & { readonly op: 'assign' };

/** `var = var fn value` in each round; `sub` takes the value away. */
export interface Sum {
  readonly var: Var;
  readonly fn: 'add' | 'sub' | 'and' | 'or' | 'xor' | 'min' | 'max';
  readonly value: Expr;
}

/** A check of a round, and its index in terms of what is known before the first one. */
export interface Asked {
  readonly check: Check;
  readonly index: Expr;
}

/** What rounds that are lanes do. */
export interface RowSum {
  readonly counter: Var;
  readonly bound: Expr;
  /** Values of a round that several others are made of, in order; nobody reads them when the loop is over. */
  readonly parts: readonly Assign[];
  readonly sums: readonly Sum[];
  readonly loads: readonly Load[];
  readonly checks: readonly Asked[];
  /** In terms of rounds: U is the same in all of them, C goes up by ones. */
  shape(e: Expr): Shape;
  varShape(v: Var): Shape;
}

/** A loop whose rounds are nothing but all rounds of another: a window of rows, each of which is a whole number of vectors. */
export interface Window {
  readonly row: RowSum;
  readonly counter: Var;
  readonly bound: Expr;
  /** Where the window begins, if that is known. */
  readonly first: number | undefined;
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
  const assigned = assignedIn(body);
  const [parts, sums]: [Assign[], Sum[]] = [[], []];
  const shapes = new Map<number, Shape>();
  const varShape = (v: Var): Shape => (v.id === counter.id ? 'C' : (shapes.get(v.id) ?? 'U'));
  const shape = (e: Expr): Shape => roundShape(e, varShape);
  const [loads, checks] = [new Set<Load>(), new Map<Check, Expr>()];
  const values = new Map<number, Expr>();
  const inTerms = (e: Expr): Expr => mapExpr(e, (x) => (x.op === 'var' ? (values.get(x.var.id) ?? x) : x));
  /** Whether a value can be had for several rounds at once. */
  const isLaned = (e: Expr): boolean => {
    if (e.op === 'load') {
      const { index, array } = e.mem;
      const own = e.mem.checks.filter(({ extent }) => extent.op === 'param' || extent.op === 'const');
      if (array.space === 'local' || own.length < e.mem.checks.length || shape(index) === 'V') return false;
      const indices = [index, ...own.map((check) => check.index)];
      if (indices.some((i) => i.type !== 'i32' || someExpr(i, canFail) || shape(i) === 'V')) return false;
      if (own.some(({ extent }) => extent.type !== 'i32')) return false;
      loads.add(e);
      for (const check of own) checks.set(check, inTerms(check.index));
      return ![...checks.values()].some((e) => someExpr(e, canFail));
    }
    if (canFail(e) || e.op === 'call' || e.op === 'fma') return false;
    // What is read of this round has been assigned in it.
    if (e.op === 'var' && assigned.has(e.var.id) && !shapes.has(e.var.id)) return false;
    return exprParts(e).every(isLaned);
  };
  for (const s of body) {
    const sum = sumOf(s);
    if (sum !== undefined && !shapes.has(sum.var.id) && isLaned(sum.value)) {
      if (sums.some((other) => other.var === sum.var) || parts.some((p) => p.var === sum.var)) return undefined;
      sums.push(sum);
      continue;
    }
    if (s.op !== 'assign' || shapes.has(s.var.id) || !isOver(s.var) || !isLaned(s.value)) return undefined;
    if (sums.some((other) => other.var === s.var)) return undefined;
    shapes.set(s.var.id, shape(s.value) === 'U' ? 'U' : 'V');
    parts.push(s);
    values.set(s.var.id, inTerms(s.value));
  }
  if (sums.length === 0 || ![...loads].some((e) => shape(e) === 'V')) return undefined;
  return {
    counter,
    bound,
    parts,
    sums,
    loads: [...loads],
    checks: [...checks].map(([check, index]) => ({ check, index })),
    shape,
    varShape,
  };
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

/** The shape of a value over neighbouring rounds. */
function roundShape(e: Expr, varShape: (v: Var) => Shape): Shape {
  const of = (x: Expr): Shape => roundShape(x, varShape);
  const isWord = (x: Expr): boolean => x.type === 'i32' || x.type === 'u32';
  switch (e.op) {
    case 'var':
      return varShape(e.var);
    case 'load':
      return of(e.mem.index) === 'U' ? 'U' : 'V';
    case 'binary': {
      const [a, b] = [of(e.a), of(e.b)];
      if (a === 'U' && b === 'U') return 'U';
      const counts =
        (e.fn === 'add' && ((a === 'C' && b === 'U') || (a === 'U' && b === 'C'))) ||
        (e.fn === 'sub' && a === 'C' && b === 'U');
      return counts && isWord(e) ? 'C' : 'V';
    }
    case 'bitcast':
      return of(e.a) === 'C' && isWord(e) && isWord(e.a) ? 'C' : of(e.a) === 'U' ? 'U' : 'V';
    default:
      return exprParts(e).every((x) => of(x) === 'U') ? 'U' : 'V';
  }
}

/** The loop around a row as a window of rows; undefined for any other. `before` is the statement in front of it. */
function windowOf(loop: Loop, before: Stmt | undefined, rows: ReadonlyMap<Label, RowSum>): Window | undefined {
  const counting = countingLoop(loop);
  const [start, inner, ...others] = counting?.body ?? [];
  const row = inner?.op === 'loop' ? rows.get(inner.label) : undefined;
  if (counting === undefined || row === undefined || others.length > 0 || counting.inclusive) return undefined;
  const { counter, bound, step } = counting;
  if (step.op !== 'const' || step.value !== 1 || counter.type !== 'i32' || hasLoad(bound)) return undefined;
  if (start?.op !== 'assign' || start.var !== row.counter || start.value.op !== 'const') return undefined;
  if (row.bound.op !== 'const') return undefined;
  const rounds = Number(row.bound.value) - Number(start.value.value);
  const known = before?.op === 'assign' && before.var === counter && before.value.op === 'const';
  const first = known && before.value.op === 'const' ? Number(before.value.value) : undefined;
  const found = { row, counter, bound, first, start: Number(start.value.value), rounds };
  const isSteady = ({ index }: Asked): boolean => ['U', 'C'].includes(windowShape(found, index));
  return rounds % lanesOf(row) === 0 && row.checks.every(isSteady) ? found : undefined;
}

/** How a value changes from row to row. */
export function windowShape({ counter }: Pick<Window, 'counter'>, e: Expr): Shape {
  return roundShape(e, (v) => (v.id === counter.id ? 'C' : 'U'));
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
}

/** All loops of a kernel whose rounds may be lanes, and those that go over windows of them. */
export function rowSums({ body }: Kernel): Rows {
  const rows = new Map<Label, RowSum>();
  const windows = new Map<Label, Window>();
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
      const window = windowOf(s, list[k - 1], rows);
      if (window !== undefined) windows.set(s.label, window);
    }
  };
  inList(body);
  return { rows, windows };
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
  const { rows, windows } = rowSums(kernel);
  if (rows.size === 0) return none;
  let uniformity: Uniformity | undefined;
  let facts: LaneFacts | undefined;
  const isFar = ({ mem }: Load): boolean => {
    uniformity ??= analyseUniformity(kernel, { block: [Math.ceil(block[0] / 8) * 8, block[1], block[2]], lanes: 8 });
    facts ??= new LaneFacts(kernel, uniformity, 8);
    if (uniformity.shape(mem.index) !== 'V' || facts.likelyStep(mem.index) === 1) return false;
    return Math.abs(facts.offsets(mem.index)?.[1] ?? 2) > 1;
  };
  const inWindow = new Set([...windows.values()].map(({ row }) => row));
  let all = true;
  eachStmt(kernel.body, (s) => {
    if (s.op !== 'loop' || someStmt([...s.body, ...s.update], (x) => x.op === 'loop')) return;
    const row = rows.get(s.label);
    const isLong =
      row !== undefined && (row.bound.op !== 'const' || Number(row.bound.value) >= LONG_ROW || inWindow.has(row));
    all &&= isLong && row.loads.some((e) => row.shape(e) === 'V' && isFar(e));
  });
  return all ? new Set(rows.keys()) : none;
}
