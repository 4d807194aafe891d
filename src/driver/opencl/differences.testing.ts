/**
 * For tests: a program that runs a set of samples on PoCL and prints, as JSON, what differs. PoCL compiles inside of the process, and
 * what it does to one must not end the tests.
 *
 *   node --import tsx differences.testing.ts <set> [first] [count]
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { randomSample, type Sample } from '../../compiler/ir/testing.ts';
import { operatorSamples } from '../../compiler/render/ptx/operators.testing.ts';
import { INPUT, ROW, randomKernel } from '../../compiler/render/wasm/programs.testing.ts';
import { difference, Pocl } from './pocl.testing.ts';

const [set = '', first = '0', count = '1000'] = process.argv.slice(2);

/** Loops and jumps of every kind. */
function program(seed: number, checked: boolean): Sample {
  const threads = 16;
  const kernel: Kernel = { ...randomKernel(seed, { barriers: seed % 2 === 0, wide: true, threads }), checked };
  const words = 2 * threads * ROW;
  const memory = new Uint8Array(4 * (words + INPUT));
  new Int32Array(memory.buffer).set(
    Array.from({ length: INPUT }, (_, i) => ((i * 7919) % 100) - 30),
    words,
  );
  const launch = { grid: [2, 1, 1], block: [threads, 1, 1] } as const;
  return { name: `program ${seed}`, kernel, launch, args: [0, words * 4, seed % 9, INPUT, words], memory };
}

function samples(): readonly Sample[] {
  const [from, n] = [Number(first), Number(count)];
  const several = (make: (seed: number) => Sample): Sample[] => Array.from({ length: n }, (_, k) => make(from + k));
  switch (set) {
    case 'operators':
      return operatorSamples().filter((s) => !s.name.includes(' constant '));
    case 'constants':
      return operatorSamples().filter((s) => s.name.includes(' constant '));
    case 'random':
      return several(randomSample);
    case 'programs':
      return several((seed) => program(seed, false));
    case 'checked':
      return several((seed) => program(seed, true));
    default:
      throw new Error(`no set of samples is called '${set}'`);
  }
}

const pocl = Pocl.open();
if (typeof pocl === 'string') process.stdout.write(JSON.stringify({ missing: pocl }));
else {
  const all = samples();
  const differences = all.flatMap((s) => difference(pocl, s) ?? []);
  process.stdout.write(JSON.stringify({ count: all.length, differences }));
}
