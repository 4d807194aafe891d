/**
 * Where a piece of a kernel stands in its author's own file: line and column, the text of the line, the file.
 *
 * What is needed for that is kept beside each `SourceText` and looked at only when an error or an inspection asks.
 */
import type { SourceText } from '../source.ts';
import type { ScriptLocation } from './inspector.ts';

interface Origin {
  readonly fn: (...args: never[]) => unknown;
  readonly location: ScriptLocation | undefined;
}

const origins = new WeakMap<SourceText, Origin>();

/** Keeps what leads from a text back to its file. */
export function rememberOrigin(source: SourceText, fn: (...args: never[]) => unknown, location?: ScriptLocation): void {
  origins.set(source, { fn, location });
}
