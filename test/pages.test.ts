/**
 * The built package in pages of Chromium: loaded as ES modules and bundled, isolated and not, and what a page is told that lacks something. Skipped without Chromium, unless TSAMBA_TEST_REQUIRE
 * names `chromium`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import tsamba from '../src/plugins/esbuild.ts';
import { isRequired } from '../src/required.testing.ts';
import { Chromium, findChromium, ISOLATED, type PageOptions, type Served } from './support/chromium.ts';

const dist: string = fileURLToPath(new URL('../dist', import.meta.url));

const DOUBLE = `const double = cuda.jit((a) => { const i = cuda.grid(1); if (i < a.length) a[i] *= 2; });`;
const PROGRAM = `import { cuda } from 'tsamba'; ${DOUBLE}
  const d = cuda.toDevice(Float32Array.of(1, 2, 3));
  await double.launchAsync({ threads: 3 }, d);
  globalThis.outcome = Array.from(await d.copyToHostAsync());
  globalThis.opened = cuda;`;

/** Captures are named in code that is minified. */
const MINIFIABLE = PROGRAM.replace('cuda.jit((a) => {', 'cuda.jit(({ cuda }) => (a) => {').replace(
  'a[i] *= 2; })',
  'a[i] *= 2; }, { captures: { cuda } })',
);

/** The library in a bundle, of which nothing has been used. */
const FRESH = `import { cuda } from 'tsamba'; globalThis.cuda = cuda;`;

/** As it is written, for the plugin. */
const NATURAL = `import { cuda } from 'tsamba';
  const saxpy = cuda.jit((a, x, y) => { const i = cuda.grid(1); if (i < y.length) y[i] = a * x[i] + y[i]; });
  const y = cuda.toDevice(Float32Array.of(1, 2, 3));
  await saxpy.launchAsync({ threads: 3 }, 2, cuda.toDevice(Float32Array.of(1, 1, 1)), y);
  globalThis.outcome = Array.from(await y.copyToHostAsync());
  globalThis.open = (device) => cuda.open(device);`;

/** What a program loads of the library that computes on one kind of device, or on both. */
interface Loaded {
  readonly first: number;
  readonly cpu: number;
  readonly webgpu: number;
  readonly both: number;
  /** With a typical kernel. */
  readonly cpuUsual: number;
  readonly webgpuUsual: number;
}

/** What is loaded on demand: what every kernel is compiled by, and what each device adds to that. */
const COMPILER = '/compiler/compiling.';
const CPU = '/driver/cpu/runner.';
const WEBGPU = '/driver/webgpu/index.';

interface Bundled {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** Bytes, minified and compressed by gzip. */
  readonly loaded: Loaded;
}

/** A program that is bundled for pages, as esbuild finds the package there. */
async function bundled(contents: string, entryNames = 'stdin', plugins: Plugin[] = []): Promise<Bundled> {
  // Plugins see files.
  const folder = plugins.length > 0 ? mkdtempSync(join(tmpdir(), 'tsamba-pages-')) : dist;
  const file = join(folder, 'stdin.js');
  if (plugins.length > 0) writeFileSync(file, contents);
  const { outputFiles, metafile } = await build({
    bundle: true,
    format: 'esm',
    minify: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: folder,
    plugins,
    entryNames: `[dir]/${entryNames === 'stdin' ? '[name]' : entryNames}`,
    chunkNames: '[name]-[hash]',
    ...(plugins.length > 0 ? { entryPoints: [file] } : { stdin: { contents, resolveDir: dist } }),
    alias: { tsamba: `${dist}/page/index.js`, 'tsamba/cuda': `${dist}/page/cuda/index.js` },
  });
  if (plugins.length > 0) rmSync(folder, { recursive: true });
  const files = outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const sizes = new Map(files.map(({ name, text }) => [name, gzipSync(text).length]));
  /** What is loaded with the program, and with the files of these names that it loads by `import()`. */
  const size = (...kinds: readonly string[]): number => {
    const seen = new Set<string>();
    const load = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      for (const { path, kind } of outputs.get(name)?.imports ?? [])
        if (kind === 'import-statement') load(basename(path));
    };
    for (const [name, { entryPoint = '' }] of outputs)
      if (entryPoint.includes('stdin') || kinds.some((kind) => entryPoint.includes(kind))) load(name);
    return [...seen].reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
  };
  return {
    files,
    loaded: {
      first: size(),
      cpu: size(COMPILER, CPU),
      webgpu: size(COMPILER, WEBGPU),
      both: size(COMPILER, CPU, WEBGPU),
      cpuUsual: size(COMPILER, CPU, '/all-simple.', '/all-cpu-simple.', '/all-usual.', '/all-cpu-usual.'),
      webgpuUsual: size(COMPILER, WEBGPU, '/all-simple.', '/all-webgpu-simple.', '/all-usual.', '/all-webgpu-usual.'),
    },
  };
}

