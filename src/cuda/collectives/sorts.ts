/**
 * Sorting of what the threads of a group hold: each thread its items, then runs merged two by two in shared memory. Where a thread's part of a merge begins is found by
 * a binary search ("merge path": Green, McColl, Bader), so that all threads have the same amount of work. Stable.
 */
import { type Group, type Items, type Value, written } from './words.ts';

export type Less = (a: Value, b: Value) => boolean;

/** Options, as they are known when a kernel is compiled. */
interface Order {
  readonly key?: (value: Value) => Value;
  readonly compare?: (a: Value, b: Value) => number;
  readonly descending?: boolean;
}

/** Whether a value goes before another one. NaN is last in both directions. */
const lessOf = /* @__PURE__ */ written(
  ({ before }) =>
    ({ key, compare, descending = false }: Order = {}): Less =>
    (a: Value, b: Value): boolean => {
      if (compare !== undefined) return descending ? compare(b, a) < 0 : compare(a, b) < 0;
      const x = key === undefined ? a : key(a);
      const y = key === undefined ? b : key(b);
      return descending ? !Number.isNaN(x) && (Number.isNaN(y) || before(y, x)) : before(x, y);
    },
  {},
);

/** One of two values; both have been computed. */
const pick = /* @__PURE__ */ written(
  ({ parts, like }) =>
    (first: boolean, a: Value, b: Value): Value => {
      const others = parts(b);
      return like(
        a,
        parts(a).map((part: Value, k: number) => (first ? part : (others[k] as Value))),
      );
    },
  {},
);

/** A thread's own items, by exchanging neighbours as often as there are items. */
const sortItems = /* @__PURE__ */ written(
  ({ pick }) =>
    (items: Items, less: Less): Items =>
      items.reduce((now: Items, _: Value, round: number) => {
        const last = now.length - 1;
        // Whether item k, counted from an even or an odd one, changes places with the next.
        const swaps = now.map((item: Value, k: number) =>
          k % 2 === round % 2 && k < last ? less(now[k + 1] as Value, item) : false,
        );
        return now.map((item: Value, k: number) => {
          if (k % 2 === round % 2) return k < last ? pick(swaps[k] as boolean, now[k + 1] as Value, item) : item;
          return k > 0 ? pick(swaps[k - 1] as boolean, now[k - 1] as Value, item) : item;
        }) as Items;
      }, items as Items),
  { pick },
);

/** The items of a group in order, blocked as they came. */
const mergeSort = /* @__PURE__ */ written(
  ({ parts, like, shared, threads, sortItems, pick }) =>
    ({ place, most, sync }: Group, given: Items, less: Less): Items => {
      const n = given.length;
      const [t, count, first] = place();
      const all = count * n;
      const base = first * n;
      const memory = shared(threads() * n, given[0] as Value);
      const load = (i: number): Value =>
        like(
          given[0] as Value,
          memory.map((m) => m[base + i] as Value),
        );
      let mine = sortItems(given, less);
      for (let width = 1; width < most(); width <<= 1) {
        mine.forEach((item: Value, k: number) => {
          parts(item).forEach((part: Value, p: number) => {
            (memory[p] as { [i: number]: Value })[base + t * n + k] = part;
          });
        });
        sync();
        const start = (t & -(2 * width)) * n;
        const middle = Math.min(all, start + width * n);
        const end = Math.min(all, start + 2 * width * n);
        const behind = t * n - start;
        let low = Math.max(0, behind - (end - middle));
        let high = Math.min(behind, middle - start);
        while (low < high) {
          const mid = (low + high) >> 1;
          if (less(load(middle + behind - 1 - mid), load(start + mid))) high = mid;
          else low = mid + 1;
        }
        let left = start + low;
        let right = middle + behind - low;
        mine = mine.map(() => {
          const [a, b] = [load(Math.min(left, all - 1)), load(Math.min(right, all - 1))];
          const takesRight = left >= middle || (right < end && less(b, a));
          if (takesRight) right++;
          else left++;
          return pick(takesRight, b, a);
        }) as Items;
        // What was read is written again.
        sync();
      }
      return mine;
    },
  { sortItems, pick },
);

/** The functions of one group. */
export interface Sorts {
  readonly sort: (given: Value, order?: Order) => Value;
  readonly sortByKey: (keys: Value, values: Value, order?: Order) => { readonly keys: Value; readonly values: Value };
}

interface Pair {
  readonly key: Value;
  readonly value: Value;
}

export function sortsOf(group: Group): Sorts {
  const sort = written(
    ({ group, itemsOf, mergeSort, lessOf }) =>
      (given: Value, order: Order = {}): Value => {
        const items = itemsOf(given);
        if (items !== undefined) return mergeSort(group, items, lessOf(order)) as Value;
        return mergeSort(group, [given], lessOf(order))[0] as Value;
      },
    { group, mergeSort, lessOf },
  );
  const sortByKey = written(
    ({ group, itemsOf, mergeSort, lessOf }) =>
      (keys: Value, values: Value, order: Order = {}) => {
        const items = itemsOf(keys);
        const beside = itemsOf(values);
        const pairs = (items === undefined ? [keys] : items).map((key: Value, k: number) => ({
          key,
          value: beside === undefined ? values : (beside[k] as Value),
        }));
        const less = lessOf(order);
        const sorted = mergeSort(
          group,
          pairs as never,
          ((a: Pair, b: Pair) => less(a.key, b.key)) as never,
        ) as never as Pair[];
        const [ks, vs] = [sorted.map(({ key }) => key), sorted.map(({ value }) => value)];
        return items === undefined
          ? { keys: ks[0] as Value, values: vs[0] as Value }
          : { keys: ks as Value, values: vs as Value };
      },
    { group, mergeSort, lessOf },
  );
  return { sort, sortByKey: sortByKey as Sorts['sortByKey'] };
}
