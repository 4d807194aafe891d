/**
 * `npm run bench -- webgpu`: bundles the WebGPU benchmark and runs it, or only writes it for a host that has Node.js and the package `webgpu` but no
 * npm: `npm run bench -- webgpu --bundle DIR`. `main.ts` has the other options.
 */
import { join } from 'node:path';
import { whyNoGpu } from '../../src/driver/webgpu/door.ts';
import { bundle } from '../../tools/bare-host.ts';
import { runBundled } from '../bundled.ts';

await runBundled({
  name: 'webgpu',
  args: process.argv.slice(3),
  lacking: whyNoGpu,
  recorded: () => 'webgpu',
  async write(folder) {
    await bundle(folder, { 'bench-webgpu': 'bench/webgpu/main.ts' });
    return join(folder, 'bench-webgpu.mjs');
  },
});
