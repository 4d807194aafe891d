/**
 * For tests: a program that runs a set of samples on PoCL and prints, as JSON, what differs. PoCL compiles inside of the process, and
 * what it does to one must not end the tests.
 *
 *   node --import tsx differences.testing.ts <set> [first] [count]
 */
import { randomSample, type Sample } from '../../compiler/ir/testing.ts';
import { operatorSamples } from '../../compiler/render/ptx/operators.testing.ts';
import { difference, Pocl } from './pocl.testing.ts';

const [set = '', first = '0', count = '1000'] = process.argv.slice(2);

function samples(): readonly Sample[] {
  const [from, n] = [Number(first), Number(count)];
  switch (set) {
    case 'operators':
      return operatorSamples().slice(from, from + n);
    case 'random':
      return Array.from({ length: n }, (_, k) => randomSample(from + k));
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
