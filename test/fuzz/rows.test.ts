/**
 * Random sums over grid-stride loops, and that most of them are gone through several rounds at a time, and by neighbouring blocks in turns.
 */
import { expect, it } from 'vitest';
import { splitFullRounds } from '../../src/compiler/ir/passes/full-rounds.ts';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { generateRows } from './row-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_ROWS'] ?? 40);

it('do the same as in the evaluator, four rounds at a time', { timeout: 300_000 }, () => {
  let [together, adjacent] = [0, 0];
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    const simple = simplify(kernel, { block });
    if (lanes === 1) return;
    const rounds = splitFullRounds(simple, block[0], true);
    if (rounds.together.size > 0) together++;
    if (rounds.adjacent.size > 0) adjacent++;
  });
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateRows(seed);
    const failure = check(p, new Map([['cpu', cpu]]));
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  cpu.close();
  expect(together).toBeGreaterThan(PROGRAMS / 2);
  expect(adjacent).toBeGreaterThan(PROGRAMS / 2);
});
