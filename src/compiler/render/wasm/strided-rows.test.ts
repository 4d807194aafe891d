/**
 * Rows of which every so many items do something: which ones are run item by item, and that no item is left out or run for nothing.
 */
import { expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, mul, read } = ir;
const tx = ir.special('threadIdx.x');
const SIZE = 600;

interface Options {
  /** Of the place of an item: the condition under which it does something. */
  readonly when: (place: Expr, rest: Expr) => Expr;
  readonly space?: 'global' | 'shared';
  readonly inPlace?: boolean;
}

/** `place = threadIdx.x + first; if (when) u[i] = u[i - 1] + u[i + 1] + 3 * place`, of a shared array as well. */
function kernel({ when, space = 'global', inPlace = true }: Options): Kernel {
  const b = new ir.KernelBuilder('strided');
  const [x, y] = [b.global('i32', 'x'), b.global('i32', 'y')];
  const [first, rest, n] = [b.value('i32', 'first'), b.value('i32', 'rest'), b.value('i32', 'n')];
  const shared = b.shared('i32', 's', 256);
  const u = space === 'shared' ? shared : inPlace ? y : x;
  const to = space === 'shared' ? shared : y;
  const place = b.variable('i32', 'place');
  const i = add(mul(ir.special('threadIdx.y'), i32(100)), add(tx, i32(1)));
  // One check: vectors of items of which several fail tell of the first check that fails in any.
  const at = (by: number): Expr =>
    ir.load(ir.at(u, add(i, i32(by)), by > 0 ? { checks: [{ index: add(i, i32(by)), extent: n, axis: 0 }] } : {}));
  const step = [
    ir.assign(place, add(tx, first)),
    ir.ifElse(when(read(place), rest), [ir.store(ir.at(to, i), add(add(at(-1), at(1)), mul(read(place), i32(3))))]),
  ];
  const around =
    space === 'shared'
      ? [
          ir.store(ir.at(shared, i), ir.load(ir.at(x, i))),
          ir.barrier(),
          ...step,
          ir.barrier(),
          ir.store(ir.at(y, i), ir.load(ir.at(shared, i))),
        ]
      : step;
  return b.build(around, { checked: true });
}

const IMAGE = new Uint8Array(Int32Array.from({ length: 2 * SIZE }, (_, i) => (i * 7919) >> 2).buffer);

function run(k: Kernel, width: number, first: number, rest: number, n = SIZE) {
  const args = [0, 4 * SIZE, first, rest, n];
  return check(k, { block: [width, 2, 1] }, args, IMAGE, [{ at: 0, elem: 'i32', length: 2 * SIZE }]);
}

const rem = (place: Expr, m: number): Expr => ir.binary('rem', place, i32(m));
const masked = (place: Expr, m: number): Expr => ir.binary('and', place, i32(m - 1));
const eq = (a: Expr, b: Expr): Expr => ir.compare('eq', a, b);

/** Stores of one element in code, also in that of rows at an edge elsewhere. Vectors have none but those of fault records. */
const stores = (k: Kernel, width: number): number => {
  const { bytes } = runWasm(k, { block: [width, 2, 1] }, [0, 4 * SIZE, 0, 0, SIZE], IMAGE).module;
  return disassemble(bytes).match(/i32\.store /g)?.length ?? 0;
};

it('are those that update an array in place, and those of which few items do anything', () => {
  const every = (m: number, more: Partial<Options> = {}): Kernel =>
    kernel({ when: (place, rest) => eq(rem(place, m), rest), ...more });
  const none = stores(every(2, { inPlace: false }), 32);
  expect(stores(every(4, { inPlace: false }), 32)).toBe(none);
  // Of every second item lanes are made: `stepped-lanes.test.ts`.
  expect(stores(every(2), 32)).toBe(none);
  expect(stores(every(2), 36)).toBe(none + 9 + 1 + 2);
  expect(stores(every(4), 32)).toBe(none + 8 + 2);
  expect(stores(every(8, { inPlace: false }), 32)).toBe(none + 4 + 1);
  expect(stores(every(16, { space: 'shared' }), 32)).toBeGreaterThan(stores(every(4, { space: 'shared' }), 32));
});

it.each([32, 40, 100, 8, 13])('are right in rows of %d', (width) => {
  const conditions: Options['when'][] = [
    (place, rest) => eq(rem(place, 2), rest),
    (place, rest) => eq(masked(place, 2), rest),
    (place) => ir.compare('ne', rem(place, 2), i32(0)),
    (place) => ir.compare('ne', i32(1), masked(place, 2)),
    (place, rest) => eq(rem(place, 3), rest),
    (place, rest) => eq(rem(place, 24), rest),
    (place, rest) => ir.and(ir.lt(tx, i32(27)), eq(masked(place, 8), rest)),
    (place, rest) => ir.and(ir.lt(ir.special('threadIdx.y'), i32(1)), eq(masked(place, 2), rest)),
    (place, rest) => ir.and(eq(rem(place, 2), rest), ir.ge(add(ir.special('threadIdx.y'), rest), i32(2))),
  ];
  for (const when of conditions) {
    const k = kernel({ when });
    for (const first of [0, 5, -3, 2 ** 31 - 20]) for (const rest of [0, 1, 7, 23, -1]) run(k, width, first, rest);
    for (const n of [0, 1, 30, 101, 140]) run(k, width, 0, 1, n);
  }
});

it('are right between barriers, whatever else guards them', () => {
  const r = new Random(5);
  for (let seed = 0; seed < 30; seed++) {
    const m = r.pick([2, 8, 16, 9]);
    const bound = r.below(40);
    const when: Options['when'] = (place, rest) =>
      r.chance(0.5) ? eq(rem(place, m), rest) : ir.and(eq(masked(place, 8), rest), ir.lt(place, i32(bound)));
    run(
      kernel({ when, space: r.pick(['shared', 'global'] as const) }),
      r.pick([32, 48, 20]),
      r.below(20) - 4,
      r.below(m),
    );
  }
});

it('fault in the item that fails', () => {
  const b = new ir.KernelBuilder('faults');
  const [x, y] = [b.global('i32', 'x'), b.global('i32', 'y')];
  const n = b.value('i32', 'n');
  const [i, found] = [add(mul(ir.special('threadIdx.y'), i32(100)), tx), b.variable('i32', 'found')];
  const own = ir.load(ir.at(y, i));
  const k = b.build(
    [
      ir.ifElse(eq(rem(tx, 2), i32(1)), [
        ir.assign(found, ir.load(ir.at(x, i))),
        ir.store(
          ir.at(y, i),
          add(own, ir.load(ir.at(x, read(found), { checks: [{ index: read(found), extent: n, axis: 0 }] }))),
        ),
      ]),
    ],
    { checked: true },
  );
  const values = new Int32Array(2 * SIZE).map((_, at) => (at === 21 || at === 27 ? 500 : at % 100));
  const fault = (n: number) =>
    check(k, { block: [32, 2, 1] }, [0, 4 * SIZE, n], new Uint8Array(values.slice().buffer), [
      { at: 0, elem: 'i32', length: 2 * SIZE },
    ]);
  expect(fault(501)).toBeUndefined();
  expect(fault(500)?.thread).toBe(21);
});
