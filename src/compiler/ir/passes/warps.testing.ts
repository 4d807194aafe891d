/**
 * For tests of what is left to the warps of a device.
 */
import { compare, ifElse, KernelBuilder, read, trap, u32 } from '../builder.ts';
import type { Kernel, Stmt } from '../ops.ts';
import { mapLists } from './walk.ts';

/** The kernel, which stops where a lane is missing from an exchange. */
export function withAllLanes(kernel: Kernel): Kernel {
  const b = KernelBuilder.from(kernel);
  const checked = (list: readonly Stmt[]): Stmt[] =>
    list.flatMap((s) => {
      if (s.op !== 'warp') return [mapLists(s, checked)];
      const there = b.variable('u32', '%there');
      const missing = compare('ne', read(there), u32(0xffffffff));
      return [
        { op: 'warp', fn: 'activeMask', args: [], result: there, pos: s.pos },
        ifElse(missing, [trap('a lane is missing')]),
        s,
      ];
    });
  const body = checked(kernel.body);
  return { ...kernel, vars: [...b.vars], body };
}
