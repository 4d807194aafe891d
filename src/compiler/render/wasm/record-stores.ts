/**
 * Stores to neighbouring members of records, which `records.ts` loads: a vector of each member becomes a vector of each lane.
 */
import { type ArraySym, ELEM_SIZE, type Expr, type MemRef, type Stmt } from '../../ir/ops.ts';
import { hasLoad, someExpr } from '../../ir/passes/walk.ts';
import { placeWithin } from './address.ts';
import type { Local } from './assembler.ts';
import { part } from './expr.ts';
import type { Gen } from './gen.ts';
import { isAsked, mayBeSame, withAlike } from './interleave.ts';
import { withPrepared } from './prepare.ts';
import { apart, type Group, SIZE, stepOfMember, turn, WHOLE, withPointer } from './records.ts';

type Store = Stmt & { op: 'store' };

interface Placed {
  readonly store: Store;
  /** Bytes from the first store's place. */
  readonly at: number;
}

interface StoreGroup extends Group {
  readonly stores: readonly Store[];
  /** In the order of memory, without gaps. */
  readonly inOrder: readonly Store[];
  /** Arrays whose records must begin where those that are stored do, modulo their size. */
  readonly sources: ReadonlySet<ArraySym>;
}

/**
 * Stores to neighbouring members that begin a list, two to four; undefined where there are none, or they stand in each other's way, which they do
 * not where all that they load `comesFirst`.
 */
export function memberStores(
  g: Gen,
  list: readonly Stmt[],
  from: number,
  { comesFirst = false }: { readonly comesFirst?: boolean } = {},
): StoreGroup | undefined {
  const s = list[from];
  if (s?.op !== 'store' || g.lanes === 1) return undefined;
  const step = stepOfMember(g, s.mem, 'store');
  if (step === undefined || hasLoad(s.mem.index)) return undefined;
  const found: Placed[] = [{ store: s, at: 0 }];
  const sources = new Set<ArraySym>();
  for (const other of list.slice(from + 1, from + WHOLE / SIZE)) {
    if (other.op !== 'store') break;
    const at = apart(s.mem, other.mem);
    if (at === undefined || hasLoad(other.mem.index) || found.some((x) => x.at === at)) break;
    if (!comesFirst && !readsOthers(g, other.value, found, sources)) break;
    found.push({ store: other, at });
  }
  for (; found.length > 1; found.pop()) {
    const inOrder = [...found].sort((a, b) => a.at - b.at);
    const least = inOrder[0]?.at ?? 0;
    if (inOrder.some(({ at }, k) => at !== least + k * SIZE)) continue;
    const first = inOrder[0]?.store.mem as MemRef;
    return { first, step, stores: found.map((x) => x.store), inOrder: inOrder.map((x) => x.store), sources };
  }
  return undefined;
}

/** Whether a later store's value holds no loads but of members of records in other places than what is `stored`, of arrays that are added to `sources`. */
function readsOthers(g: Gen, value: Expr, stored: readonly Placed[], sources: Set<ArraySym>): boolean {
  const { value: first, mem } = (stored[0] as Placed).store;
  const bytes = [WHOLE, 2 * SIZE].find((n) => placeWithin(mem, n) !== undefined);
  return !someExpr(value, (e) => {
    if (e.op !== 'load') return false;
    if (!isAsked(g, e, first)) return true;
    if (!mayBeSame(g, e.mem.array, mem.array)) return false;
    const at = bytes === undefined || ELEM_SIZE[e.mem.elem] !== SIZE ? undefined : placeWithin(e.mem, bytes);
    if (at === undefined || stored.some((x) => placeWithin(x.store.mem, bytes ?? 0) === at)) return true;
    if (e.mem.array !== mem.array) sources.add(e.mem.array);
    return false;
  });
}

/** Emits the stores; `separately` as they stand. */
export function emitMemberStores(
  g: Gen,
  { first, step, stores, inOrder, sources }: StoreGroup,
  separately: () => void,
): void {
  const together = (): void =>
    withPrepared(
      g,
      stores.flatMap((s) => [s.value, s.mem.index]),
      stores.map((s) => s.mem),
      () => storeTurned(g, { first, step, inOrder }),
    );
  withAlike(g, first.array, sources, WHOLE, together, separately);
}

/** Stores a group whose values have been loaded. */
export function storeTurned(g: Gen, { first, step, inOrder }: Group & Pick<StoreGroup, 'inOrder'>): void {
  const { f } = g;
  const count = inOrder.length;
  const values = inOrder.map(({ value }) =>
    Array.from({ length: g.lanes / 4 }, (_, p) => {
      const local = f.temp('v128');
      part(g, value, p);
      f.set(local);
      return local;
    }),
  );
  withPointer(g, { first, step }, 'store', (next, offset) => {
    for (let p = 0; p < g.lanes / 4; p++) {
      // What is missing of four may be anything: it is not stored.
      const rows = [0, 1, 2, 3].map((k) => (values[k] ?? values[count - 1])?.[p] ?? 0);
      const records: Local[] = [];
      turn(g, rows, [0, 4, 8, 12], (_, push) => {
        const local = f.temp('v128');
        push();
        f.set(local);
        records.push(local);
      });
      for (const record of records) {
        next();
        if (count === 4) {
          f.get(record);
          f.memory('v128.store', 2, offset);
          continue;
        }
        const address = f.temp('i32');
        f.tee(address);
        f.get(record);
        f.memoryLane('v128.store64_lane', 2, offset, 0);
        if (count === 3) {
          f.get(address, record);
          f.memoryLane('v128.store32_lane', 2, offset + 8, 2);
        }
        f.release('i32', address);
      }
      f.release('v128', ...records);
    }
  });
  f.release('v128', ...values.flat());
}
