/**
 * What a kernel is called in messages.
 *
 * Kernels are mostly anonymous functions, `const scale = cuda.jit((a, k) => …)`. The front end can tell from the author's file
 * what one is assigned to, which takes a look at a source map: so that happens when a message is made, and not before.
 */
import { attachedTo } from '../compiler/frontend/attached.ts';
import { nameOf } from '../compiler/frontend/diagnostics.ts';
import type { SourceText } from '../compiler/source.ts';

/** What the front end takes for no name. */
const ANONYMOUS = 'kernel';

/** A name that is found when it is asked for. */
export class KernelName {
  /** The name given, or the function's own; `'kernel'` for an anonymous function. */
  readonly own: string;
  /** The function's source, once it has been read. */
  source: SourceText | undefined = undefined;
  #assigned: string | undefined = undefined;

  constructor(given: string | undefined, fn: (...args: never[]) => unknown) {
    this.own = given ?? ((attachedTo(fn)?.name ?? fn.name) || ANONYMOUS);
  }

  /** The best name that is known. */
  get text(): string {
    if (this.own !== ANONYMOUS || this.source === undefined) return this.own;
    this.#assigned ??= nameOf(this.source) ?? ANONYMOUS;
    return this.#assigned;
  }
}
