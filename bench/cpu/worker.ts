/**
 * One process of the CPU benchmark: runs the cases and prints what it measured as JSON on its last line. What to do is in BENCH_WORK.
 */
import { cuda } from 'tsamba';
import { cases } from './cases.ts';
import { type Configuration, Runner, type Timing } from './contest.ts';
import { copyBandwidth, type Latency, latency } from './latency.ts';
import { type Nesting, nesting } from './nesting.ts';
import { jaxTimes } from './peers.ts';

export interface Work extends Configuration {
  /** Of these names, or all. */
  readonly cases: readonly string[];
  /** Whether latencies and jax-js are measured as well. */
  readonly more: boolean;
  readonly jax: boolean;
}

export interface Outcome {
  readonly device: string;
  readonly node: string;
  readonly times: Readonly<Record<string, Readonly<Record<string, Timing>>>>;
  /** Cases that failed, with the reason. */
  readonly failures: Readonly<Record<string, string>>;
  readonly jax?: Readonly<Record<string, number>>;
  readonly latency?: Latency;
  readonly nesting?: readonly Nesting[];
  readonly copy?: ReturnType<typeof copyBandwidth>;
}

const work = JSON.parse(process.env.BENCH_WORK ?? '{}') as Work;

// First of all, as it is the first kernel of a process that is asked about.
const started = work.more ? latency() : undefined;

const runner = new Runner(work);
const times: Record<string, Record<string, Timing>> = {};
const failures: Record<string, string> = {};
for (const c of cases) {
  if (!work.cases.includes(c.name)) continue;
  process.stderr.write(`  ${c.name}${' '.repeat(24)}\r`);
  try {
    times[c.name] = runner.run(c.setUp());
  } catch (error) {
    failures[c.name] = error instanceof Error ? error.message : String(error);
  }
}

const outcome: Outcome = {
  device: cuda.currentDevice().name,
  node: process.version,
  times,
  failures,
  ...(work.jax ? { jax: await jaxTimes(work.rounds) } : {}),
  ...(started === undefined ? {} : { latency: started, nesting: nesting(), copy: copyBandwidth() }),
};
console.log(JSON.stringify(outcome));
process.exit(0);
