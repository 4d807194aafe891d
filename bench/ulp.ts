/**
 * The error of the f32 math table, measured: every function, compiled by the CPU device's pipeline to WebAssembly, over all 2³²
 * arguments (two-argument functions: dense pseudo-random samples), against double precision.
 *
 *   npm run ulp -- [--function exp,log] [--stride N] [--samples N] [--processes N] [--scalar] [--json FILE]
 *
 * The reference is JavaScript's Math, whose own error is at most 1 ulp of f64 in V8 (2⁻²⁹ ulp of f32), and src/compiler/math/
 * host.ts for what Math lacks (2.5 ulp of f64). Minutes a function with stride 1. Exits with 1 when a bound of docs/math.md is
 * exceeded.
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MathFn } from '../src/compiler/ir/ops.ts';
import { HOST_MATH } from '../src/compiler/math/host.ts';
import { arity, fromBits, MATH_FNS, MAX_ULP, SPECIAL, ulps } from '../src/compiler/math/testing.ts';
import { commandLine, machine } from '../test/gpu/machine.ts';
import { compileFunction } from '../test/math/compiled.ts';
import { readOptions } from './options.ts';

/** Elements that a call of the compiled function computes. */
const BATCH = 32768;

interface Job {
  readonly fn: MathFn;
  readonly lanes: 1 | 4;
  /** One argument: bit patterns from … to, by stride. Two: how many samples, and the generator's seed. */
  readonly from: number;
  readonly to: number;
  readonly stride: number;
}

interface Outcome {
  readonly ulp: number;
  readonly args: readonly number[];
  readonly got: number;
  readonly want: number;
  readonly count: number;
}

/** Fills the arguments of one batch; how many of them. */
type Column = Float32Array | Float64Array;
type Fill = (a: Column, b: Column) => number;

function patterns(job: Job): Fill {
  let next = job.from;
  return (a) => {
    const bits = new Uint32Array(a.buffer, a.byteOffset, a.length);
    let count = 0;
    for (; count < a.length && next < job.to; next += job.stride) bits[count++] = next;
    return count;
  };
}

/** Special pairs first; then results of all sizes, random patterns, and arguments of like size. */
function pairs(job: Job): Fill {
  const special = job.from === 0 ? SPECIAL.flatMap((x) => SPECIAL.map((y) => [x, y] as const)) : [];
  let state = job.from * 2654435761 + 88172645;
  const random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  let left = job.to - job.from;
  return (a, b) => {
    let count = 0;
    for (; count < a.length && left > 0; left--, count++) {
      const known = special.pop();
      let [x, y] = known ?? [fromBits(random()), fromBits(random())];
      const share = random() / 2 ** 32 - 0.5;
      if (!known && job.fn === 'pow') {
        if (left % 4 === 0) x = 1 + share / 16;
        if (left % 4 < 2) y = (random() / 2 ** 32 - 0.5) * (300 / Math.log2(Math.abs(x)));
        if (left % 4 === 2) y = Math.round(share * 32);
      } else if (!known && left % 4 > 0) y = x * 2 ** (share * (left % 4 === 1 ? 60 : 4));
      a[count] = x;
      b[count] = y;
    }
    return count;
  };
}

function measure(job: Job): Outcome {
  const { y, a, b, run } = compileFunction(job.fn, job.lanes, BATCH);
  const reference = HOST_MATH[job.fn];
  const two = arity(job.fn) === 2;
  const fill = two ? pairs(job) : patterns(job);
  let worst: Outcome = { ulp: 0, args: [], got: 0, want: 0, count: 0 };
  let count = 0;
  for (let size = fill(a, b); size > 0; size = fill(a, b)) {
    run();
    count += size;
    for (let k = 0; k < size; k++) {
      const x = a[k] as number;
      const got = y[k] as number;
      const want = two ? reference(x, b[k] as number) : reference(x);
      // Rounded rightly: at most half an ulp.
      if (Math.fround(want) === got && got !== 0) continue;
      let ulp = ulps(got, want);
      if (job.fn === 'lgamma' && x < 0 && Math.abs(want) < 1) ulp = Math.abs(got - want) * 2 ** 23;
      if (ulp > worst.ulp) worst = { ulp, args: two ? [x, b[k] as number] : [x], got, want, count };
    }
  }
  return { ...worst, count };
}

/** Measures in a process of its own, which loads TypeScript in the way this one did. */
function inProcess(job: Job): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), { serialization: 'advanced' });
    child.once('message', (outcome) => resolve(outcome as Outcome));
    child.once('exit', (code) => reject(new Error(`the process that measured ${job.fn} ended with ${code}`)));
    child.send(job);
  });
}

async function main(): Promise<void> {
  const given = readOptions('ulp', 'npm run ulp --');
  const processes = Number(given.value('processes', '2'));
  const stride = Number(given.value('stride', '1'));
  const samples = Number(given.value('samples', String(Math.ceil(2 ** 28 / stride))));
  const lanes = given.has('scalar') ? 1 : 4;
  const json = given.value('json', '');
  const about = { ...machine(), command: commandLine('ulp', process.argv.slice(2)), stride, lanes };
  const measured: Partial<Record<MathFn, Outcome>> = {};
  const named = given.value('function', MATH_FNS.join(',')).split(',') as MathFn[];
  for (const fn of named) {
    if (!MATH_FNS.includes(fn)) throw new Error(`unknown function ${fn}; there are ${MATH_FNS.join(', ')}`);
    const total = arity(fn) === 2 ? samples : 2 ** 32;
    // Whole strides a process.
    const share = Math.ceil(total / processes / stride) * stride;
    const jobs = Array.from({ length: processes }, (_, k): Job => {
      return { fn, lanes, from: k * share, to: Math.min((k + 1) * share, total), stride };
    });
    const outcomes = await Promise.all(jobs.map(inProcess));
    const worst = outcomes.reduce((most, one) => (one.ulp > most.ulp ? one : most));
    const count = outcomes.reduce((sum, one) => sum + one.count, 0);
    const verdict = worst.ulp <= MAX_ULP[fn] ? '' : `  above its bound of ${MAX_ULP[fn]}`;
    if (verdict) process.exitCode = 1;
    const where = `${fn}(${worst.args.join(', ')}) = ${worst.got}, should be ${worst.want}`;
    measured[fn] = { ...worst, count };
    // Written anew after each: together they take hours.
    if (json !== '') {
      writeFileSync(json, `${JSON.stringify({ date: new Date().toISOString(), ...about, measured }, null, 1)}\n`);
    }
    console.log(`${fn.padEnd(7)} ${Math.max(worst.ulp, 0.5).toFixed(3)} ulp over ${count}: ${where}${verdict}`);
  }
}

if (process.send) {
  process.once('message', (job) => {
    process.send?.(measure(job as Job), () => process.disconnect());
  });
} else {
  await main();
}
