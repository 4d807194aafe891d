/**
 * Positions in source text that all stages of the compiler pass along.
 *
 * A `SourceText` is one function's text as `toString()` gave it, together with where that text stands in a script; how
 * a position becomes a line of the user's own file (source maps included) is the front end's business. The IR only
 * carries positions and never looks into them.
 */

/** One piece of source text: a kernel or a device function. */
export interface SourceText {
  /** The function's own text, as `fn.toString()` gave it. */
  readonly text: string;
  /** The function's name for messages. */
  readonly name: string;
  /** Script URL or path, 0-based line and column where `text` starts in that script; absent when unknown. */
  readonly script?: { readonly url: string; readonly line: number; readonly column: number } | undefined;
}

/** A range of characters in a `SourceText`. */
export interface Pos {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
  /** The call site through which this code was reached, when it stands in a device function. */
  readonly caller?: Pos | undefined;
  /** What `a += b` assigns, where the place is one: `a + b` to `a`. For fix-its. */
  readonly assigns?: { readonly target: string; readonly value: string } | undefined;
}
