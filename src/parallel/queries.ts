/**
 * What reductions answer: the least and greatest elements, where they are, whether any or all satisfy a predicate, how many do.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, describeDType, i32, i64, spellDType, struct } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { userFunction } from '../kernel/user-function.ts';
import { readOptions } from '../options.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { canonical } from './canonical.ts';
import { extentOf } from './extent.ts';
import { type Input, inputOf, type Read } from './input.ts';
import { map } from './lazy.ts';
import { remember } from './memo.ts';
import { castTo, type Operator, operatorOf, type Value, widened } from './operator.ts';
import { placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { reducing } from './reducing.ts';
import type { Elements, InKernels, OnStream, Sequence } from './types.ts';

/** A call that gives `R` of the elements of a sequence, and its form that does not block. */
type Ask<R> = ((x: Sequence, options?: OnStream) => R) & {
  readonly async: (x: Sequence, options?: OnStream) => Promise<R>;
};

/** What `minmax` is. */
export interface MinMax {
  <const X extends Sequence>(x: X, options?: OnStream): { readonly min: Elements<X>; readonly max: Elements<X> };
  /** The same without blocking. */
  readonly async: <const X extends Sequence>(
    x: X,
    options?: OnStream,
  ) => Promise<{ readonly min: Elements<X>; readonly max: Elements<X> }>;
}

/**
 * The least and the greatest element, in one pass; waited for. NaN if there is one.
 * @throws RangeError where there is no element.
 * @example
 * import { minmax } from 'tsamba/parallel';
 *
 * console.log(minmax(Float32Array.of(3, -1, 2))); // { min: -1, max: 3 }
 */
export const minmax: MinMax = /* @__PURE__ */ primitive('minmax', (x: unknown, options?: unknown) =>
  asking('minmax', x, options, (place, input) => {
    const { argument, steps } = extentOf(place, input);
    const give = ({ low, high }: { low: unknown; high: unknown }): unknown => ({ min: low, max: high });
    return { steps, reads: [argument], give: give as Plan<unknown>['give'] };
  }),
) as unknown as MinMax;

/**
 * Where the least element is: of equal ones the first, and the first NaN before all. Waited for. NumPy: `argmin`.
 * @throws RangeError where there is no element.
 * @example
 * import { argmin } from 'tsamba/parallel';
 *
 * console.log(argmin(Float32Array.of(3, -1, 2, -1))); // 1
 */
export const argmin: Ask<number> = /* @__PURE__ */ primitive('argmin', (x: Sequence, options?: OnStream) =>
  asking('argmin', x, options, (place, input) => placeOfBest(place, input, less)),
) as Ask<number>;

/**
 * Where the greatest element is: of equal ones the first, and the first NaN before all. Waited for. NumPy: `argmax`.
 * @throws RangeError where there is no element.
 * @example
 * import { argmax } from 'tsamba/parallel';
 *
 * console.log(argmax(Float32Array.of(3, -1, 3))); // 0
 */
export const argmax: Ask<number> = /* @__PURE__ */ primitive('argmax', (x: Sequence, options?: OnStream) =>
  asking('argmax', x, options, (place, input) => placeOfBest(place, input, more)),
) as Ask<number>;

/** Calls with a predicate. */
export type Test<R> = <const X extends Sequence>(
  x: X,
  predicate?: (value: InKernels<X>) => boolean,
  options?: OnStream,
) => R;

/**
 * Whether any element satisfies a predicate; without one, whether any is not 0. Waited for. False without elements.
 * @example
 * import { any } from 'tsamba/parallel';
 *
 * console.log(any(Float32Array.of(1, 5), (v) => v > 4)); // true
 */
export const any: Test<boolean> & { readonly async: Test<Promise<boolean>> } = /* @__PURE__ */ tested('any', 'max');

