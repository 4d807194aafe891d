/**
 * Windows of rows: which loops are, what they come to at all sizes and places, and that they fail where they did.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { rowSums } from './row-sums.ts';

const { add, i32, mul, read } = ir;
const tid = ir.special('threadIdx.x');
const BLOCK = [8, 1, 1] as const;
const COLUMNS = 48;

interface Options {
  readonly height?: number;
  readonly width?: number;
  /** Whether there is one index, `left + k` with a name for where the row begins. */
  readonly flat?: boolean;
  readonly value?: (a: Expr, b: Expr) => Expr;
  readonly ahead?: (p: { readonly left: Var; readonly sum: Var; readonly j: Var }) => readonly Stmt[];
}

/** `for (j < height) for (k < width) sum += |a[tid + j][k] - b[j][k + tid]|`, all checked: of bytes. */
function window({ height = 8, width = 16, flat = false, value, ahead }: Options = {}): Kernel {
  const builder = new ir.KernelBuilder('window');
  const [a, b] = [builder.global('u8', 'a'), builder.global('u8', 'b')];
  const out = builder.global('i32', 'out');
  const [rows, columns, length] = ['rows', 'columns', 'length'].map((name) => builder.value('i32', name)) as [
    Expr,
    Expr,
    Expr,
  ];
  const [sum, j, k, left] = ['sum', 'j', 'k', 'left'].map((name) => builder.variable('i32', name)) as [
    Var,
    Var,
    Var,
    Var,
  ];
  const element = (array: typeof a, row: Expr, column: Expr): Expr => {
    const two = [
      { index: row, extent: rows, axis: 0 },
      { index: column, extent: columns, axis: 1 },
    ];
    return ir.load(ir.at(array, add(mul(row, columns), column), { checks: two }));
  };
  const at = add(read(left), read(k));
  const first = flat
    ? ir.load(ir.at(a, at, { checks: [{ index: at, extent: length, axis: 0 }] }))
    : element(a, add(tid, read(j)), read(k));
  const second = element(b, read(j), add(read(k), tid));
  const size = (x: Expr, y: Expr): Expr => ir.unary('abs', ir.sub(x, y));
  const [outer, inner] = [builder.label(), builder.label()];
  const exit = (v: Var, end: number, label: number): Stmt => ir.ifElse(ir.ge(read(v), i32(end)), [ir.breakTo(label)]);
  const up = (v: Var): Stmt => ir.assign(v, add(read(v), i32(1)));
  const starts = flat ? [ir.assign(left, mul(add(tid, read(j)), columns))] : [];
  const round = ir.assign(sum, add(read(sum), (value ?? size)(first, second)));
  const row = ir.loop(inner, [exit(k, width, inner), round], [up(k)]);
  return builder.build(
    [
      ir.assign(sum, i32(5)),
      ir.assign(j, i32(0)),
      ir.loop(
        outer,
        [exit(j, height, outer), ...starts, ...(ahead?.({ left, sum, j }) ?? []), ir.assign(k, i32(0)), row],
        [up(j)],
      ),
      ir.store(ir.at(out, tid), add(mul(read(sum), i32(64)), read(j))),
    ],
    { checked: true },
  );
}

const OUT = 4096;
const IMAGE = new Uint8Array(OUT + 64).map((_, i) => (i * 151) ^ (i >> 3));

function run(k: Kernel, { rows = 32, columns = COLUMNS, length = 32 * COLUMNS } = {}) {
  return check(k, { block: BLOCK }, [0, 1500, OUT, rows, columns, length], IMAGE, [
    { at: OUT, elem: 'i32', length: 8 },
  ]);
}

const isWindow = (k: Kernel): boolean => rowSums(k).windows.size === 1;
const text = (k: Kernel): string =>
  disassemble(runWasm(k, { block: BLOCK }, [0, 1500, OUT, 32, COLUMNS, 0], IMAGE).module.bytes);

describe('windows of rows', () => {
  it.each([1, 2, 7, 16, 17, 20])('are the same for %d rows, of one axis and of two', (height) => {
    for (const width of [8, 16, 32]) {
      for (const flat of [false, true]) {
        const k = window({ height, width, flat });
        expect(isWindow(k)).toBe(true);
        expect(run(k)).toBeUndefined();
      }
    }
  });

  it('fail where they did', () => {
    for (const flat of [false, true]) {
      expect(run(window({ height: 8, flat }), { rows: 7 })?.kind).toBe('bounds');
      expect(run(window({ height: 8, flat }), { columns: 22 })?.kind).toBe('bounds');
    }
    expect(run(window({ height: 8 }), { rows: 14 })?.thread).toBe(7);
    // The last rows of the last threads end behind it.
    expect(run(window({ flat: true }), { length: 14 * COLUMNS + 16 })).toBeUndefined();
    expect(run(window({ flat: true }), { length: 14 * COLUMNS + 15 })?.thread).toBe(7);
    expect(run(window({ flat: true }), { length: 13 * COLUMNS })?.thread).toBe(6);
    // Rows that go backwards are outside at their end, and before it.
    expect(run(window({ flat: true, height: 3 }), { columns: -4 })?.kind).toBe('bounds');
  });

  it('have names for where rows begin, that nothing but the row says', () => {
    const kept = (k: Kernel): boolean => {
      expect(run(k)?.kind).toBeUndefined();
      return isWindow(k);
    };
    expect(kept(window({ ahead: ({ left, j }) => [ir.assign(left, mul(read(j), i32(3)))] }))).toBe(true);
    // From the last row up.
    const up = ({ left, j }: { left: Var; j: Var }): readonly Stmt[] => [ir.assign(left, ir.sub(i32(90), read(j)))];
    expect(kept(window({ flat: true, ahead: up }))).toBe(true);
    // What a row leaves to the next one.
    expect(kept(window({ ahead: ({ left }) => [ir.assign(left, add(read(left), i32(1)))] }))).toBe(false);
    expect(kept(window({ ahead: ({ left, sum }) => [ir.assign(left, read(sum))] }))).toBe(false);
    const squares = ({ left, j }: { left: Var; j: Var }): readonly Stmt[] => [
      ir.assign(left, mul(mul(read(j), read(j)), i32(16))),
    ];
    expect(kept(window({ flat: true, height: 4, ahead: squares }))).toBe(false);
  });

  it('add up bytes in lanes of 16 bits where all of it fits', () => {
    expect(text(window({ height: 16 }))).toContain('i8x16.max_u');
    expect(text(window({ height: 16 }))).not.toContain('i16x8.abs');
    // 128 rows of a vector are 128 times 2 times 255.
    const ofRows = (height: number): Kernel => window({ height, value: (a) => a });
    const all = new Uint8Array(OUT + 8192).fill(255);
    const most = (height: number) =>
      check(ofRows(height), { block: BLOCK }, [0, 0, 8192, 200, 32, 0], all.slice(0, 8192 + 64), [
        { at: 8192, elem: 'i32', length: 8 },
      ]);
    const adds = (height: number): boolean => text(ofRows(height)).includes('i16x8.add');
    for (const height of [127, 128, 129, 140]) expect(most(height)).toBeUndefined();
    expect([adds(128), adds(129)]).toEqual([true, false]);
  });
});
