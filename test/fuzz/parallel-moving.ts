/**
 * Random programs of `tsamba/parallel`: sorts, selections, searches, and what moves elements.
 */
import { cuda } from '../../src/index.ts';
import * as parallel from '../../src/parallel/index.ts';
import { type AnyArray, type Given, shuffled } from './parallel-inputs.ts';
import { ALL, isEqual, KINDS, type Kind, NUMBERS, order, type Value } from './parallel-kinds.ts';
import { beginsWith, offsetsFor } from './parallel-reducing.ts';
import type { Trial } from './parallel-trial.ts';

const SORTABLE = [...NUMBERS, KINDS.bool];

interface Order {
  readonly kind: Kind;
  readonly options: object;
  /** Below 0 where the first goes before the second. */
  readonly compare: (a: Value, b: Value) => number;
}

// Keys and comparisons that the host computes as kernels do.
const KEYS = [(v: number) => Math.abs(v), (v: number) => v % 8, (v: number) => (v > 0 ? 1 : 0)];
const COMPARES = [
  (a: number, b: number) => (b % 10) - (a % 10),
  (a: number, b: number) => (a > b ? 1 : a < b ? -1 : 0),
];
type Mixed = { readonly a: number; readonly b: number; readonly c: number };
const RECORD_KEYS = [(v: Mixed) => v.b, (v: Mixed) => v.a, (v: Mixed) => v.c - v.b];
const RECORD_COMPARES = [(p: Mixed, q: Mixed) => p.a - q.a || q.b - p.b, (p: Mixed, q: Mixed) => p.c - q.c];

/** A random order, of random elements. */
function orderFor(t: Trial): Order {
  const { r } = t;
  const descending = r.chance(0.4);
  const way = r.pick(['own', 'own', 'own', 'key', 'compare', 'record key', 'record compare'] as const);
  const isRecord = way.startsWith('record');
  const plain = [KINDS.i32, KINDS.f64, KINDS.f32, KINDS.i16];
  const kind = isRecord ? KINDS.mixed : t.kind(way === 'own' ? SORTABLE : plain);
  const by = order(descending);
  // Integers have no -0.
  const whole = (v: number): number => (kind.family === 'int' ? v + 0 : v);
  if (way === 'own') return note({ kind, options: { descending }, compare: by });
  if (way.endsWith('key')) {
    const key = r.pick((isRecord ? RECORD_KEYS : KEYS) as readonly ((v: never) => number)[]);
    return note({
      kind,
      options: { key, descending },
      compare: (a, b) => by(whole(key(a as never)), whole(key(b as never))),
    });
  }
  const compare = r.pick((isRecord ? RECORD_COMPARES : COMPARES) as readonly ((a: never, b: never) => number)[]);
  const sign = descending ? -1 : 1;
  return note({ kind, options: { compare, descending }, compare: (a, b) => sign * compare(a as never, b as never) });

  function note(made: Order): Order {
    t.note(`order: ${way} ${JSON.stringify(made.options)} ${Object.values(made.options).map(String)}`);
    return made;
  }
}

/** Elements that an order is for: those with a key or a comparison are small. */
function sortable(t: Trial, name: string, { kind, options }: Order, length: number): Given {
  const isOwn = Object.keys(options).length === 1;
  return t.any(name, kind, isOwn ? t.r.pick(['few', 'wild']) : t.r.pick(['few', 'small']), length, t.r.chance(0.2));
}

const placesBy = (values: readonly Value[], compare: Order['compare']): number[] =>
  values.map((_, k) => k).sort((i, j) => compare(values[i] as Value, values[j] as Value) || i - j);
const at = <T>(list: readonly T[], places: readonly number[]): T[] => places.map((k) => list[k] as T);

