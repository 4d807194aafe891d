/**
 * Lazy inputs: sequences that are computed where they are read, and take no memory. CUB and Thrust call them iterators.
 */
import { asDType, type DType, type DTypeLike, f64, i32, i64 } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { userFunction } from '../kernel/user-function.ts';
import { show } from '../show.ts';
import { canonical } from './canonical.ts';
import type { Elements, LazyLike } from './types.ts';

type AnyFunction = (...args: never[]) => unknown;

/** What a lazy input is made of: `input.ts` says how it is read. */
export type Recipe =
  | { readonly kind: 'counting'; readonly start: number | bigint; readonly step: number | bigint }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'zip'; readonly names: readonly string[] }
  | { readonly kind: 'map'; readonly fn: AnyFunction; readonly name: string }
  | { readonly kind: 'permute' }
  | { readonly kind: 'strided'; readonly start: number; readonly step: number };

/**
 * A sequence that is computed as it is read: the result of `counting`, `constant`, `zip`, `map`, `permute`, `reverse` and `strided`, accepted by all
 * functions of `tsamba/parallel` in place of an array. It refers to the arrays that it reads and copies none: their contents at the time of use
 * count.
 */
export class Lazy<T = unknown> implements LazyLike<T> {
  /** Of the elements, for the editor alone. */
  declare readonly '~element'?: T;
  /** How many elements there are. */
  readonly length: number;
  /** Said where it was made; otherwise what is read decides (`inputOf`). */
  readonly stated: DType | undefined;
  /** @internal */
  readonly recipe: Recipe;
  /** The arrays, host arrays and lazy inputs that it reads. */
  readonly sources: readonly unknown[];

  /** @internal */
  constructor(recipe: Recipe, length: number, sources: readonly unknown[], stated?: DType) {
    this.recipe = recipe;
    this.length = length;
    this.sources = sources;
    this.stated = stated;
    Object.freeze(this);
  }
}

/** The length of what a primitive can read; undefined for what is nothing of that kind. Arrays of several axes have that of all elements. */
export function lengthOf(x: unknown): number | undefined {
  if (x instanceof Lazy || Array.isArray(x)) return x.length;
  if (typeof x !== 'object' || x === null) return undefined;
  const { size, length } = x as { size?: unknown; length?: unknown };
  if (typeof size === 'number') return size;
  return typeof length === 'number' ? length : undefined;
}

function measured(call: string, x: unknown): number {
  const length = lengthOf(x);
  if (length !== undefined) return length;
  throw new TsambaTypeError('E_PARALLEL', `${call} takes arrays and lazy inputs, got ${show(x)}`);
}

function count(call: string, n: unknown): number {
  if (Number.isSafeInteger(n) && (n as number) >= 0) return n as number;
  throw new TsambaRangeError('E_PARALLEL', `${call}: the length must be 0 or a positive integer, got ${show(n)}`);
}

/**
 * `start`, `start + step`, …: `n` numbers. i32 if both are 32-bit integers, i64 if they are bigints, otherwise f64; `dtype` overrides this.
 * Thrust: `counting_iterator`.
 */
export function counting(n: number, start?: number, step?: number, dtype?: DTypeLike): Lazy<number>;
export function counting(n: number, start: bigint, step?: bigint, dtype?: DTypeLike): Lazy<bigint>;
export function counting(
  n: number,
  start: number | bigint = 0,
  step: number | bigint = typeof start === 'bigint' ? 1n : 1,
  dtype?: DTypeLike,
): Lazy<never> {
  const length = count('counting', n);
  const wrong = [start, step].find((v) => typeof v !== typeof start || !['number', 'bigint'].includes(typeof v));
  if (wrong !== undefined) {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `counting: start and step must be two numbers or two bigints, got ${show(start)} and ${show(step)}`,
    );
  }
  const last = Number(start) + Number(step) * Math.max(0, length - 1);
  const isWord = [start, step, last].every((v) => typeof v === 'number' && v === (v | 0));
  const type = dtype === undefined ? (typeof start === 'bigint' ? i64 : isWord ? i32 : f64) : asDType(dtype);
  return new Lazy<never>({ kind: 'counting', start, step }, length, [], type);
}

