/**
 * `unique` and `uniqueByKey`: the first of each run of equal elements.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { readOptions } from '../options.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { packedOf } from './accesses.ts';
import { type Input, inputOf, type Read } from './input.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';
import { placeOf } from './place.ts';
import { type Plan, type Primitive, planned, primitive } from './primitive.ts';
import { type Same, sameOf } from './same.ts';
import { checkLengths } from './scan-by-key.ts';
import { clear, countFor, countIn, roomIn } from './select.ts';
import type { Selection } from './select-kernels.ts';
import { itself, type Selected, selecting } from './selecting.ts';
import type { Elements, OnStream, Sequence } from './types.ts';

type AnyArray = DeviceNDArray<never> | DeviceNDArray;
type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

/** The type of `unique`. */
export interface Unique {
  <const X extends Sequence>(x: X, options?: OnStream): DeviceNDArray<Elements<X>, 1>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(x: X, options?: OnStream) => Promise<DeviceNDArray<Elements<X>, 1>>;
}

/** Keys, and a value for each. */
export interface KeyedValues<K, V> {
  /** The keys. */
  readonly keys: DeviceNDArray<K, 1>;
  /** The values: one for each key. */
  readonly values: DeviceNDArray<V, 1>;
}

/** The type of `uniqueByKey`. */
export interface UniqueByKey {
  <const K extends Sequence, const V extends Sequence>(
    keys: K,
    values: V,
    options?: OnStream,
  ): KeyedValues<Elements<K>, Elements<V>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const K extends Sequence, const V extends Sequence>(
    keys: K,
    values: V,
    options?: OnStream,
  ) => Promise<KeyedValues<Elements<K>, Elements<V>>>;
}

/**
 * The elements without repetitions of the one before: a device array. If they are sorted, each distinct element once. NaN is equal to NaN, and 0 to -0. Waits
 * for the number; `uniqueInto` does not. CUB: `DeviceSelect::Unique`.
 *
 * @example
 * import { unique } from 'tsamba/parallel';
 *
 * console.log(unique(Int32Array.of(1, 1, 2, 2, 2, 1)).copyToHost()); // Int32Array(3) [ 1, 2, 1 ]
 */
export const unique: Unique = /* @__PURE__ */ primitive('unique', planUnique) as unknown as Unique;

/** As `unique`, into `out`, which must have room for all elements, with their number in `count[0]`; does not wait. */
export const uniqueInto: Primitive<[x: Sequence, out: AnyArray, count: AnyArray, options?: OnStream], void> =
  /* @__PURE__ */ primitive('uniqueInto', planUniqueInto) as never;

/**
 * The first key of each run of equal keys, and its value. Waits for the number; `uniqueByKeyInto` does not. CUB: `DeviceSelect::UniqueByKey`.
 *
 * @throws RangeError if there are not as many keys as values.
 * @example
 * import { uniqueByKey } from 'tsamba/parallel';
 *
 * const { keys, values } = uniqueByKey(Int32Array.of(1, 1, 2), Float32Array.of(0.5, 1.5, 2.5));
 * console.log(keys.copyToHost(), values.copyToHost()); // Int32Array(2) [ 1, 2 ] Float32Array(2) [ 0.5, 2.5 ]
 */
export const uniqueByKey: UniqueByKey = /* @__PURE__ */ primitive('uniqueByKey', planByKey) as unknown as UniqueByKey;

/** As `uniqueByKey`, into two arrays, each with room for all, with the number in `count[0]`; does not wait. */
export const uniqueByKeyInto: Primitive<
  [keys: Sequence, values: Sequence, keysOut: AnyArray, valuesOut: AnyArray, count: AnyArray, options?: OnStream],
  void
> = /* @__PURE__ */ primitive('uniqueByKeyInto', planByKeyInto) as never;

const streamOf = (name: string, options: unknown): StreamLike =>
  readOptions(name, options as { stream?: StreamLike }, ['stream']).stream;

function planUnique(x: unknown, options: unknown): Plan<unknown> {
  const place = placeOf('unique', [x], streamOf('unique', options));
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const out = place.temporary([input.length], input.dtype);
    const give = (count: number): unknown => out.slice([0, Number(count)]);
    if (input.length === 0) return { steps: [], give: () => give(0) };
    const count = countFor(place, input.length);
    return { steps: selecting(place, { ...uniqueOf(place, input), outs: [out], count }), reads: [count], give };
  });
}

function planUniqueInto(x: unknown, out: unknown, counted: unknown, options: unknown): Plan<void> {
  const place = placeOf('uniqueInto', [x, out, counted], streamOf('uniqueInto', options));
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const outs = [roomIn(place, out, input.length, input.dtype, input.arrays)];
    return intoCount(place, { ...uniqueOf(place, input), outs }, counted);
  });
}

