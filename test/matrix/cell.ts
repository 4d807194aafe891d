/**
 * A cell of the matrix, and what several kinds of cells have in common.
 */

/** One row of the table that is printed. */
export interface Cell {
  readonly name: string;
  /** Files to write, by name; `program.ts` is there already. */
  readonly files?: Readonly<Record<string, string>>;
  readonly commands: readonly (readonly string[])[];
  readonly env?: Readonly<Record<string, string>>;
  /** What the program's last line, a call of `report`, becomes. */
  readonly last?: string;
  /** Where the program's text lies, if not in `program.ts`. */
  readonly program?: string;
  /** Where errors point: the author's file and line, or the kernel's own text, where no inspector says where that stands. */
  readonly place?: 'kernel';
  /** What the commands must print, where they run another program. */
  readonly prints?: string | readonly string[];
}

export const json: (value: unknown) => string = (value) => JSON.stringify(value, null, 2);

/** For compilers that only take types out. */
export const TYPES_ONLY: string = json({
  compilerOptions: { target: 'es2022', module: 'esnext', moduleResolution: 'bundler', sourceMap: true },
});
