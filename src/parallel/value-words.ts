/**
 * Values of any dtype as 32-bit words, in kernels: lanes exchange them, and blocks leave them for each other, word by word.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import {
  c64,
  c128,
  type DType,
  describeDType,
  i32,
  i64,
  isVectorDType,
  rowOf,
  SCALAR_TOKENS,
  type ScalarName,
  u32,
  u64,
} from '../dtype/index.ts';
import { NotSupportedError } from '../errors.ts';
import { LANE_WORDS as WORDS } from './lane-words.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';

/** A value of one dtype taken apart and put together. Device functions. */
export interface ValueWords {
  readonly type: DType;
  /** How many words there are. */
  readonly count: number;
  readonly to: (value: Value) => readonly number[];
  readonly from: (words: readonly number[]) => Value;
  /** One of two values; both have been computed. */
  readonly pick: (first: boolean, a: Value, b: Value) => Value;
}

/** A part of a value: its words are at `base` and behind. */
interface Part {
  readonly count: number;
  readonly to: (value: Value) => readonly number[];
  readonly from: (words: readonly number[]) => Value;
  readonly pick: ValueWords['pick'];
}

type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

/** How values of a dtype are taken apart: the same object for the same dtype. Throws NotSupportedError for strings, dates and sub-arrays. */
export function valueWords(type: DType): ValueWords {
  return remember(['value words', type], () => ({ type, ...partOf(type, 0, type) }));
}

const choose = ((first: boolean, a: Value, b: Value): Value => (first ? a : b)) as ValueWords['pick'];

function partOf(dtype: DType, base: number, whole: DType): Part {
  if (dtype.kind === 'c') return complexPart(dtype, base, whole);
  if (isVectorDType(dtype)) return vectorPart(dtype, base, whole);
  if (dtype.fields !== undefined) return structPart(dtype, base, whole);
  if (dtype.kind === 'b') return booleanPart(base);
  if (!'iuf'.includes(dtype.kind)) {
    throw new NotSupportedError(
      'E_PARALLEL',
      `elements of ${describeDType(whole)} cannot be exchanged between threads: strings, dates and sub-arrays have no such form`,
    );
  }
  if (dtype.itemSize === 8) return dtype.kind === 'f' ? doublePart(base) : longPart(dtype, base);
  return wordPart(dtype, base);
}

function booleanPart(base: number): Part {
  return {
    count: 1,
    to: ((value: boolean): readonly number[] => [value ? 1 : 0]) as Part['to'],
    from: device(
      ({ base }: { base: number }) =>
        (words: readonly number[]) =>
          words[base] !== 0,
      { base },
    ) as Part['from'],
    pick: choose,
  };
}

/** Integers and floats of up to 32 bits. */
function wordPart(dtype: DType, base: number): Part {
  const cast = SCALAR_TOKENS[dtype.name as ScalarName] as unknown as (value: number) => number;
  const float = rowOf(dtype.name as ScalarName).value === 'f32' || dtype.kind === 'f';
  const { floatAsUint, uintAsFloat } = WORDS;
  const captures = { base, cast, f32: SCALAR_TOKENS.f32, u32, i32, floatAsUint, uintAsFloat };
  return {
    count: 1,
    to: float
      ? device(
          ({ floatAsUint, f32 }: typeof captures) =>
            (value: Value) => [floatAsUint(f32(value) as number)],
          captures,
        )
      : device(
          ({ u32 }: typeof captures) =>
            (value: Value) => [u32(value)],
          captures,
        ),
    from: (float
      ? device(
          ({ base, uintAsFloat, cast }: typeof captures) =>
            (w: readonly number[]) =>
              cast(uintAsFloat(w[base] as number)),
          captures,
        )
      : device(
          ({ base, cast }: typeof captures) =>
            (w: readonly number[]) =>
              cast(w[base] as number),
          captures,
        )) as Part['from'],
    pick: choose,
  };
}

function doublePart(base: number): Part {
  const { doubleToHiInt, doubleToLoInt, hiLoIntToDouble } = WORDS;
  const captures = { base, u32, i32, doubleToHiInt, doubleToLoInt, hiLoIntToDouble };
  return {
    count: 2,
    to: device(
      ({ u32, doubleToHiInt, doubleToLoInt }: typeof captures) =>
        (value: Value) => [u32(doubleToLoInt(value)), u32(doubleToHiInt(value))],
      captures,
    ),
    from: device(
      ({ base, i32, hiLoIntToDouble }: typeof captures) =>
        (w: readonly number[]) =>
          hiLoIntToDouble(i32(w[base + 1] as number), i32(w[base] as number)),
      captures,
    ) as Part['from'],
    pick: choose,
  };
}

