import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capturesOf, hostOnlyOf, intrinsicName } from '../compiler/intrinsics.ts';
import { cuda, f32, type In, i32, i64, type Mat, NDArray, ndarray, scope, struct, type Vec } from '../index.ts';
import * as named from './index.ts';
import { constant, grid, gridSize, jit, shared, syncThreads } from './index.ts';

const VOCABULARY = [
  'grid',
  'gridSize',
  'threadIdx',
  'blockIdx',
  'blockDim',
  'gridDim',
  'laneId',
  'warpSize',
  'syncThreads',
  'syncThreadsCount',
  'syncThreadsAnd',
  'syncThreadsOr',
  'syncWarp',
  'threadFence',
  'threadFenceBlock',
  'threadFenceSystem',
  'uniform',
  'nanosleep',
  'cg.thisGrid',
  'shared.array',
  'local.array',
  'const.arrayLike',
  'atomic.add',
  'atomic.sub',
  'atomic.and',
  'atomic.or',
  'atomic.xor',
  'atomic.exch',
  'atomic.inc',
  'atomic.dec',
  'atomic.max',
  'atomic.min',
  'atomic.nanMax',
  'atomic.nanMin',
  'atomic.cas',
  'popc',
  'clz',
  'ffs',
  'brev',
  'selp',
  'fma',
  'cbrt',
  'rsqrt',
  'fmin',
  'fmax',
  'rint',
  'shflSync',
  'shflUpSync',
  'shflDownSync',
  'shflXorSync',
  'allSync',
  'anySync',
  'eqSync',
  'ballotSync',
  'matchAnySync',
  'matchAllSync',
  'activeMask',
  'laneMaskLt',
];

const at = (path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], cuda);

describe('the namespace', () => {
  it('is a frozen plain object', () => {
    expect(Object.isFrozen(cuda)).toBe(true);
    expect(Object.getPrototypeOf(cuda)).toBe(Object.prototype);
    for (const inner of [cuda.shared, cuda.local, cuda.const, cuda.atomic, cuda.cg])
      expect(Object.isFrozen(inner)).toBe(true);
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(cuda)))
      expect([name, get]).toEqual([name, undefined]);
  });

  it('holds what is also exported by name', () => {
    const { const: constantToo, ...others } = cuda;
    expect(constantToo).toBe(named.constant);
    expect(Object.keys({ ...named }).sort()).toEqual([...Object.keys(others), 'cuda'].sort());
    for (const [name, value] of Object.entries(others)) expect((named as Record<string, unknown>)[name]).toBe(value);
  });

  it.each(VOCABULARY)('knows %s as an intrinsic', (path) => {
    expect(intrinsicName(at(path))).toBe(path);
  });

  it('knows of every other function that it is for the host', () => {
    jit(() => {});
    for (const [name, member] of Object.entries(cuda)) {
      if (typeof member !== 'function' || intrinsicName(member) !== undefined || capturesOf(member) !== undefined)
        continue;
      expect(hostOnlyOf(member)?.what).toBe(`cuda.${name}`);
    }
    for (const fn of [ndarray, scope, struct]) expect(hostOnlyOf(fn)?.help).toContain('before the launch');
  });

  it('says on the host that intrinsics belong in kernels', () => {
    const onHost = 'only works inside a kernel';
    expect(() => cuda.grid(1)).toThrow(`cuda.grid ${onHost}`);
    expect(() => cuda.threadIdx.x).toThrow(`cuda.threadIdx.x ${onHost}`);
    expect(() => cuda.laneId + 1).toThrow(`cuda.laneId ${onHost}`);
    expect(() => cuda.shared.array(4, f32)).toThrow(`cuda.shared.array ${onHost}`);
    expect(() => cuda.atomic.add(new Float32Array(1) as never, 0, 1)).toThrow(`cuda.atomic.add ${onHost}`);
    expect(() => cuda.cg.thisGrid()).toThrow(`cuda.cg.thisGrid ${onHost}`);
  });
});

