/**
 * Which kernels are run with one lane because their loops do little but go here and there in memory.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Stmt, Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, i32, read } = ir;
const tid = ir.special('threadIdx.x');
const N = 64;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly k: Var;
  readonly sum: Var;
  readonly label: number;
  /** An array of 64 numbers. */
  readonly other: ArraySym;
  /** Element of an array of numbers below 64. */
  readonly at: (index: Expr) => Expr;
}

/** `for (k = from; k < end; k++) body` in blocks of 16, and whether that is done with one lane. */
function isScattered(end: (p: Parts) => Expr, body: (p: Parts) => readonly Stmt[], from = tid): boolean {
  const b = new ir.KernelBuilder('loop');
  const [x, out, other] = [b.global('i32', 'x'), b.global('i32', 'out'), b.global('i32', 'other')];
  const label = b.label();
  const p: Parts = {
    b,
    other,
    label,
    k: b.variable('i32', 'k'),
    sum: b.variable('i32', 'sum'),
    at: (index) => ir.load(ir.at(x, index)),
  };
  const kernel = b.build([
    ir.assign(p.k, from),
    ir.loop(
      label,
      [ir.ifElse(ir.ge(read(p.k), end(p)), [ir.breakTo(label)]), ...body(p)],
      [ir.assign(p.k, add(read(p.k), i32(1)))],
    ),
    ir.store(ir.at(out, tid), read(p.sum)),
  ]);
  const image = new Uint8Array(Int32Array.from({ length: 3 * N }, (_, i) => (i * 37) % N).buffer);
  check(kernel, { block: [16, 1, 1] }, [0, 4 * N, 8 * N], image, [{ at: 0, elem: 'i32', length: 3 * N }]);
  return runWasm(kernel, { block: [16, 1, 1] }, [0, 4 * N, 8 * N], image).module.lanes === 1;
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

it('are those whose lanes part only to leave, or to store here and there', () => {
  const found = (p: Parts): Expr => ir.eq(p.at(p.at(read(p.k))), i32(9));
  const note = (p: Parts): Stmt => ir.assign(p.sum, p.at(read(p.k)));
  expect(isScattered(own, (p) => [ir.ifElse(found(p), [note(p), ir.breakTo(p.label)])])).toBe(true);
  const inBlock = (p: Parts): Stmt => {
    const label = p.b.label();
    return ir.block(label, [ir.ifElse(found(p), [note(p), ir.breakTo(label)]), collect(p, i32(1))]);
  };
  expect(isScattered(own, (p) => [inBlock(p)])).toBe(false);
  const store = (p: Parts, at: Expr): Stmt => ir.store(ir.at(p.other, at), i32(3));
  const here = (p: Parts): Expr => p.at(read(p.k));
  expect(isScattered(own, (p) => [ir.ifElse(found(p), [store(p, here(p)), store(p, i32(0))])])).toBe(true);
  expect(isScattered(own, (p) => [ir.ifElse(found(p), [store(p, i32(0))])])).toBe(false);
  const much = (p: Parts): Stmt => {
    let e: Expr = here(p);
    for (let i = 0; i < 4; i++) e = ir.binary('xor', e, ir.i32(i + 1));
    return ir.assign(p.sum, e);
  };
  expect(isScattered(own, (p) => [much(p), ir.ifElse(found(p), [store(p, here(p)), store(p, i32(0))])])).toBe(true);
  expect(isScattered(own, (p) => [much(p), ir.ifElse(found(p), [store(p, here(p)), store(p, tid)])])).toBe(false);
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

/** A search with a stack: pops where `less`, pushes otherwise, and computes so much in between. */
function isSearch(work: number): boolean {
  return isScattered(own, (p) => {
    const stack = p.b.local('i32', 'stack', 16);
    const top = ir.at(stack, ir.binary('and', read(p.sum), i32(15)));
    let next: Expr = ir.load(top);
    for (let i = 0; i < work; i++) next = ir.binary('xor', next, ir.i32(i + 1));
    return [
      ir.store(top, p.at(p.at(read(p.k)))),
      ir.ifElse(ir.lt(ir.load(top), i32(40)), [collect(p, i32(-1))], [collect(p, i32(1)), ir.store(top, next)]),
    ];
  });
}

it('are searches that go to their stacks more than they compute', () => {
  expect(isSearch(1)).toBe(true);
  expect(isSearch(12)).toBe(false);
});

/** A loop of five rounds for all lanes, with products of 64 bits. */
function isGenerator(next: (state: Expr) => Expr, more: (p: Parts) => readonly Stmt[] = () => []): boolean {
  return isScattered(
    () => i32(5),
    (p) => [collect(p, ir.cast('i32', next(ir.cast('i64', ir.binary('xor', read(p.sum), tid))))), ...more(p)],
    i32(0),
  );
}

const step = (state: Expr): Expr => add(ir.mul(state, ir.i64(636413)), ir.i64(1442695));

it('are those that multiply long integers for all lanes alike', () => {
  expect(isGenerator(step)).toBe(true);
  expect(isGenerator((state) => ir.binary('xor', state, ir.binary('shl', state, ir.i64(3))))).toBe(false);
  const turns = (p: Parts): Stmt => {
    let e: Expr = read(p.sum);
    for (let i = 0; i < 8; i++) e = ir.binary('shr', e, read(p.sum));
    return collect(p, e);
  };
  expect(
    isGenerator(
      (state) => ir.binary('xor', state, ir.i64(3)),
      (p) => [turns(p)],
    ),
  ).toBe(false);
  const mix = (p: Parts, times: number): Stmt => {
    let e: Expr = read(p.sum);
    for (let i = 0; i < times; i++) e = ir.binary('xor', ir.mul(e, read(p.sum)), i32(i));
    return ir.assign(p.sum, e);
  };
  expect(isGenerator(step, (p) => [mix(p, 1)])).toBe(true);
  expect(isGenerator(step, (p) => [mix(p, 2)])).toBe(false);
  const turn = (p: Parts): Stmt => collect(p, ir.binary('shr', read(p.sum), ir.binary('and', read(p.sum), i32(7))));
  expect(isGenerator(step, (p) => [mix(p, 2), turn(p)])).toBe(true);
  expect(isGenerator(step, (p) => [collect(p, p.at(tid))])).toBe(false);
  expect(isGenerator(step, (p) => [ir.ifElse(ir.lt(read(p.sum), i32(9)), [collect(p, i32(2))])])).toBe(false);
});

it('are those whose heads ask for several things', () => {
  const asking = (p: Parts): readonly Stmt[] => {
    const on = p.b.variable('bool', 'on');
    const more = ir.ifElse(
      ir.ne(p.at(ir.binary('and', read(p.sum), i32(63))), i32(9)),
      [ir.assign(on, ir.ne(read(p.sum), i32(7)))],
      [ir.assign(on, ir.bool(false))],
    );
    return [more, ir.ifElse(read(on), [ir.assign(p.sum, p.at(p.at(read(p.k))))])];
  };
  const leaving = (p: Parts): readonly Stmt[] => asking(p).slice(0, 1);
  expect(isScattered(own, (p) => [...leaving(p), collect(p, p.at(p.at(read(p.k))))])).toBe(true);
  expect(isScattered(own, asking)).toBe(false);
});
