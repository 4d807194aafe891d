/**
 * The NVIDIA benchmark, bundled into one file: `node bench-nvidia.mjs`. Needs the peers' sources beside it, nvcc for the one and
 * Python with numba-cuda for the other; what is missing is left out.
 *
 *   --rounds 5         processes of each side, in turns
 *   --runs 50          timed intervals in each process
 *   --cases a,b        only these kernels
 *   --parts a,b        of kernels, calls, first, copies
 *   --peers cuda,numba
 *   --json FILE
 */
import { writeFileSync } from 'node:fs';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';
import { type Calls, calls, type RawFirst, rawFirst } from './calls.ts';
import { copies, type Rate } from './copies.ts';
import type { FirstKernel } from './first-kernel.ts';
import { kernelsWorker } from './kernels-worker.ts';
import { Peers, type Side } from './peers.ts';
import { disagreement, type SideOutput, SPECS } from './spec.ts';
import { callsTable, copiesTable, firstTable, type KernelRow, kernelsTable } from './tables.ts';

interface FirstKernels {
  readonly tsamba: FirstKernel[];
  /** In processes that find machine code on disk. */
  readonly cached: FirstKernel[];
  readonly raw: RawFirst[];
  readonly numba: NumbaLatency[];
}

interface NumbaLatency {
  readonly firstKernel: number;
  readonly laterKernel: number;
  readonly launchIssue: number;
  readonly allocate: number;
}

const args = process.argv.slice(2);

const given = readOptions('nvidia', 'node bench-nvidia.mjs', args.includes('--worker') ? [] : args);

const list = (name: string, otherwise: string): string[] =>
  given
    .value(name, otherwise)
    .split(',')
    .filter((s) => s !== '');

function worker(name: string, rest: readonly string[]): void {
  const print = (value: unknown): void => console.log(JSON.stringify(value));
  if (name === 'kernels') kernelsWorker(rest);
  else if (name === 'calls') print(calls());
  else if (name === 'raw-first') print(rawFirst(rest));
  else if (name === 'copies') print(copies());
  else throw new Error(`there is no worker ${name}`);
}

/** Rounds of one process a side; the order turns with each round. */
function kernels(peers: Peers, rounds: number): { rows: KernelRow[]; copyGBs: number | undefined; outputs: unknown } {
  const wanted = list('cases', SPECS.map((s) => s.name).join());
  const asked = SPECS.filter((s) => wanted.includes(s.name));
  const passed = ['--runs', given.value('runs', '50'), ...asked.map((s) => `${s.name}:${s.launches}`)];
  const outputs: Record<Side, SideOutput[]> = { tsamba: [], cuda: [], numba: [] };
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < peers.sides.length; k++) {
      const side = peers.sides[(k + round) % peers.sides.length];
      process.stderr.write(`round ${round + 1} of ${rounds}: ${side}     \r`);
      outputs[side].push(peers.kernels(side, passed));
    }
  }
  const failed = outputs.tsamba.flatMap((o) => Object.entries(o.failed ?? {}));
  for (const [name, why] of new Map(failed)) console.log(`FAILED ${name}: ${why.split('\n').slice(0, 4).join('\n  ')}`);
  const specs = asked.filter((s) => failed.every(([name]) => name !== s.name));
  const copied = outputs.cuda.flatMap((o) => (o.copy === undefined ? [] : [median(o.copy)]));
  const copyGBs = copied.length === 0 ? undefined : (2 * 2 ** 30) / median(copied) / 1e6;
  const rows = specs.map((spec): KernelRow => {
    // A peer may lack a case.
    const has = (o: SideOutput): boolean => o.results[spec.name] !== undefined;
    const processes = (side: Side): number[] =>
      outputs[side].flatMap((o) => (has(o) ? [median(o.results[spec.name].ms)] : []));
    const own = outputs.tsamba[0].results[spec.name].check;
    const wrong = peers.sides
      .filter((side) => side !== 'tsamba' && has(outputs[side][0]))
      .flatMap((side) => {
        const what = disagreement(spec, own, outputs[side][0].results[spec.name].check);
        return what === undefined ? [] : [`${spec.title}: Tsamba and ${side} disagree: ${what}`];
      });
    return { spec, ms: { tsamba: processes('tsamba'), cuda: processes('cuda'), numba: processes('numba') }, wrong };
  });
  const versions = Object.fromEntries(peers.sides.map((side) => [side, outputs[side][0].versions]));
  const runs = Object.fromEntries(
    peers.sides.map((side) => [
      side,
      outputs[side].map((o) =>
        Object.fromEntries(
          specs.flatMap(({ name }) =>
            o.results[name] ? [[name, o.results[name].ms.map((v) => Math.round(v * 1e5) / 1e5)]] : [],
          ),
        ),
      ),
    ]),
  );
  return { rows, copyGBs, outputs: { versions, runs, failed: Object.fromEntries(failed) } };
}

