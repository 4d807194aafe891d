/**
 * `npm run bench -- cpu`: several processes of the CPU benchmark, one configuration after another in turns; prints medians and the
 * worst process, and keeps everything as JSON under bench/results.
 *
 * Options: --processes 5, --rounds 7, --node PATH (another Node.js beside this one), --case NAME.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandLine } from '../../test/gpu/machine.ts';
import { cases } from './cases.ts';
import type { Nesting } from './nesting.ts';

interface Output {
  readonly results: Record<string, { kernel: number; plain: [number, number]; closure?: number }>;
  readonly peers: Record<string, number>;
  readonly latency?: {
    firstKernel: number;
    warmKernel: number;
    hotKernel: number;
    emptyLaunch: number;
    allocateAndFree: number;
  };
  readonly nesting?: readonly Nesting[];
  readonly copy: { set: number; loop: number };
  readonly node: string;
}

interface Configuration {
  readonly title: string;
  readonly node: string;
  readonly threads: number;
  readonly checks: boolean;
  readonly outputs: Output[];
}

const here = fileURLToPath(new URL('.', import.meta.url));

function option(name: string, fallback: string): string {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : (process.argv[at + 1] ?? fallback);
}

const processes = Number(option('processes', '5'));
const rounds = option('rounds', '7');
const other = option('node', '');
const only = option('case', '');

const nodes = other === '' ? [process.execPath] : [process.execPath, other];
const configurations: Configuration[] = nodes
  .flatMap((node, k) => [
    { title: 'one thread, checks on', node, threads: 1, checks: true },
    { title: 'two threads, checks on', node, threads: 2, checks: true },
    ...(k === 0 ? [{ title: 'one thread, checks off', node, threads: 1, checks: false }] : []),
  ])
  .map((c) => ({ ...c, outputs: [] }));

for (let p = 0; p < processes; p++) {
  for (const c of configurations) {
    process.stderr.write(`process ${p + 1} of ${processes}: ${c.title}\r`);
    const text = execFileSync(c.node, ['--import', 'tsx', join(here, 'worker.ts')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
      env: {
        ...process.env,
        TSAMBA_DEVICE: 'cpu',
        TSAMBA_WARN_IMPLICIT_COPY: '0',
        TSAMBA_CPU_THREADS: String(c.threads),
        BENCH_CHECKS: c.checks ? '1' : '0',
        BENCH_ROUNDS: rounds,
        BENCH_PEERS: c.threads === 2 && c.checks ? '1' : '0',
        ...(only === '' ? {} : { BENCH_CASES: only }),
      },
    });
    c.outputs.push(JSON.parse(text.trim().split('\n').at(-1) ?? '') as Output);
  }
}
process.stderr.write(`${' '.repeat(60)}\r`);

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1];
const fixed = (v: number, width: number, digits = 2): string => v.toFixed(digits).padStart(width);

for (const c of configurations) {
  const version = c.outputs[0]?.node ?? '';
  console.log(`\n${c.title}, Node ${version}, medians of ${processes} processes × ${rounds} rounds`);
  console.log('kernel                    kernel ms  plain ms   speed-up   worst   wanted   rate');
  for (const k of cases) {
    const list = c.outputs.flatMap((o) => o.results[k.name] ?? []);
    if (list.length === 0) continue;
    const kernel = median(list.map((r) => r.kernel));
    const plain = median(list.map((r) => Math.min(...r.plain)));
    const ratios = list.map((r) => Math.min(...r.plain) / r.kernel);
    const target = k.targets[c.threads];
    const copy = median(c.outputs.map((o) => o.copy.loop));
    const rate =
      k.bytes !== undefined
        ? `${fixed(k.bytes / kernel / 1e6, 6, 1)} GB/s, ${fixed((100 * k.bytes) / kernel / 1e6 / copy, 3, 0)} % of a copy loop`
        : k.flops !== undefined
          ? `${fixed(k.flops / kernel / 1e6, 6, 1)} GFLOP/s`
          : '';
    const closures = list.flatMap((r) => r.closure ?? []);
    const closure =
      closures.length === 0
        ? ''
        : `; in a closure ${fixed(median(closures), 0)} ms, ${fixed(median(list.map((r) => (r.closure ?? 0) / r.kernel)), 0)}×`;
    console.log(
      `${k.name.padEnd(25)} ${fixed(kernel, 9)} ${fixed(plain, 9)} ${fixed(median(ratios), 9)}× ${fixed(Math.min(...ratios), 6)}× ${target === undefined ? '     –' : `≥ ${fixed(target, 4, 1)}`}   ${rate}${closure}`,
    );
  }
  for (const name of Object.keys(c.outputs[0]?.peers ?? {})) {
    const t = median(c.outputs.map((o) => o.peers[name]));
    console.log(`${name.padEnd(25)} ${fixed(t, 9)}${' '.repeat(40)}${fixed((2 * 512 ** 3) / t / 1e6, 6, 1)} GFLOP/s`);
  }
  for (const { depth } of c.outputs[0]?.nesting ?? []) {
    const list = c.outputs.flatMap((o) => o.nesting?.filter((n) => n.depth === depth) ?? []);
    const ms = (of: (n: Nesting) => number): string => fixed(median(list.map(of)), 0, 1);
    const size = (of: (n: Nesting) => number): string => `${fixed(median(list.map(of)) / 1000, 0, 1)} kB`;
    console.log(
      `${depth} nested loops: first ${ms((n) => n.first)} ms, hot ${ms((n) => n.hot)} ms; PTX ${ms((n) => n.ptx[0])} ms, ${size((n) => n.ptx[1])}; OpenCL C ${ms((n) => n.opencl[0])} ms, ${size((n) => n.opencl[1])}`,
    );
  }
  const l = c.outputs.flatMap((o) => o.latency ?? []);
  if (l.length > 0) {
    console.log(
      `first kernel ${fixed(median(l.map((x) => x.firstKernel)), 0, 1)} ms (worst ${fixed(Math.max(...l.map((x) => x.firstKernel)), 0, 1)}); the 11th to 40th ${fixed(median(l.map((x) => x.warmKernel)), 0)} ms, with a hot compiler ${fixed(median(l.map((x) => x.hotKernel)), 0)} ms; empty launch ${fixed(median(l.map((x) => x.emptyLaunch)), 0, 3)} µs; deviceArray + dispose ${fixed(median(l.map((x) => x.allocateAndFree)), 0)} µs`,
    );
  }
}

mkdirSync(join(here, '../results'), { recursive: true });
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: here }).trim();
const date = new Date().toISOString();
const file = join(here, '../results', `cpu-${date.slice(0, 10)}-${commit}.json`);
writeFileSync(
  file,
  `${JSON.stringify({ date, commit, command: commandLine('npm run bench --', process.argv.slice(2)), cpu: cpus()[0]?.model, cores: cpus().length, configurations: configurations.map(({ node: _, ...c }) => c) }, null, 1)}\n`,
);
console.log(`\nwritten to ${file}`);
