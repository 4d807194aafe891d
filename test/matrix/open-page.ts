/**
 * `tsx open-page.ts TEXT [SCRIPT]`: serves the application of Next.js that was built in the current folder, or a page with a script of that folder, opens it in a headless Chromium, and fails where it
 * does not come to say TEXT, or has loaded members of `cuda` that it does not use. Prints how much it loaded. Without Chromium it only says so.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Chromium, findChromium } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';

const PATIENCE = 60_000;

const LOADED = `const scripts = performance.getEntriesByType('resource').filter(({ name }) => /\\.js(\\?|$)/.test(name));
return scripts.length + ' scripts of ' + Math.round(scripts.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0) / 1024) + ' KiB';`;

async function opened(wanted: string): Promise<string> {
  const port = await freePort();
  const next = join(import.meta.dirname, 'node_modules/next/dist/bin/next');
  const server = spawn(process.execPath, [next, 'start', '--port', String(port)], { stdio: 'ignore' });
  const browser = await Chromium.start({});
  try {
    const page = await browser.open();
    const url = `http://127.0.0.1:${port}/`;
    for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
      const answer = await fetch(url).catch(() => undefined);
      if (answer?.ok === true) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await page.go(url);
    for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
      const said = String(await page.run('return document.body.innerText'));
      if (said.includes(wanted)) return String(await page.run(LOADED));
      if (said.includes('OUTCOME')) throw new Error(`the page says ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`the page said nothing: ${page.lines.join('\n')}`);
  } finally {
    await browser.close();
    server.kill();
  }
}

console.log(findChromium() === undefined ? 'PAGE there is no Chromium' : `PAGE ${await opened(process.argv[2] ?? '')}`);
process.exit(0);
