/**
 * Animations in pages of Chromium that meet with something: a canvas that is resized, or taken out of the hands of `present`, a GPU that is lost, a page that nobody sees, where no frames are asked
 * for and timers are held up. Skipped without Chromium, unless TSAMBA_TEST_REQUIRE names `chromium`.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { Chromium, findChromium, ISOLATED } from './support/chromium.ts';

const dist: string = fileURLToPath(new URL('../dist', import.meta.url));

/** Defines the kernel, `draw(array, frame)`, `pixels()` of the canvas, and `next()`, which waits for a frame. */
const PAGE = `
  const { cuda } = await import('./dist/index.js');
  const paint = cuda.jit((picture, frame) => {
    const [x, y] = cuda.grid(2);
    const [rows, columns] = picture.shape;
    if (x < columns && y < rows) picture[y][x] = 0xff000000 + (frame % 256) * 256 + (x % 256);
  });
  const canvas = document.body.appendChild(document.createElement('canvas'));
  const draw = async (picture, frame) => {
    const [rows, columns] = picture.shape;
    const painted = paint.launchAsync({ threads: [columns, rows] }, picture, cuda.scalar('u32', frame));
    const shown = cuda.present(picture, canvas);
    await Promise.all([painted, shown]);
  };
  // A canvas can be read until the browser has taken what was drawn.
  const pixels = async (picture) => {
    await cuda.present(picture, canvas);
    const plain = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    plain.drawImage(canvas, 0, 0);
    const { data } = plain.getImageData(0, 0, canvas.width, canvas.height);
    return [canvas.width, canvas.height, ...data.slice(0, 4), ...data.slice(-4)];
  };
  const next = () => new Promise((resolve) => requestAnimationFrame(resolve));
`;