/** First kernels, each in a process of its own, without what others compiled and with it, in turns with the driver alone. */
function first(peers: Peers, rounds: number): FirstKernels {
  const [tsamba, cached, raw, numba]: [FirstKernel[], FirstKernel[], RawFirst[], NumbaLatency[]] = [[], [], [], []];
  const folder = peers.file('cache');
  peers.program('first-kernel', { cache: folder });
  for (let k = 0; k < rounds; k++) {
    process.stderr.write(`first kernels: ${k + 1} of ${rounds}     \r`);
    tsamba.push(peers.program('first-kernel', { cache: false }) as FirstKernel);
    cached.push(peers.program('first-kernel', { cache: folder }) as FirstKernel);
    const files = tsamba[k].ptx.map((text, i) => {
      writeFileSync(peers.file(`first-${i}.ptx`), text);
      return peers.file(`first-${i}.ptx`);
    });
    raw.push(peers.worker('raw-first', files, { cache: false }) as RawFirst);
    if (peers.sides.includes('numba')) numba.push(peers.numbaLatency() as NumbaLatency);
  }
  return { tsamba, cached, raw, numba };
}

function main(): void {
  const at = args.indexOf('--worker');
  if (at >= 0) return worker(args[at + 1], args.slice(at + 2));
  const began = performance.now();
  const date = new Date().toISOString();
  const about = machine();
  const rounds = Number(given.value('rounds', '5'));
  const parts = list('parts', 'kernels,calls,first,copies');
  const peers = new Peers(list('peers', 'cuda,numba') as Side[]);
  console.log(`${about.gpu}, driver ${about.driver}; Node ${about.node}, commit ${about.commit}`);
  for (const what of peers.missing) console.log(`left out: ${what}`);
  const record: Record<string, unknown> = { date, ...about, command: commandLine('bench-nvidia', args), rounds };
  let failed = 0;
  const part = (name: string, run: () => void): void => {
    if (!parts.includes(name)) return;
    try {
      run();
    } catch (error) {
      failed++;
      console.log(
        `${name} FAILED: ${String((error as Error).message)
          .split('\n')
          .slice(0, 12)
          .join('\n  ')}`,
      );
    }
  };
  part('kernels', () => {
    const { rows, copyGBs, outputs } = kernels(peers, rounds);
    const wrong = rows.flatMap((row) => row.wrong);
    failed += wrong.length;
    record['kernels'] = { copyGBs, summary: kernelsTable(rows, copyGBs), wrong, ...(outputs as object) };
    for (const what of wrong) console.log(`WRONG ${what}`);
  });
  const numba: NumbaLatency[] = [];
  part('first', () => {
    const result = first(peers, rounds);
    numba.push(...result.numba);
    record['first'] = {
      ...result,
      tsamba: result.tsamba.map(({ ptx: _, ...rest }) => rest),
      cached: result.cached.map(({ ptx: _, ...rest }) => rest),
      summary: firstTable(result),
    };
  });
  part('calls', () => {
    const processes = Array.from({ length: rounds }, () => peers.worker('calls') as Calls);
    record['calls'] = { processes, summary: callsTable(processes, numba) };
  });
  part('copies', () => {
    const all = peers.worker('copies') as Rate[];
    const two = peers.worker('copies', [], { twoCores: true }) as Rate[];
    copiesTable(all, two);
    record['copies'] = { all, twoCores: two };
  });
  peers.close();
  record['seconds'] = Math.round((performance.now() - began) / 1000);
  console.log(`${record['seconds']} s`);
  const file = given.value('json', '');
  if (file !== '') writeFileSync(file, `${JSON.stringify(record)}\n`);
  if (failed > 0) process.exitCode = 1;
}

main();
