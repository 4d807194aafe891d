/**
 * One function for all that are written the same: `reduce(x, (a, b) => a + b)` in a loop makes a new function in each round, which must not be
 * compiled anew each time.
 */
import { freeNames } from '../compiler/front.ts';
import { capturesOf, intrinsicName } from '../compiler/intrinsics.ts';
import { ifLoaded } from '../on-demand.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Names that mean the same everywhere. */
const SHARED: ReadonlySet<string> = /* @__PURE__ */ new Set(['Math', 'NaN', 'Infinity', 'undefined']);

/** By their text; false for texts that mean what they take from outside. */
const known = new Map<string, AnyFunction | false>();
/** Texts that are remembered: a program that makes functions of texts must not fill the memory. */
const MOST = 4096;

/** The first function that was given with this text, if it takes nothing from outside but `Math`; else the function itself. */
export function canonical<F extends AnyFunction>(fn: F): F {
  if (capturesOf(fn) !== undefined || intrinsicName(fn) !== undefined) return fn;
  const text = Function.prototype.toString.call(fn);
  let one = known.get(text);
  if (one === undefined) {
    const alone = takesNothing(text, fn.name);
    // A page that has not loaded what reads it cannot tell yet.
    if (alone === undefined) return fn;
    one = alone && fn;
    if (known.size < MOST) known.set(text, one);
  }
  return one === false ? fn : (one as F);
}

function takesNothing(text: string, name: string): boolean | undefined {
  try {
    return ifLoaded(() => freeNames(text, name)?.every((one) => SHARED.has(one)) ?? false);
  } catch {
    // What is wrong with it is said where it is compiled.
    return false;
  }
}
