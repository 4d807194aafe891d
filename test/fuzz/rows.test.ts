/**
 * Random sums over grid-stride loops, and that most of them are gone through several rounds at a time.
 */
import { expect, it } from 'vitest';
import { splitFullRounds } from '../../src/compiler/ir/passes/full-rounds.ts';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { generateRows } from './row-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_ROWS'] ?? 40);

it('do the same as in the evaluator, four rounds at a time', { timeout: 240_000 }, () => {
  let together = 0;
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    const simple = simplify(kernel, { block });
    if (lanes !== 1 && splitFullRounds(simple, block[0], true).together.size > 0) together++;
  });
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateRows(seed);
    const failure = check(p, new Map([['cpu', cpu]]));
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  cpu.close();
  expect(together).toBeGreaterThan(PROGRAMS / 2);
});
