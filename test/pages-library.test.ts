/**
 * The library's own kernels in a page of Chromium, bundled and minified without a plugin, where there is no inspector: what they need must come with them. On the CPU device and on WebGPU, against plain
 * JavaScript. Skipped without Chromium, unless TSAMBA_TEST_REQUIRE names `chromium`.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { Chromium, findChromium, type Served } from './support/chromium.ts';

const dist: string = fileURLToPath(new URL('../dist', import.meta.url));

/** Compared to plain JavaScript in the page: whole numbers, so that the order of sums makes no difference. */
const PROGRAM = `
  const { cuda, ndarray, parallel } = lib;
  await cuda.open(device);
  const wrong = [];
  const number = (k) => (k * 7) % 11;
  const list = (n) => Float32Array.from({ length: n }, (_, k) => number(k));
  const on = (...shape) => cuda.toDevice(ndarray(list(shape.reduce((a, b) => a * b, 1)), { shape }));
  const numbers = async (value) => {
    const given = await value;
    const read = given?.copyToHostAsync ? await given.copyToHostAsync() : given;
    return typeof read === 'number' ? [read] : Array.from(read.data ?? read);
  };
  const check = async (name, value, expected) => {
    try {
      const got = await numbers(value());
      if (String(got) !== String(Array.from(expected))) wrong.push(name + ': ' + got.slice(0, 8) + ' instead of ' + Array.from(expected).slice(0, 8));
    } catch (error) { wrong.push(name + ': ' + (error.code ?? error.name) + ' ' + error.message); }
  };
  const product = (m, k, n) => {
    const out = new Float32Array(m * n);
    for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) for (let l = 0; l < k; l++) out[i * n + j] += number(i * k + l) * number(l * n + j);
    return out;
  };
  for (const [m, k, n] of [[128, 128, 128], [70, 33, 129], [2, 64, 64], [1, 300, 5]])
    await check('matmul ' + [m, k, n], () => cuda.matmul.async(on(m, k), on(k, n)), product(m, k, n));
  await check('einsum', () => cuda.einsum.async('ij,jk->ik', on(40, 40), on(40, 40)), product(40, 40, 40));
  await check('dot', () => cuda.dot.async(on(1000), on(1000)), [list(1000).reduce((sum, v) => sum + v * v, 0)]);
  const values = list(5000);
  const sorted = values.toSorted();
  await check('sort', () => parallel.sort.async(cuda.toDevice(values)), sorted);
  await check('argsort', async () => (await numbers(parallel.argsort.async(cuda.toDevice(values)))).map((k) => values[k]), sorted);
  await check('argmax', () => parallel.argmax.async(cuda.toDevice(values)), [values.indexOf(10)]);
  await check('reduce', () => parallel.reduce.async(cuda.toDevice(values), 'sum'), [values.reduce((a, b) => a + b, 0)]);
  const counts = new Int32Array(11);
  for (const v of values) counts[v]++;
  // Their blocks are larger than what SwiftShader has.
  if (device === 'cpu') await check('bincount', () => parallel.bincount.async(cuda.toDevice(Int32Array.from(values))), counts);
  if (device === 'cpu') await check('histogram', () => parallel.histogram.async(cuda.toDevice(values), [0, 5, 10]), [counts.slice(0, 5), counts.slice(5)].map((part) => part.reduce((a, b) => a + b, 0)));
  let sum = 0;
  await check('inclusiveScan', () => parallel.inclusiveScan.async(cuda.toDevice(values), 'sum'), values.map((v) => (sum += v)));
  await check('arithmetic', () => cuda.toDevice(values).add(1).mul(2).evaluateAsync(), values.map((v) => 2 * (v + 1)));
  return wrong;`;

describe.skipIf(findChromium() === undefined && !isRequired('chromium'))('the library in a minified page', () => {
  let browser: Chromium;
  beforeAll(async () => {
    const contents = `import { cuda, ndarray } from 'tsamba'; import * as parallel from 'tsamba/parallel'; globalThis.lib = { cuda, ndarray, parallel };`;
    const { outputFiles } = await build({
      ...{ bundle: true, format: 'esm', minify: true, splitting: true, write: false, outdir: dist },
      stdin: { contents, resolveDir: dist },
      alias: { tsamba: `${dist}/page/index.js`, 'tsamba/parallel': `${dist}/page/parallel/index.js` },
    });
    const served = outputFiles.map(({ path, text }): [string, Served] => [
      path.split(/[\\/]/).at(-1) ?? '',
      { type: 'text/javascript', body: text },
    ]);
    browser = await Chromium.start({}, Object.fromEntries(served));
  }, 60_000);
  afterAll(() => browser?.close());

  it.each(['cpu', 'webgpu'])(
    'computes what it computes elsewhere, on %s',
    async (device) => {
      const page = await browser.open();
      const wrong = await page.run(`await import('./stdin.js'); const device = '${device}'; ${PROGRAM}`);
      await page.close();
      expect(wrong).toEqual([]);
    },
    300_000,
  );
});
