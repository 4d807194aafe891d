/**
 * Text in which every piece stands on the line of the author's file that it came from, so that breakpoints hit it there.
 *
 * Lines only go forward: a piece for an earlier line goes behind what has been written last. Where the script was made
 * from another file, its source map has the lines.
 */
import { describe } from '../../compiler/frontend/positions.ts';
import type { Pos, SourceText } from '../../compiler/source.ts';
import { findNodeModule } from '../../host/index.ts';

/** Writes the text of one function. */
export class LineWriter {
  readonly source: SourceText;
  /** URL of the author's file; a made-up one where none is known. */
  readonly url: string;
  /** 0-based line of that file on which the text begins. */
  readonly firstLine: number;
  readonly #lineAt: (offset: number) => number;
  readonly #lines: string[] = [''];

  /** The text begins on the line in which the offset `start` of `source` lies. */
  constructor(source: SourceText, start: number) {
    this.source = source;
    [this.url, this.#lineAt] = linesOf(source);
    this.firstLine = this.#lineAt(start);
  }

  /** Writes a piece on the line of `pos`, if that is still to come and `pos` is of this source. */
  write(text: string, pos?: Pos): void {
    if (pos?.source === this.source) {
      const line = this.#lineAt(pos.start) - this.firstLine;
      while (this.#lines.length <= line) this.#lines.push('');
    }
    const last = this.#lines.length - 1;
    this.#lines[last] += this.#lines[last] === '' ? text : ` ${text}`;
  }

  finish(): string {
    return this.#lines.join('\n');
  }
}

/** The file of a source, and the line of that file on which each offset of the source stands. */
function linesOf(source: SourceText): [url: string, lineAt: (offset: number) => number] {
  const { script } = source;
  if (script === undefined || script.url === '') {
    const starts = lineStarts(source.text);
    return [`tsamba:///${source.name}.js`, (offset) => lineOf(starts, offset)];
  }
  const { file } = describe({ source, start: 0, end: 0 });
  if (file === undefined) {
    const starts = lineStarts(source.text);
    return [script.url, (offset) => script.line + lineOf(starts, offset)];
  }
  const known = new Map<number, number>();
  const lineAt = (offset: number): number => {
    let line = known.get(offset);
    if (line === undefined) {
      line = describe({ source, start: offset, end: offset + 1 }).line - 1;
      known.set(offset, line);
    }
    return line;
  };
  return [
    file.startsWith('/') || /^[a-z]:\\/i.test(file)
      ? (findNodeModule('node:url')?.pathToFileURL(file).href ?? file)
      : file,
    lineAt,
  ];
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low;
}