/** The same value `n` times. Its dtype is bool for a boolean, i64 for a bigint, otherwise f64; `dtype` overrides this, and is required for a struct. Thrust: `constant_iterator`. */
export function constant<T>(value: T, n: number, dtype?: DTypeLike): Lazy<T> {
  const kind = typeof value;
  if (dtype === undefined && kind !== 'number' && kind !== 'bigint' && kind !== 'boolean') {
    throw new TsambaTypeError('E_PARALLEL', `constant: give the dtype of ${show(value)}: constant(value, n, dtype)`);
  }
  const own = kind === 'boolean' ? 'bool' : kind === 'bigint' ? 'int64' : 'float64';
  return new Lazy({ kind: 'constant', value }, count('constant', n), [], asDType(dtype ?? own) as DType);
}

/** The names of what `zip` has from sources without a name. */
const LETTERS = 'abcdefgh';
interface ByLetter {
  readonly a: 0;
  readonly b: 1;
  readonly c: 2;
  readonly d: 3;
  readonly e: 4;
  readonly f: 5;
  readonly g: 6;
  readonly h: 7;
}

/** What `zip` of sources in an object, or in a list, gives. */
export type Zipped<S> = S extends readonly unknown[]
  ? { readonly [K in keyof ByLetter as `${ByLetter[K]}` extends keyof S ? K : never]: Elements<S[ByLetter[K]]> }
  : { readonly [K in keyof S & string]: Elements<S[K]> };

/**
 * Elements of several sequences as one struct: `zip({ value: x, at: counting(n) })` has `v.value` and `v.at`, `zip(x, y)` has `v.a` and `v.b`. As
 * long as the shortest input. Thrust: `zip_iterator`.
 */
export function zip<const S extends Readonly<Record<string, unknown>>>(sources: S): Lazy<Zipped<S>>;
export function zip<const S extends readonly unknown[]>(...sources: S): Lazy<Zipped<S>>;
export function zip(...given: readonly unknown[]): Lazy<never> {
  const [first] = given;
  const isNamed = given.length === 1 && lengthOf(first) === undefined && typeof first === 'object' && first !== null;
  const entries: [string, unknown][] = isNamed ? Object.entries(first) : given.map((x, k) => [LETTERS[k] ?? '', x]);
  if (entries.length === 0 || (!isNamed && entries.length > LETTERS.length)) {
    throw new TsambaTypeError('E_PARALLEL', `zip takes one to ${LETTERS.length} sequences, or an object of some`);
  }
  const lengths = entries.map(([, x]) => measured('zip', x));
  const names = entries.map(([name]) => name);
  return new Lazy<never>(
    { kind: 'zip', names },
    Math.min(...lengths),
    entries.map(([, x]) => x),
  );
}

/**
 * `fn` of each element, computed when it is read. `dtype` is the type of its results; the compiler infers it for numbers, and it is required for structs.
 * Thrust: `transform_iterator`.
 */
export function map<const X, R>(x: X, fn: (value: Elements<X>) => R, dtype?: DTypeLike): Lazy<R> {
  const user = userFunction('map', fn, {});
  const recipe = { kind: 'map', fn: canonical(user.fn), name: user.name } as const;
  return new Lazy(recipe, measured('map', x), [x], dtype === undefined ? undefined : (asDType(dtype) as DType));
}

/** `x[index[0]]`, `x[index[1]]`, …. Indices must be within `x`; other elements are undefined. Thrust: `permutation_iterator`. */
export function permute<const X>(x: X, index: unknown): Lazy<Elements<X>> {
  measured('permute', x);
  return new Lazy({ kind: 'permute' }, measured('permute', index), [x, index]);
}

/** From the last element to the first. Thrust: `reverse_iterator`. */
export function reverse<const X>(x: X): Lazy<Elements<X>> {
  const length = measured('reverse', x);
  return new Lazy({ kind: 'strided', start: length - 1, step: -1 }, length, [x]);
}

/** Every `step`-th element from `start` on. A negative step goes backwards, from the last element unless `start` says otherwise. */
export function strided<const X>(x: X, step: number, start?: number): Lazy<Elements<X>> {
  const length = measured('strided', x);
  if (!Number.isSafeInteger(step) || step === 0) {
    throw new TsambaRangeError('E_PARALLEL', `strided: step must be an integer other than 0, got ${show(step)}`);
  }
  const from = start ?? (step < 0 ? length - 1 : 0);
  if (!Number.isSafeInteger(from) || ((from < 0 || from >= length) && length > 0)) {
    throw new TsambaRangeError('E_PARALLEL', `strided: start is ${show(from)}, and there are ${length} elements`);
  }
  const taken = length === 0 ? 0 : Math.floor((step < 0 ? from : length - 1 - from) / Math.abs(step)) + 1;
  return new Lazy({ kind: 'strided', start: from, step }, taken, [x]);
}
