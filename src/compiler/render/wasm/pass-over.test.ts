/**
 * Rounds and work items that are passed over: which, that the others run as they did, and that faults are what they were.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, i32, mul, read } = ir;
const tid = ir.special('threadIdx.x');
const COLUMNS = 40;
const ROWS = 16;
const OUT = 4 * ROWS * COLUMNS;
const image = new Uint8Array(
  Int32Array.from({ length: ROWS * COLUMNS + 2 * ROWS }, (_, i) => ((i * 7919) % 211) - 20).buffer,
);

const passes = (kernel: Kernel, args: readonly number[], width = ROWS): boolean =>
  /i16x8\.bitmask\s+local\.tee/.test(disassemble(runWasm(kernel, { block: [width, 1, 1] }, args, image).module.bytes));

interface Round {
  readonly b: ir.KernelBuilder;
  readonly value: Expr;
  readonly v: Var;
  readonly most: Var;
  readonly c: Var;
  readonly label: number;
  readonly at: (index: Expr) => ReturnType<typeof ir.at>;
  /** A loop that leaves three in an array of the thread. */
  readonly keep: readonly Stmt[];
}

/** `for (c = 0; c < n; c++) { v = x[t][c]; if (cond) then }`, and what is left of it. */
function rounds(cond: (r: Round) => Expr, then: (r: Round) => readonly Stmt[], checked = true): Kernel {
  const b = new ir.KernelBuilder('rounds');
  const [x, out, best] = [b.global('i32', 'x'), b.global('i32', 'out'), b.local('i32', 'best', 4)];
  const [n, columns] = [b.value('i32', 'n'), b.value('i32', 'columns')];
  const [v, most, c, j] = ['v', 'most', 'c', 'j'].map((name) => b.variable('i32', name)) as [Var, Var, Var, Var];
  const at = (index: Expr) => ir.at(best, index);
  const value = ir.load(
    ir.at(x, add(mul(tid, i32(COLUMNS)), read(c)), { checks: [{ index: read(c), extent: columns, axis: 1 }] }),
  );
  const [label, inner] = [b.label(), b.label()];
  const keep = [
    ir.assign(j, i32(0)),
    ir.loop(
      inner,
      [
        ir.ifElse(ir.ge(read(j), ir.binary('and', read(v), i32(3))), [ir.breakTo(inner)]),
        ir.store(at(read(j)), ir.load(at(add(read(j), i32(1))))),
      ],
      [ir.assign(j, add(read(j), i32(1)))],
    ),
    ir.store(at(i32(3)), read(v)),
  ];
  const r: Round = { b, value, v, most, c, label, at, keep };
  return b.build(
    [
      ...[0, 1, 2, 3].map((k) => ir.store(at(i32(k)), i32(k))),
      ir.assign(most, i32(5)),
      ir.assign(c, i32(0)),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(read(c), n), [ir.breakTo(label)]), ir.assign(v, value), ir.ifElse(cond(r), then(r))],
        [ir.assign(c, add(read(c), i32(1)))],
      ),
      ir.store(
        ir.at(out, tid),
        [0, 1, 2, 3].reduce<Expr>((e, k) => add(mul(e, i32(31)), ir.load(at(i32(k)))), add(read(c), read(most))),
      ),
    ],
    { checked },
  );
}

const run = (k: Kernel, n: number, columns = COLUMNS) =>
  check(k, { block: [ROWS, 1, 1] }, [0, OUT, n, columns], image, [{ at: OUT, elem: 'i32', length: ROWS }]);

