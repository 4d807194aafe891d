/**
 * `if (c) break;` is read as a loop's test by `compiler/ir/loops.ts` and by nobody else: where that finds none, a counted loop is one
 * without end to every pass and every renderer, and where it does, to none.
 */
import { expect, it, vi } from 'vitest';
import type { f32, Vec } from '../src/index.ts';

/** Code for loops that count to an extent and to a constant. */
async function compiled(): Promise<(target: 'ptx' | 'opencl' | 'wasm') => string> {
  vi.resetModules();
  const { cuda } = await import('../src/index.ts');
  cuda.selectDevice('cpu');
  const kernel = cuda.jit(
    (out: Vec<f32>, a: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      let sum = 0;
      for (let k = 0; k < a.length; k++) sum += a[k] as number;
      for (let k = 0; k < 4; k++) sum += i * k;
      out[i] = sum;
    },
    { signature: 'void(float32[::1], float32[::1])' },
  );
  return (target) => kernel.inspect(target === 'ptx' ? { target, arch: 'sm_90' } : { target });
}

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

it('nobody but ir/loops.ts reads the test of a loop', async () => {
  const known = await compiled();
  vi.doMock('../src/compiler/ir/loops.ts', () => ({ testedLoop: () => undefined, exitOf: () => undefined }));
  const unknown = await compiled();

  // PTX: the loop of four rounds is unrolled, and the other one tests at its end.
  expect(count(known('ptx'), /\tbra /g)).toBe(0);
  expect(count(unknown('ptx'), /\tbra /g)).toBe(2);

  expect(count(known('opencl'), /for \(; v\d_k </g)).toBe(2);
  expect(count(unknown('opencl'), /for \(; ;/g)).toBe(2);

  // The CPU device proves from the test that indices are in range.
  expect(count(unknown('wasm'), /i32\.ge_u/g)).toBeGreaterThan(count(known('wasm'), /i32\.ge_u/g));
});
