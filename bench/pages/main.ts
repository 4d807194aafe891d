/**
 * The benchmark of pages, bundled: `node bench-pages.mjs`, beside the folder `page`. Tsamba, jax-js and TypeGPU in one page of Chromium (TSAMBA_TEST_CHROMIUM), on WebGPU, in turns; and what a frame of
 * an animation costs the page's main thread.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { ANIMATION, type AnimationFrames } from '../../test/support/animation.ts';
import { Chromium, ISOLATED, type Served } from '../../test/support/chromium.ts';
import { readOptions } from '../options.ts';
import type { PageOutput } from './page.ts';

/** What the page loads. */
function served(): Record<string, Served> {
  const folder = new URL('page/', import.meta.url);
  const files = readdirSync(fileURLToPath(folder));
  return Object.fromEntries(
    files.map((name) => [name, { type: 'text/javascript', body: readFileSync(new URL(name, folder)) }]),
  );
}

const sortedOf = (list: readonly number[]): readonly number[] => list.toSorted((a, b) => a - b);
const at = (list: readonly number[], part: number): number =>
  sortedOf(list)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? Number.NaN;

function statistics(list: readonly number[]): {
  readonly minimum: number;
  readonly median: number;
  readonly p95: number;
} {
  return { minimum: at(list, 0), median: at(list, 0.5), p95: at(list, 0.95) };
}

const args = process.argv.slice(2);
const given = readOptions('pages', 'node bench-pages.mjs', args);
const gpu = given.has('gpu');
const [elements, size, rounds, frames] = [
  2 ** Number(given.value('power', gpu ? '25' : '22')),
  Number(given.value('size', gpu ? '2048' : '512')),
  Number(given.value('rounds', '15')),
  Number(given.value('frames', '300')),
];

async function main(): Promise<void> {
  const browser = await Chromium.start({}, served(), gpu ? 'gpu' : 'swiftshader');
  try {
    const version = await browser.version();
    const page = await browser.open({ headers: ISOLATED });
    page.onLine = (line) => console.error(`  ${line}`);
    const load = `await import('./page.js'); const { run, cuda } = benchmark;`;
    const output = (await page.run(`${load} return run(${elements}, ${size}, ${rounds}, 200);`)) as PageOutput;
    if (gpu && output.type !== 'gpu') throw new Error(`${output.device} is no GPU`);
    await page.close();
    const animation: Record<string, unknown> = {};
    for (const call of ['launch', 'launchAsync']) {
      const own = await browser.open({ headers: ISOLATED });
      const body = `${load} const call = '${call}'; const frames = ${frames}; ${ANIMATION}`;
      const { milliseconds } = (await own.run(body)) as AnimationFrames;
      animation[call] = statistics(milliseconds);
      await own.close();
    }
    report(version, output, animation);
  } finally {
    await browser.close();
  }
}

function report(browser: string, { device, adapter, cases }: PageOutput, animation: Record<string, unknown>): void {
  console.log(`${device}, ${browser}; milliseconds a launch: median (minimum) of ${rounds} rounds`);
  for (const [name, { times, launches }] of Object.entries(cases)) {
    const sides = Object.entries(times).map(
      ([side, list]) => `${side} ${at(list, 0.5).toFixed(3)} (${at(list, 0).toFixed(3)}) × ${launches[side]}`,
    );
    console.log(`${name.padEnd(40)} ${sides.join('   ')}`);
  }
  console.log(`a frame, milliseconds of the main thread in ${frames} frames:`);
  for (const [call, numbers] of Object.entries(animation)) console.log(`  ${call}: ${JSON.stringify(numbers)}`);
  const file = given.value('json', '');
  if (file === '') return;
  const record = {
    machine: machine(),
    date: new Date().toISOString(),
    command: commandLine('bench-pages', args),
    browser,
    device,
    adapter,
    rounds,
    elements,
    size,
    cases,
    animation: { frames, ...animation },
  };
  writeFileSync(file, `${JSON.stringify(record, null, 1)}\n`);
  console.log(`wrote ${file}`);
}

await main();
