/**
 * Shared arrays whose elements are always wanted together lie together: `sx[k]`, `sy[k]`, `sz[k]` and `sm[k]` are one vector, which is loaded at once. Compilers join loads of
 * neighbours, but not of arrays that are apart, and each load of shared memory takes its turn.
 */
import { type ArraySym, ELEM_SIZE, type Expr, type Kernel, type MemRef, type Stmt } from '../../ir/ops.ts';
import { ExpressionKeys } from '../../ir/passes/expression-keys.ts';
import { eachPart, memParts, someExpr, stmtExprs, stmtLists, written } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';

type Store = Stmt & { readonly op: 'store' };

/** Arrays that are one of vectors of two or four. */
export type Together = readonly ArraySym[];

/** What is accessed of an array, and whether it could be a part of vectors. */
interface Uses {
  readonly places: Set<string>;
  possible: boolean;
}

export function arraysTogether(kernel: Kernel): readonly Together[] {
  const uses = new Map<ArraySym, Uses>();
  for (const array of kernel.arrays) {
    const words = array.space === 'shared' && array.dynamic !== true && ELEM_SIZE[array.elem] === 4;
    if (words && (array.length ?? 0) > 0) uses.set(array, { places: new Set(), possible: true });
  }
  if (uses.size < 2) return [];
  const stores: (readonly Stmt[])[] = [];
  const keys = new ExpressionKeys();
  let lists = 0;
  const note = (mem: MemRef, kind: 'load' | 'store' | 'other', list: number): void => {
    const known = uses.get(mem.array);
    if (known === undefined) return;
    if (kind === 'other' || ELEM_SIZE[mem.elem] !== 4 || mem.scale !== 4 || mem.disp % 4 !== 0) known.possible = false;
    known.places.add(`${kind} ${list}: ${keys.text(mem.index)} + ${mem.disp}`);
  };
  const walk = (list: readonly Stmt[]): void => {
    const number = lists++;
    if (list.some((s) => s.op === 'store' && uses.has(s.mem.array))) stores.push(list);
    for (const s of list) {
      const target = written(s);
      if (target !== undefined) note(target, s.op === 'store' ? 'store' : 'other', number);
      for (const e of stmtExprs(s)) eachPart(e, (part) => part.op === 'load' && note(part.mem, 'load', number));
      for (const inner of stmtLists(s)) walk(inner);
    }
  };
  walk(kernel.body);
  const alike = new Map<string, ArraySym[]>();
  for (const [array, { places, possible }] of uses) {
    if (!possible) continue;
    const key = [array.length, ...[...places].sort()].join('\n');
    alike.set(key, [...(alike.get(key) ?? []), array]);
  }
  return [...alike.values()].flatMap(parted).filter((group) => stores.every((list) => areStoredTogether(group, list)));
}

/** Fours and twos. */
function parted(arrays: readonly ArraySym[]): Together[] {
  const groups: Together[] = [];
  for (let at = 0; at + 1 < arrays.length; at += groups.at(-1)?.length ?? 0) {
    groups.push(arrays.slice(at, at + (at + 4 <= arrays.length ? 4 : 2)));
  }
  return groups;
}

/** Whether each store to one of the arrays stands among stores of all at the same place, none of which reads them. */
function areStoredTogether(group: Together, list: readonly Stmt[]): boolean {
  for (let k = 0; k < list.length; k++) {
    const s = list[k] as Stmt;
    if (s.op !== 'store' || !group.includes(s.mem.array)) continue;
    if (storesOf(group, list, k) === undefined) return false;
    k += group.length - 1;
  }
  return true;
}

/** The stores from `list[k]` on to all arrays, in their order; undefined where there are others. */
export function storesOf(group: Together, list: readonly Stmt[], k: number): readonly Store[] | undefined {
  const stores = list.slice(k, k + group.length).filter((s): s is Store => s.op === 'store');
  const [first] = stores;
  if (first === undefined || stores.length < group.length) return undefined;
  const reads = (e: Expr): boolean => someExpr(e, (x) => x.op === 'load' && group.includes(x.mem.array));
  const sorted = group.map((array) => stores.find(({ mem }) => mem.array === array));
  const fits = (s: Store | undefined): s is Store =>
    s !== undefined &&
    s.mem.disp === first.mem.disp &&
    sameExpr(s.mem.index, first.mem.index) &&
    ![s.value, ...memParts(s.mem)].some(reads);
  return sorted.every(fits) ? sorted : undefined;
}
