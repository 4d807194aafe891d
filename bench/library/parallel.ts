/**
 * The benchmark of `tsamba/parallel`'s reductions and histograms, on the current device: beside CUB where that is an NVIDIA GPU and nvcc is installed, beside loops
 * over typed arrays on the CPU device.
 *
 *   --power 28         words of 32 bits are 2 to this power; 24 on the CPU device
 *   --rounds 11
 *   --json FILE
 */
import { cuda, type DeviceNDArray, f32, struct, type u32, type Vec } from 'tsamba';
import { counting, histogram, map, reduce, reduceInto, segmentedReduce } from '../../src/parallel/index.ts';
import { check, cub, power, record, row } from './table.ts';

const n = 2 ** power;

const words = cuda.deviceArray(n, 'uint32');
const fill = cuda.jit((y: Vec<u32>, shift: number, mask: number) => {
  for (let i = cuda.grid(1); i < y.length; i += cuda.gridSize(1)) {
    let h = i;
    h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
    h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
    y[i] = ((h ^ (h >>> 16)) >>> shift) & mask;
  }
});
const toFloats = cuda.jit((y: Vec<u32>, z: Vec<f32>) => {
  for (let i = cuda.grid(1); i < y.length; i += cuda.gridSize(1)) z[i] = (y[i] as number) / 2 ** 24;
});
const launch = { grid: 1024, block: 256 };
const ints = words.view('int32') as DeviceNDArray<number, 1>;
const floats = words.view('float32') as DeviceNDArray<number, 1>;
const bytes = words.view('uint8') as DeviceNDArray<number, 1>;
const Pair = struct({ x: f32, y: f32 }, { align: true });
const pairs = words.view(Pair) as DeviceNDArray<{ x: number; y: number }, 1>;
const out = cuda.deviceArray(1, 'float64');
const pair = cuda.deviceArray(1, Pair);

const peers = cub('parallel');
console.log(`${cuda.currentDevice().name}, 2^${power} words`);
fill.launch(launch, words, 0, 1023);
row('sum i32', 4 * n, peers, () => reduceInto(ints, 'sum', out) as undefined);
const plain = cuda.reduce((a, b) => a + b);
const word = cuda.deviceArray(1, 'int32');
row('sum i32 by cuda.reduce', 4 * n, peers, () => plain(ints, { res: word }));
check('sum', reduce(ints, 'sum') & 0x7fffffff, plain(ints) & 0x7fffffff);
fill.launch(launch, words, 0, -1);
const quarter = bytes.slice([0, n]);
row('histogram u8', n, peers, () => histogram(quarter, 256, { range: [0, 256] }));
check('histogram u8', reduce(histogram(quarter, 256, { range: [0, 256] }), 'sum'), n);
fill.launch(launch, words, 8, 0xffffff);
toFloats.launch(launch, words, floats);
row('sum f32', 4 * n, peers, () => reduceInto(floats, 'sum', out) as undefined);
row(
  'sum of squares, map',
  4 * n,
  peers,
  () =>
    reduceInto(
      map(floats, (v) => v * v),
      'sum',
      out,
    ) as undefined,
);
row('structs', 4 * n, peers, () => reduceInto(pairs, (a, b) => ({ x: a.x + b.x, y: a.y + b.y }), pair) as undefined);
for (const each of [16, 256, 4096]) {
  const offsets = cuda.deviceArray(n / each + 1, 'int32');
  cuda
    .jit((y: Vec<number>, each: number) => {
      for (let i = cuda.grid(1); i < y.length; i += cuda.gridSize(1)) y[i] = i * each;
    })
    .launch(launch, offsets as never, each);
  row(`segments of ${each}`, 4 * n, peers, () => segmentedReduce(floats, offsets, 'sum'));
  if (each === 256) {
    row('segments of 256, counted', 4 * n, peers, () =>
      segmentedReduce(floats, counting(n / each + 1, 0, each), 'sum'),
    );
  }
}
row('histogram f32', 4 * n, peers, () => histogram(floats, 256, { range: [0, 1] }));
row('histogram f32, 32 bins', 4 * n, peers, () => histogram(floats, 32, { range: [0, 1] }));
check('histogram f32', reduce(histogram(floats, 256, { range: [0, 1] }), 'sum'), n);
record('bench-parallel');
cuda.close();
