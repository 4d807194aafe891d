/**
 * `rsqrt` leaves out what subnormal arguments take where there can be none.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr } from '../../ir/ops.ts';
import { renderPtx } from './render.ts';

/** The instruction for an argument that is made of two numbers of an array. */
function rsqrtOf(make: (x: Expr, y: Expr) => Expr): string {
  const b = new ir.KernelBuilder('k');
  const v = b.global('f32', 'v');
  const [x, y] = [ir.load(ir.at(v, ir.i32(0))), ir.load(ir.at(v, ir.i32(1)))];
  const kernel = b.build([ir.store(ir.at(v, ir.i32(2)), ir.call('rsqrt', make(x, y)))], { checked: false });
  const { text } = renderPtx(kernel, { capability: 90, isa: [8, 0] }, { name: 'k', aliased: false });
  return /rsqrt\S+/.exec(text)?.[0] ?? '';
}

describe('rsqrt', () => {
  const [SHORT, FULL] = ['rsqrt.approx.ftz.f32', 'rsqrt.approx.f32'];
  it.each<[string, string, (x: Expr, y: Expr) => Expr]>([
    ['a sum of squares and a constant', SHORT, (x, y) => ir.add(ir.add(ir.mul(x, x), ir.mul(y, y)), ir.f32(1e-3))],
    ['what is at least a normal number', SHORT, (x) => ir.binary('max', x, ir.f32(1e-30))],
    ['the size of a number and a constant', SHORT, (x) => ir.add(ir.unary('abs', x), ir.f32(2 ** -120))],
    ['any number', FULL, (x) => x],
    ['a square', FULL, (x) => ir.mul(x, x)],
    ['a product of two numbers and a constant', FULL, (x, y) => ir.add(ir.mul(x, y), ir.f32(1))],
    ['a square and a constant that is subnormal', FULL, (x) => ir.add(ir.mul(x, x), ir.f32(1e-39))],
    ['a difference of squares and a constant', FULL, (x, y) => ir.add(ir.sub(ir.mul(x, x), ir.mul(y, y)), ir.f32(1))],
  ])('of %s: %s', (_, instruction, make) => {
    expect(rsqrtOf(make)).toBe(instruction);
  });
});
