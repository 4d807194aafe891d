/**
 * What sorts are made of: their options, and the launches that sort elements, values by keys, or places.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { type DType, i32, spellDType, u32 } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import type { Step } from '../kernel/steps.ts';
import { userFunction } from '../kernel/user-function.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { canonical } from './canonical.ts';
import { type Input, resultOf } from './input.ts';
import { remember } from './memo.ts';
import { lessAt, lessOf, mergeSteps } from './merge-sort.ts';
import { jitOn } from './place.ts';
import { copyOf, gatherOf, placesOf } from './radix-counts.ts';
import { radixKeysOf } from './radix-keys.ts';
import { radixSteps } from './radix-steps.ts';
import { contiguous } from './sort-arrays.ts';
import { transforming } from './transform.ts';
import type { OnStream } from './types.ts';

/** In which order. */
export interface Order<T> extends OnStream {
  /** From the greatest to the least. Equal elements stay in the order they came in, and NaN stays last. Default: false. */
  readonly descending?: boolean | undefined;
  /** What elements are sorted by: a number (a bigint, a boolean) of each, computed once. */
  readonly key?: ((value: T) => number | bigint | boolean) | undefined;
  /** Less than 0 where `a` goes before `b`, more than 0 where after, as `Array.prototype.sort` takes it. */
  readonly compare?: ((a: T, b: T) => number) | undefined;
}

type AnyFunction = (...args: never[]) => unknown;

/** Options that have been read. */
export interface ReadOrder {
  readonly descending: boolean;
  readonly key: { readonly fn: AnyFunction; readonly name: string } | undefined;
  readonly compare: AnyFunction | undefined;
  readonly out: unknown;
  readonly axis: number | undefined;
  readonly stream: StreamLike;
}

/** Reads what all sorts take. `also` are options of one of them. */
export function readOrder(name: string, options: unknown, also: readonly string[]): ReadOrder {
  const own = readOptions(name, options as object, ['descending', 'key', 'compare', 'stream', ...also] as never) as {
    readonly [option: string]: unknown;
  };
  const { descending = false, key, compare, out, axis, stream } = own;
  if (key !== undefined && compare !== undefined)
    throw new TsambaTypeError('E_PARALLEL', `${name} takes key or compare, not both`);
  if (typeof descending !== 'boolean')
    throw new TsambaTypeError('E_OPTION', `${name}: descending must be true or false, got ${show(descending)}`);
  const by = key === undefined ? undefined : userFunction(name, key, {});
  return {
    descending,
    key: by && { fn: canonical(by.fn), name: by.name },
    compare: compare === undefined ? undefined : canonical(userFunction(name, compare, {}).fn),
    out,
    axis: axis as number | undefined,
    stream: stream as StreamLike,
  };
}

/** The launches that sort an input into a contiguous array, which may be that of the input. */
export function sorting(place: Workplace, input: Input, order: ReadOrder, written: DeviceNDArray): Step[] {
  const { descending, compare, key } = order;
  const steps: Step[] = [];
  const from = contiguous(place, input, steps);
  if (compare !== undefined) {
    const less = lessOf(compare as never, descending);
    return [...steps, ...mergeSteps(place, { from, to: written, less, argument: 0 })];
  }
  const keys = key === undefined ? from : keysBy(place, input, key, steps);
  const { keysOf, name } = keysFor(place, keys.dtype, descending);
  if (key === undefined) {
    steps.push(...radixSteps(place, { keysOf, name, keys: from, toKeys: written }));
    return steps;
  }
  steps.push(...alongKeys(place, keys, place.temporary([keys.size], keys.dtype), from, written, descending));
  return steps;
}

/** Sorts keys, and values in their order. */
export function alongKeys(
  place: Workplace,
  keys: DeviceNDArray,
  toKeys: DeviceNDArray,
  values: DeviceNDArray,
  toValues: DeviceNDArray,
  descending: boolean,
): Step[] {
  const { keysOf, name } = keysFor(place, keys.dtype, descending);
  if ([1, 2, 4, 8].includes(values.itemSize))
    return radixSteps(place, { keysOf, name, keys, toKeys, values, toValues });
  const places = place.temporary([keys.size], u32 as unknown as DType);
  return [
    ...radixSteps(place, { keysOf, name, keys, toKeys, values: 'places', toValues: places }),
    ...gathering(place, values, places, toValues),
  ];
}

/** How keys are sorted by their bits. Throws TypeError where they have no order of their own. */
function keysFor(place: Workplace, dtype: DType, descending: boolean): { keysOf: never; name: string } {
  const keysOf = radixKeysOf(dtype, descending);
  if (keysOf !== undefined) return { keysOf: keysOf as never, name: `${dtype.name} ${descending}` };
  throw new TsambaTypeError(
    'E_PARALLEL',
    `${place.name}: elements of ${spellDType(dtype)} have no natural order: pass key, a function that gives a number of each, or compare`,
  );
}

/** The keys of the elements, computed once. */
export function keysBy(
  place: Workplace,
  input: Input,
  { fn, name }: { readonly fn: AnyFunction; readonly name: string },
  steps: Step[],
): DeviceNDArray {
  const keys = place.temporary([input.length], resultOf(place, fn, name, [input.dtype]));
  steps.push(...transforming(place, fn, name, [input], keys));
  return keys;
}

/** `to[i] = from[places[i]]`; `to` may be `from`. */
export function gathering(place: Workplace, from: DeviceNDArray, places: DeviceNDArray, to: DeviceNDArray): Step[] {
  const { context, stream } = place;
  if (to.size === 0) return [];
  const jit = jitOn(context);
  const kernel = remember(['gather', jit, spellDType(to.dtype)], () => gatherOf(jit)) as unknown as Step['kernel'];
  const shape = { grid: Math.min(8192, Math.ceil(to.size / 256)), block: 256, stream };
  if (from.owner !== to.owner) return [{ kernel, shape, args: [from, places, to] }];
  const beside = place.temporary([to.size], to.dtype);
  const copy = remember(['copy', jit, spellDType(to.dtype)], () => copyOf(jit)) as unknown as Step['kernel'];
  return [
    { kernel, shape, args: [from, places, beside] },
    { kernel: copy, shape, args: [beside, to] },
  ];
}

/** What places of so many elements are. */
export function placeType(length: number): DType {
  return (length > 2 ** 31 ? u32 : i32) as unknown as DType;
}

/** The launches that store the places of an input's elements in their order. */
export function argsorting(place: Workplace, input: Input, order: ReadOrder, written: DeviceNDArray): Step[] {
  const { descending, compare, key } = order;
  const steps: Step[] = [];
  if (input.length === 0) return steps;
  if (compare !== undefined) {
    const x = contiguous(place, input, steps);
    const jit = jitOn(place.context);
    const all = remember(['places', jit], () => placesOf(jit)) as unknown as Step['kernel'];
    const shape = { grid: Math.min(4096, Math.ceil(input.length / 256)), block: 256, stream: place.stream };
    steps.push({ kernel: all, shape, args: [written] });
    const less = lessAt(compare as never, descending);
    return [...steps, ...mergeSteps(place, { from: written, to: written, less, argument: x })];
  }
  const keys = key === undefined ? contiguous(place, input, steps) : keysBy(place, input, key, steps);
  const { keysOf, name } = keysFor(place, keys.dtype, descending);
  const toKeys = place.temporary([keys.size], keys.dtype);
  return [...steps, ...radixSteps(place, { keysOf, name, keys, toKeys, values: 'places', toValues: written })];
}
