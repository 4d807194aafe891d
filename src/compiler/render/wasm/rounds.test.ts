/**
 * Sums over rows: which kernels are run thread by thread for their sake, that the sums are right at all lengths, and that faults are what they were.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import { type ArraySym, ELEM_SIZE, type ElemType, type Expr, type Kernel, type Stmt, type Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul, read } = ir;
const tid = ir.special('threadIdx.x');
const BLOCK = [8, 1, 1] as const;
const [ROWS, COLUMNS] = [8, 40];

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly sum: Var;
  readonly k: Var;
  /** The element of the thread's row in column k, and element k of a vector. */
  readonly a: Expr;
  readonly x: Expr;
  readonly more: readonly Var[];
  readonly arrays: { readonly a: ArraySym; readonly x: ArraySym };
}

interface Options {
  readonly elem?: ElemType;
  readonly start?: number;
  readonly bound?: (n: Expr) => Expr;
  readonly body?: (p: Parts) => readonly Stmt[];
  readonly index?: (row: Expr, k: Expr) => Expr;
  /** Further sums that are stored. */
  readonly others?: readonly string[];
}

const collect = ({ sum }: Parts, e: Expr): Stmt => ir.assign(sum, add(read(sum), e));

/** `for (k = start; k < n; k++) sum += a[row][k] * x[k]`, all checked. */
function kernel({ elem = 'i8', start = 0, bound = (n) => n, body, index, others = [] }: Options = {}): Kernel {
  const b = new ir.KernelBuilder('rows');
  const more = others.map((name) => b.variable('i32', name));
  const starts = more.map((v, k) => ir.assign(v, i32(1000 * k)));
  const arrays = { a: b.global(elem, 'a'), x: b.global(elem, 'x') };
  const out = b.global('i32', 'out');
  const [n, rows, columns] = [b.value('i32', 'n'), b.value('i32', 'rows'), b.value('i32', 'columns')];
  const [sum, k] = [b.variable('i32', 'sum'), b.variable('i32', 'k')];
  const checks = [
    { index: tid, extent: rows, axis: 0 },
    { index: read(k), extent: columns, axis: 1 },
  ];
  const place = index?.(tid, read(k)) ?? add(mul(tid, columns), read(k));
  const p: Parts = {
    b,
    sum,
    k,
    arrays,
    more,
    a: ir.load(ir.at(arrays.a, place, { checks })),
    x: ir.load(ir.at(arrays.x, read(k), { checks: [{ index: read(k), extent: columns, axis: 0 }] })),
  };
  const label = b.label();
  const round = body?.(p) ?? [collect(p, mul(p.a, p.x))];
  return b.build(
    [
      ...starts,
      ir.assign(sum, i32(7)),
      ir.assign(k, i32(start)),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(read(k), bound(n)), [ir.breakTo(label)]), ...round],
        [ir.assign(k, add(read(k), i32(1)))],
      ),
      ir.store(
        ir.at(out, tid),
        [...more, sum].map(read).reduce((e, v) => add(mul(e, i32(31)), v), read(k)),
      ),
    ],
    { checked: true },
  );
}

const OUT = ROWS * COLUMNS * 4 + COLUMNS * 4;
const IMAGE = new Uint8Array(OUT + 4 * ROWS).map((_, i) => (i * 167) ^ (i >> 3));

/** Holds a kernel against the interpreter for n rounds, and returns the fault. */
function run(k: Kernel, n: number, elem: ElemType = 'i8', columns = COLUMNS) {
  const args = [0, ROWS * COLUMNS * ELEM_SIZE[elem], OUT, n, ROWS, columns];
  return check(k, { block: BLOCK }, args, IMAGE, [{ at: OUT, elem: 'i32', length: ROWS }]);
}

const inRows = (k: Kernel): boolean =>
  runWasm(k, { block: BLOCK }, [0, ROWS * COLUMNS, OUT, 0, ROWS, COLUMNS], IMAGE).module.lanes === 1;

