/**
 * Coordinates made of a running number, `y = floor(i / w)` and `x = i % w`: the code behind them, once more for vectors whose threads all have the same quotient.
 *
 * In those, y is one value and x is consecutive, so that rows are read and written as rows, and one division of integers stands for those of all
 * threads. The quotient is that of the vector's first thread, `i - threadIdx.x + (threadIdx.x & -lanes)`, which is the same in a vector that begins at a
 * multiple of its lanes. All of this is true of any group of so many threads, whatever a device makes of them.
 */
import { add, and, assign, binary, compare, i32, ifElse, KernelBuilder, mul, read, special, sub } from '../builder.ts';
import { canFail, exprsSize } from '../measures.ts';
import type { Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import { sameExpr } from '../same.ts';
import { analyseLiveness } from './liveness.ts';
import { renamed } from './rename.ts';
import { copyOf } from './round-copies.ts';
import {
  assignedIn,
  defined,
  eachExpr,
  eachStmt,
  exprParts,
  hasBarrier,
  mapLists,
  mapSame,
  mapStmtExprs,
  someExpr,
  someStmt,
} from './walk.ts';

/** Expression nodes that are worth having twice. */
const LARGEST = 400;
/** Quotients that a vector is asked about. */
const MOST = 4;

type Division = Expr & { readonly op: 'binary' };

/** A running number and what it is divided by. */
interface Pair {
  readonly number: Expr;
  /** The number less threadIdx.x. */
  readonly base: Expr;
  readonly by: Expr;
}

/** After simplification; the same kernel when there are no such coordinates. `lanes`: threads of a vector. */
export function splitQuotients(kernel: Kernel, lanes: number): Kernel {
  let mayHave = false;
  eachExpr(kernel.body, (e) => {
    mayHave ||= isDivision(e) && !isShortConstant(e.b, lanes);
  });
  if (!mayHave || hasBarrier(kernel.body) || someStmt(kernel.body, (s) => s.op === 'warp')) return kernel;
  const b = KernelBuilder.from(kernel);
  const facts = factsOf(kernel);
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    const at = list.findIndex((s) => pairsOf([withoutLists(s)], facts, lanes).length > 0);
    const here = at < 0 ? [] : [...list.slice(0, at), ...twice(list.slice(at))];
    return at < 0 ? mapSame(list, (s) => mapLists(s, inList)) : here;
  };
  const twice = (tail: readonly Stmt[]): readonly Stmt[] => {
    if (exprsSize(tail) > LARGEST) return tail;
    const changes = assignedIn(tail);
    const isKnown = ({ base, by }: Pair): boolean => ![base, by].some((e) => readsAny(e, changes));
    const pairs = pairsOf(tail, facts, lanes).filter(isKnown).slice(0, MOST);
    if (pairs.length === 0) return tail;
    const [{ pos }] = tail as readonly [Stmt];
    const made = pairs.map((pair) => ({
      ...pair,
      first: b.variable('i32', '%first'),
      quotient: b.variable('i32', '%quotient'),
      start: b.variable('i32', '%start'),
    }));
    const lane = binary('and', special('threadIdx.x'), i32(-lanes));
    const before = made.flatMap(({ base, by, first, quotient, start }) => [
      assign(first, add(base, lane), pos),
      assign(quotient, binary('div', read(first), by), pos),
      assign(start, mul(read(quotient), by), pos),
    ]);
    // Below 2^31 - lanes nothing wraps on the way to the last thread.
    const within = made.map(({ by, first, start }) =>
      [
        compare('ge', by, i32(lanes)),
        compare('ge', read(first), i32(0)),
        compare('le', read(first), i32(2 ** 31 - lanes)),
        compare('le', sub(read(first), read(start)), sub(by, i32(lanes))),
      ].reduce(and),
    );
    const change = (e: Expr): Expr => {
      if (!isDivision(e)) return e;
      const m = made.find((pair) => isOf(pair, e));
      if (m === undefined) return e;
      return e.fn === 'rem' ? sub(e.a, read(m.start)) : read(m.quotient);
    };
    const put = (s: Stmt): Stmt => mapLists(mapStmtExprs(s, change), (list) => list.map(put));
    const own = relabelled(renamed(tail.map(put).map(copyOf), copiesOf(b, kernel, tail)), b);
    return [...before, ifElse(within.reduce(and), own, tail, pos)];
  };
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, vars: [...b.vars], body };
}

const withoutLists = (s: Stmt): Stmt => mapLists(s, () => []);

