/**
 * `runLengthEncode` and `reduceByKey`: what runs of equal elements come to.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, f64, i32, spellDType } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import { readOptions } from '../options.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { combiningRuns } from './combining-runs.ts';
import { encodingRuns } from './encoding.ts';
import { arrayInput, type Input, inputOf, type Read } from './input.ts';
import { keyedScan } from './keyed-scan.ts';
import { remember } from './memo.ts';
import { castTo, type Value } from './operator.ts';
import { jitOn, placeOf } from './place.ts';
import { type Plan, type Primitive, planned, primitive } from './primitive.ts';
import { isHeadOf, type Same, sameOf } from './same.ts';
import { checkLengths } from './scan-by-key.ts';
import { initFor, type Own, resultType, scanOperator } from './scan-plain.ts';
import { looksOn, scanning } from './scanning.ts';
import { clear, countFor, countIn, roomIn } from './select.ts';
import type { Selection } from './select-kernels.ts';
import { itself, type Selected, selecting } from './selecting.ts';
import type { Elements, OnStream, OperatorLike, Sequence } from './types.ts';
import { type KeyedValues, keyIn, type Pair, readPair, uniqueOf, valueIn } from './unique.ts';

type AnyArray = DeviceNDArray<never> | DeviceNDArray;

/** Runs of equal elements. */
export interface Runs<T> {
  /** The element of each run. */
  readonly values: DeviceNDArray<T, 1>;
  /** The length of each run. */
  readonly counts: DeviceNDArray<number, 1>;
}

/** The type of `runLengthEncode`. */
export interface RunLengthEncode {
  <const X extends Sequence>(x: X, options?: OnStream): Runs<Elements<X>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const X extends Sequence>(x: X, options?: OnStream) => Promise<Runs<Elements<X>>>;
}

/** Options of `reduceByKey`. */
export interface ReduceByKeyOptions<T> extends OnStream {
  /** A value that comes before those of each run. */
  readonly init?: T | undefined;
  /** The same bits every time. It always is so on one device. */
  readonly deterministic?: boolean | undefined;
}

/** The type of `reduceByKey`. */
export interface ReduceByKey {
  <const K extends Sequence, const V extends Sequence>(
    keys: K,
    values: V,
    op: OperatorLike<Elements<V>>,
    options?: ReduceByKeyOptions<Elements<V>>,
  ): KeyedValues<Elements<K>, Elements<V>>;
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: <const K extends Sequence, const V extends Sequence>(
    keys: K,
    values: V,
    op: OperatorLike<Elements<V>>,
    options?: ReduceByKeyOptions<Elements<V>>,
  ) => Promise<KeyedValues<Elements<K>, Elements<V>>>;
}

/**
 * The value of each run of equal elements, and its length. NaN is equal to NaN. Waits for the number of runs; `runLengthEncodeInto` does not. CUB:
 * `DeviceRunLengthEncode::Encode`.
 *
 * @example
 * import { runLengthEncode } from 'tsamba/parallel';
 *
 * const { values, counts } = runLengthEncode(Int32Array.of(7, 7, 7, 1, 1, 7));
 * console.log(values.copyToHost(), counts.copyToHost()); // Int32Array(3) [ 7, 1, 7 ] Int32Array(3) [ 3, 2, 1 ]
 */
export const runLengthEncode: RunLengthEncode = /* @__PURE__ */ primitive(
  'runLengthEncode',
  planRuns,
) as unknown as RunLengthEncode;

/** As `runLengthEncode`, into two arrays, each with room for all elements, with the number of runs in `count[0]`; does not wait. */
export const runLengthEncodeInto: Primitive<
  [x: Sequence, values: AnyArray, counts: AnyArray, count: AnyArray, options?: OnStream],
  void
> = /* @__PURE__ */ primitive('runLengthEncodeInto', planRunsInto) as never;

/**
 * Combines the values of each run of equal keys: a key for each run, and the combined values. `op` is that of `inclusiveScan`. The number of runs is waited for;
 * `reduceByKeyInto` does not wait. CUB: `DeviceReduce::ReduceByKey`.
 *
 * @throws RangeError if there are not as many keys as values.
 * @example
 * import { reduceByKey } from 'tsamba/parallel';
 *
 * const { keys, values } = reduceByKey(Int32Array.of(1, 1, 2, 2, 2), Int32Array.of(1, 2, 3, 4, 5), 'sum');
 * console.log(keys.copyToHost(), values.copyToHost()); // Int32Array(2) [ 1, 2 ] Int32Array(2) [ 3, 12 ]
 */
