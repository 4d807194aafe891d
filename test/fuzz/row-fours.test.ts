/**
 * Random loops along rows, which the CPU device goes through four rounds at a time. FUZZ_FOURS=1000 and FUZZ_FROM=5001 say which.
 */
import { expect, it } from 'vitest';
import { checkFaults, checkRounds } from '../../src/compiler/render/wasm/row-fours.testing.ts';

const PROGRAMS = Number(process.env['FUZZ_FOURS'] ?? 150);
const FROM = Number(process.env['FUZZ_FROM'] ?? 5001);

it('do the same four rounds at a time', { timeout: 1_200_000 }, () => {
  let fours = 0;
  for (let seed = FROM; seed < FROM + PROGRAMS; seed++) if (checkRounds(seed, seed % 2 === 0)) fours++;
  expect(fours).toBeGreaterThan(PROGRAMS / 5);
});

it('fail where they did', { timeout: 1_200_000 }, () => {
  let failed = 0;
  for (let seed = FROM; seed < FROM + PROGRAMS / 3; seed++) failed += checkFaults(seed);
  expect(failed).toBeGreaterThan(PROGRAMS / 5);
});
