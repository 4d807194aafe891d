/**
 * `searchSorted` and `merge`: over arrays that ascend.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { type DType, i32, i64, sameDType, spellDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Vec } from '../kernel/types.ts';
import { userFunction } from '../kernel/user-function.ts';
import { WORDS } from '../kernel/words.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { StreamLike } from '../ufunc/operands.ts';
import { canonical } from './canonical.ts';
import { type Input, inputOf, type Read } from './input.ts';
import { type Key, remember } from './memo.ts';
import { castTo, type Value } from './operator.ts';
import { jitOn, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import { outOf, resultFor } from './transform.ts';
import type { Elements, InKernels, OnStream, Sequence } from './types.ts';

type Less = (a: Value, b: Value) => boolean;
// NaN comes behind all numbers, as where NumPy and typed arrays sort.
const before = ((a: number, b: number) => a < b || (Number.isNaN(b) && !Number.isNaN(a))) as unknown as Less;

/** Options of `searchSorted`. */
export interface SearchOptions<X = Sequence> extends OnStream {
  /** Of equal elements: before the first (`'left'`, the default), or behind the last. */
  readonly side?: 'left' | 'right' | undefined;
  /** Whether the first of two elements comes before the other. Default: `<`, with NaN behind all numbers. */
  readonly less?: ((a: InKernels<X>, b: InKernels<X>) => boolean) | undefined;
  /** A device array of i32 that gets the results. Default: a new one. */
  readonly out?: DeviceNDArray | DeviceNDArray<never> | undefined;
}
type SearchCall<R> = <const X extends Sequence>(sorted: X, x: Sequence, options?: SearchOptions<X>) => R;

/**
 * The position at which each element of `x` would have to be inserted to keep `sorted` in order: a device array of i32 (of i64, where `sorted` has 2³¹ elements or more). Does not wait.
 * NumPy: `searchsorted`; CUB and Thrust: `lower_bound`, `upper_bound`.
 * @example
 * import { searchSorted } from 'tsamba/parallel';
 *
 * const sorted = Float32Array.of(1, 3, 3, 9);
 * console.log(searchSorted(sorted, [0, 3, 10]).copyToHost()); // Int32Array(3) [ 0, 1, 4 ]
 * console.log(searchSorted(sorted, [3], { side: 'right' }).copyToHost()); // Int32Array(1) [ 3 ]
 */
export const searchSorted: SearchCall<DeviceNDArray<number, 1>> & {
  readonly async: SearchCall<Promise<DeviceNDArray<number, 1>>>;
} = /* @__PURE__ */ primitive('searchSorted', planSearch) as never;

function planSearch(sorted: unknown, x: unknown, options: unknown): Plan<DeviceNDArray> {
  const own = readOptions('searchSorted', options as SearchOptions, ['side', 'less', 'out', 'stream']);
  const { side = 'left', stream } = own;
  if (side !== 'left' && side !== 'right') {
    throw new TsambaRangeError('E_PARALLEL', `searchSorted: side is 'left' or 'right', got ${show(side)}`);
  }
  const place = placeOf('searchSorted', [sorted, x, own.out], stream as StreamLike);
  return planned(place, () => {
    const [all, values] = [inputOf(place, sorted, 'sorted'), inputOf(place, x, 'x')];
    const dtype = all.length >= 2 ** 31 ? i64 : i32;
    const reads = [...all.arrays, ...values.arrays];
    const results = resultFor(place, outOf(place, own.out), { length: values.length, dtype, whole: true }, reads);
    const jit = jitOn(place.context);
    const less = lessOf('searchSorted', own.less, [all.dtype, values.dtype]);
    const keys: Key[] = ['search', jit, all.read, values.read, less, side, dtype.name];
    const kernel = remember(keys, () => searchOf(jit, all.read, values.read, less, side === 'right', castTo(dtype)));
    const args = [all.argument, all.length, values.argument, results.written];
    const shape = { threads: values.length, block: 256, stream: place.stream };
    return { ...results, steps: values.length === 0 ? [] : [{ kernel: kernel as never, shape, args }] };
  });
}

function lessOf(call: string, less: unknown, dtypes: readonly DType[]): Less {
  if (less !== undefined) return canonical(userFunction(call, less, {}).fn) as unknown as Less;
  const wrong = dtypes.find(({ kind, fields }) => kind === 'c' || fields !== undefined);
  if (wrong === undefined) return before;
  throw new TsambaTypeError(
    'E_PARALLEL',
    `${call}: elements of ${spellDType(wrong)} have no natural order: pass less, a function of two of them`,
  );
}

