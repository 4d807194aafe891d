/**
 * Loading the library where much is missing: nothing that is done when a built file is loaded may throw, in any format or realm.
 * What a kernel needs beyond that either works or says in one of our errors what is missing.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tsamba-load-'));

/** The README's first example, and its result as text. */
const PROGRAM = `
  const saxpy = cuda.jit((a, x, y) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] += a * x[i];
  });
  const x = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
  const y = cuda.toDevice(Float32Array.of(10, 20, 30, 40));
  saxpy.launch({ threads: 4, block: 2 }, 2, x, y);
  globalThis.outcome = y.copyToHost().join() + ' ' + cuda.currentDevice().kind;
`;
const RIGHT = '12,24,36,48 cpu';

/** What looks at the machine, and a kernel on the device that runs it as JavaScript. */
const REST = `
  globalThis.found = cuda.detect();
  cuda.selectDevice('simulator');
  const doubled = cuda.toDevice(Float32Array.of(1, 2));
  cuda.jit((a) => {
    const i = cuda.grid(1);
    if (i < a.length) a[i] *= 2;
  }).launch({ threads: 2 }, doubled);
  globalThis.simulated = doubled.copyToHost().join() + ' ' + cuda.currentDevice().kind;
`;

async function bundle(text: string, format: 'iife' | 'cjs' | 'esm', platform: 'node' | 'browser'): Promise<string> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: text, resolveDir: folder },
    alias: { tsamba: join(dist, 'index.js') },
    bundle: true,
    format,
    platform,
    write: false,
    logLevel: 'silent',
  });
  // Of code in node_modules, where the library lies for its users, esbuild does not say this.
  expect(warnings.filter(({ id }) => id !== 'empty-import-meta' && id !== 'ignored-bare-import')).toEqual([]);
  return outputFiles[0]?.text ?? '';
}

let page = '';

beforeAll(async () => {
  page = await bundle(`import { cuda } from 'tsamba';${PROGRAM}${REST}`, 'iife', 'browser');
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the bundle in a context of its own, after `before` has changed its globals; what it threw, or its outcome. */
function inRealm(globals: object, before = ''): string {
  const context = createContext({ ...globals });
  runInContext(before, context);
  try {
    runInContext(page, context);
  } catch (error) {
    const { code, stack } = error as { code?: string; stack?: string };
    return code ?? String(stack);
  }
  return String(runInContext('outcome', context));
}

describe('a bundle for pages', () => {
  it.each([
    ['nothing but the language and a clock', { performance }, ''],
    [
      'what pages have',
      { performance, setTimeout, TextDecoder, URL, atob, console },
      'globalThis.window = globalThis.self = globalThis',
    ],
    [
      'no SharedArrayBuffer, as pages that are not isolated',
      { performance, setTimeout },
      'delete globalThis.SharedArrayBuffer',
    ],
    ['a stand-in for process', { performance, process: { env: {}, browser: true, nextTick() {} } }, ''],
    [
      'an older Node.js',
      { performance, process: { env: {}, versions: { node: '18.0.0' }, platform: 'linux', argv: [] } },
      '',
    ],
    [
      'a process that refuses everything',
      { performance },
      'globalThis.process = new Proxy({}, { get() { throw new Error("denied") } })',
    ],
  ])('loads and computes with %s', (_, globals, before) => {
    expect(inRealm(globals, before)).toBe(RIGHT);
  });

  it('prints what devices there are on the console, and runs kernels on the simulator', () => {
    const lines: string[] = [];
    const realm = createContext({ performance, console: { log: (text: string) => lines.push(text), warn() {} } });
    runInContext(page, realm);
    expect(lines.join('\n')).toMatch(/^Found 0 NVIDIA GPUs: .*\n(?:.*\n)*cpu: usable$/m);
    expect(runInContext('[found, simulated]', realm)).toEqual([false, '2,4 simulator']);
  });

  it.each([
    ['WebAssembly', 'delete globalThis.WebAssembly', 'E_NO_WEBASSEMBLY'],
    [
      'shared memory in WebAssembly',
      'WebAssembly.Memory = class { constructor() { throw new TypeError("shared") } }',
      'E_NO_WEBASSEMBLY',
    ],
  ])('loads without %s, and says at the first array that it is missing', (_, before, code) => {
    expect(inRealm({ performance }, before)).toBe(code);
  });

  it('names no module of Node.js that a bundler would have to find', async () => {
    const text = await bundle(`export * from 'tsamba'`, 'esm', 'browser');
    expect(text.match(/^import\b.*/gm)).toBeNull();
  });
});

describe('bundled with a program for Node.js', () => {
  it.each(['cjs', 'esm'] as const)('as %s it loads and computes, wherever it lies', async (format) => {
    const file = join(folder, `program.${format === 'cjs' ? 'cjs' : 'mjs'}`);
    const text = await bundle(`import { cuda } from 'tsamba';${PROGRAM}console.log(outcome);`, format, 'node');
    writeFileSync(file, text);
    const env = { ...process.env, TSAMBA_DEVICE: 'cpu' };
    expect(execFileSync(process.execPath, [file], { encoding: 'utf8', env }).trim()).toBe(RIGHT);
  });
});

describe('the built files', () => {
  const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));

  it('import nothing from Node.js but in the conformance suite and in what runs beside bundlers', () => {
    const found = scripts
      .filter((name) => !/^(?:testsuite|(?:cjs\/)?plugins)\b/.test(name))
      .filter((name) =>
        /^(?:import\b[^\n]*|const \S+ = require\()["']node:/m.test(readFileSync(join(dist, name), 'utf8')),
      );
    expect(scripts.length).toBeGreaterThan(10);
    expect(found).toEqual([]);
  });

  it('import each other by relative paths alone, as pages without a bundler need it', () => {
    const modules = scripts.filter((name) => !/^(?:testsuite|plugins|cjs)\b/.test(name));
    const specifiers = modules.flatMap((name) =>
      Array.from(
        readFileSync(join(dist, name), 'utf8').matchAll(/^(?:import|export)\b[^'"\n]*["']([^'"\n]+)["'];$/gm),
        ([, path = '']) => path,
      ),
    );
    expect(specifiers.length).toBeGreaterThan(3);
    expect(specifiers.filter((path) => !path.startsWith('.'))).toEqual([]);
  });

  it.each(scripts)('%s loads by itself', async (name) => {
    const file = join(dist, name);
    if (/^cjs\b/.test(name)) expect(createRequire(import.meta.url)(file)).toBeTypeOf('object');
    else expect(await import(pathToFileURL(file).href)).toBeTypeOf('object');
  });
});
