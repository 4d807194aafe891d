/**
 * Rows that go on through the blocks of a call, where nothing but the number of an item in the grid tells its block: `stretches.ts`.
 *
 * How far they go is known from the guard, whose bounds are asked for a row as long as all blocks that there may be in a call. Where the guard or something else
 * tells blocks apart, each of them is asked.
 */
import { i32 } from '../../ir/builder.ts';
import type { Expr } from '../../ir/ops.ts';
import { mergeGuards, type PeeledGuard, peelGuard } from '../../ir/passes/guard-peeling.ts';
import type { WorkItemLoop } from '../../ir/passes/region-tree.ts';
import type { Local } from './assembler.ts';
import { scalar } from './expr.ts';
import type { Gen } from './gen.ts';
import { withPrepared } from './prepare.ts';
import { setItem } from './row-vectors.ts';
import { MOST_TOGETHER } from './run.ts';
import { withMask } from './scope.ts';
import { emitStretches } from './stretch-rows.ts';
import { isOfNumber, type Stretches } from './stretches.ts';
import { isOfBlock, pushHolds } from './turns.ts';

/**
 * Moves the last vector of this row on, through the blocks behind it that are like it, and runs all of them by `run`; the locals of blockIdx.x and threadIdx.x
 * are those behind it afterwards. `items` pushes how many items there are that are like the first, counted through the blocks. Where the last of them are not all
 * of a block, its whole vectors are run, and `hi` is their number.
 */
function throughBlocks(g: Gen, last: Local, hi: Local | undefined, items: () => void, run: () => void): void {
  const { f, at } = g;
  const [block] = at.block;
  const [x] = at.thread;
  const [width] = g.variant.block;
  const [first, count] = [f.temp('i32'), f.temp('i32')];
  f.get(block);
  f.set(first);
  f.i32(width);
  f.set(count);
  f.get(last);
  f.i32(width - g.lanes);
  f.op('i32.eq');
  f.if();
  items();
  f.tee(count);
  f.i32(-g.lanes);
  f.op('i32.and');
  f.i32(g.lanes);
  f.op('i32.sub');
  f.set(last);
  f.get(first);
  f.set(block);
  f.end();
  run();
  const before = f.temp('i32');
  f.get(first, last);
  f.i32(width);
  f.op('i32.div_u');
  f.tee(before);
  f.op('i32.add');
  f.set(block);
  const less = (local: Local): void => {
    f.get(local, before);
    f.i32(width);
    f.op('i32.mul', 'i32.sub');
  };
  less(x);
  f.set(x);
  if (hi !== undefined) {
    // Less than a vector of a block is left to that.
    f.get(count);
    f.i32(width);
    f.op('i32.ne');
    f.if();
    less(count);
    f.tee(count);
    f.i32(width);
    f.get(count);
    f.i32(width);
    f.op('i32.lt_s', 'select');
    f.set(hi);
    f.end();
  }
  f.release('i32', first, count, before);
}

/** Pushes how many items there are from this block on up to the first that is not like the others; `count` pushes how many a block has. */
function pushAlike(g: Gen, count: () => void): void {
  const { f, at } = g;
  const [block] = at.block;
  const [width] = g.variant.block;
  const [all, more] = [f.temp('i32'), f.temp('i32')];
  f.i32(width);
  f.set(all);
  const done = f.block();
  const again = f.loop();
  f.get(block);
  f.i32(1);
  f.op('i32.add');
  f.tee(block);
  f.get(at.endX);
  f.op('i32.ge_u');
  f.brIf(done);
  count();
  f.tee(more);
  f.get(all);
  f.op('i32.add');
  f.set(all);
  f.get(more);
  f.i32(width);
  f.op('i32.eq');
  f.brIf(again);
  f.end();
  f.end();
  f.get(all);
  f.release('i32', all, more);
}

/** Pushes how many items there are from this block on. */
function pushRest({ f, at, variant }: Gen): void {
  f.get(at.endX, at.block[0]);
  f.op('i32.sub');
  f.i32(variant.block[0]);
  f.op('i32.mul');
}

/** Pushes how many items there are from this block on that are within a guard, where what is known of the block holds; `of`: the guard. */
export function pushItems(
  g: Gen,
  holds: Expr | undefined,
  of?: { readonly node: WorkItemLoop; readonly n: PeeledGuard },
): void {
  const { f } = g;
  const [width] = g.variant.block;
  const known = [holds, of?.n.row].flatMap((e) => (e === undefined ? [] : [e]));
  const long = known.some(isOfBlock) ? undefined : longGuard(g, of);
  if (long === 'none') {
    pushRest(g);
    return;
  }
  if (long === undefined) {
    pushAlike(g, () => pushCount(g, holds, of?.n));
    return;
  }
  const [all, rest] = [f.temp('i32'), f.temp('i32')];
  withPrepared(g, [long.hi, long.exact], [], () => {
    scalar(g, long.hi);
    f.tee(all);
    pushRest(g);
    f.tee(rest);
    f.get(all, rest);
    f.op('i32.lt_s', 'select');
    f.i32(width);
    scalar(g, long.exact);
    f.op('select');
  });
  f.release('i32', all, rest);
}

/** Bounds of a guard for a row that goes on through all blocks of a call; undefined where it may be something else for these, 'none' where there is no guard. */
function longGuard(g: Gen, of: { readonly node: WorkItemLoop } | undefined): PeeledGuard | 'none' | undefined {
  if (of === undefined) return 'none';
  const [width] = g.variant.block;
  const long = peelGuard(mergeGuards(of.node.body), g.uniformity, width * MOST_TOGETHER);
  return long?.bounded === undefined || isOfNumber(g, long.bounded) ? long : undefined;
}

/** Pushes how many items of a block are like those of the block before: none where something does not hold. */
function pushCount(g: Gen, holds: Expr | undefined, n: PeeledGuard | undefined): void {
  const { f } = g;
  const hi = n?.hi ?? i32(g.variant.block[0]);
  withPrepared(g, [hi], [], () => {
    scalar(g, hi);
    f.i32(0);
    for (const [k, e] of [holds, n?.row, n?.exact].entries()) {
      pushHolds(g, e);
      if (k > 0) f.op('i32.and');
    }
    f.op('select');
  });
}

/** Whole vectors up to the last one; `items`: and those of the blocks behind that are like it. See `throughBlocks`. */
export function inStretches(
  g: Gen,
  stretches: Stretches,
  last: Local,
  any: () => void,
  start: () => void,
  end: () => void,
  items: (() => void) | false,
  hi?: Local,
): void {
  const begin = (): void => {
    setItem(g);
    start();
  };
  const run = (): void => withMask(g, null, () => emitStretches(g, stretches, last, { begin, end, any }));
  if (items !== false && stretches.goesOn) throughBlocks(g, last, hi, items, run);
  else run();
}
