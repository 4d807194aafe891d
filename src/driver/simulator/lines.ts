/**
 * Text in which every piece stands on the line it was asked to, so that breakpoints of the original file hit it.
 *
 * Lines only go forward: a piece for an earlier line goes behind what has been written last.
 */
import type { Pos, SourceText } from '../../compiler/source.ts';

export class LineWriter {
  readonly source: SourceText;
  readonly #starts: readonly number[];
  readonly #first: number;
  readonly #lines: string[] = [''];

  /** Line 0 of the text is the line of `source` in which `start` lies. */
  constructor(source: SourceText, start: number) {
    this.source = source;
    this.#starts = lineStarts(source.text);
    this.#first = lineOf(this.#starts, start);
  }

  /** Line of the source on which the text begins. */
  get firstLine(): number {
    return this.#first;
  }

  /** Writes a piece on the line of `pos`, if that is still to come and `pos` is of this source. */
  write(text: string, pos?: Pos): void {
    if (pos?.source === this.source) {
      const line = lineOf(this.#starts, pos.start) - this.#first;
      while (this.#lines.length <= line) this.#lines.push('');
    }
    const last = this.#lines.length - 1;
    this.#lines[last] += this.#lines[last] === '' ? text : ` ${text}`;
  }

  finish(): string {
    return this.#lines.join('\n');
  }
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
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
