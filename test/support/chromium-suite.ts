/**
 * The conformance suite in a page of Chromium, or in a worker of one: what passed, what captures cannot be seen, and what failed.
 */
import type { Chromium, PageOptions } from './chromium.ts';

export interface SuiteRun {
  readonly device: 'cpu' | 'webgpu';
  /** In a worker of the page. */
  readonly worker?: boolean;
  /** A module with the library and the suite, instead of `dist`. */
  readonly bundle?: string;
  readonly page?: PageOptions;
  /** Chapters; all where there are none. */
  readonly chapters?: readonly string[];
  /** Tests by chapter and name that this device cannot run. */
  readonly without?: readonly string[];
  /** Codes of NotSupportedError with which the device refuses what it lacks. */
  readonly lacks?: readonly string[];
}

export interface SuiteResult {
  readonly name: string;
  readonly passed: number;
  /** Tests whose kernels capture what nobody sees without an inspector. */
  readonly blind: number;
  readonly lacking: number;
  readonly failed: readonly string[];
}

/** Runs in the page: the text of a function has no names from here. It finds `run`, `base` and `tell`. */
export const SUITE = `
  const { cuda, roc } = await import(base + (run.bundle ?? 'dist/index.js'));
  const { conformanceTests } = await import(base + (run.bundle ?? 'dist/testsuite/index.js'));
  await cuda.open(run.device);
  await roc.open(run.device);
  const waits = cuda.currentContext().info.features.hostCanWait;
  const result = { name: cuda.currentDevice().name, passed: 0, blind: 0, lacking: 0, failed: [] };
  const chain = (error) => (error instanceof Error ? [error, ...chain(error.cause)] : []);
  for (const test of conformanceTests) {
    const name = test.chapter + ': ' + test.name;
    if (run.chapters && !run.chapters.includes(test.chapter)) continue;
    if ((test.blocks && !waits) || run.without?.includes(name)) continue;
    tell(name);
    try {
      await test.run();
      if (waits) cuda.synchronize();
      else await cuda.synchronizeAsync();
      result.passed++;
    } catch (error) {
      const text = String(error?.code) + ' ' + String(error?.stack ?? error);
      if (text.includes('K010')) result.blind++;
      else if (chain(error).some(({ code }) => run.lacks?.includes(code))) result.lacking++;
      else result.failed.push(name + ': ' + text.slice(0, 600));
    }
  }
  return result;
`;

/** Runs the suite in a page of its own, which serves the built package as `dist`. */
export async function runInPage(browser: Chromium, run: SuiteRun): Promise<SuiteResult> {
  const page = await browser.open(run.page);
  let last = '';
  page.onLine = (line) => {
    if (line.startsWith('@')) last = line;
  };
  const given = `const run = ${JSON.stringify(run)};`;
  const inPage = `${given} const base = './'; const tell = (name) => console.log('@' + name); ${SUITE}`;
  const inWorker = `
    const code = ${JSON.stringify(`onmessage = async ({ data: base }) => { ${given} const tell = (name) => postMessage('@' + name);
      try { postMessage(await (async () => { ${SUITE} })()); } catch (error) { postMessage({ failed: [String(error.stack)] }); } }`)};
    const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' });
    return new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message));
      worker.onmessage = ({ data }) => (typeof data === 'string' ? console.log(data) : resolve(data));
      worker.postMessage(location.href);
    });`;
  try {
    const patience = new Promise<never>((_, reject) => {
      const quiet = (): void => {
        const seen = last;
        setTimeout(() => (seen === last ? reject(new Error(`nothing after ${last}`)) : quiet()), 60_000).unref();
      };
      quiet();
    });
    patience.catch(() => undefined);
    return (await Promise.race([page.run(run.worker === true ? inWorker : inPage), patience])) as SuiteResult;
  } finally {
    await page.close();
  }
}
