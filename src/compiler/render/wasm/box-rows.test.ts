/**
 * Boxes of blocks that guards leave: the same as thread by thread, whatever the guard, the blocks and what fails, and in the order of rows.
 * `test/fuzz/boxes.test.ts` runs more.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr } from '../../ir/ops.ts';
import { checkBoxes, place } from './box-rows.testing.ts';
import { check, elements, runWasm } from './launch.testing.ts';

const { add, i32, ifElse, load, mul, store } = ir;

describe('boxes', () => {
  const COUNT = 320;
  for (let first = 1; first <= COUNT; first += 80) {
    it(`do what single threads do: ${first} …`, () => {
      let faults = 0;
      for (let seed = first; seed < first + 80; seed++) if (checkBoxes(seed)) faults++;
      expect(faults).toBeGreaterThan(0);
      expect(faults).toBeLessThan(50);
    });
  }

  it('fail where the first block fails', () => {
    const b = new ir.KernelBuilder('faults');
    const [at, out] = [b.global('i32', 'at'), b.global('i32', 'out')];
    const index = add(mul(place('y'), i32(40)), place('x'));
    const there = load(ir.at(at, index));
    const checked = ir.at(at, there, { checks: [{ index: there, extent: i32(80), axis: 0 }] });
    const kernel = b.build([ifElse(ir.lt(place('x'), i32(40)), [store(ir.at(out, index), load(checked))])], {
      checked: true,
    });
    // In the third block, a row ahead of that in the second one.
    for (const bad of [[], [59], [20, 59], [33, 59, 60], [79]]) {
      const image = new Uint8Array(Int32Array.from({ length: 160 }, (_, i) => (bad.includes(i) ? 80 : 1)).buffer);
      const fault = check(kernel, { block: [8, 2, 1], grid: [5, 1, 1] }, [0, 320], image, [
        { at: 320, elem: 'i32', length: 80 },
      ]);
      expect(fault !== undefined).toBe(bad.length > 0);
    }
  });

  /** What item (8, 1) stores: 1 more than what item (23, 0) has stored, or not yet. A first call is for one block, the second one for both others. */
  function order(index: (place: Expr) => Expr, guard: (x: Expr, y: Expr) => Expr): number {
    const b = new ir.KernelBuilder('order');
    const a = b.global('i32', 'a');
    const [x, y] = [place('x'), place('y')];
    const cell = add(mul(y, i32(24)), index(x));
    const body = [store(ir.at(a, cell), add(load(ir.at(a, i32(23))), i32(1)))];
    const kernel = b.build([ifElse(guard(x, y), body)]);
    const image = new Uint8Array(4 * 64);
    const { memory } = runWasm(kernel, { block: [8, 2, 1], grid: [3, 1, 1] }, [0], image);
    return Number(elements(memory, { at: 4 * 32, elem: 'i32', length: 1 })[0]);
  }
  const inside = (x: Expr, y: Expr): Expr => ir.and(ir.lt(x, i32(24)), ir.ge(y, i32(0)));

  it('are of several neighbouring blocks, a row of all of them at a time', () => {
    // Item (8, 1) is of the second block; item (23, 0) of the third one has stored 1 before it.
    expect(order((x) => x, inside)).toBe(2);
  });

  it('are of one block where more than the place in the grid matters', () => {
    expect(
      order(
        (x) => x,
        (x, y) => ir.and(inside(x, y), ir.lt(ir.special('threadIdx.x'), i32(8))),
      ),
    ).toBe(1);
    expect(order((x) => add(x, mul(ir.special('blockIdx.x'), i32(0))), inside)).toBe(2);
    expect(order((x) => add(x, ir.binary('shr', ir.special('blockIdx.x'), i32(4))), inside)).toBe(1);
  });
});
