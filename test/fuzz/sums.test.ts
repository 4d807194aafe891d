/**
 * Random sums over rows, and that most of them are taken in vectors along the rows, by all instructions that there are for it.
 */
import { expect, it } from 'vitest';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { rowSums } from '../../src/compiler/render/wasm/row-sums.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { generateSums } from './sum-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_SUMS'] ?? 120);

it('do the same as in the evaluator, along the rows', { timeout: 300_000 }, () => {
  let [chosen, rows, windows] = [0, 0, 0];
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    if (lanes === 1) chosen++;
    const found = rowSums(simplify(kernel, { block }));
    if (found.rows.size > 0) rows++;
    if (found.windows.size > 0) windows++;
  });
  const devices = new Map([
    ['cpu', cpu],
    ['scalar', openDevice('scalar')],
  ]);
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateSums(seed);
    const failure = check(p, devices);
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  expect(chosen).toBeGreaterThan(PROGRAMS / 8);
  expect(rows).toBeGreaterThan(PROGRAMS / 3);
  expect(windows).toBeGreaterThan(PROGRAMS / 10);
});
