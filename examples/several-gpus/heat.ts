/**
 * The heat equation on a square over several GPUs: each has a band of rows, and the bands' edges travel while what is between them is computed. Prints a checksum, which does not
 * depend on the number of ranks.
 *
 *     npx tsamba run --gpus 2 examples/several-gpus/heat.ts [side] [steps]
 *     npx tsamba run --gpus 2 --transport reference examples/several-gpus/heat.ts 256 20
 */
import { cuda, type f32, type In, type i32, type Mat, ndarray } from '../../src/index.ts';
import { nccl, shard } from '../../src/nccl/index.ts';

const [side = 1024, steps = 100] = process.argv.slice(2).map(Number);
await using comm = await nccl.init();

/** Rows `from` to `to` of what is there; the border of the square stays as it is. */
const diffuse = cuda.jit((u: In<Mat<f32>>, next: Mat<f32>, from: i32, to: i32, top: i32, bottom: i32) => {
  const [j, k] = cuda.grid(2);
  const i = k + from;
  if (i >= to || j >= u.shape[1]) return;
  const isBorder = i === top || i === bottom || j === 0 || j === u.shape[1] - 1;
  next[i][j] = isBorder ? u[i][j] : 0.25 * (u[i - 1][j] + u[i + 1][j]) + 0.25 * (u[i][j - 1] + u[i][j + 1]);
});

const square = ndarray(new Float32Array(side * side), { shape: [side, side] });
for (let j = 0; j < side; j++) square.set(1, 0, j);
let [u, next] = [shard<number>(comm, square, { halo: 1 }), shard<number>(comm, square, { halo: 1 })];

// Edges go first: they would wait for the whole interior otherwise.
const [computing, travelling] = [cuda.stream(), cuda.stream({ priority: 'high' })];
const [edgesDone, edgesHere] = [cuda.event({ timing: false }), cuda.event({ timing: false })];
const first = u.before;
const last = u.before + u.stop - u.start;
const top = u.before === 0 ? 0 : -1;
const bottom = u.behind === 0 ? last - 1 : -1;
const rows = (from: number, to: number): void => {
  if (to <= from) return;
  const block = to - from < 8 ? ([128, 1] as const) : ([32, 8] as const);
  const launch = { threads: [side, to - from] as const, block, stream: computing };
  diffuse.launch(launch, u.local, next.local, from, to, top, bottom);
};

/** Computes `next` and its edges: the neighbours' on their way while the interior is computed. */
async function step(): Promise<void> {
  rows(first, first + 1);
  rows(Math.max(last - 1, first + 1), last);
  edgesDone.record(computing);
  edgesDone.wait(travelling);
  const exchanged = next.exchange({ stream: travelling });
  rows(first + 1, last - 1);
  await exchanged;
  edgesHere.record(travelling);
  edgesHere.wait(computing);
}

// Compiles the kernel and connects the GPUs; the first step does the same again.
await step();
await computing.done();
await comm.barrier();
const began = performance.now();
for (let k = 0; k < steps; k++) {
  await step();
  [u, next] = [next, u];
}
await computing.done();
const seconds = (performance.now() - began) / 1000;
const whole = await u.gatherTo(0);
if (whole !== undefined) {
  const words = new Uint32Array(Float32Array.from((await whole.ravel().copyToHostAsync()) as ArrayLike<number>).buffer);
  const checksum = words.reduce((sum, word) => (Math.imul(sum, 31) + word) >>> 0, 0);
  console.log(`${side} x ${side}, ${steps} steps: checksum ${checksum.toString(16)}`);
  console.error(
    `${comm.size} ranks (${comm.transport}): ${((side * side * steps) / seconds / 1e9).toFixed(2)} billion cells a second`,
  );
}
