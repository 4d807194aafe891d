/**
 * The conformance suite, that of `cuda` and that of `roc`, on OpenCL: PoCL where nothing else is installed, GPUs by `TSAMBA_OPENCL_DEVICE`. Skipped where there is no
 * OpenCL, unless TSAMBA_TEST_REQUIRE names `pocl`. PoCL compiles each kernel for each block shape: the first run takes minutes, later
 * ones find what was compiled in its cache (`POCL_CACHE_DIR`); hence the parts, which run side by side.
 */
import { it } from 'vitest';
import { openclProvider } from '../../src/driver/opencl/index.ts';
import { hasOpenCL, openTestDevice } from '../../src/driver/opencl/opencl.testing.ts';
import { defineConformance } from './conformance.ts';

export async function openclConformance(part: number, parts: number): Promise<void> {
  if (!hasOpenCL()) {
    it.skip('there is no OpenCL on this machine', () => undefined);
    return;
  }
  await defineConformance({
    title: `OpenCL, part ${part} of ${parts}`,
    device: 'opencl',
    part: [part, parts],
    async open() {
      const { registerProvider } = await import('../../src/memory/providers.ts');
      registerProvider({ ...openclProvider, open: () => openTestDevice() });
    },
  });
}
