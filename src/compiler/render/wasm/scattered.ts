/**
 * Which kernels one lane runs faster than several: those whose time goes into loops that lanes leave at different times and that
 * do little but read and write here and there, or compute with integers of 64 bits.
 *
 * A vector of such lanes takes as many rounds as the longest of them, and goes to memory lane by lane anyhow; of long integers it
 * has two, for each of which a processor has an adder of its own. It is another
 * matter where lanes take different ways within a round, as in a binary search: processors guess those ways wrong half of the
 * time, and a vector need not guess.
 */
import { ELEM_SIZE, type Expr, type Kernel, type MemRef, type Stmt } from '../../ir/ops.ts';
import type { Uniformity } from '../../ir/passes/uniformity.ts';
import { eachStmt, exprParts, someStmt, stmtExprs, written } from '../../ir/passes/walk.ts';
import type { LaneFacts } from './lane-facts.ts';

/** Operations of a vector that pay for going to memory lane by lane once. */
const WORTH_A_GATHER = 4;

/** Whether all innermost loops of a kernel are of that kind. */
export function isScattered(kernel: Kernel, uniformity: Uniformity, facts: LaneFacts): boolean {
  let [loops, scattered] = [0, 0];
  eachStmt(kernel.body, (s) => {
    if (s.op !== 'loop' || someStmt([...s.body, ...s.update], (x) => x.op === 'loop')) return;
    loops++;
    if (uniformity.divergence(s) === 'V' && isScatteredLoop([...s.body, ...s.update], uniformity, facts)) scattered++;
  });
  return loops > 0 && loops === scattered;
}

function isScatteredLoop(list: readonly Stmt[], uniformity: Uniformity, facts: LaneFacts): boolean {
  let [places, operations, long] = [0, 0, 0];
  const seen = new Set<Expr>();
  const access = (mem: MemRef): void => {
    if (!isVector(mem.index)) return;
    const together = facts.offsets(mem.index) !== undefined || facts.likelyStep(mem.index) === 1;
    if (!together && ELEM_SIZE[mem.elem] < 8) places++;
  };
  const isVector = (e: Expr): boolean => uniformity.shape(e) === 'V';
  const visit = (e: Expr): void => {
    if (seen.has(e)) return;
    seen.add(e);
    if (e.op === 'load') {
      access(e.mem);
      visit(e.mem.index);
      return;
    }
    if (isVector(e) && e.op !== 'var' && e.op !== 'const') {
      operations += e.op === 'call' || e.op === 'fma' ? 8 : 1;
      if (isLong(e) || (e.op === 'compare' && isLong(e.a))) long++;
    }
    for (const part of exprParts(e)) visit(part);
  };
  let parts = false;
  eachStmt(list, (s) => {
    parts ||= s.op === 'if' && isVector(s.cond) && ![s.then, s.else].every((list) => isJump(list) || isTest(list));
    const mem = written(s);
    if (mem !== undefined) access(mem);
    for (const e of stmtExprs(s)) visit(e);
  });
  return 2 * long > operations || (!parts && places > 0 && operations <= WORTH_A_GATHER * places);
}

const isLong = (e: Expr): boolean => e.type === 'i64' || e.type === 'u64';

/** What `&&` and `||` become: whether there is another test decides about the end of the loop, which comes once. */
const isTest = (list: readonly Stmt[]): boolean => list.every((s) => s.op === 'assign' && s.var.type === 'bool');

const isJump = (list: readonly Stmt[]): boolean => list.every((s) => s.op === 'break' || s.op === 'continue');
