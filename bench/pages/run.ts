/**
 * `npm run bench -- pages`: bundles the benchmark of pages and runs it, or only writes it for a host that has Node.js and Chromium but no npm: `npm run bench -- pages --bundle DIR`. `main.ts` has the
 * other options.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import tsamba from '../../src/plugins/esbuild.ts';
import { findChromium } from '../../test/support/chromium.ts';
import { bundle } from '../../tools/bare-host.ts';
import { runBundled } from '../bundled.ts';

const here: string = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, '../../dist');

/** The page, with each library as a program for pages has it. */
async function writePage(folder: string): Promise<void> {
  const place = join(here, 'node_modules/unplugin-typegpu/esbuild.js');
  const { default: forTypegpu } = (await import(place)) as {
    default(options: { readonly include: RegExp }): Plugin;
  };
  await build({
    entryPoints: [join(here, 'page.ts')],
    bundle: true,
    format: 'esm',
    splitting: true,
    minify: true,
    outdir: folder,
    plugins: [forTypegpu({ include: /bench[\\/]pages[\\/]typegpu\.js$/ }), tsamba()],
    alias: { tsamba: `${dist}/page/index.js` },
    logLevel: 'error',
  });
}

/** The peers that only this benchmark has, from the registry; versions are in `package.json`. */
function installPeers(): void {
  if (existsSync(join(here, 'node_modules/unplugin-typegpu'))) return;
  const { status } = spawnSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('npm install failed in bench/pages');
}

await runBundled({
  name: 'pages',
  args: process.argv.slice(3),
  lacking: () => (findChromium() === undefined ? 'there is no Chromium' : undefined),
  recorded: () => 'pages',
  async write(folder) {
    installPeers();
    await writePage(join(folder, 'page'));
    await bundle(folder, { 'bench-pages': 'bench/pages/main.ts' });
    return join(folder, 'bench-pages.mjs');
  },
});
