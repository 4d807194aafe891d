/**
 * Barriers that are none where the items of a block run in order: `other = s[t - step]; barrier; s[t] = s[t] + other`.
 *
 * Whatever is loaded ahead of such a barrier lies below what the item itself stores behind it, or all of it above. So items from the last to the first,
 * or from the first to the last, may load and store at once: nobody has yet stored what they load. No load needs to be kept for the whole block
 * then. Only for blocks of one row.
 */
import type { Loop } from '../../ir/loops.ts';
import type { ArraySym, Expr, Kernel, MemRef, Stmt } from '../../ir/ops.ts';
import { eachExpr, eachStmt, hasBarrier, mapLists, someStmt, stmtLists } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { Ranges } from './ranges.ts';
import { definitionsOf } from './structure.ts';

type Interval = readonly [number, number];
/** Intervals of counters, by `Var.id`. */
type Known = ReadonlyMap<number, Interval>;

export interface Fused {
  readonly kernel: Kernel;
  /** Arrays: regions that store to them run their items from the last to the first. */
  readonly downwards: ReadonlySet<ArraySym>;
}

/** A kernel without the barriers that an order of its items makes up for. */
export function fuseBarriers(kernel: Kernel, block: readonly [number, number, number]): Fused {
  const downwards = new Set<ArraySym>();
  if (block[1] * block[2] !== 1 || !hasBarrier(kernel.body)) return { kernel, downwards };
  const upwards = new Set<ArraySym>();
  let facts: { readonly ranges: Ranges; readonly definitions: ReadonlyMap<number, Expr> } | undefined;
  const inList = (list: readonly Stmt[], known: Known): readonly Stmt[] => {
    const out = list.map((s) => {
      if (s.op === 'loop') facts ??= { ranges: new Ranges(kernel, block), definitions: definitionsOf(kernel.body) };
      const counter = s.op === 'loop' && hasBarrier([s]) ? facts?.ranges.counter(s as Loop) : undefined;
      const inside = counter === undefined ? known : new Map([...known, counter]);
      return stmtLists(s).some(hasBarrier) ? mapLists(s, (inner) => inList(inner, inside)) : s;
    });
    let left = out.filter((s) => s.op === 'barrier').length;
    for (let k = 0; k < out.length; k++) {
      if (!isPlain(out[k]) || left < 2 || !fuses(out, k, known)) continue;
      out.splice(k, 1);
      left--;
      k--;
    }
    return out.length === list.length && out.every((s, k) => s === list[k]) ? list : out;
  };
  const fuses = (list: readonly Stmt[], k: number, known: Known): boolean => {
    const from = list.slice(0, k).findLastIndex((s) => s.op === 'barrier') + 1;
    const next = list.findIndex((s, i) => i > k && s.op === 'barrier');
    const [before, after] = [list.slice(from, k), list.slice(k + 1, next < 0 ? list.length : next)];
    if (someStmt(before, (s) => !isQuiet(s)) || someStmt(after, (s) => !isOwn(s))) return false;
    const loads: MemRef[] = [];
    eachExpr(before, (e) => {
      if (e.op === 'load') loads.push(e.mem);
    });
    const stores: MemRef[] = [];
    eachStmt(after, (s) => {
      if (s.op === 'store') stores.push(s.mem);
    });
    const shared = stores.filter(({ array }) => array.space === 'shared');
    if (shared.length < stores.length && loads.some(({ array }) => array.space === 'global')) return false;
    let [down, up] = [true, true];
    const met = new Set<ArraySym>();
    for (const load of loads) {
      for (const store of shared) {
        if (store.array !== load.array) {
          if (store.array.dynamic && load.array.dynamic) return false;
          continue;
        }
        met.add(store.array);
        const apart = distance(load, store, known);
        down &&= apart !== undefined && apart[1] <= 0 && !upwards.has(store.array);
        up &&= apart !== undefined && apart[0] >= 0 && !downwards.has(store.array);
      }
    }
    if (met.size === 0 || (!down && !up)) return false;
    for (const array of met) (up ? upwards : downwards).add(array);
    return true;
  };
  /** How far what is loaded lies beyond what the same item stores. */
  const distance = (load: MemRef, store: MemRef, known: Known): Interval | undefined => {
    facts ??= { ranges: new Ranges(kernel, block), definitions: definitionsOf(kernel.body) };
    const { ranges, definitions } = facts;
    if (load.scale !== store.scale || load.disp !== store.disp || load.elem !== store.elem) return undefined;
    const [plus, minus]: [Expr[], Expr[]] = [[], []];
    const items = { count: 0, stored: 0 };
    // Items store side by side: what else is in their index is the same for all, and stays what it is.
    const isSteady = (e: Expr): boolean =>
      e.op === 'const' ||
      e.op === 'param' ||
      (e.op === 'var' && known.has(e.var.id)) ||
      (e.op === 'special' && e.name.startsWith('block'));
    const collect = (e: Expr, sign: 1 | -1, isStore: boolean): void => {
      const value = e.op === 'var' ? definitions.get(e.var.id) : undefined;
      if (value !== undefined) collect(value, sign, isStore);
      else if (e.op === 'binary' && (e.fn === 'add' || e.fn === 'sub')) {
        collect(e.a, sign, isStore);
        collect(e.b, e.fn === 'add' ? sign : (-sign as 1 | -1), isStore);
      } else if (e.op === 'special' && e.name === 'threadIdx.x') {
        items.count += sign;
        if (isStore) items.stored -= sign;
      } else {
        (sign > 0 ? plus : minus).push(e);
        if (isStore && !isSteady(e)) items.count = Number.NaN;
      }
    };
    collect(load.index, 1, false);
    collect(store.index, -1, true);
    // Both go up with the item, one by one.
    if (items.count !== 0 || items.stored !== 1) return undefined;
    let [least, most] = [0, 0];
    for (const e of plus.slice()) {
      const twin = minus.findIndex((other) => sameExpr(other, e));
      if (twin < 0) continue;
      minus.splice(twin, 1);
      plus.splice(plus.indexOf(e), 1);
    }
    for (const [list, sign] of [
      [plus, 1],
      [minus, -1],
    ] as const) {
      for (const e of list) {
        const range = ranges.of(e, known);
        if (range === undefined) return undefined;
        least += sign > 0 ? range[0] : -range[1];
        most += sign > 0 ? range[1] : -range[0];
      }
    }
    return [least, most];
  };
  const body = inList(kernel.body, new Map());
  return { kernel: body === kernel.body ? kernel : { ...kernel, body }, downwards };
}

const isPlain = (s: Stmt | undefined): boolean => s?.op === 'barrier' && s.kind === 'sync' && s.result === undefined;

/** Whether a statement changes nothing but variables, wherever it goes on. */
const isQuiet = ({ op }: Stmt): boolean => op === 'assign' || op === 'if' || op === 'break';

/** Whether a statement is what an item may do right behind its loads. */
const isOwn = (s: Stmt): boolean =>
  s.op === 'assign' ||
  s.op === 'if' ||
  (s.op === 'store' && (s.mem.array.space === 'shared' || s.mem.array.space === 'global'));
