/**
 * k-means with the data over ranks: each has a share of the points, and the sums of all are added in every round. Sums are of integers, so that the result does not depend on the number of
 * ranks.
 *
 *     npx tsamba run --gpus 2 examples/several-gpus/k-means.ts [points] [rounds]
 */
import { cuda, type f32, type In, i32, type i64, type Mat, type u8 } from '../../src/index.ts';
import { nccl } from '../../src/nccl/index.ts';

const COLOURS = 8;
const [points = 1_000_000, rounds = 20] = process.argv.slice(2).map(Number);
await using comm = await nccl.init();

/** The bytes of point `first` and those behind it: each a mixture of its number, the same whichever rank makes it. */
const fill = cuda.jit((pixels: Mat<u8>, first: number) => {
  const i = cuda.grid(1);
  if (i >= pixels.length) return;
  for (let c = 0; c < 3; c++) pixels[i][c] = Math.imul(3 * (first + i) + c + 1, 0x9e3779b1) >>> 24;
});

/** Blocks add up in shared memory, and each adds its sums to those of the GPU. */
const collect = cuda.jit((pixels: In<Mat<u8>>, centres: In<Mat<f32>>, sums: Mat<i64>) => {
  const own = cuda.shared.array([COLOURS, 4], i32);
  const t = cuda.threadIdx.x;
  if (t < 4 * COLOURS) own[t >> 2][t & 3] = 0;
  cuda.syncThreads();
  for (let i = cuda.grid(1); i < pixels.length; i += cuda.gridSize(1)) {
    let [best, least] = [0, 1e30];
    for (let k = 0; k < COLOURS; k++) {
      let distance = 0;
      for (let c = 0; c < 3; c++) distance += (pixels[i][c] - centres[k][c]) ** 2;
      if (distance < least) [best, least] = [k, distance];
    }
    for (let c = 0; c < 3; c++) cuda.atomic.add(own, [best, c], pixels[i][c]);
    cuda.atomic.add(own, [best, 3], 1);
  }
  cuda.syncThreads();
  if (t < 4 * COLOURS) cuda.atomic.add(sums, [t >> 2, t & 3], BigInt(own[t >> 2][t & 3]));
});
const move = cuda.jit((sums: In<Mat<i64>>, centres: Mat<f32>) => {
  const [c, k] = cuda.grid(2);
  if (k < centres.shape[0] && sums[k][3] > 0) centres[k][c] = Number(sums[k][c]) / Number(sums[k][3]);
});

const [start = 0, stop = 0] = [comm.rank, comm.rank + 1].map((rank) => Math.floor((points * rank) / comm.size));
const own = cuda.deviceArray([stop - start, 3], 'uint8');
fill.launch({ threads: Math.max(stop - start, 1) }, own, start);
const centres = cuda.deviceArray([COLOURS, 3], 'float32');
const sums = cuda.deviceArray([COLOURS, 4], 'int64');

/** A grey for each colour. */
function reset(): void {
  for (let k = 0; k < COLOURS; k++) centres.slice(k).set((255 * (k + 0.5)) / COLOURS);
}
async function round(): Promise<void> {
  sums.set(0n);
  collect.launch({ grid: 1024, block: 256 }, own, centres, sums);
  await comm.allReduce(sums);
  move.launch({ grid: [1, COLOURS], block: [3, 1] }, sums, centres);
}

// Compiles the kernels and connects the GPUs.
reset();
await round();
reset();
await comm.barrier();
const began = performance.now();
for (let k = 0; k < rounds; k++) await round();
const found = (await centres.copyToHostAsync()).toArray() as number[][];
const seconds = (performance.now() - began) / 1000;
if (comm.rank === 0) {
  console.log(found.map((centre) => centre.map((v) => v.toFixed(3)).join(' ')).join('\n'));
  console.error(
    `${comm.size} ranks (${comm.transport}): ${((points * rounds) / seconds / 1e9).toFixed(2)} billion points a second`,
  );
}
