/**
 * Lines of the author's file in PTX, for profilers, debuggers and sanitizers: PTX ISA, sections "Debugging Directives", `.file` and `.loc`.
 *
 * Where a position stands in which file, the caller says; this file only writes it down, when it changes.
 */
import type { Pos } from '../../source.ts';
import type { Code } from './code.ts';

/** A place in a file; line and column are 1-based. */
export interface LinePlace {
  readonly file: string | undefined;
  readonly line: number;
  readonly column: number;
}

/** The files that a module's code comes from. */
export class LineTable {
  readonly #placeOf: (pos: Pos) => LinePlace;
  readonly #files = new Map<string, number>();
  #last = '';

  constructor(placeOf: (pos: Pos) => LinePlace) {
    this.#placeOf = placeOf;
  }

  /** The instructions that follow are of this position. */
  mark(code: Code, pos: Pos): void {
    const { file, line, column } = this.#placeOf(pos);
    if (file === undefined) return;
    const number = this.#files.get(file) ?? this.#files.size + 1;
    this.#files.set(file, number);
    const directive = `\t.loc ${number} ${line} ${column}`;
    if (directive === this.#last) return;
    this.#last = directive;
    code.directive(directive);
  }

  /** The module's `.file` directives. */
  get files(): string[] {
    return [...this.#files].map(([file, number]) => `.file ${number} "${quoted(file)}"`);
  }
}

/** A path as assemblers take it, who know no escapes and read ASCII alone. */
function quoted(path: string): string {
  return path
    .replaceAll('\\', '/')
    .replaceAll('"', "'")
    .replace(/[^\x20-\x7e]/g, '?');
}
