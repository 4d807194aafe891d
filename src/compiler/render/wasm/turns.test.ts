/**
 * Neighbouring blocks that take turns row by row: which do, that each runs all of its rows, and that faults are those of the first block.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel } from '../../ir/ops.ts';
import { check, elements, type Launch, runWasm } from './launch.testing.ts';

const { add, assign, i32, ifElse, load, mul, read, store } = ir;
const [COLUMNS, ROWS] = [700, 24];

interface Options {
  /** What is added to what is there: of a place in the matrix. */
  readonly more: (at: (dx: number, dy: number) => Expr) => Expr;
  readonly shared?: boolean;
  readonly twice?: boolean;
  readonly atomic?: boolean;
  /** Only in some blocks, up to a barrier. */
  readonly some?: boolean;
  /** Not of every second element, but of all. */
  readonly all?: boolean;
  /** Stores as much further on as an element of another matrix says, if there is that place. */
  readonly further?: boolean;
}

/** `if ((x + y) % 2 === 0 && x < w) u[y + 1][x + 1] += more`, where only elements below n may be read. */
function kernel({
  more,
  shared = false,
  twice = false,
  atomic = false,
  some = false,
  all = false,
  further = false,
}: Options): Kernel {
  const b = new ir.KernelBuilder('turns');
  const [u, w, n] = [b.global('i32', 'u'), b.value('i32', 'w'), b.value('i32', 'n')];
  const [x, y] = [b.variable('i32', 'x'), b.variable('i32', 'y')];
  const mem = (dx: number, dy: number, checked: boolean) => {
    const index = add(mul(add(read(y), i32(dy + 1)), i32(COLUMNS)), add(read(x), i32(dx + 1)));
    return ir.at(u, index, checked ? { checks: [{ index, extent: n, axis: 0 }] } : {});
  };
  const place = (axis: 'x' | 'y'): Expr =>
    add(mul(ir.special(`blockIdx.${axis}`), ir.special(`blockDim.${axis}`)), ir.special(`threadIdx.${axis}`));
  const value = add(
    load(mem(0, 0, false)),
    more((dx, dy) => load(mem(dx, dy, true))),
  );
  const isSecond = ir.compare('eq', ir.binary('rem', add(read(x), read(y)), i32(2)), i32(0));
  const guard = all ? ir.lt(read(x), w) : ir.and(isSecond, ir.lt(read(x), w));
  const z = further ? b.global('i32', 'z') : u;
  const target = add(mem(0, 0, false).index, load({ ...mem(0, 0, false), array: z }));
  const to = ir.at(u, target, { checks: [{ index: target, extent: n, axis: 0 }] });
  const one = ifElse(guard, [
    store(further ? to : mem(0, 0, false), value),
    ...(shared ? [store(ir.at(b.shared('i32', 's', 4), i32(0)), read(x))] : []),
    ...(atomic ? [ir.atomic('add', ir.at(u, i32(0)), [i32(1)])] : []),
  ]);
  const places = [assign(x, place('x')), assign(y, place('y'))];
  const isThere = ir.compare('ne', ir.special('blockIdx.x'), i32(2));
  if (some) return b.build([ifElse(isThere, [...places, one, ir.barrier()])], { checked: true });
  const list = [...places, one];
  return b.build(twice ? [...list, ir.barrier(), ifElse(ir.compare('eq', w, i32(-5)), [one])] : list, {
    checked: true,
  });
}

const IMAGE = new Uint8Array(Int32Array.from({ length: COLUMNS * ROWS }, (_, k) => (k * 7919) % 1000).buffer);
const region = { at: 0, elem: 'i32', length: COLUMNS * ROWS } as const;

function run(k: Kernel, launch: Launch, w = COLUMNS, n = COLUMNS * ROWS) {
  return check(k, launch, [0, w, n], IMAGE, [region]);
}

const around: Options['more'] = (at) => add(add(at(-1, 0), at(1, 0)), add(at(0, -1), at(0, 1)));

/** Whether a row of a block runs when the row above of the block to the right has run: what no language promises tells it here. */
function takeTurns(k: Kernel, launch: Launch, w = COLUMNS): boolean {
  const { memory } = runWasm(k, launch, [0, w, COLUMNS * ROWS], new Uint8Array(4 * COLUMNS * ROWS));
  const values = elements(memory, region).map(Number);
  const [width] = launch.block;
  // The last item of the second block, in the second row, has read what is above and to the right.
  return (values[2 * COLUMNS + 2 * width] ?? 0) > 1;
}

