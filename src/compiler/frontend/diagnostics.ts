/**
 * Compile-time errors with a position: `fail` throws a KernelError whose message has a code frame in the user's own file,
 * the chain of calls that led there, and a help line.
 */
import { KernelError } from '../../errors.ts';
import type { Pos } from '../source.ts';

export interface Diagnostic {
  /** What to write instead. */
  readonly help?: string | undefined;
  /** Further ranges to underline, with a word each (`i32`, `u32`). */
  readonly labels?: readonly { readonly pos: Pos; readonly text: string }[] | undefined;
  readonly cause?: unknown;
}

/** Throws the KernelError for `pos`. `code` is `'K…'`. */
export function fail(code: string, pos: Pos, summary: string, diagnostic: Diagnostic = {}): never {
  throw new KernelError(code, `${code}: ${summary} (at ${pos.source.name}:${pos.start})`, {
    summary,
    ...(diagnostic.help === undefined ? {} : { help: diagnostic.help }),
  });
}
