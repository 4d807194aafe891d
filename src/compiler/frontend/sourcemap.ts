/**
 * Source maps, version 3: decoding (index maps included) and looking up a generated position.
 *
 * Lines and columns are 0-based here, as in the format. Where a map comes from is `positions.ts`'s business.
 */

/** A place in an original source. */
export interface OriginalPosition {
  /** Resolved against the map's own URL, where that is possible. */
  readonly source: string;
  readonly content: string | undefined;
  readonly line: number;
  readonly column: number;
  /** The generated column at which the segment begins: at or before the one asked for. */
  readonly generatedColumn: number;
}

interface Segment {
  readonly generatedColumn: number;
  readonly source: number;
  readonly line: number;
  readonly column: number;
}

interface Source {
  readonly url: string;
  readonly content: string | undefined;
}

export interface SourceMap {
  readonly sources: readonly Source[];
  /** Segments of each generated line, by column. */
  readonly lines: readonly (readonly Segment[])[];
}

/** Decodes a source map. Returns undefined when the text is none. */
export function parseSourceMap(json: string, mapUrl: string): SourceMap | undefined {
  let raw: unknown;
  try {
    // Servers may prefix maps with )]}' against script inclusion.
    raw = JSON.parse(json.replace(/^\)\]\}'[^\n]*\n/, ''));
  } catch {
    return undefined;
  }
  const sources: Source[] = [];
  const lines: Segment[][] = [];
  return addMap(raw, mapUrl, sources, lines, 0, 0) ? { sources, lines } : undefined;
}

/** Adds a map, or each section of an index map, at its offset. */
function addMap(
  raw: unknown,
  mapUrl: string,
  sources: Source[],
  lines: Segment[][],
  line: number,
  column: number,
): boolean {
  if (typeof raw !== 'object' || raw === null) return false;
  const map = raw as {
    sections?: unknown;
    mappings?: unknown;
    sources?: unknown;
    sourceRoot?: unknown;
    sourcesContent?: unknown;
  };
  if (Array.isArray(map.sections)) {
    for (const section of map.sections as { offset?: { line?: unknown; column?: unknown }; map?: unknown }[]) {
      addMap(
        section.map,
        mapUrl,
        sources,
        lines,
        line + Number(section.offset?.line ?? 0),
        Number(section.offset?.column ?? 0),
      );
    }
    return true;
  }
  if (typeof map.mappings !== 'string' || !Array.isArray(map.sources)) return false;
  const root =
    typeof map.sourceRoot === 'string' && map.sourceRoot !== '' ? `${map.sourceRoot.replace(/\/$/, '')}/` : '';
  const contents: unknown[] = Array.isArray(map.sourcesContent) ? map.sourcesContent : [];
  const firstSource = sources.length;
  for (const [i, name] of (map.sources as unknown[]).entries()) {
    const content = contents[i];
    sources.push({
      url: resolveUrl(root + String(name ?? ''), mapUrl),
      content: typeof content === 'string' ? content : undefined,
    });
  }
  decodeMappings(map.mappings, firstSource, lines, line, column);
  return true;
}

function resolveUrl(name: string, base: string): string {
  try {
    // A Windows path has a "scheme" of one letter.
    if (/^[a-z]:[\\/]/i.test(name)) return name;
    return new URL(encodePath(name), base).href;
  } catch {
    return name;
  }
}

function encodePath(name: string): string {
  return /^[a-z][a-z\d+.-]+:/i.test(name) ? name : name.replace(/[%?#]/g, (c) => encodeURIComponent(c));
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const DIGITS: ReadonlyMap<number, number> = new Map([...BASE64].map((c, i) => [c.charCodeAt(0), i]));

function decodeMappings(
  mappings: string,
  firstSource: number,
  lines: Segment[][],
  lineOffset: number,
  columnOffset: number,
): void {
  let at = 0;
  /** One number of base64 VLQ: five bits a digit, lowest first, the sign in the last place. */
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 5) {
      const digit = DIGITS.get(mappings.charCodeAt(at++)) ?? 0;
      value += (digit & 31) * 2 ** shift;
      if ((digit & 32) === 0) break;
    }
    return value % 2 === 1 ? -(value - 1) / 2 : value / 2;
  };
  const ends = () => at >= mappings.length || mappings[at] === ',' || mappings[at] === ';';
  let source = 0;
  let line = 0;
  let column = 0;
  for (let generated = 0; at < mappings.length; generated++, at++) {
    let generatedColumn = generated === 0 ? columnOffset : 0;
    const segments = lines[lineOffset + generated] ?? [];
    lines[lineOffset + generated] = segments;
    while (at < mappings.length && mappings[at] !== ';') {
      generatedColumn += number();
      if (!ends()) {
        source += number();
        line += number();
        column += number();
        if (!ends()) number(); // The name.
        segments.push({ generatedColumn, source: firstSource + source, line, column });
      }
      if (mappings[at] === ',') at++;
    }
  }
  for (const segments of lines) segments?.sort((a, b) => a.generatedColumn - b.generatedColumn);
}

/** The segment that covers a generated position: the last that begins at or before it, or else the line's first. */
export function originalPosition(map: SourceMap, line: number, column: number): OriginalPosition | undefined {
  const segments = map.lines[line];
  if (segments === undefined || segments.length === 0) return undefined;
  let low = 0;
  let high = segments.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((segments[middle]?.generatedColumn ?? 0) <= column) low = middle;
    else high = middle;
  }
  const found = segments[low];
  const source = found && map.sources[found.source];
  if (found === undefined || source === undefined) return undefined;
  const { line: originalLine, column: originalColumn, generatedColumn } = found;
  return { source: source.url, content: source.content, line: originalLine, column: originalColumn, generatedColumn };
}
