/**
 * Prefix sums and the like of a block, written in several ways: which are one pass over the elements, and that all do the same as before.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { BinaryOp, Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { verify } from '../../ir/verify.ts';
import { type Elem, elementsOf, type Form, PLAIN, run, scan, type Twist } from './block-scans.testing.ts';
import { recogniseBlockScans } from './block-scans.ts';
import { Random } from './programs.testing.ts';

const { add, i32, ifElse, mul, read, sub } = ir;
const t = ir.special('threadIdx.x');

/** By Hillis and Steele with two buffers in turns, of which the second begins `apart` elements behind the first. */
function inTurns(
  width: number,
  { apart = width, rounds = Math.log2(width), elem = 'i32' as Elem, reads = 0, down = false } = {},
): Kernel {
  const b = new ir.KernelBuilder('turns');
  const [x, out] = [b.global(elem, 'x'), b.global(elem, 'out')];
  b.global(elem, 'also');
  const s = b.shared(elem, 's', 2 * Math.max(width, apart));
  const [d, into, from, label] = [
    b.variable('i32', 'd'),
    b.variable('i32', 'into'),
    b.variable('i32', 'from'),
    b.label(),
  ];
  const at = (buffer: Expr, e: Expr): ReturnType<typeof ir.at> => ir.at(s, add(mul(buffer, i32(apart)), e));
  return b.build([
    ir.store(ir.at(s, t), ir.load(ir.at(x, t))),
    ir.barrier(),
    ir.assign(into, i32(0)),
    ir.assign(d, i32(1)),
    ir.loop(
      label,
      [
        ifElse(ir.ge(read(d), i32(2 ** rounds)), [ir.breakTo(label)]),
        ir.assign(into, sub(i32(1), read(into))),
        ir.assign(from, sub(i32(1), read(into))),
        ifElse(
          down ? ir.lt(add(t, read(d)), i32(width)) : ir.ge(t, read(d)),
          [
            ir.store(
              at(read(into), t),
              add(ir.load(at(read(from), t)), ir.load(at(read(from), down ? add(t, read(d)) : sub(t, read(d))))),
            ),
          ],
          [ir.store(at(read(into), t), ir.load(at(read(from), t)))],
        ),
        ir.barrier(),
      ],
      [ir.assign(d, mul(read(d), i32(2)))],
    ),
    ir.store(ir.at(out, t), ir.load(at(add(read(into), i32(reads)), t))),
  ]);
}

function found(k: Kernel, width: number): number {
  const { kernel, scans } = recogniseBlockScans(simplify(k, { block: [width, 1, 1] }), [width, 1, 1]);
  verify(kernel);
  return scans.size;
}

const WAYS = ['blelloch', 'brent', 'sklansky', 'hillis'] as const;
function randomForm(r: Random): Form {
  const elem = r.pick(['i32', 'i32', 'u32', 'f32'] as const);
  const integers: BinaryOp[] = ['add', 'add', 'mul', 'and', 'or', 'xor', 'max', 'min'];
  return {
    width: r.pick([8, 16, 32, 64, 128]),
    elem,
    fn: r.pick(elem === 'f32' ? ['max', 'min'] : integers),
    way: r.pick(WAYS),
    down: r.chance(0.3),
    first: r.pick([0, 0, 1, 5]),
    pad: r.pick([0, 0, 2, 4, 8, 16]),
    more: r.pick(['nothing', 'total', 'all', 'own'] as const),
  };
}

describe('are one pass', () => {
  it.each(WAYS)('by %s', (way) => {
    for (const width of [8, 32, 256]) {
      const k = scan({ ...PLAIN, way, width });
      expect(found(k, width)).toBe(1);
      run(k, width, 'i32');
    }
  });

  it('however they are written', () => {
    for (let seed = 1; seed <= 90; seed++) {
      const r = new Random(seed);
      const form = randomForm(r);
      const k = scan(form);
      expect(found(k, form.width), JSON.stringify(form)).toBe(1);
      run(k, form.width, form.elem, seed);
    }
  });

  it('with one more element for all together', () => {
    for (const fn of ['add', 'max'] as const) {
      for (const width of [8, 32]) {
        const k = scan(
          { ...PLAIN, width, fn },
          {
            beyond: true,
            length: 2 * width + 1,
            tail: (at, put) => [ir.barrier(), ifElse(ir.eq(t, i32(0)), [put(i32(0), at(i32(2 * width)))])],
          },
        );
        expect(found(k, width)).toBe(1);
        run(k, width, 'i32');
      }
    }
  });

  it('with two buffers in turns', () => {
    for (const width of [8, 16, 32, 64]) {
      const k = inTurns(width);
      expect(found(k, width)).toBe(1);
      run(k, width, 'i32');
      for (const down of [false, true]) {
        const uneven = inTurns(width, { apart: width + 3, down });
        expect(found(uneven, width)).toBe(1);
        run(uneven, width, 'i32');
      }
    }
    for (const [twist, count] of [
      [{ elem: 'f32' as Elem }, 0],
      [{ rounds: 3 }, 0],
      // The other buffer holds what the last round but one made.
      [{ reads: -1 }, 0],
    ] as const) {
      const k = inTurns(32, twist);
      expect(found(k, 32)).toBe(count);
      run(k, 32, twist.elem ?? 'i32');
    }
  });

  it('of as many elements as a parameter says, and of others', () => {
    for (const way of ['blelloch', 'hillis'] as const) {
      for (const more of ['nothing', 'total'] as const) {
        const k = scan({ ...PLAIN, way, more }, { sized: true });
        expect(found(k, 16)).toBe(1);
        for (const n of [32, 16, 8, 2, 1]) if (way === 'blelloch' || n <= 16) run(k, 16, 'i32', n, [n]);
      }
    }
  });

  it('more than once, and with something else behind', () => {
    const one = scan({ ...PLAIN, way: 'hillis' });
    const [from, to] = [
      one.body.findIndex((s) => s.op === 'assign'),
      one.body.findLastIndex((s) => s.op === 'barrier'),
    ];
    const work = one.body.slice(from, to);
    // Labels are their loops' own.
    const labels = new Map<number, number>();
    const renamed = (list: readonly Stmt[]): readonly Stmt[] =>
      list.map((s): Stmt => {
        if (s.op === 'loop') {
          labels.set(s.label, 100 + s.label);
          return { ...s, label: 100 + s.label, body: renamed(s.body), update: renamed(s.update) };
        }
        if (s.op === 'if') return { ...s, then: renamed(s.then) };
        return s.op === 'break' ? { ...s, label: labels.get(s.label) ?? s.label } : { ...s };
      });
    const k = { ...one, body: [...one.body.slice(0, to), ir.barrier(), ...renamed(work), ...one.body.slice(to)] };
    verify(k);
    expect(found(k, 16)).toBe(2);
    run(k, 16, 'i32');
    const tailed = scan(PLAIN, {
      tail: (at, put) => [ir.barrier(), ifElse(ir.eq(t, i32(3)), [put(i32(3), at(i32(4)))])],
    });
    expect(found(tailed, 16)).toBe(1);
    run(tailed, 16, 'i32');
  });
});

