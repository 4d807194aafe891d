/**
 * What a kernel needs of each kind of memory, as `kernel.attributes()` reports it on devices without registers.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import { ELEM_SIZE } from '../compiler/ir/ops.ts';
import type { ExecutableAttributes } from './driver.ts';

/** Bytes by kind of memory; no registers. */
export function attributesOf(kernel: Kernel, maxThreadsPerBlock: number): ExecutableAttributes {
  const bytes = { global: 0, constant: 0, shared: 0, local: 0 };
  for (const array of kernel.arrays) bytes[array.space] += (array.length ?? 0) * ELEM_SIZE[array.elem];
  return {
    registers: 0,
    sharedBytes: bytes.shared,
    localBytes: bytes.local,
    constBytes: bytes.constant,
    maxThreadsPerBlock,
  };
}
