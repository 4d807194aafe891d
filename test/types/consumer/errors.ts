/**
 * What the editor must refuse, under every strictness. An unused `@ts-expect-error` is an error of its own.
 */
import { type Cube, cuda, f32, f64, type In, i32, type Mat, ndarray, roc, type Vec } from 'tsamba';

const saxpy = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * x[i]! + y[i]!;
});
const matmul = cuda.jit((A: Mat<f32>, B: Mat<f32>, C: Mat<f32>) => {
  C[0]![0] = A[0]![0]! * B[0]![0]!;
});
const counts = cuda.jit((T: Cube<i32>, flag: boolean, pair: readonly [Vec<f32>, number]) => {
  T[0]![0]![0] = flag ? pair[1] : 0;
});

const v = cuda.deviceArray(8, f32);
const w = cuda.deviceArray(8, f64);
const A = cuda.deviceArray([8, 8], f32);
const T = cuda.deviceArray([2, 2, 2], i32);

// rank
// @ts-expect-error a 2-D array for a 1-D parameter
saxpy.launch({ threads: 8 }, 2, A, v);
// @ts-expect-error a 1-D array for a 2-D parameter
matmul.launch({ threads: 8 }, v, A, A);
// @ts-expect-error a TypedArray has one axis
matmul.launch({ threads: 8 }, new Float32Array(64), A, A);
// @ts-expect-error a host array of rank 2
saxpy.launch({ threads: 8 }, 2, ndarray.zeros([8, 8], f32), v);
// @ts-expect-error two axes for three
counts.launch({ threads: 1 }, cuda.deviceArray([2, 2], i32), true, [v, 1]);

// dtype
// @ts-expect-error f64 for f32
saxpy.launch({ threads: 8 }, 2, w, v);
// @ts-expect-error Float64Array for f32
saxpy.launch({ threads: 8 }, 2, new Float64Array(8), v);
// @ts-expect-error i32 for f32
saxpy.launch({ threads: 8 }, 2, new Int32Array(8), v);
// @ts-expect-error f64 behind a hint
saxpy.launch({ threads: 8 }, 2, cuda.In(new Float64Array(8)), v);
// @ts-expect-error f32 for i32
counts.launch({ threads: 1 }, cuda.deviceArray([2, 2, 2], f32), true, [v, 1]);
// @ts-expect-error f64 inside a tuple
counts.launch({ threads: 1 }, T, true, [w, 1]);

// number and kind of arguments
// @ts-expect-error y is missing
saxpy.launch({ threads: 8 }, 2, v);
// @ts-expect-error one too many
saxpy.launch({ threads: 8 }, 2, v, v, v);
// @ts-expect-error an array for a number
saxpy.launch({ threads: 8 }, v, v, v);
// @ts-expect-error a number for an array
saxpy.launch({ threads: 8 }, 2, 3, v);
// @ts-expect-error a plain array of numbers is no host array
saxpy.launch({ threads: 8 }, 2, [1, 2, 3], v);
// @ts-expect-error a string
saxpy.launch({ threads: 8 }, '2', v, v);
// @ts-expect-error a number for a boolean
counts.launch({ threads: 1 }, T, 1, [v, 1]);
// @ts-expect-error the tuple has two items
counts.launch({ threads: 1 }, T, true, [v]);
// @ts-expect-error configured launches check as well
saxpy.configure(1, 8)(2, v, w);
// @ts-expect-error so does forAll
saxpy.forAll(8)(2, v);

// shapes
// @ts-expect-error blocks: is a typo
saxpy.launch({ grid: 1, blocks: 8 }, 2, v, v);
// @ts-expect-error block is missing
saxpy.launch({ grid: 1 }, 2, v, v);
// @ts-expect-error four dimensions
saxpy.launch({ grid: [1, 2, 3, 4], block: 8 }, 2, v, v);
// @ts-expect-error either grid or threads
saxpy.launch({ grid: 1, block: 8, threads: 8 }, 2, v, v);
// @ts-expect-error a stream is a Stream
saxpy.launch({ threads: 8, stream: 'fast' }, 2, v, v);
// @ts-expect-error the shape comes first
saxpy.launch(2, v, v);
// @ts-expect-error a kernel is launched, not called
saxpy(2, v, v);
cuda.jit((a: Vec<f32>) => {
  // @ts-expect-error cuda.grid has one to three dimensions
  a[0] = cuda.grid(4)[0];
});

