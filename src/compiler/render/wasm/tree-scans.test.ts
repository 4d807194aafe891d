/**
 * Prefix sums and products of floats by trees: which become trees by fours, and that they are rounded as before.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, MemRef, Stmt } from '../../ir/ops.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { verify } from '../../ir/verify.ts';
import { type Form, PLAIN, run, scan, type Twist } from './block-scans.testing.ts';
import { recogniseBlockScans } from './block-scans.ts';
import { Random } from './programs.testing.ts';

const { i32, ifElse } = ir;
const t = ir.special('threadIdx.x');
const FLOATS: Form = { ...PLAIN, elem: 'f32' };
const WAYS = ['blelloch', 'brent'] as const;

/** The sizes of the levels above the elements; none where the kernel stays as it is. */
function levelsOf(k: Kernel, width: number): readonly (number | undefined)[] {
  const { kernel } = recogniseBlockScans(simplify(k, { block: [width, 1, 1] }), [width, 1, 1]);
  verify(kernel);
  return kernel.arrays.filter((a) => a.name === '%sums').map((a) => a.length);
}

describe('are trees by fours', () => {
  it.each(WAYS)('by %s', (way) => {
    for (const fn of ['add', 'mul'] as const) {
      for (const [width, levels] of [
        [8, [5, 2]],
        [16, [9, 3]],
        [32, [17, 5, 2]],
        [256, [129, 33, 9, 3]],
      ] as const) {
        const k = scan({ ...FLOATS, fn, way, width });
        expect(levelsOf(k, width)).toEqual(levels);
        run(k, width, 'f32', width);
      }
    }
  });

  it('with any root', () => {
    for (const fn of ['add', 'mul'] as const)
      for (const root of [0, -0, 1, 7, Number.POSITIVE_INFINITY]) {
        const k = scan({ ...FLOATS, fn }, { root });
        expect(levelsOf(k, 16)).toEqual([9, 3]);
        run(k, 16, 'f32', 3);
      }
  });

  it('however they are written', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const r = new Random(seed);
      const form: Form = {
        ...FLOATS,
        width: r.pick([8, 16, 32, 64]),
        fn: r.pick(['add', 'add', 'mul']),
        way: r.pick(WAYS),
        first: r.pick([0, 0, 1, 5]),
        pad: r.pick([0, 0, 4, 8, 16]),
        more: r.pick(['nothing', 'total', 'all', 'own'] as const),
      };
      const k = scan(form);
      expect(levelsOf(k, form.width).length, JSON.stringify(form)).toBeGreaterThan(1);
      run(k, form.width, 'f32', seed);
    }
  });

  it('of as many elements as a parameter says, and of others', () => {
    for (const more of ['nothing', 'total'] as const) {
      const k = scan({ ...FLOATS, more }, { sized: true });
      expect(levelsOf(k, 16)).toEqual([9, 3]);
      for (const n of [32, 16, 8, 2, 1]) run(k, 16, 'f32', n, [n]);
    }
  });
});

describe('are left as they are', () => {
  it.each<[string, Partial<Form>, Twist]>([
    ['from the last element to the first', { down: true }, {}],
    ['of few elements', { width: 4 }, {}],
    ['where others are left out within fours', { pad: 2 }, {}],
    ['where the last rounds are left out', {}, { short: 1 }],
    ['where a thread too few takes part', { first: 4 }, { off: -1 }],
    ['where others are taken in', { first: 4 }, { apart: 1 }],
    ['where others are taken in, by Brent and Kung', { first: 4, way: 'brent' }, { apart: 1 }],
    ['where checks fail', {}, { length: 31 }],
    ['where more is done with what is stored', {}, { value: (e) => ir.add(e, ir.constant('f32', 1)) }],
    [
      'where an element is something else in the end',
      {},
      { tail: (_, put) => [ifElse(ir.eq(t, i32(3)), [put(i32(6), ir.constant('f32', 5))])] },
    ],
    [
      'where the last element is something else in the end',
      { way: 'brent' },
      { tail: (_, put) => [ifElse(ir.eq(t, i32(3)), [put(i32(31), ir.constant('f32', 5))])] },
    ],
    [
      'where elements change places in the end',
      {},
      { tail: (at, put) => [ifElse(ir.eq(t, i32(3)), [put(i32(6), at(i32(7)))])] },
    ],
  ])('%s', (_, form, twist) => {
    const k = scan({ ...FLOATS, ...form }, twist);
    const width = form.width ?? 16;
    expect(levelsOf(k, width)).toEqual([]);
    // Who takes in others races with them.
    if (twist.apart === undefined) run(k, width, 'f32');
  });

  it.each([
    [8, [9, 3]],
    [4, []],
  ] as const)('where %i threads are too few for fours of 32 elements', (width, levels) => {
    const b = new ir.KernelBuilder('few');
    const [x, out, s] = [b.global('f32', 'x'), b.global('f32', 'out'), b.shared('f32', 's', 32)];
    const own = b.variable('f32', 'own');
    const at = (k: Expr): MemRef => ir.at(s, k, { checks: [{ index: k, extent: i32(32), axis: 0 }] });
    const rounds = (up: boolean): readonly Stmt[] => {
      const [label, step, high] = [b.label(), b.variable('i32', 'step'), b.variable('i32', 'high')];
      const low = ir.sub(ir.read(high), ir.read(step));
      const sum = ir.add(ir.load(at(low)), ir.load(at(ir.read(high))));
      const pair = (): readonly Stmt[] =>
        up
          ? [ir.store(at(ir.read(high)), sum)]
          : [
              ir.assign(own, sum),
              ir.store(at(low), ir.load(at(ir.read(high)))),
              ir.store(at(ir.read(high)), ir.read(own)),
            ];
      const pairs = Array.from({ length: 16 / width }, (_, k) => [
        ir.assign(high, ir.sub(ir.mul(ir.add(t, i32(k * width + 1)), ir.mul(ir.read(step), i32(2))), i32(1))),
        ifElse(ir.lt(ir.read(high), i32(32)), pair()),
      ]).flat();
      const ends = up ? ir.ge(ir.read(step), i32(32)) : ir.lt(ir.read(step), i32(1));
      const next = up ? ir.mul(ir.read(step), i32(2)) : ir.binary('shr', ir.read(step), i32(1));
      return [
        ir.assign(step, i32(up ? 1 : 16)),
        ir.loop(label, [ifElse(ends, [ir.breakTo(label)]), ir.barrier(), ...pairs], [ir.assign(step, next)]),
      ];
    };
    const each = (visit: (k: Expr) => Stmt): readonly Stmt[] =>
      Array.from({ length: 32 / width }, (_, k) => visit(ir.add(t, i32(width * k))));
    const k = b.build([
      ...each((e) => ir.store(at(e), ir.load(ir.at(x, e)))),
      ...rounds(true),
      ifElse(ir.eq(t, i32(0)), [ir.store(at(i32(31)), ir.constant('f32', 0))]),
      ...rounds(false),
      ir.barrier(),
      ...each((e) => ir.store(ir.at(out, e), ir.load(at(e)))),
    ]);
    expect(levelsOf(k, width)).toEqual(levels);
  });

  it('where no barrier parts rounds', () => {
    for (const without of [0, 1]) expect(levelsOf(scan(FLOATS, { without }), 16)).toEqual([]);
  });
});
