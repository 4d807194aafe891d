/**
 * `npm run bench -- nccl`: bundles the benchmark of collectives and runs it on all GPUs of this host, or only writes it for a host that has Node.js and no npm:
 * `npm run bench -- nccl --bundle DIR`. `main.ts` has the other options.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../tools/bare-host.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const args = process.argv.slice(3);

async function write(folder: string): Promise<string> {
  await bundle(folder, {
    'bench-nccl': 'bench/nccl/main.ts',
    tsamba: 'src/cli/main.ts',
    heat: 'examples/several-gpus/heat.ts',
    'k-means': 'examples/several-gpus/k-means.ts',
    pi: 'examples/several-gpus/pi.ts',
  });
  return join(folder, 'bench-nccl.mjs');
}

const at = args.indexOf('--bundle');
if (at >= 0) {
  const file = await write(resolve(args[at + 1] ?? 'bench-nccl'));
  console.log(`wrote ${file}; run it with: node ${file} --json out.json`);
} else {
  const cache = join(here, '../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-nccl-'));
  try {
    process.exitCode = spawnSync(process.execPath, [await write(folder), ...args], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
