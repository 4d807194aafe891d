/**
 * Chapter: where a thread is, in grids and blocks of every shape.
 */
import { cuda, type i32, type Mat, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { zeros } from './support.ts';
import { launch, read } from './waiting.ts';

type Three = readonly [number, number, number];
type Shape = readonly number[];

const three = (shape: Shape): Three => [shape[0] ?? 1, shape[1] ?? 1, shape[2] ?? 1];
const product = ([x, y, z]: Three): number => x * y * z;

/** For each thread of a launch, in the order of blocks and of threads in them. */
function eachThread(grid: Three, block: Three, visit: (at: number, blockIdx: Three, threadIdx: Three) => void): void {
  let at = 0;
  for (let bz = 0; bz < grid[2]; bz++)
    for (let by = 0; by < grid[1]; by++)
      for (let bx = 0; bx < grid[0]; bx++)
        for (let tz = 0; tz < block[2]; tz++)
          for (let ty = 0; ty < block[1]; ty++)
            for (let tx = 0; tx < block[0]; tx++) visit(at++, [bx, by, bz], [tx, ty, tz]);
}

const RECORD = 12;

/** Every thread writes down its indices and the sizes. */
function indices(grid: Shape, block: Shape): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((out: Mat<i32>) => {
      const { x, y, z } = cuda.threadIdx;
      const b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z);
      const t = x + cuda.blockDim.x * (y + cuda.blockDim.y * z);
      const row = out[b * (cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z) + t];
      row[0] = x;
      row[1] = y;
      row[2] = z;
      row[3] = cuda.blockIdx.x;
      row[4] = cuda.blockIdx.y;
      row[5] = cuda.blockIdx.z;
      row[6] = cuda.blockDim.x;
      row[7] = cuda.blockDim.y;
      row[8] = cuda.blockDim.z;
      row[9] = cuda.gridDim.x;
      row[10] = cuda.gridDim.y;
      row[11] = cuda.gridDim.z;
    });
    const [g, b] = [three(grid), three(block)];
    const total = product(g) * product(b);
    const out = cuda.deviceArray([total, RECORD], 'int32');
    out.set(-1);
    await launch(kernel, { grid: grid as Three, block: block as Three }, out);
    const expected: number[] = [];
    eachThread(g, b, (_, blockIdx, threadIdx) => expected.push(...threadIdx, ...blockIdx, ...b, ...g));
    sameElements(await read(out), expected);
  };
}

type Guarded = (y: Vec<i32>, x: Vec<i32>, w: number, h: number) => void;

/** A kernel of `guarded` writes in rows of 64 what is within `w` times `h`, in a launch that is larger both ways. */
function guarded(body: Guarded): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit(body);
    for (const [w, h] of [
      [40, 20],
      [64, 7],
      [3, 32],
      [0, 9],
      [50, 0],
    ] as const) {
      const x = Int32Array.from({ length: 64 * 32 }, (_, k) => k % 7);
      const y = cuda.deviceArray(64 * 32, 'int32');
      y.set(-1);
      await launch(kernel, { grid: [2, 4], block: [32, 8] }, y, x, w, h);
      const want = Array.from({ length: 64 * 32 }, (_, k) => (k % 64 < w && k / 64 < h ? k + (k % 7) : -1));
      sameElements(await read(y), want);
    }
  };
}

