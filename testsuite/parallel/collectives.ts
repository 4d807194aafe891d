/**
 * Chapter: what the threads of a block and the lanes of a warp compute together, in blocks of any shape.
 */
import { cuda, type i32, type i64, type Vec } from '../../src/index.ts';
import { sameElements } from '../assert.ts';
import { type ConformanceTest, chapter } from '../suite.ts';
import { launch, read } from '../waiting.ts';

const sums = cuda.jit((y: Vec<i32>, up: Vec<i32>, before: Vec<i32>) => {
  const i = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y;
  const at = i + cuda.blockIdx.x * cuda.blockDim.x * cuda.blockDim.y;
  y[at] = cuda.block.reduce(i, (a, b) => a + b);
  up[at] = cuda.block.inclusiveScan(i, (a, b) => a + b);
  before[at] = cuda.block.exclusiveScan(i, (a, b) => a + b, 10);
});

const triangle = (k: number): number => (k * (k + 1)) / 2;
const ints = (length: number) => cuda.deviceArray(length, 'int32');

export const collectives: readonly ConformanceTest[] = chapter('collectives', {
  'sums and scans of blocks of any shape': async () => {
    for (const block of [1, 31, 33, 100, 256, [10, 7], [32, 4]] as const) {
      const count = typeof block === 'number' ? block : block[0] * block[1];
      const [y, up, before] = [ints(2 * count), ints(2 * count), ints(2 * count)];
      await launch(sums, { grid: 2, block }, y, up, before);
      const each = Array.from({ length: 2 * count }, (_, k) => k % count);
      sameElements(
        await read(y),
        each.map(() => triangle(count - 1)),
      );
      sameElements(await read(up), each.map(triangle));
      sameElements(
        await read(before),
        each.map((k) => 10 + triangle(k - 1)),
      );
    }
  },

  'structs, operators that do not commute, and bigints': async () => {
    const line = cuda.jit((scale: Vec<i32>, shift: Vec<i32>, big: Vec<i64>) => {
      const i = cuda.grid(1);
      // Maps v → scale · v + shift, one after the other.
      const all = cuda.block.inclusiveScan({ scale: i % 7 === 0 ? -1 : 1, shift: i }, (f, g) => ({
        scale: f.scale * g.scale,
        shift: f.shift * g.scale + g.shift,
      }));
      scale[i] = all.scale;
      shift[i] = all.shift;
      big[i] = cuda.block.reduce(BigInt(i) * 2n ** 33n, (a, b) => a + b);
    });
    const [scale, shift, big] = [ints(90), ints(90), cuda.deviceArray(90, 'int64')];
    await launch(line, { grid: 1, block: 90 }, scale, shift, big);
    let [s, t] = [1, 0];
    const wanted = Array.from({ length: 90 }, (_, i) => {
      const sign = i % 7 === 0 ? -1 : 1;
      [s, t] = [s * sign, t * sign + i];
      return [s, t] as const;
    });
    sameElements(
      await read(scale),
      wanted.map(([one]) => one),
    );
    sameElements(
      await read(shift),
      wanted.map(([, one]) => one),
    );
    sameElements(await read(big), new Array(90).fill(BigInt(triangle(89)) * 2n ** 33n));
  },

  'in loops, and of warps': async () => {
    const rounds = cuda.jit((y: Vec<i32>, z: Vec<i32>) => {
      const i = cuda.grid(1);
      let sum = 0;
      for (let k = 0; k < 3; k++) sum += cuda.block.reduce(k * i, (a, b) => Math.max(a, b));
      y[i] = sum;
      z[i] = cuda.warp.reduce(i, (a, b) => Math.max(a, b)) + 100 * cuda.warp.exclusiveScan(1, (a, b) => a + b, 5);
    });
    const [y, z] = [ints(50), ints(50)];
    await launch(rounds, { grid: 1, block: 50 }, y, z);
    sameElements(await read(y), new Array(50).fill(3 * 49));
    sameElements(
      await read(z),
      Array.from({ length: 50 }, (_, i) => (i < 32 ? 31 : 49) + 100 * (5 + (i % 32))),
    );
  },
});
