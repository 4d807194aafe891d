/**
 * `tsx open-page.ts TEXT [SCRIPT]`: serves the application of Next.js that was built in the current folder, or a page with a script of that folder, opens it in a headless Chromium, and fails where it
 * does not come to say TEXT, or has loaded members of `cuda` that it does not use. Prints how much it loaded. Without Chromium it only says so.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Chromium, findChromium, type Page } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';

const PATIENCE = 60_000;

/** Of matrix products of many arrays: nothing here uses it. */
const UNUSED = 'einsum';

const LOADED = `const scripts = performance.getEntriesByType('resource').filter(({ name }) => /\\.js(\\?|$)/.test(name));
const texts = await Promise.all(scripts.map(async ({ name }) => (await fetch(name)).text()));
if (texts.some((text) => text.includes('${UNUSED}'))) throw new Error('members of cuda were loaded that nothing uses');
return scripts.length + ' scripts of ' + Math.round(texts.join('').length / 1024) + ' KiB';`;

async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    const found = await ask();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(what);
}

/** What the page loaded, once it says what it shall. */
function outcome(page: Page, wanted: string): Promise<string> {
  return until(`the page said nothing: ${page.lines.join('\n')}`, async () => {
    const said = String(await page.run('return document.body.innerText'));
    if (said.includes('OUTCOME') && !said.includes(wanted)) throw new Error(`the page says ${said}`);
    return said.includes(wanted) ? String(await page.run(LOADED)) : undefined;
  });
}

async function ofNext(browser: Chromium, wanted: string): Promise<string> {
  const port = await freePort();
  const next = join(import.meta.dirname, 'node_modules/next/dist/bin/next');
  const server = spawn(process.execPath, [next, 'start', '--port', String(port)], { stdio: 'ignore' });
  try {
    const url = `http://127.0.0.1:${port}/`;
    await until('the server does not answer', () => fetch(url).catch(() => undefined));
    const page = await browser.open();
    await page.go(url);
    return await outcome(page, wanted);
  } finally {
    server.kill();
  }
}

async function ofScript(browser: Chromium, wanted: string, script: string): Promise<string> {
  const page = await browser.open();
  await page.run(`document.body.append(Object.assign(document.createElement('script'), { src: './app/${script}' }));`);
  return outcome(page, wanted);
}

async function opened(wanted = '', script?: string): Promise<string> {
  const browser = await Chromium.start({ app: process.cwd() });
  try {
    return await (script === undefined ? ofNext(browser, wanted) : ofScript(browser, wanted, script));
  } finally {
    await browser.close();
  }
}

console.log(
  findChromium() === undefined ? 'PAGE there is no Chromium' : `PAGE ${await opened(...process.argv.slice(2))}`,
);
process.exit(0);
