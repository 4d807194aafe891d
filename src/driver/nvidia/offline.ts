/**
 * PTX of kernels for an architecture that is named, without a device: what `inspect({ target: 'ptx', arch: 'sm_90' })` shows.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { TsambaRangeError } from '../../errors.ts';
import type { Program } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import { ptxPipeline } from './compile.ts';

/** What an NVIDIA device compiles kernels with unless told otherwise. */
export const NVIDIA_DEFAULTS: { readonly checkedByDefault: boolean; readonly contractByDefault: boolean } = {
  checkedByDefault: false,
  contractByDefault: true,
};

/** The architecture where none is named. */
const USUAL = 'sm_90';
const [OLDEST, NEWEST] = [50, 129];
/** CUDA 13.0. The text names an older version where that is enough. */
const ISA: readonly [number, number] = [9, 0];

/** Renders a kernel for `arch`, such as `sm_90`. Throws RangeError for what is no architecture. */
export function ptxFor(
  kernel: Kernel,
  arch: string = USUAL,
  { launchBounds, maxRegisters }: Omit<Program, 'kernel' | 'name'> = {},
): string {
  const capability = Number(/^sm_(\d{2,3})[af]?$/.exec(arch)?.[1]);
  if (!(capability >= OLDEST && capability <= NEWEST)) {
    throw new TsambaRangeError(
      'E_OPTION',
      `arch must be an architecture of NVIDIA from sm_${OLDEST} on, such as '${USUAL}', got '${arch}'`,
    );
  }
  const { text } = ptxPipeline.compile(
    kernel,
    { capability, isa: ISA },
    { name: kernelLabel(kernel), aliased: false, launchBounds, maxRegisters },
  );
  return text;
}
