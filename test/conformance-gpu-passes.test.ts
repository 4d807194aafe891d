/**
 * The conformance suite on kernels as the NVIDIA device prepares them: the CPU device runs what comes out of its passes, but for functions, which end
 * in what WebAssembly does not have.
 */
import { runPasses } from '../src/compiler/ir/passes/pipeline.ts';
import { cpuProvider, openCpu } from '../src/driver/cpu/index.ts';
import type { Program } from '../src/driver/driver.ts';
import { withExternals } from '../src/driver/externals.ts';
import { PASSES } from '../src/driver/nvidia/compile.ts';
import { registerProvider } from '../src/memory/providers.ts';
import { defineConformance } from './support/conformance.ts';

const passes = PASSES.filter(({ name }) => name !== 'expand math');

await defineConformance({
  title: 'prepared for NVIDIA',
  device: 'cpu',
  async open() {
    const driver = openCpu({ threads: 1 });
    const load = driver.load.bind(driver);
    driver.load = (program: Program) =>
      load({ ...program, kernel: runPasses(passes, withExternals(program.kernel, [], 'the CPU device')) });
    registerProvider({ ...cpuProvider, open: () => driver });
  },
});
