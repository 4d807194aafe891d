/**
 * Ladders of prefix sums, maxima and the like: which are one pass over the elements, and that all do the same as before.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, BinaryOp, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { verify } from '../../ir/verify.ts';
import { check } from './launch.testing.ts';
import { recogniseLadders } from './prefix-ladders.ts';
import { Random } from './programs.testing.ts';

const { add, i32, ifElse, read, sub } = ir;
const t = ir.special('threadIdx.x');

type Elem = 'i32' | 'u32' | 'f32';

interface Form {
  readonly width: number;
  readonly elem: Elem;
  readonly fn: BinaryOp;
  readonly down: boolean;
  /** The element of the first thread. */
  readonly first: number;
  /** How a round is written. */
  readonly way: 'choose' | 'guard' | 'keep' | 'both' | 'other';
}

/** What changes something in a round, which is then none of those that are recognised. */
interface Twist {
  readonly from?: number;
  readonly to?: number;
  /** How far the partner is, beside the step. */
  readonly apart?: number;
  /** How far the guard is from where partners begin. */
  readonly off?: number;
  readonly none?: number;
  readonly length?: number;
  /** Leaves out a barrier of the round. */
  readonly without?: number;
  /** Which threads have a partner. */
  readonly has?: (step: Expr) => Expr;
  /** How far what is asked of a partner is from where it is. */
  readonly asked?: number;
  /** What the others store. */
  readonly lost?: number;
  readonly tail?: (parts: Parts) => readonly Stmt[];
  readonly value?: (sum: Expr) => Expr;
}

interface Parts {
  readonly s: ArraySym;
  readonly own: Expr;
  readonly step: Var;
  readonly other: Var;
  readonly mine: Var;
}

const NOTHING: Record<Elem, Partial<Record<BinaryOp, number>>> = {
  i32: { add: 0, mul: 1, and: -1, or: 0, xor: 0, max: -(2 ** 31), min: 2 ** 31 - 1 },
  u32: { add: 0, mul: 1, and: 2 ** 32 - 1, or: 0, xor: 0, max: 0, min: 2 ** 32 - 1 },
  f32: { add: 0, mul: 1, max: Number.NEGATIVE_INFINITY, min: Number.POSITIVE_INFINITY },
};

function ladder({ width, elem, fn, down, first, way }: Form, twist: Twist = {}): Kernel {
  const b = new ir.KernelBuilder('ladder');
  const [x, out] = [b.global(elem, 'x'), b.global(elem, 'out')];
  const { from = 1, to = width, apart = 0, off = 0, asked = 0, length = width + first, without } = twist;
  const s = b.shared(elem, 's', length);
  const [step, other, mine] = [b.variable('i32', 'step'), b.variable(elem, 'other'), b.variable(elem, 'mine')];
  const label = b.label();
  const own = add(t, i32(first));
  const far = add(read(step), i32(apart));
  const partner = add(down ? add(t, far) : sub(t, far), i32(first));
  const usual = down ? ir.lt(add(t, read(step)), i32(width - off)) : ir.ge(t, add(read(step), i32(off)));
  const has = twist.has?.(read(step)) ?? usual;
  const at = (index: Expr, beside = 0): Expr =>
    ir.load(ir.at(s, index, { checks: [{ index: add(index, i32(beside)), extent: i32(length), axis: 0 }] }));
  const put = (value: Expr): Stmt =>
    ir.store(ir.at(s, own, { checks: [{ index: own, extent: i32(length), axis: 0 }] }), value);
  const join = (a: Expr, c: Expr): Expr => (twist.value ?? ((e: Expr) => e))(ir.binary(fn, a, c));
  const none = ir.constant(elem, twist.none ?? NOTHING[elem][fn] ?? 0);
  const parts: Parts = { s, own, step, other, mine };
  const ways: Record<Form['way'], () => Stmt[]> = {
    choose: () => [
      ifElse(has, [ir.assign(other, at(partner, asked))], [ir.assign(other, none)]),
      ir.barrier(),
      put(join(at(own), read(other))),
      ir.barrier(),
    ],
    guard: () => [
      ifElse(has, [ir.assign(other, at(partner, asked))]),
      ir.barrier(),
      ifElse(
        has,
        [put(join(read(other), at(own)))],
        twist.lost === undefined ? [] : [put(ir.constant(elem, twist.lost))],
      ),
      ir.barrier(),
    ],
    keep: () => [
      ifElse(has, [ir.assign(mine, join(read(mine), at(partner)))]),
      ir.barrier(),
      put(read(mine)),
      ir.barrier(),
    ],
    both: () => [
      ir.assign(mine, at(own)),
      ifElse(ir.negate(has), [], [ir.assign(mine, join(at(partner), read(mine)))]),
      ir.barrier(),
      put(read(mine)),
      ir.barrier(),
    ],
    other: () => [
      ir.barrier(),
      ir.assign(other, at(own)),
      ifElse(ir.negate(has), [ir.assign(mine, read(other))], [ir.assign(mine, join(read(other), at(partner)))]),
      ir.barrier(),
      ifElse(has, [put(read(mine))], [put(read(other))]),
    ],
  };
  const round = ways[way]().filter(
    (s, k, list) => s.op !== 'barrier' || list.slice(0, k).filter((x) => x.op === 'barrier').length !== without,
  );
  const end = ir.ge(read(step), i32(to));
  return b.build(
    [
      ...(first > 0 ? [ir.store(ir.at(s, t), ir.constant(elem, 0)), ir.barrier()] : []),
      ir.assign(mine, ir.load(ir.at(x, t))),
      put(read(mine)),
      ir.barrier(),
      ir.assign(step, i32(from)),
      ir.loop(
        label,
        [ifElse(end, [ir.breakTo(label)]), ...round, ...(twist.tail?.(parts) ?? [])],
        [ir.assign(step, ir.mul(read(step), i32(2)))],
      ),
      ir.barrier(),
      ir.store(ir.at(out, t), at(own)),
      ...(way === 'keep' ? [ir.store(ir.at(out, add(t, i32(width))), read(mine))] : []),
      ir.store(ir.at(b.global('i32', 'steps'), t), read(step)),
    ],
    { checked: true },
  );
}

