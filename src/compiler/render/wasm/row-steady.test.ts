/**
 * What the items of a row have in common: that it is loaded once, that nothing else changes by it, and that the fault is the one that it was.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, mul, read } = ir;
const [tx, ty] = [ir.special('threadIdx.x'), ir.special('threadIdx.y')];
const [WIDTH, HEIGHT, SIZE] = [32, 4, 256];
const BLOCK = [WIDTH, HEIGHT, 1] as const;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly table: ArraySym;
  readonly x: ArraySym;
  readonly row: Var;
  /** Element of an array, checked against an extent. */
  at(array: ArraySym, index: Expr, extent?: Expr): Expr;
  store(array: ArraySym, index: Expr, value: Expr, extent?: Expr): Stmt;
  readonly n: Expr;
  readonly m: Expr;
}

function kernel(body: (p: Parts) => readonly Stmt[], checked = true): Kernel {
  const b = new ir.KernelBuilder('rows');
  const [table, x] = [b.global('i32', 'table'), b.global('i32', 'x')];
  const [n, m] = [b.value('i32', 'n'), b.value('i32', 'm')];
  const checks = (index: Expr, extent: Expr | undefined) =>
    extent === undefined ? {} : { checks: [{ index, extent, axis: 0 }] };
  const p: Parts = {
    b,
    table,
    x,
    n,
    m,
    row: b.variable('i32', 'row'),
    at: (array, index, extent) => ir.load(ir.at(array, index, checks(index, extent))),
    store: (array, index, value, extent) => ir.store(ir.at(array, index, checks(index, extent)), value),
  };
  return b.build(body(p), { checked });
}

const IMAGE = new Uint8Array(Int32Array.from({ length: 2 * SIZE }, (_, i) => (i * 7919) & 63).buffer);
const place = add(mul(ty, i32(WIDTH)), tx);

function run(k: Kernel, n = SIZE, m = SIZE) {
  return check(k, { block: BLOCK }, [0, 4 * SIZE, n, m], IMAGE, [{ at: 0, elem: 'i32', length: 2 * SIZE }]);
}

/** How many vectors load one element, out of all instructions that do. */
const loads = (k: Kernel): number =>
  disassemble(runWasm(k, { block: BLOCK }, [0, 4 * SIZE, SIZE, SIZE], IMAGE).module.bytes)
    .split('\n')
    .filter((line) => /^\s*i32\.load align=4/.test(line)).length;

describe('rows', () => {
  it('load once what all of their items load, and check it once', () => {
    const inRow = (index: Expr, checked = true): Kernel =>
      kernel(
        ({ at, store, table, x, row, n, m }) => [
          ir.assign(row, at(table, index, n)),
          // Under a condition: not the rows of a box, whose vectors are a loop.
          ir.ifElse(ir.ge(read(row), i32(0)), [store(x, place, add(read(row), at(table, add(read(row), tx), m)), n)]),
        ],
        checked,
      );
    const [common, apart] = [ty, add(ty, ir.binary('shr', tx, i32(3)))];
    expect(loads(inRow(apart, false)) - loads(inRow(common, false))).toBe(WIDTH / 8 - 1);
    for (const k of [inRow(common), inRow(i32(3)), inRow(apart)]) {
      for (const n of [0, 1, 2, 3, 4, 127, SIZE]) for (const m of [0, 63, 64, 70, 94, SIZE]) run(k, n, m);
    }
  });

  it('load before they store, and what they store themselves behind it', () => {
    run(kernel(({ at, store, x, n }) => [store(x, place, add(at(x, place, n), at(x, ty, n)), n)]));
    run(
      kernel(({ at, store, table, x, row }) => [
        store(x, place, tx),
        ir.assign(row, at(table, ty)),
        store(x, add(place, i32(WIDTH * HEIGHT)), read(row)),
      ]),
    );
  });

  it('load what all of their items have stored, once it is stored', () => {
    run(
      kernel(({ at, store, x, row }) => [
        store(x, ty, i32(77)),
        ir.assign(row, at(x, ty)),
        store(x, add(place, i32(WIDTH * HEIGHT)), read(row)),
      ]),
    );
  });

  it('know no variable before it is assigned, nor one that is assigned twice', () => {
    run(
      kernel(({ at, b, store, table, x, row }) => {
        const before = b.variable('i32', 'before');
        return [
          ir.assign(before, add(read(row), tx)),
          ir.assign(row, at(table, ty)),
          store(x, place, add(read(before), read(row))),
        ];
      }),
    );
    run(
      kernel(({ at, store, table, x, row }) => [
        ir.assign(row, at(table, ty)),
        ir.assign(row, add(read(row), at(table, tx))),
        store(x, place, read(row)),
      ]),
    );
  });
});

/** Assignments and stores of what rows have in common and what they have not, any of which may fail. */
function random(seed: number): Kernel {
  const r = new Random(seed);
  return kernel(({ b, at, store, table, x, n, m }) => {
    const vars = Array.from({ length: 4 }, (_, k) => b.variable('i32', `v${k}`));
    // Only what rows have in common may fail before the end: vectors of items that fail in several places tell of the first place.
    const [steady, any]: [Expr[], Expr[]] = [[ty, ty, i32(3)], [tx]];
    const index = (known: readonly Expr[]): Expr => {
      const e = r.chance(0.4) ? add(r.pick(known), r.pick(known)) : r.pick(known);
      return ir.binary('and', e, i32(r.pick([15, 63, 127])));
    };
    const value = (depth: number, known: readonly Expr[]): Expr => {
      if (depth > 0 && r.chance(0.6))
        return ir.binary(r.pick(['add', 'sub', 'xor']), value(depth - 1, known), value(depth - 1, known));
      if (r.chance(0.5)) return r.pick(known);
      const common = known === steady || r.chance(0.5);
      return common ? at(table, index(steady), r.pick([n, m, undefined])) : at(table, index(known));
    };
    const list: Stmt[] = [];
    for (const v of vars) {
      const common = r.chance(0.6);
      list.push(ir.assign(v, value(1, common ? steady : [...steady, ...any])));
      (common ? steady : any).push(read(v));
      if (r.chance(0.2))
        list.push(store(x, add(place, i32(r.pick([0, WIDTH * HEIGHT]))), value(1, [...steady, ...any])));
    }
    return [...list, store(x, place, value(2, [...steady, ...any]), r.pick([n, m]))];
  });
}

it('do the same as the interpreter, whatever fails', () => {
  let faults = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const r = new Random(~seed);
    const k = random(seed);
    for (const n of [SIZE, 4, r.below(80)]) if (run(k, n, r.pick([SIZE, r.below(70)])) !== undefined) faults++;
  }
  expect(faults).toBeGreaterThan(30);
});
