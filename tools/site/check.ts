/**
 * Checks the built site: every link and anchor leads somewhere, every page opens in Chromium without an error or a missing file, the
 * program of the start page draws its picture, and axe finds nothing serious in light and dark. `npm run site:check`;
 * `-- --pictures FOLDER` keeps pictures of some pages, `--samples` opens only those.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, posix } from 'node:path';
import { Chromium, type Page } from '../../test/support/chromium.ts';
import { ROOT } from './stage.ts';

const DIST = join(ROOT, 'site/.vitepress/dist');
/** Without the slash at its end. */
const BASE = (process.env['SITE_BASE'] ?? '/').replace(/\/$/, '');
/** Pages that axe looks at, and that pictures are made of. */
const SAMPLES = [
  'index',
  'quickstart',
  'cuda-for-typescript',
  'cookbook/images',
  'performance',
  'gallery',
  'playground',
  'api/index',
];

/** Of VitePress' own theme: headings of its sidebar that fold, and its button for searching. */
const THEMES_OWN = { 'nested-interactive': { enabled: false }, 'label-content-name-mismatch': { enabled: false } };

const problems: string[] = [];
const missing = new Set<string>();

const htmlFiles = readdirSync(DIST, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.html') && name !== '404.html');
checkLinks();
const server = await serve();
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`;
const browser = await Chromium.start({});
try {
  const page = await browser.open();
  await openAll(page);
  await checkPlayground(page);
  for (const theme of ['light', 'dark']) await checkAccessibility(page, theme);
  const at = process.argv.indexOf('--pictures');
  if (at > 0) await takePictures(process.argv[at + 1] ?? 'out');
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
  for (const name of quick ? SAMPLES.map((sample) => `${sample}.html`) : htmlFiles) {
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

async function checkPlayground(page: Page): Promise<void> {
  await page.go(addressOf('index.html'));
  const status = await page.run(`for (let k = 0; k < 300; k++) {
    const text = document.querySelector('.playground .status')?.textContent ?? '';
    if (/ms|failed/.test(text)) return text + ' ' + (document.querySelector('.playground pre')?.textContent ?? '');
    await new Promise((done) => setTimeout(done, 100));
  } return 'nothing happened in 30 s';`);
  console.log(`the program of the start page: ${status}`);
  if (!/\d ms/.test(String(status))) problems.push(`the program of the start page: ${status}`);
  const colours = await page.run(`const canvas = document.querySelector('.playground canvas');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;`);
  if (Number(colours) < 50) problems.push(`the picture of the start page has ${colours} colours`);
  await page.go(addressOf('playground.html'));
  const programs = await page.run(`return document.querySelectorAll('.playground select')[0].options.length;`);
  for (let k = 1; k < Number(programs); k++) {
    const outcome = await page.run(`const select = document.querySelector('.playground select');
      select.value = '${k}'; select.dispatchEvent(new Event('change'));
      for (let n = 0; n < 600; n++) {
        await new Promise((done) => setTimeout(done, 50));
        const text = document.querySelector('.playground .status').textContent;
        if (/ms|failed/.test(text)) return text + ' ' + (document.querySelector('.playground pre')?.textContent ?? '');
      } return 'nothing happened';`);
    if (!/\d ms/.test(String(outcome))) problems.push(`program ${k} of the playground: ${outcome}`);
  }
  const codes = await page.run(`const select = document.querySelector('.playground .target select');
    const codes = [];
    for (const { value } of [...select.options]) {
      select.value = value; select.dispatchEvent(new Event('change'));
      await new Promise((done) => setTimeout(done, 50));
      codes.push(value + ' ' + document.querySelector('.playground pre.code').textContent);
    } return codes;`);
  const signs = ['ir kernel', '(line', '(module', '@compute', '.visible .entry', 'kernel void'];
  signs.forEach((sign, at) => {
    const text = String((codes as readonly string[])[at]);
    if (!text.includes(sign)) problems.push(`the playground shows other code than expected: ${text.slice(0, 200)}`);
  });
}

async function checkAccessibility(page: Page, theme: string): Promise<void> {
  const axe = readFileSync(join(ROOT, 'site/node_modules/axe-core/axe.min.js'), 'utf8');
  for (const name of SAMPLES) {
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

/** Light, dark, and as wide as a phone. */
async function takePictures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const views = [
    { view: 'light', width: 1280, height: 900 },
    { view: 'dark', width: 1280, height: 900 },
    { view: 'phone', width: 390, height: 844 },
  ];
  for (const { view, width, height } of views) {
    const { targetId } = await browser.send('Target.createTarget', { url: `${origin}/` });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    const send = (method: string, params = {}): Promise<Record<string, unknown>> =>
      browser.send(method, params, String(sessionId));
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: view === 'phone' });
    const theme = view === 'dark' ? 'dark' : 'light';
    for (const name of SAMPLES) {
      await send('Runtime.evaluate', { expression: `localStorage.setItem('vitepress-theme-appearance', '${theme}')` });
      await send('Page.navigate', { url: addressOf(`${name}.html`) });
      await new Promise((done) => setTimeout(done, 2500));
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      writeFileSync(join(folder, `${name.replaceAll('/', '-')}-${view}.png`), Buffer.from(String(data), 'base64'));
    }
    await browser.send('Target.closeTarget', { targetId });
  }
}