describe('rounds are passed over', () => {
  const record = rounds(
    ({ v, at }) => ir.lt(ir.load(at(i32(3))), read(v)),
    ({ keep }) => keep,
  );
  const search = rounds(
    ({ v }) => ir.eq(read(v), i32(50)),
    ({ most, v, label }) => [ir.assign(most, read(v)), ir.breakTo(label)],
  );

  it('where they hold no record, or not what is looked for', () => {
    for (const kernel of [record, search]) {
      expect(passes(kernel, [0, OUT, 0, COLUMNS])).toBe(true);
      for (const n of [-3, 0, 1, 7, 8, 9, 16, 17, 24, 39, 40]) expect(run(kernel, n)).toBeUndefined();
    }
  });

  it('where the record is a variable', () => {
    const kernel = rounds(
      ({ v, most }) => ir.lt(read(most), read(v)),
      ({ v, most, keep }) => [ir.assign(most, read(v)), ...keep],
    );
    expect(passes(kernel, [0, OUT, 0, COLUMNS])).toBe(true);
    for (const n of [0, 8, 23, 40]) expect(run(kernel, n)).toBeUndefined();
  });

  it('but for those of loops that fail later, or that end before they would', () => {
    for (const columns of [0, 5, 8, 20, 39]) expect(run(record, 40, columns)?.kind).toBe('bounds');
    const found = rounds(
      () => ir.constant('bool', true),
      ({ label }) => [ir.breakTo(label)],
    );
    for (const columns of [1, 8, 39]) expect(run(found, 40, columns)).toBeUndefined();
    for (const columns of [1, 8, 39]) run(search, 40, columns);
  });

  it('not where a guard is none of a record', () => {
    const often = rounds(
      ({ v }) => ir.lt(i32(9), read(v)),
      ({ keep }) => keep,
    );
    expect(passes(often, [0, OUT, 0, COLUMNS])).toBe(false);
    run(often, 40);
  });

  it('not without checks where a loop may end ahead of what it would load', () => {
    const leaving = rounds(
      ({ v }) => ir.eq(read(v), i32(50)),
      ({ label }) => [ir.breakTo(label)],
      false,
    );
    expect(passes(leaving, [0, OUT, 0, COLUMNS])).toBe(false);
  });
});

describe('work items are passed over', () => {
  /** `if (t < n) if (level[t] < 40) for (…) sum += x[x[e] & 63]`, with or without the guard, which may prove what checks ask: `t < 12`, of 12 elements. */
  const items = (guarded: boolean | 'proven', checked = true): Kernel => {
    const b = new ir.KernelBuilder('items');
    const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
    const [n, length] = [b.value('i32', 'n'), b.value('i32', 'extent')];
    const extent = guarded === 'proven' ? i32(12) : length;
    const [e, sum] = [b.variable('i32', 'e'), b.variable('i32', 'sum')];
    const label = b.label();
    const level = ir.load(ir.at(x, tid, { checks: [{ index: tid, extent, axis: 0 }] }));
    const far = ir.load(ir.at(x, ir.binary('and', ir.load(ir.at(x, read(e))), i32(63))));
    const work = ir.ifElse(ir.lt(level, i32(40)), [
      ir.assign(e, tid),
      ir.assign(sum, i32(0)),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(read(e), level), [ir.breakTo(label)]), ir.assign(sum, add(read(sum), far))],
        [ir.assign(e, add(read(e), i32(1)))],
      ),
      ir.store(ir.at(out, tid), read(sum)),
    ]);
    const most = guarded === 'proven' ? extent : n;
    return b.build([guarded ? ir.ifElse(ir.lt(tid, most), [work]) : work], { checked });
  };
  /** Items that have no neighbour do not run in pairs. */
  const ODD = 17;
  const launch = (k: Kernel, n: number, extent: number) =>
    check(k, { block: [ODD, 1, 1] }, [0, OUT, n, extent], image, [{ at: OUT, elem: 'i32', length: ODD }]);

  it('where their guard does not hold', () => {
    for (const guarded of [true, false]) {
      const kernel = items(guarded);
      expect(passes(kernel, [0, OUT, ODD, ODD], ODD)).toBe(true);
      expect(launch(kernel, ODD, ODD)).toBeUndefined();
      expect(launch(kernel, 5, 5) === undefined).toBe(guarded);
      expect(launch(kernel, 9, 8)?.thread).toBe(8);
    }
  });

  it('where all that the vector loads is there, also what no item loads behind its guard', () => {
    const asked = (guarded: Parameters<typeof items>[0]): number => {
      const { module } = runWasm(items(guarded), { block: [ODD, 1, 1] }, [0, OUT, ODD, ODD], image);
      return disassemble(module.bytes).split('i64.gt_s').length - 1;
    };
    // The guard proves the check of the items, not that of the vector.
    expect(asked('proven')).toBe(asked(true));
    expect(launch(items('proven'), 0, 0)).toBeUndefined();
  });

  it('not without checks where a guard is behind another one', () => {
    expect(passes(items(true, false), [0, OUT, ODD, ODD], ODD)).toBe(false);
    expect(passes(items(false, false), [0, OUT, ODD, ODD], ODD)).toBe(true);
    launch(items(true, false), 5, 5);
  });
});
