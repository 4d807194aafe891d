import { expectTypeOf, it } from 'vitest';
import { cuda, type f32, type Vec } from '../index.ts';

it('parameters with a default keep their type, and may be left out', () => {
  const kernel = cuda.jit((y: Vec<f32>, gain = 2, shift?: number) => {
    y[0] = gain + (shift ?? 0);
  });
  expectTypeOf<Parameters<typeof kernel>[1]>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Parameters<typeof kernel>[2]>().toEqualTypeOf<number | undefined>();
});

it('async functions are no kernels', () => {
  const run = async (y: Vec<f32>): Promise<void> => {
    y[0] = 1;
  };
  // @ts-expect-error a kernel runs to its end
  cuda.jit(run);
});