export const geometry: readonly ConformanceTest[] = chapter('geometry', {
  'one thread': indices([1], [1]),
  'one thread a block': indices([13], [1]),
  'seven threads a block': indices([5], [7]),
  'thirty-three threads a block': indices([3], [33]),
  'a full block of 1024': indices([2], [1024]),
  'blocks of two dimensions': indices([3], [6, 5]),
  'narrow and tall blocks': indices([2, 2], [1, 9]),
  'narrow and deep blocks': indices([2], [1, 1, 6]),
  'blocks of three dimensions': indices([2], [4, 3, 2]),
  'blocks of 5 by 5 by 5': indices([2], [5, 5, 5]),
  'blocks of 2 by 2': indices([3, 2], [2, 2]),
  'blocks of 3 by 8': indices([2, 2], [3, 8]),
  'grids of two dimensions': indices([3, 4], [5]),
  'grids of three dimensions': indices([2, 3, 4], [3]),
  'grids and blocks of three dimensions': indices([2, 3, 2], [3, 2, 2]),
  'grid(1), gridSize(1)': async () => {
    const kernel = cuda.jit((place: Vec<i32>, size: Vec<i32>) => {
      const k = cuda.grid(1);
      place[k] = k;
      size[k] = cuda.gridSize(1);
    });
    for (const [grid, block] of [
      [1, 5],
      [4, 32],
      [7, 11],
    ] as const) {
      const [place, size] = [zeros(grid * block, 'int32'), zeros(grid * block, 'int32')];
      await launch(kernel, { grid, block }, place, size);
      sameElements(
        await read(place),
        Array.from({ length: grid * block }, (_, k) => k),
      );
      sameElements(await read(size), new Int32Array(grid * block).fill(grid * block));
    }
  },
  'grid(2), gridSize(2)': async () => {
    const kernel = cuda.jit((out: Mat<i32>) => {
      const [x, y] = cuda.grid(2);
      const [width, height] = cuda.gridSize(2);
      out[y][x] = y * width + x + 1000 * height;
    });
    const out = cuda.deviceArray([6, 15], 'int32');
    await launch(kernel, { grid: [3, 2], block: [5, 3] }, out);
    sameElements(
      await read(out),
      Array.from({ length: 90 }, (_, k) => k + 6000),
    );
  },
  'grid(3), gridSize(3)': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const [x, y, z] = cuda.grid(3);
      const [width, height, depth] = cuda.gridSize(3);
      out[(z * height + y) * width + x] = x + 100 * y + 10000 * z + 1000000 * depth;
    });
    const out = cuda.deviceArray(4 * 6 * 6, 'int32');
    await launch(kernel, { grid: [2, 3, 2], block: [2, 2, 3] }, out);
    sameElements(
      await read(out),
      Array.from({ length: 144 }, (_, k) => (k % 4) + 100 * (((k / 4) | 0) % 6) + 10000 * ((k / 24) | 0) + 6000000),
    );
  },
  'a grid-stride loop covers everything once': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      for (let i = cuda.grid(1); i < out.length; i += cuda.gridSize(1)) out[i] += i + 1;
    });
    for (const length of [1, 50, 64, 1000]) {
      const out = zeros(length, 'int32');
      await launch(kernel, { grid: 3, block: 21 }, out);
      sameElements(
        await read(out),
        Array.from({ length }, (_, k) => k + 1),
      );
    }
  },
  'a grid-stride loop in two dimensions': async () => {
    const kernel = cuda.jit((out: Mat<i32>) => {
      const [x0, y0] = cuda.grid(2);
      const [dx, dy] = cuda.gridSize(2);
      for (let y = y0; y < out.shape[0]; y += dy) {
        for (let x = x0; x < out.shape[1]; x += dx) out[y][x] = y * 100 + x;
      }
    });
    const out = cuda.deviceArray([11, 17], 'int32');
    await launch(kernel, { grid: [2, 2], block: [3, 4] }, out);
    sameElements(
      await read(out),
      Array.from({ length: 187 }, (_, k) => ((k / 17) | 0) * 100 + (k % 17)),
    );
  },
  'what is outside on either axis goes': guarded((y, x, w, h) => {
    const [i, j] = cuda.grid(2);
    if (i >= w || j >= h) return;
    const at = j * 64 + i;
    y[at] = at + x[at];
  }),
  'what is outside on either axis goes, by one test after the other': guarded((y, x, w, h) => {
    const [i, j] = cuda.grid(2);
    if (i >= w) return;
    if (h <= j) return;
    const at = j * 64 + i;
    y[at] = at + x[at];
  }),
  'what is not outside on either axis stays': guarded((y, x, w, h) => {
    const [i, j] = cuda.grid(2);
    if (!(j >= h || i >= w)) {
      const at = j * 64 + i;
      y[at] = at + x[at];
    }
  }),
  'what is within on both axes stays': guarded((y, x, w, h) => {
    const [i, j] = cuda.grid(2);
    const at = j * 64 + i;
    if (i < w && j < h) y[at] = at + x[at];
  }),
  'what is outside goes, by what it finds too': guarded((y, x, w, h) => {
    const [i, j] = cuda.grid(2);
    const at = j * 64 + i;
    if (j >= h || x[at] < 0 || i > w - 1) return;
    y[at] = at + x[at];
  }),
  'every thread runs exactly once': async () => {
    const kernel = cuda.jit((count: Vec<i32>) => {
      cuda.atomic.add(count, 0, 1);
    });
    for (const [grid, block] of [
      [[1000], [1]],
      [[1], [1000]],
      [
        [3, 5, 2],
        [3, 3, 3],
      ],
    ]) {
      const count = zeros(1, 'int32');
      await launch(kernel, { grid: grid as never, block: block as never }, count);
      sameElements(await read(count), [product(three(grid!)) * product(three(block!))]);
    }
  },
  'laneId counts the threads of a warp': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const { x, y } = cuda.threadIdx;
      const t = x + y * cuda.blockDim.x;
      out[t] = cuda.laneId === t % cuda.warpSize ? 1 : 0;
    });
    const out = zeros(90, 'int32');
    await launch(kernel, { grid: 1, block: [9, 10] }, out);
    sameElements(await read(out), new Int32Array(90).fill(1));
  },
  'indices may be negative offsets of each other': async () => {
    const kernel = cuda.jit((out: Vec<i32>) => {
      const k = cuda.grid(1);
      out[out.length - 1 - k] = cuda.threadIdx.x - cuda.blockIdx.x * 10 - 5;
    });
    const out = cuda.deviceArray(12, 'int32');
    await launch(kernel, { grid: 3, block: 4 }, out);
    sameElements(
      await read(out),
      Array.from({ length: 12 }, (_, k) => ((11 - k) % 4) - (((11 - k) / 4) | 0) * 10 - 5),
    );
  },
});
