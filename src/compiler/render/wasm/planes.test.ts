/**
 * Many accesses to planes that lie one after another in an array: what blocks ask ahead of all of them, and that no access beyond is let through.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { i32 } from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { runAnalysing } from '../../ir/passes/pipeline.ts';
import { formRegions } from '../../ir/passes/regions.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { eachExpr } from '../../ir/passes/walk.ts';
import { findInterior } from './interior.ts';
import { check } from './launch.testing.ts';
import { eliminatedChecks, Ranges } from './ranges.ts';

const { add, assign, mul, read } = ir;
const BLOCK = [16, 4, 1] as const;
const WIDTH = 32;
const PLANES = 20;

/** `out[y][x] = sum of x[(k * plane + y) * n + x + k % 3]` for some planes, in their order; `plane` is n, or a number of the launch. */
function lattice(planes: readonly number[], square = true): Kernel {
  const b = new ir.KernelBuilder('lattice');
  const [source, out] = [b.global('i32', 'source'), b.global('i32', 'out')];
  const [n, extent, plane] = [b.value('i32', 'n'), b.value('i32', 'extent'), b.value('i32', 'plane')];
  const sum = b.variable('i32', 'sum');
  const place = (axis: 'x' | 'y'): Expr =>
    add(mul(ir.special(`blockIdx.${axis}`), ir.special(`blockDim.${axis}`)), ir.special(`threadIdx.${axis}`));
  const collect = (k: number): Stmt => {
    const begin = square ? mul(add(mul(i32(k), n), place('y')), n) : add(mul(plane, i32(k)), mul(place('y'), n));
    const index = add(add(begin, place('x')), i32(k % 3));
    const mem = ir.at(source, index, { checks: [{ index, extent, axis: 0 }] });
    return assign(sum, add(mul(read(sum), i32(3)), ir.load(mem)));
  };
  const store = ir.store(ir.at(out, add(mul(place('y'), n), place('x'))), read(sum));
  return b.build([assign(sum, i32(0)), ...planes.map(collect), store], { checked: true });
}

/** How many checks an interior block has left. */
function left(kernel: Kernel): number {
  const known = simplify(kernel, { block: BLOCK });
  const regions = formRegions(runAnalysing('lower returns', known, lowerReturns), { block: BLOCK, lanes: 4 });
  const [node] = regions.nodes;
  if (node?.kind !== 'workItems') throw new Error('no region');
  const ranges = new Ranges(regions.kernel, BLOCK);
  const variant = { block: BLOCK, lanes: 4, concurrent: false, memory64: false } as const;
  const eliminated = eliminatedChecks(regions.kernel, BLOCK, ranges);
  const facts = { kernel: regions.kernel, variant, uniformity: regions.uniformity, lanes: 4, shapes: new Map() };
  const interior = findInterior({ ...facts, ranges, eliminated }, node.body);
  let checks = 0;
  eachExpr(interior?.body ?? node.body, (e) => {
    if (e.op === 'load') checks += e.mem.checks.length;
  });
  return checks;
}

const UPWARDS = Array.from({ length: PLANES }, (_, k) => k);
const ORDERS = [UPWARDS, UPWARDS.toReversed(), [3, 19, 0, 7, 19, 12, 1]];

describe('planes', () => {
  it('are asked about together, however many they are', () => {
    for (const planes of ORDERS) expect(left(lattice(planes))).toBe(0);
    expect(left(lattice(UPWARDS, false))).toBe(0);
  });

  const image = new Uint8Array(new Int32Array(PLANES * WIDTH * WIDTH + 4 * WIDTH).map((_, i) => i % 97).buffer);
  const grid = [2, 2, 1] as const;
  const out = image.length - 4 * WIDTH * 8;
  const source = WIDTH * WIDTH * 4;
  const regions = [{ at: out, elem: 'i32', length: WIDTH * 8 }] as const;
  const run = (kernel: Kernel, begin: number, extent: number, plane: number): boolean =>
    check(kernel, { block: BLOCK, grid, lanes: 4 }, [begin, out, WIDTH, extent, plane], image, regions) === undefined;

  it('fail beyond the last one that is read, and no sooner', () => {
    for (const planes of ORDERS) {
      const ends = planes.map((k) => (k * WIDTH + 7) * WIDTH + 31 + (k % 3));
      const extent = Math.max(...ends) + 1;
      const kernel = lattice(planes);
      expect(run(kernel, 0, extent, 0)).toBe(true);
      expect(run(kernel, 0, extent - 1, 0)).toBe(false);
      expect(run(kernel, 0, 100, 0)).toBe(false);
    }
  });

  it('may go backwards from where an array begins, which fails, or stay where they are', () => {
    const kernel = lattice(UPWARDS, false);
    expect(run(kernel, source, 2 * WIDTH * WIDTH, -1)).toBe(false);
    // As few as are asked about together for the first time.
    expect(run(lattice(UPWARDS.slice(0, 12), false), source, 2 * WIDTH * WIDTH, -1)).toBe(false);
    expect(run(kernel, source, 2 * WIDTH * WIDTH, 0)).toBe(true);
    expect(run(kernel, 0, 7 * WIDTH + 34 + 19 * 40, 40)).toBe(true);
    expect(run(lattice([0, 2], false), 0, 2 * WIDTH * WIDTH, -(2 ** 31))).toBe(true);
  });
});
