/**
 * Addresses and prefetches as NVIDIA GPUs and HIP devices get them.
 */
import { expect, it } from 'vitest';
import { assemble, hasPtxas } from '../../compiler/render/ptx/assemble.testing.ts';
import { compileFor } from '../../compiler/testing.ts';
import { cuda, type f64, type u64, type Vec } from '../../index.ts';
import { ptxPipeline } from './compile.ts';

const { kernel } = compileFor(
  ((y: Vec<f64>, out: Vec<u64>) => {
    const i = cuda.grid(1);
    const s = cuda.shared.array(4, 'f32');
    s[i] = 1;
    cuda.prefetch(y, i + 4, { level: 'L1' });
    cuda.prefetch(y, 2 * i);
    cuda.prefetch(s, i);
    out[i] = cuda.addressOf(y, i) + cuda.addressOf(s, 1);
    y[i] = 2;
  }) as never,
  [new Float64Array(8), new BigUint64Array(8)],
  { checked: false },
);

it('are instructions of PTX, which ptxas takes', { timeout: 300_000 }, async () => {
  const module = ptxPipeline.compile(kernel, { capability: 90, isa: [8, 0] }, { name: 'k', aliased: false });
  expect(module.text.match(/prefetch\.\w+/g)).toEqual(['prefetch.L1', 'prefetch.L2']);
  expect(module.text).not.toMatch(/\.extern \.func/);
  if (hasPtxas()) await assemble(module.text, 90);
});
