/**
 * Random regions of few items and rounds that choose one, and that many of the latter are made by one item. FUZZ_ITEMS=1000 says how many.
 */
import { expect, it } from 'vitest';
import { observingPasses } from '../../src/compiler/ir/passes/pipeline.ts';
import { check, openDevice } from './devices.ts';
import { generateItems } from './item-programs.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_ITEMS'] ?? 80);
const FROM = Number(process.env['FUZZ_FROM'] ?? 1);

it('do the same as in the evaluator', { timeout: 1_200_000 }, () => {
  const names = ['cpu', 'threads', 'scalar', 'simulator'] as const;
  const devices = new Map(names.map((name) => [name as string, openDevice(name)]));
  let chosen = 0;
  for (let seed = FROM; seed < FROM + PROGRAMS; seed++) {
    const p = generateItems(seed);
    let chooses = false;
    const failure = observingPasses(
      ({ name, before, after }) => {
        chooses ||= name === 'choose items' && before !== after;
      },
      () => check(p, devices),
    );
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
    if (chooses) chosen++;
  }
  for (const device of devices.values()) device.close();
  expect(chosen).toBeGreaterThan(PROGRAMS / 8);
});
