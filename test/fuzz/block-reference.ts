/**
 * Blocks of threads on the host: each thread is a generator that stops where threads meet. Between two meetings threads run one after another, in an order
 * that is given, so that what depends on it shows.
 */

/** Threads of a block wait in different places, or some that others wait for have returned. */
export class Diverged extends Error {}

interface Meeting {
  readonly kind: string;
  readonly value?: unknown;
  readonly op?: (a: unknown, b: unknown) => unknown;
  readonly init?: unknown;
  /** Of sorts, exchanges, loads and stores: what is given beside the items. */
  readonly more?: Options;
}

interface Options {
  readonly descending?: boolean;
  readonly key?: (v: number) => number;
  readonly compare?: (a: number, b: number) => number;
  readonly from?: string;
  readonly to?: string;
  readonly ranks?: number;
  readonly arrangement?: string;
  readonly otherwise?: number;
  readonly values?: unknown;
  readonly array?: Int32Array;
  readonly start?: number;
  readonly n?: number;
}

type Thread = Generator<Meeting, number, unknown>;

function* meet(
  kind: string,
  value?: unknown,
  op?: Meeting['op'],
  init?: unknown,
  more?: Options,
): Generator<Meeting, unknown, unknown> {
  return yield { kind, value, ...(op && { op }), init, ...(more && { more }) };
}

const group = (name: string) => ({
  reduce: (v: unknown, op: Meeting['op']) => meet(`${name} reduce`, v, op),
  inclusiveScan: (v: unknown, op: Meeting['op']) => meet(`${name} inclusive`, v, op),
  exclusiveScan: (v: unknown, op: Meeting['op'], init: unknown) => meet(`${name} exclusive`, v, op, init),
  sort: (v: unknown, o?: Options) => meet(`${name} sort`, v, undefined, undefined, o),
  sortByKey: (v: unknown, values: unknown, o?: Options) =>
    meet(`${name} sortByKey`, v, undefined, undefined, { ...o, values }),
});

const moves = {
  exchange: (v: unknown, o: Options) => meet('block exchange', v, undefined, undefined, o),
  load: (array: Int32Array, start: number, n: number, o?: Options) =>
    meet('block load', undefined, undefined, undefined, { ...o, array, start, n }),
  store: (array: Int32Array, start: number, v: unknown, o?: Options) =>
    meet('block store', v, undefined, undefined, { ...o, array, start }),
  histogram: (v: unknown, bins: number) => meet('block histogram', v, undefined, undefined, { n: bins }),
};

/** What the text of a program calls. */
export const cudaOfBlocks = {
  syncThreads: () => meet('sync'),
  syncThreadsCount: (v: boolean) => meet('count', v),
  syncThreadsAnd: (v: boolean) => meet('and', v),
  syncThreadsOr: (v: boolean) => meet('or', v),
  block: { ...group('block'), ...moves },
  warp: group('warp'),
};

const itemsOf = (v: unknown): number[] => (Array.isArray(v) ? v : [v]) as number[];

/** The place of item k of thread t in the tile of n items a thread. */
function placeOf(arrangement: string | undefined, t: number, k: number, n: number, threads: number): number {
  if (arrangement === 'striped') return k * threads + t;
  if (arrangement !== 'warpStriped') return t * n + k;
  const first = t & ~31;
  return first * n + k * Math.min(32, threads - first) + (t - first);
}

/** Which of a tile's items each thread gets, as an array where it gave one. */
function dealt<T>(all: readonly Meeting[], tile: readonly T[], n: number, arrangement?: string): unknown[] {
  return all.map(({ value }, t) => {
    const own = Array.from({ length: n }, (_, k) => tile[placeOf(arrangement, t, k, n, all.length)]);
    return Array.isArray(value) || value === undefined ? own : own[0];
  });
}

function sorted(all: readonly Meeting[], byKey: boolean): unknown[] {
  const { descending, key = (v: number) => v, compare } = all[0]?.more ?? {};
  const n = itemsOf(all[0]?.value).length;
  const pairs = all.flatMap(({ value, more }) => {
    const values = itemsOf(byKey ? more?.values : value);
    return itemsOf(value).map((k, at) => [k, values[at] ?? 0] as const);
  });
  const order = compare ?? ((a: number, b: number) => key(a) - key(b));
  pairs.sort(([a], [b]) => (descending ? order(b, a) : order(a, b)));
  const keys = dealt(
    all,
    pairs.map(([k]) => k),
    n,
  );
  if (!byKey) return keys;
  const values = dealt(
    all,
    pairs.map(([, v]) => v),
    n,
  );
  return keys.map((k, t) => ({ keys: k, values: values[t] }));
}

