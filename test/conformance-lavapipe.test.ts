/**
 * Chapters of the conformance suite on WebGPU, by Dawn on Mesa's lavapipe, which has another compiler than SwiftShader, and f16; all of them where TSAMBA_TEST_REQUIRE names `lavapipe-all`. Skipped where
 * there is none that Dawn takes, unless it names `lavapipe`.
 */
import { existsSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { defineConformance } from './support/conformance.ts';
import { LEFT_OPEN_BY_WGSL, WEBGPU_LACKS } from './support/lacking.ts';
import { LAVAPIPE, whyNoWebgpu } from './support/webgpu.ts';

process.env['VK_ICD_FILENAMES'] = LAVAPIPE;
vi.setConfig({ testTimeout: 300_000 });

/** Of each kind some: what lanes exchange, memory in parts of words, all types, and f16 by the feature. */
const CHAPTERS = [
  '16-bit floats',
  'atomics',
  'barriers',
  'complex numbers',
  'geometry',
  'launch',
  'shared memory',
  'warps',
];
/** Of f16 they ask what it is left to a device to do, and this one does. One asks of bf16 what subnormal numbers of f32 are. */
const does = (name: string): boolean => name.startsWith('16-bit floats') && !name.includes('comparisons');
/** It has 32 KiB of workgroup memory. */
const SMALL = ['devices: limits are those of a device that can run the suite', 'sizes: 48 KiB of shared memory'];

const why = existsSync(LAVAPIPE)
  ? await whyNoWebgpu(({ cuda, roc }) => Promise.all([cuda.open('webgpu'), roc.open('webgpu')]))
  : 'there is no lavapipe';

if (why === undefined) {
  let passed = 0;
  await defineConformance({
    title: 'lavapipe',
    device: 'webgpu',
    ...(isRequired('lavapipe-all') ? {} : { chapters: CHAPTERS }),
    lacks: WEBGPU_LACKS,
    without: [...LEFT_OPEN_BY_WGSL.filter((name) => !does(name)), ...SMALL],
    onPassed: () => {
      passed++;
    },
  });
  it('has run most of them', () => expect(passed).toBeGreaterThan(100));
} else {
  it.skipIf(!isRequired('lavapipe'))('needs lavapipe', () => {
    throw new Error(why);
  });
}
