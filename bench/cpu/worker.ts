/**
 * One process of the CPU benchmark: runs every case in interleaved rounds and prints medians as JSON on its last line.
 * Configured by the environment: BENCH_ROUNDS, BENCH_CHECKS, BENCH_CASES, TSAMBA_CPU_THREADS, BENCH_PEERS.
 */
import { cuda } from 'tsamba';
import { cases } from './cases.ts';
import { copyBandwidth, latency } from './latency.ts';
import { nesting } from './nesting.ts';
import { peerMatmul } from './peers.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const threads = Number(process.env.TSAMBA_CPU_THREADS ?? 1);
const boundsCheck = process.env.BENCH_CHECKS !== '0';
const only = process.env.BENCH_CASES;

const median = (list: number[]): number => list.sort((a, b) => a - b)[list.length >> 1];

function time(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

// First of all, as it is the first kernel of a process that is asked about.
const started = only === undefined ? latency() : undefined;
cuda.selectDevice('cpu');
const results: Record<string, { kernel: number; plain: [number, number]; closure?: number }> = {};
for (const c of cases) {
  if (c.targets[threads] === undefined && threads > 1) continue;
  if (only !== undefined && !c.name.includes(only)) continue;
  const contest = c.setUp(cuda, { boundsCheck });
  contest.check();
  const [kernel, first, second, closure]: number[][] = [[], [], [], []];
  for (let k = 0; k < rounds + 2; k++) {
    // The first two rounds warm up: the engines compile what they run often.
    const t = [contest.kernel, ...contest.plain, ...(contest.closure ? [contest.closure] : [])].map(time);
    if (k >= 2) for (const [at, list] of [kernel, first, second, closure].entries()) list.push(t[at] ?? Number.NaN);
  }
  results[c.name] = {
    kernel: median(kernel),
    plain: [median(first), median(second)],
    ...(contest.closure === undefined ? {} : { closure: median(closure) }),
  };
}
const peers = process.env.BENCH_PEERS === '1' ? { 'jax-js wasm matmul 512': await peerMatmul(rounds) } : {};
console.log(
  JSON.stringify({
    results,
    peers,
    latency: started,
    nesting: only === undefined ? nesting() : undefined,
    copy: copyBandwidth(),
    node: process.version,
    threads,
    boundsCheck,
  }),
);
process.exit(0);