const found = (k: Kernel, width: number): number => {
  const { kernel, scans } = recogniseLadders(simplify(k, { block: [width, 1, 1] }), [width, 1, 1]);
  verify(kernel);
  return scans.size;
};

function image(r: Random, elem: Elem, length: number): Uint8Array {
  const numbers = Array.from({ length }, () =>
    elem === 'f32' ? r.pick([r.next() * 100, -r.next(), -0, 0, Number.NaN, 3]) : r.next() * 2 ** 32 - 2 ** 31,
  );
  const from = elem === 'f32' ? Float32Array.from(numbers) : Int32Array.from(numbers);
  const bytes = new Uint8Array(16 * length);
  bytes.set(new Uint8Array(from.buffer));
  return bytes;
}

function run(k: Kernel, width: number, elem: Elem, seed = 1): void {
  const bytes = image(new Random(seed), elem, width);
  check(k, { block: [width, 1, 1] }, [0, 4 * width, 12 * width], bytes, [
    { at: 4 * width, elem, length: 2 * width },
    { at: 12 * width, elem: 'i32', length: width },
  ]);
}

const WAYS = ['choose', 'guard', 'keep', 'both', 'other'] as const;
const PLAIN: Form = { width: 32, elem: 'i32', fn: 'max', down: false, first: 0, way: 'choose' };

it('are one pass, however they are written', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const r = new Random(seed);
    const elem = r.pick(['i32', 'u32', 'f32'] as const);
    const fn = r.pick(
      (elem === 'f32' ? ['max', 'min'] : ['add', 'mul', 'and', 'or', 'xor', 'max', 'min']) as BinaryOp[],
    );
    const width = r.pick([8, 16, 32, 32, 64, 128, 256, 9, 12, 22, 39, 100]);
    const form = { width, elem, fn, down: r.chance(0.4), first: r.pick([0, 0, 1, 5]), way: r.pick(WAYS) };
    const k = ladder(form);
    expect(found(k, width), JSON.stringify(form)).toBe(1);
    run(k, width, elem, seed);
  }
});

it('hold for as many rounds as reach all', () => {
  for (const to of [17, 32, 33, 64, 100]) {
    for (const way of WAYS) {
      const k = ladder({ ...PLAIN, way }, { to });
      expect(found(k, 32)).toBe(to >= 32 ? 1 : 0);
      run(k, 32, 'i32');
    }
  }
});

