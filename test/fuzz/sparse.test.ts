/**
 * Random sums over rows of sparse matrices: places out of memory, around the ends of arrays and up to them.
 */
import { expect, it } from 'vitest';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { generateSparse } from './sparse-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_SPARSE'] ?? 40);

it('do the same as in the evaluator, with vectors and with one lane', { timeout: 300_000 }, () => {
  const seen = new Set<number>();
  const cpu = openDevice('cpu', (_, __, ___, lanes) => seen.add(lanes));
  const devices = new Map([
    ['cpu', cpu],
    ['scalar', openDevice('scalar')],
    ['threads', openDevice('threads')],
  ]);
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateSparse(seed);
    const failure = check(p, devices);
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  expect(seen.has(1) && seen.has(4)).toBe(true);
});
