/**
 * Bits that are counted by hand: which become one operation, and that the number is the same.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { BinaryOp, Expr, Kernel, Stmt, Var } from '../ops.ts';
import { verify } from '../verify.ts';
import { countBits } from './bit-counts.ts';
import { eachExpr } from './walk.ts';

type Word = 'i32' | 'u32';
const SIZE = 64;

/** How bits are counted, and what is a little wrong. */
interface Way {
  readonly type: Word;
  /** The type of the product, to which sums are cast and from which they are cast back. */
  readonly product: Word;
  /** Masks and distances of shifts. */
  readonly numbers: readonly number[];
  readonly turned: boolean;
  /** Whether bytes have a variable of their own. */
  readonly apart: boolean;
  /** Whether pairs take the place of what they are counted of. */
  readonly inPlace?: boolean;
  /** Statements between the steps, by the number of the step in front of them. */
  readonly between?: (step: number, vars: readonly Var[]) => readonly Stmt[];
  readonly shift?: BinaryOp;
  readonly first?: (v: Expr, half: Expr) => Expr;
  /** What is shifted instead. */
  readonly shifted?: (step: number, e: Expr, vars: readonly Var[]) => Expr;
}

const NUMBERS = [1, 0x55555555, 0x33333333, 2, 4, 0x0f0f0f0f, 0x01010101, 24];
const PLAIN: Way = { type: 'u32', product: 'i32', numbers: NUMBERS, turned: false, apart: false };

function counting(way: Way): Kernel {
  const { type, product, turned, apart, between = () => [], first = ir.sub, shifted = (_, e) => e } = way;
  const b = new ir.KernelBuilder('counting');
  const [from, to] = [b.global(type, 'from'), b.global(type, 'to')];
  const t = ir.special('threadIdx.x');
  const vars = ['v', 'x', 'y', 'z'].map((name) => b.variable(type, name)) as [Var, Var, Var, Var];
  if (way.inPlace === true) vars[1] = vars[0];
  const [v, x, y, z] = vars.map((each) => ir.read(each)) as [Expr, Expr, Expr, Expr];
  const n = (k: number): Expr => ir.constant(type, way.numbers[k] as number);
  const shift = (e: Expr, by: Expr): Expr => ir.binary(way.shift ?? 'shr', e, by);
  const sum = (p: Expr, q: Expr): Expr => (turned ? ir.add(q, p) : ir.add(p, q));
  const bytes = ir.and(sum(y, shift(shifted(3, y, vars), n(4))), n(5));
  const whole = ir.cast(product, apart ? z : bytes);
  const times = ir.cast(type, ir.mul(whole, ir.constant(product, way.numbers[6] as number)));
  return b.build([
    ir.assign(vars[0], ir.load(ir.at(from, t))),
    ir.assign(vars[1], first(v, ir.and(shift(shifted(1, v, vars), n(0)), n(1)))),
    ...between(1, vars),
    ir.assign(vars[2], sum(ir.and(x, n(2)), ir.and(shift(shifted(2, x, vars), n(3)), n(2)))),
    ...between(2, vars),
    ...(apart ? [ir.assign(vars[3], bytes)] : []),
    ...between(3, vars),
    ir.store(ir.at(to, t), shift(times, n(7))),
  ]);
}

function counts(k: Kernel): number {
  let found = 0;
  const after = countBits(k);
  verify(after);
  eachExpr(after.body, (e) => {
    if (e.op === 'intrinsic') found++;
  });
  expect(run(after)).toEqual(run(k));
  return found;
}

/** The elements afterwards. */
function run(k: Kernel): readonly number[] {
  const memory = new Uint8Array(8 * SIZE);
  const edges = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 0x55555555, -0x55555556, 0x12345678];
  new Int32Array(memory.buffer, 0, SIZE).forEach((_, i, a) => {
    a[i] = edges[i] ?? Math.imul(i, 0x9e3779b1);
  });
  const { fault } = interpret(k, { grid: [1, 1, 1], block: [SIZE, 1, 1] }, [0, 4 * SIZE], memory);
  expect(fault).toBeUndefined();
  return [...new Uint32Array(memory.buffer, 4 * SIZE, SIZE)];
}

it('are counted by one operation, however they are written', () => {
  for (const type of ['i32', 'u32'] as const)
    for (const product of ['i32', 'u32'] as const)
      for (const turned of [false, true])
        for (const apart of [false, true]) expect(counts(counting({ ...PLAIN, type, product, turned, apart }))).toBe(1);
  expect(run(countBits(counting(PLAIN))).slice(0, 4)).toEqual([0, 1, 32, 31]);
});

describe('stay as they are', () => {
  it.each<[string, Partial<Way>]>([
    ...NUMBERS.map((value, k): [string, Partial<Way>] => [
      `with another number than ${value.toString(16)}`,
      { numbers: NUMBERS.with(k, k === 7 ? 25 : k % 3 === 0 ? value + 1 : value ^ 2) },
    ]),
    [
      'where fours are left out',
      { between: (step, [, x, y]) => (step === 2 ? [ir.assign(y as Var, ir.read(x as Var))] : []) },
    ],
    ['where shifts go up', { shift: 'shl' }],
    ['where pairs are added', { first: ir.add }],
    ['where pairs take the place of what they are counted of', { inPlace: true }],
    ['where the first shift is of something else', { shifted: (k, e, [, x]) => (k === 1 ? ir.read(x as Var) : e) }],
    ['where the second shift is of something else', { shifted: (k, e, [v]) => (k === 2 ? ir.read(v as Var) : e) }],
    ['where the third shift is of something else', { shifted: (k, e, [v]) => (k === 3 ? ir.read(v as Var) : e) }],
    ...[0, 1, 2].map((of): [string, Partial<Way>] => [
      `where ${['v', 'x', 'y'][of]} is something else by then`,
      {
        between: (step, vars) => {
          const x = vars[of] as Var;
          const change = ir.assign(x, ir.add(ir.read(x), ir.constant(x.type, 3)));
          return step !== Math.max(of, 1) ? [] : [ir.ifElse(ir.lt(ir.special('threadIdx.x'), ir.i32(9)), [change])];
        },
      },
    ]),
  ])('%s', (_, twist) => {
    for (const apart of [false, true]) expect(counts(counting({ ...PLAIN, apart, ...twist }))).toBe(0);
  });
});
