/**
 * What a frame of an animation costs on the main thread of a page, from a kernel to the canvas on WebGPU, in Chromium. The bound is four times what is promised (one millisecond), as the machine may be
 * busy; `npm run bench -- pages` measures. Skipped without Chromium, unless TSAMBA_TEST_REQUIRE names `chromium`.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { ANIMATION, type AnimationFrames } from './support/animation.ts';
import { Chromium, findChromium, ISOLATED } from './support/chromium.ts';

const dist: string = fileURLToPath(new URL('../dist', import.meta.url));

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('an animation on WebGPU', () => {
  let browser: Chromium;
  beforeAll(async () => {
    browser = await Chromium.start({ dist });
  });
  afterAll(() => browser?.close());

  // What is waited for is submitted at once; `launch` goes to the GPU together with what shows its picture.
  it.each([
    ['launch', 1],
    ['launchAsync', 2],
  ])('by %s costs the main thread little, and shows each frame', async (call, submissions) => {
    const page = await browser.open({ headers: ISOLATED });
    const load = `const { cuda } = await import('./dist/index.js');`;
    const made = (await page.run(
      `${load} const call = '${call}'; const frames = 200; ${ANIMATION}`,
    )) as AnimationFrames;
    await page.close();
    const sorted = made.milliseconds.toSorted((a, b) => a - b);
    expect(sorted).toHaveLength(200);
    expect(sorted[100]).toBeLessThan(4);
    expect(sorted[0]).toBeLessThan(1);
    // What was drawn last is there: red rises along x, green is the number of the frame.
    expect(made.pixels.slice(0, 4)).toEqual([0, made.last % 256, 0, 255]);
    expect(made.pixels[4 * 100]).toBe(100);
    expect(made.submissions).toBeLessThanOrEqual(submissions);
  });
});
