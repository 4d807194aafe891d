/**
 * The benchmark of `tsamba/parallel`'s scans, selections and sorts, and of `cuda.matmul`, on the current device: beside CUB where that is an NVIDIA GPU and nvcc is installed, beside
 * typed arrays on the CPU device.
 *
 *   --power 28         elements are 2 to this power; 24 on the CPU device
 *   --rounds 11
 *   --json FILE
 */
import { cuda, type DTypeLike, f32, i32, struct, u32, type Vec } from 'tsamba';
import {
  inclusiveScan,
  reduceByKeyInto,
  runLengthEncodeInto,
  scanByKey,
  selectInto,
  sort,
  sortByKey,
  uniqueInto,
} from '../../src/parallel/index.ts';
import { check, cub, onCpu, power, record, row } from './table.ts';

const n = 2 ** power;
const grid = { grid: 1024, block: 256 };

/** The same numbers as in the peers' programs: 16 different ones, or any word. */
const fill = cuda.jit((x: Vec<u32>, mask: number) => {
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) {
    let h = Math.imul(i, 2654435761) >>> 0;
    h ^= h >>> 16;
    h = Math.imul(h, 2246822519) >>> 0;
    x[i] = ((h ^ (h >>> 13)) >>> 0) & mask;
  }
});
const floats = cuda.jit((x: Vec<u32>, y: Vec<f32>) => {
  for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) y[i] = (x[i] >>> 8) / 2 ** 24;
});

function words(mask: number, count = n) {
  const x = cuda.deviceArray(count, u32);
  fill.launch(grid, x, mask);
  return x;
}

/** What is written into an array that is there. */
const nothing = (_: unknown): undefined => undefined;

console.log(`${cuda.currentDevice().name}, 2^${power} elements`);
{
  const peers = cub('scan');
  const Pair = struct({ x: f32, y: f32 }, { align: true });
  const scans = (what: string, dtype: DTypeLike, size: number, count: number): void => {
    using x = cuda.deviceArray(count, dtype);
    using y = cuda.deviceArrayLike(x);
    x.view('uint32').set(0);
    const add =
      dtype === Pair
        ? (a: { x: number; y: number }, b: { x: number; y: number }) => ({ x: a.x + b.x, y: a.y + b.y })
        : 'sum';
    row(what, 2 * size * count, peers, () => nothing(inclusiveScan(x as never, add as never, { out: y } as never)));
  };
  scans('scan float32', f32, 4, n);
  scans('scan int32', i32, 4, n);
  scans('scan float64', 'float64', 8, n / 2);
  scans('scan pairs', Pair, 8, n);
  using x = words(15);
  using y = words(0);
  using counts = cuda.deviceArray(n, i32);
  using sums = cuda.deviceArray(n, u32);
  using count = cuda.deviceArray(1, i32);
  row('select', 6 * n, peers, () => nothing(selectInto(x, (v) => v % 2 === 0, y, count)));
  check('select', Math.abs(Number(count.get(0)) / n - 0.5) < 0.01, true);
  row('unique', 8 * n, peers, () => nothing(uniqueInto(x, y, count)));
  row('runs', 12 * n, peers, () => nothing(runLengthEncodeInto(x, y, counts, count)), 3);
  row('scan by key', 12 * n, peers, () => nothing(scanByKey(x, sums, 'sum', { out: y })), 3);
  row(
    'reduce by key',
    16 * n,
    peers,
    () => nothing(reduceByKeyInto(x, sums, 'sum', y, counts.view('uint32'), count)),
    3,
  );
}
{
  const peers = cub('sort');
  using x = words(-1);
  using y = words(0);
  row('u32', 8 * n, peers, () => nothing(sort(x, { out: y })), 2);
  check('u32', (y.get(n - 1) as number) >= (y.get(n >> 1) as number), true);
  using f = cuda.deviceArray(n, f32);
  floats.launch(grid, x, f);
  row('f32', 8 * n, peers, () => nothing(sort(f, { out: y.view('float32') as never })), 2);
  const [wide, sorted] = [x.view('uint64'), y.view('uint64')];
  row('u64', 8 * n, peers, () => nothing(sort(wide as never, { out: sorted as never })), 2);
  if (!onCpu) {
    row(
      'u32 pairs',
      16 * n,
      peers,
      () => {
        const { keys, values } = sortByKey(x, y);
        keys.dispose();
        values.dispose();
      },
      2,
    );
    row(
      'merge u32',
      8 * n,
      peers,
      () => nothing(sort(x, { compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0), out: y })),
      1,
    );
  }
}
for (const size of onCpu ? [512] : [4096, 1024]) {
  using a = cuda.deviceArray([size, size], f32);
  using b = cuda.deviceArrayLike(a);
  using c = cuda.deviceArrayLike(a);
  a.set(1);
  b.set(2);
  // Operations in place of bytes: 10^12 of them a second are one of its units.
  row(`f32 product of ${size}`, 2 * size ** 3, {}, () => nothing(cuda.matmul(a, b, { out: c })));
  check('product', c.get(size - 1, 0), 2 * size);
}
record('bench-scans-sorts');
cuda.close();