const readsAny = (e: Expr, vars: ReadonlySet<number>): boolean =>
  someExpr(e, (x) => x.op === 'var' && vars.has(x.var.id));

function isDivision(e: Expr): e is Division {
  return e.op === 'binary' && e.type === 'i32' && (e.fn === 'floordiv' || e.fn === 'div' || e.fn === 'rem');
}

/** Powers of two have shapes of their own, and of few threads no vector has them all. */
function isShortConstant(e: Expr, lanes: number): boolean {
  if (e.op !== 'const') return false;
  const by = Number(e.value);
  return by < 2 * lanes || (by & (by - 1)) === 0;
}

// ---------------------------------------------------------------- what is divided by what

/** Variables that are assigned once, which is before they are read, with their values. */
interface Facts {
  readonly values: ReadonlyMap<number, Expr>;
}

function factsOf({ body }: Kernel): Facts {
  const { entry } = analyseLiveness(body);
  const values = new Map<number, Expr>();
  const others = new Set<number>(entry);
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id === undefined) return;
    if (s.op !== 'assign' || values.has(id)) others.add(id);
    else values.set(id, s.value);
  });
  for (const id of others) values.delete(id);
  return { values };
}

/** The divisions of running numbers in statements, each pair once. */
function pairsOf(list: readonly Stmt[], facts: Facts, lanes: number): readonly Pair[] {
  const found: Pair[] = [];
  eachExpr(list, (e) => {
    if (!isDivision(e) || isShortConstant(e.b, lanes) || found.some((pair) => isOf(pair, e))) return;
    const base = isSteady(e.b, facts) ? baseOf(e.a, facts) : undefined;
    if (base !== undefined) found.push({ number: e.a, base, by: e.b });
  });
  return found;
}

const isOf = ({ number, by }: Pair, { a, b }: Division): boolean => sameExpr(number, a) && sameExpr(by, b);

/** A value that is the same for all threads of a row, wherever it is computed. */
function isSteady(e: Expr, facts: Facts): boolean {
  if (e.op === 'special') return e.name !== 'threadIdx.x' && e.name !== 'laneId';
  if (e.op === 'load' || canFail(e)) return false;
  if (e.op !== 'var') return exprParts(e).every((part) => isSteady(part, facts));
  const value = facts.values.get(e.var.id);
  return value !== undefined && isSteady(value, facts);
}

/** The value less threadIdx.x, where that is in it once, and all else is the same for the row. */
function baseOf(e: Expr, facts: Facts): Expr | undefined {
  if (e.op === 'special' && e.name === 'threadIdx.x') return i32(0);
  if (e.op === 'var') {
    const value = facts.values.get(e.var.id);
    return value && baseOf(value, facts);
  }
  if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub') || e.type !== 'i32') return undefined;
  const steady = isSteady(e.b, facts);
  if (!steady && (e.fn === 'sub' || !isSteady(e.a, facts))) return undefined;
  const inner = baseOf(steady ? e.a : e.b, facts);
  return inner && add(inner, steady ? (e.fn === 'sub' ? binary('sub', i32(0), e.b) : e.b) : e.a);
}

// ---------------------------------------------------------------- copies

/** New variables for those that are nowhere else: a thread goes the same way each time. */
function copiesOf(b: KernelBuilder, { body, vars }: Kernel, tail: readonly Stmt[]): ReadonlyMap<number, Var> {
  const inside = new Set<Stmt>();
  eachStmt(tail, (s) => {
    inside.add(s);
  });
  const outside = new Set<number>();
  const ours = new Set<number>();
  eachStmt(body, (s) => {
    const id = defined(s);
    if (id !== undefined) (inside.has(s) ? ours : outside).add(id);
    if (inside.has(s)) return;
    eachExpr([withoutLists(s)], (e) => {
      if (e.op === 'var') outside.add(e.var.id);
    });
  });
  return new Map(
    vars.filter(({ id }) => ours.has(id) && !outside.has(id)).map((v) => [v.id, b.variable(v.type, v.name)] as const),
  );
}

/** Copies of loops and blocks have labels of their own. */
function relabelled(list: readonly Stmt[], b: KernelBuilder, labels: Map<Label, Label> = new Map()): readonly Stmt[] {
  return list.map((s) => {
    if (s.op === 'loop' || s.op === 'block') labels.set(s.label, b.label());
    const t = mapLists(s, (inner) => relabelled(inner, b, labels));
    if (t.op !== 'loop' && t.op !== 'block' && t.op !== 'break' && t.op !== 'continue') return t;
    return { ...t, label: labels.get(t.label) ?? t.label };
  });
}
