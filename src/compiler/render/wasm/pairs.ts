/**
 * Unroll and jam of scalar code: runs two neighbouring work items together through a loop whose rounds wait for each other.
 *
 * In a hash, a sum along a row or a walk from node to node each round needs what the one before it has found, so that a processor spends
 * the time of such a loop waiting: for a product, a sum, memory. Two work items in turns wait at the same time. Once one of them leaves the loop the
 * other one goes on alone. What is in front of the loop has no effects: where one of both does not come to the loop, both are run one
 * after another from the start.
 */
import { type Loop, testedLoop } from '../../ir/loops.ts';
import { exprsSize } from '../../ir/measures.ts';
import type { Expr, Stmt } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import { assignedIn, eachStmt, exprParts, someExpr, someStmt, stmtExprs, written } from '../../ir/passes/walk.ts';
import type { BranchTarget } from './assembler.ts';
import { scalar } from './expr.ts';
import type { Gen } from './gen.ts';
import { withPrepared } from './prepare.ts';
import { withinLoop, withSecond } from './scope.ts';
import { emitList } from './statements.ts';

/** A list on the way to the loop. */
type Way = { readonly before: readonly Stmt[]; readonly behind: readonly Stmt[] } & (
  | { readonly kind: 'if'; readonly cond: Expr; readonly then: Way }
  | { readonly kind: 'loop'; readonly loop: Loop; readonly exit: Expr; readonly rest: readonly Stmt[] }
);

export interface Pairs {
  readonly way: Way;
  /** Variables that each of both has for itself. */
  readonly own: ReadonlySet<number>;
}

/** Expression nodes in a round, and in all of the region, which is written three times. */
const LARGEST_ROUND = 48;
const LARGEST = 160;
/** Variables of both that are to stay in registers while the loop runs. */
const MOST_CARRIED = 5;

/** How the items of a region are run in pairs; undefined where nothing is gained by it, or something might go wrong. */
export function findPairs(g: Gen, node: WorkItemLoop): Pairs | undefined {
  const { variant, blockVars } = g;
  const { body } = node;
  if (g.lanes > 1 || variant.quick === true || variant.block[0] % 2 !== 0) return undefined;
  if (node.reduce !== undefined || node.loads.length > 0 || node.saves.length > 0) return undefined;
  // Rounds that are lanes wait for nothing.
  const isLaned = ({ label }: Loop): boolean => g.rows?.rows.has(label) === true || g.rows?.rare.has(label) === true;
  if (someStmt(body, (s) => s.op === 'loop' && isLaned(s))) return undefined;
  const way = wayToLoop(body);
  if (way === undefined || exprsSize(body) > LARGEST || !areIndependent(g, body)) return undefined;
  const own = assignedIn(body);
  if (blockVars.some((v) => own.has(v.id)) || !isSerial(body, loopOf(way))) return undefined;
  return { way, own };
}

/** The first loop that a list comes to, with nothing but assignments in front of it. */
function wayToLoop(list: readonly Stmt[]): Way | undefined {
  for (const [k, s] of list.entries()) {
    const around = { before: list.slice(0, k), behind: list.slice(k + 1) };
    if (s.op === 'loop') {
      const tested = testedLoop(s);
      const round = [...(tested?.body ?? []), ...s.update];
      if (tested === undefined || !round.every(isStraight) || exprsSize(s.body) > LARGEST_ROUND) return undefined;
      return { ...around, kind: 'loop', loop: s, exit: tested.exit, rest: tested.body };
    }
    const then = s.op === 'if' ? wayToLoop(s.then) : undefined;
    if (s.op === 'if' && then !== undefined) return { ...around, kind: 'if', cond: s.cond, then };
    if (!isHarmless(s)) return undefined;
  }
  return undefined;
}

const loopOf = (way: Way): Loop => (way.kind === 'loop' ? way.loop : loopOf(way.then));

/** Whether a statement assigns, and does nothing else. */
function isHarmless(s: Stmt): boolean {
  return !someStmt([s], (x) => x.op !== 'assign' && x.op !== 'if');
}

/** Whether a statement is gone through from its start to its end. */
function isStraight(s: Stmt): boolean {
  return !someStmt([s], (x) => x.op !== 'assign' && x.op !== 'if' && x.op !== 'store');
}

