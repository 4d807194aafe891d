/**
 * `npm run bench -- nccl`: bundles the benchmark of collectives and runs it on all GPUs of this host, or only writes it for a host that has Node.js and no npm:
 * `npm run bench -- nccl --bundle DIR`. `main.ts` has the other options.
 */
import { join } from 'node:path';
import { bundle } from '../../tools/bare-host.ts';
import { runBundled } from '../bundled.ts';

await runBundled({
  name: 'nccl',
  args: process.argv.slice(3),
  async write(folder) {
    await bundle(folder, {
      'bench-nccl': 'bench/nccl/main.ts',
      ranks: 'bench/nccl/ranks.ts',
      tsamba: 'src/cli/main.ts',
      heat: 'examples/several-gpus/heat.ts',
      'k-means': 'examples/several-gpus/k-means.ts',
      pi: 'examples/several-gpus/pi.ts',
    });
    return join(folder, 'bench-nccl.mjs');
  },
});
