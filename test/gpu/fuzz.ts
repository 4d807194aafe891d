/**
 * The fuzzing corpus on the current device: programs by seed and the directed kernels, compared with the fuzzer's own evaluator.
 *
 * Programs have no approximate functions and run without contraction, so every bit must agree (NaNs are all alike); directed
 * kernels of approximate functions have the ulps that they are granted. A test is a handful of programs, so that one that
 * breaks the device costs only its own handful.
 */
import { cudaDevices } from '../../src/memory/devices.ts';
import { checkApi } from '../fuzz/api.ts';
import { check, type Failure } from '../fuzz/devices.ts';
import { type Directed, directed } from '../fuzz/directed.ts';
import { checkDirected, hasDenormals } from '../fuzz/directed-run.ts';
import { generate } from '../fuzz/generate.ts';
import { show } from '../fuzz/memory.ts';
import { runParallel } from '../fuzz/parallel.ts';
import { argumentsOf, printProgram } from '../fuzz/print.ts';
import type { Program } from '../fuzz/program.ts';
import { shrink } from '../fuzz/shrink.ts';
import { Discarded, Refused } from '../fuzz/verdicts.ts';
import { blockingDriver } from '../support/blocking-driver.ts';
import { lackingIn } from '../support/lacking.ts';
import { type GpuModule, type GpuTest, skip } from './suite.ts';

export interface FuzzOptions {
  /** Programs that go to the driver directly, and programs that are launched as users launch kernels. */
  readonly programs: number;
  readonly launched: number;
  readonly seed: number;
  /** After so many seconds in one process the rest is skipped. */
  readonly seconds: number;
  /** Whether failing programs are made smaller, which takes a while. */
  readonly shrink: boolean;
}

const HANDFUL = 20;
const DIRECTED_HANDFUL = 25;
const SHOWN = 3;

type Check = (p: Program) => Failure | undefined;

const direct: Check = (p) => check(p, new Map([['device', blockingDriver()]]));
const launched: Check = (p) => checkApi(p, new Map([['device', cudaDevices.currentContext()]]));

let began: number | undefined;

/** The chapters of fuzzing, on a device that refuses with the codes `lacks` what it has not. */
export function fuzzing(options: FuzzOptions, lacks: readonly string[]): readonly GpuModule[] {
  const { seed } = options;
  return [
    { chapter: 'operations one by one', tests: directedTests(lacks) },
    {
      chapter: 'random programs',
      tests: programTests(options, direct, { first: seed, count: options.programs }, lacks),
    },
    {
      chapter: 'random programs, launched',
      tests: programTests(options, launched, { first: seed + 1_000_000, count: options.launched }, lacks),
    },
    { chapter: 'random programs of tsamba/parallel', tests: parallelTests(options, lacks) },
  ];
}

function directedTests(lacks: readonly string[]): readonly GpuTest[] {
  const all = directed();
  return handfuls(all.length, DIRECTED_HANDFUL).map(([from, to]) => {
    const some = all.slice(from, to);
    return { name: `${some[0]?.key} … ${some.at(-1)?.key}`, run: () => runDirected(some, lacks), seconds: 120 };
  });
}

function runDirected(some: readonly Directed[], lacks: readonly string[]): void {
  const wrong: string[] = [];
  const lacking: string[] = [];
  const run = (d: Directed): string | undefined => {
    try {
      const wrong = checkDirected(blockingDriver(), d);
      return lacks.length > 0 && hasDenormals(d) ? undefined : wrong;
    } catch (error) {
      const what = lackingIn(error, lacks);
      if (what === undefined) throw error;
      lacking.push(what);
      return undefined;
    }
  };
  for (const d of some) {
    const what = attempt(() => run(d));
    if (what !== undefined) wrong.push(`${d.key}: ${what}`);
  }
  if (lacking.length === some.length) skip(lacking[0] ?? '');
  conclude(wrong, some.length);
}

function programTests(
  options: FuzzOptions,
  run: Check,
  { first, count }: { readonly first: number; readonly count: number },
  lacks: readonly string[],
): readonly GpuTest[] {
  return handfuls(count, HANDFUL).map(([from, to]) => ({
    name: `seeds ${first + from}–${first + to - 1}`,
    run: () => runPrograms(options, run, [first + from, first + to], lacks),
    seconds: options.shrink ? 300 : 120,
  }));
}

/** As many as programs that are launched. Larger arrays than elsewhere, so that there are several tiles for each of many blocks. */
function parallelTests({ seed, launched }: FuzzOptions, lacks: readonly string[]): readonly GpuTest[] {
  return handfuls(launched, HANDFUL).map(([from, to]) => ({
    name: `seeds ${seed + from}–${seed + to - 1}`,
    run: async () => {
      const wrong = await runParallel({ programs: to - from, seed: seed + from, most: 200_000, failures: SHOWN });
      conclude(
        wrong.filter((what) => !lacks.some((code) => what.includes(`KernelError: ${code}`))),
        to - from,
      );
    },
    seconds: 300,
  }));
}

function runPrograms(
  options: FuzzOptions,
  run: Check,
  [from, to]: readonly [number, number],
  lacks: readonly string[],
): void {
  began ??= performance.now();
  if (performance.now() - began > 1000 * options.seconds) skip(`the ${options.seconds} seconds for programs are over`);
  const wrong: string[] = [];
  for (let seed = from; seed < to; seed++) {
    const p = generate(seed);
    let failure: Failure | undefined;
    const thrown = attempt(() => {
      failure = meaning(run, p, lacks);
      return undefined;
    });
    if (thrown !== undefined) wrong.push(`seed ${seed}: ${thrown}`);
    if (failure === undefined) continue;
    const text = `seed ${seed}: ${failure.kind}: ${failure.what.split('\n').slice(0, 6).join('\n  ')}`;
    wrong.push(options.shrink && wrong.length < SHOWN ? `${text}\n${smaller(p, run, failure)}` : text);
  }
  conclude(wrong, to - from);
}

/** The failure of a program; none of one without a meaning, that must fault where faults are not asked for, or that is refused for what `lacks` names. */
function meaning(run: Check, p: Program, lacks: readonly string[]): Failure | undefined {
  try {
    const failure = run(p);
    return lacks.some((code) => failure?.kind === `throws ${code}`) ? undefined : failure;
  } catch (error) {
    if (error instanceof Discarded || error instanceof Refused) return undefined;
    throw error;
  }
}

/** The smallest program found that fails the same way, with its arguments. */
function smaller(p: Program, run: Check, failure: Failure): string {
  const small = shrink(p, (candidate) => {
    try {
      return run(candidate)?.kind === failure.kind;
    } catch {
      return false;
    }
  });
  const inputs = argumentsOf(small).map((a) => `${a.name}: ${a.elem} ${a.layout} = ${a.data.map(show).join(' ')}`);
  const scalars = small.scalars.map((s) => `${s.name}: ${s.t} = ${show(s.v)}`);
  return [`grid ${small.grid}, block ${small.block.join('x')}`, printProgram(small), ...inputs, ...scalars].join('\n');
}

/** What a call that must not throw throws. */
function attempt(run: () => string | undefined): string | undefined {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

function conclude(wrong: readonly string[], of: number): void {
  if (wrong.length === 0) return;
  const rest = wrong.length > SHOWN ? `\n… and ${wrong.length - SHOWN} more` : '';
  throw new Error(`${wrong.length} of ${of}: ${wrong.slice(0, SHOWN).join('\n')}${rest}`);
}

function handfuls(count: number, size: number): readonly (readonly [from: number, to: number])[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, k) => [k * size, Math.min(count, (k + 1) * size)]);
}
