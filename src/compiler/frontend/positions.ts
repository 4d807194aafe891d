/**
 * Where a piece of a kernel stands in its author's own file: file, line and column, the text of the line.
 *
 * What leads there (the function, V8's idea of its place) is kept beside each `SourceText` and followed only when an
 * error or an inspection asks: script, source map, original file. Where nothing is known the answer is a position in the
 * function's own text.
 */
import type { Pos, SourceText } from '../source.ts';
import { type Attached, attachedPlace, attachedTo } from './attached.ts';
import { beginInScript, type Origin, type Place, placeInScript } from './in-script.ts';
import type { ScriptLocation } from './inspector.ts';
import { lineColumn, lineOf, readText, splitLines } from './source-files.ts';

export type { Place } from './in-script.ts';

type AnyFunction = (...args: never[]) => unknown;

const origins = new WeakMap<SourceText, Origin>();

/** The text of a function, with the way back to its file. `location` spares asking the inspector again. */
export function sourceOf(fn: AnyFunction, name: string, location?: ScriptLocation): SourceText {
  const attached = attachedTo(fn);
  const source: SourceText = {
    text: attached?.text ?? Function.prototype.toString.call(fn),
    name,
    get script() {
      return scriptPlace(source);
    },
  };
  origins.set(source, { fn, attached, location: location ?? 'unasked' });
  return source;
}

/** Remembers what the inspector said, when the source was made before it was asked. */
export function rememberLocation(source: SourceText, location: ScriptLocation | undefined): void {
  const origin = origins.get(source);
  if (origin !== undefined) origin.location = location;
}

/** The author's own file, line and column of a position, and the text to show. Never throws. */
export function describe(pos: Pos): Place {
  const { source, start, end } = pos;
  const lines = splitLines(source.text);
  const at = lineColumn(source.text, start);
  const line = lines[at.line] ?? '';
  const length = Math.max(1, Math.min(end - start, line.length - at.column));
  const origin = origins.get(source);
  const attached = origin?.attached;
  const written = attached && attachedPlace(attached, at.line, at.column);
  if (attached !== undefined && written !== undefined) return inAuthorsFile(attached, written, at.column, line, length);
  const inScript = origin && placeInScript(origin, pos, { ...at, text: line, length });
  return inScript ?? { file: undefined, line: at.line + 1, column: at.column + 1, text: line, length };
}

/** A range of a text that a plugin has left. The line is shown from the file where that is at hand and has not changed meanwhile. */
function inAuthorsFile(
  { file }: Attached,
  at: { readonly line: number; readonly column: number },
  column: number,
  text: string,
  length: number,
): Place {
  const place = { file, line: at.line + 1, column: at.column + 1, length };
  const content = readText(file);
  const written = content === undefined ? undefined : lineOf(content, at.line);
  const token = /^(?:[\w$]+|.)/s.exec(text.slice(column))?.[0] ?? '';
  if (written?.startsWith(token, at.column)) return { ...place, text: written };
  return { ...place, text, textColumn: column + 1 };
}

function scriptPlace(source: SourceText): SourceText['script'] {
  const origin = origins.get(source);
  const attached = origin?.attached;
  const written = attached && attachedPlace(attached, 0, 0);
  if (attached !== undefined && written !== undefined) return { url: attached.file, ...written };
  return origin && beginInScript(origin, source);
}