it('are blocks of several rows that update a matrix in place, and cannot fail', () => {
  // By way of an element that is another block's, in the row above.
  const above: Options['more'] = (at) => add(at(1, -1), i32(1));
  const launch: Launch = { grid: [4, 1, 1], block: [32, 4, 1] };
  expect(takeTurns(kernel({ more: above }), launch)).toBe(true);
  expect(takeTurns(kernel({ more: above, shared: true }), launch)).toBe(false);
  expect(takeTurns(kernel({ more: above, twice: true }), launch)).toBe(false);
  expect(takeTurns(kernel({ more: above, atomic: true }), launch)).toBe(false);
  expect(takeTurns(kernel({ more: above, all: true }), launch)).toBe(true);
  expect(takeTurns(kernel({ more: above, all: true, twice: true }), launch)).toBe(false);
  expect(takeTurns(kernel({ more: above, all: true, atomic: true }), launch)).toBe(false);
  // What a guard leaves of neighbouring blocks is a box, whose rows go through all of them.
  expect(takeTurns(kernel({ more: above, all: true }), launch, 70)).toBe(true);
  // Blocks at an edge run one after another.
  expect(takeTurns(kernel({ more: above }), launch, 70)).toBe(false);
  // Rows of so many items are far enough apart by themselves.
  const wide = 3 * COLUMNS;
  expect(takeTurns(kernel({ more: above }), { grid: [4, 1, 1], block: [128, 4, 1] }, wide)).toBe(true);
  expect(takeTurns(kernel({ more: above }), { grid: [4, 1, 1], block: [256, 4, 1] }, wide)).toBe(false);
});

it.each([
  [32, 8],
  [8, 2],
  [40, 3],
  [20, 2],
  [128, 2],
])('run all rows of blocks of %d × %d', (width, height) => {
  for (const k of [kernel({ more: around }), kernel({ more: (at) => at(0, 0), all: true })])
    for (const columns of [1, 3, Math.min(8, Math.floor((COLUMNS - 2) / width))]) {
      const grid = [columns, 2, 1] as const;
      for (const slice of [columns * 2, 5]) {
        const launch = { grid, block: [width, height, 1], slice } as const;
        for (const w of [COLUMNS, columns * width - 3]) run(k, launch, w);
      }
    }
});

it('are blocks of a region that all of them run', () => {
  for (const columns of [2, 3, 4, 8])
    run(kernel({ more: around, some: true }), { grid: [columns, 2, 1], block: [32, 4, 1] });
});

it('fault in the first block that fails', () => {
  const k = kernel({ more: around });
  const launch = { grid: [8, 2, 1], block: [32, 4, 1] } as const;
  for (const n of [0, 5, COLUMNS + 40, 2 * COLUMNS + 100, 3 * COLUMNS + 7, 6 * COLUMNS + 200]) {
    const fault = run(k, launch, COLUMNS, n);
    expect(fault).toBeDefined();
  }
  expect(run(k, launch, COLUMNS, 3 * COLUMNS + 7)?.block).toBe(0);
  // What only a store can find out: the second block in its second row, the third one in its first.
  const stores = kernel({ more: around, further: true });
  const size = COLUMNS * ROWS;
  const image = new Int32Array(2 * size);
  for (const [x, y] of [
    [41, 1],
    [70, 0],
  ] as const)
    image[size + (y + 1) * COLUMNS + x + 1] = size;
  const memory = new Uint8Array(image.buffer);
  expect(check(stores, launch, [0, COLUMNS, size, 4 * size], memory, [region])).toMatchObject({ block: 1 });
});

it('load once what a row has in common, which is not what each block has', () => {
  const x = add(mul(ir.special('blockIdx.x'), i32(32)), ir.special('threadIdx.x'));
  const row = mul(ir.special('threadIdx.y'), i32(COLUMNS));
  const size = COLUMNS * ROWS;
  const common = (other: 'u' | 'f', column: Expr): Kernel => {
    const b = new ir.KernelBuilder('common');
    const arrays = { u: b.global('i32', 'u'), f: b.global('i32', 'f') };
    const w = b.value('i32', 'w');
    const value = add(load(ir.at(arrays[other], add(row, column))), i32(1));
    return b.build([ifElse(ir.lt(x, w), [store(ir.at(arrays.u, add(row, x)), value)])]);
  };
  const launch = { grid: [5, 1, 1], block: [32, 4, 1] } as const;
  const image = new Uint8Array(Int32Array.from({ length: 2 * size }, (_, n) => (n * 7919) % 1000).buffer);
  for (const w of [160, 150, 3]) {
    for (const column of [i32(3), ir.special('blockIdx.x'), mul(ir.special('blockIdx.x'), i32(40))])
      check(common('f', column), launch, [0, 4 * size, w], image, [region]);
  }
  // What the second block has stored is seen by the last one if that loads it when its turn comes, which no language promises.
  const last = (column: Expr): string | undefined =>
    elements(runWasm(common('u', column), launch, [0, 0, 160], new Uint8Array(4 * size)).memory, region)[159];
  expect(last(i32(40))).toBe('0x1');
  expect(last(add(i32(36), ir.special('blockIdx.x')))).toBe('0x2');
});
