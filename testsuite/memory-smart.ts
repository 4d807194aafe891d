/**
 * Chapter: smart arrays, and what they copy.
 */
import { cuda, f32, type In, SmartArray, type Vec } from '../src/index.ts';
import { same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { launch } from './waiting.ts';

const addOne = (a: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < a.length) a[i] += 1;
};

/** How many copies each way `body` makes. */
function copiesOf(body: () => void): string {
  const count = (): readonly [number, number] => {
    const { hostToDevice, deviceToHost } = cuda.memoryStats().copies;
    return [hostToDevice.count, deviceToHost.count];
  };
  const [up, down] = count();
  body();
  const after = count();
  return `${after[0] - up} up, ${after[1] - down} down`;
}

export const smartArrays: readonly ConformanceTest[] = chapter('smart arrays', {
  'a chain of kernels copies nothing in between': blocking(() => {
    const kernel = cuda.jit(addOne);
    using a = new SmartArray(new Float32Array(100));
    const chain = copiesOf(() => {
      for (let k = 0; k < 10; k++) kernel.launch({ threads: 100 }, a);
    });
    same(chain, '1 up, 0 down');
    same(
      copiesOf(() => sameElements([...a], new Array(100).fill(10))),
      '0 up, 1 down',
    );
  }),
  'a referenced host side is refreshed at once, another later': blocking(async () => {
    const kernel = cuda.jit(addOne);
    const x = Float32Array.of(1, 2, 3);
    using a = new SmartArray(x, { copy: false });
    await launch(kernel, { threads: 3 }, a);
    sameElements(x, [2, 3, 4]);
    a.release('host');
    await launch(kernel, { threads: 3 }, a);
    sameElements(x, [2, 3, 4], 'not yet');
    same(a.at(0), 3);
    sameElements(x, [3, 4, 5], 'now');
  }),
  'sides that were written to are marked': blocking(async () => {
    const kernel = cuda.jit(addOne);
    using a = new SmartArray({ shape: 4, dtype: f32, where: 'gpu' });
    a.get('gpu').set(5);
    a.markChanged('gpu');
    a.set(7, 1);
    await launch(kernel, { threads: 4 }, a);
    sameElements([...a], [6, 8, 6, 6]);
  }),
  'arguments that are only read': blocking(() => {
    const kernel = cuda.jit((x: In<Vec<f32>>, y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < x.length) y[i] = 2 * x[i];
    });
    using x = new SmartArray(Float32Array.of(1, 2));
    using y = new SmartArray({ shape: 2, dtype: f32 });
    x.get();
    const moved = copiesOf(() => {
      kernel.launch({ threads: 2 }, x, y);
      kernel.launch({ threads: 2 }, x, y);
    });
    same(moved, '2 up, 0 down');
    sameElements([...y], [2, 4]);
  }),
  'streams, and a side that is none': blocking(async () => {
    const kernel = cuda.jit(addOne);
    using stream = cuda.stream();
    using a = new SmartArray(new Float32Array(1000));
    const host = a.get();
    for (let k = 0; k < 3; k++) await launch(kernel, { threads: 1000, stream }, a);
    sameElements(host.data, new Array(1000).fill(3));
    throws(() => a.get('device' as never), /.device. is not a valid target/, 'E_SIDE');
  }),
});