describe('are none', () => {
  it.each<[string, Partial<Form>, Twist]>([
    ['where floats add up, by Sklansky', { elem: 'f32', way: 'sklansky' }, {}],
    ['where floats add up, by Hillis and Steele', { elem: 'f32', way: 'hillis' }, {}],
    ['where differences are taken', { fn: 'sub' }, {}],
    ['where the root is not what counts for nothing', {}, { root: 7 }],
    ['where the root of a product is 0', { fn: 'mul' }, { root: 0 }],
    ['where the last rounds are left out', {}, { short: 2 }],
    ['where the last rounds are left out, by Sklansky', { way: 'sklansky' }, { short: 1 }],
    ['where the last rounds are left out, by Hillis and Steele', { way: 'hillis' }, { short: 1 }],
    ['where a thread too few takes part', { first: 4 }, { off: -1 }],
    ['where others are taken in', { first: 4 }, { apart: 1 }],
    ['where others are taken in, by Sklansky', { first: 4, way: 'sklansky' }, { apart: 1 }],
    ['where checks fail', {}, { length: 31 }],
    ['where more is done with what is stored', {}, { value: (e) => add(e, i32(1)) }],
    [
      'where an element is something else in the end',
      {},
      { tail: (_, put) => [ifElse(ir.eq(t, i32(3)), [put(i32(6), i32(5))])] },
    ],
    [
      'where the last round does something else',
      { way: 'sklansky' },
      {
        short: 1,
        tail: (at, put) => [ir.barrier(), put(add(t, i32(16)), ir.binary('max', at(add(t, i32(16))), at(i32(15))))],
      },
    ],
    [
      'where the first element is something else in the end',
      {},
      { tail: (_, put) => [ifElse(ir.eq(t, i32(0)), [put(i32(0), i32(5))])] },
    ],
    [
      'where elements change places in the end',
      {},
      {
        tail: (at, put) => [ifElse(ir.eq(t, i32(3)), [put(i32(6), at(i32(7)))])],
      },
    ],
  ])('%s', (_, form, twist) => {
    const k = scan({ ...PLAIN, ...form }, twist);
    expect(found(k, 16)).toBe(0);
    // Who takes in others races with them.
    if (twist.apart === undefined) run(k, 16, form.elem ?? 'i32');
  });

  it.each([0, 1, 2])('where no barrier parts rounds: %i', (without) => {
    // What races does is anybody's guess.
    for (const way of ['blelloch', 'sklansky', 'hillis'] as const) {
      if (way === 'sklansky' && without > 0) continue;
      const first = way === 'hillis' ? without : without;
      const k = scan({ ...PLAIN, way }, { without: first });
      if (way === 'hillis' && without === 2) continue;
      expect(found(k, 16), `${way} ${without}`).toBe(way === 'blelloch' && without === 2 ? 1 : 0);
    }
  });

  it('in blocks of several rows', () => {
    const k = simplify(scan(PLAIN), { block: [16, 1, 1] });
    expect(recogniseBlockScans(k, [16, 1, 1]).scans.size).toBe(1);
    expect(recogniseBlockScans(k, [16, 2, 1]).scans.size).toBe(0);
    expect(recogniseBlockScans(k, [16, 1, 2]).scans.size).toBe(0);
  });
});

it('random ones do the same', () => {
  let whole = 0;
  for (let seed = 1; seed <= 120; seed++) {
    const r = new Random(1000 + seed);
    const form = { ...randomForm(r), width: r.pick([8, 16, 32]), first: 4 };
    const n = elementsOf(form);
    const twist: Twist = {
      ...(r.chance(0.2) && { short: r.pick([1, 2]) }),
      ...(r.chance(0.2) && { off: r.pick([-1, -2]) }),
      ...(r.chance(0.2) && { apart: r.pick([1, -1]) }),
      ...(r.chance(0.2) && { root: r.pick([0, 1, 3]) }),
      length: n + 8 + (form.pad > 0 ? Math.ceil(n / form.pad) : 0),
    };
    const k = scan(form, twist);
    whole += found(k, form.width);
    // What races does is anybody's guess.
    const races = twist.apart !== undefined || (twist.short !== undefined && form.way === 'blelloch');
    if (!races) run(k, form.width, form.elem, seed);
  }
  expect(whole).toBeGreaterThan(25);
  expect(whole).toBeLessThan(100);
});
