/**
 * Stages of transforms that are written out: which loops are such stages, and that copies do what the rounds do.
 */
import { expect, it } from 'vitest';
import * as ir from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { verify } from '../verify.ts';
import { simplify } from './simplify.ts';
import { unroll } from './unroll.ts';
import { someStmt } from './walk.ts';

const { add, i32, mul, read } = ir;
const t = ir.special('threadIdx.x');
const WIDTH = 16;
const BLOCK = [WIDTH, 1, 1] as const;

interface Parts {
  /** Counts the rounds, and is doubled along with that. */
  readonly d: Var;
  readonly offset: Var;
  /** Takes in an element that is so far on, all threads at once. */
  readonly take: (from: Expr) => readonly Stmt[];
}

/** `for (d = 1; d < 16; d <<= 1) { barrier; …; offset *= 2; }` */
function kernel(round: (p: Parts) => readonly Stmt[], step = (d: Expr): Expr => ir.binary('shl', d, i32(1))): Kernel {
  const b = new ir.KernelBuilder('stages');
  const [x, s] = [b.global('i32', 'x'), b.shared('i32', 's', 2 * WIDTH * WIDTH)];
  const [d, offset, other] = [b.variable('i32', 'd'), b.variable('i32', 'offset'), b.variable('i32', 'other')];
  const label = b.label();
  const take = (from: Expr): readonly Stmt[] => [
    ir.assign(other, ir.load(ir.at(s, from))),
    ir.barrier(),
    ir.store(ir.at(s, t), add(ir.load(ir.at(s, t)), read(other))),
  ];
  return b.build([
    ir.store(ir.at(s, t), ir.load(ir.at(x, t))),
    ir.store(ir.at(s, add(t, i32(WIDTH))), t),
    ir.assign(offset, i32(1)),
    ir.assign(d, i32(1)),
    ir.loop(
      label,
      [
        ir.ifElse(ir.ge(read(d), i32(WIDTH)), [ir.breakTo(label)]),
        ir.barrier(),
        ...round({ d, offset, take }),
        ir.assign(offset, mul(read(offset), i32(2))),
      ],
      [ir.assign(d, step(read(d)))],
    ),
    ir.barrier(),
    ir.store(ir.at(x, t), add(ir.load(ir.at(s, t)), read(offset))),
  ]);
}

/** Whether the rounds are written out; in any case they do the same. */
function isWritten(k: Kernel): boolean {
  const simple = simplify(k, { block: BLOCK });
  const unrolled = simplify(unroll(simple), { block: BLOCK });
  verify(unrolled);
  const run = (of: Kernel): Uint8Array => {
    const memory = new Uint8Array(Int32Array.from({ length: WIDTH }, (_, i) => i * i + 1).buffer);
    interpret(of, { grid: [1, 1, 1], block: BLOCK }, [0], memory);
    return memory;
  };
  expect(run(unrolled)).toEqual(run(simple));
  return !someStmt(unrolled.body, (s) => s.op === 'loop');
}

it('are loops whose counter is a stride', () => {
  const low = (d: Var): Expr => ir.binary('and', t, ir.sub(read(d), i32(1)));
  expect(isWritten(kernel(({ d, take }) => take(add(mul(t, i32(2)), low(d)))))).toBe(true);
  expect(isWritten(kernel(({ d, take }) => take(mul(read(d), add(t, i32(1))))))).toBe(true);
});

it('are loops with another variable as a stride, which is doubled with the counter', () => {
  expect(isWritten(kernel(({ offset, take }) => take(mul(read(offset), add(t, i32(1))))))).toBe(true);
});

it('are none whose elements are only so far on, or are there in each round', () => {
  expect(isWritten(kernel(({ d, take }) => take(add(t, read(d)))))).toBe(false);
  expect(isWritten(kernel(({ offset, take }) => take(add(t, read(offset)))))).toBe(false);
  expect(isWritten(kernel(({ take }) => take(mul(t, i32(3)))))).toBe(false);
});

it('are none whose counter goes up by as much each time', () => {
  const k = kernel(
    ({ offset, take }) => take(mul(read(offset), add(t, i32(1)))),
    (d) => add(d, i32(2)),
  );
  expect(isWritten(k)).toBe(false);
});
