/**
 * Loops down columns, four rounds at a time over a whole block: which ones, and that they then do the same and fail as they did.
 */
import { describe, expect, it } from 'vitest';
import { check } from '../../render/wasm/launch.testing.ts';
import { inRowOrder } from '../../render/wasm/row-order.ts';
import * as ir from '../builder.ts';
import type { ArraySym, Expr, Kernel, Stmt, Var } from '../ops.ts';
import { verify } from '../verify.ts';
import { columnRounds } from './column-rounds.ts';
import { simplify } from './simplify.ts';

const WIDTH = 64;
const BLOCKS = 2;
const ROWS = 11;
/** Fewer than there are threads. */
const COLUMNS = 100;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly x: ArraySym;
  readonly out: ArraySym;
  readonly rows: Expr;
  readonly r: Var;
  readonly c: Var;
  readonly sum: Var;
  /** `x[row][c]`, of a matrix whose extents only the launch knows. */
  readonly element: (row: Expr) => Expr;
}

interface Choice {
  readonly body?: (p: Parts) => readonly Stmt[];
  readonly guard?: (p: Parts) => Expr;
  readonly bound?: (p: Parts) => Expr;
  readonly first?: (p: Parts) => readonly Stmt[];
  readonly from?: number;
  readonly step?: Expr;
  /** Up to the bound and at it; `down`: from the last row to this one. */
  readonly inclusive?: boolean;
  readonly down?: boolean;
}

/** `if (c < n) { sum = c; for (r = from; r < rows; r += step) sum += x[r][c]; out[c] = sum; }` */
function columns(choice: Choice = {}): Kernel {
  const b = new ir.KernelBuilder('columns');
  const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
  const [n, rows, height, width] = ['n', 'rows', 'height', 'width'].map((name) => b.value('i32', name)) as [
    Expr,
    Expr,
    Expr,
    Expr,
  ];
  const [c, r, sum] = [b.variable('i32', 'c'), b.variable('i32', 'r'), b.variable('i32', 'sum')];
  const label = b.label();
  const element = (row: Expr): Expr => {
    const checks = [
      { index: row, extent: height, axis: 0 },
      { index: ir.read(c), extent: width, axis: 1 },
    ];
    return ir.load(ir.at(x, ir.add(ir.mul(row, width), ir.read(c)), { checks }));
  };
  const parts: Parts = { b, x, out, rows, r, c, sum, element };
  const add = ir.assign(sum, ir.add(ir.read(sum), element(ir.read(r))));
  const { down = false, inclusive = false } = choice;
  const step = choice.step ?? ir.i32(down ? -1 : 1);
  const bound = choice.bound?.(parts) ?? (down ? ir.i32(0) : rows);
  const over = ir.compare(down ? (inclusive ? 'lt' : 'le') : inclusive ? 'gt' : 'ge', ir.read(r), bound);
  const inside = [
    ir.assign(sum, ir.read(c)),
    ...(choice.first?.(parts) ?? []),
    ir.assign(r, down ? ir.sub(rows, ir.i32(1)) : ir.i32(choice.from ?? 0)),
    ir.loop(
      label,
      [ir.ifElse(over, [ir.breakTo(label)]), ...(choice.body?.(parts) ?? [add])],
      [ir.assign(r, ir.add(ir.read(r), step))],
    ),
    ir.store(ir.at(out, ir.read(c)), ir.read(sum)),
  ];
  return b.build(
    [
      ir.assign(c, ir.add(ir.mul(ir.special('blockIdx.x'), ir.i32(WIDTH)), ir.special('threadIdx.x'))),
      ir.ifElse(choice.guard?.(parts) ?? ir.lt(ir.read(c), n), inside),
    ],
    { checked: true },
  );
}

const BLOCK = [WIDTH, 1, 1] as const;

const split = (k: Kernel): boolean => {
  const rounds = columnRounds(simplify(k, { block: BLOCK }), WIDTH);
  verify(rounds.kernel);
  return inRowOrder(rounds, { block: BLOCK, lanes: 4, concurrent: false, memory64: false }, 8) !== undefined;
};

const [X, OUT] = [0, 4 * ROWS * COLUMNS];
const IMAGE = new Uint8Array(
  Int32Array.from({ length: ROWS * COLUMNS + BLOCKS * WIDTH }, (_, k) => (k * 2654435761) >> 5).buffer,
);

