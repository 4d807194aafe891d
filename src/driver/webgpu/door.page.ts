/**
 * `door.ts` in pages, which have WebGPU of their own or none.
 */
import { NotSupportedError } from '../../errors.ts';
import type { Gpu } from './api.ts';
import { ownGpu, whyPageHasNone } from './own-gpu.ts';

export function whyNoGpu(): string | undefined {
  return ownGpu() === undefined ? whyPageHasNone() : undefined;
}

export async function findGpu(): Promise<Gpu> {
  const own = ownGpu();
  if (own === undefined) throw new NotSupportedError('E_NO_DEVICE', whyPageHasNone());
  return own;
}
