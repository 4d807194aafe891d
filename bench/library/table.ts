/**
 * What the benchmarks of `tsamba/parallel` share: times between events, lines beside CUB's, and the record.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';

const args = process.argv.slice(2);

// Those of `parallel` and of `scans-sorts` are the same.
const given = readOptions('parallel', `node ${basename(process.argv[1] ?? '')}`);

export const onCpu: boolean = cuda.currentDevice().kind === 'cpu';
export const power: number = Number(given.value('power', onCpu ? '24' : '28'));
export const rounds: number = Number(given.value('rounds', '11'));

interface Row {
  readonly what: string;
  readonly ms: number;
  readonly bytes: number;
  readonly peers: Readonly<Record<string, number>>;
}

const rows: Row[] = [];

type Run = () => { dispose(): void } | undefined;

/** The median time of a call in milliseconds: between events on GPUs, where several calls hide what one costs to issue. */
function timed(run: Run, together: number): number {
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
  return median(times);
}

/** Times a call and prints a line: `bytes` are those that it must read and write. */
export function row(
  what: string,
  bytes: number,
  peers: Readonly<Record<string, number>>,
  run: Run,
  together = 10,
): void {
  const ms = timed(run, onCpu ? 1 : together);
  const peer = peers[what];
  const beside = peer === undefined ? '' : `  CUB ${peer.toFixed(4)} ms, ${(peer / ms).toFixed(2)} of its speed`;
  console.log(`${what.padEnd(26)} ${ms.toFixed(4)} ms  ${(bytes / ms / 1e9).toFixed(3)} TB/s${beside}`);
  rows.push({ what, ms, bytes, peers: peer === undefined ? {} : { CUB: peer } });
}

export function check(what: string, is: unknown, wanted: unknown): void {
  if (is !== wanted) {
    console.log(`WRONG ${what}: ${String(is)} instead of ${String(wanted)}`);
    process.exitCode = 1;
  }
}

/** Milliseconds of CUB by name, of a program beside this one; empty where there is no NVIDIA GPU or no nvcc. */
export function cub(name: string): Record<string, number> {
  const file = `${name}.cu`;
  const source = [`../peers/cuda/${file}`, `peers/cuda/${file}`]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find(existsSync);
  if (cuda.currentDevice().kind !== 'nvidia' || source === undefined) return {};
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-cub-'));
  try {
    const program = join(folder, name);
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

/** Writes the record, if `--json` names a file. */
export function record(program: string): void {
  const file = given.value('json', '');
  if (file === '') return;
  const { name } = cuda.currentDevice();
  const head = {
    date: new Date().toISOString(),
    ...machine(),
    device: name,
    command: commandLine(program, args),
    power,
    rounds,
  };
  writeFileSync(file, `${JSON.stringify({ ...head, rows })}\n`);
}
