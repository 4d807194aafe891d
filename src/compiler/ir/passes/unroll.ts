/**
 * Unrolling of short loops whose number of rounds is known: a tile's inner loop, the taps of a filter.
 *
 * Indices then are constants that end up in the addresses of loads, checks on them vanish, and independent work of several
 * rounds overlaps. Only small, straight bodies are copied, as code costs time to compile.
 */
import type { Expr, Kernel, Label, Stmt, Var } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { assignedIn, eachStmt, exprParts, jumpsTo, mapExpr, mapLists, someStmt, stmtExprs, written } from './walk.ts';

/** At most this many rounds, and this many expression nodes in all copies together. */
const MAX_ROUNDS = 32;
const MAX_NODES = 480;
/**
 * At most this many loads where all are from memory of known extents, which need no checks in a loop either: V8 begins a
 * stretch of straight code with most of its loads, and what does not fit into registers goes to the stack and back.
 */
const MAX_PLAIN_LOADS = 12;

type Loop = Stmt & { op: 'loop' };

/** Before regions are formed; `simplify` afterwards puts the constants in their places. The same kernel when nothing changes. */
export function unroll(kernel: Kernel): Kernel {
  const body = unrollList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, body };
}

function unrollList(list: readonly Stmt[]): readonly Stmt[] {
  const out: Stmt[] = [];
  let changed = false;
  for (const [k, s] of list.entries()) {
    const inner = mapLists(s, unrollList);
    const copies = inner.op === 'loop' ? copiesOf(inner, list[k - 1]) : undefined;
    if (copies === undefined) out.push(inner);
    else out.push(...copies);
    changed ||= copies !== undefined || inner !== s;
  }
  return changed ? out : list;
}

/** The rounds of a loop one after another, or undefined when it is to stay. `before` is the statement in front of it. */
function copiesOf(loop: Loop, before: Stmt | undefined): readonly Stmt[] | undefined {
  const [exit, ...body] = loop.body;
  const [step] = loop.update;
  if (before?.op !== 'assign' || before.value.op !== 'const' || loop.update.length !== 1 || step?.op !== 'assign')
    return undefined;
  const counter = before.var;
  if (step.var !== counter || exit?.op !== 'if' || !leaves(exit, loop.label)) return undefined;
  if (!isStraight(body, loop.label) || assignedIn(body).has(counter.id)) return undefined;
  const rounds = countRounds(exit.cond, step.value, counter, before.value);
  if (rounds === undefined || rounds * nodesIn(body) > MAX_NODES) return undefined;
  const { loads, global } = accessesIn(body);
  if (!global && rounds * loads > MAX_PLAIN_LOADS) return undefined;
  const copies: Stmt[] = [];
  for (let k = 0; k < rounds; k++) copies.push(...body.map(copyOf), copyOf(step));
  return copies;
}

/** Every statement stands in one place only; expressions may be shared. */
function copyOf(s: Stmt): Stmt {
  return { ...mapLists(s, (list) => list.map(copyOf)) };
}

function leaves(s: Stmt & { op: 'if' }, label: Label): boolean {
  const [jump] = s.then;
  return s.then.length === 1 && s.else.length === 0 && jump?.op === 'break' && jump.label === label;
}

/** No jump within the loop, no label that copies would repeat, no barrier. */
function isStraight(body: readonly Stmt[], label: Label): boolean {
  return (
    !jumpsTo(body, label) &&
    !someStmt(body, (s) => s.op === 'loop' || s.op === 'block' || s.op === 'barrier' || s.op === 'warp')
  );
}

/** How often the body runs, when start, step and condition are constants. */
function countRounds(exit: Expr, step: Expr, counter: Var, start: Expr): number | undefined {
  let value = start;
  for (let rounds = 0; rounds <= MAX_ROUNDS; rounds++) {
    const at = (e: Expr): Expr => foldExpr(mapExpr(e, (x) => (x.op === 'var' && x.var.id === counter.id ? value : x)));
    const over = at(exit);
    if (over.op !== 'const') return undefined;
    if (over.value === true) return rounds;
    value = at(step);
    if (value.op !== 'const') return undefined;
  }
  return undefined;
}

/** How many loads there are, and whether any access is to memory whose extents only the launch knows. */
function accessesIn(body: readonly Stmt[]): { loads: number; global: boolean } {
  let [loads, global] = [0, false];
  const visit = (e: Expr): void => {
    if (e.op === 'load') {
      loads++;
      global ||= e.mem.array.space === 'global';
    }
    for (const part of exprParts(e)) visit(part);
  };
  eachStmt(body, (s) => {
    global ||= written(s)?.array.space === 'global';
    for (const e of stmtExprs(s)) visit(e);
  });
  return { loads, global };
}

function nodesIn(body: readonly Stmt[]): number {
  let nodes = 0;
  const count = (e: Expr): void => {
    nodes++;
    for (const part of exprParts(e)) count(part);
  };
  eachStmt(body, (s) => {
    nodes++;
    for (const e of stmtExprs(s)) count(e);
  });
  return nodes;
}
