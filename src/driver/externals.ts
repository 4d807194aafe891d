/**
 * What drivers do with calls of functions of other languages before all else: keep the way that their device can go.
 */
import { type ExternalFunction, type LinkKind, showExternal } from '../compiler/intrinsics/external.ts';
import type { Kernel } from '../compiler/ir/ops.ts';
import { type NativeText, settleExternals } from '../compiler/ir/passes/externals.ts';
import { NotSupportedError } from '../errors.ts';
import { describePosition } from './launch-errors.ts';

/** Code that can be linked on an NVIDIA device, on an OpenCL device and on a HIP device; others call TypeScript alone. */
export const NVIDIA_CODE: readonly LinkKind[] = ['ptx', 'cubin', 'fatbin', 'object', 'ltoir', 'cuda'];
export const OPENCL_CODE: readonly LinkKind[] = ['opencl'];
export const HIP_CODE: readonly LinkKind[] = ['hip'];

/** How users name code for a device. */
const EXAMPLES: Readonly<Partial<Record<LinkKind, string>>> = {
  ptx: "'name.ptx', 'name.cubin' or 'name.cu'",
  opencl: "'name.cl'",
  hip: "'name.hip'",
};

/** The kernel with the calls that a device can make of code of these kinds. `device`: what messages call it. */
export function withExternals(
  kernel: Kernel,
  kinds: readonly LinkKind[],
  device: string,
  nativeText?: NativeText,
): Kernel {
  const { kernel: settled, missing } = settleExternals(kernel, kinds, nativeText);
  if (missing === undefined) return settled;
  const { fn, pos } = missing;
  if ('native' in fn) {
    throw new NotSupportedError(
      'E_EXTERNAL',
      `kernel ${kernel.name} calls ${fn.name}, which ${device} has no instruction for\n  --> ${describePosition(pos)}\n` +
        '  help: give defineIntrinsic the same in TypeScript, as `expand`',
    );
  }
  if (fn.texts !== undefined) {
    throw new NotSupportedError(
      'E_EXTERNAL',
      `kernel ${kernel.name} calls ${fn.name}, and ${device} has no addresses that a kernel could use\n  --> ${describePosition(pos)}\n` +
        '  help: use indices; NVIDIA GPUs and HIP devices have addresses',
    );
  }
  throw new NotSupportedError(
    'E_EXTERNAL',
    `kernel ${kernel.name} calls ${showExternal(fn)}, for which ${device} has ${kinds.length === 0 ? 'no code: it only runs TypeScript' : `no code: ${linked(fn)}`}\n` +
      `  --> ${describePosition(pos)}\n` +
      `  help: ${kinds[0] === undefined ? '' : `link ${EXAMPLES[kinds[0]]}, or `}give a fallback in TypeScript: cuda.declareDevice(…, { fallback: (…) => … })`,
  );
}

function linked({ link }: ExternalFunction): string {
  return link.length === 0 ? 'nothing is linked' : `it is linked with ${link.map(({ name }) => name).join(', ')}`;
}
