/**
 * OpenCL C of kernels, and AMD's instructions, without a device: what `inspect({ target: 'opencl' })` and
 * `inspect({ target: 'amdgcn', arch: 'gfx90a' })` show.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { TsambaRangeError } from '../../errors.ts';
import { disassemble } from '../hip/assembly.ts';
import { compileHip } from '../hip/compiler.ts';
import { kernelLabel } from '../launch-errors.ts';
import { openclPipeline } from './compile.ts';

/** What GPUs compile kernels with unless told otherwise. */
export const OPENCL_DEFAULTS: { readonly checkedByDefault: boolean; readonly contractByDefault: boolean } = {
  checkedByDefault: false,
  contractByDefault: true,
};

/** A GPU that can do everything. */
const GPU: OpenCLTarget = {
  dialect: 'opencl',
  fp64: true,
  int64Atomics: 'extended',
  fastFma: true,
  correctlyRounded: true,
  maxConstantBytes: 65536,
};

/** The architecture where none is named. */
const USUAL = 'gfx90a';

/** Renders a kernel for a GPU. */
export function openclFor(kernel: Kernel): string {
  return openclPipeline.compile(kernel, GPU, { name: kernelLabel(kernel) }).text;
}

/**
 * Compiles a kernel for an architecture of AMD and shows its instructions. Synchronous; takes seconds.
 * @throws RangeError for what is no architecture, NotSupportedError where ROCm's compiler is not installed, DriverError for what it does
 * not accept, as an architecture that is newer than itself.
 */
export function amdgcnFor(kernel: Kernel, arch: string = USUAL): string {
  if (!/^gfx[0-9a-f]{3,5}(:[a-z]+[+-])*$/.test(arch)) {
    throw new TsambaRangeError(
      'E_OPTION',
      `arch must be an architecture of AMD, such as '${USUAL}' or 'gfx1030', got '${arch}'`,
    );
  }
  return disassemble(hipCode(kernel, arch), arch);
}

/** The code object of a kernel. */
export function hipCode(kernel: Kernel, arch: string): Uint8Array {
  const name = kernelLabel(kernel);
  const { text, buildOptions } = openclPipeline.compile(kernel, { ...GPU, dialect: 'hip' }, { name });
  return compileHip(text, { name, arch, options: buildOptions });
}
