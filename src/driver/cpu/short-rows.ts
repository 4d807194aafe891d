/**
 * Short rows: extents of up to sixteen along the last axes, the first apart, such as the channels of a picture, the coordinates of points or the rows of
 * small matrices. They are constants of the code, as they are in programs of other languages: `pixels[i][c]` is then in memory where the compiler can tell.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { LaunchArgs } from '../driver.ts';

/** The longest row that is a constant. */
const LONGEST = 16;
/** Kinds of rows that a kernel is compiled for; further ones run the code for any. */
const KINDS = 4;

/** The values of the extents that may be constants, 0 where one is not; empty where none is. */
export type Rows = readonly number[];

/** Code for any rows. */
export const ANY_ROWS: Rows = [];

/** The extents of a kernel that may be constants. */
export class ShortRows {
  readonly #params: readonly number[];
  /** For each of them the place of the extent of the next axis, -1 where there is none. */
  readonly #next: readonly number[];
  readonly #known: Rows[] = [];

  constructor({ params }: Kernel) {
    const extents = params.flatMap(({ index, origin }) =>
      origin.kind === 'extent' && origin.axis > 0 ? [{ index, axis: origin.axis, path: origin.path.join() }] : [],
    );
    this.#params = extents.map(({ index }) => index);
    this.#next = extents.map(({ axis, path }) => extents.findIndex((e) => e.path === path && e.axis === axis + 1));
  }

  /** Whether code for these rows is what a launch with these arguments gets. */
  are(rows: Rows, args: LaunchArgs): boolean {
    for (let k = 0; k < this.#params.length; k++) {
      if ((rows[k] ?? 0) !== this.#row(k, args)) return false;
    }
    return true;
  }

  /** The rows that the code for these arguments is made for. */
  of(args: LaunchArgs): Rows {
    if (this.are(ANY_ROWS, args)) return ANY_ROWS;
    const known = this.#known.find((rows) => this.are(rows, args));
    if (known !== undefined) return known;
    if (this.#known.length === KINDS) return ANY_ROWS;
    const rows = this.#params.map((_, k) => this.#row(k, args));
    this.#known.push(rows);
    return rows;
  }

  /** The constants by the numbers of their parameters. */
  values(rows: Rows): ReadonlyMap<number, number> | undefined {
    if (rows.length === 0) return undefined;
    return new Map(this.#params.map((index, k) => [index, rows[k] as number] as const).filter(([, n]) => n !== 0));
  }

  /** An extent where it and those of all later axes are short, else 0. */
  #row(k: number, args: LaunchArgs): number {
    const extent = Number(args[this.#params[k] as number]);
    const next = this.#next[k] as number;
    return extent >= 1 && extent <= LONGEST && (next < 0 || this.#row(next, args) > 0) ? extent : 0;
  }
}