export const reduceByKey: ReduceByKey = /* @__PURE__ */ primitive('reduceByKey', planByKey) as unknown as ReduceByKey;

/** As `reduceByKey`, into two arrays, each with room for all, with the number of runs in `count[0]`; does not wait. */
export const reduceByKeyInto: Primitive<
  [
    keys: Sequence,
    values: Sequence,
    op: OperatorLike<never>,
    keysOut: AnyArray,
    valuesOut: AnyArray,
    count: AnyArray,
    options?: ReduceByKeyOptions<never>,
  ],
  void
> = /* @__PURE__ */ primitive('reduceByKeyInto', planByKeyInto) as never;

function planRuns(x: unknown, options: unknown): Plan<unknown> {
  const { stream } = readOptions('runLengthEncode', options as { stream?: StreamLike }, ['stream']);
  const place = placeOf('runLengthEncode', [x], stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const { length, dtype } = input;
    const values = place.temporary([length], dtype);
    const counts = place.temporary([length], length < 2 ** 31 ? i32 : f64);
    const give = (runs: number): unknown => ({
      values: values.slice([0, Number(runs)]),
      counts: counts.slice([0, Number(runs)]),
    });
    if (length === 0) return { steps: [], give: () => give(0) };
    const count = countFor(place, length);
    return { steps: encoding(place, input, values, counts, count), reads: [count], give };
  });
}

function planRunsInto(x: unknown, values: unknown, counts: unknown, counted: unknown, options: unknown): Plan<void> {
  const { stream } = readOptions('runLengthEncodeInto', options as { stream?: StreamLike }, ['stream']);
  const place = placeOf('runLengthEncodeInto', [x, values, counts, counted], stream);
  return planned(place, () => {
    const input = inputOf(place, x, 'x');
    const { length, dtype, arrays } = input;
    const into = roomIn(place, values, length, dtype, arrays);
    const lengths = roomIn(place, counts, length, length < 2 ** 31 ? i32 : f64, arrays);
    const count = countIn(place, counted);
    const give = (): void => undefined;
    if (length > 0) return { steps: encoding(place, input, into, lengths, count), give };
    clear(count);
    return { steps: [], give };
  });
}

/** The first element of each run and where it stands, and from those how long the runs are. */
function encoding(
  place: Workplace,
  input: Input,
  values: DeviceNDArray,
  counts: DeviceNDArray,
  count: DeviceNDArray,
): Step[] {
  const heads = uniqueOf(place, input);
  if (looksOn(place.context, input.length)) return encodingRuns(place, heads, [values, counts], count);
  const starts = place.temporary([input.length], counts.dtype);
  const parts: Selected['parts'] = [itself, placeAs(counts.dtype)];
  const jit = jitOn(place.context);
  const kernel = remember(['run lengths', jit, spellDType(counts.dtype)], () => lengthsKernel(jit, counts.dtype));
  const threads = Math.min(input.length, 2 ** 18);
  return [
    ...selecting(place, { ...heads, keys: ['runs', ...heads.keys], parts, outs: [values, starts], count }),
    {
      kernel: kernel as unknown as Step['kernel'],
      shape: { threads, block: 256, stream: place.stream },
      args: [starts, counts, count],
    },
  ];
}

function placeAs(dtype: DType): Selection['parts'][number] {
  return remember(['place as', spellDType(dtype)], () => {
    const captures = { cast: castTo(dtype) };
    return deviceFunction(
      ({ cast }: typeof captures) =>
        (_value: Value, i: number) =>
          cast(i as Value),
      captures as typeof captures & Record<string, unknown>,
    );
  });
}

type LengthsKernel = Kernel<[starts: Vec<Value>, counts: Vec<Value>, count: Vec<Value>]>;

function lengthsKernel(jit: Jit, dtype: DType): LengthsKernel {
  const captures = { ...WORDS, cast: castTo(dtype), i32, f64 };
  return jit(
    ({ grid, gridSize, cast, f64 }: typeof captures) =>
      (starts: Vec<number>, counts: Vec<Value>, count: Vec<number>) => {
        const zero = starts.length - starts.length;
        const runs = zero + Math.floor(f64(count[0] as number));
        for (let r = grid(1); r < runs; r += gridSize(1)) {
          const from = starts[r] as number;
          const last = r + 1 >= runs;
          const end = last ? (cast(starts.length as Value) as number) : (starts[Math.min(r + 1, runs - 1)] as number);
          counts[r] = cast((end - from) as Value);
        }
      },
    { captures, name: 'runLengths' },
  ) as unknown as LengthsKernel;
}

