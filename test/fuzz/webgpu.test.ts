/**
 * Each operation and random programs on WebGPU, by Dawn: on SwiftShader where a browser has brought that, which rounds and orders as the evaluator does. What WebGPU has not, f64 and atomic operations of 64 bits, is
 * replaced or refused. Skipped where there is no adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`.
 *
 * Longer runs: `npm run fuzz -- --devices webgpu --programs 500`.
 */
import { afterAll, describe, expect, it } from 'vitest';
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { whyNoGpu } from '../../src/driver/webgpu/door.ts';
import { isRequired, isThorough } from '../../src/required.testing.ts';
import { lackingIn, WEBGPU_LACKS } from '../support/lacking.ts';
import { preferSwiftShader } from '../support/webgpu.ts';
import { check, openDevice } from './devices.ts';
import { directed } from './directed.ts';
import { checkDirected, hasDenormals } from './directed-run.ts';
import { generate } from './generate.ts';
import { printProgram } from './print.ts';
import { inSingles } from './singles.ts';
import { Discarded } from './verdicts.ts';

const PROGRAMS = isThorough() ? 40 : 10;

preferSwiftShader();

function openGpu(): BlockingDriver | undefined {
  try {
    return openDevice('webgpu');
  } catch (error) {
    if (isRequired('webgpu')) throw error;
    return undefined;
  }
}

const gpu = whyNoGpu() === undefined || isRequired('webgpu') ? openGpu() : undefined;

describe.skipIf(gpu === undefined)('on WebGPU', () => {
  afterAll(() => gpu?.close());

  it('operations one by one are right', { timeout: 400_000 }, () => {
    const wrong: string[] = [];
    let run = 0;
    for (const d of directed()) {
      if (hasDenormals(d)) continue;
      try {
        const what = checkDirected(gpu as BlockingDriver, d);
        if (what !== undefined) wrong.push(`${d.key}: ${what}`);
        run++;
      } catch (error) {
        if (lackingIn(error, WEBGPU_LACKS) === undefined) throw error;
      }
    }
    expect(wrong).toEqual([]);
    expect(run).toBeGreaterThan(350);
  });

  it('random programs do the same as in the evaluator', { timeout: 400_000 }, () => {
    const devices = new Map([['webgpu', gpu as BlockingDriver]]);
    let run = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const p = inSingles(generate(seed));
      try {
        const failure = check(p, devices);
        expect(failure, `seed ${seed}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
        run++;
      } catch (error) {
        if (!(error instanceof Discarded)) throw error;
      }
    }
    expect(run).toBeGreaterThan(PROGRAMS / 2);
  });
});
