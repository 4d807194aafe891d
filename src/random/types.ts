/**
 * What `cuda.random.generator` gives.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { NDArray, RankOf } from '../array/ndarray.ts';
import type { DType, DTypeLike, f64, i32, TypedArray, u64, ValueOf } from '../dtype/index.ts';
import type { ShapeLike } from '../layout/index.ts';
import type { Stream } from '../stream/stream.ts';
import type { Seed } from './seed-sequence.ts';

/** Options of what fills an array. */
export interface RandomOptions<D extends DTypeLike = DTypeLike> {
  /** The dtype of the numbers; that of `out` where that is given. */
  readonly dtype?: D | undefined;
  /** A contiguous device array of the shape, that gets the numbers. Default: a new one. */
  readonly out?: DeviceNDArray<ValueOf<D>> | DeviceNDArray | undefined;
  /** The stream that fills the array; it becomes a new array's own. */
  readonly stream?: Stream | 0 | null | undefined;
}

/** Options of `integers`. */
export interface IntegerOptions<D extends DTypeLike = DTypeLike> extends RandomOptions<D> {
  /** Whether `high` is one of the numbers. Default false. */
  readonly endpoint?: boolean | undefined;
}

type Filling = Pick<RandomOptions, 'out' | 'stream'>;

/** Options of `choice`. */
export interface ChoiceOptions extends Filling {
  /** Whether one may be chosen more than once. Default true. */
  readonly replace?: boolean | undefined;
}

/** An array, or the promise of one. */
type Given<L extends boolean, T, R extends number> = L extends true
  ? Promise<DeviceNDArray<T, R>>
  : DeviceNDArray<T, R>;

/** What is chosen from or permuted: a device array, or a host array, which is copied. */
type Elements<T> = DeviceNDArray<T, 1> | NDArray<T, 1> | TypedArray;

/** The methods of a generator. `L`: whether they give promises. Shapes are lengths or lists of lengths. */
export interface Draws<L extends boolean> {
  /** Words of 64 bits, as u64. NumPy's `bit_generator.random_raw`, bit for bit. */
  raw<const S extends ShapeLike>(shape: S, options?: Filling): Given<L, u64, RankOf<S>>;
  /** From 0 to below 1; f64 of 53 bits, or f32 of 24. NumPy's `random`, bit for bit. */
  random<const S extends ShapeLike, const D extends DTypeLike = DType<f64>>(
    shape: S,
    options?: RandomOptions<D>,
  ): Given<L, ValueOf<D>, RankOf<S>>;
  /** From `low` to below `high`. NumPy's `uniform`, bit for bit; f32 too. */
  uniform<const S extends ShapeLike, const D extends DTypeLike = DType<f64>>(
    low: number,
    high: number,
    shape: S,
    options?: RandomOptions<D>,
  ): Given<L, ValueOf<D>, RankOf<S>>;
  /** Integers from `low` to below `high`; i32, or i64 where these do not fit. NumPy's `integers`, number for number, of every dtype. */
  integers<const S extends ShapeLike, const D extends DTypeLike = DType<i32>>(
    low: number | bigint,
    high: number | bigint,
    shape: S,
    options?: IntegerOptions<D>,
  ): Given<L, ValueOf<D>, RankOf<S>>;
  /** Of the normal distribution. A word a number (f32: half a word), by the inverse of the distribution; not NumPy's numbers. */
  normal<const S extends ShapeLike, const D extends DTypeLike = DType<f64>>(
    mean: number,
    deviation: number,
    shape: S,
    options?: RandomOptions<D>,
  ): Given<L, ValueOf<D>, RankOf<S>>;
  /** Of the exponential distribution of a mean, by its inverse: NumPy's `standard_exponential(method='inv')` but for the last bits, times the mean. */
  exponential<const S extends ShapeLike, const D extends DTypeLike = DType<f64>>(
    mean: number,
    shape: S,
    options?: RandomOptions<D>,
  ): Given<L, ValueOf<D>, RankOf<S>>;
  /** Of the Poisson distribution of a mean, as i32 unless told otherwise; not NumPy's numbers. */
  poisson<const S extends ShapeLike, const D extends DTypeLike = DType<i32>>(
    mean: number,
    shape: S,
    options?: RandomOptions<D>,
  ): Given<L, ValueOf<D>, RankOf<S>>;
  /** The numbers 0, 1, … `of` - 1, or the elements of an array with one axis, in a random order; not NumPy's. */
  permutation(of: number, options?: Filling): Given<L, i32, 1>;
  permutation<T>(of: Elements<T>, options?: Filling): Given<L, T, 1>;
  /** Numbers from 0 to below `of`, or elements of an array with one axis. With replacement NumPy's `choice`, number for number. */
  choice<const S extends ShapeLike>(of: number, shape: S, options?: ChoiceOptions): Given<L, i32, RankOf<S>>;
  choice<T, const S extends ShapeLike>(of: Elements<T>, shape: S, options?: ChoiceOptions): Given<L, T, RankOf<S>>;
  /** Brings the elements of a device array with one axis into a random order, in place; gives the array. */
  shuffle<T>(x: DeviceNDArray<T, 1>, options?: Pick<RandomOptions, 'stream'>): Given<L, T, 1>;
}

/** A generator of random numbers on a device; continues with each call. Calls on several streams must be ordered by events. */
export interface RandomGenerator extends Draws<false> {
  /** The same methods, that give promises; the only form on devices that only answer through promises. */
  readonly async: Draws<true>;
  /** Independent generators. NumPy's `spawn`. */
  spawn(children: number): RandomGenerator[];
  /** Frees its state on the device. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Makes generators on the current device. */
export type MakeGenerator = (seed: Seed) => RandomGenerator;
