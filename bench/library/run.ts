/**
 * `npm run bench -- library`: bundles the benchmark of reductions and universal functions and runs it on the current device, or only writes it for a host that
 * has Node.js and nvcc but no npm: `npm run bench -- library --bundle DIR`. `--parallel`, `--scans-sorts`, `--graphs`, `--random`: the others. `main.ts` has the other options.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../tools/bare-host.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

const given = process.argv.slice(3);
const OTHERS = ['parallel', 'scans-sorts', 'graphs', 'random'];
const which = OTHERS.find((name) => given.includes(`--${name}`)) ?? 'library';

async function write(folder: string): Promise<string> {
  await bundle(folder, {
    'bench-library': 'bench/library/main.ts',
    ...Object.fromEntries(OTHERS.map((name) => [`bench-${name}`, `bench/library/${name}.ts`])),
  });
  cpSync(join(here, '../peers'), join(folder, 'peers'), { recursive: true });
  return join(folder, `bench-${which}.mjs`);
}

const args = given.filter((arg) => !OTHERS.includes(arg.slice(2)));
const at = args.indexOf('--bundle');
if (at >= 0) {
  const file = await write(resolve(args[at + 1] ?? 'bench-library'));
  console.log(`wrote ${file}; run it with: node ${file} --json out.json`);
} else {
  const cache = join(here, '../../node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'bench-library-'));
  try {
    process.exitCode = spawnSync(process.execPath, [await write(folder), ...args], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
