/**
 * Neighbouring blocks that take turns, a row each: the first rows of all of them, then the second rows.
 *
 * A block of 32 × 8 that updates an array in place stores into a row, element by element, just before the next row loads that row as vectors, and
 * processors wait for such stores. Rows of sixteen blocks are far enough apart, and memory is walked in longer stretches. Blocks are as independent of
 * each other as the language says; only where nothing can fail do they take turns, so that the first fault is that of the first block.
 */
import { conjuncts } from '../../ir/measures.ts';
import type { Expr } from '../../ir/ops.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import type { Regions } from '../../ir/passes/regions.ts';
import { someExpr } from '../../ir/passes/walk.ts';
import type { Local } from './assembler.ts';
import { cannotFail } from './checks.ts';
import { scalar } from './expr.ts';
import type { Gen } from './gen.ts';

/** Rows of so many items are far enough apart by themselves. */
const WIDE = 256;

/** Whether blocks of several rows may take turns in a region. */
export function mayTakeTurns(g: Gen, { nodes }: Regions, node: WorkItemLoop): boolean {
  const [width, height, depth] = g.variant.block;
  if (nodes.length !== 1 || nodes[0]?.kind !== 'workItems' || height * depth === 1 || width >= WIDE) return false;
  if (node.loads.length + node.saves.length > 0 || node.reduce !== undefined) return false;
  return g.kernel.arrays.every(({ space }) => space === 'global' || space === 'constant') && cannotFail(g, node.body);
}

/** Locals of the first block that takes turns, and of where they end. */
export interface Blocks {
  readonly first: Local;
  readonly end: Local;
}

/**
 * Runs this block and those behind it for which `holds` is true, without which all are; the local of blockIdx.x is that of the last one afterwards.
 * `rows` writes the rows of a block, by a function that writes a row for each block, or knowing which blocks there are.
 */
export function emitTurns(
  g: Gen,
  holds: Expr | undefined,
  rows: (row: (write: () => void) => void, all: Blocks) => void,
): void {
  const { f, at } = g;
  const [x] = at.block;
  const [first, end] = [f.temp('i32'), f.temp('i32')];
  const next = (): void => {
    f.get(x);
    f.i32(1);
    f.op('i32.add');
    f.tee(x);
  };
  f.get(x);
  f.set(first);
  if (holds === undefined) {
    f.get(at.endX);
    f.set(end);
  } else {
    const more = f.loop();
    next();
    f.tee(end);
    f.get(at.endX);
    f.op('i32.lt_u');
    pushHolds(g, holds);
    f.op('i32.and');
    f.brIf(more);
    f.end();
  }
  rows(
    (write) => {
      f.get(first);
      f.set(x);
      const again = f.loop();
      write();
      next();
      f.get(end);
      f.op('i32.lt_u');
      f.brIf(again);
      f.end();
    },
    { first, end },
  );
  f.get(end);
  f.i32(1);
  f.op('i32.sub');
  f.set(x);
  f.release('i32', first, end);
}

/** Pushes whether something holds for the block behind one for which it holds. */
export function pushHolds(g: Gen, holds: Expr | undefined): void {
  const others = holds === undefined ? [] : conjuncts(holds).filter(isOfBlock);
  g.f.i32(1);
  for (const e of others) {
    scalar(g, e);
    g.f.op('i32.and');
  }
}

/** Whether a condition may be another for the next block of a row. */
export const isOfBlock = (e: Expr): boolean =>
  someExpr(e, (x) => x.op === 'var' || (x.op === 'special' && x.name === 'blockIdx.x'));
