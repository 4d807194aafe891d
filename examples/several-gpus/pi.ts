/**
 * Monte Carlo over ranks: random points, of which each rank draws its share. Point k is the same whoever draws it, so that the result does not depend on the number of ranks.
 *
 *     npx tsamba run --gpus 2 examples/several-gpus/pi.ts [points]
 */
import { cuda, type i64, type u32, type Vec } from '../../src/index.ts';
import { nccl } from '../../src/nccl/index.ts';

const points = Number(process.argv[2] ?? 2 ** 30);
await using comm = await nccl.init();

/** A random word for each counter and round: a generator that can begin anywhere. */
const mixed = (counter: u32, round: u32): number => {
  let x = (counter ^ Math.imul(round, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
};
const draw = cuda.jit((hits: Vec<i64>, from: u32, to: u32, round: u32) => {
  const stride = cuda.gridSize(1);
  let own = 0;
  for (let k = from + cuda.grid(1); k < to; k += stride) {
    const x = mixed(2 * k, round) / 2 ** 32;
    const y = mixed(2 * k + 1, round) / 2 ** 32;
    if (x * x + y * y < 1) own += 1;
  }
  cuda.atomic.add(hits, 0, BigInt(own));
});

/** Points of a round: two words of 32 bits count each. */
const ROUND = 2 ** 31 - 2 ** 20;
const hits = cuda.toDevice(BigInt64Array.of(0n));

// Compiles the kernel and connects the GPUs.
draw.launch({ grid: 1024, block: 256 }, hits, 0, 0, 0);
await comm.allReduce(hits);
await comm.barrier();
const began = performance.now();
for (let round = 0; round * ROUND < points; round++) {
  const count = Math.min(points - round * ROUND, ROUND);
  const [from = 0, to = 0] = [comm.rank, comm.rank + 1].map((rank) => Math.floor((count * rank) / comm.size));
  draw.launch({ grid: 1024, block: 256 }, hits, from, to, round);
}
await comm.allReduce(hits);
const [all = 0n] = await hits.copyToHostAsync();
const seconds = (performance.now() - began) / 1000;
if (comm.rank === 0) {
  console.log(`pi is about ${(4 * Number(all)) / points}: ${all} of ${points} points`);
  console.error(
    `${comm.size} ranks (${comm.transport}): ${(points / seconds / 1e9).toFixed(2)} billion points a second`,
  );
}
