/**
 * The CPU device's pipeline from a typed kernel to WebAssembly: which passes run, in which order.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { expandMath } from '../../compiler/ir/passes/expand-math.ts';
import { simplify } from '../../compiler/ir/passes/simplify.ts';
import { unroll } from '../../compiler/ir/passes/unroll.ts';
import type { WasmModule, WasmVariant } from '../../compiler/render/wasm/module.ts';
import { renderWasm } from '../../compiler/render/wasm/render.ts';

/** How kernels become code, in two steps. Tests bring their own. */
export interface Pipeline {
  /** Done once a kernel: what no later specialisation changes. */
  prepare(kernel: Kernel): Kernel;
  /** Done once for each block shape, which becomes a constant of the code. */
  compile(prepared: Kernel, variant: WasmVariant): WasmModule;
}

export const wasmPipeline: Pipeline = {
  prepare: (kernel) => expandMath(simplify(kernel)),
  compile(prepared, variant) {
    const { block } = variant;
    const simple = simplify(prepared, { block });
    const unrolled = unroll(simple);
    return renderWasm(unrolled === simple ? simple : simplify(unrolled, { block }), variant);
  },
};
