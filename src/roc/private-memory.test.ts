/** Private arrays on PoCL, which ends the process where a group's do not fit: what is too much is refused before it gets there. */
import { afterAll, describe, expect, it } from 'vitest';
import { hasOpenCL } from '../driver/opencl/opencl.testing.ts';
import { privateBytesPerGroup } from '../driver/opencl/private-memory.ts';
import { cuda, f32, roc, type Vec } from '../index.ts';

const ELEMENTS = 16_384;

describe.skipIf(!hasOpenCL())('large private arrays', { timeout: 300_000 }, () => {
  afterAll(() => roc.close());

  const make = () =>
    roc.jit((out: Vec<f32>) => {
      const i = roc.getGlobalId(0);
      const own = cuda.local.array(ELEMENTS, f32);
      for (let k = 0; k < ELEMENTS; k++) own[k] = k % 8;
      roc.barrier();
      let sum = f32(0);
      for (let k = 0; k < ELEMENTS; k++) sum += own[(k * 3) % ELEMENTS];
      if (i < out.length) out[i] = sum + roc.getLocalSize(0);
    });

  it('run in blocks that have room for them, and are refused in others', () => {
    roc.selectDevice('opencl');
    const kernel = make();
    const out = roc.deviceArray(300, f32);
    kernel.compile(out);
    const { localBytes, maxThreadsPerBlock: most } = kernel.attributes();
    expect(localBytes).toBe(4 * ELEMENTS);
    expect(most).toBe(Math.min(1024, Math.floor((privateBytesPerGroup({ hardware: 'cpu' }) ?? 0) / localBytes)));
    expect(() => kernel.launch({ grid: 1, block: most + 1 }, out)).toThrow(
      new RegExp(
        `has ${most + 1} threads, each with 65536 bytes of local memory, .* at most ${most} in a block on .*: make`,
      ),
    );
    const sum = (ELEMENTS / 8) * 28;
    kernel.launch({ grid: 1, block: most }, out);
    expect(out.get(most - 1)).toBe(sum + most);
    kernel.launch({ threads: 300 }, out);
    expect(out.get(299)).toBeLessThanOrEqual(sum + most);
  });

  it('do not matter to kernels without', () => {
    const fill = roc.jit((out: Vec<f32>) => {
      out[roc.getGlobalId(0)] = 1;
    });
    const out = roc.deviceArray(1024, f32);
    fill.launch({ grid: 1, block: 1024 }, out);
    expect(fill.attributes()).toMatchObject({ localBytes: 0, maxThreadsPerBlock: 1024 });
  });
});