function longPart(dtype: DType, base: number): Part {
  const captures = { base, u32, u64, cast: dtype.kind === 'u' ? u64 : i64 };
  return {
    count: 2,
    to: device(
      ({ u32, u64 }: typeof captures) =>
        (value: Value) => [u32(u64(value) & 0xffffffffn), u32(u64(value) >> 32n)],
      captures,
    ),
    from: device(
      ({ base, u64, cast }: typeof captures) =>
        (w: readonly number[]) =>
          cast((u64(w[base + 1] as number) << 32n) | u64(w[base] as number)),
      captures,
    ) as Part['from'],
    pick: choose,
  };
}

function complexPart(dtype: DType, base: number, whole: DType): Part {
  const part = SCALAR_TOKENS[dtype.name === 'c64' ? 'f32' : 'f64'];
  const re = partOf(part, base, whole);
  const im = partOf(part, base + re.count, whole);
  const captures = { re, im, make: dtype.name === 'c64' ? c64 : c128 };
  return {
    count: re.count + im.count,
    to: device(
      ({ re, im }: typeof captures) =>
        (z: { readonly re: Value; readonly im: Value }) => [...re.to(z.re), ...im.to(z.im)],
      captures,
    ) as Part['to'],
    from: device(
      ({ re, im, make }: typeof captures) =>
        (w: readonly number[]) =>
          make(re.from(w), im.from(w)),
      captures,
    ) as unknown as Part['from'],
    pick: choose,
  };
}

function vectorPart(dtype: DType, base: number, whole: DType): Part {
  const fields = dtype.fields ?? [];
  const names = fields.map(({ name }) => name);
  let count = 0;
  const parts = fields.map((field) => {
    const part = partOf(field.dtype, base + count, whole);
    count += part.count;
    return part;
  });
  const captures = { parts, names, make: dtype as unknown as (...lanes: Value[]) => Value };
  return {
    count,
    to: joined(names, parts),
    from: device(
      ({ parts, make }: typeof captures) =>
        (w: readonly number[]) =>
          make(...parts.map((part) => part.from(w))),
      captures,
    ),
    pick: choose,
  };
}

type Members = Readonly<Record<string, Value>>;

/** The words of all members, one member after the other. */
function joined(names: readonly string[], parts: readonly Part[]): Part['to'] {
  let all: Part['to'] = (() => []) as unknown as Part['to'];
  parts.forEach((one, k) => {
    const captures = { rest: all, one: one.to, name: names[k] as string };
    all = device(
      ({ rest, one, name }: typeof captures) =>
        (value: Members) => [...rest(value as Value), ...one(value[name] as Value)],
      captures,
    ) as Part['to'];
  });
  return all;
}

function structPart(dtype: DType, base: number, whole: DType): Part {
  const fields = dtype.fields ?? [];
  let [count, from, pick] = [0, (() => ({})) as unknown as Part['from'], (() => ({})) as unknown as Part['pick']];
  const parts = fields.map(({ name, dtype: type }) => {
    const one = partOf(type, base + count, whole);
    count += one.count;
    const captures = { restFrom: from, restPick: pick, one, name };
    from = device(
      ({ restFrom, one, name }: typeof captures) =>
        (w: readonly number[]) => ({ ...(restFrom(w) as object), [name]: one.from(w) }),
      captures,
    ) as Part['from'];
    pick = device(
      ({ restPick, one, name }: typeof captures) =>
        (first: boolean, a: Members, b: Members) => ({
          ...(restPick(first, a as Value, b as Value) as object),
          [name]: one.pick(first, a[name] as Value, b[name] as Value),
        }),
      captures,
    ) as unknown as Part['pick'];
    return one;
  });
  return {
    count,
    to: joined(
      fields.map(({ name }) => name),
      parts,
    ),
    from,
    pick,
  };
}

/** What lanes of a warp do with values of one dtype. Device functions. */
export interface Exchange {
  /** The value of the lane so many before; `down` behind, `at` of that number. */
  readonly up: (value: Value, by: number) => Value;
  readonly down: (value: Value, by: number) => Value;
  readonly at: (value: Value, lane: number) => Value;
}

/** Exchanges between the 32 lanes of a warp, all of which take part. */
export function exchangeOf({ to, from }: ValueWords): Exchange {
  const by = (shuffle: (mask: number, value: number, by: number) => number): Exchange['up'] => {
    const captures = { to, from, shuffle };
    return device(
      ({ to, from, shuffle }: typeof captures) =>
        (value: Value, by: number) =>
          from(to(value).map((w) => shuffle(0xffffffff, w, by))),
      captures,
    );
  };
  const { shflUpSync, shflDownSync, shflSync } = WORDS;
  return { up: by(shflUpSync), down: by(shflDownSync), at: by(shflSync) };
}
