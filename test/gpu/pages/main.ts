/**
 * The suite on WebGPU in pages of Chromium on the machine's GPU, bundled: `node test-pages.mjs`, beside the folder `page`. Then pictures on canvases, which go to files.
 *
 *   --swiftshader      on a processor instead, to try it
 *   --chapters a,b     only these
 *   --pages 6          beside each other
 *   --json FILE
 *   --pictures DIR
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ANIMATION, type AnimationFrames } from '../../support/animation.ts';
import { Chromium, ISOLATED } from '../../support/chromium.ts';
import { runInPage, type SuiteResult } from '../../support/chromium-suite.ts';
import { LEFT_OPEN_BY_WGSL, WEBGPU_LACKS } from '../../support/lacking.ts';
import { BEYOND_SWIFTSHADER } from '../../support/swiftshader.ts';
import { commandLine, machine } from '../machine.ts';

const { values } = parseArgs({
  options: {
    swiftshader: { type: 'boolean', default: false },
    chapters: { type: 'string' },
    pages: { type: 'string', default: '6' },
    json: { type: 'string' },
    pictures: { type: 'string' },
  },
});
const { swiftshader } = values;

/** What reads files. */
const OF_FILES: readonly string[] = ['functions of other languages: take what was declared'];

function sum(list: readonly SuiteResult[], of: (result: SuiteResult) => number): number {
  return list.reduce((total, result) => total + of(result), 0);
}

async function chaptersOf(browser: Chromium): Promise<string[]> {
  const page = await browser.open();
  const all = await page.run(`
    const { conformanceTests } = await import('./suite.js');
    return [...new Set(conformanceTests.map(({ chapter }) => chapter))];`);
  await page.close();
  return all as string[];
}

/** The chapters in as many pages as there are; each takes the next chapter when it is through with one. */
async function suite(browser: Chromium): Promise<SuiteResult[]> {
  const chapters = values.chapters?.split(',') ?? (await chaptersOf(browser));
  const results: SuiteResult[] = [];
  const without = [...(swiftshader ? BEYOND_SWIFTSHADER : LEFT_OPEN_BY_WGSL), ...OF_FILES];
  const lane = async (): Promise<void> => {
    for (let next = chapters.shift(); next !== undefined; next = chapters.shift()) {
      const chapter = next;
      const run = {
        device: 'webgpu',
        bundle: 'suite.js',
        page: { headers: ISOLATED },
        chapters: [chapter],
        without,
        lacks: WEBGPU_LACKS,
      } as const;
      const result = await runInPage(browser, run).catch((error: Error) => {
        return { name: '', passed: 0, blind: 0, lacking: 0, failed: [`${chapter}: ${error.message}`] };
      });
      for (const failed of result.failed) console.log(`FAIL ${failed}`);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: Number(values.pages) }, lane));
  return results;
}

/** The picture of the template for pages, and the last one of an animation. */
async function pictures(browser: Chromium): Promise<Readonly<Record<string, unknown>>> {
  const keep = (name: string, data: Buffer): void => {
    if (values.pictures === undefined) return;
    mkdirSync(values.pictures, { recursive: true });
    writeFileSync(join(values.pictures, `${name}.png`), data);
  };
  const template = await browser.open({ headers: ISOLATED });
  const status = await template.run(`
    document.body.innerHTML = '<canvas id="picture" width="640" height="400"></canvas><p id="status"></p>';
    await import('./main.js');
    return document.querySelector('#status').textContent;`);
  keep('template', await template.picture());
  await template.close();
  const animation = await browser.open({ headers: ISOLATED });
  const load = `const { cuda } = await import('./suite.js'); const call = 'launch'; const frames = 60;`;
  const { pixels, last } = (await animation.run(`${load} ${ANIMATION}`)) as AnimationFrames;
  keep('animation', await animation.picture());
  await animation.close();
  const right = pixels.every((byte, k) => byte === [(k >> 2) % 256, last % 256, 0, 255][k % 4]);
  if (!right) process.exitCode = 1;
  return { template: status, animation: right ? 'as drawn' : `not as drawn: ${pixels.slice(0, 16)}` };
}

const here = fileURLToPath(new URL('.', import.meta.url));
const files = Object.fromEntries(
  readdirSync(join(here, 'page')).map((name) => {
    return [name, { type: 'text/javascript', body: readFileSync(join(here, 'page', name)) }];
  }),
);
const browser = await Chromium.start({}, files, swiftshader ? 'swiftshader' : 'gpu');
try {
  const began = performance.now();
  const drawn = await pictures(browser);
  console.log(drawn);
  const results = await suite(browser);
  const [passed, blind, lacking] = (['passed', 'blind', 'lacking'] as const).map((what) =>
    sum(results, (result) => result[what]),
  );
  const failed = results.flatMap((result) => result.failed);
  const device = results.find(({ name }) => name !== '')?.name;
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `${device}: ${passed} passed, ${failed.length} failed, ${blind} without an inspector, ${lacking} lacking`,
  );
  if (failed.length > 0) process.exitCode = 1;
  const command = commandLine('test-pages', process.argv.slice(2));
  const record = { ...machine(), date: new Date().toISOString(), command, browser: await browser.version() };
  const all = { ...record, device, seconds, passed, blind, lacking, failed, drawn };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all, null, 1)}\n`);
} finally {
  await browser.close();
}
