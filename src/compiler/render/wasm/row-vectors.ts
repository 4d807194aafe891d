/**
 * The rows of a block, and the vectors of a row.
 */
import type { Local } from './assembler.ts';
import { lanesFrom } from './expr.ts';
import type { Gen } from './gen.ts';
import { MaskStack } from './masks.ts';
import { withMask } from './scope.ts';

/** Runs `row` for every threadIdx.y and z, or every so many of y. */
export function eachRow(g: Gen, row: () => void, rows = 1): void {
  const { f, at, variant } = g;
  const axes = ([2, 1] as const).map((axis) => ({
    local: at.thread[axis],
    extent: variant.block[axis],
    step: axis === 1 ? rows : 1,
  }));
  const nest = (depth: number): void => {
    const axis = axes[depth];
    if (axis === undefined) {
      row();
      return;
    }
    f.i32(0);
    f.set(axis.local);
    if (axis.extent === axis.step) {
      nest(depth + 1);
      return;
    }
    const again = f.loop();
    nest(depth + 1);
    f.get(axis.local);
    f.i32(axis.step);
    f.op('i32.add');
    f.tee(axis.local);
    f.i32(axis.extent);
    f.op('i32.lt_s');
    f.brIf(again);
    f.end();
  };
  nest(0);
}

/** threadIdx.x counted through the block. */
export function setItem(g: Gen): void {
  const { f, at, variant } = g;
  const [x, y, z] = at.thread;
  const [width, height, depth] = variant.block;
  f.get(x);
  if (g.shift !== undefined) {
    f.i32(g.shift);
    f.op('i32.add');
  }
  if (height * depth > 1) {
    f.get(y);
    if (depth > 1) {
      f.get(z);
      f.i32(height);
      f.op('i32.mul', 'i32.add');
    }
    f.i32(width);
    f.op('i32.mul', 'i32.add');
  }
  f.set(at.item);
}

export function unmasked(g: Gen, item: (stack: MaskStack) => void, end: () => void): void {
  setItem(g);
  withMask(g, null, () => {
    item(new MaskStack(g));
    end();
  });
}

/** One vector of which only the first `count` lanes are work items to be run. */
export function masked(g: Gen, item: (stack: MaskStack) => void, end: () => void, count: () => void): void {
  const { f } = g;
  const left: Local = f.temp('i32');
  setItem(g);
  count();
  f.set(left);
  const stack = new MaskStack(g);
  const done = f.block();
  const isLeft = (p: number): void => {
    f.v128(lanesFrom(4 * p));
    f.get(left);
    f.op('i32x4.splat', 'i32x4.lt_s');
  };
  stack.within(done, isLeft, () => {
    item(stack);
    f.end();
    end();
  });
  f.release('i32', left);
}
