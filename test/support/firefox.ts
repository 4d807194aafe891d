/**
 * A headless Firefox that runs one script in a page and posts what it gives: nothing is installed but the browser. Pages come from a server of this process on the loopback.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import type { PageOptions } from './chromium.ts';

const PLACES: readonly string[] = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

/** The browser's program; undefined where there is none. */
export function findFirefox(): string | undefined {
  return [process.env['TSAMBA_TEST_FIREFOX'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

/** Nothing but the page: no first run, no updates, no reports, no session to restore. */
const PREFERENCES: Readonly<Record<string, string | number | boolean>> = {
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.sessionstore.resume_from_crash': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.max_script_run_time': 0,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.prefetch-next': false,
  'services.settings.server': 'http://127.0.0.1:9',
  'toolkit.telemetry.enabled': false,
};

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** The page: `tell` posts a line; the body's result, or what it throws, is posted at the end. */
function pageOf(body: string): string {
  return `<!doctype html><meta charset="utf-8"><title>-</title><link rel="icon" href="data:,"><body><script type="module">
    const post = (path, value) => fetch(path, { method: 'POST', body: JSON.stringify(value) });
    const tell = (line) => void post('./line', line);
    try { await post('./result', { value: await (async () => {${body}
    })() }); } catch (error) { await post('./result', { error: String(error?.stack ?? error) + ' ' + String(error) }); }
  </script>`;
}

/** Runs an asynchronous function's body in a page of a browser of its own, with `folders` (path: folder) beside it. Rejects with what it throws, and when nothing is heard of it for a minute. */
export async function runInFirefox(
  body: string,
  folders: Readonly<Record<string, string>>,
  { headers = {} }: PageOptions = {},
): Promise<unknown> {
  const program = findFirefox();
  if (program === undefined) throw new Error('there is no Firefox');
  const profile = mkdtempSync(join(tmpdir(), 'tsamba-firefox-'));
  const preferences = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  );
  writeFileSync(join(profile, 'user.js'), preferences.join('\n'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let child: ChildProcess | undefined;
  try {
    return await new Promise((resolve, reject) => {
      let last = '';
      let heard = Date.now();
      const timer = setInterval(() => {
        if (Date.now() - heard > 60_000) reject(new Error(`nothing heard of Firefox after: ${last}`));
      }, 1000);
      timer.unref();
      server.on('request', async (request, response) => {
        heard = Date.now();
        const path = new URL(request.url ?? '/', 'http://x').pathname.slice(1);
        if (request.method === 'POST') {
          const said = JSON.parse(await textOf(request)) as { readonly value?: unknown; readonly error?: string };
          response.end();
          if (path !== 'result') last = String(said);
          else if (said.error === undefined) resolve(said.value);
          else reject(new Error(said.error));
          return;
        }
        const [folder = '', ...rest] = path.split('/');
        const file = join(folders[folder] ?? '', normalize(`/${rest.join('/')}`));
        const found = path === '' || (folders[folder] !== undefined && existsSync(file));
        const type = path === '' ? 'text/html' : (TYPES[extname(file)] ?? 'text/plain');
        response.writeHead(found ? 200 : 404, { 'Content-Type': type, ...headers });
        response.end(path === '' ? pageOf(body) : found ? readFileSync(file) : 'not found');
      });
      const { port } = server.address() as AddressInfo;
      child = spawn(program, ['--headless', '--no-remote', '--profile', profile, `http://127.0.0.1:${port}/`], {
        stdio: 'ignore',
        env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
      });
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`Firefox ended with ${code} after: ${last}`)));
    });
  } finally {
    if (child !== undefined && child.exitCode === null) {
      const gone = new Promise((resolve) => child?.once('exit', resolve));
      child.kill();
      await gone;
    }
    server.closeAllConnections();
    server.close();
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch {
      // Its processes end one after another, and the last ones may still write there.
    }
  }
}
