/**
 * `npm run bench -- library`: bundles the benchmark of reductions and universal functions and runs it on the current device, or only writes it for a host that
 * has Node.js and nvcc but no npm: `npm run bench -- library --bundle DIR`. `--parallel`, `--scans-sorts`, `--graphs`, `--random`, `--profile`: the others. `main.ts` has the other options.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../tools/bare-host.ts';
import { PEERS, runBundled } from '../bundled.ts';

const given = process.argv.slice(3);
const OTHERS = ['parallel', 'scans-sorts', 'graphs', 'random', 'profile'] as const;
const VARIANTS = {
  parallel: { help: 'reductions and histograms of tsamba/parallel instead' },
  'scans-sorts': { help: 'scans and sorts instead' },
  graphs: { help: 'launches of graphs instead' },
  random: { help: 'random numbers instead' },
  profile: { help: 'what profiling costs instead' },
};
const which = OTHERS.find((name) => given.includes(`--${name}`)) ?? 'library';

await runBundled({
  name: which,
  command: which === 'library' ? which : `library --${which}`,
  ...(which === 'library' && { variants: VARIANTS }),
  args: given.filter((arg) => arg !== `--${which}`),
  async write(folder) {
    await bundle(folder, {
      'bench-library': 'bench/library/main.ts',
      ...Object.fromEntries(OTHERS.map((name) => [`bench-${name}`, `bench/library/${name}.ts`])),
    });
    cpSync(PEERS, join(folder, 'peers'), { recursive: true });
    return join(folder, `bench-${which}.mjs`);
  },
});
