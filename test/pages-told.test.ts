/**
 * What a page is told that gives bad input, or lacks or loses something, in Chromium and, of the CPU device, in Firefox: each a clear error, and what works afterwards. Skipped without the browser, unless
 * TSAMBA_TEST_REQUIRE names it.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { Chromium, findChromium, ISOLATED, type PageOptions } from './support/chromium.ts';
import { findFirefox, runInFirefox } from './support/firefox.ts';

const FOLDERS = { dist: fileURLToPath(new URL('../dist', import.meta.url)) };

/** `code`: what a call gives, or its error's code and message. `gpus`: the devices that are opened from now on. */
const LOAD = `const { cuda } = await import('./dist/index.js');
  const double = cuda.jit((a) => { const i = cuda.grid(1); if (i < a.length) a[i] *= 2; });
  const code = async (body) => { try { const value = await body(); return value === undefined ? 'fine' : String(value); } catch (error) { return (error.code ?? error.name) + ' ' + error.message; } };
  const computed = () => code(async () => { const d = cuda.toDevice(Float32Array.of(1, 2)); await double.launchAsync({ threads: 2 }, d); return (await d.copyToHostAsync()).join(); });
  const element = () => document.createElement('canvas');
  const opened = () => { const gpus = []; const request = GPUAdapter.prototype.requestDevice; GPUAdapter.prototype.requestDevice = async function (...given) { const device = await request.apply(this, given); gpus.push(device); return device; }; return gpus; };`;

const CPU_ONLY = `
  await cuda.open('cpu');
  const picture = cuda.deviceArray([4, 4], 'u32');
  const [webgl, transferred] = [element(), element()];
  webgl.getContext('webgl2') ?? webgl.getContext('bitmaprenderer');
  transferred.transferControlToOffscreen();
  const gone = cuda.deviceArray(4, 'f32');
  gone.dispose();
  const out = [
    await code(() => cuda.present(picture, element())),
    await code(() => cuda.present(picture, webgl)),
    await code(() => cuda.present(picture, transferred)),
    await code(() => cuda.present(picture, '#canvas')),
    await code(() => cuda.present(cuda.deviceArray([70000, 2], 'u32'), element())),
    await code(() => cuda.present(cuda.deviceArray([0, 4], 'u32'), element())),
    await code(() => gone.dispose()),
    await code(() => gone.copyToHostAsync()),
    await code(() => double.launchAsync({ threads: 4 }, gone)),
    await code(() => cuda.jit((a) => { a[0] = missing; }).launchAsync({ threads: 1 }, cuda.deviceArray(1, 'f32'))),
    await computed(),
  ];`;

