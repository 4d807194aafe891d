/**
 * Loops that go along a row for each thread: `for (k = 0; k < n; k++) { sum += a[row][k]; out[row][k] = sum; }`, four rounds at a time.
 *
 * A vector of threads is in as many rows at once. What four rounds load in a row is a vector, and so is what they store: `records.ts` turns four rows'
 * vectors into those of four rounds, and `record-stores.ts` turns them back. So rounds keep their order within each thread, floats theirs. What is loaded
 * comes before what the other rounds store; that no round reads what another has stored is known, or asked when the loop begins.
 */
import {
  add,
  and,
  assign,
  cast,
  compare,
  constant,
  eq,
  i32,
  ifElse,
  lt,
  mul,
  or,
  param,
  read,
  select,
  sub,
  u64,
} from '../../ir/builder.ts';
import type { Loop } from '../../ir/loops.ts';
import { mayFail } from '../../ir/measures.ts';
import { ELEM_SIZE, type Expr, type Kernel, type MemRef, type Stmt, type Var } from '../../ir/ops.ts';
import { renamed } from '../../ir/passes/rename.ts';
import { type Copying, copyAt, copyOf, laterBy, nodesIn, replaceLoops } from '../../ir/passes/round-copies.ts';
import { countingLoop } from '../../ir/passes/trip-counts.ts';
import { analyseUniformity, type Uniformity } from '../../ir/passes/uniformity.ts';
import {
  assignedIn,
  exprParts,
  hasLoad,
  mapExpr,
  mapStmtExprs,
  someExpr,
  someStmt,
  stmtExprs,
} from '../../ir/passes/walk.ts';
import { LaneFacts } from './lane-facts.ts';
import type { WasmVariant } from './module.ts';
import { loopsInRows } from './row-sums.ts';

type Load = Expr & { readonly op: 'load' };
type Store = Stmt & { readonly op: 'store' };

const ROUNDS = 4;
/** Bytes of an element whose rounds are a vector. */
const SIZE = 4;
/** Expression nodes of a round, at most. */
const MOST_NODES = 200;

/** A loop that can be gone through four rounds at a time. */
interface Row {
  readonly loop: Loop;
  readonly counter: Var;
  readonly bound: Expr;
  readonly body: readonly Stmt[];
  /** Loads of elements that lie in a row. */
  readonly inRow: readonly Load[];
  /** Extents that the counter must stay below by so much. */
  readonly limits: readonly { readonly extent: Expr; readonly ahead: number }[];
  /** What must hold that no round reads what another has stored. */
  readonly apart: readonly Expr[];
  /** Whether the first round comes alone: checks that do not move would change places. */
  readonly alone: boolean;
}

/** The same kernel when nothing changes. Simple kernels have no loops. */
export function rowsInFours(kernel: Kernel, variant: WasmVariant): Kernel {
  return someStmt(kernel.body, (s) => s.op === 'loop') ? changed(kernel, variant) : kernel;
}

function changed(kernel: Kernel, variant: WasmVariant): Kernel {
  const { block, memory64 } = variant;
  if (memory64 || block[0] < 4) return kernel;
  if (!someStmt(kernel.body, (s) => s.op === 'loop' && isAlongRow(s))) return kernel;
  if (loopsInRows(kernel, variant).size > 0) return kernel;
  const lanesOf = { block: [Math.ceil(block[0] / 8) * 8, block[1], block[2]] as const, lanes: 8 };
  const uniformity = analyseUniformity(kernel, lanesOf);
  const facts = new LaneFacts(kernel, uniformity, 8);
  return replaceLoops(kernel, (loop, before, copying) => {
    const row = rowOf(loop, before, { kernel, uniformity, facts });
    return row && inFours(row, copying);
  });
}

interface Known {
  readonly kernel: Kernel;
  readonly uniformity: Uniformity;
  readonly facts: LaneFacts;
}

/** A loop that counts by ones, whose rounds assign and store. */
interface Rounds {
  readonly counter: Var;
  readonly bound: Expr;
  readonly body: readonly Stmt[];
  readonly stores: readonly Store[];
  /** In the order in which a round makes them. */
  readonly loads: readonly Load[];
  /** Those of them behind a store. */
  readonly late: ReadonlySet<Load>;
  readonly growth: Growth;
}

/** How much a value grows by from round to round: 0 or 1; undefined for anything else. */
type Growth = (e: Expr) => 0 | 1 | undefined;