async function sort(t: Trial): Promise<void> {
  const how = orderFor(t);
  const x = sortable(t, 'x', how, t.length());
  const places = placesBy(x.values, how.compare);
  const { length } = places;
  const argsorted = await t.into(parallel.argsort as never, KINDS.i32, undefined, length, (more) => [
    x.x,
    { ...how.options, ...more },
  ]);
  await t.is(argsorted, KINDS.i32, places, 'place');
  const top = t.r.pick([0, 1, 7, length, length + 3]);
  const descending = t.r.chance(0.5);
  const found = await t.call<parallel.Top<number>>(parallel.topK, x.x, top, {
    ...how.options,
    descending: (how.options as { descending: boolean }).descending,
  });
  await t.is(found.indices, KINDS.i32, places.slice(0, top), 'top place');
  await t.is(found.values, x.kind, at(x.values, places.slice(0, top)), 'top value');
  const fn = descending ? parallel.sort : parallel.stableSort;
  const sorted = await t.into(fn as never, x.kind, x, length, (more) => [x.x, { ...how.options, ...more }]);
  await t.is(sorted, x.kind, at(x.values, places), 'sorted');
}

async function sortByKey(t: Trial): Promise<void> {
  const how = orderFor(t);
  const length = t.length();
  const keys = sortable(t, 'keys', how, length);
  const values = t.any('values', t.kind(ALL), 'small', length);
  const places = placesBy(keys.values, how.compare);
  const inPlace = t.r.chance(0.3) && keys.array !== undefined && values.array !== undefined;
  const out = inPlace ? { keys: keys.array, values: values.array } : undefined;
  t.note(`in place: ${inPlace}`);
  const found = await t.call<parallel.Sorted<number, number>>(parallel.sortByKey, keys.x, values.x, {
    ...how.options,
    out,
  });
  await t.is(found.keys, keys.kind, at(keys.values, places), 'key');
  await t.is(found.values, values.kind, at(values.values, places), 'value');
}

async function segmentedSort(t: Trial): Promise<void> {
  const how = orderFor(t);
  const x = sortable(t, 'x', how, t.length());
  const list = offsetsFor(t, x.values.length, t.r.chance(0.5)) as number[];
  const kind = t.r.pick([KINDS.i32, KINDS.u32, KINDS.i64]);
  const offsets = t.take('offsets', t.inputs.of(kind, list.map(kind.store)));
  const expected = [...x.values];
  list.slice(1).forEach((end, s) => {
    const part = x.values.slice(list[s], end);
    expected.splice(list[s] as number, part.length, ...at(part, placesBy(part, how.compare)));
  });
  const make = (more: object) => [x.x, offsets.x, { ...how.options, ...more }];
  await t.is(await t.into(parallel.segmentedSort as never, x.kind, x, expected.length, make), x.kind, expected);
}

const PREDICATES: Readonly<Record<Kind['family'], readonly ((v: never) => boolean)[]>> = {
  bool: [(v: boolean) => v, (v: boolean) => !v],
  int: [(v: number) => v > 2, (v: number) => v % 3 === 0, (v: number) => v === -1000],
  big: [(v: bigint) => v > 0n, (v: bigint) => v % 2n === 0n],
  float: [(v: number) => v > 2, (v: number) => v <= 0, (v: number) => Number.isNaN(v)],
  complex: [(v: { re: number }) => v.re > 0],
  struct: [(v: { a: number }) => v.a > 0, (v: { a: number; b: number }) => v.a < v.b],
};

async function select(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const x = t.any('x', kind, t.r.pick(['few', 'wild']), t.length(), t.r.chance(0.3));
  const { length } = x.values;
  const flags = t.r.chance(0.4)
    ? t.any('flags', t.kind([KINDS.bool, KINDS.u8, KINDS.i32, KINDS.f32]), 'few', length)
    : undefined;
  const predicate = t.r.pick(PREDICATES[kind.family]);
  if (flags === undefined) t.note(`chosen: ${predicate}`);
  const chosen = flags?.x ?? predicate;
  const holds = x.values.map((v, k) => (flags === undefined ? predicate(v as never) : Boolean(flags.values[k])));
  const [yes, no] = [true, false].map((wanted) => x.values.filter((_, k) => holds[k] === wanted)) as [Value[], Value[]];
  await t.is(await t.call<AnyArray>(parallel.select, x.x, chosen), kind, yes, 'selected');
  const parts = await t.call<parallel.Parts<number>>(parallel.partition, x.x, chosen);
  await t.is(parts.selected, kind, yes, 'chosen');
  await t.is(parts.rejected, kind, no, 'rejected');
  if (t.r.chance(0.6)) return;
  const [first, second, count] = [
    t.inputs.room(kind, length + 2),
    t.inputs.room(kind, length),
    t.inputs.room(KINDS.i32, 1),
  ];
  await t.call(parallel.selectInto, x.x, chosen, first, count);
  await beginsWith(t, count, [[first, kind, yes]]);
  await t.call(parallel.partitionInto, x.x, chosen, first, second, count);
  await beginsWith(t, count, [[first, kind, yes]]);
  const rest = (second as never as { slice(at: readonly [number, number]): never }).slice([0, no.length]);
  await t.is(t.inputs.keep(rest), kind, no, 'others');
}

