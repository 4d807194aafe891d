/**
 * Random programs on narrow elements, and that they are computed in lanes of 8 and 16 bits, with all that there is of instructions.
 */
import { expect, it } from 'vitest';
import { renderWasm } from '../../src/compiler/render/wasm/render.ts';
import { disassemble } from '../../src/driver/cpu/disassemble.ts';
import { check, openDevice } from './devices.ts';
import { generateNarrow } from './narrow-programs.ts';
import { printProgram } from './print.ts';

const PROGRAMS = 80;

/** By operation: the lanes in which it must have been seen. */
const EXPECTED = [
  ...['add', 'sub', 'neg', 'abs', 'mul', 'shl', 'shr_s', 'shr_u', 'splat'].map((op) => `i16x8.${op}`),
  ...['add', 'sub', 'splat'].map((op) => `i8x16.${op}`),
  ...['min_s', 'min_u', 'max_s', 'max_u', 'eq', 'lt_u'].flatMap((op) => [`i8x16.${op}`, `i16x8.${op}`]),
  // Look-ups: indices that are checked in their own lanes, and addresses in pairs.
  ...['i8x16.ge_u', 'i16x8.ge_u', 'i64x2.extract_lane', 'i8x16.shuffle'],
  ...['s', 'u'].flatMap((sign) => [
    `i16x8.extend_low_i8x16_${sign}`,
    `i16x8.extend_high_i8x16_${sign}`,
    `i8x16.narrow_i16x8_${sign}`,
    `i16x8.narrow_i32x4_${sign}`,
    `i32x4.extmul_low_i16x8_${sign}`,
    `i32x4.extmul_high_i16x8_${sign}`,
  ]),
];

it('do the same as in the evaluator, in narrow lanes', { timeout: 300_000 }, () => {
  const seen = new Set<string>();
  const device = openDevice('cpu', (_, kernel, block, lanes) => {
    const { bytes } = renderWasm(kernel, { block, lanes: lanes === 1 ? 1 : 4, concurrent: false, memory64: false });
    for (const [name] of disassemble(bytes).matchAll(/i\d+x\d+\.\w+/g)) seen.add(name);
  });
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateNarrow(seed);
    const failure = check(p, new Map([['cpu', device]]));
    expect(failure, `seed ${seed}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  device.close();
  expect(EXPECTED.filter((name) => !seen.has(name))).toEqual([]);
});
