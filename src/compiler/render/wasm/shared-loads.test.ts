/**
 * Loads that neighbouring statements repeat: made once where nothing has changed, and again where something has.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Stmt, Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, read } = ir;
const tid = ir.special('threadIdx.x');
const BLOCK = [16, 1, 1] as const;

interface Parts {
  readonly x: ArraySym;
  readonly k: Var;
  readonly a: Var;
  readonly b: Var;
  /** `x[k & 15]` */
  readonly load: () => Expr;
}

/** How many lanes the body loads one by one; its variables are stored at the end. */
function laneLoads(body: (p: Parts) => readonly Stmt[]): number {
  const builder = new ir.KernelBuilder('loads');
  const x = builder.global('i32', 'x');
  const [k, a, b] = [builder.variable('i32', 'k'), builder.variable('i32', 'a'), builder.variable('i32', 'b')] as const;
  const load = (): Expr => ir.load(ir.at(x, ir.and(read(k), i32(15))));
  const kernel = builder.build([
    ir.assign(k, ir.load(ir.at(x, tid))),
    ...body({ x, k, a, b, load }),
    ...[k, a, b].map((v, i) => ir.store(ir.at(x, add(tid, i32(16 * (i + 2)))), read(v))),
  ]);
  const image = new Uint8Array(Int32Array.from({ length: 96 }, (_, i) => (i * 37) % 61).buffer);
  check(kernel, { block: BLOCK }, [0], image, [{ at: 0, elem: 'i32', length: 96 }]);
  const { bytes } = renderWasm(kernel, { block: BLOCK, lanes: 4, concurrent: false, memory64: false });
  return bytes.filter((byte, i) => byte === 0xfd && bytes[i + 1] === 0x56).length;
}

const once = laneLoads(({ a, load }) => [ir.assign(a, load())]);
const two = ({ a, b, load }: Parts): [Stmt, Stmt] => [
  ir.assign(a, add(load(), i32(1))),
  ir.assign(b, ir.mul(load(), read(a))),
];

it('are made once', () => {
  expect(once).toBeGreaterThan(0);
  expect(laneLoads(two)).toBe(once);
  expect(laneLoads((p) => [...two(p), ir.store(ir.at(p.x, add(tid, i32(16))), p.load())])).toBe(once);
});

it('are made again after a store, or when the index has changed', () => {
  const between = (change: (p: Parts) => Stmt) =>
    laneLoads((p) => {
      const [first, second] = two(p);
      return [first, change(p), second];
    });
  expect(between(({ x, load }) => ir.store(ir.at(x, add(tid, i32(80))), add(load(), i32(1))))).toBe(2 * once);
  expect(between(({ k }) => ir.assign(k, add(read(k), i32(1))))).toBe(2 * once);
  expect(laneLoads((p) => [ir.assign(p.k, p.load()), ir.assign(p.a, p.load())])).toBe(2 * once);
});
