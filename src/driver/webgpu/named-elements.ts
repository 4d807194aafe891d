/**
 * Short loops written out, and small arrays of a thread as variables, whose elements are known then.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { reuseLoads } from '../../compiler/ir/passes/reuse-loads.ts';
import { replaceArrays } from '../../compiler/ir/passes/scalars.ts';
import { type UnrollOptions, unroll } from '../../compiler/ir/passes/unroll.ts';

/** Of a tile in shared memory all steps along it. */
const UNROLLED: UnrollOptions = {
  rounds: 32,
  nodes: 480,
  plainLoads: 64,
  barriers: false,
  elements: true,
  factor: 1,
  nests: false,
  stages: 0,
};

/** `simplify` puts constants in their places. The same kernel when nothing changes. */
export function nameElements(kernel: Kernel, simplify: (kernel: Kernel) => Kernel): Kernel {
  const written = unroll(kernel, UNROLLED);
  const plain = written === kernel ? kernel : simplify(written);
  const named = replaceArrays(plain);
  return named === plain ? plain : simplify(reuseLoads(named));
}
