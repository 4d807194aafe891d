/**
 * What a mutant must not survive: random programs, every operation by itself, and the tests of language and layout.
 *
 * Runs in a copy of the sources, in a process of its own, and ends at the first failure with exit code 1. The stages are the same
 * for every mutant; the first is the one that most likely finds it.
 */
import { spawnSync } from 'node:child_process';
import { check, openDevice } from '../fuzz/devices.ts';
import { directed } from '../fuzz/directed.ts';
import { checkDirected } from '../fuzz/directed-run.ts';
import { generate } from '../fuzz/generate.ts';
import { Discarded } from '../fuzz/verdicts.ts';

const PROGRAMS = 200;
const DEVICES = ['scalar', 'cpu', 'simulator'] as const;

function fail(stage: string, what: string): never {
  process.stdout.write(`${stage}: ${what.split('\n')[0]?.slice(0, 160)}\n`);
  process.exit(1);
}

function programs(): void {
  const devices = new Map(DEVICES.map((name) => [name as string, openDevice(name)]));
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    try {
      const failure = check(generate(seed), devices);
      if (failure !== undefined) fail('programs', `seed ${seed}, ${failure.device} ${failure.kind}`);
    } catch (error) {
      if (!(error instanceof Discarded)) throw error;
    }
  }
}

function operations(): void {
  const all = directed();
  for (const name of DEVICES) {
    const device = openDevice(name);
    for (const d of all) {
      const wrong = checkDirected(device, d);
      if (wrong !== undefined) fail('operations', `${name} ${d.key}: ${wrong}`);
    }
    device.close();
  }
}

/** Of random programs that tests make few of. */
const MORE = { FUZZ_CALLS: '40', FUZZ_BLOCKS: '40', FUZZ_COMPLEX: '24', FUZZ_SYNTAX: '24' };

function vitest(stage: string, ...args: readonly string[]): void {
  const run = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutants/vitest.config.ts', '--bail', '1', ...args],
    {
      encoding: 'utf8',
      env: { ...process.env, ...MORE, NO_COLOR: '1' },
    },
  );
  if (run.status !== 0) fail(stage, /FAIL .*/.exec(run.stdout + run.stderr)?.[0] ?? 'vitest failed');
}

function tests(): void {
  vitest(
    'tests',
    'src/layout',
    'src/compiler/language.test.ts',
    'src/compiler/errors.test.ts',
    'src/compiler/ir/passes/loop-bounds.test.ts',
    'src/compiler/math/table.test.ts',
    'src/compiler/render/wasm/jam.test.ts',
    'src/compiler/render/wasm/deinterleave.test.ts',
    'src/compiler/render/wasm/faults.test.ts',
    'test/fuzz/narrow.test.ts',
    'src/compiler/render/wasm/narrow.test.ts',
    'src/compiler/render/wasm/ranges.test.ts',
    'src/compiler/render/wasm/exchange.test.ts',
    'src/compiler/render/wasm/full-rounds.test.ts',
    'src/compiler/render/wasm/interior.test.ts',
    'src/compiler/render/wasm/interleave.test.ts',
    'src/compiler/render/wasm/lane-facts.test.ts',
    'src/compiler/render/wasm/shared-loads.test.ts',
    'test/fuzz/regressions.test.ts',
    'test/fuzz/stages.test.ts',
  );
  vitest('tests', 'test/conformance-cpu.test.ts');
}

function layout(): void {
  vitest('layout', 'src/layout', 'src/array/device-array.model.test.ts');
}

/** What tests the names of records, and clamped bytes. */
function names(): void {
  vitest('names', 'test/conformance-cpu.test.ts', '-t', 'names of records|clamped bytes');
  vitest('names', 'test/fuzz/records.test.ts');
}

/** What tests what programs mean, before there is code: much sooner than random programs and the whole suite. */
function front(): void {
  const units = [
    'errors',
    'inference',
    'integer-operands',
    'language',
    'local-arrays',
    'numbers',
    'quotients',
    'wide-indices',
  ];
  vitest('front', '--no-isolate', '--maxWorkers', '1', ...units.map((name) => `src/compiler/${name}.test.ts`));
  vitest('front', 'test/conformance-cpu.test.ts', '-t', MEANING_CHAPTERS);
}

const MEANING_CHAPTERS =
  'integers|small types|clamped bytes|64-bit|bf16|16-bit floats|language|values|quotients|powers|errors';

/** What tests narrow floats. */
function narrow(): void {
  vitest('narrow', 'src/dtype', 'src/compiler/ir/narrow-float.test.ts', 'test/dlpack.test.ts');
  vitest('narrow', 'test/conformance-cpu.test.ts', '-t', 'bf16|8-bit floats');
}

/** What tests memory and arrays, the quickest first. Without isolation files share what they import, which is most of the time. */
function memory(): void {
  const folders = ['src/memory', 'src/array'];
  if (process.argv[3] === 'src/array') folders.reverse();
  for (const folder of folders) vitest('memory', '--no-isolate', '--maxWorkers', '1', '--exclude', SLOW, folder);
  vitest('memory', SLOW);
  // Those of waiting measure time.
  vitest('memory', 'src/stream/stream.test.ts', '-t', 'streams');
  vitest(
    'memory',
    'test/smart-array.test.ts',
    'test/worked-numbers.test.ts',
    'test/dlpack.test.ts',
    'test/asynchronous-device.test.ts',
  );
  vitest('conformance', 'test/conformance-cpu.test.ts', '-t', MEMORY_CHAPTERS);
}

/** Measures time, which a busy machine has little of. */
const SLOW = 'src/memory/pressure.test.ts';
const MEMORY_CHAPTERS = 'device arrays|lifetime of memory|host memory|array interface|smart arrays';

function absence(): void {
  vitest('absence', 'src/compiler/absent.test.ts');
}

function simulator(): void {
  vitest('simulator', 'test/simulator-locks.test.ts', 'src/cuda/simulator-overflow.test.ts', 'src/driver/simulator');
}

/** The tests that a mutant names. */
function named(): void {
  vitest('named', ...(JSON.parse(process.argv[3] ?? '[]') as string[]));
}

const stages = { named, front, simulator, programs, operations, tests, absence, layout, memory, names, narrow };
type Stage = keyof typeof stages;
/** What no compiled program can show needs no programs. */
const ONLY: Partial<Record<Stage, readonly Stage[]>> = {
  named: ['named'],
  simulator: ['simulator'],
  layout: ['layout', 'memory', 'tests', 'operations', 'programs'],
  memory: ['memory'],
  absence: ['absence', 'programs', 'tests'],
};
const first = (process.argv[2] ?? 'programs') as Stage;
const others: readonly Stage[] = ['programs', 'operations', 'tests'];
const order = ONLY[first] ?? [first, ...others.filter((name) => name !== first)];
try {
  for (const name of order) {
    process.stdout.write(`${name}\n`);
    stages[name]();
  }
} catch (error) {
  fail('throws', String(error));
}
process.exit(0);
