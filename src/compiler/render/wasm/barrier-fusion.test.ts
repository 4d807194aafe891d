/**
 * Barriers that an order of the items makes up for: which ones, and that nothing changes by it.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { eachStmt } from '../../ir/passes/walk.ts';
import { verify } from '../../ir/verify.ts';
import { fuseBarriers } from './barrier-fusion.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, mul, read } = ir;
const t = ir.special('threadIdx.x');
const WIDTH = 128;
const SIZE = 4 * WIDTH;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly s: ArraySym;
  readonly x: ArraySym;
  readonly step: Var;
  readonly other: Var;
  at(array: ArraySym, index: Expr): Expr;
}

/** Fills s from x, then `for (step = 1; step < 128; step *= 2) round`, and stores s. */
function kernel(
  round: (p: Parts) => readonly Stmt[],
  from = 1,
  next = (step: Expr): Expr => mul(step, i32(2)),
): Kernel {
  const b = new ir.KernelBuilder('scan');
  const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
  const s = b.shared('i32', 's', SIZE);
  const [step, other] = [b.variable('i32', 'step'), b.variable('i32', 'other')];
  const label = b.label();
  const p: Parts = { b, s, x, step, other, at: (array, index) => ir.load(ir.at(array, index)) };
  const fill = [0, 1, 2, 3].map((k) =>
    ir.store(ir.at(s, add(t, i32(k * WIDTH))), ir.load(ir.at(x, add(t, i32(k * WIDTH))))),
  );
  const end = from === 1 ? ir.ge(read(step), i32(WIDTH)) : ir.lt(read(step), i32(1));
  return b.build(
    [
      ...fill,
      ir.barrier(),
      ir.assign(step, i32(from)),
      ir.loop(label, [ir.ifElse(end, [ir.breakTo(label)]), ...round(p)], [ir.assign(step, next(read(step)))]),
      ...[0, 1, 2, 3].map((k) =>
        ir.store(ir.at(out, add(t, i32(k * WIDTH))), ir.load(ir.at(s, add(t, i32(k * WIDTH))))),
      ),
    ],
    { checked: true },
  );
}

const barriers = (k: Kernel): number => {
  let count = 0;
  eachStmt(k.body, (s) => {
    if (s.op === 'barrier') count++;
  });
  return count;
};

const fused = (k: Kernel, block: readonly [number, number, number] = [WIDTH, 1, 1]): number => {
  const after = fuseBarriers(k, block).kernel;
  verify(after);
  return barriers(k) - barriers(after);
};

const IMAGE = new Uint8Array(Int32Array.from({ length: 2 * SIZE }, (_, i) => (i * 2654435761) >> 9).buffer);
const run = (k: Kernel, widths: readonly number[] = [WIDTH, 100, 72, 4, 3]): void => {
  for (const width of widths)
    check(k, { block: [width, 1, 1] }, [0, 4 * SIZE], IMAGE, [{ at: 4 * SIZE, elem: 'i32', length: SIZE }]);
};

/** `other = index >= 0 ? s[index] : 7; barrier; s[t + to] = s[t + to] + 3 * other; barrier`. */
function scan(index: (p: Parts) => Expr, to = 0): (p: Parts) => readonly Stmt[] {
  return (p) => {
    const { s, other, at } = p;
    const own = add(t, i32(to));
    return [
      ir.assign(other, i32(7)),
      ir.ifElse(ir.ge(index(p), i32(0)), [ir.assign(other, at(s, index(p)))]),
      ir.barrier(),
      ir.store(ir.at(s, own), add(at(s, own), mul(read(other), i32(3)))),
      ir.barrier(),
    ];
  };
}

const below = ({ step }: Parts): Expr => ir.sub(t, read(step));
const above = ({ step }: Parts): Expr => add(t, read(step));

describe('barriers go', () => {
  it('where all is loaded below what is stored, or above', () => {
    const halves = (step: Expr): Expr => ir.binary('shr', step, i32(1));
    for (const k of [
      kernel(scan(below)),
      kernel(scan(above)),
      kernel(scan(above, WIDTH), 64, halves),
      kernel(scan(below, 3)),
    ]) {
      expect([0, 1]).toContain(fused(k));
      run(k);
    }
    expect(fused(kernel(scan(below)))).toBe(1);
    expect(fused(kernel(scan(above)))).toBe(1);
    expect(fused(kernel(scan(() => ir.sub(t, i32(3)))))).toBe(1);
  });

  it('where it is loaded from what nobody stores to', () => {
    const two = kernel((p) => {
      const [first, ...others] = scan(below)(p);
      const value = p.at(p.s, add(t, i32(0)));
      return [first as Stmt, ir.assign(p.other, add(read(p.other), value)), ...others];
    });
    expect(fused(two)).toBe(1);
    run(two);
  });
});

describe('barriers stay', () => {
  it.each([
    ['on both sides', scan(({ step }) => ir.binary('xor', t, read(step)))],
    ['anywhere', scan(({ at, x }) => ir.binary('and', at(x, t), i32(127)))],
    ['further on by more than all', scan(({ step }) => ir.sub(t, ir.sub(read(step), i32(20))))],
    ['in another order', scan(() => ir.sub(i32(WIDTH - 1), t))],
  ])('where it is loaded %s', (_, round) => {
    const k = kernel(round);
    expect(fused(k)).toBe(0);
    run(k);
  });

  it('in blocks of several rows, and where something else is stored ahead', () => {
    expect(fused(kernel(scan(below)), [32, 4, 1])).toBe(0);
    const stores = kernel((p) => [ir.store(ir.at(p.s, add(t, i32(300))), i32(1)), ...scan(below)(p)]);
    expect(fused(stores)).toBe(0);
  });

  it('where they are the last of their loop', () => {
    const one = kernel((p) => scan(below)(p).slice(0, -1));
    expect(fused(one)).toBe(0);
  });

  it('where items store apart from each other', () => {
    const apart = kernel(({ s, other, at }) => [
      ir.assign(other, at(s, t)),
      ir.barrier(),
      ir.store(ir.at(s, add(t, ir.binary('and', t, i32(1)))), read(other)),
      ir.barrier(),
    ]);
    expect(fused(apart)).toBe(0);
  });
});

it('random rounds do the same', () => {
  let gone = 0;
  for (let seed = 1; seed <= 24; seed++) {
    const r = new Random(seed);
    const down = r.chance(0.5);
    const k = kernel((p) => {
      const { s, step, other, at } = p;
      const by = (): Expr => r.pick([read(step), i32(0), i32(1), i32(5), i32(32), add(read(step), i32(1))]);
      const index = (): Expr => (down !== r.chance(0.1) ? ir.sub(t, by()) : add(t, by()));
      const loads = Array.from({ length: 1 + r.below(2) }, index);
      const guarded = r.chance(0.5);
      const own = add(t, i32(r.pick([0, 0, 0, 2])));
      const sum = add(at(s, own), mul(read(other), i32(3)));
      const store = ir.store(ir.at(s, own), r.chance(0.7) ? sum : read(other));
      return [
        ir.assign(other, t),
        ...loads.map((e) => ir.ifElse(ir.ge(e, i32(0)), [ir.assign(other, add(mul(read(other), i32(5)), at(s, e)))])),
        ir.barrier(),
        guarded ? ir.ifElse(ir.ge(t, read(step)), [store]) : store,
        ir.barrier(),
      ];
    });
    gone += fused(k);
    run(k, [WIDTH, 44]);
  }
  expect(gone).toBeGreaterThan(8);
});
