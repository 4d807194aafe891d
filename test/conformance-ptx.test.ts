/**
 * The conformance suite on kernels as the NVIDIA device prepares them: the CPU device runs what comes out of its passes, but for functions, which end
 * in what WebAssembly does not have. And the PTX of every kernel: whatever is loaded is rendered for GPUs as well, checked and unchecked, and
 * assembled where ptxas is installed.
 */
import { describe, expect, it } from 'vitest';
import type { Kernel } from '../src/compiler/ir/ops.ts';
import { runPasses } from '../src/compiler/ir/passes/pipeline.ts';
import { assemble, hasPtxas, merge } from '../src/compiler/render/ptx/assemble.testing.ts';
import type { PtxModule } from '../src/compiler/render/ptx/module.ts';
import { cpuProvider, openCpu } from '../src/driver/cpu/index.ts';
import type { Program } from '../src/driver/driver.ts';
import { withExternals } from '../src/driver/externals.ts';
import { PASSES, ptxPipeline } from '../src/driver/nvidia/compile.ts';
import { registerProvider } from '../src/memory/providers.ts';
import { defineConformance } from './support/conformance.ts';

const kernels = new Set<Kernel>();
const passes = PASSES.filter(({ name }) => name !== 'expand math');

await defineConformance({
  title: 'prepared for NVIDIA',
  device: 'cpu',
  async open() {
    const driver = openCpu({ threads: 1 });
    const load = driver.load.bind(driver);
    driver.load = (program: Program) => {
      const kernel = runPasses(passes, withExternals(program.kernel, [], 'the CPU device'));
      const executable = load({ ...program, kernel });
      kernels.add(program.kernel);
      return executable;
    };
    registerProvider({ ...cpuProvider, open: () => driver });
  },
});

/** Kernels in a file for ptxas at most, and bytes of their constants: a module has 64 KiB. */
const TOGETHER = 100;
const CONSTANTS = 60_000;

function constantBytes({ text }: PtxModule): number {
  return Array.from(text.matchAll(/^\.const .*\[(\d+)\]/gm)).reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** Files for ptxas. */
function files(modules: readonly PtxModule[]): PtxModule[][] {
  const made: PtxModule[][] = [[]];
  let bytes = 0;
  for (const module of modules) {
    const own = constantBytes(module);
    if (made.at(-1)?.length === TOGETHER || bytes + own > CONSTANTS) {
      made.push([]);
      bytes = 0;
    }
    made.at(-1)?.push(module);
    bytes += own;
  }
  return made;
}

describe('PTX of the suite', () => {
  const modules: PtxModule[] = [];

  it('is rendered', { timeout: 300_000 }, () => {
    expect(kernels.size).toBeGreaterThan(300);
    const options = { name: 'kernel', aliased: false };
    const target = { capability: 90, isa: [9, 0] } as const;
    for (const kernel of kernels) {
      modules.push(ptxPipeline.compile(kernel, target, options));
      modules.push(ptxPipeline.compile({ ...kernel, checked: false, contract: true }, target, options));
    }
  });

  it('accesses arrays of its own at multiples of what is accessed, which the assembler does not check', () => {
    const access = /\b(?:ld|st)\.[\w.]*?(?:\.v([24]))?\.[bfsu](\d+) [^[\n]*\[([A-Za-z_]\w*)(?:\+(\d+))?\]/g;
    const wrong = modules.flatMap(({ text }) => {
      const aligned = new Map(
        Array.from(text.matchAll(/\.align (\d+) \.b8 (\w+)\[/g), ([, bytes, name]) => [name, Number(bytes)]),
      );
      return Array.from(text.matchAll(access)).flatMap(([line, lanes = '1', bits, name, disp = '0']) => {
        const bytes = (Number(lanes) * Number(bits)) / 8;
        const known = aligned.get(name);
        return known === undefined || (known % bytes === 0 && Number(disp) % bytes === 0) ? [] : [line];
      });
    });
    expect(wrong).toEqual([]);
  });

  it.skipIf(!hasPtxas())('assembles', { timeout: 300_000 }, async () => {
    // Of each kernel the one form or the other. All with TSAMBA_TEST_LONG=1.
    const some = process.env['TSAMBA_TEST_LONG'] === '1' ? modules : modules.filter((_, k) => k % 2 === (k >> 1) % 2);
    for (const file of files(some)) await assemble(merge(file), 90, ['-O0', '-c']);
  });
});
