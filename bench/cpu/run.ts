/**
 * `npm run bench -- cpu`: kernels on the CPU device beside C, OpenMP, plain JavaScript, PoCL and jax-js; several processes of each
 * configuration in turns. Prints a table and keeps everything as JSON under bench/results.
 *
 * Options: --processes 3, --rounds 9, --node PATH (another Node.js beside this one), --case NAME,NAME.
 *
 *     npx tsx bench/run.ts cpu --case NAME --quick [--threads 2]
 *
 * is for those who work on the compiler: one process of the sources as they are, nothing built and nothing kept.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { cases } from './cases.ts';
import { compile } from './compilers.ts';
import { Measured, printFailures, printJax, printLatencies, printTable } from './table.ts';
import type { Outcome, Work } from './worker.ts';

interface Configuration {
  readonly device: 'cpu' | 'opencl';
  readonly threads: number;
  readonly contestants: readonly string[];
  readonly more?: boolean;
  readonly jax?: boolean;
}

const here = fileURLToPath(new URL('.', import.meta.url));

const given = readOptions('cpu', 'npm run bench -- cpu', process.argv.slice(3));

const quick = given.has('quick');
const processes = quick ? 1 : Number(given.value('processes', '3'));
const rounds = Number(given.value('rounds', quick ? '15' : '9'));
const nodes = [process.execPath, given.value('node', '')].filter((n) => n !== '');
const only = given.value('case', '').split(',');
const names = cases.map((c) => c.name).filter((name) => only.some((part) => name.includes(part)));

const compiled = compile();
if (compiled.missing.length > 0) console.log(`no C by ${compiled.missing.join(' and ')}: not installed\n`);
const available = (ids: readonly string[]): string[] => ids.filter((id) => compiled.libraries[id] !== undefined);

// The last contestant is what results are compared with.
const ONE: Configuration = {
  device: 'cpu',
  threads: 1,
  contestants: [
    'tsamba',
    'unchecked',
    ...available(['clang', 'gcc-native', 'clang-native']),
    'plain',
    ...available(['gcc']),
  ],
  more: names.length === cases.length,
};
const TWO: Configuration = {
  device: 'cpu',
  threads: 2,
  contestants: ['tsamba', ...available(['openmp'])],
  jax: names.length === cases.length,
};
const POCL: Configuration = {
  device: 'opencl',
  threads: 2,
  contestants: ['tsamba', ...available(['gcc'])],
};

function work({ device, threads, contestants, more, jax }: Configuration, node: string): Outcome {
  const todo: Work = {
    cases: names,
    contestants,
    libraries: Object.fromEntries(Object.entries(compiled.libraries).filter(([id]) => contestants.includes(id))),
    rounds,
    oneThread: threads === 1,
    more: !quick && more === true,
    jax: !quick && jax === true,
  };
  const text = execFileSync(node, ['--import', 'tsx', join(here, 'worker.ts')], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
    env: {
      ...process.env,
      // The sources as they are; else what was built, which is what users have.
      ...(quick ? { TSX_TSCONFIG_PATH: join(here, '../../tsconfig.kernels.json') } : {}),
      TSAMBA_DEVICE: device,
      TSAMBA_CPU_THREADS: String(threads),
      POCL_MAX_PTHREAD_COUNT: String(threads),
      OMP_NUM_THREADS: String(threads),
      // Threads that have nothing to do sleep, as ours do, instead of taking the time of what is measured next.
      OMP_WAIT_POLICY: 'passive',
      BENCH_WORK: JSON.stringify(todo),
    },
  });
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as Outcome;
}

if (quick) runOnce(given.value('threads', '1') === '2' ? TWO : ONE);
else runAll();

function runOnce(configuration: Configuration): void {
  const outcome = work(configuration, process.execPath);
  const measured = new Measured([outcome], 'min');
  const nothing = new Measured([], 'min');
  if (configuration === ONE) printTable(measured, nothing, nothing);
  else printTable(nothing, measured, nothing);
  printFailures([outcome]);
}

function runAll(): void {
  const record = nodes.flatMap((node) => {
    const [one, two]: Outcome[][] = [[], []];
    const pocl = node === process.execPath ? poclOutcome(node) : [];
    for (let p = 0; p < processes; p++) {
      process.stderr.write(`process ${p + 1} of ${processes}\n`);
      one.push(work(ONE, node));
      two.push(work(TWO, node));
    }
    console.log(`\nNode ${one[0].node}, medians of ${processes} processes × ${rounds} rounds`);
    const measured = [one, two, pocl].map((outcomes) => new Measured(outcomes, 'median'));
    printTable(measured[0], measured[1], measured[2]);
    console.log();
    printJax(measured[1]);
    printLatencies(one);
    printFailures([...one, ...two, ...pocl]);
    return [
      { node: one[0].node, title: 'one thread', outcomes: one },
      { node: one[0].node, title: 'two threads', outcomes: two },
      { node: one[0].node, title: 'PoCL, two threads', outcomes: pocl },
    ].filter(({ outcomes }) => outcomes.length > 0);
  });
  save(record);
}

/** One process is enough: many of the kernels take PoCL a hundred times as long. */
function poclOutcome(node: string): readonly Outcome[] {
  try {
    const outcome = work(POCL, node);
    if (outcome.device.includes('Portable Computing Language')) return [outcome];
    console.log(`no PoCL: the first OpenCL device is ${outcome.device}\n`);
  } catch {
    console.log('no PoCL: there is no OpenCL device\n');
  }
  return [];
}

function save(configurations: object[]): void {
  mkdirSync(join(here, '../results'), { recursive: true });
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: here }).trim();
  const date = new Date().toISOString();
  const file = join(here, '../results', `cpu-${date.slice(0, 10)}-${commit}.json`);
  const command = commandLine('npm run bench --', process.argv.slice(2));
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, compilers: compiled.versions };
  writeFileSync(file, `${JSON.stringify({ date, commit, command, ...machine, configurations }, null, 1)}\n`);
  console.log(`\nwritten to ${file}`);
}