/** Runs it with these extents; says which thread failed, counted through the grid. */
function run(k: Kernel, { n = COLUMNS, rows = ROWS, height = ROWS, width = COLUMNS } = {}): number | undefined {
  const regions = [{ at: X, elem: 'i32', length: ROWS * COLUMNS + BLOCKS * WIDTH }] as const;
  const fault = check(k, { block: BLOCK, grid: [BLOCKS, 1, 1] }, [X, OUT, n, rows, height, width], IMAGE, regions);
  return fault && fault.block * WIDTH + fault.thread;
}

describe('rounds of columns', () => {
  it('are for all of a block together, with a guard and without', () => {
    expect(split(columns())).toBe(true);
    expect(split(columns({ guard: () => ir.bool(true) }))).toBe(true);
    expect(split(columns({ step: ir.i32(3), from: 2 }))).toBe(true);
    const stores = ({ x, r, c, sum, element }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), element(ir.read(r)))),
      ir.store(ir.at(x, ir.add(ir.mul(ir.read(r), ir.i32(COLUMNS)), ir.read(c))), ir.read(sum)),
    ];
    expect(split(columns({ body: stores }))).toBe(true);
  });

  it('stay where threads make different ones, or an order shows', () => {
    expect(split(columns({ bound: ({ c }) => ir.and(ir.read(c), ir.i32(7)) }))).toBe(false);
    const prints = ({ sum }: Parts): readonly Stmt[] => [ir.print([ir.read(sum)])];
    expect(split(columns({ first: prints }))).toBe(false);
    const drawn = ({ out, sum }: Parts): readonly Stmt[] => [ir.atomic('add', ir.at(out, ir.i32(0)), [ir.i32(1)], sum)];
    expect(split(columns({ first: drawn }))).toBe(false);
    const waits = ({ b, out }: Parts): readonly Stmt[] => {
      const label = b.label();
      return [ir.loop(label, [ir.ifElse(ir.ge(ir.load(ir.at(out, ir.i32(0))), ir.i32(0)), [ir.breakTo(label)])])];
    };
    expect(split(columns({ first: waits }))).toBe(false);
  });

  it('stay where elements are no rows apart, or anywhere', () => {
    const near = ({ x, r, c, sum }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), ir.load(ir.at(x, ir.add(ir.read(r), ir.read(c)))))),
    ];
    expect(split(columns({ body: near }))).toBe(false);
    const anywhere = ({ x, r, sum }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), ir.load(ir.at(x, ir.mul(ir.read(r), ir.and(ir.read(sum), ir.i32(7))))))),
    ];
    expect(split(columns({ body: anywhere }))).toBe(false);
  });

  it('stay where what lies rows apart is the same for all', () => {
    const window = ({ x, r, c, sum }: Parts): readonly Stmt[] => {
      const [own, common] = [ir.add(ir.read(r), ir.read(c)), ir.mul(ir.read(r), ir.i32(7))];
      return [ir.assign(sum, ir.add(ir.load(ir.at(x, own)), ir.load(ir.at(x, common))))];
    };
    expect(split(columns({ body: window }))).toBe(false);
  });

  it('stay where a guard changes behind itself', () => {
    const asks = ({ c, sum }: Parts): Expr => ir.and(ir.lt(ir.read(c), ir.i32(90)), ir.ge(ir.read(sum), ir.i32(0)));
    expect(split(columns({ guard: asks }))).toBe(false);

    const moved = ({ c, element, r, sum }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), element(ir.read(r)))),
      ir.assign(c, ir.and(ir.read(c), ir.i32(15))),
    ];
    expect(split(columns({ body: moved }))).toBe(false);
  });
});

