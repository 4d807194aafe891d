/**
 * Random loops and threads that seldom do anything, and that the CPU device passes over most of those.
 */
import { expect, it } from 'vitest';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { rareItems } from '../../src/compiler/render/wasm/rare-rounds.ts';
import { rowSums } from '../../src/compiler/render/wasm/row-sums.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { generateRare } from './rare-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_RARE'] ?? 100);

it('do the same as in the evaluator, passed over or not', { timeout: 300_000 }, () => {
  let [rounds, items] = [0, 0];
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    const simple = simplify(kernel, { block });
    if (lanes === 1 && rowSums(simple).rare.size > 0) rounds++;
    if (lanes === 1 && rareItems(simple.body) !== undefined) items++;
  });
  const devices = new Map([
    ['cpu', cpu],
    ['scalar', openDevice('scalar')],
  ]);
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateRare(seed);
    const failure = check(p, devices);
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  expect(rounds).toBeGreaterThan(PROGRAMS / 5);
  expect(items).toBeGreaterThan(PROGRAMS / 6);
});
