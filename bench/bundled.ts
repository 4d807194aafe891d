/**
 * How benchmarks start: bundled into a folder, and run from there, or only written for a host that has Node.js and no npm (`--bundle DIR`).
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OptionTable } from '../src/cli/command-line.ts';
import { commit } from '../tools/bare-host.ts';
import { type OPTIONS, readOptions } from './options.ts';

const here: string = fileURLToPath(new URL('.', import.meta.url));

interface Benchmark {
  /** As in `npm run bench -- library`. */
  readonly name: keyof typeof OPTIONS;
  /** What it is called by, where that is more than its name. */
  readonly command?: string;
  /** Writes the files into a folder, and gives the one to run. */
  readonly write: (folder: string) => Promise<string>;
  /** Options beside those of its program: which of several benchmarks runs. Its help lists them. */
  readonly variants?: OptionTable;
  /** What it is told. */
  readonly args: readonly string[];
  /** Why it cannot run here; asked where it is to run. */
  readonly lacking?: () => string | undefined;
  /** What its record in bench/results is called, where one is kept unless `--json` says otherwise. */
  readonly recorded?: () => string;
}

/** The programs beside the benchmarks that others are compared in. */
export const PEERS: string = join(here, 'peers');

const BUNDLE = { bundle: { value: 'DIR', help: 'only writes it, for a host that has Node.js and no npm' } };

/** Runs a benchmark, or writes it. */
export async function runBundled({
  name,
  command = name,
  variants,
  write,
  args,
  lacking,
  recorded,
}: Benchmark): Promise<void> {
  const given = readOptions(name, `npm run bench -- ${command}`, args, { ...variants, ...BUNDLE });
  if (given.has('bundle')) {
    const file = await write(resolve(given.value('bundle', '')));
    console.log(`wrote ${file}; run it with: node ${file} --json out.json`);
    return;
  }
  const reason = lacking?.();
  if (reason !== undefined) {
    console.log(reason);
    process.exitCode = 1;
    return;
  }
  // Inside node_modules, so that koffi is found.
  const cache = join(here, '../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `bench-${name}-`));
  try {
    const kept = recorded === undefined || given.has('json') ? undefined : recorded();
    const record = `${kept}-${new Date().toISOString().slice(0, 10)}-${commit()}.json`;
    const json = kept === undefined ? [] : ['--json', join(here, 'results', record)];
    const script = await write(folder);
    process.exitCode = spawnSync(process.execPath, [script, ...args, ...json], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
