/**
 * The conformance suite on WebGPU, by Dawn from the package `webgpu`: on SwiftShader where a browser has brought that, else on what there is. Skipped where there is no
 * adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`.
 */
import { expect, it, vi } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { defineConformance } from './support/conformance.ts';
import { WEBGPU_LACKS } from './support/lacking.ts';
import { BEYOND_SWIFTSHADER } from './support/swiftshader.ts';
import { preferSwiftShader, whyNoWebgpu } from './support/webgpu.ts';

preferSwiftShader();
// A sort of several passes takes it a minute to compile, on a machine that does nothing else.
vi.setConfig({ testTimeout: 300_000 });

const why = await whyNoWebgpu(({ cuda, roc }) => Promise.all([cuda.open('webgpu'), roc.open('webgpu')]));

if (why === undefined) {
  let passed = 0;
  await defineConformance({
    title: 'webgpu',
    device: 'webgpu',
    lacks: WEBGPU_LACKS,
    without: BEYOND_SWIFTSHADER,
    onPassed: () => {
      passed++;
    },
  });
  it('has run most of the suite', () => {
    expect(passed).toBeGreaterThan(1_250);
  });
} else {
  it.skipIf(!isRequired('webgpu'))('needs a WebGPU device', () => {
    throw new Error(why);
  });
}
