/**
 * `transform`: a function of the elements of some sequences, for each.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceOf, isBorrowed, newArray } from '../array/device-create.ts';
import { asDType, type DType, type DTypeLike, sameDType, spellDType } from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import type { Step } from '../kernel/steps.ts';
import type { Vec } from '../kernel/types.ts';
import { userFunction } from '../kernel/user-function.ts';
import { WORDS } from '../kernel/words.ts';
import { mayOverlap } from '../layout/index.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { isOptions } from '../ufunc/applied.ts';
import type { StreamLike, Workplace } from '../ufunc/operands.ts';
import { canonical } from './canonical.ts';
import { type Input, inputOf, type Read, resultOf } from './input.ts';
import { remember } from './memo.ts';
import { castTo, type Value } from './operator.ts';
import { jitOn, placeOf } from './place.ts';
import { type Plan, planned, primitive } from './primitive.ts';
import type { InKernels, OnStream, Sequence } from './types.ts';

/** Options of what gives an array. */
export interface OutOptions<T = unknown> extends OnStream {
  /** A device array that gets the results; it may be one that is read, element by element. Default: a new one. */
  readonly out?: DeviceNDArray<T> | DeviceNDArray | undefined;
  /** The dtype of the results. Default: that of `out`, or what the function gives; to be said where that is a struct. */
  readonly dtype?: DTypeLike | undefined;
}

/** An array, or the promise of one. */
type Given<L extends boolean, T> = L extends true ? Promise<DeviceNDArray<T, 1>> : DeviceNDArray<T, 1>;

/** Calls of `transform` by the number of sequences; `L`: whether it gives a promise. */
export interface TransformCalls<L extends boolean> {
  <const X extends Sequence, R>(fn: (a: InKernels<X>) => R, x: X, options?: OutOptions): Given<L, R>;
  <const X extends Sequence, const Y extends Sequence, R>(
    fn: (a: InKernels<X>, b: InKernels<Y>) => R,
    x: X,
    y: Y,
    options?: OutOptions,
  ): Given<L, R>;
  <const X extends Sequence, const Y extends Sequence, const Z extends Sequence, R>(
    fn: (a: InKernels<X>, b: InKernels<Y>, c: InKernels<Z>) => R,
    x: X,
    y: Y,
    z: Z,
    options?: OutOptions,
  ): Given<L, R>;
}

/** The type of `transform`. */
export interface Transform extends TransformCalls<false> {
  /** The same without blocking; the only form on devices that only answer through promises. */
  readonly async: TransformCalls<true>;
}

/**
 * `fn(x[i], y[i], …)` for each `i`, as a device array as long as the shortest sequence. Does not wait.
 *
 * @throws TypeError for a function whose result is a struct, without `dtype`; RangeError for an `out` of another length.
 * @example
 * import { counting, transform } from 'tsamba/parallel';
 *
 * const y = transform((a, b) => a * 10 + b, Float32Array.of(1, 2, 3), counting(3));
 * console.log(y.copyToHost()); // Float32Array(3) [ 10, 21, 32 ]
 */
export const transform: Transform = /* @__PURE__ */ primitive('transform', planTransform) as unknown as Transform;

function planTransform(fn: unknown, ...rest: readonly unknown[]): Plan<DeviceNDArray> {
  const last = rest.at(-1);
  const hasOptions = rest.length > 1 && (last === undefined || isOptions(last));
  const own = readOptions('transform', (hasOptions ? last : undefined) as object, ['out', 'dtype', 'stream']);
  const { out, dtype, stream } = own as { out?: unknown; dtype?: DTypeLike; stream?: StreamLike };
  const given = hasOptions ? rest.slice(0, -1) : rest;
  const user = userFunction('transform', fn, {});
  if (given.length === 0)
    throw new TsambaTypeError('E_PARALLEL', 'transform takes a function and one sequence or more');
  const place = placeOf('transform', [...given, out], stream);
  return planned(place, () => {
    const inputs = given.map((x, k) => inputOf(place, x, `argument ${k + 2}`));
    const one = canonical(user.fn);
    const target = outOf(place, out);
    const type = (): DType =>
      resultOf(
        place,
        one,
        user.name,
        inputs.map((input) => input.dtype),
      );
    const wanted = dtype === undefined ? (target?.dtype ?? type()) : (asDType(dtype) as DType);
    const length = Math.min(...inputs.map((input) => input.length));
    const arrays = inputs.flatMap((input) => input.arrays);
    const results = resultFor(place, target, { length, dtype: wanted }, arrays);
    return { ...results, steps: transforming(place, one, user.name, inputs, results.written) };
  });
}

