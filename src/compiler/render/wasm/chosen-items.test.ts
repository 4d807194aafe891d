/**
 * Loops in each round of which one item is chosen: which are made by one item for all, and that all do the same, accuse the same, and leave the same behind.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { verify } from '../../ir/verify.ts';
import { chooseItems } from './chosen-items.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, ifElse, mul, read } = ir;
const t = ir.special('threadIdx.x');
const N = 24;
/** Elements from one item's place to the next one's: nobody gets there. */
const APART = 2 * N + 2;
const BEHIND = 40 * APART;

interface Names {
  readonly b: ir.KernelBuilder;
  readonly out: ReturnType<ir.KernelBuilder['global']>;
  readonly s: ReturnType<ir.KernelBuilder['shared']>;
  readonly local: ReturnType<ir.KernelBuilder['local']>;
  readonly k: Var;
  readonly v: Var;
  readonly at: Var;
  readonly own: Var;
}

interface Form {
  /** Elements that there are, for those that are written. */
  readonly length?: number;
  /** Elements that there are to be read. */
  readonly given?: number;
  readonly item?: (v: Expr, names: Names) => Expr;
  readonly others?: (names: Names) => readonly Expr[];
  readonly more?: (names: Names) => readonly Stmt[];
  readonly ahead?: (names: Names) => readonly Stmt[];
  readonly before?: (names: Names) => readonly Stmt[];
  readonly behind?: (names: Names) => readonly Stmt[];
  readonly unsigned?: boolean;
  readonly digits?: number;
}

/** A stable scatter: each item has a digit, and a place from which on it writes. */
function scatter(width: number, form: Form = {}): Kernel {
  const b = new ir.KernelBuilder('choose');
  const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
  const { length = BEHIND, given = N, digits = width } = form;
  const s = b.shared('i32', 's', width);
  const [k, v, at, own, label] = [
    b.variable('i32', 'k'),
    b.variable('i32', 'v'),
    b.variable('i32', 'at'),
    b.variable('i32', 'own'),
    b.label(),
  ];
  const names = { b, out, s, local: b.local('i32', 'local', 8), k, v, at, own };
  const digit = ir.binary('rem', read(v), i32(digits));
  const item = form.item?.(digit, names) ?? digit;
  const chosen = form.unsigned === true ? ir.eq(ir.cast('u32', item), ir.cast('u32', t)) : ir.eq(item, t);
  const cond = (form.others?.(names) ?? []).reduce((a, c) => ir.and(a, c), chosen);
  const checked = (index: Expr, extent: number) => ({ checks: [{ index, extent: i32(extent), axis: 0 }] });
  return b.build(
    [
      ir.assign(at, mul(t, i32(APART))),
      ir.assign(own, add(mul(t, i32(5)), i32(1))),
      ir.store(ir.at(s, t), i32(0)),
      ...(form.ahead?.(names) ?? []),
      ir.assign(k, i32(0)),
      ir.loop(
        label,
        [
          ifElse(ir.ge(read(k), i32(N)), [ir.breakTo(label)]),
          ir.assign(v, ir.load(ir.at(x, read(k), checked(read(k), given)))),
          ...(form.before?.(names) ?? []),
          ifElse(cond, [
            ir.store(ir.at(out, read(at), checked(read(at), length)), add(read(v), read(own))),
            ...(form.more?.(names) ?? []),
            ir.assign(at, add(read(at), i32(1))),
          ]),
        ],
        [ir.assign(k, add(read(k), i32(1)))],
      ),
      ir.store(ir.at(out, add(t, i32(BEHIND))), read(at)),
      ir.store(ir.at(out, add(t, i32(BEHIND + 40))), read(k)),
      ir.store(ir.at(out, add(t, i32(BEHIND + 80))), ir.load(ir.at(s, t))),
      ...(form.behind?.(names) ?? []),
    ],
    { checked: true },
  );
}

function isChosen(k: Kernel, width: number): boolean {
  const plain = simplify(k, { block: [width, 1, 1] });
  const chosen = chooseItems(plain, [width, 1, 1]);
  verify(chosen);
  return chosen !== plain;
}

