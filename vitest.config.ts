import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { filesThatShare, shuffled } from './test/support/sharing.ts';

/** What takes minutes where no compiler has anything in its cache. Vitest goes by the size of files, of which these have little. */
const SLOW =
  /conformance-(opencl|hip|webgpu)|opencl-endurance|driver\/opencl\/compile|shapes\.test|conformance-|fuzz\/|test\/(docs|load)\.test/;

/** What is slow first, what shares a process last: vitest keeps such a process only while the next file in the queue shares it too. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shuffle, seed } = this.ctx.config.sequence;
    const sorted = shuffle === true ? shuffled(files, seed) : await super.sort(files);
    const rank = (file: TestSpecification) => (file.project.name === 'shared' ? 2 : SLOW.test(file.moduleId) ? 0 : 1);
    return [0, 1, 2].flatMap((wanted) => sorted.filter((file) => rank(file) === wanted));
  }
}

/**
 * Only in `vitest run --mode all` (`npm run test:all`): what does in other ways what `npm test` does once, and takes longer than it. PoCL compiles
 * for a minute a quarter of the suite where its cache is empty, and ROCm's compiler and clang for minutes all kernels of the suite; Oclgrind interprets. The suite runs on the
 * CPU device and a sixth of it on the simulator; threads, scalar code and devices of promises have tests of their own, and random programs.
 */
const LONG = [
  'test/shapes/**',
  'test/opencl-endurance.test.ts',
  'test/oclgrind.test.ts',
  'test/conformance-minified.test.ts',
  'test/conformance-hip.test.ts',
  'test/conformance-opencl-*.test.ts',
  'test/conformance-promises.test.ts',
  'test/conformance-threads.test.ts',
  'test/conformance-ptx.test.ts',
  'test/conformance-webgpu.test.ts',
  'test/conformance-lavapipe.test.ts',
  'test/webgpu-waiting.test.ts',
  'test/conformance-chromium.test.ts',
  'test/conformance-firefox.test.ts',
  'test/conformance-deno.test.ts',
  'test/pages.test.ts',
  'test/page-canvas.test.ts',
  'test/pages-told.test.ts',
  'test/pages-library.test.ts',
  'test/fuzz/!(fuzz|regressions|directed).test.ts',
  'test/gpu/{runner,bench-cases}.test.ts',
  'test/package.test.ts',
  'test/runaway/{stress,process}.test.ts',
  'test/editor.test.ts',
  'test/cli.test.ts',
  'test/nccl/processes.test.ts',
  'src/parallel/radix-steps.test.ts',
  'src/kernel/too-deep.test.ts',
  'src/driver/nesting.test.ts',
  'src/driver/opencl/compile.test.ts',
  'src/driver/simulator/differential.test.ts',
  'src/compiler/render/ptx/assemble.test.ts',
  'test/amdgcn.test.ts',
];

const EVERY = ['{src,test,testsuite}/**/*.test.ts'];

export default defineConfig(({ mode }) => {
  const left = ['**/node_modules/**', 'test/matrix/**', ...(mode === 'all' ? [] : LONG)];
  const shared = filesThatShare();
  return {
    test: {
      // Machines may be slow, and compilers without a cache.
      testTimeout: 300_000,
      setupFiles: ['test/support/verify-passes.ts'],
      maxWorkers: availableParallelism(),
      // What has not changed is not transformed again: a file of tests starts in half the processor time.
      experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest' },
      sequence: { sequencer: SlowFirst },
      projects: [
        { extends: true, test: { name: 'own', include: EVERY, exclude: [...left, ...shared] } },
        { extends: true, test: { name: 'shared', include: shared, exclude: left, isolate: false } },
      ],
    },
  };
});
