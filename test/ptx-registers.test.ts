/**
 * Which kernels the assembler is told to use registers for, and shared arrays that one register addresses.
 */
import { expect, it } from 'vitest';
import { assemble, hasPtxas } from '../src/compiler/render/ptx/assemble.testing.ts';
import type { PtxOptions } from '../src/compiler/render/ptx/module.ts';
import { compileFor } from '../src/compiler/testing.ts';
import { cuda } from '../src/cuda/index.ts';
import { ptxPipeline } from '../src/driver/nvidia/compile.ts';
import { f32, type Vec } from '../src/index.ts';

function ptx(fn: (...args: never[]) => unknown, args: number, options: Partial<PtxOptions> = {}): string {
  const arrays = Array.from({ length: args }, () => new Float32Array(64));
  const { kernel } = compileFor(fn, arrays, { checked: false, contract: true, debug: false, defaultFloat: 'f32' });
  const target = { capability: 90, isa: [8, 8] } as const;
  return ptxPipeline.compile(kernel, target, { name: 'kernel', aliased: false, ...options }).text;
}

/** Points in shared memory, coordinates each in an array of its own. */
const near = (x: Vec<f32>, y: Vec<f32>): void => {
  const sx = cuda.shared.array(256, f32);
  const sy = cuda.shared.array(256, f32);
  const t = cuda.threadIdx.x;
  sx[t] = x[t];
  sy[t] = y[t];
  cuda.syncThreads();
  let sum = f32(0);
  for (let k = 0; k < 256; k++) sum += cuda.rsqrt(sx[k] * sx[k] + sy[k] * sy[k]);
  x[t] = sum;
};

it('arrays of one size stand in one symbol, and one register has the address in both', () => {
  const text = ptx(near, 2);
  expect(text.match(/^\.shared.*/gm)).toEqual(['.shared .align 16 .b8 shared_sx_1[2048];']);
  const loop = text.slice(text.indexOf('rsqrt') - 900, text.indexOf('rsqrt'));
  const [, first] = /ld\.shared\.f32 %f\d+, \[(%r\d+)\];/.exec(loop) ?? [];
  expect(loop).toContain(`[${first}+1024]`);
});

it('loops that wait for special functions may use all registers, unless somebody says how many', () => {
  expect(ptx(near, 2)).toContain('.maxnreg 255');
  expect(ptx(near, 2, { launchBounds: 128 })).not.toContain('.maxnreg');
  expect(ptx(near, 2, { maxRegisters: 64 })).toContain('.maxnreg 64');
  const far = (x: Vec<f32>, y: Vec<f32>): void => {
    let sum = f32(0);
    for (let k = 0; k < 256; k++) sum += cuda.rsqrt(x[k]);
    y[0] = sum;
  };
  expect(ptx(far, 2)).not.toContain('.maxnreg');
});

it.skipIf(!hasPtxas())('assembles', async () => {
  await assemble(ptx(near, 2), 90);
});
