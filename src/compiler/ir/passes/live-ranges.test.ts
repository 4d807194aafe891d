/**
 * Variables that become several where their values have nothing to do with each other: which do, and that kernels then do the same.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { verify } from '../verify.ts';
import { splitRanges } from './live-ranges.ts';

const { add, assign, i32, ifElse, read } = ir;

/** A kernel over variables a and b, which stores what `use` is given one after another. */
function kernel(body: (k: { b: ir.KernelBuilder; x: Var; y: Var; use: (e: Expr) => Stmt }) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('ranges');
  const out = b.global('i32', 'out');
  const n = b.variable('i32', 'n');
  const use = (e: Expr): Stmt => ir.store(ir.at(out, ir.binary('and', add(read(n), e), i32(63))), e);
  const [x, y] = [b.variable('i32', 'x'), b.variable('i32', 'y')];
  return b.build([assign(n, i32(0)), assign(x, i32(1)), assign(y, i32(2)), ...body({ b, x, y, use })]);
}

/** How many variables there are more; the kernel does the same. */
function more(k: Kernel): number {
  const split = splitRanges(k);
  verify(split);
  const launch = { grid: [1, 1, 1], block: [4, 1, 1] } as const;
  const [before, after] = [new Uint8Array(256), new Uint8Array(256)];
  interpret(k, launch, [0], before);
  interpret(split, launch, [0], after);
  expect(after).toEqual(before);
  return split.vars.length - k.vars.length;
}

const odd = ir.eq(ir.and(ir.special('threadIdx.x'), i32(1)), i32(1));

describe('splitting', () => {
  it('gives each value that is over a variable', () => {
    const rounds = ({ x, use }: { x: Var; use: (e: Expr) => Stmt }): Stmt[] => [
      assign(x, i32(5)),
      assign(x, add(read(x), i32(1))),
      use(read(x)),
      assign(x, i32(7)),
      use(add(read(x), read(x))),
    ];
    expect(more(kernel(rounds))).toBe(2);
  });

  it('leaves kernels alone whose variables have one value', () => {
    const k = kernel(({ x, y, use }) => [use(add(read(x), read(y)))]);
    expect(splitRanges(k)).toBe(k);
  });

  it('reaches what is read below, and lists below have their own', () => {
    expect(
      more(
        kernel(({ x, use }) => [
          ifElse(odd, [use(read(x))], [use(add(read(x), i32(3)))]),
          assign(x, i32(9)),
          use(read(x)),
        ]),
      ),
    ).toBe(1);
    expect(
      more(kernel(({ x, use }) => [ifElse(odd, [assign(x, i32(3)), use(read(x)), assign(x, i32(9))]), use(read(x))])),
    ).toBe(1);
  });

  it('leaves alone what may be changed in between', () => {
    expect(
      more(kernel(({ x, use }) => [ifElse(odd, [assign(x, i32(3))]), use(read(x)), assign(x, i32(9)), use(read(x))])),
    ).toBe(0);
  });

  it('leaves alone what is read where a jump leads', () => {
    const leaving = ({ b, x, use }: { b: ir.KernelBuilder; x: Var; use: (e: Expr) => Stmt }): Stmt[] => {
      const label = b.label();
      return [
        ir.block(label, [assign(x, i32(11)), ifElse(odd, [ir.breakTo(label)]), assign(x, i32(12)), use(read(x))]),
        use(read(x)),
      ];
    };
    expect(more(kernel(leaving))).toBe(0);
  });

  it('does not mind jumps within a statement, nor values of other rounds', () => {
    const rounds = ({ b, x, y, use }: { b: ir.KernelBuilder; x: Var; y: Var; use: (e: Expr) => Stmt }): Stmt[] => {
      const label = b.label();
      return [
        ir.loop(
          label,
          [
            use(read(x)),
            assign(x, read(y)),
            ifElse(ir.ge(read(y), i32(9)), [ir.breakTo(label)]),
            use(read(x)),
            assign(x, add(read(y), i32(4))),
            use(read(x)),
            assign(x, add(read(y), i32(6))),
          ],
          [assign(y, add(read(y), i32(1)))],
        ),
        use(read(x)),
        assign(x, i32(40)),
        use(read(x)),
      ];
    };
    // The 1 that x begins with is read in the loop, which changes it.
    expect(more(kernel(rounds))).toBe(1);
  });
});
