/**
 * What a block does with its tile of several items a thread: loading and storing it, changing who holds what, and counting in bins.
 */
import type { Arrangement, LoadOptions, Ranks } from './types.ts';
import { type Counts, type Items, numbered, type Value, written } from './words.ts';

/** The place in the tile that item `k` of a thread has. */
const placeIn = (arrangement: string, t: number, count: number, n: number, k: number): number => {
  if (arrangement === 'striped') return t + k * count;
  if (arrangement !== 'warpStriped') return t * n + k;
  const lane = t & 31;
  const first = t - lane;
  return first * n + k * Math.min(32, count - first) + lane;
};

export interface Exchange {
  readonly from?: Arrangement;
  readonly to?: Arrangement;
  readonly ranks?: Value;
}

/** Items by way of shared memory. Every 33rd element is left free, so that threads whose items lie beside each other do not meet in one bank. */
const exchanged = /* @__PURE__ */ written(
  ({ parts, like, shared, threads, syncThreads, numbered, placeIn }) =>
    (items: Items, from: string, to: string, ranks: readonly number[] | undefined): Items => {
      const n = items.length;
      const [t, count] = numbered();
      const slots = threads() * n;
      const memory = shared(slots + (slots >> 5), items[0] as Value);
      items.forEach((item: Value, k: number) => {
        const i = ranks === undefined ? placeIn(from, t, count, n, k) : (ranks[k] as number);
        if (ranks === undefined || (i >= 0 && i < count * n)) {
          parts(item).forEach((part: Value, p: number) => {
            (memory[p] as { [i: number]: Value })[i + (i >> 5)] = part;
          });
        }
      });
      syncThreads();
      const result = items.map((item: Value, k: number) => {
        const i = placeIn(to, t, count, n, k);
        return like(
          item,
          memory.map((m) => m[i + (i >> 5)] as Value),
        );
      });
      syncThreads();
      return result;
    },
  { numbered, placeIn },
);

export const exchange: (given: Value, options?: Exchange) => Value = /* @__PURE__ */ written(
  ({ itemsOf, exchanged }) =>
    (given: Value, { from = 'blocked', to = 'blocked', ranks }: Exchange = {}): Value => {
      const items = itemsOf(given);
      if (items !== undefined) {
        return exchanged(items, from, to, ranks === undefined ? undefined : (itemsOf(ranks) as never)) as Value;
      }
      return exchanged([given], from, to, ranks === undefined ? undefined : [ranks])[0] as Value;
    },
  { exchanged },
);

type Source = { readonly [i: number]: Value; readonly length: number };
type Load = (x: Source, start: number, n: number, options?: LoadOptions<Value>) => Value;

export const load: Load = /* @__PURE__ */ written(
  ({ numbered, placeIn, exchanged }) =>
    (x: Source, start: number, n: number, options: LoadOptions<Value> = {}): Value => {
      const { arrangement = 'blocked', otherwise } = options;
      const [t, count] = numbered();
      const read = arrangement === 'transposed' ? 'striped' : arrangement;
      const items = Array.from({ length: n }, (_, k) => {
        const i = start + placeIn(read, t, count, n, k);
        return otherwise === undefined || i < x.length ? (x[i] as Value) : otherwise;
      });
      return (arrangement === 'transposed' ? exchanged(items, 'striped', 'blocked', undefined) : items) as Value;
    },
  { numbered, placeIn, exchanged },
);

type Target = { [i: number]: Value; readonly length: number };
type Store = (y: Target, start: number, given: Value, options?: { readonly arrangement?: string }) => void;

export const store: Store = /* @__PURE__ */ written(
  ({ numbered, placeIn, exchanged, itemsOf }) =>
    (y: Target, start: number, given: Value, { arrangement = 'blocked' }: { readonly arrangement?: string } = {}) => {
      const items = itemsOf(given) ?? [given];
      const [t, count] = numbered();
      const isTransposed = arrangement === 'transposed';
      const out = isTransposed ? exchanged(items, 'blocked', 'striped', undefined) : items;
      out.forEach((item: Value, k: number) => {
        const i = start + placeIn(isTransposed ? 'striped' : arrangement, t, count, items.length, k);
        if (i < y.length) y[i] = item;
      });
    },
  { numbered, placeIn, exchanged },
);

type Histogram = (given: Value, bins: number, options?: { readonly into?: Counts }) => Counts;

export const histogram: Histogram = /* @__PURE__ */ written(
  ({ numbered, itemsOf, shared, syncThreads, atomicAdd, int }) =>
    (given: Value, bins: number, { into }: { readonly into?: Counts } = {}): Counts => {
      const items = itemsOf(given) ?? [given];
      const counts = into ?? (shared(bins, int as Value)[0] as unknown as Counts);
      const [t, count] = numbered();
      // Those who still read what was counted before, or fill what this adds to.
      syncThreads();
      if (into === undefined) {
        for (let i = t; i < bins; i += count) counts[i] = 0;
        syncThreads();
      }
      items.forEach((bin: number) => {
        if (bin >= 0 && bin < bins) atomicAdd(counts, bin, 1);
      });
      syncThreads();
      return counts;
    },
  { numbered },
);

/** For the type of what ranks may be. */
export type { Ranks };
