import { expect, it } from 'vitest';
import { cuda, defineIntrinsic, type f32, type Vec } from '../index.ts';

it('an intrinsic whose native form is no text is refused where it is compiled', () => {
  cuda.selectDevice('cpu');
  const same = (a: number): number => a;
  const broken = defineIntrinsic({ name: 'toy.broken', expand: same, native: { ptx: (() => 3) as never } });
  const kernel = cuda.jit(
    (y: Vec<f32>) => {
      y[0] = broken(y[0] as number);
    },
    { signature: 'void(f32[:])' },
  );
  expect(() => kernel.inspect({ target: 'ptx', arch: 'sm_80' })).toThrow(
    'defineIntrinsic takes the text of an instruction from native.ptx, or undefined, got 3',
  );
});
