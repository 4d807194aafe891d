/**
 * `npm run bench -- memory`: bundles the benchmark of the memory model and runs it on the current device, or only writes it for a host
 * that has Node.js but no npm: `npm run bench -- memory --bundle DIR`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda } from '../../src/index.ts';
import { bundle, commit } from '../../tools/bare-host.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

async function write(folder: string): Promise<string> {
  await bundle(folder, { 'bench-memory': 'bench/memory/main.ts' });
  return join(folder, 'bench-memory.mjs');
}

const args = process.argv.slice(3);
const at = args.indexOf('--bundle');
if (at >= 0) {
  const folder = resolve(args[at + 1] ?? 'bench-memory');
  console.log(`wrote ${await write(folder)}; run it with: node ${join(folder, 'bench-memory.mjs')} --json out.json`);
} else {
  const cache = join(here, '../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-memory-'));
  try {
    const name = `memory-${cuda.currentDevice().kind}-${new Date().toISOString().slice(0, 10)}-${commit()}.json`;
    const json = args.includes('--json') ? [] : ['--json', join(here, '../results', name)];
    process.exitCode =
      spawnSync(process.execPath, [await write(folder), ...args, ...json], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
