/**
 * `npm run bench -- nvidia`: bundles the NVIDIA benchmark and runs it, or only writes it for a host that has Node.js, nvcc and
 * Python with numba-cuda but no npm: `npm run bench -- nvidia --bundle DIR`. `main.ts` has the other options.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { machine } from '../../test/gpu/machine.ts';
import { bundle } from '../../tools/bare-host.ts';
import { PEERS, runBundled } from '../bundled.ts';

await runBundled({
  name: 'nvidia',
  args: process.argv.slice(3),
  lacking: () =>
    machine().gpu === 'no GPU'
      ? 'there is no NVIDIA GPU here. --bundle DIR writes the benchmark for a host that has one'
      : undefined,
  recorded: () => 'nvidia',
  async write(folder) {
    const programs = { 'bench-nvidia': 'bench/nvidia/main.ts', 'first-kernel': 'bench/nvidia/first-kernel.ts' };
    await bundle(folder, programs, { together: true });
    cpSync(PEERS, join(folder, 'peers'), { recursive: true });
    return join(folder, 'bench-nvidia.mjs');
  },
});