async function unique(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const length = t.length();
  const x = t.any('x', kind, t.r.pick(['few', 'wild']), length, true);
  const values = t.any('values', t.kind(ALL), 'small', length);
  const heads = x.values.flatMap((v, k) => (k === 0 || !isEqual(v, x.values[k - 1] as Value) ? [k] : []));
  const counts = heads.map((head, k) => (heads[k + 1] ?? length) - head);
  const firsts = at(x.values, heads);
  const beside = at(values.values, heads);
  await t.is(await t.call<AnyArray>(parallel.unique, x.x), kind, firsts, 'unique');
  const runs = await t.call<parallel.Runs<number>>(parallel.runLengthEncode, x.x);
  await t.is(runs.values, kind, firsts, 'value of a run');
  await t.is(runs.counts, KINDS.i32, counts, 'length of run');
  const both = await t.call<parallel.KeyedValues<number, number>>(parallel.uniqueByKey, x.x, values.x);
  await t.is(both.keys, kind, firsts, 'key');
  await t.is(both.values, values.kind, beside, 'value');
  if (t.r.chance(0.6)) return;
  const [to, other, sizes] = [
    t.inputs.room(kind, length),
    t.inputs.room(values.kind, length),
    t.inputs.room(KINDS.i32, length),
  ];
  const count = t.inputs.room(KINDS.i32, 1);
  await t.call(parallel.uniqueInto, x.x, to, count);
  await beginsWith(t, count, [[to, kind, firsts]]);
  await t.call(parallel.runLengthEncodeInto, x.x, to, sizes, count);
  await beginsWith(t, count, [
    [to, kind, firsts],
    [sizes, KINDS.i32, counts],
  ]);
  await t.call(parallel.uniqueByKeyInto, x.x, values.x, to, other, count);
  await beginsWith(t, count, [
    [to, kind, firsts],
    [other, values.kind, beside],
  ]);
}

const isLess = (a: Value, b: Value): boolean => a < b || (Number.isNaN(b) && !Number.isNaN(a));
const RECORD_LESS = (p: Mixed, q: Mixed): boolean => p.a < q.a;

async function search(t: Trial): Promise<void> {
  const isRecord = t.r.chance(0.2);
  const kind = isRecord ? KINDS.mixed : t.kind(NUMBERS);
  const less = isRecord ? (RECORD_LESS as never as typeof isLess) : isLess;
  const options = isRecord ? { less: RECORD_LESS } : {};
  const style = t.r.pick(['few', 'wild'] as const);
  const ascending = (name: string): Given => {
    const values = t.elements(kind, style, t.length());
    return t.take(
      name,
      t.inputs.of(
        kind,
        values.sort((a, b) => (less(a, b) ? -1 : less(b, a) ? 1 : 0)),
      ),
    );
  };
  const [a, b] = [ascending('a'), ascending('b')];
  const x = t.any('x', kind, style, t.length());
  const side = t.r.pick(['left', 'right'] as const);
  t.note(side);
  const rank = (v: Value): number => {
    const found = a.values.findIndex((one) => (side === 'left' ? !less(one, v) : less(v, one)));
    return found < 0 ? a.values.length : found;
  };
  const make = (more: object) => [a.x, x.x, { side, ...options, ...more }];
  const places = await t.into(parallel.searchSorted as never, KINDS.i32, undefined, x.values.length, make);
  await t.is(places, KINDS.i32, x.values.map(rank), 'place');
  const all = [...a.values, ...b.values].map((v, k) => [v, k] as const);
  all.sort(([v, i], [w, j]) => (less(v, w) ? -1 : less(w, v) ? 1 : i - j));
  const merged = await t.into(parallel.merge as never, kind, undefined, all.length, (more) => [
    a.x,
    b.x,
    { ...options, ...more },
  ]);
  await t.is(
    merged,
    kind,
    all.map(([v]) => v),
    'merged',
  );
}

