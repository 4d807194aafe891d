/**
 * Quotients and remainders of thread indices, in rows whose guard begins in the midst of a vector.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { analyseUniformity } from '../../ir/passes/uniformity.ts';
import { check } from './launch.testing.ts';

const t = ir.special('threadIdx.x');

it.each([1, 3, 4, 5, 8, 13, 31])('are those of each thread from thread %d on', (first) => {
  const b = new ir.KernelBuilder('guarded');
  const [out, n] = [b.global('i32', 'out'), b.value('i32', 'n')];
  const value = ir.add(ir.mul(ir.binary('div', t, ir.i32(16)), ir.i32(100)), ir.binary('rem', t, ir.i32(16)));
  const kernel = b.build([ir.ifElse(ir.ge(t, n), [ir.store(ir.at(out, t), value)])]);
  expect(analyseUniformity(kernel, { block: [64, 1, 1], lanes: 8 }).isAligned()).toBe(true);
  for (const width of [64, 40])
    check(kernel, { block: [width, 1, 1] }, [0, first], new Uint8Array(256), [{ at: 0, elem: 'i32', length: 64 }]);
});
