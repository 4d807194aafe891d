/**
 * OpenCL C of kernels without a device, for a GPU that can do everything: what `inspect({ target: 'opencl' })` shows.
 */
import type { OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import type { OfflineCode } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import { openclPipeline } from './compile.ts';

const GPU: OpenCLTarget = {
  dialect: 'opencl',
  fp64: true,
  int64Atomics: 'extended',
  fastFma: true,
  correctlyRounded: true,
  maxConstantBytes: 65536,
};

/** OpenCL C, as GPUs compile kernels unless told otherwise. */
export const openclCode: OfflineCode = {
  target: 'opencl',
  checkedByDefault: false,
  contractByDefault: true,
  show: ({ kernel }) => openclPipeline.compile(kernel, GPU, { name: kernelLabel(kernel) }).text,
};
