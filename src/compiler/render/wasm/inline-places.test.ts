/**
 * Variables of places that are so many elements apart: which are written out, and that stores through them are whole vectors.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { assignedIn } from '../../ir/passes/walk.ts';
import { verify } from '../../ir/verify.ts';
import { inlinePlaces } from './inline-places.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, i32, mul, read } = ir;
const t = ir.special('threadIdx.x');
const WIDTH = 16;

function kernel(body: (b: ir.KernelBuilder, v: (name: string) => Var) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('places');
  return b.build(body(b, (name) => b.variable('i32', name)));
}

function same(k: Kernel): void {
  verify(inlinePlaces(k));
  const image = new Uint8Array(16 * WIDTH * 4);
  image.set(new Uint8Array(Int32Array.from({ length: 4 * WIDTH }, (_, i) => 7 * i * i + 3).buffer));
  check(k, { block: [WIDTH, 1, 1] }, [0, 16 * WIDTH], image, [{ at: 0, elem: 'i32', length: 16 * WIDTH }]);
}

/** What of the kernel's variables is left. */
function left(k: Kernel): string[] {
  const ids = assignedIn(inlinePlaces(k).body);
  return k.vars.filter(({ id }) => ids.has(id)).map(({ name }) => name);
}

/** Stores to both elements of pairs, behind a variable each. */
const pairs = (
  from: (out: ReturnType<ir.KernelBuilder['global']>, x: ReturnType<ir.KernelBuilder['global']>) => typeof out,
): Kernel =>
  kernel((b, v) => {
    const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
    const s = b.shared('i32', 's', 2 * WIDTH + 2);
    const [first, second] = [v('first'), v('second')];
    const source = from(out, x);
    return [
      ir.assign(first, mul(t, i32(2))),
      ir.store(ir.at(s, read(first)), ir.load(ir.at(source, read(first)))),
      ir.assign(second, add(read(first), i32(1))),
      ir.store(ir.at(s, read(second)), ir.load(ir.at(source, read(second)))),
      ir.barrier(),
      ir.store(ir.at(out, read(first)), ir.load(ir.at(s, read(second)))),
      ir.store(ir.at(out, read(second)), ir.load(ir.at(s, read(first)))),
    ];
  });

it('are written out, so that neighbours are stored together', () => {
  const k = pairs((_, x) => x);
  expect(left(k)).toEqual([]);
  same(k);
  const { bytes } = runWasm(k, { block: [WIDTH, 1, 1] }, [0, 16 * WIDTH], new Uint8Array(32 * WIDTH)).module;
  // v128.store32_lane
  const lanes = [0xfd, 0x5a];
  expect(bytes.some((_, i) => lanes.every((byte, j) => bytes[i + j] === byte))).toBe(false);
});

it('hold in terms of other variables', () => {
  same(
    kernel((b, v) => {
      const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
      const [a, c, base] = [v('a'), v('c'), v('base')];
      return [
        ir.assign(base, mul(ir.special('blockIdx.x'), i32(3))),
        ir.assign(a, add(mul(t, i32(3)), read(base))),
        ir.assign(c, add(read(a), i32(2))),
        ir.store(ir.at(out, read(c)), ir.load(ir.at(x, read(a)))),
      ];
    }),
  );
});

/** A loop of two rounds of `i` with a place in it. */
const inRounds = (
  body: (k: {
    readonly v: (name: string) => Var;
    readonly i: Var;
    readonly a: Var;
    readonly use: (e: Expr) => Stmt;
  }) => readonly Stmt[],
  behind: (a: Var, use: (e: Expr) => Stmt) => readonly Stmt[] = () => [],
): Kernel =>
  kernel((b, v) => {
    const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
    const [i, a, label] = [v('i'), v('a'), b.label()];
    const use = (e: Expr): Stmt => ir.store(ir.at(out, e), add(ir.load(ir.at(x, e)), i32(5)));
    return [
      ir.assign(i, i32(0)),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(read(i), i32(2)), [ir.breakTo(label)]), ...body({ v, i, a, use })],
        [ir.assign(i, add(read(i), i32(1)))],
      ),
      ...behind(a, use),
    ];
  });
const own = (i: Var): Expr => add(mul(t, i32(2)), read(i));

it('are written out in a round, whose counter is the same for all', () => {
  const k = inRounds(({ i, a, use }) => [ir.assign(a, own(i)), use(read(a))]);
  expect(left(k)).toEqual(['i']);
  same(k);
});

it('stay where they change', () => {
  const twice = kernel((b, v) => {
    const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
    const place = v('place');
    return [
      ir.assign(place, mul(t, i32(2))),
      ir.ifElse(ir.eq(ir.load(ir.at(x, t)), i32(3)), [ir.assign(place, i32(1))]),
      ir.store(ir.at(out, t), ir.load(ir.at(x, read(place)))),
    ];
  });
  expect(left(twice)).toEqual(['place']);
  same(twice);
  const behind = inRounds(
    ({ i, a }) => [ir.assign(a, own(i))],
    (a, use) => [use(read(a))],
  );
  expect(left(behind)).toEqual(['i', 'a']);
  same(behind);
  const before = inRounds(({ i, a, use }) => [ir.ifElse(ir.ge(read(i), i32(1)), [use(read(a))]), ir.assign(a, own(i))]);
  expect(left(before)).toEqual(['i', 'a']);
  same(before);
  const changed = inRounds(({ v, i, a, use }) => {
    const j = v('j');
    return [
      ir.assign(j, ir.and(t, i32(3))),
      ir.assign(a, add(mul(t, i32(2)), read(j))),
      ir.assign(j, add(read(i), i32(1))),
      use(add(ir.and(read(a), i32(15)), mul(read(j), i32(0)))),
    ];
  });
  expect(left(changed)).toContain('a');
});

it('neighbours are stored one after the other where the second is what the first has changed', () => {
  const order = (source: (b: ir.KernelBuilder) => readonly [ReturnType<ir.KernelBuilder['global']>, Expr]): Kernel =>
    kernel((b) => {
      const [array, index] = source(b);
      if (array.space === 'shared') b.global('i32', 'x');
      const out = array.space === 'shared' ? array : b.global('i32', 'out');
      const two = mul(t, i32(2));
      const from = array.space === 'shared' ? array : out;
      return [
        ...(array.space === 'shared' ? [ir.store(ir.at(array, t), t), ir.barrier()] : []),
        ir.store(ir.at(out, two), add(t, i32(5))),
        ir.store(ir.at(out, add(two, i32(1))), ir.load(ir.at(from, index))),
        ...(array.space === 'shared'
          ? [ir.barrier(), ir.store(ir.at(b.global('i32', 'z'), t), ir.load(ir.at(array, t)))]
          : []),
      ];
    });
  same(order((b) => [b.shared('i32', 's', 4 * WIDTH), mul(t, i32(2))]));
  same(order((b) => [b.global('i32', 'x'), mul(t, i32(2))]));
  // The same memory under two names.
  const b = new ir.KernelBuilder('twins');
  const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
  const two = mul(t, i32(2));
  const twins = b.build([
    ir.store(ir.at(out, two), add(t, i32(5))),
    ir.store(ir.at(out, add(two, i32(1))), ir.load(ir.at(x, add(mul(t, i32(2)), i32(0))))),
  ]);
  check(twins, { block: [WIDTH, 1, 1] }, [0, 0], new Uint8Array(16 * WIDTH), [
    { at: 0, elem: 'i32', length: 4 * WIDTH },
  ]);
});