function roundsOf(loop: Loop): Rounds | undefined {
  const counting = countingLoop(loop);
  if (counting === undefined || counting.inclusive || counting.counter.type !== 'i32') return undefined;
  const { counter, bound, step } = counting;
  if (step.op !== 'const' || step.value !== 1 || hasLoad(bound) || nodesIn(counting.body) > MOST_NODES)
    return undefined;
  if (!counting.body.every(isPlain)) return undefined;
  const assigned = new Set([...assignedIn(counting.body), counter.id]);
  const growth: Growth = (e) => {
    if (!someExpr(e, (x) => (x.op === 'var' && assigned.has(x.var.id)) || x.op === 'load')) return 0;
    if (e.op === 'var') return e.var.id === counter.id ? 1 : undefined;
    if (e.op !== 'binary' || e.type !== 'i32' || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
    const [x, y] = [growth(e.a), growth(e.b)];
    if (x === undefined || y === undefined || x + y > 1 || (e.fn === 'sub' && y === 1)) return undefined;
    return (x + y) as 0 | 1;
  };
  const body = inTerms(counting.body, growth);
  const stores = body.filter(isStore);
  const [loads, late] = [new Set<Load>(), new Set<Load>()];
  let stored = false;
  for (const s of body) {
    for (const e of stmtExprs(s)) {
      collect(e, loads);
      if (stored) collect(e, late);
    }
    stored ||= s.op === 'store';
  }
  const moves = ({ mem }: Store): boolean =>
    growth(mem.index) === 1 && mem.array.space === 'global' && mem.wide === undefined && !hasLoad(mem.index);
  return stores.every(moves) ? { counter, bound, body, stores, loads: [...loads], late, growth } : undefined;
}

/** Indices that are kept in variables, `i = row * n + k; a[i] = a[i] * f`, as what they are. */
function inTerms(body: readonly Stmt[], growth: Growth): readonly Stmt[] {
  const values = new Map<number, Expr>();
  const settled = (e: Expr): Expr => mapExpr(e, (x) => (x.op === 'var' ? (values.get(x.var.id) ?? x) : x));
  const place = (mem: MemRef): MemRef => ({
    ...mem,
    index: settled(mem.index),
    checks: mem.checks.map((check) => ({ ...check, index: settled(check.index) })),
  });
  return body.map((s) => {
    const own = mapStmtExprs(s, (e) => (e.op === 'load' ? { ...e, mem: place(e.mem) } : e));
    if (s.op === 'assign') {
      const value = settled(s.value);
      const isOnly = body.filter((x) => assignedIn([x]).has(s.var.id)).length === 1;
      if (isOnly && s.var.type === 'i32' && growth(value) !== undefined) values.set(s.var.id, value);
    }
    return own.op === 'store' ? { ...own, mem: place(own.mem) } : own;
  });
}

/** Whether an access is to what may lie in a row for each thread. */
function isNext({ array, elem, scale, index, wide }: MemRef, growth: Growth): boolean {
  const fits = array.space === 'global' && ELEM_SIZE[elem] === SIZE && scale === SIZE && wide === undefined;
  return fits && growth(index) === 1;
}

/** What is asked of a loop before anything is known of the threads. */
function isAlongRow(loop: Loop): boolean {
  const rounds = roundsOf(loop);
  return rounds !== undefined && [...rounds.loads, ...rounds.stores].some(({ mem }) => isNext(mem, rounds.growth));
}

function rowOf(loop: Loop, before: Stmt | undefined, { kernel, uniformity, facts }: Known): Row | undefined {
  const rounds = roundsOf(loop);
  if (rounds === undefined) return undefined;
  const { counter, body, stores, loads, growth, bound } = rounds;
  const start =
    before?.op === 'assign' && before.var === counter && before.value.op === 'const' ? before.value.value : -1;
  if (Number(start) < 0 || !isUniform(uniformity, bound) || !isUniform(uniformity, read(counter))) return undefined;
  const isFar = ({ index }: MemRef): boolean => {
    if (uniformity.shape(index) !== 'V' || facts.likelyStep(index) === 1) return false;
    return Math.abs(facts.offsets(index)?.[1] ?? 2) > 1;
  };
  const isInRow = ({ mem }: Load | Store): boolean => isNext(mem, growth) && isFar(mem);
  if (![...loads, ...stores].some(isInRow)) return undefined;
  const limits = limitsOf(
    [...loads, ...stores].map(({ mem }) => mem),
    counter,
    growth,
  );
  const apart = limits && conditions(rounds, { kernel, uniformity, growth });
  if (limits === undefined || apart === undefined) return undefined;
  const inRow = loads.filter(isInRow);
  // What fails first stays what failed first: of several checks that are the same in all rounds, the first round's are made as they were.
  const asked = [...loads, ...stores].filter(({ mem }) => mem.checks.some(({ index }) => growth(index) === 0));
  const alone = asked.length > 1;
  return { loop, counter, bound, body, inRow, limits, apart, alone };
}

function isUniform(uniformity: Uniformity, e: Expr): boolean {
  return ['G', 'U'].includes(uniformity.shape(e));
}

function collect(e: Expr, into: Set<Load>): void {
  if (e.op === 'load') into.add(e);
  for (const x of exprParts(e)) collect(x, into);
}

/** A rare path of a function, for one, which loads nothing. */
const isChoice = (s: Stmt): boolean =>
  s.op === 'if' && !stmtExprs(s).some(mayFail) && [...s.then, ...s.else].every((x) => isChoice(x) || isSafe(x));
const isSafe = (s: Stmt): boolean => s.op === 'assign' && !mayFail(s.value);
const isPlain = (s: Stmt): boolean => s.op === 'assign' || s.op === 'store' || isChoice(s);
const isStore = (s: Stmt): s is Store => s.op === 'store';

/** What checks ask of the counter; undefined where one of them asks what only a round knows. */
function limitsOf(
  mems: readonly MemRef[],
  counter: Var,
  growth: (e: Expr) => 0 | 1 | undefined,
): Row['limits'] | undefined {
  const limits: { extent: Expr; ahead: number }[] = [];
  for (const { index, extent } of mems.flatMap(({ checks }) => checks)) {
    if (growth(extent) !== 0) return undefined;
    const grows = growth(index);
    if (grows === undefined) return undefined;
    // What does not change from round to round fails in the first one, or in none.
    if (grows === 0) continue;
    const ahead = aheadOf(index, counter);
    if (ahead === undefined || extent.type !== 'i32') return undefined;
    if (!limits.some((x) => x.ahead === ahead && sameLeaf(x.extent, extent))) limits.push({ extent, ahead });
  }
  return limits;
}

/** By how much an index is ahead of the counter, if that is known, and not negative. */
function aheadOf(e: Expr, counter: Var): number | undefined {
  if (e.op === 'var' && e.var.id === counter.id) return 0;
  if (e.op !== 'binary' || e.fn !== 'add' || e.b.op !== 'const') return undefined;
  const [inner, more] = [aheadOf(e.a, counter), Number(e.b.value)];
  return inner === undefined || more < 0 || more > 2 ** 20 ? undefined : inner + more;
}

function sameLeaf(a: Expr, b: Expr): boolean {
  if (a.op === 'param' && b.op === 'param') return a.param === b.param;
  return a.op === 'const' && b.op === 'const' && a.value === b.value;
}

// ---------------------------------------------------------------- memory

interface Asking {
  readonly kernel: Kernel;
  readonly uniformity: Uniformity;
  readonly growth: Growth;
}

/** What keeps each store apart from what other rounds load and store; undefined where that cannot be asked. */
function conditions({ stores, loads, late }: Rounds, asking: Asking): readonly Expr[] | undefined {
  const found: Expr[] = [];
  for (const [k, { mem }] of stores.entries()) {
    const others = [
      ...loads.map((e) => ({ mem: e.mem, isLate: late.has(e) })),
      ...stores.slice(0, k).map((s) => ({ mem: s.mem, isLate: false })),
    ];
    for (const other of others) {
      if (other.mem.array.space === 'constant') continue;
      if (other.mem.array.space !== 'global') return undefined;
      const ways = [
        // It comes before the stores of its own round now.
        other.isLate ? undefined : sameRow(other.mem, mem, asking),
        asking.kernel.checked ? elsewhere(other.mem, mem, asking.kernel) : undefined,
      ].filter((e) => e !== undefined);
      if (ways.length === 0) return undefined;
      found.push(ways.reduce(or));
    }
  }
  return found;
}

/** Whether what a round loads lies where it stores, or 16 bytes and more away, or is what an earlier round has loaded: both go along the row alike. */
function sameRow(from: MemRef, to: MemRef, { uniformity, growth }: Asking): Expr | undefined {
  if (from.scale !== to.scale || from.elem !== to.elem || from.disp !== to.disp || growth(from.index) !== 1)
    return undefined;
  const equal: Expr[] = [];
  const isAlike = (x: Expr, y: Expr): boolean => {
    if (x.type !== y.type) return false;
    if (x.op === 'var' && y.op === 'var' && x.var.id === y.var.id) return true;
    const isSteady = (e: Expr): boolean => isUniform(uniformity, e) && growth(e) === 0 && e.type === 'i32';
    if (isSteady(x) && isSteady(y)) {
      if (!sameLeaf(x, y)) equal.push(eq(x, y));
      return true;
    }
    if (x.op !== 'binary' || y.op !== 'binary' || x.fn !== y.fn) return false;
    return isAlike(x.a, y.a) && isAlike(x.b, y.b);
  };
  if (!isAlike(from.index, to.index)) return undefined;
  if (from.array === to.array) return equal.reduce(and, constant('bool', true));
  const [a, b] = [addressOf(from), addressOf(to)];
  if (a === undefined || b === undefined) return undefined;
  // 0 … 14 for those that later rounds would have to wait for.
  return equal.reduce(and, compare('ge', sub(sub(b, a), u64(1)), u64(ROUNDS * SIZE - 1)));
}

function addressOf({ array }: MemRef): Expr | undefined {
  return array.param === undefined ? undefined : param('u64', array.param);
}

/** Whether one array ends before the other begins. */
function elsewhere(from: MemRef, to: MemRef, kernel: Kernel): Expr | undefined {
  const [a, b] = [from, to].map((mem) => {
    const [start, bytes] = [addressOf(mem), bytesOf(mem, kernel)];
    return start === undefined || bytes === undefined ? undefined : { start, end: add(start, bytes) };
  });
  if (a === undefined || b === undefined || from.array === to.array) return undefined;
  return or(compare('le', a.end, b.start), compare('le', b.end, a.start));
}

/** The bytes of an array without gaps whose elements are accessed as what they are. Kernels with checks know all extents. */
function bytesOf({ array, elem, scale }: MemRef, { params }: Kernel): Expr | undefined {
  const base = array.param === undefined ? undefined : params[array.param];
  if (base?.origin.kind !== 'base' || elem !== array.elem || scale !== ELEM_SIZE[elem]) return undefined;
  const path = base.origin.path.join();
  const own = params.filter(({ origin }) => 'path' in origin && origin.path.join() === path && origin !== base.origin);
  if (own.length === 0 || own.some(({ origin, type }) => origin.kind !== 'extent' || type !== 'i32')) return undefined;
  return own.map(({ index }) => cast('u64', param('i32', index))).reduce(mul, u64(scale));
}

// ---------------------------------------------------------------- what becomes of it

/** Four rounds in one as long as there are so many, and the loop as it was behind it. */
function inFours({ loop, counter, bound, body, inRow, limits, apart, alone }: Row, { b, own }: Copying): Stmt[] {
  const { pos } = loop;
  const last = b.variable('i32', '%last');
  const least = (x: Expr, y: Expr): Expr => select(lt(x, y), x, y);
  const ends = limits.map(({ extent, ahead }) => (ahead === 0 ? extent : sub(extent, i32(ahead))));
  const end = ends.reduce(least, bound);
  const enough = apart.reduce(and, compare('ge', end, i32(ROUNDS)));
  const later = (k: number): Expr => laterBy(read(counter), i32(1), k);
  const held = new Map(inRow.map((e) => [e, Array.from({ length: ROUNDS }, () => b.variable(e.type, '%next'))]));
  const ahead = [...held].flatMap(([e, vars]) => {
    const mem = unasked(e.mem, counter, alone);
    return vars.map((v, k) => copyAt(assign(v, { ...e, mem }, mem.pos), counter, later(k)));
  });
  const rounds: Stmt[] = [];
  const behind = new Map<Store, Stmt[]>();
  for (let k = 0; k < ROUNDS; k++) {
    const names = new Map(own().map((v) => [v.id, b.variable(v.type, v.name)]));
    const withHeld = (e: Expr): Expr => {
      const v = e.op === 'load' ? held.get(e)?.[k] : undefined;
      return v === undefined ? e : read(v);
    };
    for (const s of body) {
      const value = s.op === 'store' ? b.variable(s.value.type, '%value') : undefined;
      const own = s.op === 'store' && value !== undefined ? assign(value, s.value, s.pos) : s;
      rounds.push(...renamed([copyAt(mapStmtExprs(own, withHeld), counter, later(k))], names));
      if (s.op !== 'store' || value === undefined) continue;
      const stored = copyAt({ ...s, value: read(value), mem: unasked(s.mem, counter, alone) }, counter, later(k));
      behind.set(s, [...(behind.get(s) ?? []), stored]);
    }
  }
  const label = b.label();
  const leave = ifElse(compare('ge', read(counter), read(last)), [{ op: 'break', label, pos }], [], pos);
  const first = [...body.map((s) => copyOf(s)), assign(counter, later(1), pos)];
  return [
    ...(alone ? [ifElse(lt(read(counter), bound), first, [], pos)] : []),
    assign(last, select(enough, sub(end, i32(ROUNDS - 1)), i32(0)), pos),
    {
      op: 'loop',
      label,
      body: [leave, ...ahead, ...rounds, ...[...behind.values()].flat()],
      update: [assign(counter, later(ROUNDS), pos)],
      pos,
    },
    loop,
  ];
}

/** Without the checks of the counter, which holds them, or without any. */
function unasked(mem: MemRef, counter: Var, all: boolean): MemRef {
  const checks = all ? [] : mem.checks.filter(({ index }) => aheadOf(index, counter) === undefined);
  return { ...mem, checks };
}
