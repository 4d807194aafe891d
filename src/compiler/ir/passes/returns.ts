/**
 * Early-return lowering: afterwards no `return` is left.
 *
 * Without barriers, `if (c) return; rest` becomes `if (!c) { rest }`, and what cannot be said that way breaks out of one
 * `block` around the body. With barriers after it, a return clears the thread's `live` flag; whatever stands between two
 * barriers afterwards is guarded by `if (live)`, while control that contains barriers (uniform by law) is not.
 */
import type { Kernel, Var } from '../ops.ts';

export interface ReturnsLowered {
  readonly kernel: Kernel;
  /** bool; false once the thread has returned. Only where threads may return one by one before a barrier. */
  readonly live: Var | undefined;
}

export function lowerReturns(kernel: Kernel): ReturnsLowered {
  throw new Error(`not there yet ${kernel.name}`);
}