function run(k: Kernel, width: number, seed = 1): ReturnType<typeof check> {
  const r = new Random(seed);
  const image = new Uint8Array(4 * (N + BEHIND + 160));
  image.set(
    new Uint8Array(
      Int32Array.from({ length: N }, () => r.pick([0, 1, 2, 3, 5, 8, 13, 15, 15, 21, 34, 35, 60, -1, -7])).buffer,
    ),
  );
  return check(k, { block: [width, 1, 1] }, [0, 4 * N], image, [{ at: 4 * N, elem: 'i32', length: BEHIND + 160 }]);
}

describe('are made by one item', () => {
  it.each<[string, Form]>([
    ['in the common form', {}],
    ['as numbers without a sign', { unsigned: true }],
    ['of which some are of another block', { digits: 70 }],
    ['where more has to hold', { others: ({ v, own }) => [ir.compare('gt', add(read(v), read(own)), i32(20))] }],
    [
      'where it depends on what the item keeps',
      { others: ({ at }) => [ir.ne(ir.binary('and', read(at), i32(3)), i32(2))] },
    ],
    [
      'with conditions in them',
      {
        more: ({ v, s, own }) => [
          ifElse(
            ir.lt(read(v), i32(8)),
            [ir.store(ir.at(s, t), add(ir.load(ir.at(s, t)), read(own)))],
            [ir.store(ir.at(s, t), i32(-3))],
          ),
        ],
      },
    ],
    [
      'with variables of their own',
      {
        more: ({ at, own, b }) => {
          const twice = b.variable('i32', 'twice');
          return [ir.assign(twice, mul(read(at), i32(2))), ir.assign(own, add(read(own), read(twice)))];
        },
      },
    ],
    ['where something else counts', { item: (_, { k }) => ir.binary('shr', read(k), i32(1)) }],
  ])('%s', (_, form) => {
    for (const width of [4, 8, 13, 16, 40]) {
      const k = scatter(width, form);
      expect(isChosen(k, width)).toBe(true);
      run(k, width, width);
    }
  });

  it('up to where something fails, and accuse whoever fails', () => {
    let failed = 0;
    // Of the last item alone.
    for (let length = 15 * APART; length < 15 * APART + 5; length++) {
      const k = scatter(16, { length });
      expect(isChosen(k, 16)).toBe(true);
      const thread = run(k, 16, 7)?.thread;
      if (thread !== undefined) expect(thread).toBe(15);
      if (thread !== undefined) failed++;
    }
    expect(failed).toBeGreaterThan(0);
    expect(run(scatter(16, { given: 11 }), 16)?.thread).toBe(0);
  });
});

describe('are left alone', () => {
  it.each<[string, Form]>([
    [
      'where items keep something else of the round',
      { before: ({ own, v }) => [ir.assign(own, add(read(own), read(v)))] },
    ],
    ['where the round depends on what items keep', { item: (_, { own }) => ir.binary('and', read(own), i32(3)) }],
    ['where what a round loads is what items store', { item: (_, { s }) => ir.load(ir.at(s, i32(0))) }],
    [
      'where what is checked is made in the round',
      {
        more: ({ at, out }) => [
          ir.assign(at, add(read(at), i32(1))),
          ir.store(ir.at(out, read(at), { checks: [{ index: read(at), extent: i32(BEHIND), axis: 0 }] }), i32(9)),
        ],
      },
    ],
    [
      'where what a round makes is read behind the loop',
      { behind: ({ v, out }) => [ir.store(ir.at(out, add(t, i32(BEHIND + 120))), read(v))] },
    ],
    [
      'where items have memory of their own',
      {
        ahead: ({ local }) => [ir.store(ir.at(local, ir.binary('and', t, i32(7))), add(t, i32(3)))],
        more: ({ at, out, local, v }) => [
          ir.store(ir.at(out, read(at)), ir.load(ir.at(local, ir.binary('and', read(v), i32(7))))),
        ],
      },
    ],
    [
      'where items ask for their lane',
      { more: ({ at, out }) => [ir.store(ir.at(out, read(at)), ir.special('laneId'))] },
    ],
    ['where items wait for each other', { more: ({ s }) => [ir.atomic('add', ir.at(s, t), [i32(1)])] }],
  ])('%s', (_, form) => {
    const k = scatter(16, form);
    expect(isChosen(k, 16)).toBe(false);
    run(k, 16);
  });

  it('in blocks of several rows, and of few items', () => {
    const k = simplify(scatter(16), { block: [16, 1, 1] });
    expect(chooseItems(k, [16, 2, 1])).toBe(k);
    expect(chooseItems(k, [3, 1, 1])).toBe(k);
  });
});
