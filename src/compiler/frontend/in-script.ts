/**
 * Where a piece of a function stands in the script that the engine has loaded, and by its source map in its author's file. Nothing is known where there is no inspector, as in pages.
 */
import type { Pos, SourceText } from '../source.ts';
import type { Attached } from './attached.ts';
import { inspectFunction, type ScriptLocation } from './inspector.ts';
import { mapOf, type Script, scriptById } from './script.ts';
import { asPath, lineColumn, lineOf, readText, splitLines } from './source-files.ts';
import { originalPosition, type SourceMap } from './sourcemap.ts';

type AnyFunction = (...args: never[]) => unknown;

/** A range in the author's file, cut at the end of its first line. Line and column are 1-based. */
export interface Place {
  /** Absolute path, or a URL where the script has no path; undefined when only the function's own text is known. */
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
  /** The whole line of the author's file. */
  readonly text: string;
  /** Where the range begins in `text`, where that is the line without its types: the file itself is not at hand. 1-based. */
  readonly textColumn?: number;
  /** Characters to underline, at least 1. */
  readonly length: number;
}

/** What leads to the place of a function: the function, what a plugin has left on it, and V8's idea of where it is. */
export interface Origin {
  readonly fn: AnyFunction;
  readonly attached: Attached | undefined;
  location: ScriptLocation | undefined | 'unasked';
}

/** A range of a function's own text: line and column from 0, the line, and how much of it. */
interface OwnRange {
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly length: number;
}

/** The place of a position, which is that range of its text; undefined where the script is not known. */
export function placeInScript(origin: Origin, { source, start }: Pos, own: OwnRange): Place | undefined {
  const generated = inScript(origin, source, start);
  if (generated === undefined) return undefined;
  const { script, line, column } = generated;
  const { length } = own;
  if (script.map !== undefined) {
    const original = mapRange(script.map, line, column, own.text, own.column, length);
    if (original !== undefined) return original;
  }
  return { file: asPath(script.url), line: line + 1, column: column + 1, text: lineOfFile(script, line), length };
}

/** Where a function begins in its script; undefined where that is not known. */
export function beginInScript(origin: Origin, source: SourceText): SourceText['script'] {
  const place = inScript(origin, source, 0);
  return place && { url: place.script.url, line: place.line, column: place.column };
}

/** Where an offset of a function's text stands in its script (0-based); undefined when the script is not known. */
function inScript(
  origin: Origin,
  source: SourceText,
  offset: number,
): { script: Script; line: number; column: number } | undefined {
  if (origin.attached !== undefined) return undefined;
  if (origin.location === 'unasked') origin.location = inspectFunction(origin.fn)?.location;
  const { location } = origin;
  const script = location && scriptById(location.scriptId);
  if (location === undefined || script === undefined || script.url === '') return undefined;
  const first = splitLines(source.text)[0] ?? '';
  // Of some async arrow functions V8 names the beginning.
  const whole = script.lines[location.line]?.startsWith(first, location.column) ?? false;
  const anchor = lineColumn(source.text, whole ? 0 : anchorOffset(source.text));
  const at = lineColumn(source.text, offset);
  const line = location.line + at.line - anchor.line;
  if (at.line === anchor.line) return { script, line, column: location.column + at.column - anchor.column };
  if (at.line > 0) return { script, line, column: at.column };
  // The first line of a text whose parameter list opens further down: find it in the script.
  return { script, line, column: Math.max(0, script.lines[line]?.lastIndexOf(first) ?? 0) + at.column };
}

/** The offset in a function's text of the place that V8 calls its location: where the parameters begin. */
function anchorOffset(text: string): number {
  const gap = String.raw`(?:\s|/\*[^]*?\*/|//.*\n)`;
  // An arrow function: `(a) =>`, `a =>`; with `async` before it V8 names the parameters too, as a rule.
  const arrow = new RegExp(`^(?:async${gap}*)?(?=\\(|[^\\s(/'"\\[]+${gap}*=>)`).exec(text);
  if (arrow !== null) return arrow[0].length;
  // `function name(`, `name(`, `[computed](`, `'literal'(`.
  const head = new RegExp(`^(?:\\[[^\\]]*\\]|'[^']*'|"[^"]*"|${gap}|[^\\s(/'"\\[])*`).exec(text);
  return head?.[0].length ?? 0;
}

/** Maps a range through the script's source map. `text` and `column` are the range in the function's own text. */
function mapRange(
  map: SourceMap,
  line: number,
  column: number,
  text: string,
  inText: number,
  length: number,
): Place | undefined {
  const start = refine(map, line, column, text, inText);
  if (start === undefined) return undefined;
  // Tools that take no source map leave the one of the step before in the source that they name.
  const earlier = mapOf(start.source, start.content);
  const generated = text.slice(inText, inText + length);
  const reach = reachOf(map, line, column, text, inText, length, start);
  if (earlier !== undefined) {
    const through = mapRange(earlier, start.line, start.column, start.text, start.column, reach);
    if (through !== undefined) return through;
  }
  const place = { file: asPath(start.source), line: start.line + 1, column: start.column + 1, text: start.text };
  return { ...place, length: start.text.startsWith(generated, start.column) ? length : reach };
}

/** How many characters of the original a generated range covers: up to where its last character comes from. */
function reachOf(
  map: SourceMap,
  line: number,
  column: number,
  text: string,
  inText: number,
  length: number,
  start: Refined,
): number {
  const last = refine(map, line, column + length - 1, text, inText + length - 1);
  const sameLine = last !== undefined && last.line === start.line && last.column > start.column;
  return Math.max(1, wordEnd(start.text, sameLine ? last.column : start.column) - start.column);
}

function wordEnd(text: string, column: number): number {
  return column + (/^[\w$]+/.exec(text.slice(column))?.[0].length ?? 1);
}

interface Refined {
  readonly source: string;
  readonly content: string | undefined;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/**
 * The original of one character. Maps have a segment for each token at best: behind the start of a segment, the same
 * character is looked for in the original, where white space may have come or gone.
 */
function refine(map: SourceMap, line: number, column: number, text: string, inText: number): Refined | undefined {
  const found = originalPosition(map, line, column);
  if (found === undefined) return undefined;
  const content = found.content ?? readText(found.source);
  const original = content === undefined ? text : (lineOf(content, found.line) ?? '');
  const behind = column - found.generatedColumn;
  const result = { source: found.source, content, line: found.line, text: original };
  if (behind <= 0) return { ...result, column: found.column };
  const character = text[inText] ?? '';
  if (original[found.column + behind] === character) return { ...result, column: found.column + behind };
  const next = original.indexOf(character, found.column);
  return { ...result, column: next < 0 || character === '' ? found.column : next };
}

/**
 * A line of a script without a map. Node's strip-types loads the file with the types blanked out: the author's line is
 * then the one in the file, which agrees with it everywhere else.
 */
function lineOfFile(script: Script, line: number): string {
  const loaded = script.lines[line] ?? '';
  const content = readText(script.url);
  const written = content === undefined ? undefined : lineOf(content, line);
  if (written === undefined || written.length < loaded.length) return loaded;
  for (let i = 0; i < loaded.length; i++)
    if (loaded[i] !== ' ' && loaded[i] !== written[i] && loaded[i] !== ';') return loaded;
  return written;
}
