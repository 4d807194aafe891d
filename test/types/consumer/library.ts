/**
 * Reductions and universal functions as users write them: functions without annotations, and results with their types.
 */
import {
  type c64,
  cuda,
  type DeviceNDArray,
  f32,
  type f64,
  i32,
  type Mat,
  ndarray,
  roc,
  struct,
  type Vec,
} from 'tsamba';

// ------------------------------------------------------------------ reductions

const sum = cuda.reduce((a, b) => a + b);
const total: number = sum(new Float32Array(3));
const fromDevice: number = sum(cuda.deviceArray(3, 'float64'), { size: 2, init: 1, stream: cuda.stream() });
const nothing: undefined = sum([1, 2], { res: cuda.deviceArray(1, 'float64') });
const later: Promise<number> = sum.async(ndarray([1, 2, 3]));
const big = new cuda.Reduce((a: bigint, b: bigint) => a + b);
const wide: bigint = big(new BigInt64Array(3));
const Point = struct({ x: f32, y: i32 });
const first: { x: number; y: number } = cuda.reduce((a: { x: number; y: number }, _b: { x: number; y: number }) => a)(
  cuda.deviceArray(3, Point),
);
const made: number = cuda.reduce(
  ({ m }: { m: number }) =>
    (a: number, b: number) =>
      (a + b) % m,
  {
    captures: { m: 7 },
  },
)(new Int32Array(3));
export const reduced: readonly unknown[] = [total, fromDevice, nothing, later, wide, first, made];

// @ts-expect-error a reduction of numbers takes no bigints
sum(new BigInt64Array(3));
// @ts-expect-error nor is a result of numbers a string
export const text: string = sum([1]);
// @ts-expect-error an option that there is not
sum([1], { sise: 1 });

// ------------------------------------------------------------------ universal functions

const add = cuda.vectorize((a, b) => a + b);
const onDevice: DeviceNDArray<number> = add(cuda.deviceArray(3, 'float32'), 1);
const plain: number = add(1, 2);
const hosted = add(new Float32Array(3), [1, 2, 3]);
const into: Float64Array = add(1, [2], { out: new Float64Array(1) });
const streamed: DeviceNDArray<number> = add(cuda.deviceArray(3, 'float32'), 1, { stream: cuda.stream() });
const less: DeviceNDArray<boolean> = cuda.vectorize((a, b) => a < b)(cuda.deviceArray(3), 1);
const square = cuda.vectorize((z: c64) => z * z);
const squares = square(cuda.deviceArray(3, 'complex64'));
const signed = cuda.vectorize((x: f32) => x + 1, { signature: ['float32(float32)'], identity: 0, name: 'next' });
const nin: number = signed.nin;
const again: Promise<DeviceNDArray<number>> = add.async(cuda.deviceArray(3, 'float32'), 1);
add.at(new Int32Array(3), [0, 1], 1);
const lines = add.reduce(cuda.deviceArray([2, 3], 'float32'), { axis: 1, keepDims: true });
const running: DeviceNDArray<number> = add.accumulate(cuda.deviceArray(3, 'float32'));
const table: DeviceNDArray<number> = add.outer(cuda.deviceArray(3, 'float32'), cuda.deviceArray(2, 'float32'));
const byRoc = roc.vectorize((a) => 2 * a)(new Float32Array(3));
export const applied: readonly unknown[] = [
  onDevice,
  plain,
  hosted,
  into,
  streamed,
  less,
  squares,
  nin,
  again,
  lines,
  running,
  table,
  byRoc,
];

// @ts-expect-error one argument is missing
add(1);
// @ts-expect-error a text is no element
add('a', 1);
// @ts-expect-error functions of elements give elements
cuda.vectorize((a: number) => `${a}`);

// ------------------------------------------------------------------ functions of parts of arrays

const product = cuda.guvectorize((_a: Mat<f64>, _b: Mat<f64>, _c: Mat<f64>) => {}, '(m,n),(n,p)->(m,p)');
const stacked: DeviceNDArray = product(cuda.deviceArray([2, 2]), cuda.deviceArray([2, 2]));
const shifted = cuda.guvectorize((_x: Vec<f32>, _y: number, _out: Vec<f32>) => {}, '(n),()->(n)', {
  signature: 'void(float32[:], float32, float32[:])',
})(new Float32Array(3), 1);
const inOrder = roc.guvectorize(['void(f32[:], f32[:])'], '(n)->(n)')((_x: Vec<f32>, _y: Vec<f32>) => {});
export const parts: readonly unknown[] = [stacked, shifted, inOrder.nout];

// @ts-expect-error a layout is a text
cuda.guvectorize((_x: Vec<f32>, _y: Vec<f32>) => {}, 3);
