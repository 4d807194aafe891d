/**
 * Mappings of source maps: written, moved by what is inserted into a text, and cut out for one function.
 *
 * Insertions bring no lines, so a map is moved by columns alone. What is decoded comes from the compiler's own reader.
 */
import { parseSourceMap } from '../compiler/frontend/sourcemap.ts';

/** Where a generated column comes from. All from 0. */
export interface Segment {
  readonly column: number;
  readonly source: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

/** Segments of each generated line, by column. */
export type Lines = readonly (readonly Segment[])[];

/** A source map, version 3, as tools exchange it. */
export interface RawMap {
  readonly version: 3;
  readonly file?: string | undefined;
  readonly sources: (string | null)[];
  readonly sourcesContent?: (string | null)[] | undefined;
  readonly names: string[];
  readonly mappings: string;
}

/** A text that is put in, at an offset of the one there was. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Which of several at one place is the first: the lowest. */
  readonly order: number;
}

/** Insertions in the order of the text. */
export function inOrder(insertions: readonly Insertion[]): Insertion[] {
  return [...insertions].sort((a, b) => a.at - b.at || a.order - b.order);
}

/** Reads the mappings of a map; undefined for what is none, and for one that says nothing. */
export function readMap(map: unknown): Lines | undefined {
  const text = typeof map === 'string' ? map : JSON.stringify(map ?? null);
  const read = parseSourceMap(text, '');
  if (read === undefined || !read.lines.some((line) => line !== undefined && line.length > 0)) return undefined;
  return Array.from(read.lines, (line = []) =>
    line.map(({ generatedColumn, source, line: sourceLine, column: sourceColumn }) => ({
      ...{ column: generatedColumn, source, sourceLine, sourceColumn },
    })),
  );
}

/** The map of a text to itself, with a segment for each word. */
export function identity(text: string): Lines {
  return text.split('\n').map((line, sourceLine) =>
    Array.from(line.matchAll(/[\w$]+|[^\w\s$]/g), ({ index }) => ({
      ...{ column: index, source: 0, sourceLine, sourceColumn: index },
    })),
  );
}

/** The map of a text into which something was inserted, none of it with a line end before the last line. */
export function shifted(lines: Lines, text: string, insertions: readonly Insertion[]): Lines {
  const sorted = inOrder(insertions);
  let start = 0;
  let next = 0;
  return text.split('\n').map((line, number) => {
    const here: Insertion[] = [];
    for (; next < sorted.length && (sorted[next] as Insertion).at <= start + line.length; next++)
      here.push(sorted[next] as Insertion);
    const from = start;
    start += line.length + 1;
    const moved = (column: number): number =>
      here.reduce((sum, { at, text: put }) => (at - from <= column ? sum + put.length : sum), column);
    return (lines[number] ?? []).map((segment) => ({ ...segment, column: moved(segment.column) }));
  });
}

/** The mappings of a map. */
export function write(lines: Lines): string {
  let [source, sourceLine, sourceColumn] = [0, 0, 0];
  return lines
    .map((segments) => {
      let column = 0;
      return segments
        .map((segment) => {
          const fields = [
            ...[segment.column - column, segment.source - source],
            ...[segment.sourceLine - sourceLine, segment.sourceColumn - sourceColumn],
          ];
          ({ column, source, sourceLine, sourceColumn } = segment);
          return fields.map(digits).join('');
        })
        .join(',');
    })
    .join(';');
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** One number of base64 VLQ: five bits a digit, lowest first, the sign in the last place. */
function digits(value: number): string {
  let rest = value < 0 ? -value * 2 + 1 : value * 2;
  let text = '';
  do {
    const digit = rest % 32;
    rest = Math.floor(rest / 32);
    text += BASE64[rest > 0 ? digit + 32 : digit];
  } while (rest > 0);
  return text;
}

/**
 * The mappings of a stretch of a text, as `Attached.map` has them: without the segments that follow from those before. Empty where nothing is known of
 * its beginning.
 */
export function cutOut(lines: Lines, text: string, start: number, end: number): string {
  const before = text.slice(0, start).split('\n');
  const firstLine = before.length - 1;
  const firstColumn = (before.at(-1) as string).length;
  const cut = text.slice(start, end).split('\n');
  const first = (lines[firstLine] ?? []).findLast(({ column }) => column <= firstColumn);
  if (first === undefined) return '';
  const found = cut.map((line, k) => {
    const shift = k === 0 ? firstColumn : 0;
    const own = (lines[firstLine + k] ?? []).filter(
      ({ column, source }) => column >= shift && column < shift + line.length && source === first.source,
    );
    return own.map((segment) => ({ ...segment, source: 0, column: segment.column - shift }));
  });
  if (found[0]?.[0]?.column !== 0) {
    const sourceColumn = first.sourceColumn + firstColumn - first.column;
    found[0] = [{ column: 0, source: 0, sourceLine: first.sourceLine, sourceColumn }, ...(found[0] ?? [])];
  }
  return write(found.map(withoutImplied));
}

function withoutImplied(segments: readonly Segment[]): Segment[] {
  return segments.filter((segment, k) => {
    const last = segments[k - 1];
    if (last === undefined || last.sourceLine !== segment.sourceLine) return true;
    return segment.sourceColumn - last.sourceColumn !== segment.column - last.column;
  });
}
