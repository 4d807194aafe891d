/**
 * What must compile in a user's project: kernels, launches and arrays, under every strictness. Compiled, never run.
 *
 * Rows of 2-D and 3-D arrays are written `A[i]![j]!`, so that the file also compiles with `noUncheckedIndexedAccess`.
 */
import {
  bf16,
  type Cube,
  c64,
  cuda,
  type DeviceNDArray,
  DriverError,
  f32,
  f64,
  type In,
  i32,
  i64,
  type Kernel,
  KernelError,
  type Mat,
  type NDArray,
  NotSupportedError,
  ndarray,
  OutOfMemoryError,
  scope,
  struct,
  type u8,
  type u8c,
  u32,
  type Vec,
  type View,
} from 'tsamba';
import { deviceArray, grid, type In as InToo, jit, shared, syncThreads } from 'tsamba/cuda';

const n = 1000;
const x = new Float32Array(n);
const y = new Float32Array(n);

// ------------------------------------------------------------------ kernels

const saxpy = cuda.jit((a: number, x: In<Vec<f32>>, y: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * x[i]! + y[i]!;
});
const typed: Kernel<[a: number, x: In<Vec<f32>>, y: Vec<f32>]> = saxpy;

const TILE = 16;
const matmul = jit((A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
  const sA = shared.array([TILE, TILE], f32);
  const sB = cuda.shared.array([TILE, TILE], 'float32');
  const [j, i] = grid(2);
  const { x: tx, y: ty } = cuda.threadIdx;
  let acc = 0;
  for (let k0 = 0; k0 < A.shape[1]; k0 += TILE) {
    sA[ty]![tx] = A[i]![k0 + tx]!;
    sB[ty]![tx] = B[k0 + ty]![j]!;
    syncThreads();
    for (let k = 0; k < TILE; k++) acc += sA[ty]![k]! * sB[k]![tx]!;
    syncThreads();
  }
  C[i]![j] = acc;
});

const add = (a: f32, b: f32): f32 => a + b;
const rows = cuda.jit((A: Mat<f64>, out: Vec<f64>, T: Cube<i32>, flag: boolean, big: i64, count: i32) => {
  const i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;
  const row = A[i]!;
  for (const v of row) out[i] = add(out[i]!, v);
  for (const v of A.slice(i, '1:5')) out[i]! += v;
  const part: Mat<f64> = A.slice('::2', [1, null, 2]);
  out[i]! += part.shape[0] + A.ndim + A.size + T[i]![0]![0]! + row.length + out.strides[0];
  if (flag && big > 3n && count > 2) out[0] = out.get(i);
  const local = cuda.local.array(4, f32);
  local[0] = cuda.selp(flag, 1, 2);
  const dynamic = cuda.shared.array(0, u32);
  cuda.atomic.add(dynamic, 0, 1);
  cuda.atomic.max(T, [0, 1, 2], 5);
  const old: number = cuda.atomic.cas(dynamic, 0, 1, 2);
  out[0] = old + cuda.syncThreadsCount(flag) + cuda.popc(3) + cuda.laneId + cuda.warpSize;
  const long: bigint = cuda.shflSync(0xffffffff, big, 0) + cuda.popc(7n);
  const [mask, all] = cuda.matchAllSync(cuda.activeMask(), count);
  if (all && cuda.uniform(flag) && cuda.uniform(count) > 0) out[1] = mask + Number(long) + f32(i) + Number(i64(i));
  cuda.cg.thisGrid().sync();
});

const table = Float32Array.of(1, 2, 3);
const withConstants = cuda.jit((out: Vec<f32>, zero: View<f32, 0>) => {
  const c = cuda.const.arrayLike(table);
  out[cuda.grid(1)] = c[0]! + cuda.constant.arrayLike(table).length + zero.get();
});

const histogram = cuda.jit((bins: Vec<u32>, data: In<Vec<u8>>) => {
  const i = cuda.grid(1);
  const step = cuda.gridSize(1);
  for (let k = i; k < data.length; k += step) cuda.atomic.add(bins, data[k]!, 1);
});

const invert = cuda.jit((pixels: Vec<u8c>) => {
  const i = cuda.grid(1);
  if (i < pixels.length) pixels[i] = 255 - pixels[i]!;
});

const weigh = cuda.jit((weights: Vec<bf16>, sums: Mat<bf16>) => {
  const i = cuda.grid(1);
  const tile = cuda.shared.array([4, 4], bf16);
  tile[0]![1] = weights[i]! * 2;
  sums[i]![0] = bf16(tile[0]![1]!);
});
weigh.launch({ threads: n }, cuda.deviceArray(n, bf16), cuda.deviceArray([n, 1], 'bfloat16'));
weigh.launch({ threads: n }, ndarray(x, { dtype: 'bf16' }), cuda.deviceArray([n, 1], 'bf16'));
// @ts-expect-error: the elements of a Uint16Array are u16, not bits
weigh.launch({ threads: n }, new Uint16Array(n), cuda.deviceArray([n, 1], bf16));
// @ts-expect-error: f32 is another type
weigh.launch({ threads: n }, cuda.deviceArray(n, f32), cuda.deviceArray([n, 1], bf16));
const weights: NDArray<bf16, 1> = cuda.deviceArray(n, bf16).copyToHost();
const bits: Uint16Array = weights.data;
const weight: number = weights.get(0);