/** What \`pixels\` gives of a frame: red rises along x, green is the frame's number. */
const shown = (width: number, height: number, frame: number): number[] => [
  ...[width, height],
  ...[0, frame % 256, 0, 255],
  ...[(width - 1) % 256, frame % 256, 0, 255],
];

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('canvases', () => {
  let browser: Chromium;
  beforeAll(async () => {
    browser = await Chromium.start({ dist });
  });
  afterAll(() => browser?.close());

  it.each(['webgpu', 'cpu'])(
    'take pictures of another size with each frame, and are given back their own: %s',
    async (device) => {
      const page = await browser.open();
      const result = await page.run(`${PAGE}
      await cuda.open('${device}');
      const pictures = [[3, 5], [64, 96], [40, 300]].map((shape) => cuda.deviceArray(shape, 'u32'));
      for (let frame = 1; frame <= 90; frame++) {
        if (frame % 7 === 0) canvas.width = 11;
        if (frame % 11 === 0) canvas.height = 500;
        const drawn = draw(pictures[frame % 3], frame);
        // As a program does that follows its window: what has been drawn is lost, and nothing else.
        if (frame % 5 === 0) canvas.width = 77;
        await drawn;
        await next();
      }
      await draw(pictures[1], 200);
      return [await pixels(pictures[1]), cuda.currentContext().info.kind];`);
      await page.close();
      expect(result).toEqual([shown(96, 64, 200), device]);
      expect(page.lines).toEqual([]);
    },
  );

  it('are taken again where a program has given up their context', async () => {
    const page = await browser.open();
    const result = await page.run(`${PAGE}
      await cuda.open('webgpu');
      const picture = cuda.deviceArray([20, 30], 'u32');
      await draw(picture, 1);
      canvas.getContext('webgpu').unconfigure();
      await draw(picture, 2);
      const after = await pixels(picture);
      const adapter = await navigator.gpu.requestAdapter();
      const other = await adapter.requestDevice();
      canvas.getContext('webgpu').configure({ device: other, format: 'rgba8unorm' });
      await draw(picture, 3);
      return [after, await pixels(picture)];`);
    await page.close();
    expect(result).toEqual([shown(30, 20, 2), shown(30, 20, 3)]);
    expect(page.lines).toEqual([]);
  });

  it.each([
    ['destroyed', async () => undefined, 'cuda.gpuDevice().destroy();'],
    ['lost with the GPU’s process', () => browser.send('Browser.crashGpuProcess').catch(() => undefined), ''],
  ])('show again what a new device draws after theirs was %s', async (_, lose, script) => {
    const page = await browser.open();
    const state = page.run(`${PAGE}
      await cuda.open('webgpu');
      let picture = cuda.deviceArray([20, 30], 'u32');
      let frames = 0;
      const gone = cuda.gpuDevice().lost;
      console.log('drawing');
      let code;
      for (const end = performance.now() + 60_000; performance.now() < end; ) {
        try {
          await draw(picture, ++frames);
          await next();
          if (frames === 10) { ${script} }
        } catch (error) { code = error.code; break; }
      }
      await gone;
      const again = await cuda.present(picture, canvas).catch((error) => error.code);
      for (let k = 0; k < 50; k++) {
        try { await cuda.open('webgpu'); break; } catch { await new Promise((resolve) => setTimeout(resolve, 200)); }
      }
      picture = cuda.deviceArray([25, 35], 'u32');
      for (let k = 0; k < 5; k++) { await draw(picture, 100 + k); await next(); }
      await draw(picture, 150);
      return [code, again, await pixels(picture)];`);
    for (let k = 0; k < 200 && !page.lines.includes('drawing'); k++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await lose();
    const result = await state;
    await page.close();
    expect(result).toEqual(['E_DEVICE_LOST', 'E_DEVICE_LOST', shown(35, 25, 150)]);
  });

  it('ask for no frames in a page that nobody sees, which keeps nothing, and go on when it is seen again', async () => {
    const page = await browser.open();
    await page.run(`${PAGE}
      await cuda.open('webgpu');
      const picture = cuda.deviceArray([200, 320], 'u32');
      await draw(picture, 0);
      const state = Object.assign(window, { frames: 0, submissions: 0 });
      const finish = GPUCommandEncoder.prototype.finish;
      GPUCommandEncoder.prototype.finish = function (...given) { state.submissions++; return finish.apply(this, given); };
      const frame = async () => {
        await draw(picture, ++state.frames);
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);`);
    const count = async (): Promise<{ frames: number; submissions: number; state: string }> =>
      (await page.run('return { frames, submissions, state: document.visibilityState };')) as never;
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    for (let k = 0; k < 100 && (await count()).frames < 10; k++) await pause(50);
    const other = await browser.open();
    for (let k = 0; k < 100 && (await count()).state !== 'hidden'; k++) await pause(50);
    await pause(300);
    const hidden = await count();
    await pause(1500);
    const later = await count();
    await other.close();
    for (let k = 0; k < 100 && (await count()).frames < hidden.frames + 10; k++) await pause(50);
    const seen = await count();
    await page.close();
    expect(hidden.frames).toBeGreaterThanOrEqual(10);
    expect(later).toEqual(hidden);
    expect(seen.frames).toBeGreaterThanOrEqual(hidden.frames + 10);
    expect(page.lines).toEqual([]);
  });

  it.each([
    ['the CPU device on one thread', 'cpu', {}],
    ['the CPU device on all threads', 'cpu', ISOLATED],
    ['WebGPU', 'webgpu', {}],
  ])('do not hold up work in a page that nobody sees: %s', async (_, device, headers) => {
    const page = await browser.open({ headers });
    const other = await browser.open();
    const result = (await page.run(`${PAGE}
      await cuda.open('${device}');
      const slow = cuda.jit((a) => { const i = cuda.grid(1); let s = 0; for (let k = 0; k < 50000; k++) s = Math.sqrt(s + i + k); a[i] = s; });
      const d = cuda.deviceArray(1024, 'f32');
      const picture = cuda.deviceArray([20, 30], 'u32');
      const times = [];
      // The first timers are not held up.
      for (let k = 0; k < 12; k++) {
        const began = performance.now();
        await slow.launchAsync({ threads: 1024 }, d);
        await d.copyToHostAsync();
        await draw(picture, k);
        times.push(performance.now() - began);
      }
      return { state: document.visibilityState, times: times.sort((a, b) => a - b) };`)) as {
      readonly state: string;
      readonly times: readonly number[];
    };
    await other.close();
    await page.close();
    expect(result.state).toBe('hidden');
    // Timers come once a second, of which each turn takes two.
    expect(result.times[6]).toBeLessThan(1500);
    expect(page.lines).toEqual([]);
  });
});
