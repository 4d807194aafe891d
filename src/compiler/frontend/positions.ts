/**
 * Where a piece of a kernel stands in its author's own file: file, line and column, the text of the line.
 *
 * What leads there (the function, V8's idea of its place) is kept beside each `SourceText` and followed only when an
 * error or an inspection asks: script, source map, original file. Where nothing is known the answer is a position in the
 * function's own text.
 */
import type { Pos, SourceText } from '../source.ts';
import { type Attached, attachedPlace, attachedTo } from './attached.ts';
import { inspectFunction, type ScriptLocation } from './inspector.ts';
import { asPath, mapOf, readText, type Script, scriptById, splitLines } from './script.ts';
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

interface Origin {
  readonly fn: AnyFunction;
  readonly attached: Attached | undefined;
  location: ScriptLocation | undefined | 'unasked';
}

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
  const attached = origins.get(source)?.attached;
  const written = attached && attachedPlace(attached, at.line, at.column);
  if (attached !== undefined && written !== undefined) return inAuthorsFile(attached, written, at.column, line, length);
  const generated = inScript(source, start);
  if (generated === undefined) return { file: undefined, line: at.line + 1, column: at.column + 1, text: line, length };
  const { script } = generated;
  if (script.map !== undefined) {
    const original = mapRange(script.map, generated.line, generated.column, line, at.column, length);
    if (original !== undefined) return original;
  }
  const text = lineOfFile(script, generated.line);
  return { file: asPath(script.url), line: generated.line + 1, column: generated.column + 1, text, length };
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
  const written = content === undefined ? undefined : splitLines(content)[at.line];
  const token = /^(?:[\w$]+|.)/s.exec(text.slice(column))?.[0] ?? '';
  if (written?.startsWith(token, at.column)) return { ...place, text: written };
  return { ...place, text, textColumn: column + 1 };
}

function lineColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = splitLines(text.slice(0, offset));
  return { line: before.length - 1, column: before.at(-1)?.length ?? 0 };
}

function scriptPlace(source: SourceText): SourceText['script'] {
  const attached = origins.get(source)?.attached;
  const written = attached && attachedPlace(attached, 0, 0);
  if (attached !== undefined && written !== undefined) return { url: attached.file, ...written };
  const place = inScript(source, 0);
  return place && { url: place.script.url, line: place.line, column: place.column };
}

/** Where an offset of a function's text stands in its script (0-based); undefined when the script is not known. */
function inScript(source: SourceText, offset: number): { script: Script; line: number; column: number } | undefined {
  const origin = origins.get(source);
  if (origin === undefined || origin.attached !== undefined) return undefined;
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
  const original = content === undefined ? text : (splitLines(content)[found.line] ?? '');
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
  const written = content === undefined ? undefined : splitLines(content)[line];
  if (written === undefined || written.length < loaded.length) return loaded;
  for (let i = 0; i < loaded.length; i++)
    if (loaded[i] !== ' ' && loaded[i] !== written[i] && loaded[i] !== ';') return loaded;
  return written;
}
