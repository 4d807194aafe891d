/**
 * What reductions answer: the least and greatest elements, where they are, whether any or all satisfy a predicate, how many do.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, describeDType, i32, i64, spellDType, struct } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { userFunction } from '../kernel/user-function.ts';
import { readOptions } from '../options.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import {
  type AllElements,
  type AlongAxes,
  type AlongAxis,
  type AskedAxis,
  type Axis,
  axesIn,
  axisOf,
  madeFlat,
  withoutAxis,
} from './axis.ts';
import { reducingLines } from './axis-reduce.ts';
import { canonical } from './canonical.ts';
import { extentOperator } from './extent.ts';
import { arrayInput, type Input, inputOf, type Read, raveled } from './input.ts';
import { constant, map } from './lazy.ts';
import { remember } from './memo.ts';
import { castTo, type Operator, operatorOf, type Value, widened } from './operator.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { reducing } from './reducing.ts';
import { transforming } from './transform.ts';
import type { Elements, ElementTypes, InKernels, OnStream, Sequence } from './types.ts';

type Given<L extends boolean, T> = L extends true ? Promise<T> : T;

/** Calls that give a place, or with `axis` an array of them; `L`: whether through a promise. */
export interface AskCall<L extends boolean> {
  (x: Sequence, options: OnStream & AlongAxis & Pick<AlongAxes, 'out'>): Given<L, DeviceNDArray<i32>>;
  (x: Sequence, options?: OnStream & AllElements): Given<L, number>;
}

/** The type of `argmin` and `argmax`. */
export interface Ask extends AskCall<false> {
  /** The same without blocking. */
  readonly async: AskCall<true>;
}

/** The least and the greatest: numbers, or arrays of them. */
export interface Extent<T> {
  /** The smallest element; NaN if there is one. */
  readonly min: T;
  /** The largest element; NaN if there is one. */
  readonly max: T;
}

/** Calls of `minmax`; `L`: whether they give a promise. */
export interface MinMaxCall<L extends boolean> {
  <const X extends Sequence>(
    x: X,
    options: OnStream & Omit<AlongAxes, 'out'>,
  ): Given<L, Extent<DeviceNDArray<ElementTypes<X>>>>;
  <const X extends Sequence>(x: X, options?: OnStream & AllElements): Given<L, Extent<Elements<X>>>;
}

/** The type of `minmax`. */
export interface MinMax extends MinMaxCall<false> {
  /** The same without blocking. */
  readonly async: MinMaxCall<true>;
}

/**
 * The smallest and the largest element, in one pass; waits for them. NaN if there is one.
 * @throws RangeError if there are no elements.
 * @example
 * import { minmax } from 'tsamba/parallel';
 *
 * console.log(minmax(Float32Array.of(3, -1, 2))); // { min: -1, max: 3 }
 */
export const minmax: MinMax = /* @__PURE__ */ primitive('minmax', (x: unknown, options?: unknown) =>
  asking('minmax', x, options, (place, input, along) => {
    const { read, operator } = extentOperator(place, input);
    return found(
      place,
      { ...input, dtype: operator.type, read, array: undefined },
      operator,
      along,
      EXTENT,
      input.dtype,
    );
  }),
) as unknown as MinMax;

/**
 * The index of the smallest element: the first of equal ones, and the first NaN, if there is one. Waits for the result. NumPy: `argmin`.
 * @throws RangeError if there are no elements.
 * @example
 * import { argmin } from 'tsamba/parallel';
 *
 * console.log(argmin(Float32Array.of(3, -1, 2, -1))); // 1
 */
export const argmin: Ask = /* @__PURE__ */ primitive('argmin', (x: unknown, options?: unknown) =>
  asking('argmin', x, options, (...asked) => placeOfBest(less, ...asked)),
) as unknown as Ask;

/**
 * The index of the largest element: the first of equal ones, and the first NaN, if there is one. Waits for the result. NumPy: `argmax`.
 * @throws RangeError if there are no elements.
 * @example
 * import { argmax } from 'tsamba/parallel';
 *
 * console.log(argmax(Float32Array.of(3, -1, 3))); // 0
 */
export const argmax: Ask = /* @__PURE__ */ primitive('argmax', (x: unknown, options?: unknown) =>
  asking('argmax', x, options, (...asked) => placeOfBest(more, ...asked)),
) as unknown as Ask;

/** Calls with a predicate: of all elements, or with `axis` of each line, an array of `D`. `L`: whether they give a promise. */
export interface TestCall<R, D, L extends boolean> {
  <const X extends Sequence>(
    x: X,
    predicate: ((value: InKernels<X>) => boolean) | undefined,
    options: OnStream & AlongAxes,
  ): Given<L, DeviceNDArray<D>>;
  <const X extends Sequence>(
    x: X,
    predicate?: (value: InKernels<X>) => boolean,
    options?: OnStream & AllElements,
  ): Given<L, R>;
}

