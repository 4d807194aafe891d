/**
 * A short run of the fuzzer, the same each time. The long runs are made from the command line: `npm run fuzz`.
 */
import { describe, expect, it } from 'vitest';
import { Context } from '../../src/memory/context.ts';
import { isThorough } from '../../src/required.testing.ts';
import { checkApi } from './api.ts';
import { Coverage } from './coverage.ts';
import { check, DEVICE_NAMES, type Observer, openDevice } from './devices.ts';
import { generate } from './generate.ts';
import { printProgram } from './print.ts';
import { Discarded, Refused } from './verdicts.ts';

const [PROGRAMS, LAUNCHED] = isThorough() ? [60, 15] : [20, 5];

describe('random programs', () => {
  it('do the same on all devices as in the evaluator', { timeout: 300_000 }, () => {
    const coverage = new Coverage();
    const observed = (name: string): Observer | undefined => (name === 'cpu' ? coverage.observer : undefined);
    const devices = new Map(DEVICE_NAMES.map((name) => [name as string, openDevice(name, observed(name))]));
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
    expect(coverage.interiors).toBeGreaterThan(PROGRAMS / 10);
  });

  it('do the same when they are launched as users launch kernels', { timeout: 300_000 }, () => {
    const names = ['scalar', 'cpu', 'simulator'] as const;
    const contexts = new Map(names.map((name) => [name as string, new Context(openDevice(name))]));
    for (let seed = 1001; seed <= 1000 + LAUNCHED; seed++) {
      const p = generate(seed);
      try {
        const failure = checkApi(p, contexts);
        expect(failure, `seed ${seed}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
      } catch (error) {
        if (!(error instanceof Discarded || error instanceof Refused)) throw error;
      }
    }
    for (const context of contexts.values()) context.close();
  });
});
