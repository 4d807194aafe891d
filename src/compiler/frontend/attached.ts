/**
 * What a build plugin (`tsamba/vite` and its like) leaves on a function: its text as it was written, where that stands, and how to read the names
 * that it takes from outside. It goes before `toString()` and the inspector, so that neither bundling nor minification matters.
 *
 * It hangs on the function by a registered symbol, so that a module needs no import for it, and reaches every copy of the library.
 */
import { parseSourceMap, type SourceMap } from './sourcemap.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Where plugins leave it. */
export const ATTACHED: unique symbol = Symbol.for('tsamba.source') as never;

export interface Attached {
  /** The function's text before it was bundled; without types. */
  readonly text: string;
  /** What the author calls it; empty for a function without a name. */
  readonly name: string;
  /** The author's file, relative to the project's folder. */
  readonly file: string;
  /**
   * Places of `text` in that file: the mappings of a source map. A segment reaches to the next one: characters between are as far apart in the file. Empty
   * where the places are not known.
   */
  readonly map: string;
  /** The value of each name that is free in the text and no global of kernels. Throws for a variable without a value yet. */
  readonly names: Readonly<Record<string, () => unknown>>;
  /** Called when a server for development has replaced the text. There alone. */
  readonly readers?: Set<() => void>;
}

/** What a plugin has left on a function; undefined on all others, and on what only looks like it. */
export function attachedTo(fn: AnyFunction): Attached | undefined {
  if (!Object.hasOwn(fn, ATTACHED)) return undefined;
  const found = (fn as AnyFunction & { [ATTACHED]?: Partial<Attached> })[ATTACHED];
  return typeof found?.text === 'string' && typeof found.names === 'object' ? (found as Attached) : undefined;
}

const maps = new WeakMap<Attached, { readonly of: string; readonly map: SourceMap | undefined }>();

/** Line and column, from 0, in the author's file of a place in the text; undefined where that is not known. */
export function attachedPlace(
  attached: Attached,
  line: number,
  column: number,
): { readonly line: number; readonly column: number } | undefined {
  let known = maps.get(attached);
  if (known?.of !== attached.map) {
    const { file, map } = attached;
    known = { of: map, map: parseSourceMap(JSON.stringify({ version: 3, sources: [file], mappings: map }), '') };
    maps.set(attached, known);
  }
  const segments = known.map?.lines[line] ?? [];
  const segment = segments.findLast(({ generatedColumn }) => generatedColumn <= column) ?? segments[0];
  if (segment === undefined) return undefined;
  return { line: segment.line, column: segment.column + Math.max(0, column - segment.generatedColumn) };
}