describe.each(['cpu', 'simulator'] as const)('on the device %s', (device) => {
  beforeAll(() => {
    cuda.selectDevice(device);
  });
  afterAll(() => {
    cuda.close();
  });

  it('runs the tiled matmul of the documentation', () => {
    const TILE = 8;
    const matmul = cuda.jit((A: In<Mat<f32>>, B: In<Mat<f32>>, C: Mat<f32>) => {
      const sA = cuda.shared.array([TILE, TILE], f32);
      const sB = cuda.shared.array([TILE, TILE], f32);
      const [j, i] = cuda.grid(2);
      const { x: tx, y: ty } = cuda.threadIdx;
      let acc = 0;
      for (let k0 = 0; k0 < A.shape[1]; k0 += TILE) {
        sA[ty][tx] = A[i][k0 + tx];
        sB[ty][tx] = B[k0 + ty][j];
        cuda.syncThreads();
        for (let k = 0; k < TILE; k++) acc += sA[ty][k] * sB[k][tx];
        cuda.syncThreads();
      }
      C[i][j] = acc;
    });
    const n = 16;
    const A = ndarray(
      Float32Array.from({ length: n * n }, (_, i) => i % 7),
      { shape: [n, n] },
    );
    const B = ndarray(
      Float32Array.from({ length: n * n }, (_, i) => (i % 5) - 2),
      { shape: [n, n] },
    );
    const C = scope(() => {
      const dC = cuda.deviceArray([n, n], f32);
      matmul.launch({ grid: [n / TILE, n / TILE], block: [TILE, TILE] }, cuda.toDevice(A), cuda.toDevice(B), dC);
      return dC.copyToHost();
    });
    expect(C).toBeInstanceOf(NDArray);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let k = 0; k < n; k++) sum += A.get(i, k) * B.get(k, j);
        expect(C.get(i, j)).toBe(sum);
      }
    }
  });

  it('takes intrinsics by their own names, and through renamed imports', () => {
    const where = grid;
    const sum = jit((data: In<Vec<i32>>, out: Vec<i32>) => {
      const s = shared.array(32, i32);
      const tid = cuda.threadIdx.x;
      let mine = 0;
      for (let i = where(1); i < data.length; i += gridSize(1)) mine += data[i];
      s[tid] = mine;
      syncThreads();
      for (let step = 16; step > 0; step >>= 1) {
        if (tid < step) s[tid] = s[tid] + s[tid + step];
        cuda.syncThreads();
      }
      if (tid === 0) cuda.atomic.add(out, 0, s[0]);
    });
    const data = Int32Array.from({ length: 1000 }, (_, i) => i);
    const out = cuda.toDevice(new Int32Array(1));
    sum.launch({ grid: 4, block: 32 }, cuda.toDevice(data), out);
    expect(out.get(0)).toBe(499500);
  });

  it('takes constant arrays, device functions and bigints', () => {
    const weights = Float32Array.of(1, 10, 100);
    const twice = (x: number): number => x * 2;
    const kernel = cuda.jit((out: Vec<f32>, big: Vec<i64>, k: i64) => {
      const w = constant.arrayLike(weights);
      const i = cuda.grid(1);
      if (i >= out.length) return;
      out[i] = twice(w[i]);
      big[i] = k + BigInt(i);
    });
    const [out, big] = [cuda.deviceArray(3, f32), cuda.deviceArray(3, i64)];
    kernel.forAll(3)(out, big, 2n ** 50n);
    expect([...out.copyToHost()]).toEqual([2, 20, 200]);
    expect([...big.copyToHost()]).toEqual([2n ** 50n, 2n ** 50n + 1n, 2n ** 50n + 2n]);
  });

  it('reports an index out of range at the next synchronising call, with kernel, array and thread', () => {
    const outside = cuda.jit((a: Vec<f32>) => {
      a[cuda.grid(1) + 4] = 1;
    });
    const d = cuda.deviceArray(5, f32);
    outside.launch({ grid: 1, block: 2 }, d);
    expect(() => cuda.synchronize()).toThrow(
      /kernel outside: index 5 is out of range for \w+ \(length 5\) at block \(0,0,0\), thread \(1,0,0\)/,
    );
  });

  it('works on host arrays, with hints', () => {
    process.env['TSAMBA_WARN_IMPLICIT_COPY'] = '0';
    const square = cuda.jit((x: In<Vec<f32>>, y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < x.length) y[i] = x[i] ** 2;
    });
    const [x, y] = [Float32Array.of(1, 2, 3), new Float32Array(3)];
    square.launch({ threads: 3 }, cuda.In(x), cuda.Out(y));
    expect([...y]).toEqual([1, 4, 9]);
    square.launch({ threads: 3 }, y, y);
    expect([...y]).toEqual([1, 16, 81]);
  });

  it('shows the code that it runs', () => {
    const nothing = cuda.jit((a: Vec<f32>) => {
      a[0] = 1;
    });
    nothing.compile(cuda.deviceArray(1, f32));
    expect(nothing.inspect({ target: device === 'cpu' ? 'wasm' : 'js' })).toMatch(device === 'cpu' ? /\(module/ : /a/);
  });
});
