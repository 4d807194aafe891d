/**
 * Checks the built site: every link and anchor leads somewhere, every page opens in Chromium without an error or a missing file, the
 * playground works (playground.ts), no page is wider than a phone, and axe finds nothing serious in light and dark. `npm run site:check`;
 * `-- --pictures FOLDER` keeps pictures of some pages, `--samples` opens only those. `--versions` checks what `npm run site:versions` has built:
 * links over all versions, every page of `next` and some of each release, and the ways between them (check-versions.ts).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, posix } from 'node:path';
import type { VersionList } from '../../site/.vitepress/theme/versions.ts';
import { Chromium, type Page } from '../../test/support/chromium.ts';
import { checkVersionFiles, checkVersionLinks } from './check-versions.ts';
import { checkPhone, takePictures } from './pictures.ts';
import { checkPlayground } from './playground.ts';
import { ROOT } from './stage.ts';

const SEVERAL = process.argv.includes('--versions');
const DIST = join(ROOT, 'site/.vitepress', SEVERAL ? 'versions' : 'dist');
/** Without the slash at its end. */
const BASE = (process.env['SITE_BASE'] ?? '/').replace(/\/$/, '');
/** Pages that axe looks at, and that pictures are made of. */
const SAMPLES = [
  'index',
  'quickstart',
  'cuda-for-typescript',
  'cookbook',
  'cookbook/images',
  'kernels',
  'benchmarks',
  'performance',
  'gallery',
  'playground',
  'api/index',
  'api/tsamba-cuda/cuda-host',
];

/** Of VitePress' own theme: headings of its sidebar that fold, and its button for searching. */
const THEMES_OWN = { 'nested-interactive': { enabled: false }, 'label-content-name-mismatch': { enabled: false } };

const list: VersionList = SEVERAL
  ? JSON.parse(readFileSync(join(DIST, 'versions.json'), 'utf8'))
  : { versions: [{ name: '', pages: [] }] };
/** The folders that have a site each, with a slash at their end. The first one is what this working tree has built. */
const folders = list.versions.map(({ name }) => (name === '' ? '' : `${name}/`));
const [own = ''] = folders;
const samples = SAMPLES.map((name) => `${own}${name}`);
const releaseSamples = folders
  .slice(1)
  .flatMap((folder) => [`${folder}index`, `${folder}quickstart`, `${folder}api/index`]);

const problems: string[] = [];
const missing = new Set<string>();

const htmlFiles = readdirSync(DIST, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /(?<!(?:^|\/)404)\.html$/.test(name));
checkLinks();
for (const folder of folders) checkLlms(folder);
if (SEVERAL) problems.push(...checkVersionFiles(DIST, list, fileOf));
const server = await serve();
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
const browser = await Chromium.start({});
try {
  const page = await browser.open();
  await openAll(page);
  problems.push(...(await checkPlayground(page, (name) => addressOf(`${own}${name}`))));
  if (SEVERAL) problems.push(...(await checkVersionLinks(page, list, addressOf)));
  for (const theme of ['light', 'dark']) await checkAccessibility(page, theme);
  problems.push(...(await checkPhone(browser, [...samples, ...releaseSamples], addressOf)));
  const at = process.argv.indexOf('--pictures');
  if (at > 0) await takePictures(browser, [...samples, ...releaseSamples], addressOf, process.argv[at + 1] ?? 'out');
} finally {
  await browser.close();
  server.close();
}
for (const path of missing) problems.push(`${path} was asked for and is not there`);
console.log(`${htmlFiles.length} pages; ${problems.length} problems`);
for (const problem of problems) console.log(`  ${problem}`);
if (problems.length > 0) process.exitCode = 1;

