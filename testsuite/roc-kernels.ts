/**
 * Kernels of `roc`: work-item functions, barriers with their scopes, shared memory, atomics, what the lanes of a wavefront exchange, and
 * the ways to launch. Runs on whatever device `roc` computes on.
 */
import {
  cuda,
  type DeviceNDArray,
  f32,
  type f64,
  i32,
  type LaunchOptions,
  type Mat,
  ndarray,
  roc,
  u32,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

function zeros<const D extends 'int32' | 'float32' | 'float64'>(n: number, dtype: D) {
  const d = roc.deviceArray(n, dtype);
  d.set(0);
  return d;
}

const TILE = 8;
const WAVE = 64;

/** What a kernel is refused for. */
function refused(kernel: { compile(a: unknown): void }, message: RegExp, code: string): void {
  throws(() => kernel.compile(Float32Array.of(0)), message, code);
}

export const rocKernels: readonly ConformanceTest[] = chapter('roc kernels', {
  'work-item functions in three dimensions': async () => {
    const kernel = roc.jit((out: Mat<i32>) => {
      const [x, y, z] = [roc.getGlobalId(0), roc.getGlobalId(1), roc.getGlobalId(2)];
      const k = x + roc.getGlobalSize(0) * (y + roc.getGlobalSize(1) * z);
      for (let d = 0; d < 3; d++) {
        out[k][d] = roc.getGroupId(d) * roc.getLocalSize(d) + roc.getLocalId(d) - roc.getGlobalId(d);
        out[k][d + 3] = roc.getNumGroups(d) * roc.getLocalSize(d) - roc.getGlobalSize(d);
      }
      out[k][6] = x + 10 * y + 100 * z;
      out[k][7] = roc.getWorkDim();
    });
    const out = roc.deviceArray([144, 8], i32);
    await launch(kernel, { grid: [2, 3, 2], block: [2, 2, 3] }, out);
    const rows = (await read(out)).toArray() as number[][];
    rows.forEach((row, k) => {
      const at = (k % 4) + 10 * (((k / 4) | 0) % 6) + 100 * ((k / 24) | 0);
      sameElements(row, [0, 0, 0, 0, 0, 0, at, 3], `item ${k}`);
    });
  },
  'dimensions that the kernel chooses': async () => {
    const kernel = roc.jit((out: Mat<i32>) => {
      if (roc.getGlobalId(0) !== 3 || roc.getGlobalId(1) !== 2 || roc.getGlobalId(2) !== 3) return;
      for (let d = 0; d < out.shape[1]; d++) {
        out[0][d] = roc.getGlobalSize(d);
        out[1][d] = roc.getNumGroups(d);
        out[2][d] = roc.getLocalSize(d);
        out[3][d] = roc.getGroupId(d);
      }
    });
    const out = roc.deviceArray([4, 5], i32);
    await launch(kernel, { grid: [2, 3, 4], block: [2, 1, 1] }, out);
    const rows = (await read(out)).toArray() as number[][];
    sameElements(rows[0] ?? [], [4, 3, 4, 1, 1]);
    sameElements(rows[1] ?? [], [2, 3, 4, 1, 1]);
    sameElements(rows[2] ?? [], [2, 1, 1, 1, 1]);
    sameElements(rows[3] ?? [], [1, 2, 3, 0, 0]);
  },
  'dimensions that there are not': async () => {
    const kernel = roc.jit((out: Vec<i32>, d: number) => {
      const i = roc.getGlobalId(0);
      if (i > 0) return;
      out[0] = roc.getGlobalId(3) + roc.getLocalId(7) + roc.getGroupId(3);
      out[1] = roc.getNumGroups(3) + 10 * roc.getGlobalSize(3) + 100 * roc.getLocalSize(3);
      out[2] = roc.getGlobalSize(d) + 10 * roc.getGlobalId(d);
      out[3] = roc.getGlobalSize(1) + 10 * roc.getLocalSize(2);
      out[4] = roc.getWorkDim();
    });
    const out = zeros(5, 'int32');
    await launch(kernel, { grid: 2, block: 4 }, out, 3);
    sameElements(await read(out), [0, 111, 1, 11, 1]);
    refused(
      roc.jit((a: Vec<f32>) => {
        a[0] = roc.getGlobalId(-1);
      }),
      /roc\.getGlobalId takes a dimension/,
      'K340',
    );
  },
  'a barrier of either scope orders shared and global memory': blocking(async () => {
    const kernel = roc.jit((out: Vec<i32>, scratch: Vec<i32>) => {
      const s = roc.shared.array(32, i32);
      const t = roc.getLocalId(0);
      s[t] = t;
      roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
      scratch[roc.getGlobalId(0)] = s[31 - t] * 2;
      roc.barrier(roc.CLK_GLOBAL_MEM_FENCE);
      const first = roc.getGroupId(0) * 32;
      out[first + t] = scratch[first + ((t + 1) % 32)];
      roc.barrier();
    });
    const out = zeros(64, 'int32');
    kernel.configure(2, 32)(out, zeros(64, 'int32'));
    sameElements(
      await read(out),
      Array.from({ length: 64 }, (_, k) => 2 * (31 - ((k + 1) % 32))),
    );
    same(roc.CLK_LOCAL_MEM_FENCE, 0);
    same(roc.CLK_GLOBAL_MEM_FENCE, 1);
  }),
  'a barrier knows two scopes, and must be reached by all': () => {
    refused(
      roc.jit((a: Vec<f32>) => {
        roc.barrier(2 as never);
        a[0] = 1;
      }),
      /roc\.barrier takes roc\.CLK_LOCAL_MEM_FENCE or roc\.CLK_GLOBAL_MEM_FENCE, not 2/,
      'K341',
    );
    refused(
      roc.jit((a: Vec<f32>) => {
        roc.memFence(a.length as never);
        a[0] = 1;
      }),
      /computed in the kernel/,
      'K341',
    );
    refused(
      roc.jit((a: Vec<f32>) => {
        if (roc.getLocalId(0) > 3) roc.waveBarrier();
        a[0] = 1;
      }),
      /only some threads/,
      'K401',
    );
  },
  'memFence and waveBarrier': async () => {
    const kernel = roc.jit((out: Vec<i32>) => {
      const s = roc.shared.array(WAVE, i32);
      const t = roc.getLocalId(0);
      s[t] = t;
      roc.memFence(roc.CLK_LOCAL_MEM_FENCE);
      roc.waveBarrier();
      out[t] = s[(t + 5) % WAVE];
      roc.memFence(roc.CLK_GLOBAL_MEM_FENCE);
    });
    const out = zeros(WAVE, 'int32');
    await launch(kernel, { grid: 1, block: WAVE }, out);
    sameElements(
      await read(out),
      Array.from({ length: WAVE }, (_, k) => (k + 5) % WAVE),
    );
  },
  'shared arrays have positive lengths': () => {
    refused(
      roc.jit((a: Vec<f32>) => {
        a[0] = roc.shared.array(0, f32)[0];
      }),
      /roc\.shared\.array of length 0/,
      'K332',
    );
    refused(
      roc.jit((a: Vec<f32>) => {
        a[0] = roc.shared.array([4, -1], f32)[0][0];
      }),
      /-1 is not a valid length for roc\.shared\.array/,
      'K332',
    );
    refused(
      roc.jit((a: Vec<f32>) => {
        a[0] = roc.shared.array(a.length, f32)[0];
      }),
      /roc\.shared\.array must be known at compile time/,
      'K332',
    );
  },
  'the tiled matrix multiplication of the documentation': async () => {
    const matmul = roc.jit((A: Mat<f32>, B: Mat<f32>, C: Mat<f32>) => {
      const x = roc.getGlobalId(0);
      const y = roc.getGlobalId(1);
      const tx = roc.getLocalId(0);
      const ty = roc.getLocalId(1);
      const sA = roc.shared.array([TILE, TILE], f32);
      const sB = roc.shared.array([TILE, TILE], f32);
      let sum = f32(0);
      for (let k0 = 0; k0 < A.shape[1]; k0 += TILE) {
        sA[ty][tx] = y < A.shape[0] && k0 + tx < A.shape[1] ? A[y][k0 + tx] : 0;
        sB[ty][tx] = x < B.shape[1] && k0 + ty < B.shape[0] ? B[k0 + ty][x] : 0;
        roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
        for (let k = 0; k < TILE; k++) sum += sA[ty][k] * sB[k][tx];
        roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
      }
      if (y < C.shape[0] && x < C.shape[1]) C[y][x] = sum;
    });
    const [n, m, p] = [20, 13, 17];
    const A = ndarray(
      Float32Array.from({ length: n * m }, (_, i) => i % 7),
      { shape: [n, m] },
    );
    const B = ndarray(
      Float32Array.from({ length: m * p }, (_, i) => (i % 5) - 2),
      { shape: [m, p] },
    );
    const C = roc.deviceArray([n, p], f32);
    await launch(matmul, { threads: [p, n], block: [TILE, TILE] }, roc.toDevice(A), roc.toDevice(B), C);
    const expected = Array.from({ length: n * p }, (_, at) => {
      let sum = 0;
      for (let k = 0; k < m; k++) sum += A.get((at / p) | 0, k) * B.get(k, at % p);
      return sum;
    });
    sameElements(((await read(C)).toArray() as number[][]).flat(), expected);
  },
  'atomic.add of every type, floats among them': async () => {
    const kernel = roc.jit((ints: Vec<i32>, floats: Vec<f32>, doubles: Vec<f64>, olds: Vec<i32>) => {
      const i = roc.getGlobalId(0);
      roc.atomic.add(floats, 0, 0.5);
      roc.atomic.add(doubles, i % 2, 0.25);
      olds[roc.atomic.add(ints, 0, 1)] = 1;
    });
    const [ints, floats, doubles, olds] = [
      zeros(1, 'int32'),
      zeros(1, 'float32'),
      zeros(2, 'float64'),
      zeros(256, 'int32'),
    ];
    await launch(kernel, { grid: 4, block: 64 }, ints, floats, doubles, olds);
    sameElements(await read(ints), [256]);
    sameElements(await read(floats), [128]);
    sameElements(await read(doubles), [32, 32]);
    sameElements(await read(olds), new Int32Array(256).fill(1));
  },
  'atomics of shared memory, and of two axes': async () => {
    const kernel = roc.jit((out: Mat<u32>) => {
      const s = roc.shared.array(4, u32);
      const t = roc.getLocalId(0);
      if (t < 4) s[t] = 0;
      roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
      roc.atomic.add(s, t % 4, 1);
      roc.atomic.max(out, [1, t % 4], t);
      roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
      if (t < 4) out[0][t] = s[t];
    });
    const out = roc.deviceArray([2, 4], u32);
    out.set(0);
    await launch(kernel, { grid: 1, block: 30 }, out);
    sameElements(((await read(out)).toArray() as number[][]).flat(), [8, 8, 7, 7, 28, 29, 26, 27]);
    refused(
      roc.jit((a: Vec<f32>) => {
        roc.atomic.and(a as never, 0, 1);
      }),
      /roc\.atomic\.and does not exist for f32/,
      'K335',
    );
  },
  'dsBpermute pulls from the lanes of 64': async () => {
    const kernel = roc.jit((out: Vec<f32>, values: Vec<f32>, lanes: Vec<i32>) => {
      const t = roc.getLocalId(0);
      out[t] = roc.dsBpermute(lanes[t], values[t]);
    });
    for (const block of [64, 150, 256]) {
      const lanes = Int32Array.from({ length: block }, (_, t) => (t * 7 + 3) % 200);
      const values = Float32Array.from({ length: block }, (_, t) => t + 0.5);
      const out = zeros(block, 'float32');
      await launch(kernel, { grid: 1, block }, out, roc.toDevice(values), roc.toDevice(lanes));
      sameElements(
        await read(out),
        Array.from({ length: block }, (_, t) => values[(t & ~63) + (lanes[t] & 63)] ?? 0),
        `block ${block}, item`,
      );
    }
  },
  'dsPermute pushes: the highest sender wins, 0 where nobody sends': async () => {
    const kernel = roc.jit((out: Vec<i32>, lanes: Vec<i32>) => {
      const t = roc.getLocalId(0);
      out[t] = roc.dsPermute(lanes[t], 1000 + t);
      out[t] += 10000 * roc.dsPermute(t ^ 1, t % 2);
    });
    for (const block of [64, 100]) {
      const lanes = Int32Array.from({ length: block }, (_, t) => (t * t) % 64);
      const out = zeros(block, 'int32');
      await launch(kernel, { grid: 1, block }, out, roc.toDevice(lanes));
      const expected = new Int32Array(block);
      for (let t = 0; t < block; t++) {
        const to = (t & ~63) + lanes[t];
        if (to < block) expected[to] = 1000 + t;
      }
      sameElements(
        await read(out),
        expected.map((v, t) => v + 10000 * ((t ^ 1) % 2)),
        `block ${block}, item`,
      );
    }
  },
  'exchanges of 64-bit values': async () => {
    const kernel = roc.jit((out: Vec<f64>, values: Vec<f64>) => {
      const t = roc.getLocalId(0);
      out[t] = roc.dsBpermute(63 - t, values[t]) + roc.dsPermute(63 - t, values[t]);
    });
    const values = Float64Array.from({ length: 64 }, (_, t) => t / 3);
    const out = zeros(64, 'float64');
    await launch(kernel, { grid: 1, block: 64 }, out, roc.toDevice(values));
    sameElements(
      await read(out),
      [...values].reverse().map((v) => v + v),
    );
  },
  'lanes that have returned take no part': async () => {
    const kernel = roc.jit((out: Vec<i32>) => {
      const t = roc.getLocalId(0);
      if (t >= 50) return;
      out[t] = roc.activeLanePermuteWaveWidth(t, t + 10, -1, t === 3);
      out[t] += 1000 * roc.dsBpermute(t + 20, 5);
    });
    const out = zeros(64, 'int32');
    await launch(kernel, { grid: 1, block: 64 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 64 }, (_, t) => {
        if (t >= 50) return 0;
        const active = t === 3 || (t + 10) % 64 >= 50 ? -1 : (t + 10) % 64;
        return active + ((t + 20) % 64 < 50 ? 5000 : 0);
      }),
    );
  },
  'exchanges in a loop': async () => {
    const kernel = roc.jit((out: Vec<i32>) => {
      const t = roc.getLocalId(0);
      let sum = t;
      for (let d = 32; d > 0; d >>= 1) sum += roc.dsBpermute(t ^ d, sum);
      out[t] = sum;
    });
    const out = zeros(128, 'int32');
    await launch(kernel, { grid: 1, block: 128 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 128 }, (_, t) => (t < 64 ? 2016 : 6112)),
    );
  },
  'forAll runs exactly n work items': blocking(async () => {
    const kernel = roc.jit((out: Vec<i32>, count: Vec<i32>) => {
      out[roc.getGlobalId(0)] = roc.getGlobalSize(0);
      roc.atomic.add(count, 0, 1);
    });
    for (const n of [1, 7, 64, 300, 509, 1000]) {
      const [out, count] = [zeros(n, 'int32'), zeros(1, 'int32')];
      kernel.forAll(n)(out, count);
      sameElements(await read(out), new Int32Array(n).fill(n), `n ${n}, item`);
      sameElements(await read(count), [n]);
    }
    const count = zeros(1, 'int32');
    kernel.forAll(0)(zeros(1, 'int32'), count);
    kernel.forAll(100, { block: 7, stream: roc.stream() })(zeros(100, 'int32'), count);
    roc.synchronize();
    sameElements(await read(count), [100]);
    throws(() => kernel.forAll(-1), /-1/);
  }),
  'a kernel needs to be configured': () => {
    const kernel = roc.jit((out: Vec<i32>) => {
      out[0] = 1;
    });
    throws(() => (kernel as unknown as (a: unknown) => void)(zeros(1, 'int32')), /launch/, 'E_NOT_CONFIGURED');
    throws(() => (kernel.configure as (grid: number) => unknown)(1), /configure takes/, 'E_LAUNCH_DIMS');
    const configured = kernel.configure(1, 1, roc.stream());
    throws(() => (configured as () => void)(), /argument/, 'E_ARGUMENT_COUNT');
  },
  'signatures are checked': async () => {
    const kernel = roc.jit(
      (a: Vec<f32>) => {
        a[roc.getGlobalId(0)] = 1;
      },
      { signature: 'void(float32[:])' },
    );
    await rejects(() => launch(kernel, { grid: 1, block: 1 }, zeros(1, 'float64') as never), /float64|f64/);
    const loose = kernel.launch as (options: LaunchOptions) => void;
    throws(() => loose({ grid: 1, block: 1 }), /argument/);
  },
  'kernels may use the words of cuda, and those of cuda the words of roc': async () => {
    const kernel = roc.jit((out: Vec<i32>) => {
      const s = cuda.shared.array(32, i32);
      s[cuda.threadIdx.x] = roc.getLocalId(0);
      cuda.syncThreads();
      out[cuda.grid(1)] = s[31 - roc.getLocalId(0)] - cuda.blockIdx.x;
    });
    const out = zeros(64, 'int32');
    await launch(kernel, { grid: 2, block: 32 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 64 }, (_, k) => 31 - (k % 32) - ((k / 32) | 0)),
    );
    const other = cuda.jit((y: Vec<i32>) => {
      roc.barrier(roc.CLK_LOCAL_MEM_FENCE);
      if (roc.getGlobalId(0) < y.length) y[roc.getGlobalId(0)] = roc.getLocalSize(0);
    });
    const y = cuda.deviceArray(3, i32);
    await launch(other, { grid: 1, block: 3 }, y);
    sameElements(await read(y), [3, 3, 3]);
  },
  'arrays of either namespace are captured where they are on the same device': blocking(async () => {
    const table = roc.toDevice(Int32Array.of(5, 6, 7));
    const kernel = roc.jit((out: Vec<i32>) => {
      const i = roc.getGlobalId(0);
      out[i] = (table as unknown as Vec<i32>)[2 - i];
    });
    const out = zeros(3, 'int32');
    kernel.forAll(3)(out);
    sameElements(await read(out), [7, 6, 5]);
    const theirs = cuda.toDevice(Int32Array.of(1));
    const other = roc.jit((y: Vec<i32>) => {
      y[0] = (theirs as unknown as Vec<i32>)[0];
    });
    const configured = other.forAll(1);
    if (onOneDevice()) {
      configured(out);
      sameElements(await read(out), [1, 6, 5]);
    } else throws(() => configured(out), /captured an array of cuda's .* and is launched on roc's/, 'E_CONTEXT');
  }),
  'arrays and streams of one namespace are taken by kernels of the other on the same device': async () => {
    // To the editor an array of one namespace is none of the other, unless its type leaves that open.
    const mine: DeviceNDArray<i32, 1> = zeros(4, 'int32');
    const theirs: DeviceNDArray<i32, 1> = cuda.deviceArray(4, i32);
    theirs.set(1);
    const add = cuda.jit((y: Vec<i32>, x: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] += x[i] + i;
    });
    const rocAdd = roc.jit((y: Vec<i32>, x: Vec<i32>) => {
      const i = roc.getGlobalId(0);
      if (i < y.length) y[i] += x[i] + i;
    });
    if (!onOneDevice()) {
      await rejects(
        () => launch(add, { threads: 4 }, mine, theirs),
        /array of roc's .* the launch is on cuda's/,
        'E_CONTEXT',
      );
      await rejects(
        () => launch(rocAdd, { threads: 4 }, theirs, theirs),
        /array of cuda's .* is on roc's/,
        'E_CONTEXT',
      );
      await rejects(() => launch(add, { threads: 4, stream: roc.stream() }, theirs, theirs), /stream/, 'E_STREAM');
      // Copies go through the host.
      mine.copyToDevice(theirs);
      sameElements(await read(mine), [1, 1, 1, 1]);
      return;
    }
    for (let k = 0; k < 2; k++) {
      await launch(add, { threads: 4 }, mine, theirs);
      await launch(rocAdd, { threads: 4 }, theirs, mine);
    }
    sameElements(await read(mine), [3, 7, 11, 15]);
    sameElements(await read(theirs), [5, 12, 19, 26]);
    const stream = roc.stream();
    await launch(add, { threads: 4, stream }, mine, theirs);
    theirs.copyToDevice(mine, { stream });
    await settled(stream);
    sameElements(await read(theirs), [8, 20, 32, 44]);
    const copy = roc.toDevice(theirs);
    same(copy.context, roc.currentContext());
    sameElements(await read(copy), [8, 20, 32, 44]);
  },
});

/** Whether both namespaces compute on the same device. */
function onOneDevice(): boolean {
  const [one, other] = [cuda.currentDevice(), roc.currentDevice()];
  return one.kind === other.kind && one.index === other.index;
}
