/**
 * The package as a user gets it: packed, installed into an empty project without install scripts, imported and required; and what
 * publint and arethetypeswrong say of it.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isThorough } from '../src/required.testing.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tsamba-package-'));
let tarball = '';

function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
}

function project(name: string, options: readonly string[]): string {
  const at = join(folder, name);
  mkdirSync(at);
  writeFileSync(join(at, 'package.json'), JSON.stringify({ name, private: true }));
  npm(['install', '--ignore-scripts', '--prefer-offline', ...options, tarball], at);
  return at;
}

const KERNEL = `
  const y = cuda.toDevice(Float32Array.of(1, 2, 3));
  const kernel = cuda.jit((a, k) => { const i = cuda.grid(1); if (i < a.length) a[i] = a[i] * k; });
  kernel.launch({ threads: 3 }, y, 2);
  console.log(JSON.stringify([...y.copyToHost()]), cuda.currentDevice().kind);
`;

const ROC_KERNEL = KERNEL.replaceAll('cuda.', 'roc.').replace('roc.grid(1)', 'roc.getGlobalId(0)');

function run(cwd: string, file: string, text: string, flags: readonly string[] = []): string {
  writeFileSync(join(cwd, file), text);
  return execFileSync(process.execPath, ['--no-warnings', ...flags, file], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, TSAMBA_DEVICE: 'cpu', TSAMBA_ROC_DRIVER: 'cpu' },
  }).trim();
}

/** Bytes of a built file and of all that it imports, which Node.js reads before the program begins. */
function importedBy(entry: string): number {
  const seen = new Set([entry]);
  for (const file of seen)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b.*?"(\.[^"]+)";$/gm))
      seen.add(join(file, '..', String(path)));
  return [...seen].reduce((sum, file) => sum + statSync(file).size, 0);
}

