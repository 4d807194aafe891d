/**
 * Branches that cost less than to find out whether any lane takes them: a few assignments, and stores of whole vectors to memory of the block,
 * where what lanes decide is as good as random. A swap in a sorting network is one: a branch would often be guessed wrong.
 */
import { ELEM_SIZE, type Expr, isFloat, type MemRef, type Stmt } from '../../ir/ops.ts';
import { someExpr } from '../../ir/passes/walk.ts';
import { boundsHazards } from './checks.ts';
import { type Gen, shapeOf } from './gen.ts';

/** Statements that are run under a mask that may be empty. */
const MOST = 3;

/** Whether an `if` is to be run in all vectors. `isHarmless` and `isCheap` say what may be run, and evaluated, with no lane active. */
export function isBlended(
  g: Gen,
  { cond, then, else: otherwise }: Stmt & { op: 'if' },
  isHarmless: (s: Stmt) => boolean,
  isCheap: (e: Expr) => boolean,
): boolean {
  const list = [...then, ...otherwise];
  if (list.length > MOST || !comparesData(cond)) return false;
  return list.every((s) => isHarmless(s) || (s.op === 'store' && isCheap(s.value) && isVectorOfBlock(g, s.mem)));
}

/** Floats come from memory, and are compared with others: indices go on as they began. */
function comparesData(cond: Expr): boolean {
  return someExpr(cond, (e) => e.op === 'compare' && isFloat(e.a.type));
}

/** Whether a store writes whole vectors under any mask: what lanes that are not active hold is written back. Nothing may have to be checked. */
function isVectorOfBlock(g: Gen, mem: MemRef): boolean {
  const size = ELEM_SIZE[mem.elem];
  if (mem.array.space !== 'shared' || size < 4 || mem.scale !== size || boundsHazards(g, mem).length > 0) return false;
  if (shapeOf(g, mem.index) === 'C') return true;
  return size === 4 && !g.variant.memory64 && g.laneFacts.isExchange(mem.index);
}
