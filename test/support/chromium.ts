/**
 * A headless Chromium and pages in it, driven by the DevTools protocol over a pipe: nothing is installed but the browser.
 *
 * Pages come from a server of this process on the loopback, which serves folders as they are, with the headers that a test asks for.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const PLACES: readonly string[] = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser's program; undefined where there is none. */
export function findChromium(): string | undefined {
  return [process.env['TSAMBA_TEST_CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path));
}

const FLAGS: readonly string[] = [
  '--headless=new',
  '--no-sandbox',
  '--no-first-run',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-extensions',
  '--mute-audio',
  '--enable-unsafe-webgpu',
  // Canvases of WebGPU need the browser's own drawing to be on the same Vulkan.
  '--enable-features=Vulkan',
  '--remote-debugging-pipe',
];

/** Where WebGPU computes: on a processor, or on the machine's GPU by its driver of Vulkan. */
const ADAPTERS = {
  swiftshader: [
    '--use-webgpu-adapter=swiftshader',
    '--use-vulkan=swiftshader',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
  ],
  gpu: [
    '--use-webgpu-adapter=default',
    '--use-vulkan=native',
    '--use-angle=vulkan',
    '--ignore-gpu-blocklist',
    '--disable-vulkan-surface',
    '--disable-gpu-sandbox',
  ],
} as const;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** The headers that isolate a page, which lets its threads share memory. */
export const ISOLATED: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.html': 'text/html',
  '.png': 'image/png',
};

/** What one path answers. */
export interface Served {
  readonly type: string;
  readonly body: string | Buffer;
}

export interface PageOptions {
  /** Sent with everything. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What stands in `<head>`: import maps, for one. */
  readonly head?: string;
}

/** A browser with a server for its pages. */
export class Chromium {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #server: Server;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #pages = new Map<string, Page>();
  readonly #sites = new Map<string, PageOptions>();
  #next = 1;
  #rest = '';

  private constructor(child: ChildProcess, profile: string, server: Server) {
    this.#process = child;
    this.#profile = profile;
    this.#server = server;
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.#receive(text));
  }

  /** Starts one that serves `folders` (path: folder) and `files`. */
  static async start(
    folders: Readonly<Record<string, string>>,
    files: Readonly<Record<string, Served>> = {},
    adapter: keyof typeof ADAPTERS = 'swiftshader',
  ): Promise<Chromium> {
    const program = findChromium();
    if (program === undefined) throw new Error('there is no Chromium');
    const profile = mkdtempSync(join(tmpdir(), 'tsamba-chromium-'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const child = spawn(program, [...FLAGS, ...ADAPTERS[adapter], `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const browser = new Chromium(child, profile, server);
    server.on('request', (request, response) => {
      const [, site = '', ...rest] = new URL(request.url ?? '/', 'http://x').pathname.split('/');
      const options = browser.#sites.get(site);
      const found = options === undefined ? undefined : serve(rest.join('/'), folders, files, options);
      response.writeHead(found === undefined ? 404 : 200, {
        'Content-Type': found?.type ?? 'text/plain',
        'Cache-Control': 'no-store',
        ...options?.headers,
      });
      response.end(found?.body ?? 'not found');
    });
    return browser;
  }

  /** What it calls itself, with its version. */
  async version(): Promise<string> {
    return String((await this.send('Browser.getVersion'))['product']);
  }

  /** A page of its own, empty but for what `options` say. */
  async open(options: PageOptions = {}): Promise<Page> {
    const site = `s${this.#next}`;
    this.#sites.set(site, options);
    const { port } = this.#server.address() as AddressInfo;
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, String(sessionId), String(targetId));
    this.#pages.set(String(sessionId), page);
    await page.go(`http://127.0.0.1:${port}/${site}/`);
    return page;
  }

  async send(
    method: string,
    params: Record<string, unknown> = {},
    sessionId?: string,
  ): Promise<Record<string, unknown>> {
    const id = this.#next++;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    (this.#process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { error, result = {} } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  #receive(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const each of messages) {
      const message = JSON.parse(each) as Message;
      if (message.id !== undefined) {
        this.#waiting.get(message.id)?.(message);
        this.#waiting.delete(message.id);
      } else if (message.sessionId !== undefined) {
        this.#pages.get(message.sessionId)?.told(message.method ?? '', message.params ?? {});
      }
    }
  }

  async close(): Promise<void> {
    const ended = this.#process.exitCode !== null || this.#process.signalCode !== null;
    const gone = ended ? undefined : new Promise<void>((resolve) => this.#process.once('exit', () => resolve()));
    this.#process.kill();
    this.#server.closeAllConnections();
    this.#server.close();
    await gone;
    try {
      rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch {
      // Its processes end one after another, and the last ones may still write there.
    }
  }
}

function serve(
  path: string,
  folders: Readonly<Record<string, string>>,
  files: Readonly<Record<string, Served>>,
  { head = '' }: PageOptions,
): Served | undefined {
  if (path === '') {
    const icon = '<link rel="icon" href="data:,">';
    return { type: 'text/html', body: `<!doctype html><meta charset="utf-8"><title>-</title>${icon}${head}<body>` };
  }
  const own = files[path];
  if (own !== undefined) return own;
  const [root = '', ...rest] = path.split('/');
  const folder = folders[root];
  const file = join(folder ?? '', normalize(`/${rest.join('/')}`));
  if (folder === undefined || !existsSync(file)) return undefined;
  return { type: TYPES[extname(file)] ?? 'text/plain', body: readFileSync(file) };
}

/** One page. */
export class Page {
  readonly #browser: Chromium;
  readonly #session: string;
  readonly #target: string;
  /** What it printed, and what nobody caught in it. */
  readonly lines: string[] = [];
  /** Told of each line as it comes. */
  onLine: (line: string) => void = () => undefined;
  #loaded: () => void = () => undefined;

  constructor(browser: Chromium, session: string, target: string) {
    this.#browser = browser;
    this.#session = session;
    this.#target = target;
  }

  told(method: string, params: Record<string, unknown>): void {
    if (method === 'Page.loadEventFired') this.#loaded();
    if (method === 'Runtime.consoleAPICalled') {
      const args = params['args'] as readonly { readonly value?: unknown; readonly description?: string }[];
      this.#line(args.map(({ value, description }) => String(value ?? description)).join(' '));
    }
    if (method === 'Runtime.exceptionThrown') {
      const { text, exception } = params['exceptionDetails'] as { text: string; exception?: { description?: string } };
      this.#line(`${text} ${exception?.description ?? ''}`);
    }
  }

  #line(text: string): void {
    this.lines.push(text);
    this.onLine(text);
  }

  async go(url: string): Promise<void> {
    const send = (method: string, params = {}): Promise<unknown> => this.#browser.send(method, params, this.#session);
    await send('Runtime.enable');
    await send('Page.enable');
    const loaded = new Promise<void>((resolve) => {
      this.#loaded = resolve;
    });
    await send('Page.navigate', { url });
    await loaded;
  }

  /** Goes back in the history to a page that was left, and waits until it is shown. */
  async back(url: string): Promise<void> {
    const history = await this.#browser.send('Page.getNavigationHistory', {}, this.#session);
    const entries = history['entries'] as readonly { readonly id: number; readonly url: string }[];
    const entry = entries.findLast((each) => each.url === url);
    if (entry === undefined) throw new Error(`${url} is not in the history`);
    await this.#browser.send('Page.navigateToHistoryEntry', { entryId: entry.id }, this.#session);
    for (let k = 0; k < 200; k++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if ((await this.run('return location.href').catch(() => '')) === url) return;
    }
    throw new Error(`${url} did not come back`);
  }

  /** What an asynchronous function's body gives in the page, as JSON has it; rejects with what it throws. */
  async run(body: string): Promise<unknown> {
    const expression = `(async () => {${body}\n})()`;
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#browser.send('Runtime.evaluate', options, this.#session);
    if (exceptionDetails !== undefined) {
      const { text, exception } = exceptionDetails as { text: string; exception?: { description?: string } };
      throw new Error(exception?.description ?? text);
    }
    return (result as { readonly value?: unknown }).value;
  }

  /** A picture of the page, as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#browser.send('Page.captureScreenshot', { format: 'png' }, this.#session);
    return Buffer.from(String(data), 'base64');
  }

  async close(): Promise<void> {
    await this.#browser.send('Target.closeTarget', { targetId: this.#target });
  }
}
