/**
 * `select` and `partition`: the elements that a function, or flags beside them, choose.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { newArray } from '../array/device-create.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, f64, i32, type Scalar, spellDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { userFunction } from '../kernel/user-function.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { packedOf } from './accesses.ts';
import { canonical } from './canonical.ts';
import { type Input, inputOf, type Read } from './input.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';
import { placeOf } from './place.ts';
import { type Plan, type Primitive, planned, primitive } from './primitive.ts';
import type { Selection } from './select-kernels.ts';
import { itself, type Selected, selecting } from './selecting.ts';
import { outOf } from './transform.ts';
import type { Elements, InKernels, OnStream, Sequence } from './types.ts';

/** What chooses elements: a function of one, or as many flags as there are elements, booleans or numbers. */
export type Chooser<X> = ((value: InKernels<X>) => boolean | number) | Sequence;

type AnyArray = DeviceNDArray<never> | DeviceNDArray;

/** The type of `select`. */
export interface Select {
  <const X extends Sequence>(x: X, chosen: Chooser<X>, options?: OnStream): DeviceNDArray<Elements<X>, 1>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    x: X,
    chosen: Chooser<X>,
    options?: OnStream,
  ) => Promise<DeviceNDArray<Elements<X>, 1>>;
}

/** The result of `partition`. */
export interface Parts<T> {
  /** The elements that were chosen, and the others, each in their order. */
  readonly selected: DeviceNDArray<T, 1>;
  /** The elements that were not chosen, in their order. */
  readonly rejected: DeviceNDArray<T, 1>;
}

/** The type of `partition`. */
export interface Partition {
  <const X extends Sequence>(x: X, chosen: Chooser<X>, options?: OnStream): Parts<Elements<X>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(
    x: X,
    chosen: Chooser<X>,
    options?: OnStream,
  ) => Promise<Parts<Elements<X>>>;
}

/**
 * The elements for which a function returns true, or whose flag is set, in order: a device array. Waits for their number; `selectInto` does not.
 * NumPy: `x[mask]`; CUB: `DeviceSelect::If`, `Flagged`.
 *
 * @throws RangeError if there are not as many flags as elements; KernelError for a function that does not compile.
 * @example
 * import { select } from 'tsamba/parallel';
 *
 * const x = Int32Array.of(5, 2, 8, 1);
 * console.log(select(x, (v) => v > 2).copyToHost()); // Int32Array(2) [ 5, 8 ]
 * console.log(select(x, [0, 1, 0, 1]).copyToHost()); // Int32Array(2) [ 2, 1 ]
 */
export const select: Select = /* @__PURE__ */ primitive('select', planSelect) as unknown as Select;

/**
 * The elements that `select` would return, and all others, both in order. Waits for their number; `partitionInto` does not. CUB: `DevicePartition::If`,
 * which reverses the order of the others.
 *
 * @throws RangeError if there are not as many flags as elements; KernelError for a function that does not compile.
 * @example
 * import { partition } from 'tsamba/parallel';
 *
 * const { selected, rejected } = partition(Int32Array.of(5, 2, 8, 1), (v) => v > 2);
 * console.log(selected.copyToHost(), rejected.copyToHost()); // Int32Array(2) [ 5, 8 ] Int32Array(2) [ 2, 1 ]
 */
export const partition: Partition = /* @__PURE__ */ primitive('partition', planPartition) as unknown as Partition;

/**
 * As `select`, into `out`, which must have room for all elements, with their number in `count[0]`; does not wait.
 *
 * @example
 * import { cuda } from 'tsamba';
 * import { selectInto } from 'tsamba/parallel';
 *
 * const [out, count] = [cuda.deviceArray(4, 'int32'), cuda.deviceArray(1, 'int32')];
 * selectInto(Int32Array.of(5, 2, 8, 1), (v) => v > 2, out, count);
 * console.log(count.get(0), out.get(1)); // 2 8
 */