/** Links of the files themselves, without a browser. */
function checkLinks(): void {
  const ids = new Map(htmlFiles.map((name) => [name, idsOf(name)]));
  for (const name of htmlFiles) {
    const text = readFileSync(join(DIST, name), 'utf8');
    const links = new Set(Array.from(text.matchAll(/<a [^>]*?href="([^"]+)"/g), ([, href]) => String(href)));
    for (const href of links) {
      if (/^[a-z]+:/.test(href)) continue;
      const [path = '', anchor] = href.replaceAll('&amp;', '&').split('#');
      const target =
        path === ''
          ? name
          : fileOf(path.startsWith('/') ? path.slice(BASE.length) : posix.join('/', posix.dirname(name), path));
      if (target === undefined) problems.push(`${name}: ${href} leads nowhere`);
      else if (anchor && ids.has(target) && !ids.get(target)?.has(decodeURIComponent(anchor))) {
        problems.push(`${name}: ${href}: there is no such heading`);
      }
    }
  }
}

/** `llms.txt` as https://llmstxt.org describes it: each entry is a file that there is, with a sentence about it. */
function checkLlms(folder: string): void {
  const entries = readFileSync(join(DIST, folder, 'llms.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('- '));
  if (entries.length < 50) problems.push(`${folder}llms.txt has ${entries.length} entries`);
  for (const entry of entries) {
    const [, path = ''] = /^- \[[^\]]+\]\(([^)]+)\): [A-Za-z0-9`+].{15,}\.$/.exec(entry) ?? [];
    if (!path.startsWith(`${BASE}/${folder}`) || fileOf(path.slice(BASE.length)) === undefined) {
      problems.push(`${folder}llms.txt: ${entry}`);
    }
  }
}

function idsOf(name: string): ReadonlySet<string> {
  const text = readFileSync(join(DIST, name), 'utf8');
  return new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => String(id).replaceAll('&amp;', '&')));
}

/** The file that a path of the site names: with `.html` left out, or the index of a folder. */
function fileOf(path: string): string | undefined {
  const bare = decodeURIComponent(path).replace(/^\//, '');
  const names = bare === '' || bare.endsWith('/') ? [`${bare}index.html`] : [bare, `${bare}.html`];
  return names.find((name) => existsSync(join(DIST, name)) && extname(name) !== '');
}

function serve(): Promise<Server> {
  const types: Readonly<Record<string, string>> = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.svg': 'image/svg+xml',
    '.png': 'image/png',
    '.woff2': 'font/woff2',
    '.json': 'application/json',
  };
  const made = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const file = path.startsWith(BASE) ? fileOf(path.slice(BASE.length)) : undefined;
    if (file === undefined && !path.endsWith('favicon.ico')) missing.add(path);
    response.writeHead(file === undefined ? 404 : 200, { 'Content-Type': types[extname(file ?? '')] ?? 'text/plain' });
    response.end(file === undefined ? 'not found' : readFileSync(join(DIST, file)));
  });
  return new Promise((resolve) => made.listen(0, '127.0.0.1', () => resolve(made)));
}

function addressOf(name: string): string {
  return `${origin}/${name.replace(/(?:(^|\/)index)?\.html$/, '$1')}`;
}

async function openAll(page: Page): Promise<void> {
  const quick = process.argv.includes('--samples');
  const all = quick ? samples.map((name) => `${name}.html`) : htmlFiles.filter((name) => name.startsWith(own));
  for (const name of [...all, ...releaseSamples.map((sample) => `${sample}.html`)]) {
    page.lines.length = 0;
    await page.go(addressOf(name));
    const heading = await page.run(
      `await new Promise((done) => setTimeout(done, 50)); return document.querySelector('h1')?.textContent ?? '';`,
    );
    if (heading === '' || String(heading).includes('404')) problems.push(`${name} has no heading`);
    // The CPU device says once that a page that is not isolated has one thread.
    const lines = page.lines.filter((line) => !line.includes('cross-origin isolated'));
    problems.push(...lines.map((line) => `${name} printed: ${line.slice(0, 200)}`));
  }
}

async function checkAccessibility(page: Page, theme: string): Promise<void> {
  const axe = readFileSync(join(ROOT, 'site/node_modules/axe-core/axe.min.js'), 'utf8');
  for (const name of [...samples, ...releaseSamples]) {
    await page.run(`localStorage.setItem('vitepress-theme-appearance', '${theme}');`);
    await page.go(addressOf(`${name}.html`));
    await page.run(`globalThis.THEMES_OWN = ${JSON.stringify(THEMES_OWN)}; ${axe}`);
    const found =
      (await page.run(`const { violations } = await (globalThis.axe ?? window.axe).run(document, { resultTypes: ['violations'], rules: THEMES_OWN });
      return violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) =>
        v.id + ': ' + v.nodes.length + ', such as ' + v.nodes[0].html.slice(0, 140));`)) as string[];
    problems.push(...found.map((line) => `${name} in ${theme}: ${line}`));
  }
}
