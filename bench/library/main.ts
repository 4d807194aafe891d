/**
 * The benchmark of reductions and universal functions, on the current device: beside CUB where that is an NVIDIA GPU and nvcc is installed, beside loops over
 * typed arrays, and jax-js where it is installed, on the CPU device. Bundled: `node bench-library.mjs`.
 *
 *   --power 28         elements are 2 to this power; 24 on the CPU device
 *   --rounds 11
 *   --json FILE
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda, type DeviceNDArray, type f32, type Vec } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';

const args = process.argv.slice(2);
const given = readOptions('library', 'node bench-library.mjs');

const onCpu = cuda.currentDevice().kind === 'cpu';
const power = Number(given.value('power', onCpu ? '24' : '28'));
const rounds = Number(given.value('rounds', '11'));
const n = 2 ** power;

/** One line of the table. */
interface Row {
  readonly what: string;
  readonly ms: number;
  readonly bytes: number;
  /** What others take, by their names. */
  readonly peers: Record<string, number>;
}

/** The median time of a call that enqueues work, in milliseconds: between events on GPUs, where several calls hide what one costs to issue. */
function timed(run: () => void, together = onCpu ? 1 : 20): number {
  const stream = cuda.defaultStream();
  const [start, end] = [cuda.event(), cuda.event()];
  const times: number[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    const began = performance.now();
    start.record(stream);
    for (let k = 0; k < together; k++) run();
    end.record(stream);
    end.synchronize();
    const ms = onCpu ? performance.now() - began : start.elapsedTime(end);
    if (round >= 2) times.push(ms / together);
  }
  return median(times);
}

function loop(run: () => void): number {
  const times: number[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    const began = performance.now();
    run();
    if (round >= 2) times.push(performance.now() - began);
  }
  return median(times);
}

/** 0, 1, 2, 0, … on the device. */
function thirds(dtype: 'float32' | 'int32' | 'float64'): DeviceNDArray {
  const x = cuda.deviceArray(n, dtype);
  const fill = cuda.jit((y: Vec<f32>) => {
    for (let i = cuda.grid(1); i < y.length; i += cuda.gridSize(1)) y[i] = i % 3;
  });
  fill.launch({ grid: 1024, block: 256 }, x as never);
  return x as DeviceNDArray;
}

const sum = cuda.reduce((a, b) => a + b);
const add = cuda.vectorize((a, b) => a + b);

type Sums = Readonly<Record<string, { readonly ms: number; readonly sum: number }>>;

function reductions(cub: Sums | undefined): Row[] {
  return (['float32', 'int32', 'float64'] as const).map((dtype) => {
    const x = thirds(dtype);
    const res = cuda.deviceArray(1, dtype);
    const ms = timed(() => sum(x as never, { res: res as never }));
    const row: Row = { what: `sum of ${dtype}`, ms, bytes: n * x.itemSize, peers: {} };
    const value = Number(res.get(0));
    const theirs = cub?.[dtype];
    if (theirs !== undefined) {
      row.peers['CUB'] = theirs.ms;
      if (Math.abs(value - theirs.sum) > 1e-4 * theirs.sum) console.log(`WRONG: ${dtype} ${value}, CUB ${theirs.sum}`);
    }
    if (onCpu) {
      const host = x.copyToHost() as Float32Array;
      let total = 0;
      row.peers['loop'] = loop(() => {
        let value = 0;
        for (let i = 0; i < host.length; i++) value += host[i] as number;
        total = value;
      });
      row.peers['TypedArray.reduce'] = loop(() => host.reduce((a, b) => a + b));
      if (Math.abs(value - total) > 1e-4 * total) console.log(`WRONG: ${dtype} ${value}, a loop ${total}`);
    }
    for (const array of [x, res]) array.dispose();
    return row;
  });
}