describe('what is bundled for pages', () => {
  // Bounds are a little above what was measured. Of the first launch: what is loaded at once, and by a launch on the CPU device, on WebGPU, on both; what typical kernels load takes nothing of the other device.
  it.each<[string, string, Loaded, Plugin[]?]>([
    [
      'the namespace and the plugin',
      NATURAL,
      { first: 93_600, cpu: 161_300, webgpu: 158_400, both: 186_100, cpuUsual: 248_400, webgpuUsual: 204_600 },
      [tsamba() as Plugin],
    ],
    [
      'the namespace',
      MINIFIABLE,
      { first: 162_300, cpu: 230_100, webgpu: 227_200, both: 254_900, cpuUsual: 317_200, webgpuUsual: 273_300 },
    ],
    [
      'names',
      MINIFIABLE.replace("{ cuda } from 'tsamba'", "* as cuda from 'tsamba/cuda'")
        .replace('captures: { cuda }', 'captures: { cuda: { grid: cuda.grid } }')
        .replace('opened = cuda', 'opened = cuda.open'),
      { first: 93_400, cpu: 161_100, webgpu: 158_300, both: 185_900, cpuUsual: 248_200, webgpuUsual: 204_400 },
    ],
  ])('is small with %s, and has no driver of system libraries', async (_, program, most, plugins) => {
    const { files, loaded } = await bundled(program, 'stdin', plugins);
    expect(files.map(({ text }) => text).join('')).not.toMatch(/cuLaunchKernel|clEnqueueNDRangeKernel/);
    const over = Object.entries(loaded).filter(([what, bytes]) => bytes > most[what as keyof Loaded]);
    expect(over).toEqual([]);
    // What is loaded on demand is not in what is loaded at once.
    expect(loaded.first + 63_000).toBeLessThan(Math.min(loaded.webgpu, loaded.cpu));
  });
});

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('pages', () => {
  let browser: Chromium;

  beforeAll(async () => {
    const programs = [
      await bundled(MINIFIABLE),
      await bundled(FRESH, 'fresh'),
      await bundled(NATURAL, 'natural', [tsamba() as Plugin]),
    ];
    // What keeps time in hidden pages cannot be loaded here.
    const files = programs.flatMap((program) => program.files).filter(({ name }) => !name.startsWith('worker-clock-'));
    const served: [string, Served][] = files.map(({ name, text }) => [name, { type: 'text/javascript', body: text }]);
    // A pixel, for who asks for it by another name of the server, which is another origin.
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    served.push(['foreign.png', { type: 'image/png', body: Buffer.from(pixel, 'base64') }]);
    browser = await Chromium.start({ dist }, Object.fromEntries(served));
  });
  afterAll(() => browser?.close());

  /** What a body gives in a page of its own, with what the page printed; a rejection is its code and message. */
  async function inPage(body: string, options: PageOptions = {}): Promise<{ result: unknown; lines: string[] }> {
    const page = await browser.open(options);
    const coded = `try { ${body} } catch (error) { return (error.code ?? error.name) + ' ' + error.message; }`;
    const result = await page.run(coded);
    const { lines } = page;
    await page.close();
    return { result, lines };
  }

  it('run a program as it is written, bundled with the plugin, on both devices', async () => {
    const { result } = await inPage(
      `await import('./natural.js'); const first = outcome; await open('webgpu'); return first;`,
    );
    expect(result).toEqual([3, 4, 5]);
  });

  const LOAD = `const { cuda } = await import('./dist/index.js'); ${DOUBLE}`;

  it('take the package as ES modules, and minified in a bundle, which loads WebGPU when it is opened', async () => {
    const map = `<script type="importmap">{ "imports": { "tsamba": "./dist/index.js" } }</script><script type="module">${PROGRAM}</script>`;
    const alone = await inPage('return outcome;', { head: map });
    const loaded = `performance.getEntriesByType('resource').some(({ name }) => /webgpu-/.test(name))`;
    const inBundle = await inPage(`await import('./stdin.js'); const before = ${loaded};
      await opened.open('webgpu'); const { name, type } = opened.currentDevice(); return [outcome, before, ${loaded}, name, type];`);
    expect(alone.result).toEqual([2, 4, 6]);
    // Chromium computes on the processor here.
    expect(inBundle.result).toEqual([[2, 4, 6], false, true, expect.stringContaining('WebGPU'), 'cpu']);
  });

  const EVERY = `await import('./fresh.js');
    const double = cuda.jit(({ cuda }) => (a) => { const i = cuda.grid(1); if (i < a.length) a[i] *= 2; }, { captures: { cuda } });
    const bessel = cuda.jit(({ cuda }) => (a) => { if (cuda.grid(1) === 0) a[0] = cuda.j0(a[0]); }, { captures: { cuda } });
    const now = (kernel, d) => { try { kernel.launch({ threads: 3 }, d); return 'done'; } catch (error) { return error.code + ' ' + error.message; } };`;

  it('load what compiles when it is needed, and keep the order of calls meanwhile', async () => {
    const { result } = await inPage(`${EVERY}
      const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      const out = [now(double, d)];
      const launched = [double.launchAsync({ threads: 3 }, d), bessel.launchAsync({ threads: 1 }, d), double.launchAsync({ threads: 3 }, d)];
      const read = d.copyToHostAsync();
      const early = now(double, d);
      out.push(Array.from(await read));
      await Promise.all(launched);
      return [...out, early, now(double, d), Array.from(d.copyToHost())];`);
    const [first, read, early, later, last] = result as [string, number[], string, string, number[]];
    expect(first).toMatch(/^E_NO_WAIT .*await cuda\.open\('cpu'\) first/);
    expect(early).toMatch(/^E_NO_WAIT /);
    expect(read).toEqual([expect.closeTo(2 * 0.2238907791, 5), 8, 12]);
    expect([later, last]).toEqual(['done', [expect.closeTo(4 * 0.2238907791, 5), 16, 24]]);
  });

  it('wait for no promise once the CPU device has been opened by one', async () => {
    const { result } = await inPage(`${EVERY} const d = cuda.toDevice(Float32Array.of(0, 2, 3)); await cuda.open('cpu');
      return [now(double, d), now(bessel, d), Array.from(d.copyToHost())];`);
    expect(result).toEqual(['done', 'done', [1, 4, 6]]);
  });

  it('show WebAssembly, once all has been loaded', async () => {
    const { result } = await inPage(`${EVERY}
      const shown = () => { try { return double.inspect({ target: 'wasm' }); } catch (error) { return error.code; } };
      await double.launchAsync({ threads: 3 }, cuda.deviceArray(3, 'f32'));
      const early = shown();
      await cuda.open('cpu');
      return [early, shown()];`);
    expect(result).toEqual(['E_NO_WAIT', expect.stringMatching(/f32x4\.(?:mul|add)/)]);
  });

  it('load what few kernels call', async () => {
    const { result } = await inPage(`${EVERY}
      const factorial = function factorial(n) { if (n < 2) return 1; return n * factorial(n - 1); };
      const again = cuda.jit(({ cuda, factorial }) => (a) => { const i = cuda.grid(1); if (i < a.length) a[i] = factorial((i % 4) + 2); }, { captures: { cuda, factorial }, maxRecursion: 8 });
      const sort = cuda.jit(({ cuda }) => (a) => { if (cuda.grid(1) === 0) a.subarray(0, 3).sort((x, y) => x - y); }, { captures: { cuda } });
      const swap = cuda.jit(({ cuda }) => (a) => { const i = cuda.grid(1); a[i] = cuda.shflXorSync(0xffffffff, a[i], 1); }, { captures: { cuda } });
      const d = cuda.deviceArray(32, 'i32');
      await Promise.all([again.launchAsync({ threads: 32, block: 32 }, d), swap.launchAsync({ threads: 32, block: 32 }, d), sort.launchAsync({ threads: 1 }, d)]);
      return Array.from((await d.copyToHostAsync()).slice(0, 4));`);
    expect(result).toEqual([2, 6, 120, 24]);
  });

  it.each(['cpu', 'webgpu'])('load for kernels on %s what they need, and no more', async (device) => {
    const { result } = await inPage(`${EVERY}
      if ('${device}' === 'webgpu') await cuda.open('webgpu');
      const loaded = () => [...new Set(performance.getEntriesByType('resource').flatMap(({ name }) => /all-(simple|usual|rest|texts)-/.exec(name)?.[1] ?? []))].sort();
      const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      const simple = cuda.jit(({ cuda }) => (y, x, least) => { const i = cuda.grid(1); if (i >= y.length) return; y[i] = x[i] > least ? x[i] - 1 : 0; }, { captures: { cuda } });
      const usual = cuda.jit(({ cuda }) => (a) => {
        const part = cuda.shared.array(4, 'f32');
        const t = cuda.threadIdx.x;
        part[t] = t < a.length ? a[t] : 0;
        cuda.syncThreads();
        let sum = 0;
        for (let k = 0; k < 4; k++) sum += part[k] * Math.cos(0);
        if (t < a.length) a[t] = sum;
      }, { captures: { cuda } });
      const rare = cuda.jit(({ cuda }) => (a) => { const i = cuda.grid(1); if (i < a.length) a[i] += 3 + [1, 2, 3].map((v) => v * v).reduce((s, v) => s + v, 0); }, { captures: { cuda } });
      const out = [];
      await double.launchAsync({ threads: 3 }, d);
      out.push(loaded());
      await simple.launchAsync({ threads: 3 }, d, d, 2);
      out.push(loaded());
      await usual.launchAsync({ grid: 1, block: 4 }, d);
      out.push(loaded());
      await rare.launchAsync({ threads: 3 }, d);
      out.push(loaded());
      const wrong = cuda.jit(({ cuda }) => (a) => { a.nothing = 1; }, { captures: { cuda } });
      out.push(await wrong.launchAsync({ threads: 3 }, d).catch((error) => error.code));
      return [...out, Array.from(await d.copyToHostAsync())];`);
    expect(result).toEqual([
      [],
      ['simple'],
      ['simple', 'usual'],
      ['rest', 'simple', 'usual'],
      expect.stringMatching(/^K\d+$/),
      [25, 25, 25],
    ]);
  });

  it('run a kernel at other sizes, without waiting, that has been launched by a promise', async () => {
    const { result } = await inPage(`${EVERY}
      const big = cuda.deviceArray(200000, 'f32');
      const fill = cuda.jit(({ cuda }) => (a) => { for (let i = cuda.grid(1); i < a.length; i += cuda.gridSize(1)) { let s = 0; for (let k = 0; k < 200; k++) s += Math.sqrt(i + k); a[i] = s; } }, { captures: { cuda } });
      await fill.launchAsync({ grid: 1, block: 64 }, cuda.deviceArray(4, 'f32'));
      for (let k = 0; k < 5; k++) fill.launch({ grid: 64, block: 64 }, big);
      const [first] = big.copyToHost();
      let sum = 0;
      for (let k = 0; k < 200; k++) sum = Math.fround(sum + Math.fround(Math.sqrt(k)));
      return Math.abs(first / sum - 1) < 1e-5;`);
    expect(result).toBe(true);
  });

  it('load what asks adapters that may end loops early, where they have one of those, and refuse it if it does', async () => {
    const asked = `performance.getEntriesByType('resource').some(({ name }) => /\\/examine-/.test(name))`;
    const open = `${EVERY} await cuda.open('webgpu'); const d = cuda.toDevice(Float32Array.of(1, 2, 3));
      await double.launchAsync({ threads: 3 }, d); return [Array.from(await d.copyToHostAsync()), ${asked}];`;
    const called = `Object.defineProperty(GPUAdapter.prototype, 'info', { get: () => ({ vendor: 'mesa', architecture: '', device: '', description: 'llvmpipe' }) });`;
    const ending = `const make = GPUDevice.prototype.createShaderModule;
      GPUDevice.prototype.createShaderModule = function (module) {
        return make.call(this, { ...module, code: module.code.replace('n == words[0]', 'n == min(words[0], 65535u)') });
      };`;
    expect((await inPage(open)).result).toEqual([[2, 4, 6], false]);
    expect((await inPage(`${called} ${open}`)).result).toEqual([[2, 4, 6], true]);
    const { result } = await inPage(`${called} ${ending} ${open}`);
    expect(result).toMatch(/^E_NO_DEVICE .*llvmpipe leaves the loops of a kernel after 65,535 rounds/);
  });

  it('pause by their own timers where nobody sees them and nothing else that keeps time can be loaded', async () => {
    const page = await browser.open({ headers: ISOLATED });
    const other = await browser.open();
    const result = await page.run(`${EVERY} await cuda.open('cpu');
      const slow = cuda.jit(({ cuda }) => (a) => { const i = cuda.grid(1); let s = 0; for (let k = 0; k < 50000; k++) s = Math.sqrt(s + i + k); a[i] = s > 0 ? i : 0; }, { captures: { cuda } });
      const d = cuda.deviceArray(1024, 'f32');
      await slow.launchAsync({ threads: 1024 }, d);
      const asked = performance.getEntriesByType('resource').some(({ name }) => /\\/worker-clock-/.test(name));
      return [document.visibilityState, asked, (await d.copyToHostAsync())[1023]];`);
    await other.close();
    await page.close();
    expect(result).toEqual(['hidden', true, 1023]);
  });

  it('load special functions for WebGPU', async () => {
    const { result } = await inPage(`${EVERY} await cuda.open('webgpu');
      const d = cuda.toDevice(Float32Array.of(0, 2, 3)); await bessel.launchAsync({ threads: 1 }, d); return Array.from(await d.copyToHostAsync());`);
    expect(result).toEqual([1, 2, 3]);
  });

  it('compute on all cores beside the event loop where they are isolated, and say why they do not where they are not', async () => {
    const body = `${LOAD}
      const slow = cuda.jit((a) => { const i = cuda.grid(1); let s = 0; for (let k = 0; k < 3000000; k++) s = Math.sqrt(s + i + k); a[i] = s; });
      const a = cuda.deviceArray(8, 'f32');
      let turns = 0;
      const timer = setInterval(() => turns++, 1);
      await slow.launchAsync({ grid: 8, block: 1 }, a);
      clearInterval(timer);
      const done = await a.copyToHostAsync();
      return [cuda.currentDevice().name, cuda.currentDevice().fallbackReason, turns > 0, done.every((v) => v > 1000)];`;
    const [alone, together] = [await inPage(body), await inPage(body, { headers: ISOLATED })];
    expect(alone.result).toEqual([
      'CPU (WebAssembly, 1 thread)',
      expect.stringContaining('the page is not cross-origin isolated'),
      true,
      true,
    ]);
    expect(together.result).toEqual([
      expect.stringMatching(/^CPU \(WebAssembly, [2-9]\d* threads\)$/),
      expect.not.stringContaining('isolated'),
      true,
      true,
    ]);
  });

  it('wait in a synchronous call for a kernel that no worker has begun', async () => {
    const { result } = await inPage(
      `${LOAD} const d = cuda.toDevice(Float32Array.of(1, 2)); const later = double.launchAsync({ threads: 2 }, d);
       const now = Array.from(d.copyToHost()); await later; return now;`,
      { headers: ISOLATED },
    );
    expect(result).toEqual([2, 4]);
  });

  it('are told what their content security policy forbids', async () => {
    const policy = (text: string): PageOptions => ({ headers: { ...ISOLATED, 'Content-Security-Policy': text } });
    const launch = `${LOAD} const d = cuda.toDevice(Float32Array.of(1, 2)); await double.launchAsync({ threads: 2 }, d); return Array.from(await d.copyToHostAsync());`;
    const refused = await inPage(launch, policy("script-src 'self'"));
    expect(refused.result).toMatch(/^E_NO_WEBASSEMBLY .*add 'wasm-unsafe-eval' to its script-src/);
    const alone = await inPage(launch, policy("script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"));
    expect(alone.result).toEqual([2, 4]);
    expect(alone.lines.join('\n')).toContain("worker-src 'self' blob:");
  });

  it('are told that a variable cannot be seen, also where the window has one of the name', async () => {
    const { result } = await inPage(
      `${LOAD} const length = 3; const k = cuda.jit((a) => { a[0] = length; }); k.launch({ threads: 1 }, cuda.deviceArray(1, 'f32'));`,
    );
    expect(result).toMatch(/^K010 .*length/);
  });

  it.each([
    [
      'there is no WebGPU',
      `Object.defineProperty(navigator, 'gpu', { value: undefined });`,
      /^E_NO_DEVICE .*navigator\.gpu/,
    ],
    [
      'there is no adapter',
      `GPU.prototype.requestAdapter = async () => null;`,
      /^E_NO_DEVICE there is no WebGPU device: .* offers no adapter/,
    ],
  ])('are told that %s', async (_, before, message) => {
    const { result } = await inPage(`${LOAD} ${before} await cuda.open('webgpu');`);
    expect(result).toMatch(message);
  });

  it('are told of an array that is too large for a buffer, and of a device that is lost', async () => {
    const large = await inPage(`${LOAD} await cuda.open('webgpu'); cuda.deviceArray(2 ** 31, 'f32');`);
    expect(large.result).toMatch(/^E_OUT_OF_MEMORY cannot allocate 8589934592 bytes .*maxBufferSize/);
    const lost = await inPage(`${LOAD}
      const request = GPUAdapter.prototype.requestDevice;
      let gpu;
      GPUAdapter.prototype.requestDevice = async function (...args) { return (gpu = await request.apply(this, args)); };
      await cuda.open('webgpu');
      const d = cuda.toDevice(Float32Array.of(1, 2));
      gpu.destroy();
      await gpu.lost;
      await d.copyToHostAsync();`);
    expect(lost.result).toMatch(/^E_DEVICE_LOST .*is lost \(destroyed: .*open it again/);
  });

  it('share buffers of WebGPU with arrays, both ways', async () => {
    const { result } = await inPage(`${LOAD} await cuda.open('webgpu');
      const device = cuda.gpuDevice();
      const buffer = device.createBuffer({ size: 32, usage: 128 | 4 | 8 });
      device.queue.writeBuffer(buffer, 0, Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
      const d = cuda.fromGpuBuffer(buffer, { shape: 3, dtype: 'f32', offset: 16 });
      await double.launchAsync({ threads: 3 }, d);
      const out = [Array.from(await d.copyToHostAsync()), d.gpuBuffer === buffer, d.gpuOffset];
      d.dispose();
      const whole = cuda.fromGpuBuffer(buffer, { shape: 8, dtype: 'f32' });
      out.push(Array.from(await whole.copyToHostAsync()));
      const wrong = [[{}, 1], [device.createBuffer({ size: 32, usage: 128 }), 1], [buffer, 9]];
      for (const [given, shape] of wrong) try { cuda.fromGpuBuffer(given, { shape, dtype: 'f32' }); } catch (error) { out.push(error.code); }
      await cuda.open('cpu');
      try { cuda.gpuDevice(); } catch (error) { out.push(error.code); }
      return out;`);
    const codes = ['E_GPU_BUFFER', 'E_GPU_BUFFER', 'E_GPU_BUFFER', 'E_NO_GPU_BUFFER'];
    expect(result).toEqual([[10, 12, 14], true, 16, [1, 2, 3, 4, 10, 12, 14, 8], ...codes]);
  });

  /** A picture of 5 by 3 pixels, opaque: red is 40 times the column, green 80 times the row, blue 7. */
  const PICTURE = `
    const pixels = new ImageData(5, 3);
    for (let i = 0; i < 15; i++) pixels.data.set([40 * (i % 5), 80 * Math.floor(i / 5), 7, 255], 4 * i);
    const drawing = (kind) => { const c = kind ? new OffscreenCanvas(5, 3) : Object.assign(document.createElement('canvas'), { width: 5, height: 3 }); c.getContext('2d').putImageData(pixels, 0, 0); return c; };
    const code = async (body) => { try { return await body(); } catch (error) { return error.code + ' ' + error.message; } };`;

  it.each(['webgpu', 'cpu'])('take pictures of all kinds as arrays, on %s', async (device) => {
    const { result } = await inPage(`${LOAD} ${PICTURE} await cuda.open('${device}');
      const element = new Image(); element.src = drawing(false).toDataURL(); await element.decode();
      const canvas = drawing(true);
      const pictures = [pixels, canvas, drawing(false), await createImageBitmap(canvas), element, new VideoFrame(drawing(false), { timestamp: 0 })];
      const same = [];
      for (const picture of pictures) {
        const d = cuda.toDevice(picture);
        const bytes = await d.copyToHostAsync();
        same.push([d.shape.join(), d.dtype.name, String(bytes.data) === String(pixels.data)].join(' '));
      }
      const to = cuda.deviceArray([3, 5, 4], 'uint8');
      cuda.toDevice(canvas, { to });
      const sort = cuda.jit(({ cuda }) => (a) => { if (cuda.grid(1) === 0) a.subarray(0, 3).sort((x, y) => x - y); }, { captures: { cuda } });
      const swap = cuda.jit((out, picture) => { const [x, y] = cuda.grid(2); if (x < 5 && y < 3) out[y][x] = picture[y][x][0] + picture[y][x][1]; });
      const sums = cuda.deviceArray([3, 5], 'i32');
      await swap.launchAsync({ threads: [5, 3] }, sums, canvas);
      return [same, String((await to.copyToHostAsync()).data) === String(pixels.data), Array.from((await sums.copyToHostAsync()).data).join()];`);
    const sums = Array.from({ length: 15 }, (_, i) => 40 * (i % 5) + 80 * Math.floor(i / 5)).join();
    expect(result).toEqual([Array.from({ length: 6 }, () => '3,5,4 u8 true'), true, sums]);
  });

  it.each(['webgpu', 'cpu'])('are told what cannot be read of a picture, on %s', async (device) => {
    const { result } = await inPage(
      `${LOAD} ${PICTURE} await cuda.open('${device}');
      const bitmap = await createImageBitmap(drawing(true)); bitmap.close();
      const frame = new VideoFrame(drawing(false), { timestamp: 0 }); frame.close();
      const foreign = new Image(); foreign.src = ${JSON.stringify('FOREIGN')}; await foreign.decode();
      const tainted = drawing(false); tainted.getContext('2d').drawImage(foreign, 0, 0);
      const empty = document.createElement('canvas'); empty.width = 0;
      return [
        ...await Promise.all([bitmap, frame, new Image(), document.createElement('video'), tainted].map((picture) => code(() => cuda.toDevice(picture)))),
        await code(() => cuda.toDevice(drawing(true), { to: cuda.deviceArray([3, 4, 4], 'uint8') })),
        await code(() => cuda.toDevice(drawing(true), { dtype: 'f32' })),
        cuda.toDevice(empty).shape.join(),
      ];`.replace('"FOREIGN"', '`http://localhost:${location.port}${location.pathname}foreign.png`'),
    );
    expect(result).toEqual([
      expect.stringMatching(/^E_IMAGE .*ImageBitmap: it has been closed/),
      expect.stringMatching(/^E_IMAGE .*VideoFrame: it has been closed/),
      expect.stringMatching(/^E_IMAGE .*HTMLImageElement: it has not been loaded/),
      expect.stringMatching(/^E_IMAGE .*HTMLVideoElement: it has no frame yet/),
      expect.stringMatching(/^E_IMAGE .*HTMLCanvasElement: it comes from another origin/),
      expect.stringMatching(/^E_SHAPE/),
      expect.stringMatching(/^E_DTYPE_MISMATCH/),
      '150,0,4',
    ]);
  });

  it('read textures of WebGPU, and are told of those that cannot be read', async () => {
    const { result } = await inPage(`${LOAD} ${PICTURE} await cuda.open('webgpu');
      const device = cuda.gpuDevice();
      const texture = (format, usage = 2 | 4 | 16, on = device) => on.createTexture({ size: [5, 3], format, usage });
      const bytes = texture('bgra8unorm');
      device.queue.copyExternalImageToTexture({ source: drawing(true) }, { texture: bytes }, [5, 3]);
      const floats = texture('rgba32float');
      const values = Float32Array.from({ length: 60 }, (_, i) => i / 8);
      device.queue.writeTexture({ texture: floats }, values, { bytesPerRow: 80 }, [5, 3]);
      const out = [
        String((await cuda.toDevice(bytes).copyToHostAsync()).data) === String(pixels.data),
        String((await cuda.toDevice(floats).copyToHostAsync()).data) === String(values),
        await code(() => cuda.toDevice(texture('rgba8unorm', 2))),
        await code(() => cuda.toDevice(texture('r8unorm'))),
      ];
      const other = await (await navigator.gpu.requestAdapter()).requestDevice();
      const foreign = cuda.toDevice(texture('rgba8unorm', 2 | 4 | 16, other));
      out.push(await code(() => foreign.copyToHostAsync()));
      await cuda.open('cpu');
      out.push(await code(() => cuda.toDevice(bytes)));
      return out;`);
    expect(result).toEqual([
      true,
      true,
      expect.stringMatching(/^E_IMAGE .*TEXTURE_BINDING/),
      expect.stringMatching(/^E_IMAGE .*r8unorm/),
      expect.stringMatching(/^E_IMAGE a picture cannot be read/),
      expect.stringMatching(/^E_NO_GPU_BUFFER a GPUTexture is for WebGPU/),
    ]);
  });

  it.each(['webgpu', 'cpu'])('show pictures on a canvas, on %s', async (device) => {
    const { result } = await inPage(`${LOAD} await cuda.open('${device}');
      const canvas = () => document.body.appendChild(document.createElement('canvas'));
      const pixels = async (picture, target) => {
        await cuda.present(picture, target);
        const plain = new OffscreenCanvas(target.width, target.height).getContext('2d');
        plain.drawImage(target, 0, 0);
        return Array.from(plain.getImageData(0, 0, target.width, target.height).data).join();
      };
      const fill = cuda.jit((p) => { const i = cuda.grid(1); if (i < 60) p[(i / 20) | 0][((i / 4) | 0) % 5][i % 4] = i % 4 === 3 ? 255 : 4 * i; });
      const bytes = cuda.deviceArray([3, 5, 4], 'uint8');
      await fill.launchAsync({ threads: 60 }, bytes);
      const floats = cuda.toDevice(Float32Array.of(1, 0, 2, 1, 0, 0.2, -1, 1)).reshape([1, 2, 4]);
      const [one, two] = [canvas(), canvas()];
      const out = [await pixels(bytes, one), await pixels(floats, two), await pixels(bytes, one) === await pixels(bytes, canvas()), one.width];
      const wrong = [[cuda.deviceArray([3, 5], 'f32'), one], [bytes, {}], [bytes, Object.assign(canvas(), { getContext: () => null })]];
      for (const [picture, target] of wrong) try { await cuda.present(picture, target); } catch (error) { out.push(error.code); }
      return out;`);
    const expected = Array.from({ length: 60 }, (_, i) => (i % 4 === 3 ? 255 : 4 * i)).join();
    expect(result).toEqual([expected, '255,0,255,255,0,51,0,255', true, 5, 'E_PICTURE', 'E_CANVAS', 'E_CANVAS']);
  });
});
