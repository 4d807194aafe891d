/**
 * Chapter: what libraries add to kernels, by way of a toy library that uses public entry points alone.
 */
import { cuda, defineIntrinsic, type f32, type i32, overload, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { addSaturating, clamp, length, median, type Point, point } from './toy-library/index.ts';
import { launch, read } from './waiting.ts';

export const extensions: readonly ConformanceTest[] = chapter('extensions', {
  'an intrinsic of a library': async () => {
    const kernel = cuda.jit((a: Vec<f32>, b: Vec<i32>, y: Vec<f32>, z: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      y[i] = median(a[i], 2, 5) + median(3, a[i] * 2, 1);
      z[i] = median(b[i], 2, 5) * 10 + addSaturating(b[i], 1);
    });
    const a = Float32Array.from({ length: 8 }, (_, i) => i);
    const b = Int32Array.from({ length: 8 }, (_, i) => (i === 7 ? 2 ** 31 - 1 : i));
    const [y, z] = [cuda.deviceArray(8, 'float32'), cuda.deviceArray(8, 'int32')];
    await launch(kernel, { threads: 8, block: 8 }, cuda.toDevice(a), cuda.toDevice(b), y, z);
    const middle = (...v: readonly number[]): number => [...v].sort((p, q) => p - q)[1] ?? 0;
    sameElements(
      await read(y),
      a.map((v) => middle(v, 2, 5) + middle(3, v * 2, 1)),
    );
    sameElements(
      await read(z),
      b.map((v, i) => middle(v, 2, 5) * 10 + (i === 7 ? v : v + 1)),
    );
  },
  'overloads of functions of the host, by the types of arguments': async () => {
    const kernel = cuda.jit((p: Vec<Point>, y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = length(p[i]) + length(-i) + clamp(i, 1, 2);
    });
    const p = cuda.deviceArray(3, point);
    for (let i = 0; i < 3; i++) p.set({ x: 3 * i, y: 4 * i }, i);
    const y = cuda.deviceArray(3, 'float32');
    await launch(kernel, { threads: 3, block: 4 }, p as never, y);
    sameElements(await read(y), [0 + 0 + 1, 5 + 1 + 1, 10 + 2 + 2]);
    same(length({ x: 3, y: 4 }) + length(-1) + clamp(9, 1, 2), 8);
  },
  'say what they do not take': async () => {
    const wrong = async (body: (y: Vec<f32>) => void, message: RegExp): Promise<void> => {
      await rejects(
        async () => await launch(cuda.jit(body), { grid: 1, block: 1 }, cuda.deviceArray(1, 'float32')),
        message,
      );
    };
    await wrong((y) => {
      y[0] = addSaturating(y[0], 1);
    }, /K215: toy.addSaturating needs an integer/);
    await wrong((y) => {
      y[0] = Number((median as never as (a: bigint, b: bigint, c: bigint) => bigint)(BigInt(y.length), 2n, 3n));
    }, /K339: toy.median is defined for f32, i32, not for i64/);
    await wrong((y) => {
      y[0] = (median as never as (a: number) => number)(1);
    }, /K316: toy.median takes 3 arguments, not 1/);
    await wrong((y) => {
      y[0] = length(y as never);
    }, /K339: \w+ is not defined in kernels for \w+, an array of rank 1/);
    throws(() => median(1, 2, 3), /toy.median only works inside a kernel/);
    throws(() => defineIntrinsic({ name: 'nothing' }), /needs expand, or native/);
    throws(
      () => defineIntrinsic({ name: 'x', types: ['f31' as never], expand: (a: number) => a }),
      /supports i32, u32/,
    );
    throws(() => overload(1 as never, () => 1), /takes two functions/);
    const own = (a: number): number => a;
    throws(
      () => overload(own, own, { when: ['numbr' as never] }),
      /takes 'number', .* structs, got 'numbr'/,
      'E_DEFINE',
    );
  },
  'a native form alone is refused where there is none': async () => {
    const nowhere = defineIntrinsic<(a: number) => number>({
      name: 'nowhere',
      arity: 1,
      native: { ptx: () => undefined },
    });
    const kernel = cuda.jit((y: Vec<f32>) => {
      y[0] = nowhere(y[0]);
    });
    await rejects(
      async () => await launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, 'float32')),
      /calls nowhere, which .* has no instruction for/,
    );
  },
});
