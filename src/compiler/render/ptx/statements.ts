/**
 * Statements: structured control flow as labels and branches.
 *
 * Loops are tested at the bottom where the source tests at the top: the test is made once before the loop and again after
 * each round, so that a round has one branch and the assembler sees the bound.
 */

import { negate } from '../../ir/builder.ts';
import { exitOf, type Loop, testedLoop } from '../../ir/loops.ts';
import { size } from '../../ir/measures.ts';
import type { Expr, Stmt } from '../../ir/ops.ts';
import { assignedIn, jumpsTo, mayWrite, neverEnds, someStmt } from '../../ir/passes/walk.ts';
import { wideStores } from '../wide.ts';
import { emitAtomic, emitFence } from './atomics.ts';
import { emitTrap } from './checks.ts';
import { emitBarrier, emitRest, emitWarp } from './collectives.ts';
import { emitEither } from './either.ts';
import { emitExtern } from './externals.ts';
import { allChanged, type Gen, writeVar } from './gen.ts';
import { hoist } from './hoist.ts';
import { storeElement, storeWide } from './memory.ts';
import { emitPrint } from './print.ts';

type If = Stmt & { op: 'if' };

export function emitList(g: Gen, list: readonly Stmt[]): void {
  for (let k = 0; k < list.length; ) {
    const s = list[k] as Stmt;
    g.evaluated.clear();
    const neighbours = wideStores(list, k);
    if (neighbours.length > 0) g.lines?.mark(g.code, s.pos);
    if (storeWide(g, neighbours)) k += neighbours.length;
    else {
      statement(g, s);
      k++;
    }
  }
  g.evaluated.clear();
}

function forget(g: Gen, list: readonly Stmt[]): void {
  for (const id of assignedIn(list)) {
    const register = g.vars.get(id);
    if (register !== undefined) g.code.changed(register);
  }
  if (someStmt(list, (s) => mayWrite(s) || s.op === 'barrier' || s.op === 'warp' || s.op === 'fence')) memoryUnknown(g);
}

function memoryUnknown(g: Gen): void {
  allChanged(g);
  for (const array of g.kernel.arrays) if (array.space === 'local') g.code.changed(`memory:${array.id}`);
}

function statement(g: Gen, s: Stmt): void {
  const { code } = g;
  if ('pos' in s) g.lines?.mark(code, s.pos);
  switch (s.op) {
    case 'assign':
      return writeVar(g, s.var, g.value(s.value));
    case 'store':
      return storeElement(g, s.mem, s.value);
    case 'atomic':
      return emitAtomic(g, s);
    case 'if':
      return emitIf(g, s);
    case 'loop':
      return emitLoop(g, s);
    case 'block': {
      const breakLabel = code.label();
      g.targets.set(s.label, { breakLabel, continueLabel: undefined });
      code.scoped(() => emitList(g, s.body));
      code.place(breakLabel);
      return forget(g, s.body);
    }
    case 'break':
      return code.emit(`bra ${g.targets.get(s.label)?.breakLabel}`);
    case 'continue':
      return code.emit(`bra ${g.targets.get(s.label)?.continueLabel}`);
    case 'return':
      return code.emit('ret');
    case 'barrier':
      return emitBarrier(g, s);
    case 'fence':
      emitFence(g, s.scope);
      return allChanged(g);
    case 'warp':
      return emitWarp(g, s);
    case 'extern':
      emitExtern(g, s);
      if (s.fn.texts === undefined) memoryUnknown(g);
      return;
    case 'rest':
      return emitRest(g, s);
    case 'print':
      return emitPrint(g, s);
    case 'trap':
      return emitTrap(g, { kind: 'trap', pos: s.pos, message: s.message });
    default:
      return s satisfies never;
  }
}

/** Branches where the condition holds. */
function branchIf(g: Gen, cond: Expr, to: string): void {
  const turned = cond.op === 'unary' && cond.fn === 'not';
  g.code.emit(`@${turned ? '!' : ''}${g.value(turned ? cond.a : cond)} bra ${to}`);
}

/** Branches where it does not. The comparison is turned over, not the predicate: the assembler counts no loop that ends in `@!p bra`. */
function branchUnless(g: Gen, cond: Expr, to: string): void {
  branchIf(g, negate(cond), to);
}

function emitIf(g: Gen, s: If): void {
  if (emitEither(g, s)) return;
  const { code } = g;
  const end = code.label();
  const [jump] = s.then;
  if (s.then.length === 1 && s.else.length === 0 && jump !== undefined) {
    const to = jumpTarget(g, jump);
    if (to !== undefined) return branchIf(g, s.cond, to);
  }
  const otherwise = s.else.length > 0 ? code.label() : end;
  branchUnless(g, s.cond, otherwise);
  code.apart(() => emitList(g, s.then));
  if (s.else.length > 0) {
    if (!neverEnds(s.then)) code.emit(`bra ${end}`);
    code.place(otherwise);
    code.apart(() => emitList(g, s.else));
  }
  code.place(end);
  // A way that ends in a jump does not come here.
  forget(g, [...(neverEnds(s.then) ? [] : s.then), ...(neverEnds(s.else) ? [] : s.else)]);
}

/** The label that a jump goes to. */
function jumpTarget(g: Gen, s: Stmt): string | undefined {
  if (s.op === 'break') return g.targets.get(s.label)?.breakLabel;
  return s.op === 'continue' ? g.targets.get(s.label)?.continueLabel : undefined;
}

function emitLoop(g: Gen, s: Loop): void {
  const { code } = g;
  const [top, breakLabel] = [code.label(), code.label()];
  const continues = jumpsTo(s.body, s.label) && someStmt(s.body, (x) => x.op === 'continue' && x.label === s.label);
  const continueLabel = continues ? code.label() : undefined;
  const test = exitTest(s);
  g.targets.set(s.label, { breakLabel, continueLabel });
  if (test !== undefined) branchIf(g, test, breakLabel);
  const all = [...s.body, ...s.update];
  forget(g, all);
  memoryUnknown(g);
  g.evaluated.clear();
  g.loopDepth++;
  code.scoped(() => {
    hoist(g, s);
    g.evaluated.clear();
    code.place(top);
    code.scoped(() => round(g, s, test, top, continueLabel));
  });
  g.loopDepth--;
  g.evaluated.clear();
  code.place(breakLabel);
  forget(g, all);
}

/** One round of a loop, and whether there is another. `test` has been made already; `next` is where `continue` goes. */
function round(g: Gen, s: Loop, test: Expr | undefined, top: string, continueLabel: string | undefined): void {
  const { code } = g;
  const body = test === undefined ? s.body : s.body.slice(1);
  if (continueLabel === undefined) emitList(g, body);
  else {
    code.scoped(() => emitList(g, body));
    code.place(continueLabel);
    forget(g, body);
  }
  const over = test ?? exitOf(s.update.at(-1), s.label);
  emitList(g, test === undefined && over !== undefined ? s.update.slice(0, -1) : s.update);
  if (over === undefined) code.emit(`bra ${top}`);
  else branchUnless(g, over, top);
}

/** More than this at the bottom again, and the loop is larger for it. */
const MOST_REPEATED = 24;

/** The condition under which a loop is left at the start of each round. */
function exitTest(s: Loop): Expr | undefined {
  const exit = testedLoop(s)?.exit;
  return exit !== undefined && size(exit) <= MOST_REPEATED ? exit : undefined;
}
