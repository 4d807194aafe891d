/**
 * Random loops down columns, and that most of them are gone through row by row.
 */
import { expect, it } from 'vitest';
import { columnRounds } from '../../src/compiler/ir/passes/column-rounds.ts';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { inRowOrder } from '../../src/compiler/render/wasm/row-order.ts';
import { generateColumns } from './column-programs.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_COLUMNS'] ?? 60);

it('do the same as in the evaluator, row by row', { timeout: 300_000 }, () => {
  let together = 0;
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    if (lanes === 1) return;
    const rounds = columnRounds(simplify(kernel, { block }), block[0]);
    if (inRowOrder(rounds, { block, lanes: 4, concurrent: false, memory64: false }, 4) !== undefined) together++;
  });
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateColumns(seed);
    const failure = check(p, new Map([['cpu', cpu]]));
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  cpu.close();
  expect(together).toBeGreaterThan(PROGRAMS / 2);
});
