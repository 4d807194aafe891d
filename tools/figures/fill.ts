/**
 * Puts the figures of the newest records into pages, between `<!-- figures: NAME -->` and `<!-- end of figures -->`.
 */
import { cpuKernels, cpuLatencies, cpuOverview } from './cpu.ts';
import { graphs, opencl, primitives, random } from './libraries.ts';
import { numbaKernels, nvidiaCalls, nvidiaKernels, nvidiaOverview } from './nvidia.ts';
import { webgpuKernels, webgpuPages } from './web.ts';

/** The pages with figures, from the root of the repository. */
export const PAGES: readonly string[] = ['README.md', 'docs/benchmarks.md', 'docs/webgpu.md'];

const TABLES: Readonly<Record<string, () => string>> = {
  'cpu-kernels': cpuKernels,
  'cpu-latencies': cpuLatencies,
  'cpu-overview': cpuOverview,
  'nvidia-kernels': nvidiaKernels,
  'nvidia-numba': numbaKernels,
  'nvidia-calls': nvidiaCalls,
  'nvidia-overview': nvidiaOverview,
  graphs,
  random,
  primitives,
  'opencl-nvidia': () => opencl('opencl-nvidia'),
  'opencl-pocl': () => opencl('opencl'),
  'webgpu-kernels': webgpuKernels,
  'webgpu-pages': webgpuPages,
};

const BLOCK = /(<!-- figures: ([\w-]+) -->\n)[\s\S]*?(\n<!-- end of figures -->)/g;

/** The names of the blocks of a page. */
export function namesOf(page: string): string[] {
  return Array.from(page.matchAll(BLOCK), (match) => String(match[2]));
}

/** The page with the newest figures. Throws where a block has a name that no table has. */
export function fill(page: string): string {
  return page.replace(BLOCK, (_, begin: string, name: string, end: string) => {
    const make = TABLES[name];
    if (make === undefined) throw new Error(`There are no figures called ${name}: tools/figures/fill.ts has all names`);
    return `${begin}\n${make()}\n${end}`;
  });
}

/** All names of tables. */
export const NAMES: readonly string[] = Object.keys(TABLES);
