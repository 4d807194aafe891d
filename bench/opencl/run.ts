/**
 * `npm run bench -- opencl`: bundles the OpenCL benchmark and runs it, or only writes it for a host that has Node.js and OpenCL but
 * no npm: `npm run bench -- opencl --bundle DIR`. `main.ts` has the other options.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { probeOpenCL } from '../../src/driver/opencl/platforms.ts';
import { bundle, commit } from '../../tools/bare-host.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

async function write(folder: string): Promise<string> {
  await bundle(folder, { 'bench-opencl': 'bench/opencl/main.ts' });
  return join(folder, 'bench-opencl.mjs');
}

const args = process.argv.slice(3);
const at = args.indexOf('--bundle');
const { reason } = probeOpenCL();
if (at >= 0) {
  const folder = resolve(args[at + 1] ?? 'bench-opencl');
  console.log(`wrote ${await write(folder)}; run it with: node ${join(folder, 'bench-opencl.mjs')} --json out.json`);
} else if (reason !== undefined) {
  console.log(`${reason}. --bundle DIR writes the benchmark for a host that has OpenCL`);
  process.exitCode = 1;
} else {
  const cache = join(here, '../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-opencl-'));
  try {
    const file = join(here, '../results', `opencl-${new Date().toISOString().slice(0, 10)}-${commit()}.json`);
    const json = args.includes('--json') ? [] : ['--json', file];
    process.exitCode =
      spawnSync(process.execPath, [await write(folder), ...args, ...json], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
