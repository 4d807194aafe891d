/**
 * `npm run bench -- nvidia`: bundles the NVIDIA benchmark and runs it, or only writes it for a host that has Node.js, nvcc and
 * Python with numba-cuda but no npm: `npm run bench -- nvidia --bundle DIR`. `main.ts` has the other options.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machine } from '../../test/gpu/machine.ts';
import { bundle, commit } from '../../tools/bare-host.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const MODULES = join(here, '../../node_modules');

async function write(folder: string): Promise<string> {
  await bundle(folder, { 'bench-nvidia': 'bench/nvidia/main.ts' });
  cpSync(join(here, '../peers'), join(folder, 'peers'), { recursive: true });
  return join(folder, 'bench-nvidia.mjs');
}

const args = process.argv.slice(3);
const at = args.indexOf('--bundle');
if (at >= 0) {
  const folder = resolve(args[at + 1] ?? 'bench-nvidia');
  console.log(`wrote ${await write(folder)}; run it with: node ${join(folder, 'bench-nvidia.mjs')} --json out.json`);
} else if (machine().gpu === 'no GPU') {
  console.log('there is no NVIDIA GPU here. --bundle DIR writes the benchmark for a host that has one');
  process.exitCode = 1;
} else {
  const cache = join(MODULES, '.cache');
  if (!existsSync(cache)) mkdirSync(cache);
  const folder = mkdtempSync(join(cache, 'bench-nvidia-'));
  try {
    const file = join(here, '../results', `nvidia-${new Date().toISOString().slice(0, 10)}-${commit()}.json`);
    const json = args.includes('--json') ? [] : ['--json', file];
    process.exitCode =
      spawnSync(process.execPath, [await write(folder), ...args, ...json], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
