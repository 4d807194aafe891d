/**
 * The OpenCL device's pipeline from a typed kernel to OpenCL C: which passes run, in which order.
 */

import type { Kernel } from '../../compiler/ir/ops.ts';
import { expandIntrinsics } from '../../compiler/ir/passes/expand-intrinsics.ts';
import { expandMath } from '../../compiler/ir/passes/expand-math.ts';
import { expandNarrow } from '../../compiler/ir/passes/expand-narrow.ts';
import { expandToInt32 } from '../../compiler/ir/passes/expand-to-int32.ts';
import { dropChecks, joinGuards } from '../../compiler/ir/passes/guards.ts';
import { type Pass, runPasses } from '../../compiler/ir/passes/pipeline.ts';
import { simplify } from '../../compiler/ir/passes/simplify.ts';
import { lowerWarps } from '../../compiler/ir/passes/warps.ts';
import { formOf } from '../../compiler/render/opencl/intrinsics.ts';
import type { OpenCLModule, OpenCLOptions, OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { renderOpenCL } from '../../compiler/render/opencl/render.ts';
import { NotSupportedError } from '../../errors.ts';
import { trace, traceTime } from '../../trace.ts';
import { HIP_CODE, OPENCL_CODE, withExternals } from '../externals.ts';
import { describePosition } from '../launch-errors.ts';

/** How kernels become code. Tests bring their own. */
export interface OpenCLPipeline {
  /** Compiles a verified kernel for one device. Synchronous; throws NotSupportedError for what the device cannot do. */
  compile(kernel: Kernel, target: OpenCLTarget, options: OpenCLOptions): OpenCLModule;
}

export const openclPipeline: OpenCLPipeline = {
  compile(kernel, target, options) {
    const done = prepare(kernel, target, options);
    const module = traceTime(
      'compile',
      () => `${options.name}: rendering OpenCL C`,
      () => renderOpenCL(done, target, options),
    );
    trace('opencl', () => `${options.name}\n${module.text}`);
    return module;
  },
};

/** The kernel as it is rendered. */
export function prepare(kernel: Kernel, target: OpenCLTarget, { block }: OpenCLOptions): Kernel {
  const simplified: Pass = { name: 'simplify', run: (k) => simplify(k, { block }) };
  return runPasses(
    [
      { name: 'settle externals', run: (k) => settled(k, target) },
      { name: 'drop checks', run: dropChecks },
      { name: 'lower warps', run: withoutWarps },
      { name: 'expand narrow floats', run: (k) => expandNarrow(k, { f16: 'all' }) },
      simplified,
      { name: 'expand math', run: (k) => expand(expandToInt32(k), target), cleanup: simplified },
      { name: 'join guards', run: joinGuards },
    ],
    kernel,
  );
}

function settled(kernel: Kernel, { dialect, arch = '' }: OpenCLTarget): Kernel {
  return dialect === 'hip'
    ? withExternals(kernel, HIP_CODE, 'a HIP device', (fn, type) => fn.native.hip?.(type, arch))
    : withExternals(kernel, OPENCL_CODE, 'an OpenCL device', (fn, type) => fn.native.opencl?.(type));
}

/** Functions of f32 are built on fma and on the hardware's approximations where it has both, or where fastMath asks for them. */
function expand(kernel: Kernel, target: OpenCLTarget): Kernel {
  const plain = expandIntrinsics(kernel, (e) => formOf(e, target) !== undefined);
  const portable = target.fastFma || kernel.fastMath ? plain : expandMath(plain, { f32: true, f64: 'import' });
  return expandMath(portable, { target: 'gpu' });
}

/** Threads have no warps of 32 here: what lanes exchange goes through shared memory. */
function withoutWarps(kernel: Kernel): Kernel {
  const { kernel: lowered, problems } = lowerWarps(kernel);
  const [problem] = problems;
  if (lowered !== undefined || problem === undefined) return lowered ?? kernel;
  throw new NotSupportedError(
    'E_WARP',
    `kernel ${kernel.name} exchanges values between lanes in a loop that its threads leave at different times, which OpenCL devices cannot run\n` +
      `  --> ${describePosition(problem.pos)}\n  the loop: ${describePosition(problem.reasonPos)}\n` +
      '  help: let all threads of the block make the same number of iterations, and mask out what they do in the last',
  );
}
