/**
 * Kernels as the command line sees them: `tsamba inspect` loads a program and wants the kernels that it makes, whichever copy of the library makes them. It
 * leaves a function in a place of the global object that all copies know.
 */
import type { Kernel } from './kernel-types.ts';

/** A kernel, and what only tools ask of it. */
export interface ToolView {
  readonly kernel: Kernel<readonly unknown[]>;
  /** The names of its parameters, undefined for patterns. Throws KernelError when the function cannot be read. */
  parameters(): readonly (string | undefined)[];
  /** Compiles for a signature, `'void(f32[:], i32)'`. Throws what `jit` with that option throws. */
  compile(signature: string): void;
}

/** Where the function is. */
export const TOOL_HOOK: unique symbol = Symbol.for('tsamba.made-kernel') as never;

type Hooked = { readonly [TOOL_HOOK]?: ((view: ToolView) => void) | undefined };

/** Whether a tool has loaded this program. */
export function isShownToTool(): boolean {
  return (globalThis as Hooked)[TOOL_HOOK] !== undefined;
}

/** Shows a kernel to the tool that has loaded this program, if there is one. */
export function showToTool(view: () => ToolView): void {
  const hook = (globalThis as Hooked)[TOOL_HOOK];
  if (hook !== undefined) hook(view());
}