// inside kernels
cuda.jit((x: In<Vec<f32>>, M: In<Mat<f32>>, y: Vec<f32>, Y: Mat<f32>, big: bigint, k: number) => {
  // @ts-expect-error x is only read
  x[0] = 1;
  // @ts-expect-error M is only read
  M[0]![0] = 1;
  // @ts-expect-error a row is no number
  y[0] = Y[0]!;
  // @ts-expect-error nor can it be added to one
  y[0] = Y[0]! + 1;
  // @ts-expect-error a row is not assigned
  Y[0] = y;
  // @ts-expect-error bigint and number do not mix
  y[0] = big + k;
  // @ts-expect-error length is only read
  y.length = 3;
  // @ts-expect-error a 2-D array has two strides
  y[0] = Y.strides[2];
  // @ts-expect-error an index of two for one axis
  cuda.atomic.add(y, [0, 1], 1);
  // @ts-expect-error and of one for two
  cuda.atomic.add(Y, 0, 1);
  // @ts-expect-error bits of floats are not combined
  cuda.atomic.xor(y, 0, 1);
  // @ts-expect-error a shared array needs a dtype
  cuda.shared.array(16);
  // @ts-expect-error a fourth axis is not in the types
  cuda.shared.array([1, 2, 3, 4], f32);
  // @ts-expect-error threadIdx has x, y and z
  y[0] = cuda.threadIdx.w;
  // @ts-expect-error threadIdx is only read
  cuda.threadIdx.x = 1;
});

// options
const body = (a: Vec<f32>): void => {
  a[0] = 1;
};
// @ts-expect-error fastmath is a typo
cuda.jit(body, { fastmath: true });
// @ts-expect-error no such type
cuda.jit(body, { defaultFloat: 'i32' });
// @ts-expect-error no such target
saxpy.inspect({ target: 'cubin' });

// kernels
// @ts-expect-error a kernel returns nothing
cuda.jit((a: Vec<f32>) => a[0]! * 2);
// @ts-expect-error nor on some ways only
cuda.jit((a: Vec<f32>) => {
  if (a[0]! > 0) return a[0]!;
  return undefined;
});
// @ts-expect-error a kernel is not async
cuda.jit(async (a: Vec<f32>) => {
  a[0] = 1;
});

// dtypes by name
// @ts-expect-error no dtype is called that
cuda.deviceArray(10, 'f31');
// @ts-expect-error one byte here, eight in NumPy
cuda.deviceArray(10, 'i8');
// @ts-expect-error devices read no big-endian numbers
ndarray.zeros(10, '>f4');
cuda.jit((a: Vec<f32>) => {
  // @ts-expect-error nor in kernels
  a[0] = cuda.shared.array(16, 'float23')[0];
});

// copies convert nothing
// @ts-expect-error f32 into a Float64Array
v.copyToHost(new Float64Array(8));
// @ts-expect-error nor into an Int32Array, later
v.copyToHostAsync(new Int32Array(8));
// @ts-expect-error nor into an NDArray of f64
A.copyToHost(ndarray.zeros([8, 8], f64));

// one namespace's arrays in the other's kernels
const ours = roc.deviceArray(8, f32);
// @ts-expect-error an array of roc in a kernel of cuda
saxpy.launch({ threads: 8 }, 2, ours, v);
// @ts-expect-error a view of it as well
saxpy.launch({ threads: 8 }, 2, ours.reshape([8]), v);
// @ts-expect-error or where launches are configured
saxpy.configure(1, 8)(2, v, roc.toDevice(new Float32Array(8)));
const rocCopy = roc.jit((a: Vec<f32>, b: Vec<f32>) => {
  const i = roc.getGlobalId(0);
  if (i < b.length) b[i] = a[i]!;
});
// @ts-expect-error and the other way round
rocCopy.launch({ grid: 1, block: 8 }, ours, v);

// enums and literals
const Side = { left: 0, right: 1 } as const;
type Side = (typeof Side)[keyof typeof Side];
const bySide = cuda.jit((a: Vec<f32>, side: Side, way: 'up' | 'down') => {
  a[0] = side === Side.left && way === 'up' ? 1 : 2;
});
// @ts-expect-error there is no such side
bySide.launch({ threads: 1 }, v, 2, 'up');
// @ts-expect-error nor such a way
bySide.launch({ threads: 1 }, v, Side.left, 'back');

// helpers on the host
const norm = (x: In<Vec<f32>>): number => Math.hypot(x[0]!, x[1]!);
norm(new Float32Array(2));
// @ts-expect-error elements of another type
norm(new Float64Array(2));
// @ts-expect-error a helper for matrices takes no vector
((M: Mat<f32>): number => M[0]![0]!)(new Float32Array(4));

// the namespaces are read-only
// @ts-expect-error a function of the namespace
cuda.deviceArray = () => v;