/** The launches of a selection into arrays that were given. */
export function intoCount(
  place: Workplace,
  selected: Omit<Selected, 'count'>,
  counted: unknown,
): Omit<Plan<void>, 'place'> {
  const count = countIn(place, counted);
  const give = (): void => undefined;
  if (selected.length > 0) return { steps: selecting(place, { ...selected, count }), give };
  clear(count);
  return { steps: [], give };
}

/** The first elements of runs. */
export function uniqueOf(
  place: Workplace,
  { length, dtype, argument, read, array }: Input,
): Omit<Selected, 'outs' | 'count'> {
  const same = sameOf(dtype);
  const keep = remember(['keep heads', read, same], () => keepHeads(read, same));
  const packed = packedOf(array);
  return { keys: ['unique', same], name: place.name, length, argument, read, packed, keep, parts: [itself] };
}

/** Elements that are not the same as the one before. */
function keepHeads(read: Read, same: Same): Selection['keep'] {
  const captures = { read, same };
  return device(
    ({ read, same }: typeof captures) =>
      (argument: Value, i: number, values: readonly Value[], n: number) => {
        const before = read(argument, Math.max(Math.min(i, n) - 1, 0));
        return values.map((value, k) =>
          k > 0 ? !same(value, values[k - 1] as Value) : i === 0 || !same(value, before),
        );
      },
    captures,
  ) as unknown as Selection['keep'];
}

function planByKey(keys: unknown, values: unknown, options: unknown): Plan<unknown> {
  const place = placeOf('uniqueByKey', [keys, values], streamOf('uniqueByKey', options));
  return planned(place, () => {
    const [by, input] = [inputOf(place, keys, 'the keys'), inputOf(place, values, 'the values')];
    const selected = byKey(place, by, input);
    const outs = [place.temporary([by.length], by.dtype), place.temporary([by.length], input.dtype)] as const;
    const give = (count: number): unknown => ({
      keys: outs[0].slice([0, Number(count)]),
      values: outs[1].slice([0, Number(count)]),
    });
    if (by.length === 0) return { steps: [], give: () => give(0) };
    const count = countFor(place, by.length);
    return { steps: selecting(place, { ...selected, outs, count }), reads: [count], give };
  });
}

function planByKeyInto(
  keys: unknown,
  values: unknown,
  keysOut: unknown,
  valuesOut: unknown,
  counted: unknown,
  options: unknown,
): Plan<void> {
  const given = [keys, values, keysOut, valuesOut, counted];
  const place = placeOf('uniqueByKeyInto', given, streamOf('uniqueByKeyInto', options));
  return planned(place, () => {
    const [by, input] = [inputOf(place, keys, 'the keys'), inputOf(place, values, 'the values')];
    const reads = [...by.arrays, ...input.arrays];
    const outs = [
      roomIn(place, keysOut, by.length, by.dtype, reads),
      roomIn(place, valuesOut, by.length, input.dtype, reads),
    ];
    return intoCount(place, { ...byKey(place, by, input), outs }, counted);
  });
}

/** A key and what is beside it. */
export interface Pair {
  readonly key: Value;
  readonly value: Value;
}

export const keyIn = (({ key }: Pair): Value => key) as unknown as Selection['parts'][number];
export const valueIn = (({ value }: Pair): Value => value) as unknown as Selection['parts'][number];

function byKey(place: Workplace, keys: Input, values: Input): Omit<Selected, 'outs' | 'count'> {
  checkLengths(place, keys, values);
  const same = sameOf(keys.dtype);
  const made = remember(['unique by key', keys.read, values.read, same], () => ({
    read: readPair(keys.read, values.read),
    keep: keepKeyHeads(keys.read, same),
  }));
  const argument = [keys.argument, values.argument];
  return {
    keys: ['unique by key', same],
    name: place.name,
    length: keys.length,
    argument,
    ...made,
    parts: [keyIn, valueIn],
  };
}

/** Elements of two sequences as one. */
export function readPair(key: Read, value: Read): Read {
  const captures = { key, value };
  return device(
    ({ key, value }: typeof captures) =>
      ([keys, values]: readonly [Value, Value], i: number) => ({ key: key(keys, i), value: value(values, i) }),
    captures,
  ) as unknown as Read;
}

function keepKeyHeads(key: Read, same: Same): Selection['keep'] {
  const captures = { key, same };
  return device(
    ({ key, same }: typeof captures) =>
      ([keys]: readonly [Value, Value], i: number, values: readonly Pair[], n: number) =>
        values.map((pair, k) => i + k === 0 || !same(pair.key, key(keys, Math.max(Math.min(i + k, n) - 1, 0)))),
    captures,
  ) as unknown as Selection['keep'];
}
