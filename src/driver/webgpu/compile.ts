/**
 * The WebGPU device's pipeline from a typed kernel to WGSL: which passes run, in which order.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { expandIntrinsics } from '../../compiler/ir/passes/expand-intrinsics.ts';
import { expandMath } from '../../compiler/ir/passes/expand-math.ts';
import { expandNarrow } from '../../compiler/ir/passes/expand-narrow.ts';
import { expandCalls } from '../../compiler/ir/passes/expand-plain-math.ts';
import { expandToInt32 } from '../../compiler/ir/passes/expand-to-int32.ts';
import { dropChecks, joinGuards } from '../../compiler/ir/passes/guards.ts';
import { withValues } from '../../compiler/ir/passes/known-values.ts';
import { overlapRounds } from '../../compiler/ir/passes/overlap-rounds.ts';
import { type Pass, runPasses } from '../../compiler/ir/passes/pipeline.ts';
import { simplify } from '../../compiler/ir/passes/simplify.ts';
import { someStmt } from '../../compiler/ir/passes/walk.ts';
import { lowerWarps } from '../../compiler/ir/passes/warps.ts';
import { wgslBody, wgslSincos } from '../../compiler/render/wgsl/math.ts';
import type { WgslModule, WgslOptions } from '../../compiler/render/wgsl/module.ts';
import { renderWgsl } from '../../compiler/render/wgsl/render.ts';
import { NotSupportedError } from '../../errors.ts';
import { MissingPart } from '../../on-demand.ts';
import { trace, traceTime } from '../../trace.ts';
import { withExternals } from '../externals.ts';
import { describePosition } from '../launch-errors.ts';
import { nameElements } from './elements.ts';

/** Compiles a verified kernel for one block shape. Throws NotSupportedError for what WebGPU lacks. */
export function compileWgsl(kernel: Kernel, options: WgslOptions): WgslModule {
  const done = prepare(kernel, options);
  const module = traceTime(
    'compile',
    () => `${options.name}: rendering WGSL`,
    () => renderWgsl(done, options),
  );
  trace('wgsl', () => `${options.name}\n${module.text}`);
  return module;
}

/** Renders a kernel in each of these ways and drops what comes of it, so that all functions of the compiler are loaded that do it: what one way cannot have, its launch will say. */
export function rehearseWgsl(kernel: Kernel, ways: readonly [WgslOptions, ...WgslOptions[]]): void {
  const done = prepare(kernel, ways[0]);
  for (const options of ways) {
    try {
      renderWgsl(done, options);
    } catch (error) {
      if (error instanceof MissingPart) throw error;
    }
  }
}

/** The kernel as it is rendered. */
export function prepare(kernel: Kernel, options: Pick<WgslOptions, 'block' | 'known' | 'abilities'>): Kernel {
  const { block, known, abilities = {} } = options;
  const simplified: Pass = { name: 'simplify', run: (k) => simplify(k, { block }) };
  return runPasses(
    [
      { name: 'settle externals', run: (k) => withExternals(k, [], 'a WebGPU device', () => undefined) },
      { name: 'settle lengths', run: (k) => (known === undefined ? k : withValues(k, known.values)) },
      { name: 'drop checks', run: dropChecks },
      { name: 'lower warps', run: (k) => lowered(k, abilities.warps === true ? block : undefined) },
      {
        name: 'expand narrow floats',
        run: (k) => expandNarrow(k, abilities.halves === undefined ? {} : { f16: 'f32' }),
      },
      simplified,
      { name: 'expand math', run: expand, cleanup: simplified },
      // Modules for lengths that came again are made on processors alone, and nobody waits for them.
      { name: 'name elements', run: (k) => (known && hasLoop(k) ? nameElements(k, simplified.run) : k) },
      { name: 'overlap rounds', run: overlapRounds, cleanup: simplified },
      { name: 'join guards', run: joinGuards },
    ],
    kernel,
  );
}

function hasLoop({ body }: Kernel): boolean {
  return someStmt(body, (s) => s.op === 'loop');
}

/** WGSL's own functions are not accurate enough, and its fma need not be one: functions of f32 are built on neither, unless fastMath asks for them. */
function expand(kernel: Kernel): Kernel {
  const plain = expandIntrinsics(expandToInt32(kernel), ({ fn }) => fn.native?.wgsl !== undefined);
  const portable = kernel.fastMath ? plain : expandCalls(plain, wgslBody, wgslSincos);
  return expandMath(portable, { target: 'gpu' });
}

/** Where subgroups are not warps, or not all lanes may be there, what lanes exchange goes through workgroup memory. `block`: where they are. */
function lowered(kernel: Kernel, block: WgslOptions['block'] | undefined): Kernel {
  const { kernel: done, problems } = lowerWarps(kernel, block);
  const [problem] = problems;
  if (done !== undefined || problem === undefined) return done ?? kernel;
  throw new NotSupportedError(
    'E_WARP',
    `kernel ${kernel.name} exchanges values between lanes in a loop that its threads leave at different times, which WebGPU devices cannot run\n` +
      `  --> ${describePosition(problem.pos)}\n  the loop: ${describePosition(problem.reasonPos)}\n` +
      '  help: let all threads of the block make the same number of iterations, and mask out what they do in the last',
  );
}
