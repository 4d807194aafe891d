/**
 * Chapter: addresses of elements, and hints to fetch them.
 */
import { cuda, f32, type f64, type i32, type Mat, ndarray, struct, type u64, type Vec } from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

/** Whether kernels on this device see addresses. A model without a GPU runs nothing. */
function hasAddresses(): boolean {
  return ['nvidia', 'hip'].includes(cuda.currentDevice().kind);
}

const Point = struct({ x: f32, y: f32 });

export const addresses: readonly ConformanceTest[] = chapter('addresses', {
  'prefetch changes nothing, also beyond the end, of every kind of memory': async () => {
    const kernel = cuda.jit((y: Vec<f64>, A: Mat<f32>, p: Vec<{ x: f32; y: f32 }>) => {
      const k = cuda.grid(1);
      if (k >= y.length) return;
      const tile = cuda.shared.array(32, f32);
      const own = new Float32Array([1, 2, 3]);
      tile[k % 32] = k;
      cuda.prefetch(y, k + 100);
      cuda.prefetch(y, k - 100, { level: 'L1' });
      cuda.prefetch(A, [k % 2, 1]);
      cuda.prefetch(p.field('x'), k % 2);
      cuda.prefetch(tile, k);
      cuda.prefetch(own as unknown as Vec<f32>, k % 3);
      cuda.prefetch(k % 2 === 0 ? A[0]! : A[1]!, 0);
      y[k] = A[k % 2]![1]! * 10 + p[k % 2]!.y + own[k % 3]! * 100 + tile[k % 32]! * 1000;
    });
    const y = zeros(8, 'float64');
    const A = cuda.toDevice(ndarray(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }));
    const points = [
      { x: 1, y: 2 },
      { x: 3, y: 4 },
    ];
    const p = cuda.toDevice(ndarray(points, { dtype: Point }));
    await launch(kernel, { grid: 1, block: 8 }, y, A as never, p as never);
    const expected = Float64Array.from({ length: 8 }, (_, k) => [22, 44][k % 2]! + [100, 200, 300][k % 3]! + k * 1000);
    sameElements(await read(y), expected, 'thread');
  },
  'a level that there is none of': async () => {
    const kernel = cuda.jit((y: Vec<f32>) => cuda.prefetch(y, 0, { level: 'L3' as 'L1' }));
    await rejects(() => launch(kernel, { grid: 1, block: 1 }, zeros(1, 'float32')), /level: 'L1'.*'L2'/, 'K316');
  },
  'of elements, where the device has addresses': async () => {
    const kernel = cuda.jit((y: Vec<i32>, A: Mat<f64>, out: Vec<u64>) => {
      out[0] = cuda.addressOf(y, 3) - cuda.addressOf(y);
      out[1] = cuda.addressOf(A, [1, 2]) - cuda.addressOf(A[1]!);
      out[2] = cuda.addressOf(A[1]!) - cuda.addressOf(A);
      out[3] = cuda.addressOf(y, y.length) - cuda.addressOf(y);
      out[4] = cuda.addressOf(y);
    });
    const y = cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5));
    const A = cuda.toDevice(ndarray(new Float64Array(6), { shape: [2, 3] }));
    const out = zeros(5, 'uint64');
    const run = (): Promise<void> => launch(kernel, { grid: 1, block: 1 }, y, A as never, out as never);
    if (!hasAddresses()) return rejects(run, /addressOf.*has no addresses.*use indices/s, 'E_EXTERNAL');
    await run();
    const got = Array.from((await read(out)) as unknown as BigUint64Array);
    sameElements(got.slice(0, 4), [12n, 16n, 24n, 20n], 'distance');
    same(Number(got[4]), y.gpuData?.address, 'address');
  },
});
