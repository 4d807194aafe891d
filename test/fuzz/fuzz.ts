/**
 * The fuzzer's command line: random programs on all devices, failures shrunk and shown.
 *
 *   npx tsx test/fuzz/fuzz.ts --programs 100000 --seed 1 --devices cpu,scalar,threads,simulator --jobs 2 --shrink 5 --coverage
 *
 * `opencl` and `webgpu` are devices too, where there are any; with the latter, programs have f32 in place of f64. Jobs of several, and of OpenCL, whose compilers are part of the process, are processes
 * of their own: when one dies, it is said at which program.
 */
import { fork } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Context } from '../../src/memory/context.ts';
import { checkApi } from './api.ts';
import { Coverage, coverageReport, type Renderer } from './coverage.ts';
import { check, DEVICE_NAMES, type DeviceName, type Failure, openDevice } from './devices.ts';
import { BLOCK, directed, legalFor } from './directed.ts';
import { checkDirected } from './directed-run.ts';
import { generate } from './generate.ts';
import { show } from './memory.ts';
import { argumentsOf, printProgram } from './print.ts';
import type { Program } from './program.ts';
import { shrink } from './shrink.ts';
import { inSingles } from './singles.ts';
import { Discarded, Refused } from './verdicts.ts';

function option(name: string, otherwise: string): string {
  const i = process.argv.indexOf(`--${name}`);
  return i < 0 ? otherwise : (process.argv[i + 1] ?? '');
}

const programs = Number(option('programs', '1000'));
const first = Number(option('seed', '1'));
const jobs = Number(option('jobs', '1'));
const names = option('devices', DEVICE_NAMES.join()).split(',') as DeviceName[];
/** How many failures of one kind are shrunk; the rest are only counted. */
const shrinks = Number(option('shrink', '1'));

/** The program of a number; without f64 where a device has none. */
function programOf(seed: number): Program {
  const p = generate(seed);
  return names.includes('webgpu') ? inSingles(p) : p;
}

/** All that a reader needs to see of a failing program. */
function report(p: Program, failure: Failure): string {
  const inputs = argumentsOf(p).map(
    (a) => `${a.name}: ${a.elem} [${a.shape.join(', ')}] ${a.layout} = ${a.data.map(show).join(' ')}`,
  );
  const constants = p.arrays
    .filter((a) => a.space === 'const')
    .map((a) => `${a.name}: captured ${a.elem} = ${a.data.map(show).join(' ')}`);
  const scalars = p.scalars.map((s) => `${s.name}: ${s.t} = ${show(s.v)}`);
  return [
    `seed ${p.seed}, ${failure.device} ${failure.kind}: grid ${p.grid}, block ${p.block.join('x')}, ${p.indexBits}-bit indices`,
    failure.what.split('\n').slice(0, 8).join('\n'),
    printProgram(p),
    ...inputs,
    ...constants,
    ...scalars,
  ].join('\n');
}

/** What the programs came to, and what they and the directed kernels do together. */
function covered(coverage: Coverage): string {
  const all = directed();
  const legal = (renderer: Renderer): string[] => legalFor(renderer, all);
  const alone = coverageReport(coverage, legal);
  for (const name of names) {
    const device = openDevice(name, coverage.observer);
    for (const d of all) {
      if (name === 'simulator') coverage.observer(name, d.kernel, [BLOCK, 1, 1], 1);
      const wrong = checkDirected(device, d);
      if (wrong !== undefined) throw new Error(`${name} ${d.key}: ${wrong}`);
    }
    device.close();
  }
  return `coverage by random programs alone:\n${alone}\nwith the directed kernels:\n${coverageReport(coverage, legal)}\n`;
}

