/**
 * `npx tsx test/gpu/pages/run.ts DIR` writes the tests of pages on GPUs for a host that has Node.js and Chromium (TSAMBA_TEST_CHROMIUM): `node DIR/test-pages.mjs` runs them. The package must be built.
 */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import tsamba from '../../../src/plugins/esbuild.ts';
import { bundle } from '../../../tools/bare-host.ts';

const root: string = fileURLToPath(new URL('../../..', import.meta.url));
const folder = resolve(process.argv[2] ?? 'page-tests');
const dist = join(root, 'dist');
cpSync(dist, join(folder, 'dist'), {
  recursive: true,
  filter: (path) => path !== join(dist, 'cjs') && !/\.map$|\.d\.[cm]?ts$/.test(path),
});
await build({
  entryPoints: [join(root, 'templates/vite/src/main.ts')],
  bundle: true,
  format: 'esm',
  outdir: join(folder, 'page'),
  plugins: [tsamba()],
  alias: { tsamba: join(dist, 'page/index.js') },
  logLevel: 'error',
});
await bundle(folder, { 'test-pages': 'test/gpu/pages/main.ts' });
console.log(`wrote ${join(folder, 'test-pages.mjs')}`);