export const selectInto: Primitive<
  [x: Sequence, chosen: Chooser<never>, out: AnyArray, count: AnyArray, options?: OnStream],
  void
> = /* @__PURE__ */ primitive(
  'selectInto',
  (x: unknown, chosen: unknown, out: unknown, count: unknown, options: unknown) =>
    planInto('selectInto', [x, chosen], [out], count, options),
) as never;

/** As `partition`, into two arrays, each with room for all elements, with the number of selected ones in `count[0]`; does not wait. */
export const partitionInto: Primitive<
  [x: Sequence, chosen: Chooser<never>, selected: AnyArray, rejected: AnyArray, count: AnyArray, options?: OnStream],
  void
> = /* @__PURE__ */ primitive(
  'partitionInto',
  (x: unknown, chosen: unknown, selected: unknown, rejected: unknown, count: unknown, options: unknown) =>
    planInto('partitionInto', [x, chosen], [selected, rejected], count, options),
) as never;

function planSelect(x: unknown, chosen: unknown, options: unknown): Plan<unknown> {
  return planGiven('select', x, chosen, options, false);
}

function planPartition(x: unknown, chosen: unknown, options: unknown): Plan<unknown> {
  return planGiven('partition', x, chosen, options, true);
}

function planGiven(name: string, x: unknown, chosen: unknown, options: unknown, both: boolean): Plan<unknown> {
  const { stream } = readOptions(name, options as { stream?: StreamLike }, ['stream']);
  const place = placeOf(name, [x, chosen], stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const { length, dtype } = input;
    const outs = (both ? [0, 1] : [0]).map(() => place.temporary([length], dtype));
    const give = (count: number | bigint): unknown => {
      const [selected, rejected] = outs as [DeviceNDArray, DeviceNDArray];
      const kept = Number(count);
      const first = selected.slice([0, kept]);
      return both ? { selected: first, rejected: rejected.slice([0, length - kept]) } : first;
    };
    const choosing = choosingOf(place, input, chosen);
    if (length === 0) return { steps: [], give: () => give(0) };
    const count = countFor(place, length);
    return { steps: selecting(place, { ...choosing, outs, both, count }), reads: [count], give };
  });
}

function planInto(
  name: string,
  [x, chosen]: readonly [unknown, unknown],
  given: readonly unknown[],
  counted: unknown,
  options: unknown,
): Plan<void> {
  const { stream } = readOptions(name, options as { stream?: StreamLike }, ['stream']);
  const place = placeOf(name, [x, chosen, ...given, counted], stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const choosing = choosingOf(place, input, chosen);
    const outs = given.map((out) => roomIn(place, out, input.length, input.dtype, choosing.reads));
    if (outs.length > 1 && outs[0] === outs[1])
      throw new TsambaTypeError('E_PARALLEL', `${name}: selected and rejected need separate arrays`);
    const count = countIn(place, counted);
    const give = (): void => undefined;
    if (input.length > 0) return { steps: selecting(place, { ...choosing, outs, both: outs.length > 1, count }), give };
    clear(count);
    return { steps: [], give };
  });
}

/** A new array for a count. */
export function countFor(place: Workplace, length: number): DeviceNDArray {
  return place.temporary([1], length < 2 ** 31 ? i32 : f64);
}

/** Sets a count to 0. */
export function clear(count: DeviceNDArray): void {
  count.set('iu'.includes(count.dtype.kind) && count.itemSize === 8 ? 0n : (0 as never));
}

/** The element that gets a count. Throws TypeError. */
export function countIn(place: Workplace, count: unknown): DeviceNDArray {
  const there = outOf(place, count);
  if (there === undefined || there.size === 0 || !'iuf'.includes(there.dtype.kind)) {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `${place.name}: the count must be a device array of integers with at least one element, got ${show(count)}`,
    );
  }
  return place.view(there, [1], [there.itemSize]);
}