/** Programs from `from` in steps of `jobs`. */
async function work(from: number): Promise<void> {
  const coverage = new Coverage();
  const devices = new Map(names.map((d) => [d as string, openDevice(d, coverage.observer)]));
  const contexts = new Map([...devices].map(([name, device]) => [name, new Context(device)]));
  const kinds = new Map<string, number>();
  const started = performance.now();
  let [done, failed, last] = [0, 0, started];
  const count = (key: string): number => {
    kinds.set(key, (kinds.get(key) ?? 0) + 1);
    return kinds.get(key) ?? 0;
  };
  for (let seed = first + from; seed < first + programs; seed += jobs) {
    process.send?.(seed);
    const p = programOf(seed);
    done++;
    let failure: Failure | undefined;
    try {
      failure = check(p, devices, coverage.observer);
      if (failure === undefined && seed % 5 === 0 && !names.includes('webgpu')) failure = checkApi(p, contexts);
    } catch (error) {
      if (error instanceof Discarded) count('discarded as meaningless');
      else if (!(error instanceof Refused)) throw new Error(`seed ${seed}`, { cause: error });
    }
    if (failure !== undefined) {
      failed++;
      const { device, kind } = failure;
      const only = new Map([...devices].filter(([name]) => name === device));
      let shown = failure;
      if (count(`${device} ${kind}`) <= shrinks) {
        const small = shrink(p, (candidate) => {
          try {
            const again =
              only.size > 0 || device === 'front end' ? check(candidate, only) : checkApi(candidate, contexts);
            if (again?.device !== device || again.kind !== kind) return false;
            shown = again;
            return true;
          } catch {
            return false;
          }
        });
        process.stdout.write(`\n${report(small, shown)}\n`);
      }
    }
    // Kernels that nobody has any more are only given back between turns of the event loop.
    if (done % 50 === 0) await setImmediate();
    if (performance.now() - last > 10_000) {
      last = performance.now();
      process.stdout.write(
        `${done} programs, ${failed} failures, ${((done / (last - started)) * 1000).toFixed(1)} a second\n`,
      );
    }
  }
  for (const context of contexts.values()) context.close();
  const seconds = (performance.now() - started) / 1000;
  const summary = [...kinds].map(([kind, n]) => `\n  ${n} ${kind}`).join('');
  process.stdout.write(
    `job ${from}: ${done} programs in ${seconds.toFixed(1)} s (${(done / seconds).toFixed(1)} a second), ${failed} failures${summary}\n`,
  );
  if (process.argv.includes('--coverage')) process.stdout.write(covered(coverage));
  if (failed > 0) process.exitCode = 1;
}

/** Milliseconds. Shrinking a failure takes long as well. */
const HANGS_AFTER = 300_000;

// Integers of random programs wrap in most launches of the simulator.
process.removeAllListeners('warning');
process.on('warning', (warning: Error & { code?: string }) => {
  if (warning.code !== 'TSAMBA_OVERFLOW') process.stderr.write(`${warning.name}: ${warning.message}\n`);
});

const job = option('job', '');
if (job !== '' || (jobs === 1 && !names.includes('opencl'))) {
  await work(Number(job));
  // The channel to the parent would keep the process.
  process.disconnect?.();
} else {
  for (let k = 0; k < jobs; k++) watch(k);
}

/** Runs a job in a process; one that stays with a program for minutes hangs in a kernel, where nothing but its end stops it. */
function watch(k: number): void {
  let [seed, since]: [unknown, number] = [undefined, performance.now()];
  const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--job', String(k)]);
  const timer = setInterval(() => {
    if (performance.now() - since < HANGS_AFTER) return;
    process.stdout.write(`job ${k} hangs at seed ${seed}\n`);
    child.kill('SIGKILL');
  }, 5000);
  child.on('message', (at) => {
    [seed, since] = [at, performance.now()];
  });
  child.on('exit', (code, signal) => {
    clearInterval(timer);
    if (code === 0) return;
    process.exitCode = 1;
    if (signal !== null) process.stdout.write(`job ${k} died of ${signal} at seed ${seed}\n`);
  });
}