beforeAll(() => {
  const [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)) as {
    filename: string;
  }[];
  tarball = join(folder, packed.filename);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('holds the built library, its notices and nothing else', () => {
    const list = execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' }).split('\n');
    for (const file of [
      'LICENSE',
      'README.md',
      'FEATURES.md',
      'CHANGELOG.md',
      'THIRD-PARTY-NOTICES.md',
      'SECURITY.md',
      'docs/quickstart.md',
      'docs/memory/shared.md',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/cli/main.js',
      'templates/node/_gitignore',
    ]) {
      expect(list).toContain(`package/${file}`);
    }
    const own = list.filter((f) => !f.startsWith('package/templates/'));
    expect(own.filter((f) => /\.test\.|[./]testing\.|^package\/(src|test|bench|examples|tools)\//.test(f))).toEqual([]);
  });

  it.each([
    ['without koffi', ['--omit=optional']],
    ['with koffi', []],
  ])(
    'installs %s, and works by import and by require',
    (name, options) => {
      const at = project(name.replace(' ', '-'), options);
      expect(existsSync(join(at, 'node_modules/koffi'))).toBe(options.length === 0);
      expect(run(at, 'esm.mjs', `import { cuda } from 'tsamba';${KERNEL}`)).toBe('[2,4,6] cpu');
      expect(run(at, 'named.mjs', `import * as cuda from 'tsamba/cuda';${KERNEL}`)).toBe('[2,4,6] cpu');
      expect(run(at, 'roc.mjs', `import { roc } from 'tsamba/roc';${ROC_KERNEL}`)).toBe('[2,4,6] cpu');
      expect(run(at, 'cjs.cjs', `const { cuda } = require('tsamba');${KERNEL}`)).toBe('[2,4,6] cpu');
    },
    120_000,
  );

  it('has a source for every line of its maps', () => {
    const at = join(folder, 'with-koffi/node_modules/tsamba/dist');
    const maps = readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(1000);
    const lost = maps.flatMap((name) => {
      const file = join(at, name);
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(file, 'utf8')) as {
        sources: string[];
        sourcesContent?: (string | null)[];
      };
      const isThere = (source: string, k: number): boolean =>
        typeof sourcesContent[k] === 'string' || existsSync(join(file, '..', source));
      return sources.filter((source, k) => !isThere(source, k)).map((source) => `${name}: ${source}`);
    });
    expect(lost).toEqual([]);
  });

  it('names no folder of the machine that built it', () => {
    const at = join(folder, 'with-koffi/node_modules/tsamba/dist');
    const files = readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?:js|cjs|map)$/.test(name),
    );
    expect(files.filter((name) => readFileSync(join(at, name), 'latin1').includes(root))).toEqual([]);
  });

  // Bounds are a little above what was measured. What pages load is measured in pages.test.ts.
  it('is no larger to install and to import than it was', () => {
    const at = join(folder, 'without-koffi/node_modules');
    const packages = readdirSync(at).filter((name) => !name.startsWith('.'));
    expect(packages).toEqual(['tsamba']);
    const files = readdirSync(join(at, 'tsamba'), { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
    const imported = importedBy(join(at, 'tsamba/dist/index.js'));
    const megabytes = [statSync(tarball).size, bytes, imported].map((size) => size / 1e6);
    console.log('MB packed, installed, imported by Node.js:', ...megabytes.map((size) => size.toFixed(2)));
    expect(megabytes.map((size, k) => size < [8.5, 38, 3.6][k])).toEqual([true, true, true]);
  });

  it('brings a conformance suite that runs without a test framework', () => {
    const at = join(folder, 'without-koffi');
    const text = `import { runConformance } from 'tsamba/testsuite';
      const results = await runConformance({ device: 'cpu', filter: 'rounding' });
      const failed = results.filter((r) => r.error !== undefined);
      console.log(results.length > 3, failed.map((r) => r.test.name + ': ' + r.error.message).join('; '));`;
    expect(run(at, 'suite.mjs', text)).toBe('true');
  }, 60_000);

  it('loads neither koffi nor a worker when it is imported', () => {
    const at = join(folder, 'with-koffi');
    const text = `import { cuda } from 'tsamba';
      import { createRequire } from 'node:module';
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((f) => f.includes('koffi'));
      console.log(typeof cuda.jit, loaded.length, process.getActiveResourcesInfo().filter((r) => /Worker|MessagePort/.test(r)).length);`;
    expect(run(at, 'lazy.mjs', text)).toBe('function 0 0');
  });

  it.each([
    ['as it is', []],
    ['with source maps', ['--enable-source-maps']],
    ['under tsx', ['--import', import.meta.resolve('tsx')]],
  ])('names lines of the program, not of the library, %s', (_, flags) => {
    const text = `import { cuda, f32, scope } from 'tsamba';
      const tracker = cuda.trackLeaks();
      const kept = cuda.deviceArray(4, f32);
      cuda.toDevice(Float32Array.of(1, 2));
      kept.dispose();
      try { kept.get(0); } catch (error) { console.log(/at .*where\\.mjs:5:\\d+/.test(error.message)); }
      console.log(tracker.leaks().map(({ site }) => /where\\.mjs:(\\d+):\\d+/.exec(site)?.[1] ?? site).join());`;
    expect(run(join(folder, 'with-koffi'), 'where.mjs', text, flags)).toBe('true\n4');
  });

  it('compiles what a first kernel calls while it is loaded, and its maps know where that was written', () => {
    const chunks = join(root, 'dist/chunks');
    const files = readdirSync(chunks).filter((name) => name.endsWith('.js'));
    const linesOf = (file: string): string[] => readFileSync(join(chunks, file), 'utf8').split('\n');
    for (const [name, source] of [
      ['compileKernel', 'src/compiler/compile.ts'],
      ['parseFunction', 'src/compiler/frontend/parse.ts'],
      ['infer', 'src/compiler/types/infer.ts'],
    ] as const) {
      const isIt = (line: string): boolean => new RegExp(`^var ${name}(\\$\\d+)? = \\(function `).test(line);
      const file = files.find((one) => linesOf(one).some(isIt));
      if (file === undefined) throw new Error(`${name} is compiled when it is called`);
      const lines = linesOf(file);
      const at = lines.findIndex(isIt);
      const map = new SourceMap(JSON.parse(readFileSync(join(chunks, `${file}.map`), 'utf8')) as SourceMapPayload);
      const entry = map.findEntry(at, lines[at].indexOf('function ')) as {
        originalSource: string;
        originalLine: number;
      };
      expect(join(chunks, entry.originalSource)).toBe(join(root, 'dist', source));
      const original = readFileSync(join(root, source), 'utf8').split('\n')[entry.originalLine];
      expect(original).toContain(`function ${name}(`);
    }
  });

  it.runIf(isThorough())(
    'is clean for publint',
    async () => {
      const { messages } = await publint({ pkgDir: root, level: 'suggestion' });
      const pkg = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
      expect(messages.map((m) => formatMessage(m, pkg))).toEqual([]);
    },
    60_000,
  );

  it.runIf(isThorough())(
    'is clean for arethetypeswrong',
    () => {
      const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
      const options = ['--no-color', '--no-emoji', '--format', 'table-flipped'];
      const check = (...more: string[]): string =>
        execFileSync(process.execPath, [attw, tarball, ...options, ...more], { encoding: 'utf8' });
      // It exits with an error when an entry resolves wrongly. node10, node16 from CommonJS and from ES modules, bundlers:
      const strict = check('--exclude-entrypoints', 'testsuite');
      expect(strict).toMatch(/"tsamba"\s*│ OK\s*│ OK \(CJS\)\s*│ OK \(ESM\)\s*│ OK/);
      // The conformance suite has no CommonJS form: Node.js can require it all the same.
      check('--profile', 'esm-only');
    },
    60_000,
  );

  it('has no file of the sources missing from the build', () => {
    expect(readdirSync(join(root, 'dist')).length).toBeGreaterThan(5);
  });
});
