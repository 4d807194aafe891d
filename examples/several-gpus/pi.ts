/**
 * Monte Carlo over ranks: random points, of which each rank draws its share. Point k is the same whoever draws it, so that the result does not depend on the number of ranks.
 *
 *     npx tsamba run --gpus 2 examples/several-gpus/pi.ts [points]
 */
import { cuda, type i32, type u32, type Vec } from '../../src/index.ts';
import { nccl } from '../../src/nccl/index.ts';

const points = Number(process.argv[2] ?? 2 ** 30);
await using comm = await nccl.init();

/** The words of a counter, mixed: a generator that can begin anywhere. */
const mixed = (counter: u32): number => {
  let x = counter;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
};
const draw = cuda.jit((hits: Vec<i32>, from: u32, to: u32) => {
  const stride = cuda.gridSize(1);
  let own = 0;
  for (let k = from + cuda.grid(1); k < to; k += stride) {
    const x = mixed(2 * k) / 2 ** 32;
    const y = mixed(2 * k + 1) / 2 ** 32;
    if (x * x + y * y < 1) own += 1;
  }
  cuda.atomic.add(hits, 0, own);
});

const [from, to] = [comm.rank, comm.rank + 1].map((rank) => Math.floor((points * rank) / comm.size)) as [
  number,
  number,
];
const hits = cuda.toDevice(Int32Array.of(0));
draw.launch({ grid: 1024, block: 256 }, hits, from, to);
await comm.allReduce(hits);
const [all = 0] = await hits.copyToHostAsync();
if (comm.rank === 0) console.log(`pi is about ${(4 * all) / points}: ${all} of ${points} points`);