/**
 * Whether all elements satisfy a predicate; without one, whether none is 0. Waited for. True without elements.
 * @example
 * import { all } from 'tsamba/parallel';
 *
 * console.log(all(Float32Array.of(1, 5), (v) => v > 4)); // false
 */
export const all: Test<boolean> & { readonly async: Test<Promise<boolean>> } = /* @__PURE__ */ tested('all', 'min');

/**
 * How many elements satisfy a predicate; without one, how many are not 0. Waited for.
 * @example
 * import { countIf, counting } from 'tsamba/parallel';
 *
 * console.log(countIf(counting(100), (v) => v % 3 === 0)); // 34
 */
export const countIf: Test<number> & { readonly async: Test<Promise<number>> } = /* @__PURE__ */ tested(
  'countIf',
  'sum',
);

const notZero = ((value: number) => value !== 0) as unknown as (value: never) => boolean;
const itself = ((value: boolean) => value) as unknown as (value: never) => boolean;

function tested<R>(name: string, by: 'max' | 'min' | 'sum'): Test<R> & { readonly async: Test<Promise<R>> } {
  return primitive(name, (x: unknown, predicate: unknown, options: unknown) => {
    const own = readOptions(name, options as object, ['stream']) as { stream?: StreamLike };
    const place = placeOf(name, [x], own.stream);
    return planned(place, (): Omit<Plan<R>, 'place'> => {
      const source = inputOf(place, x, 'x');
      const fn = predicate === undefined ? (source.dtype.kind === 'b' ? itself : notZero) : predicate;
      const user = userFunction(name, fn, {});
      const test = source.array ?? x;
      const input = inputOf(place, map(test as Sequence, canonical(user.fn) as never, 'bool'), 'x');
      const operator = operatorOf(place, by, input.dtype, { exact: true });
      const give = (value: unknown): R => (by === 'sum' ? Number(value) : value) as R;
      if (input.length === 0) return { steps: [], give: () => give(operator.identity) };
      const result = place.temporary([1], operator.type);
      return { steps: reducing(place, operator, input, result, undefined), reads: [result], give: give as never };
    });
  }) as never;
}

type Make = (place: Workplace, input: Input) => Omit<Plan<unknown>, 'place'>;

/** The plan of a question about numbers, of which there is one at least. */
function asking(name: string, x: unknown, options: unknown, make: Make): Plan<unknown> {
  const own = readOptions(name, options as object, ['stream']) as { stream?: StreamLike };
  const place = placeOf(name, [x], own.stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    if (!'biuf'.includes(input.dtype.kind) || input.dtype.fields !== undefined) {
      throw new TsambaTypeError(
        'E_PARALLEL',
        `${name} compares numbers, got elements of ${describeDType(input.dtype)}`,
      );
    }
    if (input.length === 0) throw new TsambaRangeError('E_PARALLEL', `${name}: there are no elements`);
    return make(place, input);
  });
}

type Compare = (a: Value, b: Value) => boolean;
// NaN, which is not what it is, comes before all.
const less = ((a: number, b: number) => a < b || (Number.isNaN(a) && !Number.isNaN(b))) as unknown as Compare;
const more = ((a: number, b: number) => a > b || (Number.isNaN(a) && !Number.isNaN(b))) as unknown as Compare;

interface Found {
  readonly value: Value;
  readonly at: number;
}

function placeOfBest(place: Workplace, input: Input, before: Compare): Omit<Plan<unknown>, 'place'> {
  const index = input.length >= 2 ** 31 ? i64 : i32;
  const type = widened(input.dtype);
  const { read, operator } = remember(['best', input.read, before, spellDType(type), index.name], () =>
    bestBy(input.read, before, type, index as DType),
  );
  const result = place.temporary([1], operator.type);
  const pairs: Input = { ...input, dtype: operator.type, read, array: undefined };
  const give = ({ at }: { at: number | bigint }): number => Number(at);
  return { steps: reducing(place, operator, pairs, result, undefined), reads: [result], give: give as never };
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
