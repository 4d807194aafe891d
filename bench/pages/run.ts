/**
 * `npm run bench -- pages`: Tsamba, jax-js and TypeGPU in one page of Chromium, on WebGPU, in turns; and what a frame of an animation costs the page's main thread.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import tsamba from '../../src/plugins/esbuild.ts';
import { machine } from '../../test/gpu/machine.ts';
import { ANIMATION, type AnimationFrames } from '../../test/support/animation.ts';
import { Chromium, findChromium, ISOLATED, type Served } from '../../test/support/chromium.ts';
import { commit } from '../../tools/bare-host.ts';
import { readOptions } from '../options.ts';
import type { PageOutput } from './page.ts';

const here: string = fileURLToPath(new URL('.', import.meta.url));
const dist = join(here, '../../dist');

/** The page, with each library as a program for pages has it. */
async function bundled(): Promise<Record<string, Served>> {
  const place = join(here, 'node_modules/unplugin-typegpu/esbuild.js');
  const { default: forTypegpu } = (await import(place)) as {
    default(options: { readonly include: RegExp }): Plugin;
  };
  const { outputFiles } = await build({
    entryPoints: [join(here, 'page.ts')],
    bundle: true,
    format: 'esm',
    splitting: true,
    minify: true,
    write: false,
    outdir: join(here, 'out'),
    plugins: [forTypegpu({ include: /bench[\\/]pages[\\/]typegpu\.js$/ }), tsamba()],
    alias: { tsamba: `${dist}/page/index.js` },
    logLevel: 'error',
  });
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [path.split(/[\\/]/).at(-1) ?? '', { type: 'text/javascript', body: text }]),
  );
}

/** The peers that only this benchmark has, from the registry; versions are in `package.json`. */
function installPeers(): void {
  if (existsSync(join(here, 'node_modules/unplugin-typegpu'))) return;
  const { status } = spawnSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('npm install failed in bench/pages');
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

const given = readOptions('pages', 'npm run bench -- pages', process.argv.slice(3));
const [elements, size, rounds, frames] = [
  2 ** Number(given.value('power', '22')),
  Number(given.value('size', '512')),
  Number(given.value('rounds', '15')),
  Number(given.value('frames', '300')),
];

async function main(): Promise<void> {
  if (findChromium() === undefined) throw new Error('there is no Chromium');
  installPeers();
  const browser = await Chromium.start({ dist }, await bundled());
  try {
    const page = await browser.open({ headers: ISOLATED });
    page.onLine = (line) => console.error(`  ${line}`);
    const load = `await import('./page.js'); const { run, cuda } = benchmark;`;
    const output = (await page.run(`${load} return run(${elements}, ${size}, ${rounds}, 200);`)) as PageOutput;
    await page.close();
    const animation: Record<string, unknown> = {};
    for (const call of ['launch', 'launchAsync']) {
      const own = await browser.open({ headers: ISOLATED });
      const body = `${load} const call = '${call}'; const frames = ${frames}; ${ANIMATION}`;
      const { milliseconds } = (await own.run(body)) as AnimationFrames;
      animation[call] = statistics(milliseconds);
      await own.close();
    }
    report(output, animation);
  } finally {
    await browser.close();
  }
}

function report({ device, cases }: PageOutput, animation: Record<string, unknown>): void {
  console.log(`${device}; milliseconds a launch: median (minimum) of ${rounds} rounds`);
  for (const [name, { times, launches }] of Object.entries(cases)) {
    const sides = Object.entries(times).map(
      ([side, list]) => `${side} ${at(list, 0.5).toFixed(3)} (${at(list, 0).toFixed(3)})`,
    );
    console.log(`${name.padEnd(36)} ${sides.join('   ')}   ${launches} launches a round`);
  }
  console.log(`a frame, milliseconds of the main thread in ${frames} frames:`);
  for (const [call, numbers] of Object.entries(animation)) console.log(`  ${call}: ${JSON.stringify(numbers)}`);
  const name = `pages-${new Date().toISOString().slice(0, 10)}-${commit()}.json`;
  const file = given.value('json', join(here, '../results', name));
  const record = {
    machine: { ...machine(), commit: commit() },
    device,
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
