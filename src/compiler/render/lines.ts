/**
 * Lines of generated text in languages with braces, indented.
 */

/** Levels that are indented: with more, the text would grow with the square of the depth of nesting. */
const MOST_INDENTED = 16;

/** Lines of code, indented. */
export class Lines {
  readonly #lines: string[] = [];
  #depth: number;

  constructor(depth = 1) {
    this.#depth = depth;
  }

  add(line: string): void {
    this.#lines.push('  '.repeat(Math.min(this.#depth, MOST_INDENTED)) + line);
  }

  /** `head {` … `}tail`. */
  nest(head: string, body: () => void, tail = ''): void {
    this.add(`${head} {`);
    this.#depth++;
    body();
    this.#depth--;
    this.add(`}${tail}`);
  }

  text(): string {
    return this.#lines.join('\n');
  }
}