/** The type of `any`, `all` and `countIf`. */
export interface Test<R, D> extends TestCall<R, D, false> {
  /** The same without blocking. */
  readonly async: TestCall<R, D, true>;
}

/**
 * Whether any element satisfies a predicate; without one, whether any is not 0. Waits for the result. False if there are no elements.
 * @example
 * import { any } from 'tsamba/parallel';
 *
 * console.log(any(Float32Array.of(1, 5), (v) => v > 4)); // true
 */
export const any: Test<boolean, boolean> = /* @__PURE__ */ tested('any', 'max');

/**
 * Whether all elements satisfy a predicate; without one, whether none is 0. Waits for the result. True if there are no elements.
 * @example
 * import { all } from 'tsamba/parallel';
 *
 * console.log(all(Float32Array.of(1, 5), (v) => v > 4)); // false
 */
export const all: Test<boolean, boolean> = /* @__PURE__ */ tested('all', 'min');

/**
 * How many elements satisfy a predicate; without one, how many are not 0. Waits for the result.
 * @example
 * import { countIf, counting } from 'tsamba/parallel';
 *
 * console.log(countIf(counting(100), (v) => v % 3 === 0)); // 34
 */
export const countIf: Test<number, i32> = /* @__PURE__ */ tested('countIf', 'sum');

const notZero = ((value: number) => value !== 0) as unknown as (value: never) => boolean;
const itself = ((value: boolean) => value) as unknown as (value: never) => boolean;

function tested<R, D>(name: string, by: 'max' | 'min' | 'sum'): Test<R, D> {
  return primitive(name, (x: unknown, predicate: unknown, options: unknown) => {
    const own = readOptions(name, options as object, OPTIONS) as Own;
    const place = placeOf(name, [x, own.out], own.stream);
    return planned(place, (): Omit<Plan<unknown>, 'place'> => {
      const { source, along } = readAlong(place, x, own, axesIn);
      const fn = predicate === undefined ? (source.dtype.kind === 'b' ? itself : notZero) : predicate;
      const user = userFunction(name, fn, {});
      const test = source.array ?? x;
      const input = inputOf(place, map(test as Sequence, canonical(user.fn) as never, 'bool'), 'x');
      const operator = operatorOf(place, by, input.dtype, { exact: true });
      if (along !== undefined) {
        const type = by === 'sum' ? (i32 as unknown as DType) : operator.type;
        const { made, flat, ...rest } = madeFlat(place, along.shape, type, own.out, along.array);
        const steps = reducingLines(place, operator, input, along, flat, undefined);
        return { ...rest, steps, give: () => made };
      }
      const give = (value: unknown): R => (by === 'sum' ? Number(value) : value) as R;
      if (input.length === 0) return { steps: [], give: () => give(operator.identity) };
      const result = place.temporary([1], operator.type);
      return { steps: reducing(place, operator, input, result, undefined), reads: [result], give: give as never };
    });
  }) as never;
}

const OPTIONS = ['axis', 'keepDims', 'out', 'stream'] as const;
interface Own extends AskedAxis {
  readonly stream?: StreamLike;
}

/** All elements, in C order, and the lines that they are in where each is asked by itself. */
function readAlong(
  place: Workplace,
  x: unknown,
  own: Own,
  lines: typeof axisOf,
): { readonly source: Input; readonly along: Axis | undefined } {
  if (own.axis === undefined) {
    withoutAxis(place, own);
    return { source: inputOf(place, x, 'x'), along: undefined };
  }
  const along = lines(place, x, own);
  return { source: arrayInput(raveled(place, along.array)), along };
}

type Make = (place: Workplace, input: Input, along: Axis | undefined, out: unknown) => Omit<Plan<unknown>, 'place'>;

/** The plan of a question about numbers, of which there is one at least. */
function asking(name: string, x: unknown, options: unknown, make: Make): Plan<unknown> {
  const own = readOptions(name, options as object, OPTIONS) as Own;
  const isExtent = name === 'minmax';
  const place = placeOf(name, [x, own.out], own.stream);
  return planned(place, () => {
    if (isExtent && own.out !== undefined)
      throw new TsambaTypeError('E_OPTION', 'minmax has no option out: it returns two arrays');
    const { source: input, along } = readAlong(place, x, own, isExtent ? axesIn : axisOf);
    if (!'biuf'.includes(input.dtype.kind) || input.dtype.fields !== undefined) {
      throw new TsambaTypeError(
        'E_PARALLEL',
        `${name} compares numbers, got elements of ${describeDType(input.dtype)}`,
      );
    }
    if (along === undefined ? input.length === 0 : along.length === 0 && along.outer * along.inner > 0) {
      throw new TsambaRangeError('E_PARALLEL', `${name}: there are no elements`);
    }
    return make(place, input, along, own.out);
  });
}