/** An array that has room for results whose number is not known yet. Throws TypeError, RangeError. */
export function roomIn(
  place: Workplace,
  out: unknown,
  length: number,
  dtype: DType,
  reads: readonly DeviceNDArray[],
): DeviceNDArray {
  const there = outOf(place, out);
  if (there === undefined)
    throw new TsambaTypeError('E_PARALLEL', `${place.name} needs a device array for its results`);
  if (there.ndim !== 1 || there.size < length) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: out has shape (${there.shape.join(', ')}), and there may be ${length} results`,
    );
  }
  if (spellDType(there.dtype) !== spellDType(dtype)) {
    throw new TsambaTypeError(
      'E_DTYPE_MISMATCH',
      `${place.name}: out has dtype ${spellDType(there.dtype)}, and the results ${spellDType(dtype)}`,
    );
  }
  // Arrays without elements have no memory of their own.
  if (length === 0 || !reads.some((array) => array.owner === there.owner)) return there;
  throw new TsambaTypeError('E_PARALLEL', `${place.name}: out must not overlap the memory that is read`);
}

/** A new array of so many results. */
export function newResults(place: Workplace, length: number, dtype: DType): DeviceNDArray {
  return newArray(place.context, length, dtype as DType<Scalar>, { stream: place.stream });
}

type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

type Choosing = Omit<Selected, 'outs' | 'both' | 'count'> & { readonly reads: readonly DeviceNDArray[] };

export function choosingOf(place: Workplace, input: Input, chosen: unknown): Choosing {
  return typeof chosen === 'function' ? byFunction(place, input, chosen) : byFlags(place, input, chosen);
}

function byFunction(place: Workplace, input: Input, chosen: unknown): Choosing {
  const user = userFunction(place.name, chosen, {});
  const fn = canonical(user.fn) as unknown as (value: Value) => boolean;
  const { length, argument, read, array, arrays } = input;
  const keep = remember(['keep by', fn], () => keepBy(fn));
  const packed = packedOf(array);
  return {
    keys: ['by', fn],
    name: user.name,
    length,
    argument,
    read,
    packed,
    keep,
    parts: [itself],
    reads: arrays,
  };
}

function keepBy(fn: (value: Value) => boolean): Selection['keep'] {
  const captures = { fn };
  return device(
    ({ fn }: typeof captures) =>
      (_argument: Value, _i: number, values: readonly Value[], _n: number) =>
        values.map((value) => !!fn(value)),
    captures,
  );
}

interface Flagged {
  readonly value: Value;
  readonly isSet: boolean;
}
const flagsOf = ((_argument: Value, _i: number, values: readonly Flagged[]) =>
  values.map(({ isSet }) => isSet)) as unknown as Selection['keep'];
const valueIn = (({ value }: Flagged): Value => value) as unknown as Selection['parts'][number];

function byFlags(place: Workplace, input: Input, chosen: unknown): Choosing {
  const flags = inputOf(place, chosen, 'the flags');
  if (flags.length !== input.length) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: there are ${flags.length} flags, and ${input.length} elements`,
    );
  }
  if (flags.dtype.fields !== undefined || !'biuf'.includes(flags.dtype.kind)) {
    throw new TsambaTypeError(
      'E_PARALLEL',
      `${place.name}: flags are booleans or numbers, got ${spellDType(flags.dtype)}`,
    );
  }
  const read = remember(['flagged', input.read, flags.read], () => readFlagged(input.read, flags.read));
  return {
    keys: ['flags', spellDType(input.dtype)],
    name: place.name,
    length: input.length,
    argument: [input.argument, flags.argument],
    read,
    keep: flagsOf,
    parts: [valueIn],
    reads: [...input.arrays, ...flags.arrays],
  };
}

function readFlagged(value: Read, flag: Read): Read {
  const captures = { value, flag };
  return device(
    ({ value, flag }: typeof captures) =>
      ([x, flags]: readonly [Value, Value], i: number) => ({
        value: value(x, i),
        isSet: !!flag(flags, i),
      }),
    captures,
  ) as unknown as Read;
}
