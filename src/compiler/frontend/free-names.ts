/**
 * Which names a function takes from outside, of its text alone.
 */
import { freeVariables } from './free-variables.ts';
import { isNativeText, parseFunction } from './parse.ts';

/** The names; undefined for a text that the engine put in the place of its own code. Throws KernelError for one that is no function that can be read. */
export function freeNames(text: string, name: string): readonly string[] | undefined {
  return isNativeText(text) ? undefined : [...freeVariables(parseFunction({ text, name } as never)).keys()];
}
