/**
 * Random programs that choose and swap arrays, and that most of them have an access to one of several.
 */
import { expect, it } from 'vitest';
import { generateChoices } from './choice-programs.ts';
import { check, compileProgram, openDevice } from './devices.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_CHOICES'] ?? 60);
const FROM = Number(process.env['FUZZ_FROM'] ?? 1);
const DEVICES = (process.env['FUZZ_DEVICES'] ?? 'cpu,scalar,simulator').split(',');

it('do the same as in the evaluator', { timeout: 1_200_000 }, () => {
  const devices = new Map(DEVICES.map((name) => [name, openDevice(name as 'cpu')]));
  let choosing = 0;
  for (let seed = FROM; seed < FROM + PROGRAMS; seed++) {
    const p = generateChoices(seed);
    const failure = check(p, devices);
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
    if (compileProgram(p).vars.some((v) => v.name.startsWith('%either'))) choosing++;
  }
  for (const device of devices.values()) device.close();
  expect(choosing).toBeGreaterThan(PROGRAMS / 2);
});
