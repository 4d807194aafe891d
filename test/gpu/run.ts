/**
 * `npm run test:gpu`: bundles the GPU tests and runs them where there is a GPU; `-- --bundle DIR` only writes the bundle, for a
 * host that has nothing but Node.js. Other options go to the tests (`options.ts`); `--device cpu` tries them without a GPU.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../tools/bare-host.ts';
import { machine } from './machine.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache');
const README = `Run the GPU tests here with Node.js 20.19 or newer and an NVIDIA driver, nothing else:

    node test-gpu.mjs [--filter TEXT] [--json out.json]

node test-gpu.mjs --help lists the options: --device opencl is for the host's OpenCL device (TSAMBA_OPENCL_DEVICE).
sanitize.sh runs them under compute-sanitizer; node tour.mjs FOLDER draws the tour's pictures into a folder; ulp.mjs
measures the error of f32 functions over all their arguments.
`;

async function write(folder: string): Promise<string> {
  await bundle(folder, {
    'test-gpu': 'test/gpu/main.ts',
    tour: 'examples/tour/main.ts',
    ulp: 'bench/ulp/device.ts',
    soak: 'test/soak/main.ts',
  });
  copyFileSync(join(ROOT, 'examples/tour/coffee.png'), join(folder, 'coffee.png'));
  copyFileSync(join(ROOT, 'test/gpu/sanitize.sh'), join(folder, 'sanitize.sh'));
  writeFileSync(join(folder, 'README.txt'), README);
  return join(folder, 'test-gpu.mjs');
}

const args = process.argv.slice(2);
const at = args.indexOf('--bundle');
if (at >= 0) {
  const folder = resolve(args[at + 1] ?? 'gpu-tests');
  console.log(`wrote ${await write(folder)}; run it with: node ${join(folder, 'test-gpu.mjs')}`);
} else if (!args.includes('--device') && machine().gpu === 'no GPU') {
  console.log('there is no NVIDIA GPU here: nothing was tested. --bundle DIR writes the tests for a host that has one');
} else {
  // Inside node_modules, so that koffi is found.
  const folder = mkdtempSync(join(existsSync(CACHE) ? CACHE : join(CACHE, '..'), 'test-gpu-'));
  try {
    const script = await write(folder);
    process.exitCode = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
