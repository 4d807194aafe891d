/** Which variables may still be read, where a loop is left by its update: rare, as `for` has no statements there. */
import { expect, it } from 'vitest';
import { assign, at, breakTo, compare, i32, ifElse, KernelBuilder, loop, read, special, store } from '../builder.ts';
import { analyseLiveness } from './liveness.ts';

it('what is read behind a loop is live where its update leaves it', () => {
  const b = new KernelBuilder('left');
  const v = b.variable('i32', 'v');
  const label = b.label();
  const leave = ifElse(compare('eq', special('threadIdx.x'), i32(0)), [breakTo(label)]);
  const rounds = loop(label, [assign(v, i32(1))], [leave, assign(v, i32(2))]);
  const kernel = b.build([rounds, store(at(b.global('i32', 'out'), i32(0)), read(v))]);
  const liveness = analyseLiveness(kernel.body);
  expect(liveness.updateEntry(rounds as Parameters<typeof liveness.updateEntry>[0]).has(v.id)).toBe(true);
  expect(liveness.entry.has(v.id)).toBe(false);
});