describe('sums over rows', () => {
  it.each(['i8', 'u8', 'i16', 'u16', 'i32', 'u32'] as const)('of %s are right at all lengths', (elem) => {
    const widened = (e: Expr): Expr => (e.type === 'i32' ? e : ir.bitcast('i32', e));
    const k = kernel({ elem, body: (p) => [collect(p, mul(widened(p.a), widened(p.x)))] });
    expect(inRows(k)).toBe(true);
    for (const n of [-5, 0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 39, 40]) expect(run(k, n, elem)).toBeUndefined();
  });

  it('multiply and add words at once, and add bytes in pairs', () => {
    const text = (k: Kernel): string =>
      disassemble(runWasm(k, { block: BLOCK }, [0, ROWS * COLUMNS, OUT, 0, ROWS, COLUMNS], IMAGE).module.bytes);
    expect(text(kernel())).toContain('i32x4.dot_i16x8_s');
    expect(text(kernel({ elem: 'u8', body: (p) => [collect(p, p.a)] }))).toContain('i16x8.extadd_pairwise_i8x16_u');
    expect(text(kernel({ elem: 'u16', body: (p) => [collect(p, p.a)] }))).toContain('i32x4.extadd_pairwise_i16x8_u');
  });

  it('go through their rows one by one, as rounds that are lanes wait for nothing', () => {
    // Pairs (`pairs.ts`) would be three times the code of items that have no neighbour.
    const size = (width: number): number =>
      renderWasm(kernel(), { block: [width, 1, 1], lanes: 1, concurrent: false, memory64: false }).bytes.length;
    expect(size(8)).toBeLessThan(size(9) + 150);
  });

  it('fault where they did: in the row, behind it, in the round that is left', () => {
    for (const n of [41, 48, 56, 57]) expect(run(kernel(), n)?.thread).toBe(0);
    expect(run(kernel(), 40, 'i8', 39)?.kind).toBe('bounds');
    expect(run(kernel({ start: -1 }), 40)?.kind).toBe('bounds');
    expect(run(kernel({ start: -1 }), -1)).toBeUndefined();
  });

  it('ask ahead with indices that have names in the round', () => {
    const window = (height: Expr, elem: ElemType): Kernel => {
      const b = new ir.KernelBuilder('window');
      const [a, out] = [b.global(elem, 'a'), b.global('i32', 'out')];
      const [rows, columns] = [b.value('i32', 'rows'), b.value('i32', 'columns')];
      const [sum, j, k, row] = ['sum', 'j', 'k', 'row'].map((name) => b.variable('i32', name)) as [Var, Var, Var, Var];
      const checks = [
        { index: read(row), extent: rows, axis: 0 },
        { index: read(k), extent: columns, axis: 1 },
      ];
      const [inner, outer] = [b.label(), b.label()];
      const up = (v: Var): Stmt => ir.assign(v, add(read(v), i32(1)));
      const exit = (v: Var, end: Expr, label: number): Stmt => ir.ifElse(ir.ge(read(v), end), [ir.breakTo(label)]);
      const value = ir.load(ir.at(a, add(mul(read(row), columns), read(k)), { checks }));
      const round = [
        ir.assign(row, add(tid, read(j))),
        ir.assign(sum, add(read(sum), mul(value, add(read(row), i32(1))))),
      ];
      return b.build(
        [
          ir.assign(sum, i32(0)),
          ir.assign(j, i32(0)),
          ir.loop(
            outer,
            [
              exit(j, height, outer),
              ir.assign(k, i32(8)),
              ir.loop(inner, [exit(k, i32(24), inner), ...round], [up(k)]),
            ],
            [up(j)],
          ),
          ir.store(ir.at(out, tid), read(sum)),
        ],
        { checked: true },
      );
    };
    for (const elem of ['i8', 'u8', 'i16'] as const) {
      for (const height of [0, 1, 2, 3, 9]) {
        const k = window(i32(height), elem);
        for (const rows of [0, 7, 8, 9, 10, 16, 17]) {
          const image = new Uint8Array(4000).map((_, i) => (i * 151) ^ (i >> 4));
          check(k, { block: BLOCK }, [0, 3200, rows, COLUMNS], image, [{ at: 3200, elem: 'i32', length: 8 }]);
        }
      }
    }
  });

  it('are taken along windows whose columns have names', () => {
    const b = new ir.KernelBuilder('window');
    const [a, out] = [b.global('u8', 'a'), b.global('i32', 'out')];
    const columns = b.value('i32', 'columns');
    const [sum, j, k, column] = ['sum', 'j', 'k', 'column'].map((name) => b.variable('i32', name)) as [
      Var,
      Var,
      Var,
      Var,
    ];
    const checks = [{ index: read(column), extent: columns, axis: 1 }];
    const [inner, outer] = [b.label(), b.label()];
    const rounds = (v: Var, label: number, body: readonly Stmt[]): Stmt =>
      ir.loop(
        label,
        [ir.ifElse(ir.ge(read(v), i32(8)), [ir.breakTo(label)]), ...body],
        [ir.assign(v, add(read(v), i32(1)))],
      );
    const value = ir.load(ir.at(a, add(mul(add(tid, read(j)), columns), read(column)), { checks }));
    const round = [ir.assign(column, add(read(k), i32(3))), ir.assign(sum, add(read(sum), value))];
    const window = b.build(
      [
        ir.assign(sum, i32(0)),
        ir.assign(j, i32(0)),
        rounds(j, outer, [ir.assign(k, i32(0)), rounds(k, inner, round)]),
        ir.store(ir.at(out, tid), read(sum)),
      ],
      { checked: true },
    );
    for (const n of [9, 10, 11, 12, 40]) {
      const image = new Uint8Array(1000).map((_, i) => (i * 151) ^ (i >> 4));
      const fault = check(window, { block: BLOCK }, [0, 900, n], image, [{ at: 900, elem: 'i32', length: 8 }]);
      expect(fault === undefined).toBe(n > 10);
      expect(runWasm(window, { block: BLOCK }, [0, 900, n], image).module.lanes).toBe(1);
    }
  });

  it('are none where a place is what has been added up', () => {
    const k = kernel({
      others: ['next'],
      body: (p) => {
        const next = p.more[0] ?? p.sum;
        const chased = ir.load(ir.at(p.arrays.x, ir.binary('and', read(next), i32(31))));
        return [collect(p, p.a), ir.assign(next, add(read(next), chased))];
      },
    });
    expect(run(k, 33)).toBeUndefined();
  });

  it('may be several, of any kind, of values that have names, under conditions', () => {
    const k = kernel({
      others: ['least', 'bits', 'many', 'most', 'small'],
      body: (p) => {
        const { b, sum, a, x } = p;
        const d = b.variable('i32', 'd');
        const [least, bits, many, most, small] = p.more;
        const v = (variable: Var | undefined): Var => variable ?? sum;
        return [
          ir.assign(v(d), ir.sub(a, x)),
          collect(p, mul(read(v(d)), read(v(d)))),
          ir.assign(v(least), ir.binary('min', read(v(least)), read(v(d)))),
          ir.assign(v(bits), ir.binary('xor', a, read(v(bits)))),
          ir.ifElse(ir.lt(read(v(d)), i32(9)), [ir.assign(v(many), ir.sub(read(v(many)), i32(2)))]),
          ir.ifElse(ir.lt(i32(20), read(v(d))), [ir.assign(v(small), ir.binary('min', read(v(small)), read(v(d))))]),
          ir.ifElse(ir.lt(i32(0), a), [ir.assign(v(most), ir.binary('max', read(v(most)), read(v(d))))]),
        ];
      },
    });
    expect(inRows(k)).toBe(true);
    for (const n of [0, 5, 16, 40]) run(k, n);
  });
});

