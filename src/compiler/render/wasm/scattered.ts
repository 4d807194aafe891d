/**
 * Which kernels one lane runs faster than several: those whose time goes into loops that lanes leave at different times and that
 * do little but read and write here and there, or compute with integers of 64 bits, and into any that multiply such integers.
 *
 * A vector of such lanes takes as many rounds as the longest of them, and goes to memory lane by lane anyhow; of long integers it
 * has two, for each of which a processor has an adder of its own, and takes eight instructions to multiply them. It is another
 * matter where lanes take different ways within a round, as in a binary search: processors guess those ways wrong half of the
 * time, and a vector need not guess. A search that keeps its stack in memory loses more by going there lane by lane. Nor does that
 * hold for ways out of the loop, which each lane takes once, nor for ways on which there is nothing but stores here and there: of
 * these, a vector makes one for each lane, those that are off included.
 */
import type { Loop } from '../../ir/loops.ts';
import { ELEM_SIZE, type Expr, type Kernel, type Label, type MemRef, type Stmt } from '../../ir/ops.ts';
import type { Uniformity } from '../../ir/passes/uniformity.ts';
import { eachStmt, exprParts, someStmt, stmtExprs, written } from '../../ir/passes/walk.ts';
import type { LaneFacts } from './lane-facts.ts';

/** Operations of a vector that pay for going to memory lane by lane once. */
const WORTH_A_GATHER = 4;
/** As many operations more are worth a branch that a vector has no need to guess. */
const WORTH_A_GUESS = 5;
/** Operations of a vector that pay for a product of long integers, and for a shift by as much as each lane says: neither is one instruction. */
const WORTH_A_PRODUCT = 8;
const WORTH_A_SHIFT = 3;

/** Whether all innermost loops of a kernel are of that kind. */
export function isScattered(kernel: Kernel, uniformity: Uniformity, facts: LaneFacts): boolean {
  let [loops, scattered] = [0, 0];
  eachStmt(kernel.body, (s) => {
    if (s.op !== 'loop' || someStmt([...s.body, ...s.update], (x) => x.op === 'loop')) return;
    loops++;
    if (isScatteredLoop(s, uniformity, facts)) scattered++;
  });
  return loops > 0 && loops === scattered;
}

function isScatteredLoop(loop: Loop, uniformity: Uniformity, facts: LaneFacts): boolean {
  const list = [...loop.body, ...loop.update];
  let [places, rows, operations, long, products, shifts, guesses] = [0, 0, 0, 0, 0, 0, 0];
  const seen = new Set<Expr>();
  const isFar = ({ index }: MemRef): boolean =>
    isVector(index) && facts.offsets(index) === undefined && facts.likelyStep(index) !== 1;
  const isEven = ({ index }: MemRef): boolean => ['G', 'U'].includes(uniformity.shape(index));
  const access = (mem: MemRef): void => {
    if (isFar(mem) && ELEM_SIZE[mem.elem] < 8) places++;
    if (uniformity.shape(mem.index) === 'C') rows++;
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
      if (e.op === 'binary' && e.fn === 'mul' && isLong(e)) products++;
      if (e.op === 'binary' && (e.fn === 'shl' || e.fn === 'shr') && isVector(e.b)) shifts++;
    }
    for (const part of exprParts(e)) visit(part);
  };
  const inside = new Set<Label>();
  eachStmt(list, (s) => {
    if (s.op === 'block') inside.add(s.label);
  });
  /** A way out of the loop, whatever is noted on it. */
  const isWayOut = (way: readonly Stmt[]): boolean => {
    const [last, ...before] = way.toReversed();
    return last?.op === 'break' && !inside.has(last.label) && before.every((s) => s.op === 'assign');
  };
  /** Stores here and there, and for all lanes alike. */
  const isScatter = (way: readonly Stmt[]): boolean =>
    way.some((s) => s.op === 'store' && isFar(s.mem)) &&
    way.every((s) => s.op === 'assign' || (s.op === 'store' && (isFar(s.mem) || isEven(s.mem))));
  const isLight = (way: readonly Stmt[]): boolean => isJump(way) || isTest(way) || isWayOut(way) || isScatter(way);
  eachStmt(list, (s) => {
    if (s.op === 'if' && isVector(s.cond) && ![s.then, s.else].every(isLight)) guesses++;
    const mem = written(s);
    if (mem !== undefined) access(mem);
    for (const e of stmtExprs(s)) visit(e);
  });
  if (uniformity.divergence(loop) === 'V')
    return 2 * long > operations || (places > 0 && operations + WORTH_A_GUESS * guesses <= WORTH_A_GATHER * places);
  // Lanes that stay together lose nothing else, and what lies in a row is loaded at once.
  const slow = WORTH_A_PRODUCT * products + WORTH_A_SHIFT * shifts;
  return products > 0 && rows + guesses === 0 && operations - products - shifts < slow;
}

const isLong = (e: Expr): boolean => e.type === 'i64' || e.type === 'u64';

/** What `&&` and `||` become: whether there is another test decides about the end of the loop, which comes once. */
const isTest = (list: readonly Stmt[]): boolean => list.every((s) => s.op === 'assign' && s.var.type === 'bool');

const isJump = (list: readonly Stmt[]): boolean => list.every((s) => s.op === 'break' || s.op === 'continue');
