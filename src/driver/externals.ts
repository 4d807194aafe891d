/**
 * What drivers do with calls of functions of other languages before all else: keep the way that their device can go.
 */
import type { LinkKind } from '../compiler/intrinsics/external.ts';
import type { Kernel } from '../compiler/ir/ops.ts';
import { type NativeText, settleExternals } from '../compiler/ir/passes/externals.ts';
import { describeMissing } from '../compiler/ir/passes/missing-externals.ts';
import { NotSupportedError } from '../errors.ts';
import { describePosition } from './launch-errors.ts';

/** Code that can be linked on an NVIDIA device, on an OpenCL device and on a HIP device; others call TypeScript alone. */
export const NVIDIA_CODE: readonly LinkKind[] = ['ptx', 'cubin', 'fatbin', 'object', 'ltoir', 'cuda'];
export const OPENCL_CODE: readonly LinkKind[] = ['opencl'];
export const HIP_CODE: readonly LinkKind[] = ['hip'];

/** The kernel with the calls that a device can make of code of these kinds. `device`: what messages call it. */
export function withExternals(
  kernel: Kernel,
  kinds: readonly LinkKind[],
  device: string,
  nativeText?: NativeText,
): Kernel {
  const { kernel: settled, missing } = settleExternals(kernel, kinds, nativeText);
  if (missing === undefined) return settled;
  const place = describePosition(missing.pos);
  throw new NotSupportedError('E_EXTERNAL', describeMissing(kernel.name, missing, kinds, device, place));
}
