/**
 * The benchmark of `tsamba/parallel`'s reductions and histograms, on the current device: beside CUB where that is an NVIDIA GPU and nvcc is installed, beside loops
 * over typed arrays on the CPU device.
 *
 *   --power 28         words of 32 bits are 2 to this power; 24 on the CPU device
 *   --rounds 11
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda, type DeviceNDArray, f32, struct, type u32, type Vec } from 'tsamba';
import { counting, histogram, map, reduce, reduceInto, segmentedReduce } from '../../src/parallel/index.ts';

const args = process.argv.slice(2);

function option(name: string, otherwise: string): string {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : (args[at + 1] ?? otherwise);
}

const onCpu = cuda.currentDevice().kind === 'cpu';
const power = Number(option('power', onCpu ? '24' : '28'));
const rounds = Number(option('rounds', '11'));
const n = 2 ** power;

function timed(run: () => { dispose(): void } | undefined): number {
  const together = onCpu ? 1 : 10;
  const [start, end] = [cuda.event(), cuda.event()];
  const times: number[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    const began = performance.now();
    start.record();
    for (let k = 0; k < together; k++) run()?.dispose();
    end.record();
    end.synchronize();
    const ms = onCpu ? performance.now() - began : start.elapsedTime(end);
    if (round >= 2) times.push(ms / together);
  }
  return times.sort((a, b) => a - b)[times.length >> 1] as number;
}

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

const peers = cub();
const row = (what: string, size: number, run: () => { dispose(): void } | undefined): void => {
  try {
    const ms = timed(run);
    const peer = peers[what];
    const beside = peer === undefined ? '' : `  CUB ${peer.toFixed(4)} ms, ${(peer / ms).toFixed(2)} of its speed`;
    console.log(`${what.padEnd(26)} ${ms.toFixed(4)} ms  ${(size / ms / 1e9).toFixed(3)} TB/s${beside}`);
  } catch (error) {
    console.log(what, error);
  }
};

console.log(`${cuda.currentDevice().name}, 2^${power} words`);
fill.launch(launch, words, 0, 1023);
const check = (what: string, is: unknown, wanted: unknown): void => {
  if (is !== wanted) console.log(`WRONG ${what}: ${String(is)} instead of ${String(wanted)}`);
};
row('sum i32', 4 * n, () => reduceInto(ints, 'sum', out) as undefined);
const plain = cuda.reduce((a, b) => a + b);
const word = cuda.deviceArray(1, 'int32');
row('sum i32 by cuda.reduce', 4 * n, () => plain(ints, { res: word }));
check('sum', reduce(ints, 'sum') & 0x7fffffff, plain(ints) & 0x7fffffff);
fill.launch(launch, words, 0, -1);
const quarter = bytes.slice([0, n]);
row('histogram u8', n, () => histogram(quarter, 256, { range: [0, 256] }));
check('histogram u8', reduce(histogram(quarter, 256, { range: [0, 256] }), 'sum'), n);
fill.launch(launch, words, 8, 0xffffff);
toFloats.launch(launch, words, floats);
row('sum f32', 4 * n, () => reduceInto(floats, 'sum', out) as undefined);
row(
  'sum of squares, map',
  4 * n,
  () =>
    reduceInto(
      map(floats, (v) => v * v),
      'sum',
      out,
    ) as undefined,
);
row('structs', 4 * n, () => reduceInto(pairs, (a, b) => ({ x: a.x + b.x, y: a.y + b.y }), pair) as undefined);
for (const each of [16, 256, 4096]) {
  const offsets = cuda.deviceArray(n / each + 1, 'int32');
  cuda
    .jit((y: Vec<number>, each: number) => {
      for (let i = cuda.grid(1); i < y.length; i += cuda.gridSize(1)) y[i] = i * each;
    })
    .launch(launch, offsets as never, each);
  row(`segments of ${each}`, 4 * n, () => segmentedReduce(floats, offsets, 'sum'));
  if (each === 256) {
    row('segments of 256, counted', 4 * n, () => segmentedReduce(floats, counting(n / each + 1, 0, each), 'sum'));
  }
}
row('histogram f32', 4 * n, () => histogram(floats, 256, { range: [0, 1] }));
row('histogram f32, 32 bins', 4 * n, () => histogram(floats, 32, { range: [0, 1] }));
check('histogram f32', reduce(histogram(floats, 256, { range: [0, 1] }), 'sum'), n);
cuda.close();

function cub(): Record<string, number> {
  const source = [fileURLToPath(new URL('../peers/cuda/parallel.cu', import.meta.url)), 'parallel.cu'].find(existsSync);
  if (cuda.currentDevice().kind !== 'nvidia' || source === undefined) return {};
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-cub-'));
  try {
    const program = join(folder, 'parallel');
    execFileSync('nvcc', ['-O3', '-arch=native', '--extended-lambda', '-o', program, source], { stdio: 'pipe' });
    return JSON.parse(execFileSync(program, [String(power), String(rounds)], { encoding: 'utf8' })) as Record<
      string,
      number
    >;
  } catch (error) {
    console.log(`CUB: ${String(error).slice(0, 600)}`);
    return {};
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
