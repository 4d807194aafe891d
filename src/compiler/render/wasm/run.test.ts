/**
 * How `run` divides a range of blocks into calls of `group`, and that each block is run once, in its place, and reported by its number.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Kernel, Stmt } from '../../ir/ops.ts';
import { ModuleBuilder } from './assembler.ts';
import { check } from './launch.testing.ts';
import { blocksTogether, FIRST_CALL, runBody } from './run.ts';

interface Engine {
  readonly Memory: new (limits: object) => { readonly buffer: SharedArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: { run(first: number, end: number, record: number, scratch: number): number } };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Engine };

/** The calls of `group` for blocks of a grid, as [x, end of x, y, z, end of y]; of the last of several equal launches. */
function calls(grid: readonly [number, number], first: number, end: number, together = 16, launches = 1): number[][] {
  const module = new ModuleBuilder({ memory64: false });
  const group = module.function(['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32']);
  const f = group.builder;
  // A number of calls at 0, what they were given from 64 on.
  for (const [k, param] of [0, 1, 2, 3, 6].entries()) {
    f.i32(0);
    f.memory('i32.load', 2, 0);
    f.get(param);
    f.memory('i32.store', 2, 64 + 4 * k);
    f.i32(0);
  }
  for (let k = 0; k < 4; k++) f.op('drop');
  f.i32(0);
  f.memory('i32.load', 2, 0);
  f.i32(20);
  f.op('i32.add');
  f.memory('i32.store', 2, 0);
  f.i32(0);
  module.export(
    'run',
    module.written(['i32', 'i32', 'i32', 'i32'], ['i32'], runBody(group.index, module.global(FIRST_CALL), together)),
  );
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
  const words = new Int32Array(memory.buffer);
  const record = 32;
  words.set(grid, record / 4);
  const { run } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } }).exports;
  for (let k = 0; k < launches; k++) {
    words[0] = 0;
    expect(run(first, end, record, 48)).toBe(0);
  }
  return Array.from({ length: (words[0] ?? 0) / 20 }, (_, k) => [...words.slice(16 + 5 * k, 21 + 5 * k)]);
}

