/**
 * `npm run bench -- memory`: bundles the benchmark of the memory model and runs it on the current device, or only writes it for a host
 * that has Node.js but no npm: `npm run bench -- memory --bundle DIR`.
 */
import { join } from 'node:path';
import { cuda } from '../../src/index.ts';
import { bundle } from '../../tools/bare-host.ts';
import { runBundled } from '../bundled.ts';

await runBundled({
  name: 'memory',
  args: process.argv.slice(3),
  recorded: () => `memory-${cuda.currentDevice().kind}`,
  async write(folder) {
    await bundle(folder, { 'bench-memory': 'bench/memory/main.ts' });
    return join(folder, 'bench-memory.mjs');
  },
});
