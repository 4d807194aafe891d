/**
 * The NVIDIA device's pipeline from a typed kernel to PTX: which passes run, in which order.
 */

import type { Kernel } from '../../compiler/ir/ops.ts';
import { expandMath } from '../../compiler/ir/passes/expand-math.ts';
import { expandNarrow } from '../../compiler/ir/passes/expand-narrow.ts';
import { expandToInt32 } from '../../compiler/ir/passes/expand-to-int32.ts';
import { linkedWith } from '../../compiler/ir/passes/externals.ts';
import { dropChecks, joinGuards } from '../../compiler/ir/passes/guards.ts';
import { type Pass, runPasses } from '../../compiler/ir/passes/pipeline.ts';
import { reassociate } from '../../compiler/ir/passes/reassociate.ts';
import { replaceArrays } from '../../compiler/ir/passes/scalars.ts';
import { simplify } from '../../compiler/ir/passes/simplify.ts';
import { countTrips } from '../../compiler/ir/passes/trip-counts.ts';
import { type UnrollOptions, unroll } from '../../compiler/ir/passes/unroll.ts';
import type { PtxModule, PtxOptions, PtxTarget } from '../../compiler/render/ptx/module.ts';
import { nativeArithmetic, nativeNarrow } from '../../compiler/render/ptx/narrow.ts';
import { renderPtx } from '../../compiler/render/ptx/render.ts';
import { trace, traceTime } from '../../trace.ts';
import { NVIDIA_CODE, withExternals } from '../externals.ts';

/** How kernels become code. Tests bring their own. */
export interface PtxPipeline {
  /** Compiles a verified kernel for one architecture. Synchronous; throws NotSupportedError for what the device cannot do. */
  compile(kernel: Kernel, target: PtxTarget, options: PtxOptions): PtxModule;
}

/** What is the same for all variants of a kernel. */
const prepared = new WeakMap<Kernel, Kernel>();

/** As nvcc does: an assembler needs the copies to put constants in addresses and to overlap loads. */
const UNROLLED: UnrollOptions = {
  rounds: 64,
  nodes: 2400,
  plainLoads: 512,
  barriers: true,
  elements: false,
  factor: 4,
  nests: true,
  stages: 0,
};

const SIMPLIFY: Pass = { name: 'simplify', run: simplify };

/** What is the same for all architectures. */
export const PASSES: readonly Pass[] = [
  { name: 'drop checks', run: dropChecks },
  SIMPLIFY,
  { name: 'expand math', run: (kernel) => expandMath(expandToInt32(kernel), { target: 'gpu' }), cleanup: SIMPLIFY },
  { name: 'unroll', run: (kernel) => unroll(kernel, UNROLLED), cleanup: SIMPLIFY },
  // The assembler does so with most, but not with all, arrays of 64-bit elements.
  { name: 'name elements', run: replaceArrays, cleanup: SIMPLIFY },
  { name: 'count trips', run: countTrips, cleanup: SIMPLIFY },
  { name: 'join guards', run: joinGuards },
  { name: 'reassociate', run: reassociate },
];

/** The kernel as it is rendered. */
export function prepare(source: Kernel, target: PtxTarget): Kernel {
  // Not the same for all devices, but nearly all kernels have none.
  const native = nativeNarrow(target);
  const kernel = runPasses(
    [
      {
        name: 'settle externals',
        run: (k) =>
          withExternals(k, NVIDIA_CODE, 'an NVIDIA GPU', (fn, type) => fn.native.ptx?.(type, target.capability)),
      },
      { name: 'expand narrow floats', run: (k) => expandNarrow(k, native, nativeArithmetic(target)) },
    ],
    source,
  );
  const known = prepared.get(kernel);
  if (known) return known;
  const done = runPasses(PASSES, kernel);
  prepared.set(kernel, done);
  return done;
}

export const ptxPipeline: PtxPipeline = {
  compile(kernel, target, options) {
    const done = prepare(kernel, target);
    const module = traceTime(
      'compile',
      () => `${options.name}: rendering PTX`,
      () => ({ ...renderPtx(done, target, options), link: linkedWith(done, NVIDIA_CODE) }),
    );
    trace('ptx', () => `${options.name}\n${module.text}`);
    return module;
  },
};
