/**
 * Random programs of `tsamba/parallel`: reductions, scans, and what is done by keys and segments.
 */
import * as parallel from '../../src/parallel/index.ts';
import { ALL, FLOATS, INTEGERS, isEqual, KINDS, type Kind, NUMBERS, type Value } from './parallel-kinds.ts';
import { folded, identityOf, needsInit, type Operator, operatorFor, running } from './parallel-operators.ts';
import type { Trial } from './parallel-trial.ts';

/** What the host has of a result: integers of 64 bits that stand for smaller ones are numbers. */
const onHost = (value: Value, kind: Kind): Value =>
  kind.family === 'int' || kind.family === 'bool' ? Number(value) : value;

async function reduce(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, true);
  t.note(`op: ${op.text}`);
  const x = t.any('x', kind, op.style, t.length());
  const init = (x.values.length === 0 && needsInit(op.text, kind)) || t.r.chance(0.3) ? op.init : undefined;
  t.note(`init: ${String(init)}`);
  const { type, result } = op.reduces(kind);
  const counts = op.text === 'sum' || op.text === 'prod';
  const value = folded(x.values, op, type, init) ?? (identityOf(op.text, type) as Value);
  const stored = result.store(value);
  const found = await t.call(parallel.reduce, x.x, op.given, { init });
  t.same(found, counts ? onHost(stored, kind) : stored, 'reduce');
  if (x.values.length === 0 || kind.family === 'bool') return;
  const out = t.inputs.room(result, 3);
  await t.call(parallel.reduceInto, x.x, op.given, out, { init });
  await t.is(t.inputs.keep((out as never as { slice(at: string): never }).slice(':1')), result, [stored], 'reduceInto');
}

async function scan(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, false);
  t.note(`op: ${op.text}`);
  const exclusive = t.r.chance(0.5);
  const { type, result } = op.scans(kind);
  const x = t.any('x', kind, op.style, t.length());
  const own = identityOf(op.text, type);
  const init = t.r.chance(0.4) || (exclusive && own === undefined) ? op.init : undefined;
  t.note(`exclusive ${exclusive}, init ${String(init)}`);
  const sums = running(x.values, op, type, { init: init ?? (exclusive ? own : undefined), exclusive });
  const fn = exclusive ? parallel.exclusiveScan : parallel.inclusiveScan;
  const found = await t.into(fn as never, result, x, x.values.length, (more) => [x.x, op.given, { init, ...more }]);
  await t.is(found, result, sums.map(result.store));
}

/** Runs of equal keys: where each begins, and where the last one ends. */
function boundsOf(keys: readonly Value[]): number[] {
  const heads = keys.flatMap((key, k) => (k === 0 || !isEqual(key, keys[k - 1] as Value) ? [k] : []));
  return keys.length === 0 ? [] : [...heads, keys.length];
}

const segments = (values: readonly Value[], bounds: readonly number[]): Value[][] =>
  bounds.slice(1).map((end, s) => values.slice(bounds[s], end));

interface Keyed {
  readonly kind: Kind;
  readonly op: Operator;
  readonly keys: ReturnType<Trial['any']>;
  readonly x: ReturnType<Trial['any']>;
}

function keyed(t: Trial): Keyed {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, false);
  t.note(`op: ${op.text}`);
  const length = t.length();
  const by = t.kind(ALL);
  // Of 0 and -0, which are equal, either may stand for a run.
  const list = t.elements(by, t.r.pick(['few', 'wild']), length, true).map((v) => (v === 0 ? 0 : v));
  const keys = t.take('keys', t.inputs.of(by, list));
  return { kind, op, keys, x: t.any('values', kind, op.style, length) };
}

async function scanByKey(t: Trial): Promise<void> {
  const { kind, op, keys, x } = keyed(t);
  const exclusive = t.r.chance(0.4);
  const { type, result } = op.scans(kind);
  const own = identityOf(op.text, type);
  const init = t.r.chance(0.4) || (exclusive && own === undefined) ? op.init : undefined;
  t.note(`exclusive ${exclusive}, init ${String(init)}`);
  const first = { init: init ?? (exclusive ? own : undefined), exclusive };
  const sums = segments(x.values, boundsOf(keys.values)).flatMap((part) => running(part, op, type, first));
  const options = { exclusive, init };
  const make = (more: object) => [keys.x, x.x, op.given, { ...options, ...more }];
  const found = await t.into(parallel.scanByKey as never, result, t.r.chance(0.5) ? x : keys, x.values.length, make);
  await t.is(found, result, sums.map(result.store));
}

