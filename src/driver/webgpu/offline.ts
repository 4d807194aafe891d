/**
 * WGSL of kernels without a device, for blocks of 256 threads: what `inspect({ target: 'wgsl' })` shows where no WebGPU device has compiled the kernel.
 */
import type { OfflineCode } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import { compileWgsl } from './compile.ts';

/** The block shape is a constant of the module; this is the one that launches by `threads` take most often. */
const BLOCK = [256, 1, 1] as const;

/** WGSL, as WebGPU devices compile kernels unless told otherwise; each array has a buffer of its own. */
export const wgslCode: OfflineCode = {
  target: 'wgsl',
  checkedByDefault: false,
  contractByDefault: true,
  show({ kernel }) {
    const pointers = kernel.params.filter(({ type }) => type === 'ptr').map(({ index }) => index);
    const buffers = new Map(pointers.map((param) => [param, param]));
    return compileWgsl(kernel, {
      name: kernelLabel(kernel),
      block: BLOCK,
      sharedBytes: 0,
      buffers,
      moved: new Set(),
      dispatch: 'whole',
    }).text;
  },
};