const CPU_TOLD = [
  'fine',
  expect.stringMatching(/^E_CANVAS .*another kind/),
  expect.stringMatching(/^E_CANVAS .*transferControlToOffscreen/),
  expect.stringMatching(/^E_CANVAS .*an HTMLCanvasElement or an OffscreenCanvas/),
  expect.stringMatching(/^E_CANVAS .*2 x 70000 pixels .*32767/),
  'fine',
  'fine',
  expect.stringMatching(/^E_DISPOSED /),
  expect.stringMatching(/^E_DISPOSED argument 1/),
  expect.stringMatching(/^K010 K010: missing .*in a page there is no node:inspector[\s\S]*tsamba\/vite/),
  '2,4',
];

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('a page of Chromium is told', () => {
  let browser: Chromium;
  beforeAll(async () => {
    browser = await Chromium.start(FOLDERS);
  });
  afterAll(() => browser?.close());

  async function told(body: string, options: PageOptions = {}): Promise<{ told: readonly string[]; lines: string }> {
    const page = await browser.open(options);
    try {
      const result = (await page.run(`${LOAD} ${body}`)) as readonly string[];
      return { told: result, lines: page.lines.join('\n') };
    } finally {
      await page.close();
    }
  }

  it('of canvases, arrays and kernels on the CPU device', async () => {
    expect((await told(`${CPU_ONLY} return out;`)).told).toEqual(CPU_TOLD);
  });

  it.each([
    [
      'there is no WebGPU',
      `Object.defineProperty(navigator, 'gpu', { value: undefined });`,
      /^E_NO_DEVICE .*this browser has no WebGPU/,
    ],
    [
      'the adapter cannot be had',
      `GPU.prototype.requestAdapter = async () => { throw new Error('busy'); };`,
      /^E_NO_DEVICE .*requestAdapter failed: busy/,
    ],
    [
      'the device cannot be had',
      `GPUAdapter.prototype.requestDevice = async () => { throw new DOMException('limits', 'OperationError'); };`,
      /^E_NO_DEVICE .*requestDevice failed: limits/,
    ],
  ])('that %s, and computes on the CPU device', async (_, before, message) => {
    const { told: out } = await told(`${before}
      return [await code(() => cuda.open('webgpu')), await code(() => cuda.open('cpu').then((device) => device.kind)), await computed()];`);
    expect(out).toEqual([expect.stringMatching(message), 'cpu', '2,4']);
  });

  it('that the page is not secure, where that is why there is no WebGPU', async () => {
    const { told: out } = await told(`Object.defineProperty(navigator, 'gpu', { value: undefined });
      Object.defineProperty(globalThis, 'isSecureContext', { value: false });
      return [await code(() => cuda.open('webgpu'))];`);
    expect(out[0]).toMatch(/^E_NO_DEVICE .*serve it by https, or from localhost/);
  });

  it('of a device that is lost during work, and opens another', async () => {
    const { told: out, lines } = await told(`const gpus = opened();
      await cuda.open('webgpu');
      const d = cuda.toDevice(new Float32Array(1024));
      const [picture, canvas] = [cuda.deviceArray([4, 4], 'u32'), element()];
      await double.launchAsync({ threads: 1024 }, d);
      await cuda.present(picture, canvas);
      const [launched, read] = [double.launchAsync({ threads: 1024 }, d), d.copyToHostAsync()];
      gpus[0].destroy();
      const lost = [launched, read].map((promise) => code(() => promise));
      await Promise.all(lost);
      const out = [
        ...(await Promise.all(lost)),
        await code(() => double.launch({ threads: 4 }, d)),
        await code(() => d.copyToHostAsync()),
        await code(() => cuda.present(picture, canvas)),
        await code(() => cuda.toDevice(new Float32Array(4))),
        await code(() => cuda.synchronizeAsync()),
      ];
      await cuda.open('webgpu');
      out.push(await computed(), await code(() => d.copyToHostAsync()), gpus.length);
      out.push(await code(() => cuda.present(cuda.deviceArray([4, 4], 'u32'), canvas)));
      // Closed and opened again without waiting in between.
      cuda.close();
      await cuda.open('webgpu');
      out.push(await computed());
      return out;`);
    const lost = expect.stringMatching(/^E_DEVICE_LOST .*is lost \(destroyed/);
    const closed = expect.stringMatching(/^E_DISPOSED .*closed/);
    expect(out).toEqual([lost, lost, lost, lost, lost, lost, lost, '2,4', closed, 2, 'fine', '2,4']);
    expect(lines).toBe('');
  });

  it('of a device that the end of the GPU process takes away, and opens another', async () => {
    // A browser of its own: others would lose their devices.
    const own = await Chromium.start(FOLDERS);
    try {
      const page = await own.open();
      await page.run(`${LOAD} await cuda.open('webgpu'); Object.assign(globalThis, { cuda, code, computed, d: cuda.toDevice(new Float32Array(4)) });
        await computed();`);
      const lost = page.run(`for (let k = 0; k < 600; k++) {
          const told = await code(() => d.copyToHostAsync());
          if (told.startsWith('E_')) return [told, await code(() => cuda.open('webgpu').then(() => 'opened')), await computed()];
          await new Promise((resolve) => setTimeout(resolve, 50));
        }`);
      await own.send('Browser.crashGpuProcess');
      expect(await lost).toEqual([expect.stringMatching(/^E_DEVICE_LOST /), 'opened', '2,4']);
    } finally {
      await own.close();
    }
  });

  it('of memory that there is not, by the next call that waits', async () => {
    // WebGPU answers as if there was none: whether there is depends on the machine.
    const { told: out } = await told(`await cuda.open('webgpu');
      const device = cuda.gpuDevice();
      const pop = device.popErrorScope.bind(device);
      let filters = [];
      const push = device.pushErrorScope.bind(device);
      device.pushErrorScope = (filter) => { filters.push(filter); push(filter); };
      device.popErrorScope = async () => {
        const filter = filters.pop();
        const answer = await pop();
        return filter === 'out-of-memory' ? new GPUOutOfMemoryError('vkAllocateMemory failed') : answer;
      };
      const d = cuda.deviceArray(1024, 'f32');
      const late = await code(() => double.launchAsync({ threads: 4 }, d));
      return [late, await code(() => cuda.deviceArray(2 ** 40, 'f32'))];`);
    expect(out).toEqual([
      expect.stringMatching(/^E_OUT_OF_MEMORY cannot allocate 4096 bytes .*vkAllocateMemory failed; 4096 are live/),
      expect.stringMatching(/^E_OUT_OF_MEMORY .*maxBufferSize/),
    ]);
  });

  it('that calls cannot wait for WebGPU, isolated or not', async () => {
    const body = `await cuda.open('webgpu'); const d = cuda.toDevice(Float32Array.of(1, 2));
      return [await code(() => d.copyToHost()), await code(() => d.get(0)), await code(() => cuda.synchronize()), await code(() => double.launch({ threads: 2 }, new Float32Array(2)))];`;
    for (const options of [{}, { headers: ISOLATED }]) {
      const { told: out } = await told(body, options);
      const instead = ['copyToHostAsync', 'getAsync', 'synchronizeAsync', 'launchAsync'];
      expect(out).toEqual(
        instead.map((name) => expect.stringMatching(new RegExp(`^E_NO_WAIT .*write await .*${name}`))),
      );
    }
  });

  it('that a device has been asked for and not been waited for', async () => {
    const { told: out, lines } = await told(`const later = cuda.open('webgpu');
      const d = cuda.toDevice(Float32Array.of(1, 2));
      const first = d.device?.kind ?? cuda.currentDevice().kind;
      await later;
      return [first, await code(() => double.launchAsync({ threads: 2 }, d)), await computed()];`);
    expect(out).toEqual(['cpu', expect.stringMatching(/^E_CONTEXT argument 1 .*cpu device 0.*copyToDevice/), '2,4']);
    expect(lines).toMatch(/no device has been opened: .*open\('webgpu'\) has not resolved yet: await it before this/);
    expect(lines).not.toMatch(/NVIDIA|TSAMBA_DEVICE/);
  });

  it('of arrays and buffers of another device', async () => {
    const { told: out } = await told(`await cuda.open('webgpu');
      const on = cuda.toDevice(Float32Array.of(1));
      const other = await (await navigator.gpu.requestAdapter()).requestDevice();
      const foreign = other.createBuffer({ size: 16, usage: 128 | 4 | 8 });
      const out = [
        await code(async () => (await cuda.fromGpuBuffer(foreign, { shape: 4, dtype: 'f32' }).copyToHostAsync()).join()),
        await code(() => double.launchAsync({ threads: 4 }, cuda.fromGpuBuffer(foreign, { shape: 4, dtype: 'f32' }))),
        await computed(),
      ];
      const own = cuda.gpuDevice().createBuffer({ size: 16, usage: 128 | 4 | 8 });
      const view = cuda.fromGpuBuffer(own, { shape: 4, dtype: 'f32' });
      own.destroy();
      out.push(await code(async () => (await view.copyToHostAsync()).join()), await computed());
      await cuda.open('cpu');
      out.push(await code(() => double.launchAsync({ threads: 1 }, on)), await computed());
      return out;`);
    const buffer = expect.stringMatching(/^E_GPU_BUFFER fromGpuBuffer takes a GPUBuffer of cuda\.gpuDevice\(\)/);
    const destroyed = expect.stringMatching(/^E_DRIVER .*destroyed/);
    const elsewhere = expect.stringMatching(/^E_CONTEXT argument 1 .*webgpu device 0/);
    expect(out).toEqual([buffer, buffer, '2,4', destroyed, '2,4', elsewhere, '2,4']);
  });

  it('which canvases WebGPU cannot draw on', async () => {
    const { told: out } = await told(`await cuda.open('webgpu');
      const picture = cuda.deviceArray([4, 4], 'u32');
      const [drawn, transferred] = [element(), element()];
      drawn.getContext('2d');
      const off = transferred.transferControlToOffscreen();
      const gone = cuda.deviceArray([4, 4], 'u32'); gone.dispose();
      return [
        await code(() => cuda.present(picture, drawn)),
        await code(() => cuda.present(picture, transferred)),
        await code(() => cuda.present(picture, off)),
        await code(() => cuda.present(cuda.deviceArray([2, 20000], 'u32'), element())),
        await code(() => cuda.present(cuda.deviceArray([0, 4], 'u32'), element())),
        await code(() => cuda.present(gone, element())),
        await code(() => cuda.present(picture, element())),
      ];`);
    expect(out).toEqual([
      expect.stringMatching(/^E_CANVAS .*another kind/),
      expect.stringMatching(/^E_CANVAS .*present to the OffscreenCanvas/),
      'fine',
      expect.stringMatching(/^E_CANVAS .*20000 x 2 pixels .*at most \d+ pixels wide/),
      'fine',
      expect.stringMatching(/^E_DISPOSED /),
      'fine',
    ]);
  });

  it('what a strict policy forbids, which WebGPU needs nothing of', async () => {
    const headers = { ...ISOLATED, 'Content-Security-Policy': "default-src 'self'" };
    const simulated = `cuda.selectDevice('simulator'); return (await computed());`;
    const { told: out } = await told(
      `const out = [await computed(), await code(async () => { ${simulated} })];
       await cuda.open('webgpu');
       return [...out, await computed()];`,
      { headers },
    );
    expect(out).toEqual([
      expect.stringMatching(/^E_NO_WEBASSEMBLY .*'wasm-unsafe-eval'/),
      expect.stringMatching(/^E_NO_EVAL .*'unsafe-eval'/),
      '2,4',
    ]);
  });

  it('which type a number has that WebGPU does not have', async () => {
    const { told: out, lines } = await told(`await cuda.open('webgpu');
      const body = (a, by) => { const i = cuda.grid(1); if (i < a.length) a[i] = Math.sin(by); };
      const d = cuda.deviceArray(1, 'i32');
      const chosen = cuda.jit(body, { defaultFloat: 'f32' });
      return [
        await code(() => cuda.jit(body).launchAsync({ threads: 1 }, d, 1)),
        await code(() => cuda.jit(body).launchAsync({ threads: 1 }, d, cuda.scalar('f32', 1))),
        await code(() => chosen.launchAsync({ threads: 1 }, d, 1)),
      ];`);
    expect(out).toEqual([
      expect.stringMatching(/^E_F64 [\s\S]*takes by as f64[\s\S]*f32\(by\).*cuda\.scalar\(f32.*defaultFloat: 'f32'/),
      'fine',
      'fine',
    ]);
    expect(lines.match(/TSAMBA_DEFAULT_FLOAT/g)).toHaveLength(1);
  });

  it('to use a plugin, of names that bundlers make', async () => {
    const { told: out } =
      await told(`const k = cuda.jit((a) => { a[0] = __TURBOPACK__imported__module__app$2e$js__.gain; });
      return [await code(() => k.launchAsync({ threads: 1 }, cuda.deviceArray(1, 'f32')))];`);
    expect(out[0]).toMatch(/^K010 K010: this name was made by a bundler[\s\S]*use Tsamba's plugin for your bundler/);
    expect(out[0]).not.toMatch(/captures: \{/);
  });

  it('nothing when it comes back from the cache of pages', async () => {
    const page = await browser.open();
    await page.run(`${LOAD} await cuda.open('webgpu'); Object.assign(globalThis, { computed });
      await computed(); addEventListener('pageshow', ({ persisted }) => { globalThis.persisted = persisted; });`);
    const url = await page.run('return location.href');
    await page.go('about:blank');
    await page.back(String(url));
    // A browser that kept nothing has loaded the page anew.
    expect(await page.run(`return globalThis.persisted ? computed() : '2,4'`)).toBe('2,4');
    await page.close();
  });
});

describe.skipIf(findFirefox() === undefined && !isRequired('firefox'))('a page of Firefox is told', () => {
  it('of canvases, arrays and kernels on the CPU device, and that there is no WebGPU', async () => {
    const body = `${LOAD} ${CPU_ONLY} out.push(navigator.gpu === undefined ? await code(() => cuda.open('webgpu')) : 'E_NO_DEVICE this browser has no WebGPU'); return out;`;
    expect(await runInFirefox(body, FOLDERS)).toEqual([
      ...CPU_TOLD,
      expect.stringMatching(/^E_NO_DEVICE .*this browser has no WebGPU/),
    ]);
  }, 120_000);

  it('what a policy forbids', async () => {
    const headers = { 'Content-Security-Policy': "script-src 'self' 'unsafe-inline'" };
    const body = `${LOAD} return [await computed(), await code(async () => { cuda.selectDevice('simulator'); return computed(); })];`;
    expect(await runInFirefox(body, FOLDERS, { headers })).toEqual([
      expect.stringMatching(/^E_NO_WEBASSEMBLY .*'wasm-unsafe-eval'/),
      expect.stringMatching(/^E_NO_EVAL .*'unsafe-eval'/),
    ]);
  }, 120_000);
});
