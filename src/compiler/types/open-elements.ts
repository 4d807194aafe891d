/**
 * Arrays whose elements have no type of their own: `[0, 0, 0]`. To inference such an array is one variable, which is assigned what is
 * stored to any element, and read by every load.
 */
import { expressionsOf, walkExpression, walkStatements } from './parts.ts';
import type { Local, Range, Root, TMem, TStmt } from './tree.ts';

/** The variable that the elements of an array are. */
export function openElements(id: number, name: string, pos: Root['pos']): Range {
  const local: Local = { id: -1 - id, name, pos, stable: false };
  return { id: -1 - id, local, defs: [], type: undefined, demand: undefined };
}

/** Arrays that one name stands for are one variable: their elements are of one type. */
function unite(body: readonly TStmt[]): void {
  const choices = new Set<Root>();
  walkStatements(body, (s) => {
    const note = ({ root }: TMem): void => {
      if (root.among !== undefined) choices.add(root);
    };
    if (s.k === 'store' || s.k === 'atomic') note(s.mem);
    for (const e of expressionsOf(s)) walkExpression(e, (x) => x.k === 'load' && note(x.mem));
  });
  const united = new Map<Range, Range>();
  const of = (range: Range): Range => {
    const next = united.get(range);
    return next === undefined ? range : of(next);
  };
  const all = [...choices].flatMap((c) => [c, ...(c.among?.roots ?? [])]);
  for (const choice of choices) {
    const [first, ...others] = [...(choice.among?.roots ?? [])].flatMap(({ open }) => open ?? []);
    if (first === undefined) continue;
    choice.open = first;
    for (const other of others) if (of(other) !== of(first)) united.set(of(other), of(first));
  }
  for (const root of all) if (root.open !== undefined) root.open = of(root.open);
}

/** The variables of all such arrays, with what is assigned to them. */
export function openRanges(roots: readonly Root[], body: readonly TStmt[]): Range[] {
  const open = roots.filter((root) => root.open !== undefined);
  if (open.length === 0) return [];
  unite(body);
  for (const { open: range, values = [], pos } of open)
    for (const value of values)
      range?.defs.push(isBeyondSigned(value) ? { type: 'u32' } : { expr: { k: 'lit', value, pos } });
  walkStatements(body, (s) => {
    if (s.k === 'store') s.mem.root.open?.defs.push({ expr: s.value });
  });
  return [...new Set(open.flatMap(({ open: range }) => (range === undefined ? [] : [range])))];
}

/** Words such as those of hash functions: no signed integer, and exact as an unsigned one. */
function isBeyondSigned(value: number | bigint | boolean): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 2 ** 31 && value < 2 ** 32;
}
