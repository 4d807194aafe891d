/**
 * Random updates in place of a matrix, and that most of them are made in lanes that are every second thread.
 */
import { expect, it } from 'vitest';
import { disassemble } from '../../src/driver/cpu/disassemble.ts';
import { generateChequer } from './chequer-programs.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_CHEQUER'] ?? 80);

it('do the same as in the evaluator, every second thread a lane, blocks in turns', { timeout: 300_000 }, () => {
  let [stepped, several] = [0, 0];
  let blocks = 0;
  const cpu = openDevice('cpu', (_, __, [, height], lanes, bytes) => {
    if (
      lanes === 1 ||
      bytes === undefined ||
      !/i8x16.shuffle 0 1 2 3 8 9 10 11 20 21 22 23 28 29 30 31/.test(disassemble(bytes))
    )
      return;
    stepped++;
    // The first block is run by itself, and those behind it two at a time.
    if (height > 1 && blocks > 2) several++;
  });
  const devices = new Map([
    ['cpu', cpu],
    ['scalar', openDevice('scalar')],
    ['threads', openDevice('threads')],
  ]);
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateChequer(seed);
    blocks = p.grid;
    const failure = check(p, devices);
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  expect(stepped).toBeGreaterThan(PROGRAMS / 7);
  expect(several).toBeGreaterThan(PROGRAMS / 16);
});
