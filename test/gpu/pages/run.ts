/**
 * `npx tsx test/gpu/pages/run.ts DIR` writes the tests of pages on GPUs for a host that has Node.js and Chromium (TSAMBA_TEST_CHROMIUM): `node DIR/test-pages.mjs` runs them. The package must be built.
 *
 * The suite is bundled by the plugin, as programs for pages are: there is no inspector there, and kernels that capture something need it, or the plugin.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import tsamba from '../../../src/plugins/esbuild.ts';
import { bundle } from '../../../tools/bare-host.ts';

const root: string = fileURLToPath(new URL('../../..', import.meta.url));
const folder = resolve(process.argv[2] ?? 'page-tests');
const dist = join(root, 'dist');

/** The suite as a program that has installed the package: the plugin looks for kernels of that. What it uses of the library's inside is that of the package. */
function writeSuite(to: string): void {
  const copy = (from: string, name: string): void => {
    const text = readFileSync(join(root, from, name), 'utf8').replaceAll(/'(\.\.?\/.*)\.ts'/g, (whole, path) => {
      const inSources = relative(join(root, 'src'), join(root, from, path));
      if (inSources.startsWith('..')) return whole;
      if (/^(cuda\/)?index$/.test(inSources)) return "'tsamba'";
      return existsSync(join(dist, `${inSources}.js`)) ? `'${dist}/${inSources}.js'` : `'${join(to, inSources)}.ts'`;
    });
    const file = join(to, from.replace(/^src\//, ''), name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const name of readdirSync(join(root, 'testsuite'), { recursive: true }) as string[]) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
    copy(join('testsuite', dirname(name)), basename(name));
  }
  writeFileSync(join(to, 'all.ts'), "export { cuda, roc } from 'tsamba';\nexport * from './testsuite/index.ts';\n");
}

const suite = mkdtempSync(join(tmpdir(), 'tsamba-suite-'));
try {
  writeSuite(suite);
  await build({
    entryPoints: { main: join(root, 'templates/vite/src/main.ts'), suite: join(suite, 'all.ts') },
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: join(folder, 'page'),
    plugins: [tsamba()],
    alias: { tsamba: join(dist, 'index.js') },
    external: ['node:*', 'koffi', 'webgpu'],
    logLevel: 'error',
  });
} finally {
  rmSync(suite, { recursive: true, force: true });
}
await bundle(folder, { 'test-pages': 'test/gpu/pages/main.ts' });
console.log(`wrote ${join(folder, 'test-pages.mjs')}`);
