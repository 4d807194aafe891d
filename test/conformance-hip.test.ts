/**
 * The conformance suite on the CPU device without SIMD, and AMD code of every kernel: whatever is loaded there is rendered as HIP C++
 * and compiled for GPUs of three generations by ROCm's compiler, and of two more by clang. What the compiler says of each (barriers, LDS, arguments) is held
 * against what the renderer said. Nothing runs: there is no emulator of these GPUs here.
 */
import { describe, expect, it } from 'vitest';
import type { Kernel } from '../src/compiler/ir/ops.ts';
import { externalsIn } from '../src/compiler/ir/passes/externals.ts';
import type { OpenCLModule } from '../src/compiler/render/opencl/module.ts';
import { cpuProvider, openCpu } from '../src/driver/cpu/index.ts';
import type { Program } from '../src/driver/driver.ts';
import { type AmdKernel, hasRocm, inspectCode, mergeHip } from '../src/driver/hip/amd.testing.ts';
import { CLANG_TOOLS, compileWithClang, hasClang } from '../src/driver/hip/clang.testing.ts';
import { compileHip } from '../src/driver/hip/compiler.ts';
import { HIP_TARGET } from '../src/driver/hip/info.ts';
import { offsetsOf } from '../src/driver/hip/module.ts';
import { openclPipeline } from '../src/driver/opencl/compile.ts';
import { NotSupportedError } from '../src/errors.ts';
import { registerProvider } from '../src/memory/providers.ts';
import { defineConformance } from './support/conformance.ts';

const kernels = new Set<Kernel>();

await defineConformance({
  title: 'scalar',
  device: 'cpu',
  environment: { TSAMBA_CPU_SIMD: '0', TSAMBA_CPU_THREADS: '1' },
  async open() {
    const driver = openCpu({ threads: 1 });
    const load = driver.load.bind(driver);
    driver.load = (program: Program) => {
      // Functions of one name are defined by several kernels: `externals.test.ts` compiles such.
      if (externalsIn(program.kernel).length === 0) kernels.add(program.kernel);
      return load(program);
    };
    registerProvider({ ...cpuProvider, open: () => driver });
  },
});

/** Kernels in a program: starting the compiler takes longer than compiling one. */
const TOGETHER = 100;
/**
 * clang compiles each kernel once, with checks or without, for one of its architectures in turns; of those with shared memory, and by ROCm's compiler, which is slow, it takes
 * one in so many for each. All for all with TSAMBA_TEST_LONG=1.
 */
const ARCHITECTURES = ['gfx90a', 'gfx906', 'gfx1030'];
const OF_CLANG = ['gfx906', 'gfx1030', 'gfx942', 'gfx1100'];
const [SAMPLED, SHARED] = process.env['TSAMBA_TEST_LONG'] === '1' ? [1, 1] : [21, 9];

describe('HIP C++ of the suite', () => {
  const modules: OpenCLModule[] = [];

  it('is rendered', { timeout: 300_000 }, () => {
    expect(kernels.size).toBeGreaterThan(300);
    let refused = 0;
    for (const kernel of kernels) {
      for (const form of [kernel, { ...kernel, checked: false, contract: true }]) {
        try {
          modules.push(openclPipeline.compile(form, HIP_TARGET, { name: `k${modules.length}` }));
        } catch (error) {
          // Warp functions in divergent loops.
          if (!(error instanceof NotSupportedError)) throw error;
          refused++;
        }
      }
    }
    expect(refused).toBeLessThan(kernels.size / 20);
  });

  const long = { timeout: 600_000 };
  const name = 'compiles for %s: barriers, LDS and arguments are what they must be';
  const sample = (first: number): OpenCLModule[] =>
    modules.filter(({ staticSharedBytes }, k) => (k + first) % (staticSharedBytes > 0 ? SHARED : SAMPLED) === 0);

  /** Of every fourth kernel the one form or the other, and what is sampled. */
  const turn = (arch: string): OpenCLModule[] => {
    const [at, sampled] = [OF_CLANG.indexOf(arch), new Set(sample(ARCHITECTURES.length + OF_CLANG.indexOf(arch)))];
    return modules.filter((module, k) => ((k >> 1) % 4 === at && k % 2 === (k >> 3) % 2) || sampled.has(module));
  };

  it.skipIf(!hasRocm()).each(ARCHITECTURES)(`by ROCm, ${name}`, long, (arch) => {
    const first = ARCHITECTURES.indexOf(arch);
    const options = ['-O1', '-ffp-contract=off'];
    checkAll(sample(first), (some) => inspectCode(compileHip(mergeHip(some), { name: 'suite', arch, options }), arch));
  });

  it.skipIf(!hasClang()).each(OF_CLANG)(`by clang, ${name}`, long, (arch) => {
    checkAll(turn(arch), (some) => inspectCode(compileWithClang(mergeHip(some), arch), arch, CLANG_TOOLS));
  });
});

function checkAll(
  modules: readonly OpenCLModule[],
  compile: (some: readonly OpenCLModule[]) => ReadonlyMap<string, AmdKernel>,
): void {
  let [sharing, without] = [0, 0];
  for (let k = 0; k < modules.length; k += TOGETHER) {
    const some = modules.slice(k, k + TOGETHER);
    const compiled = compile(some);
    for (const module of some) {
      const kernel = compiled.get(module.entry);
      checkAgainst(module, kernel);
      if (module.staticSharedBytes > 0) sharing++;
      if (module.staticSharedBytes > 0 && kernel?.ldsBytes === 0) without++;
    }
  }
  // Shared memory of which each thread reads what it has stored itself, or everybody the same constant, need not be there.
  expect(without).toBeLessThan(sharing / 10);
}

function checkAgainst(module: OpenCLModule, compiled: AmdKernel | undefined): void {
  if (compiled === undefined) throw new Error(`there is no ${module.entry} in the code`);
  const { instructions, ldsBytes, args } = compiled;
  const { text, staticSharedBytes } = module;
  // What is said is rounded up, array by array; exchanges between lanes whose result nobody uses are left out.
  const arrays = [...text.matchAll(/__shared__/g)].length;
  // LLVM keeps small arrays of a thread that are indexed by variables in LDS where the block leaves room, and counts them in what the code says.
  const body = text.slice(text.indexOf('__global__'));
  const mayPromote = /^\s+(?!__shared__)\w+ \w+\[\d+\](?: __attribute__\(\(aligned\(\d+\)\)\))?;/m.test(body);
  // And it makes arrays of few elements, where no index varies, into variables that are aligned as the arrays are.
  const lengths = [...text.matchAll(/__shared__ \w+ \w+\[(\d+)\]/g)].map(([, length]) => Number(length));
  const split = lengths.filter((length) => length <= 16).reduce((bytes, length) => bytes + 16 * length, 0);
  if (!mayPromote) expect(ldsBytes, text).toBeLessThanOrEqual(staticSharedBytes + split);
  if (staticSharedBytes > 0 && ldsBytes > 0 && !text.includes('_lanes['))
    expect(ldsBytes, text).toBeGreaterThan(staticSharedBytes - 16 * arrays);
  // Parts of words, and what it has moved there, may be reached by addresses of any space; where LDS lies in these, a register says.
  if (ldsBytes > 0) expect(instructions, text).toMatch(/\bds_|src_shared_base|HW_REG_SH_MEM_BASES/);
  if (/\bbarrier\(/.test(text.slice(text.indexOf('__global__')))) expect(instructions, text).toMatch(/\bs_barrier\b/);
  expect(args.map(({ offset }) => offset)).toEqual(offsetsOf(module.args));
}