/** The launches of `written[i] = fn(inputs[0][i], …)`. */
export function transforming(
  place: Workplace,
  fn: (...args: never[]) => unknown,
  name: string,
  inputs: readonly Input[],
  written: DeviceNDArray,
): Step[] {
  if (written.size === 0) return [];
  const reads = inputs.map((input) => input.read);
  const jit = jitOn(place.context);
  const kernel = remember(['transform', jit, fn, spellDType(written.dtype), ...reads], () =>
    transformOf(jit, fn as Each, name, reads, written.dtype),
  );
  const args = [written, inputs.map((input) => input.argument)];
  const shape = { threads: written.size, block: 256, stream: place.stream };
  return [{ kernel: kernel as unknown as Step['kernel'], shape, args }];
}

type Each = (...values: Value[]) => Value;
type TransformKernel = Kernel<[out: Vec<Value>, xs: readonly Value[]]>;

function transformOf(jit: Jit, fn: Each, name: string, reads: readonly Read[], dtype: DType): TransformKernel {
  const captures = { ...WORDS, fn, reads, cast: castTo(dtype) };
  return jit(
    ({ grid, fn, reads, cast }: typeof captures) =>
      (out: Vec<Value>, xs: readonly Value[]) => {
        const i = grid(1);
        if (i < out.length) out[i] = cast(fn(...xs.map((x, k) => (reads[k] as Read)(x, i))));
      },
    { captures, name },
  ) as unknown as TransformKernel;
}

/** The array that was given for results; undefined for none. Throws TypeError. */
export function outOf(place: Workplace, out: unknown): DeviceNDArray | undefined {
  if (out === undefined || out === null) return undefined;
  const there = deviceOf(out, place.context);
  if (there === undefined) {
    throw new TsambaTypeError('E_PARALLEL', `${place.name}: out must be a device array, got ${show(out)}`);
  }
  if (isBorrowed(there, out as object)) place.own(there);
  there.checkUsable();
  return there;
}

/** Where results are written, and what a plan says of that. */
export interface Results extends Pick<Plan<DeviceNDArray>, 'after' | 'results' | 'give'> {
  readonly written: DeviceNDArray;
}

/** What results need. */
export interface Wanted {
  readonly length: number;
  readonly dtype: DType;
  /** Whether a result may depend on elements at other places than its own. */
  readonly whole?: boolean | undefined;
}

/**
 * The array for results of one axis: `out`, something beside it where that holds what is yet to be read, or a new one. Throws TypeError, RangeError for an `out`
 * that does not fit.
 */
export function resultFor(
  place: Workplace,
  out: DeviceNDArray | undefined,
  { length, dtype, whole = false }: Wanted,
  reads: readonly DeviceNDArray[],
): Results {
  if (out === undefined) {
    const made = place.own(newArray(place.context, length, dtype, { stream: place.stream }));
    return { written: made, results: [made], give: () => made };
  }
  if (out.ndim !== 1 || out.size !== length) {
    throw new TsambaRangeError(
      'E_PARALLEL',
      `${place.name}: out has shape (${out.shape.join(', ')}), and there are ${length} results`,
    );
  }
  if (!sameDType(out.dtype, dtype)) {
    throw new TsambaTypeError(
      'E_DTYPE_MISMATCH',
      `${place.name}: out has dtype ${spellDType(out.dtype)}, and the results ${spellDType(dtype)}`,
    );
  }
  const give = (): DeviceNDArray => out;
  if (!reads.some((x) => meets(x, out, whole))) return { written: out, give };
  const written = place.temporary([length], dtype);
  return { written, give, after: () => out.copyToDevice(written, { stream: place.stream }) };
}

function meets(x: DeviceNDArray, out: DeviceNDArray, whole: boolean): boolean {
  if (x.owner !== out.owner || x.size === 0 || out.size === 0) return false;
  const same = x.pointer === out.pointer && x.strides[0] === out.strides[0] && x.size === out.size;
  return (whole || !same) && mayOverlap(layoutOf(x), layoutOf(out));
}

function layoutOf({ shape, strides, pointer, itemSize }: DeviceNDArray): Parameters<typeof mayOverlap>[0] {
  return { shape, strides, offset: pointer, itemSize };
}
