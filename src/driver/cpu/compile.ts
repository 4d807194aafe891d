/**
 * The CPU device's pipeline from a typed kernel to WebAssembly: which passes run, in which order.
 */

import type { Kernel } from '../../compiler/ir/ops.ts';
import { countBits } from '../../compiler/ir/passes/bit-counts.ts';
import { expandIntrinsics, hasExpansions } from '../../compiler/ir/passes/expand-intrinsics.ts';
import { expandNarrow } from '../../compiler/ir/passes/expand-narrow.ts';
import { expandPlainMath } from '../../compiler/ir/passes/expand-plain-math.ts';
import { dropChecks } from '../../compiler/ir/passes/guards.ts';
import { keepIntegers } from '../../compiler/ir/passes/keep-integers.ts';
import { withValues } from '../../compiler/ir/passes/known-values.ts';
import { nameLanes } from '../../compiler/ir/passes/lanes.ts';
import { writeLastRounds } from '../../compiler/ir/passes/last-rounds.ts';
import { splitRanges } from '../../compiler/ir/passes/live-ranges.ts';
import { hoistBounds } from '../../compiler/ir/passes/loop-bounds.ts';
import { type Pass, runPasses } from '../../compiler/ir/passes/pipeline.ts';
import { reuseLoads } from '../../compiler/ir/passes/reuse-loads.ts';
import { replaceArrays } from '../../compiler/ir/passes/scalars.ts';
import { simplify } from '../../compiler/ir/passes/simplify.ts';
import { unroll } from '../../compiler/ir/passes/unroll.ts';
import { hasLoop, someExpr, someStmt, stmtExprs } from '../../compiler/ir/passes/walk.ts';
import { hasExchange, lowerWarps } from '../../compiler/ir/passes/warps.ts';
import { recogniseBlockScans } from '../../compiler/render/wasm/block-scans.ts';
import { isNative } from '../../compiler/render/wasm/intrinsics.ts';
import type { WasmModule, WasmVariant } from '../../compiler/render/wasm/module.ts';
import { renderWasm } from '../../compiler/render/wasm/render.ts';
import { rowsInFours } from '../../compiler/render/wasm/row-fours.ts';
import { loopsInRows } from '../../compiler/render/wasm/row-sums.ts';
import { warpLanes } from '../../compiler/render/wasm/whole-warps.ts';
import { NotSupportedError } from '../../errors.ts';
import { trace, traceTime } from '../../trace.ts';
import { withExternals } from '../externals.ts';
import { describePosition, kernelLabel } from '../launch-errors.ts';
import { disassemble } from './disassembly.ts';

/** How kernels become code, in two steps. Tests bring their own. */
export interface Pipeline {
  /** Done once a kernel: what no later specialisation changes. */
  prepare(kernel: Kernel): Kernel;
  /** Done once for each block shape, which becomes a constant of the code. */
  compile(prepared: Kernel, variant: WasmVariant): WasmModule;
}

const LOWER: readonly Pass[] = [
  { name: 'settle externals', run: (kernel) => withExternals(kernel, [], 'the CPU device') },
  { name: 'drop checks', run: dropChecks },
  { name: 'expand narrow floats', run: (kernel) => expandNarrow(kernel, { f16: 'all' }) },
];

const EXPAND: readonly Pass[] = [
  { name: 'simplify', run: simplify },
  { name: 'expand math', run: (kernel) => expandPlainMath(expandIntrinsics(kernel, isNative)) },
];

export const wasmPipeline: Pipeline = {
  prepare(kernel) {
    const plain = runPasses(LOWER, kernel);
    // What has no functions to expand is simplified once, when the block shape is known too.
    return hasCalls(plain) || hasExpansions(plain, isNative) ? runPasses(EXPAND, plain) : plain;
  },
  compile(prepared, variant) {
    const { block, known } = variant;
    const settled: Pass = { name: 'settle extents', run: (k) => (known === undefined ? k : withValues(k, known)) };
    const simplified: Pass = { name: 'simplify', run: (kernel) => simplify(kernel, { block, masks: true }) };
    const first = hasExchange(prepared) ? warpPasses(prepared, variant, simplified) : [simplified];
    const bounds: Pass = { name: 'hoist bounds', run: hoistBounds };
    const integers: Pass = { name: 'keep integers', run: keepIntegers, cleanup: simplified };
    const counts: Pass = { name: 'count bits', run: countBits, cleanup: simplified };
    const ahead = runPasses([settled, ...first, counts, integers, bounds], prepared);
    const { kernel, scans } = recogniseBlockScans(ahead, block);
    const inRounds = (k: Kernel): Kernel =>
      hasLoop(k.body) ? unroll(k, undefined, new Set([...loopsInRows(k, variant), ...scans.keys()])) : k;
    const unrolled: Pass = { name: 'unroll', run: inRounds, cleanup: simplified };
    const fours: Pass = { name: 'rows in fours', run: (k) => rowsInFours(k, variant), cleanup: simplified };
    // Four times the code: not for what is to be compiled in no time.
    const apart: Pass = { name: 'write last rounds', run: writeLastRounds, cleanup: simplified };
    const ranges: Pass = { name: 'split ranges', run: splitRanges, cleanup: simplified };
    const last = variant.quick === true || variant.lanes === 1 ? [] : [fours, apart, ranges];
    const cleanup: Pass = { name: 'reuse loads', run: (k) => simplify(reuseLoads(k), { block }) };
    const done = runPasses([unrolled, ...last, { name: 'replace arrays', run: replaceArrays, cleanup }], kernel);
    const module = traceTime(
      'compile',
      () => `${kernelLabel(done)}: rendering WebAssembly`,
      () => renderWasm(done, variant, scans),
    );
    trace('wasm', () => `${kernelLabel(done)}\n${disassemble(module.bytes)}`);
    return module;
  },
};

function hasCalls({ body }: Kernel): boolean {
  return someStmt(body, (s) => stmtExprs(s).some((e) => someExpr(e, (x) => x.op === 'call')));
}

/** Lanes have names where vectors are warps; elsewhere, what they exchange goes through shared memory. */
function warpPasses(kernel: Kernel, variant: WasmVariant, simplified: Pass): readonly Pass[] {
  return warpLanes(kernel, variant) === undefined
    ? [{ name: 'lower warps', run: withoutWarps }, simplified]
    : [simplified, { name: 'name lanes', run: nameLanes, cleanup: simplified }];
}

function withoutWarps(kernel: Kernel): Kernel {
  const { kernel: lowered, problems } = lowerWarps(kernel);
  const [problem] = problems;
  if (lowered !== undefined || problem === undefined) return lowered ?? kernel;
  throw new NotSupportedError(
    'E_WARP',
    `kernel ${kernel.name} exchanges values between lanes in a loop that its threads leave at different times, which the CPU device cannot run\n` +
      `  --> ${describePosition(problem.pos)}\n  the loop: ${describePosition(problem.reasonPos)}\n` +
      '  help: let all threads of the block make the same number of iterations, and mask out what they do in the last',
  );
}
