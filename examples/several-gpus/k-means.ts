/**
 * k-means with the data over ranks: each has a share of the points, and the sums of all are added in every round. Sums are of integers, so that the result does not depend on the number of
 * ranks.
 *
 *     npx tsamba run --gpus 2 examples/several-gpus/k-means.ts [points] [rounds]
 */
import { cuda, type f32, type In, type i32, type Mat, ndarray, type u8 } from '../../src/index.ts';
import { nccl, shard } from '../../src/nccl/index.ts';

const COLOURS = 8;
const [points = 1_000_000, rounds = 20] = process.argv.slice(2).map(Number);
await using comm = await nccl.init();

const collect = cuda.jit((pixels: In<Mat<u8>>, centres: In<Mat<f32>>, sums: Mat<i32>) => {
  const i = cuda.grid(1);
  if (i >= pixels.length) return;
  let [best, least] = [0, 1e30];
  for (let k = 0; k < centres.shape[0]; k++) {
    let distance = 0;
    for (let c = 0; c < 3; c++) distance += (pixels[i][c] - centres[k][c]) ** 2;
    if (distance < least) [best, least] = [k, distance];
  }
  for (let c = 0; c < 3; c++) cuda.atomic.add(sums, [best, c], pixels[i][c]);
  cuda.atomic.add(sums, [best, 3], 1);
});
const move = cuda.jit((sums: In<Mat<i32>>, centres: Mat<f32>) => {
  const [c, k] = cuda.grid(2);
  if (k < centres.shape[0] && sums[k][3] > 0) centres[k][c] = sums[k][c] / sums[k][3];
});

// The same numbers on every rank, which takes its share of them.
const data = Uint8Array.from({ length: 3 * points }, (_, k) => (Math.imul(k + 1, 0x9e3779b1) >>> 22) & 255);
const own = shard<number>(comm, ndarray(data, { shape: [points, 3] })).local;
const greys = Float32Array.from({ length: 3 * COLOURS }, (_, k) => (255 * (Math.floor(k / 3) + 0.5)) / COLOURS);
const centres = cuda.toDevice(ndarray(greys, { shape: [COLOURS, 3] }));
const sums = cuda.deviceArray([COLOURS, 4], 'int32');
for (let round = 0; round < rounds; round++) {
  sums.set(0);
  if (own.size > 0) collect.launch({ threads: own.shape[0] as number, block: 256 }, own, centres, sums);
  await comm.allReduce(sums);
  move.launch({ grid: [1, COLOURS], block: [3, 1] }, sums, centres);
}
const found = (await centres.copyToHostAsync()).toArray() as number[][];
if (comm.rank === 0) console.log(found.map((centre) => centre.map((v) => v.toFixed(3)).join(' ')).join('\n'));
