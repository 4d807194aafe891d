/**
 * The benchmark of generators: arrays of random numbers on the current device. Bundled: `node bench-random.mjs`.
 *
 *   --power 27  --rounds 9  --json FILE
 */
import { writeFileSync } from 'node:fs';
import { cuda } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';

const args = process.argv.slice(2);
const given = readOptions('random', 'node bench-random.mjs');

const onCpu = cuda.currentDevice().kind === 'cpu';
const n = 2 ** Number(given.value('power', onCpu ? '22' : '27'));
const rounds = Number(given.value('rounds', '9'));
const rng = cuda.random.generator(1);
const rows: { readonly what: string; readonly ms: number; readonly perSecond: number }[] = [];

function measure(what: string, draw: () => { dispose(): void }): void {
  const times: number[] = [];
  const [start, end] = [cuda.event(), cuda.event()];
  draw().dispose();
  for (let round = 0; round < rounds; round++) {
    cuda.synchronize();
    const began = performance.now();
    start.record();
    const array = draw();
    end.record();
    end.synchronize();
    times.push(onCpu ? performance.now() - began : start.elapsedTime(end));
    array.dispose();
  }
  const ms = median(times);
  rows.push({ what, ms, perSecond: n / ms / 1e6 });
  console.log(`${what.padEnd(28)} ${ms.toFixed(3)} ms  ${(n / ms / 1e6).toFixed(1)} G numbers/s`);
}

console.log(`${cuda.currentDevice().name}, ${n} numbers`);
measure('random f64', () => rng.random(n));
measure('random f32', () => rng.random(n, { dtype: 'float32' }));
measure('raw u64', () => rng.raw(n));
measure('normal f64', () => rng.normal(0, 1, n));
measure('normal f32', () => rng.normal(0, 1, n, { dtype: 'float32' }));
measure('exponential f32', () => rng.exponential(1, n, { dtype: 'float32' }));
measure('integers below 16', () => rng.integers(0, 16, n));
measure('integers below 1000', () => rng.integers(0, 1000, n));
measure('integers below 100, u8', () => rng.integers(0, 100, n, { dtype: 'uint8' }));
measure('poisson of mean 5', () => rng.poisson(5, n));
measure('poisson of mean 50', () => rng.poisson(50, n));
measure('permutation', () => rng.permutation(n));
const file = given.value('json', '');
if (file !== '') {
  const { name } = cuda.currentDevice();
  const about = { date: new Date().toISOString(), command: commandLine('bench-random', args), device: name, n };
  writeFileSync(file, `${JSON.stringify({ ...machine(), ...about, rows }, null, 2)}\n`);
}
