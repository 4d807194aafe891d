/**
 * The conformance suite on WebGPU, by Dawn from the package `webgpu`: on SwiftShader where a browser has brought that, else on what there is. Skipped where there is no
 * adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`.
 */
import { expect, it } from 'vitest';
import { whyNoGpu } from '../src/driver/webgpu/api.ts';
import { isRequired } from '../src/required.testing.ts';
import { defineConformance } from './support/conformance.ts';
import { BEYOND_SWIFTSHADER } from './support/swiftshader.ts';
import { LACKS, preferSwiftShader } from './support/webgpu.ts';

preferSwiftShader();

/** Why there is no device; undefined where there is one. */
async function missing(): Promise<string | undefined> {
  const why = whyNoGpu();
  if (why !== undefined) return why;
  const { cuda, roc } = await import('../src/index.ts');
  try {
    await Promise.all([cuda.open('webgpu'), roc.open('webgpu')]);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const why = await missing();

if (why === undefined) {
  let passed = 0;
  await defineConformance({
    title: 'webgpu',
    device: 'webgpu',
    lacks: LACKS,
    without: BEYOND_SWIFTSHADER,
    onPassed: () => {
      passed++;
    },
  });
  it('has run most of the suite', () => {
    expect(passed).toBeGreaterThan(800);
  });
} else {
  it.skipIf(!isRequired('webgpu'))('needs a WebGPU device', () => {
    throw new Error(why);
  });
}
