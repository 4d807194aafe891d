/**
 * Random transforms in shared memory, and that most of their stages are written out.
 */
import { expect, it } from 'vitest';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { unroll } from '../../src/compiler/ir/passes/unroll.ts';
import { check, type DeviceName, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { generateStages } from './stage-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_STAGES'] ?? 30);
const DEVICES: readonly DeviceName[] = ['cpu', 'scalar', 'simulator'];

it('do the same as in the evaluator, stage by stage', { timeout: 300_000 }, () => {
  let written = 0;
  const devices = new Map(
    DEVICES.map((name) => [
      name as string,
      openDevice(name, (_, kernel, block, lanes) => {
        const simple = simplify(kernel, { block });
        if (name === 'cpu' && lanes !== 1 && unroll(simple) !== simple) written++;
      }),
    ]),
  );
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateStages(seed);
    const failure = check(p, devices);
    const what = `seed ${seed}, ${failure?.device}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`;
    expect(failure, what).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  expect(written).toBeGreaterThan(PROGRAMS / 2);
});
