/**
 * Random guards in several dimensions, which leave the CPU device boxes of blocks. FUZZ_BOXES=1000 and FUZZ_FROM=5001 say which.
 */
import { expect, it } from 'vitest';
import { checkBoxes } from '../../src/compiler/render/wasm/box-rows.testing.ts';

const PROGRAMS = Number(process.env['FUZZ_BOXES'] ?? 300);
const FROM = Number(process.env['FUZZ_FROM'] ?? 5001);

it('do what single threads do', { timeout: 1_200_000 }, () => {
  let faults = 0;
  for (let seed = FROM; seed < FROM + PROGRAMS; seed++) if (checkBoxes(seed)) faults++;
  expect(faults).toBeGreaterThan(PROGRAMS / 30);
  expect(faults).toBeLessThan(PROGRAMS / 1.6);
});