/** How many elements of a sequence come before a value; `behind`: or are as good as it. A device function. */
const rank = (read: Read, x: Value, n: number, value: Value, less: Less, behind: boolean): number => {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    const other = read(x, middle);
    const goesOn = behind ? !less(value, other) : less(other, value);
    if (goesOn) low = middle + 1;
    else high = middle;
  }
  return low;
};

function searchOf(
  jit: Jit,
  sorted: Read,
  read: Read,
  less: Less,
  behind: boolean,
  cast: (v: Value) => Value,
): Kernel<never> {
  const captures = { ...WORDS, sorted, read, less, behind, cast, rank };
  return jit(
    ({ grid, sorted, read, less, behind, cast, rank }: typeof captures) =>
      (all: Value, n: number, x: Value, out: Vec<Value>) => {
        const i = grid(1);
        if (i < out.length) out[i] = cast(rank(sorted, all, n, read(x, i), less, behind) as Value);
      },
    { captures, name: 'searchSorted' },
  ) as unknown as Kernel<never>;
}

/** Options of `merge`. */
export interface MergeOptions<X = Sequence> extends OnStream {
  /** Whether the first of two elements comes before the other. Default: `<`, with NaN behind all numbers. */
  readonly less?: ((a: InKernels<X>, b: InKernels<X>) => boolean) | undefined;
  /** A device array that gets the results. Default: a new one. */
  readonly out?: DeviceNDArray | DeviceNDArray<never> | undefined;
}
type MergeCall<L extends boolean> = <const X extends Sequence>(
  a: X,
  b: Sequence,
  options?: MergeOptions<X>,
) => L extends true ? Promise<DeviceNDArray<Elements<X>, 1>> : DeviceNDArray<Elements<X>, 1>;

/**
 * Merges two ascending sequences into a device array; of equal elements, those of `a` come first. Does not wait. Thrust: `merge`.
 * @throws TypeError for elements of different dtypes.
 * @example
 * import { merge } from 'tsamba/parallel';
 *
 * console.log(merge(Int32Array.of(1, 4, 9), Int32Array.of(2, 4)).copyToHost()); // Int32Array(5) [ 1, 2, 4, 4, 9 ]
 */
export const merge: MergeCall<false> & { readonly async: MergeCall<true> } = /* @__PURE__ */ primitive(
  'merge',
  planMerge,
) as never;

function planMerge(a: unknown, b: unknown, options: unknown): Plan<DeviceNDArray> {
  const own = readOptions('merge', options as MergeOptions, ['less', 'out', 'stream']);
  const place = placeOf('merge', [a, b, own.out], own.stream as StreamLike);
  return planned(place, () => {
    const [first, second] = [inputOf(place, a, 'a'), inputOf(place, b, 'b')];
    const { dtype } = first;
    if (!sameDType(dtype, second.dtype)) {
      throw new TsambaTypeError(
        'E_DTYPE_MISMATCH',
        `merge: the elements of a are ${spellDType(dtype)}, and those of b ${spellDType(second.dtype)}`,
      );
    }
    const wanted = { length: first.length + second.length, dtype, whole: true };
    const results = resultFor(place, outOf(place, own.out), wanted, [...first.arrays, ...second.arrays]);
    const jit = jitOn(place.context);
    const less = lessOf('merge', own.less, [dtype]);
    const step = (from: Input, other: Input, behind: boolean) => {
      const keys: Key[] = ['merge', jit, from.read, other.read, less, behind, spellDType(dtype)];
      const kernel = remember(keys, () => mergeOf(jit, from.read, other.read, less, behind, castTo(dtype)));
      const args = [from.argument, from.length, other.argument, other.length, results.written];
      return { kernel: kernel as never, shape: { threads: from.length, block: 256, stream: place.stream }, args };
    };
    const steps = [step(first, second, false), step(second, first, true)];
    return { ...results, steps: steps.filter(({ shape }) => shape.threads > 0) };
  });
}

function mergeOf(
  jit: Jit,
  read: Read,
  others: Read,
  less: Less,
  behind: boolean,
  cast: (v: Value) => Value,
): Kernel<never> {
  const captures = { ...WORDS, read, others, less, behind, cast, rank };
  return jit(
    ({ grid, read, others, less, behind, cast, rank }: typeof captures) =>
      (x: Value, n: number, other: Value, count: number, out: Vec<Value>) => {
        const i = grid(1);
        if (i >= n) return;
        const value = read(x, i);
        out[i + rank(others, other, count, value, less, behind)] = cast(value);
      },
    { captures, name: 'merge' },
  ) as unknown as Kernel<never>;
}
