/**
 * Compile-time errors with a position: `fail` throws a KernelError whose message has a code frame in the user's own file,
 * the chain of calls that led there, and a help line.
 *
 *     K203: cannot divide i32 and u32
 *       --> src/physics.ts:42:10   in kernel "step"
 *        42 |   y[i] = x[i] / n[i];
 *           |          ^^^^   ^^^^ u32
 *           |          i32
 *       help: write i32(n[i]) or u32(x[i])
 */
import { KernelError } from '../../errors.ts';
import { workingFolder } from '../../host/index.ts';
import type { Pos, SourceText } from '../source.ts';
import { withAuthorNamesAt } from './author-names.ts';
import { drawFrame, type Mark } from './frame.ts';
import { describe, type Place } from './positions.ts';

export interface Diagnostic {
  /** What to write instead. */
  readonly help?: string | undefined;
  /** Further ranges to underline, with a word each (`i32`, `u32`). */
  readonly labels?: readonly { readonly pos: Pos; readonly text: string }[] | undefined;
  readonly cause?: unknown;
}

/** Throws the KernelError for `pos`. `code` is `'K…'`. */
export function fail(code: string, pos: Pos, text: string, diagnostic: Diagnostic = {}): never {
  const place = describe(pos);
  const summary = withAuthorNamesAt(withoutTemporaries(text), pos);
  const help = diagnostic.help === undefined ? undefined : withAuthorNamesAt(withoutTemporaries(diagnostic.help), pos);
  const lines = [`${code}: ${summary}`, ...frames(pos, place, diagnostic.labels ?? [])];
  if (help !== undefined) lines.push(`  help: ${help.replaceAll('\n', '\n        ')}`);
  throw new KernelError(code, lines.join('\n'), {
    summary,
    ...(place.file === undefined ? {} : { location: { file: place.file, line: place.line, column: place.column } }),
    ...(help === undefined ? {} : { help }),
    ...(diagnostic.cause === undefined ? {} : { cause: diagnostic.cause }),
  });
}

/** A text in which what has no name of the author's is called what it is: `%array[i]` is `a[i]`, `of %shared` is `of this array`. */
export function withoutTemporaries(text: string): string {
  return text
    .replace(/(^| )%(?:array|shared|local|const)(?=[[.])/g, '$1a')
    .replace(/(^| )%(?:array|shared|local|const), an array/g, '$1an array')
    .replace(/(^| )%(?:array|shared|local|const)\b/g, '$1this array');
}

/** Calls beyond these are only counted. */
const MOST_CALLS = 6;

function frames(pos: Pos, place: Place, labels: NonNullable<Diagnostic['labels']>): string[] {
  // Labels inside the range say more than one underline of the whole: `^^^^   ^^^^` instead of `^^^^^^^^^^^`.
  const inside = (at: Pos) => at.source === pos.source && at.start >= pos.start && at.end <= pos.end;
  const marks: Mark[] = labels.map(({ pos: at, text }) => ({ place: describe(at), text, main: inside(at) }));
  if (!marks.some(({ main }) => main)) marks.unshift({ place, text: undefined, main: true });
  const lines = [`  --> ${heading(pos, place)}`, ...drawFrame(marks)];
  let calls = 0;
  for (let at = pos.caller; at !== undefined; at = at.caller) {
    if (++calls > MOST_CALLS) continue;
    const from = describe(at);
    lines.push(`  called from ${heading(at, from)}`, ...drawFrame([{ place: from, text: undefined, main: true }]));
  }
  if (calls > MOST_CALLS) lines.push(`  … and ${calls - MOST_CALLS} calls more`);
  return lines;
}

function heading(pos: Pos, place: Place): string {
  const kind = pos.caller === undefined ? 'kernel' : 'function';
  const name = nameOf(pos.source);
  const who = name === undefined ? `${kind === 'kernel' ? 'a' : 'an anonymous'} ${kind}` : `${kind} "${name}"`;
  return `${place.file === undefined ? 'line ' : `${displayPath(place.file)}:`}${place.line}:${place.column}   in ${who}`;
}

/** A function's name; of one without, what the author's line assigns it to: `const scale = cuda.jit((…) => …)`. */
export function nameOf(source: SourceText): string | undefined {
  if (source.name !== '' && source.name !== 'kernel') return source.name;
  const { text, column: inFile, textColumn: column = inFile } = describe({ source, start: 0, end: 1 });
  // A source map may point behind the parenthesis of `(a, k) =>`.
  const before = /([\w$]+)\s*(?::[^=;]*)?[=:]\s*(?:[\w$]+\.)*jit\(\s*\(?$/.exec(text.slice(0, column - 1));
  return before?.[1] ?? (source.name || undefined);
}

/** Relative to the working directory for files below it, so that terminals and editors can follow it. */
export function displayPath(file: string): string {
  const cwd = workingFolder();
  if (cwd === undefined || !file.startsWith(cwd)) return file;
  const rest = file.slice(cwd.length);
  return /^[\\/]/.test(rest) ? rest.slice(1) : file;
}