describe('kernels that keep their vectors of threads', () => {
  it('have rows side by side', () => {
    expect(inRows(kernel({ index: (row, k) => add(row, mul(k, i32(ROWS))) }))).toBe(false);
    expect(inRows(kernel({ index: (row, k) => add(row, k) }))).toBe(false);
  });

  it('have short rows, or add what is no integer', () => {
    expect(inRows(kernel({ bound: () => i32(8) }))).toBe(false);
    expect(inRows(kernel({ bound: () => i32(16) }))).toBe(true);
    const float = kernel({
      elem: 'f32',
      body: (p) => {
        const sum = p.b.variable('f32', 'float');
        return [ir.assign(sum, add(read(sum), p.a)), ir.assign(p.sum, ir.bitcast('i32', read(sum)))];
      },
    });
    expect(inRows(float)).toBe(false);
  });

  it('read a sum, or a value behind the loop, from round to round', () => {
    const product = kernel({ body: (p) => [ir.assign(p.sum, add(read(p.sum), mul(p.a, read(p.sum))))] });
    expect(inRows(product)).toBe(false);
    const last = kernel({
      body: (p) => {
        const other = p.b.variable('i32', 'other');
        return [ir.assign(other, add(read(other), p.a)), ir.assign(p.sum, p.x)];
      },
    });
    expect(inRows(last)).toBe(false);
    const store = kernel({ body: (p) => [collect(p, p.a), ir.store(ir.at(p.arrays.x, read(p.k)), i32(1))] });
    expect(inRows(store)).toBe(false);
  });
});
