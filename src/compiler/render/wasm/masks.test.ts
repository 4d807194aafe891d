/** Lanes that leave a block from within others: what stands between is done by those that stay. */
import { it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Stmt } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';

const t = ir.special('threadIdx.x');
const when = (bit: number, list: readonly Stmt[]): Stmt =>
  ir.ifElse(ir.compare('ne', ir.binary('and', t, ir.i32(bit)), ir.i32(0)), list);

it.each([16, 11])('in a block of %i threads', (width) => {
  const b = new ir.KernelBuilder('leaves');
  const [marks, data] = [b.global('i32', 'marks'), b.global('i32', 'data')];
  const [outer, inner] = [b.label(), b.label()];
  const mark = (n: number): Stmt => {
    const place = ir.add(ir.mul(t, ir.i32(4)), ir.i32(n));
    return ir.store(ir.at(marks, place), ir.add(ir.load(ir.at(data, t)), ir.i32(n)));
  };
  const kernel = b.build([
    ir.block(outer, [
      ir.block(inner, [
        when(1, [mark(0), when(2, [mark(1), when(4, [ir.breakTo(outer)]), when(8, [ir.breakTo(inner)]), mark(2)])]),
        mark(3),
      ]),
      ir.atomic('add', ir.at(data, t), [ir.i32(100)]),
    ]),
    ir.store(ir.at(data, ir.add(t, ir.i32(width))), ir.load(ir.at(data, t))),
  ]);
  const image = new Uint8Array(4 * (6 * width));
  new Int32Array(image.buffer, 0, width).set(Array.from({ length: width }, (_, k) => 10 * k));
  check(kernel, { block: [width, 1, 1] }, [8 * width, 0], image, [{ at: 0, elem: 'i32', length: 6 * width }]);
});