function additions(): Row[] {
  const [x, y, out] = [thirds('float32'), thirds('float32'), cuda.deviceArray(n, 'float32')];
  const ms = timed(() => add(x as never, y as never, { out }));
  const row: Row = { what: 'add of float32', ms, bytes: 3 * 4 * n, peers: {} };
  if (onCpu) {
    const [a, b, c] = [x.copyToHost(), y.copyToHost(), new Float32Array(n)] as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    row.peers['loop'] = loop(() => {
      for (let i = 0; i < n; i++) c[i] = (a[i] as number) + (b[i] as number);
    });
  }
  for (const array of [x, y, out]) array.dispose();
  return [row];
}

/** CUB's times, by a program that is compiled here. */
function cub(): Sums | undefined {
  if (cuda.currentDevice().kind !== 'nvidia') return undefined;
  const here = fileURLToPath(new URL('.', import.meta.url));
  const source = [join(here, 'peers/cuda/reduce.cu'), join(here, '../peers/cuda/reduce.cu')].find((path) =>
    existsSync(path),
  );
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-cub-'));
  try {
    execFileSync('nvcc', ['-O3', '-arch=native', '--extended-lambda', '-o', join(folder, 'reduce'), source ?? '']);
    return JSON.parse(
      execFileSync(join(folder, 'reduce'), [String(power), String(rounds)], { encoding: 'utf8' }),
    ) as Sums;
  } catch (error) {
    console.log(`left out CUB: ${(error as Error).message.split('\n')[0]}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sums and additions by jax-js, compiled to WebAssembly. */
async function jax(rows: readonly Row[]): Promise<void> {
  if (!onCpu) return;
  try {
    const { init, numpy: np, defaultDevice, jit } = (await import('@jax-js/jax')) as never as JaxJs;
    await init('wasm');
    defaultDevice('wasm');
    const host = Float32Array.from({ length: n }, (_, i) => i % 3);
    const [x, y] = [np.array(host), np.array(host)];
    const measure = async (run: () => Jax): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < rounds + 2; round++) {
        const began = performance.now();
        const result = run();
        await result.blockUntilReady();
        if (round >= 2) times.push(performance.now() - began);
        result.dispose();
      }
      return median(times);
    };
    const [total, plus] = [jit((a: Jax) => np.sum(a)), jit((a: Jax, b: Jax) => np.add(a, b))];
    (rows.find(({ what }) => what === 'sum of float32') as Row).peers['jax-js'] = await measure(() => total(x.ref));
    (rows.find(({ what }) => what === 'add of float32') as Row).peers['jax-js'] = await measure(() =>
      plus(x.ref, y.ref),
    );
  } catch (error) {
    console.log(`left out jax-js: ${(error as Error).message.split('\n')[0]}`);
  }
}

interface Jax {
  readonly ref: Jax;
  blockUntilReady(): Promise<unknown>;
  dispose(): void;
}

interface JaxJs {
  readonly numpy: { array(data: Float32Array): Jax; sum(x: Jax): Jax; add(x: Jax, y: Jax): Jax };
  init(device: string): Promise<unknown>;
  defaultDevice(device: string): void;
  jit<A extends readonly Jax[]>(fn: (...args: A) => Jax): (...args: A) => Jax;
}

const rows = [...reductions(cub()), ...additions()];
await jax(rows);
console.log(`${cuda.currentDevice().name}, 2^${power} elements, medians of ${rounds}`);
for (const { what, ms, bytes, peers } of rows) {
  const beside = Object.entries(peers).map(
    ([name, theirs]) => `${name} ${theirs.toFixed(3)} ms (${(theirs / ms).toFixed(2)} x)`,
  );
  console.log(`${what.padEnd(16)} ${ms.toFixed(3)} ms  ${(bytes / ms / 1e6).toFixed(0)} GB/s  ${beside.join(', ')}`);
}
const file = given.value('json', '');
if (file !== '') {
  const record = {
    date: new Date().toISOString(),
    ...machine(),
    device: cuda.currentDevice().name,
    command: commandLine('bench-library', args),
    power,
    rounds,
    rows,
  };
  writeFileSync(file, `${JSON.stringify(record)}\n`);
}
