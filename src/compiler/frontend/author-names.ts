/**
 * Names as the author wrote them. esbuild, and so tsx, calls a parameter `x2` when the file around it has an `x` of its own;
 * messages say `x`, which the source map knows.
 *
 * Followed only when a message or a listing is made, like everything else that needs the source map (`positions.ts`).
 */
import type { Pos, SourceText } from '../source.ts';
import { describe } from './positions.ts';

const IDENTIFIER = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

const known = new WeakMap<SourceText, ReadonlyMap<string, string>>();

/** A text about `source` with the author's names in it. */
export function withAuthorNames(text: string, source: SourceText): string {
  const names = renamedIn(source);
  return names.size === 0 ? text : text.replace(IDENTIFIER, (word) => names.get(word) ?? word);
}

/** A text about a position: the names of the functions through which it was reached are put back as well. */
export function withAuthorNamesAt(text: string, pos: Pos): string {
  let result = text;
  for (let at: Pos | undefined = pos; at !== undefined; at = at.caller) result = withAuthorNames(result, at.source);
  return result;
}

/** The names of a function that end in a number which the author did not write. */
function renamedIn(source: SourceText): ReadonlyMap<string, string> {
  let names = known.get(source);
  if (names === undefined) {
    names = findRenamed(source);
    known.set(source, names);
  }
  return names;
}

function findRenamed(source: SourceText): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const seen = new Set<string>();
  for (const { 0: name, index } of source.text.matchAll(IDENTIFIER)) {
    if (!/\d$/.test(name) || seen.has(name) || source.text[index - 1] === '.') continue;
    seen.add(name);
    const {
      text,
      column: inFile,
      textColumn: column = inFile,
    } = describe({ source, start: index, end: index + name.length });
    const written = text.slice(column - 1).match(IDENTIFIER)?.[0];
    if (written === undefined || !text.startsWith(written, column - 1)) continue;
    if (name.startsWith(written) && /^\d+$/.test(name.slice(written.length))) names.set(name, written);
  }
  return names;
}