describe('calls of `group`', () => {
  it('are for more and more blocks of a row', () => {
    expect(calls([100, 1], 0, 60)).toEqual([
      [0, 1, 0, 0, 1],
      [1, 5, 0, 0, 1],
      [5, 21, 0, 0, 1],
      [21, 37, 0, 0, 1],
      [37, 53, 0, 0, 1],
      [53, 60, 0, 0, 1],
    ]);
  });

  it('are for more of them where these are soon done', () => {
    expect(calls([300, 1], 0, 200, 64).map(([x, end]) => [x, end])).toEqual([
      [0, 1],
      [1, 5],
      [5, 21],
      [21, 85],
      [85, 149],
      [149, 200],
    ]);
    const b = new ir.KernelBuilder('k');
    const y = b.global('i32', 'y');
    const one = ir.store(ir.at(y, ir.special('threadIdx.x')), ir.i32(1));
    const together = (list: readonly Stmt[], block: readonly [number, number, number], inTurns = 1): number =>
      blocksTogether(b.build(list), { block }, inTurns);
    expect(together([one], [256, 1, 1])).toBe(64);
    expect(
      together(
        Array.from({ length: 200 }, () => one),
        [256, 1, 1],
      ),
    ).toBe(16);
    expect(
      together(
        Array.from({ length: 200 }, () => one),
        [32, 1, 1],
      ),
    ).toBe(64);
    expect(together([ir.loop(b.label(), [one], [])], [32, 1, 1])).toBe(16);
    // Blocks that go through a loop in turns, or are compiled in a hurry.
    expect(together([ir.loop(b.label(), [one], [])], [32, 1, 1], 32)).toBe(64);
    expect(together([ir.loop(b.label(), [one], [])], [32, 1, 1], 16)).toBe(16);
    expect(blocksTogether(b.build([one]), { block: [32, 1, 1], quick: true }, 1)).toBe(16);
  });

  it('are for as many blocks as there may be from the second launch on', () => {
    expect(calls([300, 1], 0, 200, 64, 2).map(([x, end]) => [x, end])).toEqual([
      [0, 64],
      [64, 128],
      [128, 192],
      [192, 200],
    ]);
    expect(calls([3, 1], 0, 3, 64, 2).map(([x, end]) => [x, end])).toEqual([[0, 3]]);
  });

  it('are for whole rows where these are short, up to the end of a plane', () => {
    expect(calls([1, 60], 0, 60).map(([, , y, , end]) => [y, end])).toEqual([
      [0, 1],
      [1, 5],
      [5, 21],
      [21, 37],
      [37, 53],
      [53, 60],
    ]);
    expect(calls([5, 4], 3, 40)).toEqual([
      [3, 4, 0, 0, 1],
      [4, 5, 0, 0, 1],
      [0, 5, 1, 0, 4],
      [0, 5, 0, 1, 3],
      [0, 5, 3, 1, 4],
    ]);
  });

  it('are for all blocks of a range once', () => {
    for (const grid of [
      [1, 7],
      [3, 5],
      [7, 3],
      [16, 2],
      [17, 3],
      [2, 40],
    ] as const) {
      const [gx, gy] = grid;
      for (const [first, end] of [
        [0, gx * gy * 2],
        [1, gx * gy],
        [gx - 1, gx + 1],
        [5, 6],
      ] as const) {
        const blocks = calls(grid, first, end).flatMap(([x = 0, endX = 0, y = 0, z = 0, endY = 0]) => {
          expect(endY === y + 1 || (x === 0 && endX === gx)).toBe(true);
          return Array.from({ length: endY - y }, (_, row) =>
            Array.from({ length: endX - x }, (_, k) => (z * gy + y + row) * gx + x + k),
          ).flat();
        });
        expect(blocks).toEqual(Array.from({ length: end - first }, (_, k) => first + k));
      }
    }
  });
});

/** `y[block] += place of the block`, for blocks below n. */
function places(): Kernel {
  const b = new ir.KernelBuilder('places');
  const [y, n] = [b.global('i32', 'y'), b.value('i32', 'n')];
  const [x, row, plane] = [ir.special('blockIdx.x'), ir.special('blockIdx.y'), ir.special('blockIdx.z')];
  const block = ir.add(ir.mul(ir.add(ir.mul(plane, ir.special('gridDim.y')), row), ir.special('gridDim.x')), x);
  const k = ir.add(ir.mul(block, ir.i32(4)), ir.special('threadIdx.x'));
  const mem = ir.at(y, k, { checks: [{ index: k, extent: n, axis: 0 }] });
  const place = ir.add(ir.add(x, ir.mul(row, ir.i32(1000))), ir.mul(plane, ir.i32(1_000_000)));
  return b.build([ir.store(mem, ir.add(ir.load(mem), place))], { checked: true });
}

const GRIDS = [
  [1, 40, 1],
  [3, 7, 5],
  [5, 3, 2],
  [16, 3, 1],
  [17, 3, 2],
  [1, 1, 30],
] as const;

it.each(GRIDS)('blocks of a grid of %d × %d × %d are run once, or reported by their number', (...grid) => {
  const blocks = grid[0] * grid[1] * grid[2];
  const kernel = places();
  const image = new Uint8Array(Int32Array.from({ length: 4 * blocks }, (_, k) => k * 7).buffer);
  for (const slice of [blocks, 1, 3, 20]) {
    const launch = { grid, block: [4, 1, 1], slice } as const;
    const run = (n: number) => check(kernel, launch, [0, n], image, [{ at: 0, elem: 'i32', length: 4 * blocks }]);
    expect(run(4 * blocks)).toBeUndefined();
    for (const at of [0, 1, 8, 17, 29]) expect(run(4 * at + 2)).toMatchObject({ block: at, thread: 2 });
  }
});
