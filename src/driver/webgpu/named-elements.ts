/**
 * Small arrays of a thread as variables: loops over their elements are written out for it.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { reuseLoads } from '../../compiler/ir/passes/reuse-loads.ts';
import { replaceArrays } from '../../compiler/ir/passes/scalars.ts';
import { unroll } from '../../compiler/ir/passes/unroll.ts';

/** `simplify` puts constants in their places. The same kernel when nothing changes. */
export function nameElements(kernel: Kernel, simplify: (kernel: Kernel) => Kernel): Kernel {
  const written = unroll(kernel);
  const named = replaceArrays(written === kernel ? kernel : simplify(written));
  return named === kernel ? kernel : simplify(reuseLoads(named));
}