async function reduceByKey(t: Trial): Promise<void> {
  const { kind, op, keys, x } = keyed(t);
  const init = t.r.chance(0.3) ? op.init : undefined;
  t.note(`init ${String(init)}`);
  const { type, result } = op.scans(kind);
  const bounds = boundsOf(keys.values);
  const sums = segments(x.values, bounds).map((part) => result.store(folded(part, op, type, init) as Value));
  const firsts = bounds.slice(0, -1).map((k) => keys.values[k] as Value);
  if (t.r.chance(0.7)) {
    const found = await t.call<parallel.KeyedValues<number, number>>(parallel.reduceByKey, keys.x, x.x, op.given, {
      init,
    });
    await t.is(found.keys, keys.kind, firsts, 'key');
    await t.is(found.values, result, sums, 'value');
    return;
  }
  const { length } = x.values;
  const [toKeys, to, count] = [
    t.inputs.room(keys.kind, length),
    t.inputs.room(result, length),
    t.inputs.room(KINDS.i32, 1),
  ];
  await t.call(parallel.reduceByKeyInto, keys.x, x.x, op.given, toKeys, to, count, { init });
  await beginsWith(t, count, [
    [toKeys, keys.kind, firsts],
    [to, result, sums],
  ]);
}

/** Checks results whose number stands in an array. */
export async function beginsWith(
  t: Trial,
  count: unknown,
  parts: readonly (readonly [array: unknown, kind: Kind, expected: readonly Value[]])[],
): Promise<void> {
  await t.is(count as never, KINDS.i32, [parts[0]?.[2].length ?? 0], 'count');
  for (const [array, kind, expected] of parts) {
    const first = (array as { slice(at: readonly [number, number]): never }).slice([0, expected.length]);
    await t.is(t.inputs.keep(first), kind, expected);
  }
}

/** Offsets that do not fall, within so many elements. */
export function offsetsFor(t: Trial, length: number, whole: boolean): Value[] {
  const count = t.r.pick([0, 1, 2, 5, 40, 300]);
  const inner = Array.from({ length: count + 1 }, () => t.r.below(length + 1)).sort((a, b) => a - b);
  return whole ? [0, ...inner, length] : inner;
}

function offsetsIn(t: Trial, list: readonly Value[]): ReturnType<Trial['any']> {
  const kind = t.r.pick([KINDS.i32, KINDS.i32, KINDS.u32, KINDS.i64, KINDS.u64]);
  return t.take('offsets', t.inputs.of(kind, list.map(kind.store)));
}

async function segmentedReduce(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, true);
  t.note(`op: ${op.text}`);
  const x = t.any('x', kind, op.style, t.length());
  const list = offsetsFor(t, x.values.length, t.r.chance(0.5));
  const offsets = offsetsIn(t, list);
  const init = t.r.chance(0.4) ? op.init : undefined;
  t.note(`init ${String(init)}`);
  const { type, result } = op.reduces(kind);
  const own = identityOf(op.text, type);
  const sums = segments(x.values, list as number[]).map((part) => {
    const value = folded(part, op, type, init) ?? own;
    return value === undefined ? undefined : result.store(value);
  });
  const make = (more: object) => [x.x, offsets.x, op.given, { init, ...more }];
  await t.is(await t.into(parallel.segmentedReduce as never, result, x, sums.length, make), result, sums);
}

async function segmentedScan(t: Trial): Promise<void> {
  const kind = t.kind(ALL);
  const op = operatorFor(t.r, kind, false);
  t.note(`op: ${op.text}`);
  const x = t.any('x', kind, op.style, t.length());
  const list = offsetsFor(t, x.values.length, true);
  const offsets = offsetsIn(t, list);
  const exclusive = t.r.chance(0.4);
  const { type, result } = op.scans(kind);
  const own = identityOf(op.text, type);
  const init = t.r.chance(0.4) || (exclusive && own === undefined) ? op.init : undefined;
  t.note(`exclusive ${exclusive}, init ${String(init)}`);
  const first = { init: init ?? (exclusive ? own : undefined), exclusive };
  const sums = segments(x.values, list as number[]).flatMap((part) => running(part, op, type, first));
  const make = (more: object) => [x.x, offsets.x, op.given, { exclusive, init, ...more }];
  const found = await t.into(parallel.segmentedScan as never, result, x, x.values.length, make);
  await t.is(found, result, sums.map(result.store));
}

const better = (a: Value, b: Value, sign: number): boolean =>
  Number.isNaN(a) ? !Number.isNaN(b) : sign > 0 ? a > b : a < b;