const withTuple = cuda.jit((pair: readonly [Vec<f32>, number], out: Vec<f32>) => {
  const [a, k] = pair;
  out[0] = a[0]! * k;
});

// ------------------------------------------------------------------ launches

const dx = cuda.toDevice(x);
const dy = cuda.deviceArray(n, f32);
const stream = cuda.stream();
saxpy.launch({ grid: 100, block: 100 }, 2, dx, dy);
saxpy.launch({ grid: [10, 1], block: [100], stream, sharedBytes: 64 }, 2, dx, dy);
saxpy.launch({ threads: n }, 2, dx, dy);
saxpy.launch({ threads: [n, 1, 1], block: [32, 4], stream: 0 }, cuda.scalar(f32, 2), x, y);
saxpy.configure(100, 100, stream, 0)(2, dx, dy);
saxpy.forAll(n, { stream, block: 64 })(2, x, y);
saxpy.launch({ threads: n }, 2, cuda.In(x), cuda.Out(y));
saxpy.launch({ threads: n }, 2, ndarray(x), cuda.InOut(ndarray(y)));
saxpy.compile(2, dx, dy);
saxpy.recompile();
const text: string = saxpy.inspect({ target: 'types' }) + saxpy.inspect();
const { hits, specialisations } = saxpy.stats;
const registers: number = saxpy.attributes().registers + hits + specialisations.length + text.length;
typed.launch({ threads: registers }, 1, dx, dy);

const A = cuda.deviceArray([64, 32], f32);
const B = deviceArray([32, 64], 'float32');
const C = cuda.deviceArrayLike(A);
matmul.launch({ grid: [4, 4], block: [TILE, TILE] }, A, B, C);
matmul.launch({ threads: [64, 64] }, A, ndarray.zeros([32, 64], f32), A.reshape([32, 64]));

// Arrays whose rank the type system does not know go anywhere.
const shape: number[] = [64, 64];
const some = cuda.deviceArray(shape, f32);
matmul.launch({ threads: [64, 64] }, some, some, some.slice(0, ':'));
saxpy.launch({ threads: 64 }, 1, some, dy);

rows.launch(
  { threads: 1 },
  cuda.deviceArray([2, 2]),
  new Float64Array(2),
  cuda.deviceArray([1, 2, 3], i32),
  true,
  3n,
  4,
);
withConstants.launch({ threads: 1 }, dy, cuda.deviceArray([], f32));
invert.launch({ threads: 9 }, new Uint8ClampedArray(9));
histogram.launch(
  { threads: 1 },
  { data: new Uint32Array(256), shape: [256], stride: [1], offset: 0 },
  new Uint8Array(9),
);
withTuple.launch({ threads: 1 }, [dx, 2], dy);

const gain = 2;
const viaFactory = cuda.jit(
  ({ cuda: c, gain: g }: { cuda: typeof cuda; gain: number }) =>
    (v: Vec<f32>) => {
      v[c.grid(1)]! *= g;
    },
  { captures: { cuda, gain } },
);
viaFactory.launch({ threads: 3 }, dx);

const stated = cuda.jit(
  (v: Vec<f32>, k: i32) => {
    v[0] = k;
  },
  {
    signature: ['f32[:]', i32],
    fastMath: true,
    contract: false,
    defaultFloat: 'f32',
    boundsCheck: true,
    debug: true,
    launchBounds: 256,
    maxRegisters: 32,
    name: 'stated',
  },
);
cuda.jit(
  (v: Vec<f32>) => {
    v[0] = 1;
  },
  { signature: 'void(f32[:])', defaultFloat: f32 },
);
cuda.jit(
  (v: Vec<f32>) => {
    v[0] = 1;
  },
  { signature: ['void(f32[:])', 'void(f64[:])'] },
);
stated.launch({ threads: 1 }, dx, 3);

// ------------------------------------------------------------------ arrays

const host: Float32Array = dx.copyToHost();
const host2: NDArray<f32, 2> = A.copyToHost();
const later: Promise<Float32Array> = dx.copyToHostAsync({ stream });
const value: number = A.get(1, 2);
const big: bigint = ndarray.zeros(3, i64).get(0);
const rank1: DeviceNDArray<f32, 1> = A.ravel();
const particle = struct({ x: f32, y: i32 });
const complexes = ndarray.zeros(4, c64);
const re: number = complexes.get(0).re;
const result = scope(() => cuda.toDevice([1, 2, 3]));
const errors = [KernelError, DriverError, OutOfMemoryError, NotSupportedError].map((E) => E.name);
const cast: number = f32(1.5) + i32(2n);
const readonlyView: InToo<Vec<f32>> = null as unknown as Vec<f32>;
for (const d of [dx, dy]) d.dispose();
dx[Symbol.dispose]();

export { big, bits, cast, errors, f64, host, host2, later, particle, rank1, re, readonlyView, result, value, weight };
