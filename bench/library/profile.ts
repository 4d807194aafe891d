/**
 * The benchmark of profiling: what `cuda.profile` costs a loop of launches, on the current device. Bundled: `node bench-profile.mjs`.
 *
 * Each loop launches one kernel many times and waits at its end; loops with and without a profile take turns. What is told is the time of a
 * launch in the loop, and the time that the profile itself says a kernel took.
 *
 *   --launches 1000  --rounds 9  --json FILE
 */
import { writeFileSync } from 'node:fs';
import { cuda, type f32, type Vec } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';

const args = process.argv.slice(2);
const given = readOptions('profile', 'node bench-profile.mjs');
const launches = Number(given.value('launches', '1000'));
const rounds = Number(given.value('rounds', '9'));

const axpy = cuda.jit(
  (y: Vec<f32>, x: Vec<f32>, a: number) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i]! += a * x[i]!;
  },
  { name: 'axpy' },
);

const { kind, name } = cuda.currentDevice();
const POWERS = kind === 'cpu' ? [6, 12, 16, 18] : [10, 20, 22, 24];

interface Row {
  readonly elements: number;
  /** Microseconds of a launch in the loop. */
  readonly without: number;
  readonly profiled: number;
  /** Microseconds that the profile tells of the kernel: the middle one. */
  readonly told: number;
}

async function measure(power: number): Promise<Row> {
  const elements = 2 ** power;
  const [x, y] = [cuda.deviceArray(elements, 'f32'), cuda.deviceArray(elements, 'f32')];
  const stream = cuda.stream();
  x.set(1);
  y.set(0);
  const loop = (): number => {
    cuda.synchronize();
    const began = performance.now();
    for (let k = 0; k < launches; k++) axpy.launch({ threads: elements, stream }, y, x, 0);
    cuda.synchronize();
    return ((performance.now() - began) / launches) * 1000;
  };
  const [without, profiled, told]: [number[], number[], number[]] = [[], [], []];
  for (let round = -2; round < rounds; round++) {
    const bare = loop();
    const profile = await cuda.profile(loop);
    if (round < 0) continue;
    without.push(bare);
    profiled.push(profile.result);
    const times = profile.events.flatMap(({ kind, gpu }) => (kind === 'launch' && gpu ? [gpu.duration * 1000] : []));
    if (times.length > 0) told.push(median(times));
  }
  for (const array of [x, y]) array.dispose();
  return { elements, without: median(without), profiled: median(profiled), told: median(told) };
}

console.log(name);
const rows: Row[] = [];
for (const power of POWERS) {
  const row = await measure(power);
  rows.push(row);
  const { without, profiled, told } = row;
  console.log(
    `2^${power} elements: ${without.toFixed(2)} µs a launch, profiled ${profiled.toFixed(2)} µs: ` +
      `${((profiled / without - 1) * 100).toFixed(1)} % more, ${(profiled - without).toFixed(2)} µs; the profile says ${told.toFixed(2)} µs`,
  );
}
const file = given.value('json', '');
if (file !== '') {
  const record = { ...machine(), date: new Date().toISOString(), command: commandLine('bench-profile', args) };
  writeFileSync(file, `${JSON.stringify({ ...record, device: name, launches, rows }, null, 2)}\n`);
}
