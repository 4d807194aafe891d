/**
 * Chapter: arrays as kernels see them: every layout, views, shapes, slices.
 */
import {
  cuda,
  type DeviceNDArray,
  type DType,
  f16,
  f32,
  f64,
  type In,
  i16,
  i32,
  i64,
  type Mat,
  type NDArray,
  ndarray,
  struct,
  u8,
  type Vec,
  type View,
} from '../src/index.ts';
import { elementsOf, rejects, sameElements } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read, settled } from './waiting.ts';

type Device2 = DeviceNDArray<i32, 2>;

const count = (n: number): number[] => Array.from({ length: n }, (_, k) => k);

/** The same 5 by 7 elements in all the ways that memory can hold them, with the array that owns the memory. */
function layouts(dtype: DType<i32>): readonly (readonly [name: string, view: Device2, owner: DeviceNDArray])[] {
  const fresh = (shape: readonly [number, number], order: 'C' | 'F' = 'C') => {
    const array = cuda.deviceArray(shape, dtype, { order });
    array.set(ndarray(count(shape[0] * shape[1]).map((v) => v % 120)).reshape(shape));
    return array as unknown as Device2;
  };
  const view = (owner: DeviceNDArray<i32>, ...spec: (number | string)[]) => owner.slice(...spec) as Device2;
  const [c, f, t] = [fresh([5, 7]), fresh([5, 7], 'F'), fresh([7, 5])];
  const [large, tall] = [fresh([10, 21]), fresh([9, 14], 'F')];
  const row = fresh([1, 7]);
  const gpuData = row.gpuData;
  return [
    ['C order', c, c],
    ['F order', f, f],
    ['transposed', t.T, t],
    ['every other row, every third column', view(large, '::2', '::3'), large],
    ['backwards along both axes', view(c, '::-1', '::-1'), c],
    ['a window', view(large, '3:8', '10:17'), large],
    ['a window of an F array, backwards', view(tall, '6:1:-1', '13::-2'), tall],
    ['columns of a C array', view(large.T as never, '2:7', '1:8'), large],
    ['broadcast rows', new cuda.DeviceNDArray([5, 7], [0, dtype.itemSize], dtype, { gpuData }) as Device2, row],
    ['broadcast columns', new cuda.DeviceNDArray([5, 7], [dtype.itemSize, 0], dtype, { gpuData }) as Device2, row],
  ];
}

/** Kernels read arrays of all layouts right. */
function reads(dtype: DType<i32>): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((to: Mat<i32>, from: In<Mat<i32>>) => {
      const [x, y] = cuda.grid(2);
      if (y < from.shape[0] && x < from.shape[1]) to[y][x] = from[y][x];
    });
    for (const [name, from] of layouts(dtype)) {
      const to = cuda.deviceArray([5, 7], dtype);
      await launch(kernel, { threads: [7, 5], block: [4, 4] }, to as never, from);
      sameElements(elementsOf(await read(to)), elementsOf(await read(from)), `${name}: element`);
    }
  };
}

/** Kernels write to arrays of all layouts, and to nothing beside them. */
function writes(dtype: DType<i32>): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((to: Mat<i32>) => {
      const [x, y] = cuda.grid(2);
      if (y < to.shape[0] && x < to.shape[1]) to[y][x] = 60 + y * 10 + x;
    });
    const filled = ndarray(count(35).map((k) => 60 + ((k / 7) | 0) * 10 + (k % 7))).reshape([5, 7]);
    for (const [name, to, owner] of layouts(dtype)) {
      if (to.strides.includes(0)) continue;
      const mirror = cuda.deviceArrayLike(owner);
      mirror.set(owner);
      // The same view of a copy, filled by the host side's assignment.
      const shift = to.pointer - owner.pointer;
      const gpuData = { ...mirror.gpuData!, address: mirror.pointer + shift };
      new cuda.DeviceNDArray([5, 7], to.strides, dtype, { gpuData }).set(filled);
      await launch(kernel, { threads: [7, 5], block: [3, 5] }, to);
      sameElements(
        elementsOf((await read(owner)) as NDArray),
        elementsOf((await read(mirror)) as NDArray),
        `${name}: element`,
      );
    }
  };
}

const SLICES: readonly string[] = [
  ':',
  '::2',
  '::-1',
  '3:',
  ':-3',
  '-5:-1',
  '8:2:-2',
  '2:8:3',
  '-1::-3',
  '20:',
  ':-20',
  '5:5',
  '-100:100',
];