interface Given extends Own {
  readonly stream?: StreamLike;
}

const OPTIONS = ['init', 'deterministic', 'stream'] as const;

function planByKey(keys: unknown, values: unknown, op: unknown, options: unknown): Plan<unknown> {
  const own: Given = readOptions('reduceByKey', options as Given, OPTIONS);
  const place = placeOf('reduceByKey', [keys, values], own.stream);
  return planned(place, () => {
    const reduction = reductionOf(place, keys, values, op, own);
    const { length, by, type } = reduction;
    const outs = [place.temporary([length], by.dtype), place.temporary([length], type)] as const;
    const give = (runs: number): unknown => ({
      keys: outs[0].slice([0, Number(runs)]),
      values: outs[1].slice([0, Number(runs)]),
    });
    if (length === 0) return { steps: [], give: () => give(0) };
    const count = countFor(place, length);
    return { steps: reduction.steps(outs, count), reads: [count], give };
  });
}

function planByKeyInto(...given: readonly unknown[]): Plan<void> {
  const [keys, values, op, keysOut, valuesOut, counted, options] = given;
  const own: Given = readOptions('reduceByKeyInto', options as Given, OPTIONS);
  const place = placeOf('reduceByKeyInto', [keys, values, keysOut, valuesOut, counted], own.stream);
  return planned(place, () => {
    const { length, by, type, steps, reads } = reductionOf(place, keys, values, op, own);
    const outs = [roomIn(place, keysOut, length, by.dtype, reads), roomIn(place, valuesOut, length, type, reads)];
    const count = countIn(place, counted);
    const give = (): void => undefined;
    if (length > 0) return { steps: steps(outs, count), give };
    clear(count);
    return { steps: [], give };
  });
}

interface KeyedReduction {
  readonly length: number;
  readonly by: Input;
  /** Of the results. */
  readonly type: DType;
  readonly reads: readonly DeviceNDArray[];
  readonly steps: (outs: readonly DeviceNDArray[], count: DeviceNDArray) => Step[];
}

/** What all values of a run up to each one come to; and of that what stands at the ends of runs. */
function reductionOf(place: Workplace, keys: unknown, values: unknown, op: unknown, own: Given): KeyedReduction {
  const [by, input] = [inputOf(place, keys, 'the keys'), inputOf(place, values, 'the values')];
  checkLengths(place, by, input);
  const operator = scanOperator(place, op, input.dtype, undefined);
  const init = initFor(place, operator, own.init, false);
  const type = resultType(operator, input, own);
  const same = sameOf(by.dtype);
  const { length } = by;
  const steps = (outs: readonly DeviceNDArray[], count: DeviceNDArray): Step[] => {
    if (looksOn(place.context, length)) return combiningRuns(place, { operator, by, input, init }, outs, count);
    const scanned = place.temporary([length], type);
    const heads = { argument: by.argument, isHead: isHeadOf(by.read, same) };
    const sums = arrayInput(scanned);
    const made = remember(['ends of runs', by.read, sums.read, same], () => ({
      read: readPair(by.read, sums.read),
      keep: keepEnds(by.read, same),
    }));
    const argument = [by.argument, scanned];
    const parts = [keyIn, valueIn];
    const ends: Selected = { keys: ['ends', same], name: place.name, length, argument, ...made, parts, outs, count };
    const manner = { init, isExclusive: false };
    return [...scanning(place, keyedScan(operator, heads, input, scanned, manner)), ...selecting(place, ends)];
  };
  return { length, by, type, reads: [...by.arrays, ...input.arrays], steps };
}

function keepEnds(key: Read, same: Same): Selection['keep'] {
  const captures = { key, same };
  return deviceFunction(
    ({ key, same }: typeof captures) =>
      ([keys]: readonly [Value, Value], i: number, values: readonly Pair[], n: number) =>
        values.map((pair, k) => i + k >= n - 1 || !same(pair.key, key(keys, Math.min(i + k + 1, n - 1)))),
    captures as typeof captures & Record<string, unknown>,
  ) as unknown as Selection['keep'];
}
