/**
 * A short run of the fuzzer, the same each time. The long runs are made from the command line: `npm run fuzz`.
 */
import { describe, expect, it } from 'vitest';
import { check, DEVICE_NAMES, openDevice } from './devices.ts';
import { Discarded } from './evaluate.ts';
import { generate } from './generate.ts';
import { printProgram } from './print.ts';

const PROGRAMS = 70;

describe('random programs', () => {
  it('do the same on all devices as in the evaluator', { timeout: 120_000 }, () => {
    const devices = new Map(DEVICE_NAMES.map((name) => [name as string, openDevice(name)]));
    let meaningless = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const p = generate(seed);
      try {
        const failure = check(p, devices);
        expect(failure, `seed ${seed}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
      } catch (error) {
        if (!(error instanceof Discarded)) throw error;
        meaningless++;
      }
    }
    for (const device of devices.values()) device.close();
    expect(meaningless).toBeLessThan(PROGRAMS / 10);
  });
});
