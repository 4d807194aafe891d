/**
 * AMD's instructions of kernels without a device: what `inspect({ target: 'amdgcn', arch: 'gfx90a' })` shows.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { TsambaRangeError } from '../../errors.ts';
import type { OfflineCode } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import { disassemble } from './assembly.ts';
import { hipPipeline } from './compile.ts';
import { HIP_TARGET } from './info.ts';

/** The architecture where none is named. */
const USUAL = 'gfx90a';

/**
 * Instructions, as an AMD GPU compiles kernels unless told otherwise. Synchronous; takes seconds. Throws NotSupportedError where ROCm's
 * compiler is not installed, DriverError for what it does not accept, as an architecture that is newer than itself.
 */
export const amdgcnCode: OfflineCode = {
  target: 'amdgcn',
  usualArch: USUAL,
  checkedByDefault: false,
  contractByDefault: true,
  show({ kernel }, arch = USUAL) {
    if (!/^gfx[0-9a-f]{3,5}(:[a-z]+[+-])*$/.test(arch)) {
      throw new TsambaRangeError(
        'E_OPTION',
        `arch must be an AMD architecture, such as '${USUAL}' or 'gfx1030', got '${arch}'`,
      );
    }
    return disassemble(codeObjectOf(kernel, arch), arch);
  },
};

/** The code object of a kernel. */
export function codeObjectOf(kernel: Kernel, arch: string): Uint8Array {
  return hipPipeline.compile(kernel, { target: HIP_TARGET, arch }, { name: kernelLabel(kernel) }).code;
}
