/**
 * What must compile, and what must not, with `roc`: by name, as an object, and under its old name. Compiled, never run.
 */
import { f32, f64, hsa, i32, type Mat, type NDArray, ndarray, type Roc, roc, struct } from 'tsamba';
import * as named from 'tsamba/roc';
import { type Agent, type Context, type DeviceNDArray, getGlobalId, jit, type Kernel, type Pinning } from 'tsamba/roc';

const x = new Float32Array(10);

// ------------------------------------------------------------------ kernels

const TILE = 8;
const matmul = jit((A: Mat<f32>, B: Mat<f32>, C: Mat<f32>) => {
  const s = roc.shared.array([TILE, TILE], f32);
  const t = named.shared.array(16, 'int32');
  const [tx, ty] = [roc.getLocalId(0), roc.getLocalId(1)];
  s[ty]![tx] = A[getGlobalId(1)]![getGlobalId(0)]!;
  roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
  roc.barrier();
  roc.memFence(roc.CLK_GLOBAL_MEM_FENCE);
  roc.waveBarrier();
  const old: number = roc.atomic.add(t, 0, 1);
  roc.atomic.add(C, [0, 1], 0.5);
  const lane: number = roc.dsPermute(tx, 1) + roc.dsBpermute(tx + 1, old);
  const big: bigint = roc.dsBpermute(0, 2n);
  C[0]![0] = lane + Number(big) + roc.activeLanePermuteWaveWidth(1, 2, 0, tx > 3) + B[0]![0]!;
  C[0]![1] = roc.getGroupId(0) + roc.getNumGroups(1) + roc.getGlobalSize(2) + roc.getLocalSize(0) + roc.getWorkDim();
  // @ts-expect-error: 2 is OpenCL's number for the scope, and not Numba's
  roc.barrier(2);
  // @ts-expect-error: a fence needs its scope
  roc.memFence();
});
const typed: Kernel<[A: Mat<f32>, B: Mat<f32>, C: Mat<f32>]> = matmul;
const A = roc.deviceArray([8, 8], f32);
typed.launch({ grid: 1, block: [8, 8], stream: roc.stream() }, A, A, A);
typed.configure(1, 64, roc.stream())(A, A, A);
typed.forAll(64, { block: 32 })(A, A, ndarray(x, { shape: [2, 5] }));
const assembly: string = typed.inspect({ target: 'opencl' });
// @ts-expect-error: a vector is no matrix
typed.launch({ grid: 1, block: 1 }, x, A, A);

// ------------------------------------------------------------------ memory

const d: DeviceNDArray<f32, 1> = roc.toDevice(x, { copy: false, context: roc.currentContext() });
const back: Float32Array = d.copyToHost({ stream: roc.stream() });
const like: DeviceNDArray<f32, 1> = roc.deviceArrayLike(x);
const again: DeviceNDArray<f32, 1> = roc.toDevice(d);
const numbers: DeviceNDArray<f64, 1> = roc.toDevice([1, 2, 3]);
const charge: number = roc.toDevice({ n: 1 }, { dtype: struct({ n: i32 }) }).get('n');
const made = new roc.DeviceNDArray<f32, 1>([3], null, f32);
const host: NDArray<f32, 2> = roc.coarsegrainArray([2, 3], f32, { order: 'F' });
const fine: NDArray<f64, 1> = roc.finegrainArray(4, f64);
const registered: Pinning = roc.register(x, host);
const result: number = roc.register(x, () => 3);
const later: Promise<number> = roc.register(x, host, async () => 3);
roc.deregister(x, host);
registered.dispose();
const agent: Agent | undefined = roc.agents[0];
const context: Context = roc.currentContext();
const all: Roc = hsa;
// @ts-expect-error: arrays of roc are made without a stream
roc.deviceArray(3, f32, { stream: roc.stream() });
// @ts-expect-error: roc computes on no device of this name
roc.selectDevice('vulkan');

export { again, agent, all, assembly, back, charge, context, fine, later, like, made, numbers, result };
