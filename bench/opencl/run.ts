/**
 * `npm run bench -- opencl`: bundles the OpenCL benchmark and runs it, or only writes it for a host that has Node.js and OpenCL but
 * no npm: `npm run bench -- opencl --bundle DIR`. `main.ts` has the other options.
 */
import { join } from 'node:path';
import { probeOpenCL } from '../../src/driver/opencl/platforms.ts';
import { bundle } from '../../tools/bare-host.ts';
import { runBundled } from '../bundled.ts';

await runBundled({
  name: 'opencl',
  args: process.argv.slice(3),
  lacking() {
    const { reason } = probeOpenCL();
    return reason === undefined ? undefined : `${reason}. --bundle DIR writes the benchmark for a host that has OpenCL`;
  },
  recorded: () => 'opencl',
  async write(folder) {
    await bundle(folder, { 'bench-opencl': 'bench/opencl/main.ts' });
    return join(folder, 'bench-opencl.mjs');
  },
});