export const kernelArrays: readonly ConformanceTest[] = chapter('arrays in kernels', {
  'reads of every layout, i32': reads(i32),
  'reads of every layout, f64': reads(f64 as never),
  'reads of every layout, f32': reads(f32 as never),
  'reads of every layout, u8': reads(u8 as never),
  'reads of every layout, f16': reads(f16 as never),
  'writes to every layout, i32': writes(i32),
  'writes to every layout, f64': writes(f64 as never),
  'writes to every layout, i16': writes(i16 as never),
  'writes to every layout, u8': writes(u8 as never),
  'three dimensions in every order of axes': async () => {
    const kernel = cuda.jit((to: Vec<i32>, A: In<View<i32, 3>>) => {
      const k = cuda.grid(1);
      if (k >= to.length) return;
      const [a, b, c] = A.shape;
      to[k] = A.get((k / (b * c)) | 0, ((k / c) | 0) % b, k % c) + 1000 * a;
    });
    const base = cuda.toDevice(Int32Array.from(count(60))).reshape([3, 4, 5]);
    for (const axes of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
      [0, 2, 1],
      [2, 0, 1],
    ]) {
      const A = base.transpose(axes);
      const to = cuda.deviceArray(60, 'int32');
      await launch(kernel, { threads: 60, block: 16 }, to, A as never);
      sameElements(
        await read(to),
        elementsOf(await read(A)).map((v) => (v as number) + 1000 * A.shape[0]!),
        `axes ${axes}, element`,
      );
    }
  },
  'four dimensions': async () => {
    const kernel = cuda.jit((to: Vec<i32>, A: In<View<i32, 4>>) => {
      const k = cuda.grid(1);
      if (k < to.length) to[k] = A.get(k & 1, (k >> 1) & 1, (k >> 2) & 1, (k >> 3) & 1) + A.ndim * 100;
    });
    const A = cuda.toDevice(Int32Array.from(count(16))).reshape([2, 2, 2, 2]);
    const to = cuda.deviceArray(16, 'int32');
    await launch(kernel, { threads: 16, block: 16 }, to, A as never);
    sameElements(
      await read(to),
      count(16).map((k) => (k & 1) * 8 + ((k >> 1) & 1) * 4 + ((k >> 2) & 1) * 2 + ((k >> 3) & 1) + 400),
    );
  },
  'one dimension: strided, reversed and repeated': async () => {
    const kernel = cuda.jit((to: Vec<i32>, from: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      if (k < from.length) to[k] = from[k] * 2 + from.length;
    });
    const base = cuda.toDevice(Int32Array.from(count(30)));
    const repeated = new cuda.DeviceNDArray([9], [0], i32, { gpuData: base.gpuData! });
    for (const from of [base, base.slice('::3'), base.slice('::-1'), base.slice('25:5:-4'), repeated]) {
      const to = cuda.deviceArray(from.size, 'int32');
      await launch(kernel, { threads: from.size, block: 8 }, to, from as never);
      sameElements(
        await read(to),
        elementsOf(await read(from)).map((v) => (v as number) * 2 + from.size),
      );
    }
  },
  '0-d arrays': async () => {
    const kernel = cuda.jit((to: Vec<f64>, scale: View<f64, 0>) => {
      const k = cuda.grid(1);
      to[k] = k * scale.get() + scale.ndim + scale.size;
    });
    const to = cuda.deviceArray(3, 'float64');
    await launch(kernel, { grid: 1, block: 3 }, to, cuda.toDevice(2.5) as never);
    sameElements(await read(to), [1, 3.5, 6]);
  },
  'arrays without elements': async () => {
    const kernel = cuda.jit((to: Vec<i32>, a: In<Vec<f32>>, B: In<Mat<f64>>) => {
      const k = cuda.grid(1);
      for (const v of a) to[0] += v > 0 ? 1 : 2;
      to[k] = a.length * 100 + B.length * 10 + B.shape[1] + (k < a.length ? 1000 : 0);
    });
    const to = zeros(2, 'int32');
    await launch(kernel, { grid: 1, block: 2 }, to, cuda.deviceArray(0, f32), cuda.deviceArray([3, 0], f64));
    sameElements(await read(to), [30, 30]);
  },
  'length, shape, strides, size and ndim': async () => {
    const kernel = cuda.jit((to: Vec<i32>, A: In<Mat<f32>>, v: In<Vec<f64>>) => {
      to[0] = A.length;
      to[1] = A.shape[0];
      to[2] = A.shape[1];
      to[3] = A.strides[0];
      to[4] = A.strides[1];
      to[5] = A.size;
      to[6] = A.ndim;
      to[7] = v.strides[0];
      to[8] = A[1].length;
      to[9] = A[1].strides[0];
      const { shape } = A;
      to[10] = shape.length * shape[0];
    });
    const A = cuda.deviceArray([6, 8], f32).slice('::-2', '1::3');
    const v = cuda.deviceArray(9, f64).slice('::-3');
    const to = zeros(11, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, to, A as never, v as never);
    sameElements(await read(to), [3, 3, 3, -64, 12, 9, 2, -24, 3, 12, 6]);
  },
  'rows are views': async () => {
    const kernel = cuda.jit((A: Mat<i32>) => {
      const k = cuda.grid(1);
      const row = A[k];
      const next = A[(k + 1) % A.length];
      for (let j = 0; j < row.length; j++) row[j] = row[j] * 10 + (next.length - j);
    });
    const A = cuda.toDevice(Int32Array.from(count(12))).reshape([4, 3]);
    await launch(kernel, { grid: 1, block: 4 }, A);
    sameElements(
      await read(A),
      count(12).map((v) => v * 10 + 3 - (v % 3)),
    );
  },
  'planes and rows of cubes': async () => {
    const sum = (row: In<Vec<i32>>) => {
      let s = 0;
      for (let i = 0; i < row.length; i++) s += row[i];
      return s;
    };
    const kernel = cuda.jit((to: Mat<i32>, A: In<View<i32, 3>>, first: number) => {
      const [x, y] = cuda.grid(2);
      const plane = A.slice(first + y);
      to[y][x] = sum(plane[x]);
    });
    const A = cuda.toDevice(Int32Array.from(count(60))).reshape([3, 4, 5]);
    const to = cuda.deviceArray([2, 4], 'int32');
    await launch(kernel, { grid: 1, block: [4, 2] }, to, A as never, 1);
    sameElements(
      await read(to),
      count(8).map((k) => 5 * (20 + 5 * k) + 10),
    );
  },
  'slices follow NumPy': async () => {
    const host = ndarray(Int32Array.from(count(10)));
    const from = cuda.toDevice(host);
    for (const spec of SLICES) {
      const kernel = cuda.jit((to: Vec<i32>, v: In<Vec<i32>>) => {
        const s = v.slice(spec);
        to[0] = s.length;
        for (let i = 0; i < s.length; i++) to[i + 1] = s[i];
      });
      const to = zeros(12, 'int32');
      await launch(kernel, { grid: 1, block: 1 }, to, from);
      const expected = elementsOf(host.slice(spec)) as number[];
      sameElements(
        (await read(to)).subarray(0, expected.length + 1),
        [expected.length, ...expected],
        `'${spec}', element`,
      );
    }
  },
  'slices with bounds that are computed': async () => {
    const kernel = cuda.jit((to: Vec<i32>, v: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      const a = v.slice([k, k + 3]);
      const b = v.slice([-k - 1, null, -1]);
      const c = v.slice([k - 5, 2 * k]);
      to[k] = a.length * 1000000 + (a.length > 0 ? a[a.length - 1] * 10000 : 0) + b.length * 100 + c.length;
    });
    const host = ndarray(Int32Array.from(count(8)));
    const to = zeros(9, 'int32');
    await launch(kernel, { grid: 1, block: 9 }, to, cuda.toDevice(host));
    const expected = count(9).map((k) => {
      const [a, b, c] = [host.slice([k, k + 3]), host.slice([-k - 1, null, -1]), host.slice([k - 5, 2 * k])];
      return a.size * 1000000 + (a.size > 0 ? (a.get(a.size - 1) as number) * 10000 : 0) + b.size * 100 + c.size;
    });
    sameElements(await read(to), expected);
  },
  'slices whose length is another in each thread': async () => {
    const kernel = cuda.jit(
      (to: Vec<i32>, v: In<Vec<i32>>, wrong: number) => {
        const k = cuda.grid(1);
        if (k >= to.length) return;
        const own = v.slice([0, k + 1 - (k === wrong ? 1 : 0)]);
        to[k] = own[k];
      },
      { boundsCheck: true },
    );
    const to = zeros(70, 'int32');
    const v = cuda.toDevice(Int32Array.from(count(80)));
    await launch(kernel, { threads: 70, block: 32 }, to, v, -1);
    sameElements(await read(to), count(70));
    await launch(kernel, { threads: 70, block: 32 }, to, v, 41);
    await rejects(() => settled(), /index 41 is out of range .*\(length 41\)/, 'E_KERNEL_FAULT');
  },
  'slices of two dimensions, and slices of slices': async () => {
    const kernel = cuda.jit((to: Mat<i32>, A: In<Mat<i32>>) => {
      const [x, y] = cuda.grid(2);
      const inner = A.slice('1:-1', '::-2');
      const column = A.slice(':', 3);
      const again = inner.slice('::2', [1, 3]);
      to[y][x] = inner[y][x] + 1000 * column[y] + 1000000 * again[y >> 1][x & 1];
    });
    const A = cuda.toDevice(Int32Array.from(count(48))).reshape([6, 8]);
    const to = cuda.deviceArray([4, 4], 'int32');
    await launch(kernel, { grid: 1, block: [4, 4] }, to, A);
    const at = (i: number, j: number) => (1 + i) * 8 + (7 - 2 * j);
    sameElements(
      await read(to),
      count(16).map((k) => {
        const [y, x] = [k >> 2, k & 3];
        return at(y, x) + 1000 * (y * 8 + 3) + 1000000 * at((y >> 1) * 2, 1 + (x & 1));
      }),
    );
  },
  'T reverses the axes': async () => {
    const kernel = cuda.jit((to: Mat<i32>, A: Mat<i32>, B: In<View<i32, 3>>) => {
      const [x, y] = cuda.grid(2);
      const t = A.T;
      to[y][x] = t[x][y] + t.length * 100 + B.T.get(1, y, 0) * 1000;
      if (x === 0) t[x][y] = -1;
    });
    const A = cuda.toDevice(Int32Array.from(count(6))).reshape([2, 3]);
    const B = cuda.toDevice(Int32Array.from(count(8))).reshape([2, 2, 2]);
    const to = cuda.deviceArray([2, 3], 'int32');
    await launch(kernel, { grid: 1, block: [3, 2] }, to, A, B as never);
    sameElements(await read(to), [1300, 1301, 1302, 3303, 3304, 3305]);
    sameElements(await read(A), [-1, 1, 2, -1, 4, 5]);
  },
  'tuples of arrays and numbers as arguments': async () => {
    const kernel = cuda.jit(
      (
        to: Vec<f32>,
        [a, b]: readonly [In<Vec<f32>>, In<Vec<i32>>],
        pack: readonly [readonly [Mat<f64>, number], boolean],
      ) => {
        const k = cuda.grid(1);
        const [[A, gain], flag] = pack;
        to[k] = a[k] + b[k] * gain + (flag ? 100 : 200);
        A[0][k] = k;
      },
    );
    const A = cuda.deviceArray([1, 3], f64);
    const to = cuda.deviceArray(3, f32);
    const [a, b] = [cuda.toDevice(Float32Array.of(0.5, 1, 1.5)), cuda.toDevice(Int32Array.of(1, 2, 3))];
    await launch(kernel, { grid: 1, block: 3 }, to, [a, b], [[A, 10], true]);
    sameElements(await read(to), [110.5, 121, 131.5]);
    sameElements(await read(A), [0, 1, 2]);
  },
  'one array in two parameters': async () => {
    const kernel = cuda.jit((to: Vec<i32>, from: In<Vec<i32>>) => {
      const k = cuda.grid(1);
      const v = from[k];
      to[k] = v + 1;
      to[k] += from[k];
    });
    const a = cuda.toDevice(Int32Array.of(1, 2, 3));
    await launch(kernel, { grid: 1, block: 3 }, a, a);
    sameElements(await read(a), [4, 6, 8]);
  },
  'overlapping views of one array': async () => {
    const kernel = cuda.jit((even: Vec<i32>, odd: Vec<i32>) => {
      const k = cuda.grid(1);
      even[k] += 100;
      odd[k] -= even[k];
    });
    const a = cuda.toDevice(Int32Array.from(count(10)));
    await launch(kernel, { grid: 1, block: 5 }, a.slice('::2') as never, a.slice('1::2') as never);
    sameElements(await read(a), [100, -99, 102, -99, 104, -99, 106, -99, 108, -99]);
  },
  'elements at addresses that are no multiples of their size': async () => {
    const scale = cuda.jit((v: Vec<f64>) => {
      const k = cuda.grid(1);
      if (k < v.length) v[k] = 2 * v[k] + k;
    });
    const scaleBig = cuda.jit((v: Vec<i64>) => {
      const k = cuda.grid(1);
      if (k < v.length) v[k] = 2n * v[k] + BigInt(k);
    });
    const whole = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    await launch(scale, { threads: 4 }, whole as never);
    sameElements(await read(whole), [2, 5, 8, 11]);

    const Packed = struct({ tag: u8, a: f32, b: f64, c: i16, d: f16, e: i64 });
    const records = cuda.deviceArray(4, Packed);
    records.set({ tag: 7, a: 0.5, b: -1.5, c: 300, d: 2.5, e: 2n ** 40n });
    for (const name of ['a', 'b', 'c', 'd'] as const) await launch(scale, { threads: 4 }, records.field(name) as never);
    await launch(scaleBig, { threads: 4 }, records.field('e').slice('::-1'));
    sameElements(await read(records.field('a')), [1, 2, 3, 4]);
    sameElements(await read(records.field('b')), [-3, -2, -1, 0]);
    sameElements(await read(records.field('c')), [600, 601, 602, 603]);
    sameElements(await read(records.field('d')), [5, 6, 7, 8]);
    sameElements(await read(records.field('e')), [2n ** 41n + 3n, 2n ** 41n + 2n, 2n ** 41n + 1n, 2n ** 41n]);
    sameElements(await read(records.field('tag')), [7, 7, 7, 7]);

    const bytes = zeros(17, u8);
    const odd = bytes.slice('1:').view(f32);
    await launch(scale, { threads: 4 }, odd as never);
    sameElements(await read(odd), [0, 1, 2, 3]);
    const captured = odd as unknown as Vec<f32>;
    const reads = cuda.jit((to: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k < to.length) to[k] = 10 * captured[k];
    });
    await launch(reads, { threads: 4 }, whole);
    sameElements(await read(whole), [0, 10, 20, 30]);
    const count = cuda.jit((v: Vec<f32>) => {
      cuda.atomic.add(v, 0, 1);
    });
    await rejects(
      () => launch(count, { threads: 4 }, odd),
      /may lie anywhere: cuda\.atomic\.add of f32 needs .* a multiple of 4 bytes[\s\S]*pass a copy/,
      'K337',
    );
  },
  'arrays and parts of them in turns, together, and where others were': async () => {
    const scale = cuda.jit((to: Vec<f32>, from: In<Vec<f32>>) => {
      const k = cuda.grid(1);
      if (k < to.length) to[k] = to[k] + 10 * from[k];
    });
    const add = (to: unknown, from: unknown): Promise<void> =>
      launch(scale, { threads: 8 }, to as never, from as never);
    const expected = [0, 0, 0, 0, 0, 0, 0, 0];
    const sum = zeros(8, f32);
    for (let round = 1; round <= 3; round++) {
      // Given back each round: the next has another, maybe in the same place.
      using whole = cuda.toDevice(Float32Array.from({ length: 8 }, (_, k) => round * (k + 1)));
      const [low, high, middle] = [whole.slice(':4'), whole.slice('4:'), whole.slice('2:6')];
      const parts = [sum.slice(':4'), sum.slice('4:'), sum.slice('3:7')] as const;
      for (const [at, to, from, shift] of [
        [0, parts[0], low, 0],
        [4, parts[1], middle, 2],
        [3, parts[2], high, 4],
        [0, parts[0], high, 4],
      ] as const) {
        await add(to, from);
        for (let k = 0; k < 4; k++) expected[at + k] = expected[at + k]! + 10 * round * (k + shift + 1);
      }
      await add(sum, whole);
      for (let k = 0; k < 8; k++) expected[k] = expected[k]! + 10 * round * (k + 1);
      // Parts of one array on both sides.
      await add(middle, middle);
      sameElements(
        await read(whole),
        count(8).map((k) => (k >= 2 && k < 6 ? 11 : 1) * round * (k + 1)),
      );
    }
    sameElements(await read(sum), expected);
  },
  'the kernel is specialised by rank, dtype and layout': blocking(async () => {
    const kernel = cuda.jit((v: Vec<f32>) => {
      const k = cuda.grid(1);
      if (k < v.length) v[k] = v[k] + 1;
    });
    const a = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    const b = cuda.toDevice(Float64Array.of(1, 2, 3, 4));
    await launch(kernel, { threads: 4 }, a);
    await launch(kernel, { threads: 4 }, b as never);
    await launch(kernel, { threads: 2 }, a.slice('::2') as never);
    await launch(kernel, { threads: 4 }, a);
    sameElements(await read(a), [4, 4, 6, 6]);
    sameElements(await read(b), [2, 3, 4, 5]);
    sameElements([kernel.stats.misses, kernel.stats.hits], [3, 1]);
  }),
});