async function move(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const x = t.any('x', kind, 'wild', t.length());
  const { length } = x.values;
  const collected = await t.into(parallel.collect as never, kind, x, length, (more) => [x.x, more]);
  await t.is(collected, kind, x.values, 'collected');
  const seed = t.r.below(1000);
  const y = t.any('y', kind, 'wild', length);
  const [once, again] = [
    await t.call<AnyArray>(parallel.shuffle, y.x, { seed }),
    await t.call<AnyArray>(parallel.shuffle, parallel.counting(length), { seed }),
  ];
  const places = Array.from((again as never as { copyToHost(): Int32Array }).copyToHost());
  await t.is(once, kind, at(y.values, places), 'shuffled');
  t.same(new Set(places).size, length, 'how many different places');
  const indices = t.r.pick([KINDS.i32, KINDS.u32, KINDS.i64, KINDS.u64, KINDS.u16]);
  const taken = length === 0 ? [] : Array.from({ length: t.length() }, () => t.r.below(Math.min(length, 60_000)));
  const index = t.take('index', t.inputs.of(indices, taken.map(indices.store)));
  const z = t.any('z', kind, 'wild', length);
  const gathered = await t.into(
    parallel.gather as never,
    kind,
    taken.length === length ? z : undefined,
    taken.length,
    (more) => [z.x, index.x, more],
  );
  await t.is(gathered, kind, at(z.values, taken), 'gathered');
  const target = t.take('out', t.inputs.line(kind, t.elements(kind, 'few', length + 5)));
  const goes = shuffled(t.r, length + 5).slice(0, length);
  const where = t.take('where', t.inputs.of(KINDS.i32, goes));
  await t.call(parallel.scatter, y.x, where.x, target.x);
  const expected = [...target.values];
  goes.forEach((place, k) => {
    expected[place] = y.values[k] as Value;
  });
  await t.is(target.x, kind, expected, 'scattered');
}

interface Mapped {
  readonly fn: (...values: never[]) => unknown;
  readonly kinds: readonly Kind[];
  readonly result: Kind;
}
const MAPPED: readonly Mapped[] = [
  { fn: (a: number) => a, kinds: [KINDS.i32], result: KINDS.i32 },
  { fn: (a: number, b: number) => a * 2 + b, kinds: [KINDS.f64, KINDS.i32], result: KINDS.f64 },
  { fn: (a: number, b: number) => a - b, kinds: [KINDS.f32, KINDS.f32], result: KINDS.f32 },
  { fn: (a: boolean, b: bigint) => (a ? b : -b), kinds: [KINDS.bool, KINDS.i64], result: KINDS.i64 },
  {
    fn: (a: number, b: number, c: number) => (a > b ? c : a),
    kinds: [KINDS.i16, KINDS.i32, KINDS.u8],
    result: KINDS.i32,
  },
  {
    fn: (p: { a: number; b: number }, k: number) => ({ a: p.b, b: p.a + k }),
    kinds: [KINDS.line, KINDS.i32],
    result: KINDS.line,
  },
  { fn: (p: Mixed) => p.c, kinds: [KINDS.mixed], result: KINDS.f64 },
];

async function transform(t: Trial): Promise<void> {
  const { fn, kinds, result } = t.r.pick(MAPPED);
  t.note(String(fn));
  const length = t.length();
  const inputs = kinds.map((kind, k) => t.any(`argument ${k}`, kind, 'small', length + t.r.pick([0, 0, 3])));
  const shortest = Math.min(...inputs.map(({ values }) => values.length));
  const stated = result.family === 'struct' || t.r.chance(0.2) ? { dtype: result.dtype } : {};
  const make = (more: object) => [fn, ...inputs.map(({ x }) => x), { ...stated, ...more }];
  const values = Array.from({ length: shortest }, (_, k) =>
    result.store(fn(...(inputs.map((input) => input.values[k]) as never[])) as Value),
  );
  await t.is(await t.into(parallel.transform as never, result, inputs[0], shortest, make), result, values);
  cuda.synchronize();
}

export const MOVING = { sort, sortByKey, segmentedSort, select, unique, search, move, transform };