/** Whether two items may run side by side: each with memory and variables of its own, nobody counting or listing them in order. */
function areIndependent(g: Gen, body: readonly Stmt[]): boolean {
  const known = (s: Stmt): boolean =>
    isStraight(s) || s.op === 'loop' || s.op === 'block' || s.op === 'break' || s.op === 'continue' || s.op === 'if';
  let independent = !someStmt(body, (s) => !known(s) || written(s)?.array.space === 'local');
  const visit = (e: Expr): void => {
    if (e.op === 'load' && e.mem.array.space === 'local') independent = false;
    else if (e.op === 'special' && e.name === 'laneId') independent = false;
    else if (e.op === 'unary' && e.fn === 'uniform' && g.kernel.checked) independent = false;
    for (const part of exprParts(e)) visit(part);
  };
  eachStmt(body, (s) => {
    for (const e of stmtExprs(s)) visit(e);
  });
  return independent;
}

/** Whether rounds of the loop wait for each other: for more than a counter. */
function isSerial(body: readonly Stmt[], loop: Loop): boolean {
  const live = analyseLiveness(body).before(loop);
  const carried = [...assignedIn([...loop.body, ...loop.update])].filter((id) => live.has(id));
  if (carried.length > MOST_CARRIED) return false;
  return someStmt([...loop.body, ...loop.update], (s) => s.op === 'assign' && live.has(s.var.id) && !isCount(s));
}

/** `i = i + 1`, and the like. */
function isCount({ var: v, value }: Stmt & { readonly op: 'assign' }): boolean {
  if (v.type !== 'i32' && v.type !== 'u32') return false;
  const isOwn = (e: Expr): boolean => e.op === 'var' && e.var.id === v.id;
  return (
    value.op === 'binary' &&
    value.fn === 'add' &&
    isOwn(value.a) &&
    !someExpr(value.b, (e) => e.op === 'load' || e.op === 'var')
  );
}

/** What a pair needs of the loops over work items. */
export interface Items {
  /** Notes which item is the first of both. */
  begin(): void;
  /** What an item does before anything else. */
  start(): void;
}

/** Runs all items of a row. */
export function emitPairs(g: Gen, { way, own }: Pairs, body: readonly Stmt[], items: Items): void {
  const { f, at } = g;
  const [width] = g.variant.block;
  const [x] = at.thread;
  const second = f.temp('i32');
  const others: Gen['vars'] = new Map([...g.vars].filter(([id]) => !own.has(id)));
  const both = (write: () => void): void => {
    write();
    withSecond(g, others, second, write);
  };
  /** Leaves if something is so of one of both. */
  const leaveIf = (cond: Expr, isSo: boolean, ...targets: readonly [BranchTarget, BranchTarget?]): void => {
    let target = targets[0];
    both(() => {
      withPrepared(g, [cond], [], () => scalar(g, cond));
      if (!isSo) f.op('i32.eqz');
      f.brIf(target);
      target = targets[1] ?? target;
    });
  };
  const together = ({ loop, exit, rest }: Way & { kind: 'loop' }): void => {
    const done = f.block();
    const firstLeft = f.block();
    const secondLeft = f.block();
    const again = f.loop();
    withinLoop(g, () => {
      leaveIf(exit, true, firstLeft, secondLeft);
      both(() => emitList(g, [...rest, ...loop.update]));
    });
    f.br(again);
    f.end();
    f.end();
    emitList(g, [loop]);
    f.br(done);
    f.end();
    withSecond(g, others, second, () => emitList(g, [loop]));
    f.end();
  };
  const along = (list: Way, alone: BranchTarget): void => {
    both(() => emitList(g, list.before));
    if (list.kind === 'loop') together(list);
    else {
      leaveIf(list.cond, false, alone);
      along(list.then, alone);
    }
    both(() => emitList(g, list.behind));
  };
  f.i32(0);
  f.set(x);
  const again = f.loop();
  const next = f.block();
  const alone = f.block();
  items.begin();
  step(second, 1);
  both(items.start);
  along(way, alone);
  step(x, 2);
  f.br(next);
  f.end();
  // One after another, from the start.
  step(second, 2);
  const one = f.loop();
  items.begin();
  items.start();
  emitList(g, body);
  step(x, 1);
  f.get(x, second);
  f.op('i32.lt_s');
  f.brIf(one);
  f.end();
  f.end();
  f.get(x);
  f.i32(width);
  f.op('i32.lt_s');
  f.brIf(again);
  f.end();
  f.release('i32', second);

  /** Puts x and a number into a local. */
  function step(local: number, by: number): void {
    f.get(x);
    f.i32(by);
    f.op('i32.add');
    f.set(local);
  }
}
