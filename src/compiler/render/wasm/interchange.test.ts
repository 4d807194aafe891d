/**
 * Loops run round by round over whole rows: which ones, and that they then do the same.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { interchange } from '../../ir/passes/interchange.ts';
import { printKernel } from '../../ir/print.ts';
import { verify } from '../../ir/verify.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const t = ir.special('threadIdx.x');
const ROUNDS = 5;
const WIDTH = 128;

interface Parts {
  readonly b: ir.KernelBuilder;
  /** i32, a row for each round, and one more. */
  readonly x: ArraySym;
  readonly bins: ArraySym;
  readonly k: Var;
  /** `k * WIDTH + threadIdx.x`. */
  readonly along: Expr;
}

/** `for (k = 0; k < rounds; k++) body`, between a line that sets shared bins and one that stores them. */
function kernel(
  body: (p: Parts) => readonly Stmt[],
  {
    rounds = ir.i32(ROUNDS),
    around = (s) => s,
  }: { rounds?: Expr; around?: (s: readonly Stmt[], p: Parts) => readonly Stmt[] } = {},
): Kernel {
  const b = new ir.KernelBuilder('rounds');
  const x = b.global('i32', 'x');
  const bins = b.shared('i32', 'bins', WIDTH);
  const k = b.variable('i32', 'k');
  const label = b.label();
  const along = ir.add(ir.mul(ir.read(k), ir.i32(WIDTH)), t);
  const parts: Parts = { b, x, bins, k, along };
  const rows = ir.loop(
    label,
    [ir.ifElse(ir.ge(ir.read(k), rounds), [ir.breakTo(label)]), ...body(parts)],
    [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
  );
  const lines = around([ir.assign(k, ir.i32(0)), rows], parts);
  const last = ir.store(
    ir.at(x, ir.add(ir.i32(ROUNDS * WIDTH), t)),
    ir.add(ir.load(ir.at(x, ir.add(ir.i32(ROUNDS * WIDTH), t))), ir.load(ir.at(bins, t))),
  );
  return b.build([ir.store(ir.at(bins, t), t), ir.barrier(), ...lines, ir.barrier(), last], { checked: true });
}

const turned = (k: Kernel): boolean => {
  const after = interchange(k, { block: [WIDTH, 1, 1], lanes: 4 });
  verify(after);
  return after !== k && printKernel(after) !== printKernel(k);
};

const count = ({ bins, x, along }: Parts): Stmt =>
  ir.atomic('add', ir.at(bins, ir.and(ir.load(ir.at(x, along)), ir.i32(WIDTH - 1))), [ir.i32(1)]);

describe('rounds over rows', () => {
  it('are for all items together: counting, copying, under a guard', () => {
    expect(turned(kernel((p) => [count(p)]))).toBe(true);
    expect(turned(kernel((p) => [ir.ifElse(ir.lt(p.along, ir.i32(500)), [count(p)])]))).toBe(true);
    expect(turned(kernel((p) => [ir.store(ir.at(p.x, p.along), ir.mul(p.along, ir.i32(3)))]))).toBe(true);
  });

  it('stay within an item that keeps something from one to the next', () => {
    const sum = kernel((p) => {
      const s = p.b.variable('i32', 'sum');
      return [ir.assign(s, ir.add(ir.read(s), ir.load(ir.at(p.x, p.along)))), ir.store(ir.at(p.bins, t), ir.read(s))];
    });
    expect(turned(sum)).toBe(false);
    const last = kernel((p) => [ir.assign(p.b.variable('i32', 'last'), ir.load(ir.at(p.x, p.along)))], {
      around: (s, p) => [...s, ir.store(ir.at(p.bins, t), ir.read(p.b.vars.find((v) => v.name === 'last') ?? p.k))],
    });
    expect(turned(last)).toBe(false);
  });

  it('stay where items make different ones, or not all of them any', () => {
    expect(turned(kernel((p) => [count(p)], { rounds: ir.and(t, ir.i32(3)) }))).toBe(false);
    expect(turned(kernel((p) => [count(p)], { around: (s) => [ir.ifElse(ir.lt(t, ir.i32(9)), s)] }))).toBe(false);
    const leaves = kernel((p) => {
      const label = p.b.label();
      return [ir.block(label, [ir.ifElse(ir.lt(t, ir.i32(9)), [ir.breakTo(label)]), count(p)])];
    });
    expect(turned(leaves)).toBe(false);
  });

  it('stay where memory is read across rows, or not at all', () => {
    const across = ({ x, k }: Parts): Expr => ir.load(ir.at(x, ir.add(ir.mul(t, ir.i32(ROUNDS)), ir.read(k))));
    expect(turned(kernel((p) => [ir.store(ir.at(p.bins, t), across(p))]))).toBe(false);
    expect(turned(kernel((p) => [ir.store(ir.at(p.bins, t), ir.read(p.k))]))).toBe(false);
  });

  it('stay where an order shows: prints, and what atomics found', () => {
    expect(turned(kernel((p) => [count(p), ir.print([p.along])]))).toBe(false);
    const found = kernel((p) => {
      const old = p.b.variable('i32', 'old');
      return [ir.atomic('add', ir.at(p.bins, ir.i32(0)), [ir.load(ir.at(p.x, p.along))], old)];
    });
    expect(turned(found)).toBe(false);
  });
});

/** A loop over rows whose body reads and writes its own elements, its own bin, and adds to any. */
function random(seed: number): Kernel {
  const r = new Random(seed);
  return kernel((p) => {
    const { b, x, bins, k, along } = p;
    const own = b.variable('i32', 'own');
    const value = (depth: number): Expr => {
      if (depth > 0) return ir.binary(r.pick(['add', 'sub', 'mul', 'xor']), value(depth - 1), value(depth - 1));
      return r.pick([t, ir.read(k), ir.i32(r.below(9)), ir.load(ir.at(x, along)), ir.read(own)]);
    };
    const statement = (): Stmt => {
      const which = r.below(4);
      if (which === 0) return ir.store(ir.at(x, along), value(2));
      if (which === 1) return ir.assign(own, value(2));
      if (which === 2) return ir.atomic('add', ir.at(bins, ir.and(value(1), ir.i32(WIDTH - 1))), [value(1)]);
      return ir.ifElse(ir.lt(value(1), value(1)), [ir.store(ir.at(x, along), value(1))]);
    };
    const body = [ir.assign(own, value(0)), ...Array.from({ length: 1 + r.below(4) }, statement)];
    return r.chance(0.5) ? body : [ir.ifElse(ir.lt(along, ir.i32(r.below(ROUNDS * WIDTH))), body)];
  });
}

describe('what they do', () => {
  const words = (ROUNDS + 1) * WIDTH;
  it.each([WIDTH, 100, 72])('is the same in blocks of %d', (width) => {
    const image = new Uint8Array(Int32Array.from({ length: words }, (_, i) => (i * 2654435761) >> 7).buffer);
    let rounds = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const k = random(seed);
      if (turned(k)) rounds++;
      check(k, { block: [width, 1, 1] }, [0], image, [{ at: 0, elem: 'i32', length: words }]);
    }
    expect(rounds).toBeGreaterThan(30);
  });
});
