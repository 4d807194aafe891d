/**
 * The handler of a call that few kernels make, at once.
 */
import type { Handler } from './intrinsic-call.ts';
import { isHalfArithmetic, RARE_HANDLERS } from './rare-calls.ts';

export function rareHandler(name: string): Handler | undefined {
  return RARE_HANDLERS[name];
}

export { isHalfArithmetic };