describe('what they do', () => {
  it.each([0, 1, 3, 4, 5, 8, ROWS])('is the same for %d rows', (rows) => {
    expect(run(columns(), { rows })).toBeUndefined();
    expect(run(columns({ from: 1, step: ir.i32(2) }), { rows })).toBeUndefined();
    const extremes = ({ sum, r, element }: Parts): readonly Stmt[] => [
      ir.ifElse(ir.lt(ir.read(sum), element(ir.read(r))), [
        ir.assign(sum, ir.sub(element(ir.read(r)), ir.mul(ir.read(r), ir.i32(5)))),
      ]),
    ];
    expect(run(columns({ body: extremes }), { rows })).toBeUndefined();
  });

  it('is the same for all guards, and where only some blocks have anything to do', () => {
    for (const n of [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, COLUMNS]) expect(run(columns(), { n })).toBeUndefined();
    const stores = ({ x, r, c, sum, element }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), element(ir.read(r)))),
      ir.store(ir.at(x, ir.add(ir.mul(ir.read(r), ir.i32(COLUMNS)), ir.read(c))), ir.read(sum)),
    ];
    expect(run(columns({ body: stores }), { n: 70 })).toBeUndefined();
    const above = ({ c }: Parts): Expr => ir.compare('gt', ir.i32(70), ir.read(c));
    expect(run(columns({ guard: above }))).toBeUndefined();
    const several = ({ c }: Parts): Expr => ir.and(ir.lt(ir.read(c), ir.i32(90)), ir.ge(ir.read(c), ir.i32(9)));
    expect(run(columns({ guard: several }))).toBeUndefined();
  });

  it('is the same from the last row up, and with the row at the bound', () => {
    const running = ({ x, r, c, sum, element }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.mul(ir.read(sum), ir.i32(3)), element(ir.read(r)))),
      ir.store(ir.at(x, ir.add(ir.mul(ir.read(r), ir.i32(COLUMNS)), ir.read(c))), ir.read(sum)),
    ];
    for (const choice of [{ down: true }, { down: true, inclusive: true }, { down: true, step: ir.i32(-2) }]) {
      expect(split(columns({ ...choice, body: running }))).toBe(true);
      for (const rows of [0, 1, 3, 4, 5, 8, 9, ROWS])
        expect(run(columns({ ...choice, body: running }), { rows })).toBeUndefined();
      expect(run(columns(choice), { height: ROWS - 1 })).toBe(0);
      expect(run(columns(choice), { rows: 9, width: COLUMNS - 1 })).toBe(COLUMNS - 1);
    }
    // Rows above the last one are there.
    for (const rows of [3, 5, 6, 7, 8, 9])
      expect(run(columns({ down: true, bound: () => ir.i32(2) }), { rows })).toBeUndefined();
    expect(split(columns({ inclusive: true }))).toBe(true);
    for (const rows of [-1, 0, 3, 6, 7, 8, ROWS - 1])
      expect(run(columns({ inclusive: true }), { rows })).toBeUndefined();
    expect(run(columns({ inclusive: true }))).toBe(0);
    const above = ({ sum, r, element }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), element(ir.sub(ir.read(r), ir.i32(1))))),
    ];
    for (const rows of [4, 5, 8]) expect(run(columns({ down: true, inclusive: true, body: above }), { rows })).toBe(0);
  });

  it('fails where it failed', () => {
    expect(run(columns(), { height: ROWS - 1 })).toBe(0);
    // Where fours leave no rounds, nobody else would find it out.
    const rows = 8;
    expect(run(columns(), { rows, height: rows - 1 })).toBe(0);
    expect(run(columns(), { rows, width: COLUMNS - 1 })).toBe(COLUMNS - 1);
    expect(run(columns(), { rows, width: WIDTH - 1 })).toBe(WIDTH - 1);
    expect(run(columns({ guard: () => ir.bool(true) }), { rows, width: COLUMNS })).toBe(COLUMNS);
    expect(run(columns({ from: -1 }))).toBe(0);
    expect(run(columns({ from: -9 }), { rows: -2 })).toBe(0);
    const next = ({ sum, r, element }: Parts): readonly Stmt[] => [
      ir.assign(sum, ir.add(ir.read(sum), element(ir.add(ir.read(r), ir.i32(1))))),
    ];
    for (const rows of [ROWS - 3, ROWS - 1]) expect(run(columns({ body: next }), { rows })).toBeUndefined();
    expect(run(columns({ body: next }))).toBe(0);
  });

  it('asks of an index of its own whether all rounds are inside', () => {
    const flat = ({ b, x, r, c, sum }: Parts): readonly Stmt[] => {
      const index = ir.add(ir.mul(ir.read(r), ir.i32(COLUMNS)), ir.read(c));
      const checks = [{ index, extent: b.value('i32', 'length'), axis: 0 }];
      return [ir.assign(sum, ir.add(ir.read(sum), ir.load(ir.at(x, index, { checks }))))];
    };
    expect(split(columns({ body: flat }))).toBe(true);
    const rows = 8;
    const length = rows * COLUMNS;
    for (const [lacks, thread] of [
      [0, undefined],
      [1, COLUMNS - 1],
      [COLUMNS, 0],
    ] as const) {
      const args = [X, OUT, COLUMNS, rows, 0, 0, length - lacks];
      const regions = [{ at: OUT, elem: 'i32', length: BLOCKS * WIDTH }] as const;
      const fault = check(columns({ body: flat }), { block: BLOCK, grid: [BLOCKS, 1, 1] }, args, IMAGE, regions);
      expect(fault && fault.block * WIDTH + fault.thread).toBe(thread);
    }
  });
});
