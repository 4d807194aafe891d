/**
 * The fast kernel of reductions, which the CPU device does not choose: it runs there, against plain loops, and its loads are wide on GPUs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assemble, hasPtxas } from '../compiler/render/ptx/assemble.testing.ts';
import { type DType, f32, f32x4, f64, f64x2, i32, i32x4, i64, i64x2, u32, u32x4 } from '../dtype/index.ts';
import { cuda } from '../index.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import { cudaDevices } from '../memory/devices.ts';
import { BLOCK, type Operation, type Partials, partialsOfTiles, tileOf } from './kernels.ts';

beforeAll(() => cuda.selectDevice('cpu'));
afterAll(() => cuda.close());

const add = ((a: number, b: number) => a + b) as never as Operation['op'];

function tilesOf(type: DType, vector: DType, lanes: number): Partials {
  const operation = { op: add, cast: type as never, type, name: 'sum' };
  return partialsOfTiles(ownJitOf(cudaDevices), operation, { vector, lanes });
}

const TYPES: readonly (readonly [DType, DType, number])[] = [
  [f32, f32x4, 4],
  [i32, i32x4, 4],
  [u32, u32x4, 4],
  [f64, f64x2, 2],
  [i64, i64x2, 2],
];

describe('tiles', () => {
  it.each(TYPES)('take every element of %s once', (type, vector, lanes) => {
    const kernel = tilesOf(type, vector, lanes);
    const tile = tileOf({ vector, lanes });
    for (const [length, blocks] of [
      [tile, 1],
      [tile + 1, 1],
      [3 * tile - 1, 2],
      [3 * tile + lanes * BLOCK + 3, 3],
      [7 * tile + 5, 2],
    ] as const) {
      const x = cuda.deviceArray(length, type);
      const parts = cuda.deviceArray(blocks, type);
      x.set(1);
      kernel.launch({ grid: blocks, block: BLOCK }, x as never, parts as never);
      const sum = Array.from({ length: blocks }, (_, b) => Number(parts.get(b))).reduce((a, b) => a + b);
      expect(sum, `${length} elements in ${blocks} blocks`).toBe(length);
    }
  });

  it.runIf(hasPtxas())('are loaded by vectors that do not wait for each other', async () => {
    const kernel = tilesOf(f32, f32x4, 4);
    kernel.compile(cuda.deviceArray(1, f32) as never, cuda.deviceArray(1, f32) as never);
    const ptx = kernel.inspect({ target: 'ptx', arch: 'sm_90' } as never) as unknown as string;
    const loads = ptx.split('\n').filter((line) => /ld\.global|^\$L|bra/.test(line));
    const inLoop = loads.slice(loads.findIndex((line) => line.startsWith('$L')) + 1, 12);
    expect(inLoop.slice(0, 4).every((line) => line.includes('.v4.f32'))).toBe(true);
    // More would leave room for fewer threads on a multiprocessor.
    expect(Number(/Used (\d+) registers/.exec(await assemble(ptx, 90, ['-v']))?.[1])).toBeLessThanOrEqual(32);
  });
});
