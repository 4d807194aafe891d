/**
 * Arrays whose elements have no type of their own: `[0, 0, 0]`. To inference such an array is one variable, which is assigned what is
 * stored to any element, and read by every load.
 */
import { walkStatements } from './parts.ts';
import type { Local, Range, Root, TStmt } from './tree.ts';

/** The variable that the elements of an array are. */
export function openElements(id: number, name: string, pos: Root['pos']): Range {
  const local: Local = { id: -1 - id, name, pos, stable: false };
  return { id: -1 - id, local, defs: [], type: undefined, demand: undefined };
}

/** The variables of all such arrays, with what is assigned to them. */
export function openRanges(roots: readonly Root[], body: readonly TStmt[]): Range[] {
  const open = roots.filter((root) => root.open !== undefined);
  if (open.length === 0) return [];
  for (const { open: range, values = [], pos } of open)
    for (const value of values)
      range?.defs.push(isBeyondSigned(value) ? { type: 'u32' } : { expr: { k: 'lit', value, pos } });
  walkStatements(body, (s) => {
    if (s.k === 'store') s.mem.root.open?.defs.push({ expr: s.value });
  });
  return open.flatMap(({ open: range }) => (range === undefined ? [] : [range]));
}

/** Words such as those of hash functions: no signed integer, and exact as an unsigned one. */
function isBeyondSigned(value: number | bigint | boolean): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 2 ** 31 && value < 2 ** 32;
}
