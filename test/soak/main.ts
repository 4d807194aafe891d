/**
 * `npm run soak -- --minutes 10 --device cpu`: random operations on several streams with random disposals, every result checked
 * against a model; at the end device memory and the JavaScript heap must be where they were after the first minute.
 *
 * `--json FILE` keeps what was found. `npm run test:gpu -- --bundle DIR` writes it as one file, soak.mjs, for a host that has nothing but
 * Node.js and a GPU.
 */
import { writeFileSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { cuda } from '../../src/index.ts';
import { collectGarbage } from '../../src/memory/collect.ts';
import { commandLine, machine } from '../gpu/machine.ts';
import { World } from './world.ts';

/** Operations between two turns of the event loop. */
const BATCH = 50;
/** Bytes by which the heap may have grown: code that is compiled late, mostly. */
const HEAP_SLACK = 8 * 2 ** 20;
/** Bytes of device memory that may be missing: what drivers keep for themselves. */
const DEVICE_SLACK = 64 * 2 ** 20;
const MB = 2 ** 20;

function option(name: string, byDefault: string): string {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? byDefault : (process.argv[at + 1] ?? byDefault);
}

interface Sample {
  readonly heap: number;
  readonly live: number;
  readonly used: number;
}

/** What is in use once everything that can be given back has been. */
async function sample(): Promise<Sample> {
  for (let k = 0; k < 4; k++) {
    collectGarbage();
    await setTimeout(5);
  }
  const context = cuda.currentContext();
  context.deallocations.clear();
  cuda.synchronize();
  const { free, total } = context.driver.memoryInfo();
  return { heap: process.memoryUsage().heapUsed, live: cuda.memoryStats().live, used: total - free };
}

async function main(): Promise<void> {
  const minutes = Number(option('minutes', '1'));
  const seed = Number(option('seed', '1'));
  const device = option('device', '');
  if (device !== '') cuda.selectDevice(/^\d+$/.test(device) ? Number(device) : (device as 'cpu'));
  const context = cuda.currentContext();
  console.log(`soak: ${minutes} minutes on ${context.info.name}, seed ${seed}, Node.js ${process.version}`);
  const end = performance.now() + minutes * 60_000;
  let round = 0;
  let [operations, checks, worst] = [0, 0, 0];
  const counts: Record<string, number> = {};
  const rounds: Sample[] = [];
  let first: Sample | undefined;
  let last: Sample | undefined;
  const length = Math.max(2_000, (minutes * 60_000) / 12);
  while (performance.now() < end || round < 3) {
    const world = new World(seed + round);
    const until = Math.min(performance.now() + length, Math.max(end, performance.now() + 1_000));
    while (performance.now() < until) {
      for (let k = 0; k < BATCH; k++) await world.step();
      worst = Math.max(worst, cuda.memoryStats().live);
      await setImmediate();
    }
    world.finish();
    operations += world.operations;
    checks += world.checks;
    for (const [name, n] of Object.entries(world.counts)) counts[name] = (counts[name] ?? 0) + n;
    last = await sample();
    rounds.push(last);
    round++;
    // The first round compiles kernels and warms caches.
    if (round === 2) first = last;
    console.log(
      `round ${round}: ${operations} operations, ${checks} checks; heap ${(last.heap / MB).toFixed(1)} MB, live ${last.live} bytes, ` +
        `driver ${(last.used / MB).toFixed(1)} MB, peak live ${(worst / MB).toFixed(1)} MB, collections ${context.pressure.collections}`,
    );
    if (last.live !== 0) throw new Error(`${last.live} bytes are live after everything was disposed`);
  }
  const { allocations, frees, pending } = cuda.memoryStats();
  console.log(
    Object.entries(counts)
      .map(([name, n]) => `${name} ${n}`)
      .join(', '),
  );
  console.log(`${allocations} allocations, ${frees} frees`);
  if (allocations !== frees || pending !== 0) throw new Error('allocations and frees do not agree');
  if (first === undefined || last === undefined) throw new Error('there were no rounds');
  const [heap, used] = [last.heap - first.heap, last.used - first.used];
  const file = option('json', '');
  if (file !== '') {
    const about = { ...machine(), device: context.info.name, command: commandLine('soak', process.argv.slice(2)) };
    const found = { operations, checks, counts, allocations, frees, peakLive: worst, rounds, heap, used };
    writeFileSync(file, `${JSON.stringify({ date: new Date().toISOString(), ...about, minutes, seed, ...found })}\n`);
  }
  if (heap > HEAP_SLACK) throw new Error(`the heap has grown by ${heap} bytes`);
  if (used > DEVICE_SLACK) throw new Error(`${used} bytes of device memory are gone`);
  console.log(
    `flat: heap ${heap >= 0 ? '+' : ''}${(heap / MB).toFixed(2)} MB, device ${(used / MB).toFixed(2)} MB since round 2`,
  );
}

await main();
