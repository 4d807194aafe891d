/**
 * Random coordinates of running numbers, and counts of threads, and that most programs have code for vectors with one quotient, and many for rounds.
 */
import { expect, it } from 'vitest';
import { splitQuotients } from '../../src/compiler/ir/passes/quotients.ts';
import { countRoundsApart } from '../../src/compiler/ir/passes/round-counters.ts';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { generateCoordinates } from './coordinate-programs.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_COORDINATES'] ?? 60);

it('do the same as in the evaluator', { timeout: 300_000 }, () => {
  let [quotients, rounds] = [0, 0];
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    const simple = simplify(kernel, { block });
    if (lanes === 1) return;
    if (splitQuotients(simple, 4) !== simple) quotients++;
    if (countRoundsApart(simple, block, 4) !== simple) rounds++;
  });
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateCoordinates(seed);
    const failure = check(p, new Map([['cpu', cpu]]));
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  cpu.close();
  expect(quotients).toBeGreaterThan(PROGRAMS / 2);
  expect(rounds).toBeGreaterThan(PROGRAMS / 8);
});
