/**
 * Vite's development server with the plugin, and a program in it that runs in Vite's module runner: what edits of its files do to kernels it has.
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, createServer, createServerModuleRunner, type Plugin, type ViteDevServer } from 'vite';
import type { ModuleRunner } from 'vite/module-runner';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as library from '../index.ts';
import tsamba from './vite.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'tsamba-vite-')));
const kernels = (body: string, more = ''): string => `import { cuda, type Vec, type f64 } from 'tsamba';
import { offset } from './offset.ts';
${more}
const gain: number = 10;
let made = 0;
export const loaded = Math.random();
export const kernel = cuda.jit((y: Vec<f64>, k: number): void => {
  const i: number = cuda.grid(1);
  ${body}
});
export const count = (): number => ++made;
`;

interface Program {
  readonly kernel: { launch(shape: object, ...args: unknown[]): void };
  readonly loaded: number;
  count(): number;
}

let server: ViteDevServer;
let runner: ModuleRunner;

beforeAll(async () => {
  library.cuda.selectDevice('cpu');
  Object.assign(globalThis, { tsambaOfTheTest: library });
  writeFileSync(join(root, 'offset.ts'), 'export const offset = 1000;\n');
  writeFileSync(join(root, 'kernels.ts'), kernels('if (i < y.length) y[i] = gain * k + offset;'));
  // The library that the test has, under the name that programs import.
  const stub: Plugin = {
    name: 'library',
    enforce: 'pre',
    resolveId: (id) => (id === 'tsamba' ? '\0tsamba' : null),
    load: (id) => (id === '\0tsamba' ? 'export const { cuda } = globalThis.tsambaOfTheTest;' : null),
  };
  server = await createServer({
    ...{ root, configFile: false, logLevel: 'silent', appType: 'custom', optimizeDeps: { noDiscovery: true } },
    server: { middlewareMode: true, ws: false, watch: null },
    plugins: [stub, tsamba()],
  });
  runner = createServerModuleRunner(server.environments.ssr, { hmr: { logger: false } });
});

afterAll(async () => {
  await runner?.close();
  await server?.close();
  rmSync(root, { recursive: true, force: true });
});

/** Writes the file, and says what a watcher of files would, when it is written. */
function edit(text: string): void {
  writeFileSync(join(root, 'kernels.ts'), text);
  server.watcher.emit('change', join(root, 'kernels.ts'));
}

function launched({ kernel }: Program): number {
  const y = new Float64Array(1);
  kernel.launch({ grid: 1, block: 1 }, library.cuda.InOut(y), 2);
  return y[0] as number;
}

it('replaces the text of an edited kernel in the running program, and leaves other edits to Vite', async () => {
  const program = await runner.import<Program>('/kernels.ts');
  expect(launched(program)).toBe(1020);
  expect(program.count()).toBe(1);

  edit(kernels('// another line\n  if (i < y.length) y[i] = gain - k + offset;'));
  await vi.waitFor(() => expect(launched(program)).toBe(1008), { timeout: 10_000, interval: 20 });
  expect(program.count()).toBe(2);

  // What is wrong with the new text is said by its own line, and the next edit mends it.
  edit(kernels('\n\n  if (i < y.length) y[i] = gain.nothing(k) + offset;'));
  await vi.waitFor(() => expect(() => launched(program)).toThrow(/kernels\.ts:11:/), { timeout: 10_000, interval: 20 });
  edit(kernels('if (i < y.length) y[i] = gain + k + offset;'));
  await vi.waitFor(() => expect(launched(program)).toBe(1012), { timeout: 10_000, interval: 20 });
  expect((await runner.import<Program>('/kernels.ts')).loaded).toBe(program.loaded);

  // Another name is captured: the module has to run again.
  edit(kernels('y[i] = gain * k + offset + bias;', 'const bias = 0.5;'));
  await vi.waitFor(async () => expect((await runner.import<Program>('/kernels.ts')).loaded).not.toBe(program.loaded), {
    timeout: 10_000,
    interval: 50,
  });
  expect(launched(await runner.import<Program>('/kernels.ts'))).toBe(1020.5);
  expect(launched(program)).toBe(1012);
}, 60_000);

it('bundles workers of a page with the plugin, as ES modules', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tsamba-vite-worker-')));
  try {
    const page = `new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });`;
    const worker = `import { cuda } from 'tsamba';
      const gain = 3;
      const kernel = cuda.jit((y) => { y[0] = gain; });
      onmessage = async () => (await import('./later.js')).run(kernel);`;
    const files = { 'page.js': page, 'worker.js': worker, 'later.js': 'export const run = (kernel) => kernel;' };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await build({
      ...{ root: folder, configFile: false, logLevel: 'silent', plugins: [tsamba()] },
      worker: { rollupOptions: { external: ['tsamba'] } },
      build: { rollupOptions: { input: join(folder, 'page.js') } },
    });
    const made = readdirSync(join(folder, 'dist/assets')).filter((name) => name.startsWith('worker-'));
    const text = made.map((name) => readFileSync(join(folder, 'dist/assets', name), 'utf8')).join('');
    expect(text).toContain('tsamba.source');
    expect(text).toMatch(/gain:\s*\(\)\s*=>/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
