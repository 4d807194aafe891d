import { describe, expect, it } from 'vitest';
import {
  assign,
  at,
  barrier,
  block,
  breakTo,
  i32,
  ifElse,
  KernelBuilder,
  loop,
  lt,
  read,
  ret,
  special,
  store,
} from '../builder.ts';
import type { Stmt } from '../ops.ts';
import { printKernel } from '../print.ts';
import { checkBarriers } from './barriers.ts';
import { returnAtEnds } from './tails.ts';

const tid = special('threadIdx.x');

/** Problems before and after, and the kernel as text. */
function of(make: (b: KernelBuilder, touch: (v: number) => Stmt) => readonly Stmt[]) {
  const b = new KernelBuilder('k');
  const out = b.global('i32', 'out');
  const kernel = b.build(make(b, (v) => store(at(out, tid), i32(v))));
  const after = returnAtEnds(kernel);
  return { before: checkBarriers(kernel).length, after: checkBarriers(after).length, text: printKernel(after) };
}

describe('guards at the end of a kernel', () => {
  it('are returns', () => {
    const k = of((_, touch) => [touch(1), ifElse(lt(tid, i32(3)), [barrier(), touch(2)])]);
    expect([k.before, k.after]).toEqual([1, 0]);
    expect(k.text).toMatch(/if threadIdx\.x >= 3 \{\s+return\s+\}\s+barrier/);
  });

  it('within one another, in blocks, before a return that changes nothing', () => {
    const k = of((b, touch) => {
      const label = b.label();
      return [
        block(label, [
          ifElse(lt(tid, i32(9)), [
            ifElse(lt(tid, i32(1)), [breakTo(label)]),
            barrier(),
            ifElse(lt(tid, i32(5)), [touch(1)], [barrier(), touch(2), ret()]),
            ret(),
          ]),
        ]),
        ret(),
      ];
    });
    expect(k.before).toBeGreaterThan(0);
    expect(k.text.match(/return/g)).toHaveLength(2);
  });

  it('whose other side has work of its own', () => {
    const k = of((_, touch) => [ifElse(lt(tid, i32(3)), [touch(1)], [barrier(), touch(2)])]);
    expect([k.before, k.after]).toEqual([1, 0]);
  });

  it('but not what other statements follow, or loops, or barriers on both sides', () => {
    const followed = of((_, touch) => [ifElse(lt(tid, i32(3)), [barrier()]), touch(1)]);
    const looped = of((b) => {
      const i = b.variable('i32', 'i');
      const label = b.label();
      return [assign(i, i32(0)), loop(label, [ifElse(lt(read(i), tid), [barrier()], [breakTo(label)])])];
    });
    const both = of(() => [ifElse(lt(tid, i32(3)), [barrier()], [barrier()])]);
    for (const k of [followed, looped, both]) {
      expect(k.before).toBeGreaterThan(0);
      expect(k.after).toBe(k.before);
    }
  });
});
