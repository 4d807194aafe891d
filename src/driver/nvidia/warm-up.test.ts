import { describe, expect, it } from 'vitest';
import type { Cuda } from '../cuda-api/functions.ts';
import { startDriver, warmUp } from './warm-up.ts';

/** A driver that notes what is called off-thread; `counted` is what it answers to the first question. */
function driver(counted: number): { readonly cuda: Cuda; readonly later: unknown[][] } {
  const later: unknown[][] = [];
  const cuda = {
    cuDeviceGetCount: () => counted,
    later: async (...args: unknown[]) => {
      later.push(args);
      throw new Error('the call cannot be made');
    },
  };
  return { cuda: cuda as unknown as Cuda, later };
}

describe('while the driver starts', () => {
  it('a kernel is compiled all the way', () => {
    expect(warmUp()).toMatch(/\.visible \.entry sample\([\s\S]+ld\.global[\s\S]+sqrt\.rn\.f32[\s\S]+st\.global/);
  });

  it('cuInit runs on another thread, and its failure is left to the call that waits for it', async () => {
    const { cuda, later } = driver(3);
    startDriver(cuda);
    await new Promise((resolve) => setImmediate(resolve));
    expect(later).toEqual([['cuInit', 0]]);
  });

  it('nothing is done where another thread has started it', () => {
    const { cuda, later } = driver(0);
    startDriver(cuda);
    expect(later).toEqual([]);
  });
});
