/**
 * Builds the site, or serves it while it is written: `npm run site`, `npm run site:dev`. The site's own packages are installed when they are
 * missing or their lock file has changed, so that the library's installing stays small.
 *
 * `SITE_BASE` is the path that the site is served under (`/`), `SITE_REPOSITORY` the address of the repository, for links to source files, which
 * are those of `SITE_REF` (`main`). `SITE_VERSION` names the version that is built where a site has several. versions.ts builds tags of the past by
 * these variables, so they keep their meaning.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeApi } from './api.ts';
import { writeLlms } from './llms.ts';
import type { SitePage } from './page.ts';
import { guideSidebar, put, ROOT, stage } from './stage.ts';

const SITE = join(ROOT, 'site');
const command = process.argv[2] ?? 'build';

install();
const pages = prepare();
if (command === 'dev') {
  watch(join(ROOT, 'docs'), { recursive: true }, () => prepare());
  spawn('npx', ['vitepress', 'dev', '.'], { cwd: SITE, stdio: 'inherit' });
} else {
  const began = performance.now();
  run('npx', ['vitepress', 'build', '.']);
  writeLlms(pages, join(SITE, '.vitepress/dist'), process.env['SITE_BASE'] ?? '/');
  console.log(`the site took ${((performance.now() - began) / 1000).toFixed(0)} s: ${join(SITE, '.vitepress/dist')}`);
}

function prepare(): SitePage[] {
  const staged = stage();
  const api = process.argv.includes('--no-api') ? [] : writeApi();
  put('sidebar.json', JSON.stringify({ guide: guideSidebar(staged), api }));
  return staged;
}

function install(): void {
  const stamp = join(SITE, 'node_modules/.installed');
  const lock = join(SITE, 'package-lock.json');
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log('Installing what builds the site …');
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(stamp, '');
  const now = new Date();
  utimesSync(stamp, now, now);
}

function run(program: string, args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: SITE, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}