async function questions(t: Trial): Promise<void> {
  const kind = t.kind([...NUMBERS, KINDS.bool]);
  const x = t.any('x', kind, t.r.pick(['few', 'wild']), t.length());
  const { values } = x;
  if (values.length > 0) {
    const best = (sign: number): number =>
      values.reduce<number>((at, v, k) => (better(v, values[at] as Value, sign) ? k : at), 0);
    t.same(await t.call(parallel.argmin, x.x), best(-1), 'argmin');
    t.same(await t.call(parallel.argmax, x.x), best(1), 'argmax');
    const extreme = (text: string): Value => {
      const least = kind.family === 'float' ? (text === 'min' ? Math.min : Math.max) : undefined;
      return values.reduce((a, b) =>
        least ? least(a as number, b as number) : (text === 'min' ? b < a : b > a) ? b : a,
      );
    };
    const { min, max } = await t.call<{ min: Value; max: Value }>(parallel.minmax, x.x);
    const host = (v: Value): Value => (kind.family === 'bool' ? Boolean(v) : v);
    t.same(host(min), extreme('min'), 'min');
    t.same(host(max), extreme('max'), 'max');
  }
  const tests = kind.family === 'big' ? BIG_TESTS : kind.family === 'bool' ? BOOL_TESTS : TESTS;
  const test = t.r.pick(tests as readonly unknown[]) as ((v: Value) => boolean) | undefined;
  t.note(`test: ${String(test)}`);
  const holds = (v: Value): boolean => (test === undefined ? Boolean(v) || Number.isNaN(v) : test(v));
  t.same(await t.call(parallel.any, x.x, test), values.some(holds), 'any');
  t.same(await t.call(parallel.all, x.x, test), values.every(holds), 'all');
  t.same(await t.call(parallel.countIf, x.x, test), values.filter(holds).length, 'countIf');
}

const TESTS = [undefined, (v: number) => v > 0, (v: number) => v % 2 === 0, (v: number) => v >= -1000];
const BIG_TESTS = [undefined, (v: bigint) => v > 0n, (v: bigint) => v % 2n === 0n];
const BOOL_TESTS = [undefined, (v: boolean) => !v];

/** The greatest elements in front of each other, by bins of NumPy's. */
async function histograms(t: Trial): Promise<void> {
  const kind = t.kind([...INTEGERS, ...FLOATS]);
  const x = t.any('x', kind, kind.family === 'float' ? t.r.pick(['small', 'wild']) : 'small', t.length());
  const round = kind.family === 'float' && kind.name !== 'f64' ? Math.fround : (v: number): number => v;
  const bins = t.r.pick([1, 2, 7, 16, 100, 3000]);
  const [low, high] = t.r.pick([
    [-8, 8],
    [-11, 11],
    [0, 3],
    [-3.5, 4.25],
  ] as const);
  const equal = Array.from({ length: bins + 1 }, (_, k) => round(k === bins ? high : low + k * ((high - low) / bins)));
  const stated = t.r.chance(0.5);
  const edges = stated ? equal : [-9, -2.5, -2.5, 0, 1, 7, 11];
  t.note(`bins ${stated ? `${bins} of ${low} … ${high}` : edges}`);
  const args = stated ? [bins, { range: [low, high] }] : [edges];
  const found = await t.call<never>(parallel.histogram, x.x, ...args);
  await t.is(
    found,
    KINDS.i32,
    counted(
      x.values.map((v) => binOf(Number(v), edges)),
      edges.length - 1,
    ),
  );
  if (!stated) return;
  const y = t.any('y', kind, 'small', x.values.length);
  const few = Math.min(bins, 16);
  const other = Array.from({ length: few + 1 }, (_, k) => round(k === few ? high : low + k * ((high - low) / few)));
  const range = [low, high];
  const pairs = await t.call<never>(parallel.histogram2d, x.x, y.x, [few, few], { range: [range, range] });
  const places = x.values.map((v, k) => {
    const [a, b] = [binOf(Number(v), other), binOf(Number(y.values[k]), other)];
    return a < 0 || b < 0 ? -1 : a * few + b;
  });
  await t.is(pairs, KINDS.i32, counted(places, few * few), 'pairs');
}

function binOf(v: number, edges: readonly number[]): number {
  const last = edges.length - 1;
  if (!(v >= (edges[0] as number) && v <= (edges[last] as number))) return -1;
  for (let bin = last - 1; bin > 0; bin--) if (v >= (edges[bin] as number)) return bin;
  return 0;
}

function counted(places: readonly number[], bins: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  for (const place of places) if (place >= 0 && place < bins) counts[place] = (counts[place] as number) + 1;
  return counts;
}

async function bincount(t: Trial): Promise<void> {
  const kind = t.kind([...INTEGERS, KINDS.i64, KINDS.u64]);
  // Narrow unsigned ones wrap to what is counted.
  const wraps = kind.name === 'u32' || kind.name === 'u64';
  const x = t.any('x', kind, wraps ? 'signs' : 'small', t.length());
  const numbers = x.values.map(Number);
  const greatest = Math.max(-1, ...numbers);
  const length = wraps || t.r.chance(0.4) ? t.r.pick([0, 1, 5, 300]) : undefined;
  t.note(`length ${length}`);
  const found = await t.call<never>(parallel.bincount, x.x, { length });
  await t.is(found, KINDS.i32, counted(numbers, length ?? greatest + 1));
}

export const REDUCING = {
  reduce,
  scan,
  scanByKey,
  reduceByKey,
  segmentedReduce,
  segmentedScan,
  questions,
  histograms,
  bincount,
};