it('hold whatever tells threads with a partner', () => {
  const guards: ((step: Expr) => Expr)[] = [
    (step) => ir.compare('gt', t, sub(step, i32(1))),
    (step) => ir.compare('le', step, t),
    (step) => ir.not(ir.lt(t, step)),
    (step) => ir.ge(sub(t, step), i32(0)),
  ];
  for (const has of guards) {
    const k = ladder({ ...PLAIN, way: 'guard' }, { has });
    expect(found(k, 32)).toBe(1);
    run(k, 32, 'i32');
  }
});

describe('are none', () => {
  it.each<[string, Partial<Form>, Twist]>([
    ['where floats add up', { elem: 'f32', fn: 'add' }, {}],
    ['where floats are multiplied', { elem: 'f32', fn: 'mul' }, {}],
    ['where differences are taken', { fn: 'sub' }, {}],
    ['where rounds begin at 2', {}, { from: 2 }],
    ['where rounds do not reach all', {}, { to: 16 }],
    ['where partners are one further', { first: 4 }, { apart: 1 }],
    ['where one thread more has none', {}, { off: 1 }],
    ['where one thread less has none', { first: 4 }, { off: -1 }],
    ['where what is missing counts', {}, { none: 7 }],
    ['where what is missing of a product counts', { fn: 'mul' }, { none: 0 }],
    ['where checks may fail', {}, { length: 31 }],
    ['where more is done with what is stored', { way: 'keep' }, { value: (e) => add(e, i32(1)) }],
    [
      'where threads store what they read',
      {},
      { tail: ({ s, own, other }) => [ir.store(ir.at(s, own), read(other)), ir.barrier()] },
    ],
    ['where no barrier parts loads from stores', {}, { without: 0 }],
    ['where no barrier parts loads from stores behind another one', { way: 'other' }, { without: 1 }],
    ['where threads without a partner store something', { way: 'guard' }, { lost: 7 }],
    ['where checks ask for something else', { first: 4 }, { asked: 1 }],
    ['where threads have a partner from the next one on', { first: 4 }, { has: (step) => ir.compare('gt', t, step) }],
    ['where no barrier parts rounds', {}, { without: 1 }],
  ])('%s', (_, form, twist) => {
    for (const down of [false, true]) {
      const k = ladder({ ...PLAIN, down, ...form }, twist);
      expect(found(k, 32)).toBe(0);
      // What races does is anybody's guess.
      if (twist.without === undefined) run(k, 32, form.elem ?? 'i32');
    }
  });

  it('where what a thread keeps is not its element', () => {
    const k = ladder({ ...PLAIN, way: 'keep' });
    const before = k.body.findIndex((s) => s.op === 'assign' && s.var.name === 'step');
    const [mine] = k.vars.filter((v) => v.name === 'mine') as [Var];
    const body = [...k.body.slice(0, before), ir.assign(mine, i32(7)), ...k.body.slice(before)];
    expect(found({ ...k, body }, 32)).toBe(0);
    run({ ...k, body }, 32, 'i32');
  });

  it('in blocks of several rows, and where rows are short', () => {
    const k = simplify(ladder(PLAIN), { block: [32, 1, 1] });
    expect(recogniseLadders(k, [32, 1, 1]).scans.size).toBe(1);
    expect(recogniseLadders(k, [32, 2, 1]).scans.size).toBe(0);
    expect(recogniseLadders(k, [32, 1, 2]).scans.size).toBe(0);
  });
});

it('random rounds do the same', () => {
  let whole = 0;
  for (let seed = 1; seed <= 80; seed++) {
    const r = new Random(seed);
    const width = r.pick([16, 32, 44, 64]);
    const form = {
      ...PLAIN,
      width,
      fn: r.pick(['add', 'max', 'xor'] as BinaryOp[]),
      first: 4,
      down: r.chance(0.5),
      way: r.pick(WAYS),
    };
    const twist: Twist = {
      ...(r.chance(0.2) && { from: r.pick([2, 3]) }),
      ...(r.chance(0.3) && { to: r.pick([8, width - 1, width + 1, 2 * width]) }),
      ...(r.chance(0.2) && { apart: r.pick([1, -1]) }),
      ...(r.chance(0.2) && { off: r.pick([1, 2]) }),
      ...(r.chance(0.2) && { none: r.pick([0, 1, -5]) }),
      length: width + 8,
    };
    const k = ladder(form, twist);
    whole += found(k, width);
    run(k, width, 'i32', seed);
  }
  expect(whole).toBeGreaterThan(15);
  expect(whole).toBeLessThan(65);
});
