/**
 * The built package in pages of Chromium: loaded as ES modules and bundled, isolated and not, and what a page is told that lacks something. Skipped without Chromium, unless TSAMBA_TEST_REQUIRE
 * names `chromium`.
 */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { parseExpressionAt } from 'acorn';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { Chromium, findChromium, ISOLATED, type PageOptions } from './support/chromium.ts';

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

/** What a program loads of the library that computes on one kind of device, or on both. */
interface Loaded {
  readonly first: number;
  readonly cpu: number;
  readonly webgpu: number;
  readonly both: number;
}

/** What every kernel is compiled by, of what is loaded on demand. */
const COMPILER = ['/compiler/compile.', '/compiler/frontend/capture.', '/compiler/ir/print.'];

interface Bundled {
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** Bytes, minified and compressed by gzip. */
  readonly loaded: Loaded;
}

/** A program that is bundled for pages, as esbuild finds the package there. */
async function bundled(contents: string, entryNames = 'stdin'): Promise<Bundled> {
  const { outputFiles, metafile } = await build({
    bundle: true,
    format: 'esm',
    minify: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: dist,
    entryNames: `[dir]/${entryNames === 'stdin' ? '[name]' : entryNames}`,
    chunkNames: '[name]-[hash]',
    stdin: { contents, resolveDir: dist },
    alias: { tsamba: `${dist}/page/index.js`, 'tsamba/cuda': `${dist}/page/cuda/index.js` },
  });
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
      cpu: size(...COMPILER, '/driver/cpu/'),
      webgpu: size(...COMPILER, '/driver/webgpu/'),
      both: size(...COMPILER, '/driver/cpu/', '/driver/webgpu/'),
    },
  };
}

describe('what is bundled for pages', () => {
  // Bounds are a little above what was measured, and only fall. Of the first launch: what is loaded at once, and by a launch on the CPU device, on WebGPU, on both.
  it.each<[string, string, Loaded]>([
    ['the namespace', MINIFIABLE, { first: 173_000, cpu: 427_000, webgpu: 384_000, both: 462_000 }],
    [
      'names',
      MINIFIABLE.replace("{ cuda } from 'tsamba'", "* as cuda from 'tsamba/cuda'")
        .replace('captures: { cuda }', 'captures: { cuda: { grid: cuda.grid } }')
        .replace('opened = cuda', 'opened = cuda.open'),
      { first: 116_000, cpu: 370_000, webgpu: 327_000, both: 405_000 },
    ],
  ])('is small with %s, and has no driver of system libraries', async (_, program, most) => {
    const { files, loaded } = await bundled(program);
    expect(files.map(({ text }) => text).join('')).not.toMatch(/cuLaunchKernel|clEnqueueNDRangeKernel/);
    const over = Object.entries(loaded).filter(([what, bytes]) => bytes > most[what as keyof Loaded]);
    expect(over).toEqual([]);
    // What is loaded on demand is not in what is loaded at once.
    expect(loaded.first + 150_000).toBeLessThan(Math.min(loaded.webgpu, loaded.cpu));
  });

  it('has a smaller parser, which reads the same', async () => {
    const small = (await import(`${dist}/page/packages/acorn/dist/acorn.js`)) as typeof import('acorn');
    const texts = [
      '(a, größe, 变量, \u{10400}x, $_1) => { a[0] = größe / 变量.length; if (/[/\\]]+(?<y>x)/u.test(`${a}`)) return a?.b ?? 0x1f; }',
      'class K { #p = 1n; static f({ x = 2, ...y }, z) { l: for (const [k] of y) { if (k) continue l; } return "\\u0041" + z; } }',
    ];
    const options = { ecmaVersion: 'latest' } as const;
    const show = (tree: unknown): string =>
      JSON.stringify(tree, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
    for (const text of texts)
      expect(show(small.parseExpressionAt(text, 0, options))).toBe(show(parseExpressionAt(text, 0, options)));
    expect(() => small.parseExpressionAt('(a) => { ° }', 0, options)).toThrow('Unexpected character');
  });
});

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('pages', () => {
  let browser: Chromium;

  beforeAll(async () => {
    const programs = [await bundled(MINIFIABLE), await bundled(FRESH, 'fresh')];
    const files = programs.flatMap((program) => program.files);
    const served = files.map(({ name, text }) => [name, { type: 'text/javascript', body: text }]);
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

  const LOAD = `const { cuda } = await import('./dist/index.js'); ${DOUBLE}`;

  it('take the package as ES modules, and minified in a bundle, which loads WebGPU when it is opened', async () => {
    const map = `<script type="importmap">{ "imports": { "tsamba": "./dist/index.js" } }</script><script type="module">${PROGRAM}</script>`;
    const alone = await inPage('return outcome;', { head: map });
    const loaded = `performance.getEntriesByType('resource').some(({ name }) => /webgpu-/.test(name))`;
    const inBundle = await inPage(`await import('./stdin.js'); const before = ${loaded};
      await opened.open('webgpu'); const device = opened.currentDevice().name; return [outcome, before, ${loaded}, device];`);
    expect(alone.result).toEqual([2, 4, 6]);
    expect(inBundle.result).toEqual([[2, 4, 6], false, true, expect.stringContaining('WebGPU')]);
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

  it('load what few kernels call', async () => {
    const { result } = await inPage(`${EVERY}
      const factorial = function factorial(n) { if (n < 2) return 1; return n * factorial(n - 1); };
      const again = cuda.jit(({ cuda, factorial }) => (a) => { const i = cuda.grid(1); if (i < a.length) a[i] = factorial((i % 4) + 2); }, { captures: { cuda, factorial }, maxRecursion: 8 });
      const swap = cuda.jit(({ cuda }) => (a) => { const i = cuda.grid(1); a[i] = cuda.shflXorSync(0xffffffff, a[i], 1); }, { captures: { cuda } });
      const d = cuda.deviceArray(32, 'i32');
      await Promise.all([again.launchAsync({ threads: 32, block: 32 }, d), swap.launchAsync({ threads: 32, block: 32 }, d)]);
      return Array.from((await d.copyToHostAsync()).slice(0, 4));`);
    expect(result).toEqual([6, 2, 120, 24]);
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
