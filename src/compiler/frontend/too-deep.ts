/**
 * A kernel whose nesting exhausts the engine's stack: said about the kernel, not as an overflow inside the compiler.
 *
 * The compiler walks its trees by recursion, which is deep enough for some thousand operators in one expression; code that
 * programs write can have more.
 */
import { withDebugWords } from '../../environment.ts';
import type { Pos } from '../source.ts';
import { fail } from './diagnostics.ts';

/** Says that the kernel at `pos` is nested too deeply. `whom` says for what, if not for the compiler itself. */
export function refuseNesting(pos: Pos, whom = 'to be compiled', cause?: unknown): never {
  fail('K104', pos, `the kernel is nested too deeply ${whom}`, {
    help: 'split long expressions into several statements, and use loops or functions for what repeats',
    cause,
  });
}

/** Runs a step of compiling the function at `pos`; a stack overflow becomes a KernelError. */
export function withinStack<T>(pos: () => Pos, step: () => T): T {
  try {
    return withDebugWords(step);
  } catch (cause) {
    if (!isStackOverflow(cause)) throw cause;
    refuseNesting(pos(), 'for the stack that its launch leaves to the compiler', cause);
  }
}

/** V8 and JavaScriptCore throw a RangeError, SpiderMonkey an InternalError. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof Error && /call stack size exceeded|too much recursion/i.test(error.message);
}
