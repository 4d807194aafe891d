/**
 * What an editor is to know of ordinary programs: captured arrays, defaults, helpers on the host, structs, complex numbers, enums. Compiled, never run.
 */
import {
  type bool,
  c64,
  cuda,
  type DeviceNDArray,
  type DTypeName,
  f32,
  type In,
  type i32,
  type Kernel,
  type Mat,
  type NDArray,
  ndarray,
  roc,
  struct,
  type Vec,
} from 'tsamba';

// ------------------------------------------------------------------ captured arrays

const weights = ndarray([
  [1, 2],
  [3, 4],
]);
const offsets = ndarray(Float32Array.of(1, 2));
const deep = ndarray.zeros([2, 2, 2], f32);
const unknownRank: NDArray<f32> = ndarray(offsets);
export const captured = cuda.jit((y: Vec<f32>) => {
  y[0] = weights[1]![0]! + offsets[1]! + deep[0]![1]![1]! + unknownRank[0] + unknownRank[0][0];
  // @ts-expect-error what was captured is a constant
  offsets[0] = 1;
});

// ------------------------------------------------------------------ defaults, options, objects

const scaled = cuda.jit((y: Vec<f32>, gain = 2, flip = false, big = 1n) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i]! *= flip ? -gain : gain + Number(big);
});
export const typed: Kernel<
  [y: Vec<f32>, gain?: number | undefined, flip?: boolean | undefined, big?: bigint | undefined]
> = scaled;
scaled.launch({ threads: 4 }, new Float32Array(4));
scaled.launch({ threads: 4 }, new Float32Array(4), 3, true, 2n);
// @ts-expect-error the type of the default is kept
scaled.launch({ threads: 4 }, new Float32Array(4), '3');

// ------------------------------------------------------------------ helpers on host and device

const norm = (v: Vec<f32>): number => {
  let sum = 0;
  for (let i = 0; i < v.length; i++) sum += v[i]! * v[i]!;
  for (const x of v) sum += x;
  sum += v.reduce((a, b) => a + b) + v.at(-1) + v.map((x) => 2 * x)[0]!;
  return Math.sqrt(sum);
};
const largest = (v: In<Vec<i32>>): number => v.reduce((a, b) => Math.max(a, b), 0);
const clear = (v: Vec<f32>): Vec<f32> => v.fill(0);
export const onHost: number = norm(new Float32Array(4)) + largest(Int32Array.of(1, 2));
clear(new Float32Array(3));
cuda.jit((y: Vec<f32>, A: Mat<f32>) => {
  y[0] = norm(y) + norm(A[0]!) + norm(y.slice('1:3')) + norm(cuda.shared.array(4, f32)) + norm(y.slice([1, 3]));
  y[1] = y.shape[0] + y.sum() + y.size + A.shape[1];
});

// ------------------------------------------------------------------ structs

const Particle = struct({ mass: f32, tag: 'int64', pos: f32.array(3), z: c64 });
const particles = cuda.deviceArray(4, Particle).copyToHost();
export const all: readonly { readonly mass: number; readonly tag: bigint; readonly pos: readonly number[] }[] =
  particles.toArray();
export const table: { readonly mass: number }[][] = ndarray.zeros([2, 2], Particle).toArray();
export const part: number = particles.toArray()[0]!.z.re;
// @ts-expect-error there is no such member
particles.toArray()[0]!.weight;

// ------------------------------------------------------------------ complex numbers

export const julia = cuda.jit((out: Vec<i32>, c: c64, table: Vec<c64>) => {
  const i = cuda.grid(1);
  let z = c64(0, 0);
  let n = 0;
  while (n < 50 && Math.abs(z) < 2) {
    z = z * z + c;
    n++;
  }
  table[i] = z * 2 + 1;
  table[i]! *= c;
  table[i]!.re = z.im;
  const w: c64 = z / (z + 1);
  out[i] = n + w.re * w.im + c64(z * z).re + table[i]!.re;
});
julia.launch({ threads: 1 }, cuda.deviceArray(4, 'int32'), { re: 1, im: 2 }, cuda.deviceArray(4, c64));
export const host: number = ndarray([{ re: 1, im: 2 }], { dtype: c64 }).get(0).im;
// @ts-expect-error no number has parts
(5).re;

// ------------------------------------------------------------------ enums

enum Mode {
  Add,
  Scale = 4,
}
enum Way {
  Up = 'up',
  Down = 'down',
}
const Shape = { Box: 1, Ball: 2 } as const;
type Shape = (typeof Shape)[keyof typeof Shape];
export const modes = cuda.jit((y: Vec<f32>, mode: Mode, way: Way, shape: Shape, on: bool) => {
  if (mode === Mode.Scale && way === Way.Up && on) y[0] = Shape.Ball;
  else y[0] = shape === Shape.Box ? Mode.Add : 1;
});
modes.launch({ threads: 1 }, new Float32Array(1), Mode.Scale, Way.Down, Shape.Ball, true);
// @ts-expect-error a string enum has no other strings
modes.launch({ threads: 1 }, new Float32Array(1), Mode.Scale, 'left', Shape.Ball, true);
// @ts-expect-error nor a numeric one other numbers
modes.launch({ threads: 1 }, new Float32Array(1), 3, Way.Up, Shape.Ball, true);

// ------------------------------------------------------------------ names of dtypes, namespaces

const read = { descr: '<f4' };
export const named: DeviceNDArray = cuda.deviceArray(3, read.descr as DTypeName);
export const spelled: DeviceNDArray<f32, 1> = cuda.deviceArray(3, '=f4');
// An array whose type leaves open whose it is goes into kernels of either.
const open: DeviceNDArray<f32, 1> = roc.deviceArray(8, f32);
scaled.launch({ threads: 8 }, open);