/** What is made of what a reduction of structs found. */
interface Answer {
  /** Of one. */
  readonly give: (value: never) => unknown;
  /** Of each line: device functions of what was found, of the lines' length and of what is inside; and the dtype of what they give. */
  readonly each: Readonly<Record<string, (value: never, length: number, inner: number) => unknown>>;
  readonly dtype: (type: DType) => DType;
  /** Of the arrays by these names. */
  readonly all: (arrays: Readonly<Record<string, DeviceNDArray>>) => unknown;
}

const EXTENT: Answer = {
  give: ({ low, high }: { readonly low: unknown; readonly high: unknown }) => ({ min: low, max: high }),
  each: {
    min: ({ low }: { readonly low: unknown }) => low,
    max: ({ high }: { readonly high: unknown }) => high,
  },
  dtype: (type) => type,
  all: (arrays) => arrays,
};

const PLACE: Answer = {
  give: ({ at }: { readonly at: number | bigint }) => Number(at),
  // Where it is among all elements says where along its line.
  each: {
    at: ({ at }: { readonly at: number }, length: number, inner: number) => Math.floor(Number(at) / inner) % length,
  },
  dtype: () => i32 as unknown as DType,
  all: ({ at }) => at,
};

/** Reduces an input of structs, whole or by lines. */
function found(
  place: Workplace,
  pairs: Input,
  operator: Operator,
  along: Axis | undefined,
  answer: Answer,
  element: DType = operator.type,
  out?: unknown,
): Omit<Plan<unknown>, 'place'> {
  if (along === undefined) {
    const result = place.temporary([1], operator.type);
    const steps = reducing(place, operator, pairs, result, undefined);
    return { steps, reads: [result], give: answer.give };
  }
  const lines = along.outer * along.inner;
  const best = place.temporary([lines], operator.type);
  const steps = reducingLines(place, operator, pairs, along, best, undefined);
  const numbers = [along.length, along.inner].map((n) => inputOf(place, constant(n, lines, 'i32'), 'x'));
  const all = Object.entries(answer.each).map(([name, fn]) => {
    const one = madeFlat(place, along.shape, answer.dtype(element), out, along.array);
    steps.push(...transforming(place, fn as never, name, [arrayInput(best), ...numbers], one.flat));
    return { name, ...one };
  });
  const arrays = Object.fromEntries(all.map(({ name, made }) => [name, made]));
  const after = (): void => {
    for (const one of all) one.after?.();
  };
  return { steps, after, results: all.flatMap(({ results = [] }) => results), give: () => answer.all(arrays) };
}

type Compare = (a: Value, b: Value) => boolean;
// NaN, which is not what it is, comes before all.
const less = ((a: number, b: number) => a < b || (Number.isNaN(a) && !Number.isNaN(b))) as unknown as Compare;
const more = ((a: number, b: number) => a > b || (Number.isNaN(a) && !Number.isNaN(b))) as unknown as Compare;

interface Found {
  readonly value: Value;
  readonly at: number;
}

function placeOfBest(
  before: Compare,
  place: Workplace,
  input: Input,
  along: Axis | undefined,
  out: unknown,
): Omit<Plan<unknown>, 'place'> {
  const index = input.length >= 2 ** 31 ? i64 : i32;
  const type = widened(input.dtype);
  const { read, operator } = remember(['best', input.read, before, spellDType(type), index.name], () =>
    bestBy(input.read, before, type, index as DType),
  );
  const pairs = { ...input, dtype: operator.type, read, array: undefined };
  return found(place, pairs, operator, along, PLACE, operator.type, out);
}

function bestBy(inner: Read, before: Compare, element: DType, index: DType): { read: Read; operator: Operator } {
  const type = struct({ value: element, at: index }, { align: true }) as DType;
  const captures = { inner, before, cast: castTo(element), to: castTo(index) };
  const read = deviceFunction(
    ({ inner, cast, to }: typeof captures) =>
      (x: Value, i: number) => ({ value: cast(inner(x, i)), at: to(i as Value) }),
    captures as typeof captures & Record<string, unknown>,
  );
  const op = deviceFunction(
    ({ before }: typeof captures) =>
      (a: Found, b: Found): Found => {
        const first = before(a.value, b.value) || (!before(b.value, a.value) && a.at < b.at);
        return { value: first ? a.value : b.value, at: first ? a.at : b.at };
      },
    captures as typeof captures & Record<string, unknown>,
  );
  const operator: Operator = {
    op: op as unknown as Operator['op'],
    type,
    cast: castTo(type),
    identity: undefined,
    name: 'best',
    commutative: true,
  };
  return { read: read as unknown as Read, operator };
}
