/**
 * Which kernels are run with one lane because their loops do little but go here and there in memory.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Stmt, Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, i32, read } = ir;
const tid = ir.special('threadIdx.x');
const N = 64;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly k: Var;
  readonly sum: Var;
  /** Element of an array of numbers below 64. */
  readonly at: (index: Expr) => Expr;
}

/** `for (k = threadIdx.x; k < end; k++) body` in blocks of 16, and whether that is done with one lane. */
function isScattered(end: (p: Parts) => Expr, body: (p: Parts) => readonly Stmt[]): boolean {
  const b = new ir.KernelBuilder('loop');
  const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
  const p: Parts = {
    b,
    k: b.variable('i32', 'k'),
    sum: b.variable('i32', 'sum'),
    at: (index) => ir.load(ir.at(x, index)),
  };
  const label = b.label();
  const kernel = b.build([
    ir.assign(p.k, tid),
    ir.loop(
      label,
      [ir.ifElse(ir.ge(read(p.k), end(p)), [ir.breakTo(label)]), ...body(p)],
      [ir.assign(p.k, add(read(p.k), i32(1)))],
    ),
    ir.store(ir.at(out, tid), read(p.sum)),
  ]);
  const image = new Uint8Array(Int32Array.from({ length: 2 * N }, (_, i) => (i * 37) % N).buffer);
  check(kernel, { block: [16, 1, 1] }, [0, 4 * N], image, [{ at: 0, elem: 'i32', length: 2 * N }]);
  return runWasm(kernel, { block: [16, 1, 1] }, [0, 4 * N], image).module.lanes === 1;
}

const own = ({ at }: Parts): Expr => at(tid);
const collect = ({ sum }: Parts, e: Expr): Stmt => ir.assign(sum, add(read(sum), e));

it('are those that lanes leave one by one, and that load from anywhere', () => {
  expect(isScattered(own, (p) => [collect(p, p.at(p.at(read(p.k))))])).toBe(true);
  const chase = ({ sum, at }: Parts): Stmt => ir.assign(sum, ir.binary('and', ir.mul(at(read(sum)), i32(5)), i32(63)));
  expect(isScattered(own, (p) => [chase(p)])).toBe(true);
});

it('are none that all lanes leave together, or whose lanes load in a row', () => {
  expect(
    isScattered(
      () => add(tid, i32(5)),
      (p) => [collect(p, read(p.k))],
    ),
  ).toBe(false);
  expect(isScattered(own, (p) => [collect(p, read(p.k))])).toBe(false);
  expect(isScattered(own, (p) => [collect(p, p.at(ir.sub(i32(60), tid)))])).toBe(false);
});

it('are none that compute much, or whose lanes take different ways', () => {
  const much = (p: Parts): Expr => {
    let e: Expr = p.at(p.at(read(p.k)));
    for (let i = 0; i < 16; i++) e = ir.binary('xor', ir.mul(e, read(p.k)), i32(i));
    return e;
  };
  expect(isScattered(own, (p) => [collect(p, much(p))])).toBe(false);
  expect(isScattered(own, (p) => [ir.ifElse(ir.lt(p.at(p.at(read(p.k))), i32(9)), [collect(p, i32(2))])])).toBe(false);
});

it('are those that compute with integers of 64 bits for as long as each lane takes', () => {
  const long = ({ k }: Parts): Expr => {
    const x = ir.cast('i64', read(k));
    return ir.cast('i32', ir.binary('xor', ir.mul(add(x, ir.i64(7)), ir.i64(3)), ir.mul(x, x)));
  };
  expect(isScattered(own, (p) => [collect(p, long(p))])).toBe(true);
});