function moved(form: string | undefined, all: readonly Meeting[]): unknown[] {
  const { array = new Int32Array(0), start = 0, n = 0, otherwise, arrangement, from, to } = all[0]?.more ?? {};
  const way = arrangement === 'transposed' ? 'blocked' : arrangement;
  const each = itemsOf(all[0]?.value).length;
  const items = all.map((m) => itemsOf(m.value));
  switch (form) {
    case 'exchange': {
      const tile: number[] = [];
      items.forEach((own, t) =>
        own.forEach((v, k) => {
          tile[all[t]?.more?.ranks ?? placeOf(from, t, k, each, all.length)] = v;
        }),
      );
      return dealt(all, tile, each, to);
    }
    case 'load':
      return dealt(
        all,
        Array.from({ length: n * all.length }, (_, k) => array[start + k] ?? otherwise),
        n,
        way,
      );
    case 'histogram': {
      const bins = Array.from({ length: n }, (_, k) => items.flat().filter((v) => v === k).length);
      return all.map(() => bins);
    }
    default:
      items.forEach((own, t) =>
        own.forEach((v, k) => {
          array[start + placeOf(way, t, k, each, all.length)] = v;
        }),
      );
      return all.map(() => undefined);
  }
}

/** What each of those that meet gets, in the order of the threads. */
function outcome(all: readonly Meeting[]): unknown[] {
  const [first] = all;
  const [, form = first?.kind] = first?.kind.split(' ') ?? [];
  const values = all.map((m) => m.value);
  const op = first?.op ?? ((a: unknown) => a);
  const same = (v: unknown): unknown[] => values.map(() => v);
  switch (form) {
    case 'sync':
      return same(undefined);
    case 'count':
      return same(values.filter(Boolean).length);
    case 'and':
      return same(values.every(Boolean));
    case 'or':
      return same(values.some(Boolean));
    case 'reduce':
      return same(values.reduce((a, b) => op(a, b)));
    case 'inclusive':
      return values.map((_, k) => values.slice(0, k + 1).reduce((a, b) => op(a, b)));
    case 'sort':
    case 'sortByKey':
      return sorted(all, form === 'sortByKey');
    case 'exchange':
    case 'load':
    case 'store':
    case 'histogram':
      return moved(form, all);
    default:
      return values.map((_, k) => values.slice(0, k).reduce((a, b) => op(a, b), first?.init));
  }
}

/** Runs the threads of a block to their ends, the last first where `backwards`; their results. */
export function runBlock(threads: readonly Thread[], backwards: boolean): number[] {
  const results: number[] = threads.map(() => 0);
  const waiting = new Map<number, Meeting>();
  const inputs = new Map<number, unknown>(threads.map((_, t) => [t, undefined]));
  const live = new Set(threads.keys());
  while (live.size > 0) {
    const order = [...inputs.keys()].sort((a, b) => (backwards ? b - a : a - b));
    for (const t of order) {
      const step = threads[t]?.next(inputs.get(t));
      if (step === undefined) continue;
      if (step.done) {
        results[t] = step.value;
        live.delete(t);
      } else waiting.set(t, step.value);
    }
    inputs.clear();
    const groups = new Map<number, number[]>();
    for (const t of [...live].sort((a, b) => a - b)) {
      const at = waiting.get(t)?.kind.startsWith('warp') ? t >> 5 : -1;
      groups.set(at, [...(groups.get(at) ?? []), t]);
    }
    for (const [at, members] of groups) {
      const all = at === -1 ? [...live] : [...live].filter((t) => t >> 5 === at);
      const meetings = members.map((t) => waiting.get(t) as Meeting);
      const together = members.length === all.length && meetings.every((m) => m.kind === meetings[0]?.kind);
      if (!together) continue;
      outcome(meetings).forEach((v, k) => void inputs.set(members[k] ?? 0, v));
    }
    if (inputs.size === 0 && live.size > 0) throw new Diverged('threads wait in different places');
  }
  return results;
}

/** The text for the device, and for `runBlock`. */
export const forDevice = (text: string): string => text.replaceAll('«', '').replaceAll('»', '');
export const forHost = (text: string): string => text.replaceAll('«', '(yield* ').replaceAll('»', ')');
