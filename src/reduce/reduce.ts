/**
 * `cuda.reduce`: makes of a function of two values one that reduces arrays on the device. Numba's `cuda.reduce`.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { copyToContext, deviceOf, isBorrowed, newArray } from '../array/device-create.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import {
  type Complex,
  codecOf,
  type DType,
  describeDTypes,
  type Plain,
  type Scalar,
  sameDType,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { DeviceArgument, HostArgument } from '../kernel/kernel-types.ts';
import { ownJitOf } from '../kernel/own-jit.ts';
import { type ScalarArgument, scalar } from '../kernel/scalar.ts';
import { launchSteps, launchStepsLater, type Steps } from '../kernel/steps.ts';
import { type UserFunctionOptions, userFunction } from '../kernel/user-function.ts';
import { formatShape } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { Reducer } from './reduction.ts';

/** Options of a reduction. */
export interface ReduceOptions<T> {
  /** How many elements are reduced, from the first on. Default: all. */
  readonly size?: number | undefined;
  /** A value that is combined with all elements, once. Without elements it is the result. Default: none, and 0 without elements. */
  readonly init?: Plain<T> | undefined;
  /** The stream that the work is enqueued on. A result that is returned is waited for all the same. */
  readonly stream?: Stream | 0 | null | undefined;
}

/** With `res` the result stays on the device. */
export interface ReduceIntoOptions<T> extends ReduceOptions<T> {
  /** A device array of the same type, whose first element gets the result. Then nothing is returned, nor waited for. */
  readonly res: DeviceArgument<Plain<T> | T, 1>;
}

/** The TypedArrays of numbers. */
export type NumberArray =
  | (Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array)
  | (Float32Array | Float64Array);

/** Arrays with one axis, on the device or the host, of what the function takes. */
export type Reducible<T> =
  | DeviceArgument<Plain<T> | T, 1>
  | HostArgument<Plain<T> | T, 1>
  | readonly Plain<T>[]
  | (Plain<T> extends bigint ? BigInt64Array | BigUint64Array : Plain<T> extends number ? NumberArray : never);

/** Reduces arrays: `sum(x)`, `sum(x, { init: 10 })`, `sum(x, { res, stream })`. */
export interface Reduction<T> {
  /**
   * All elements combined into one value. It is computed in the type of the elements, of which the result is one; integers of 8 and 16 bits and
   * narrow floats are rounded or wrapped once, at the end. The order is the device's: floats differ from one device to another in the last bits, and are the
   * same every time on one.
   * @throws TypeError for an array of several axes, RangeError for a bad `size`; KernelError for a function that does not compile.
   */
  (array: Reducible<T>, options?: ReduceOptions<T> & { readonly res?: null | undefined }): Plain<T>;
  (array: Reducible<T>, options: ReduceIntoOptions<T>): undefined;
  /** The same without blocking; the only form on devices that only answer through promises. */
  async(array: Reducible<T>, options?: ReduceOptions<T> & { readonly res?: null | undefined }): Promise<Plain<T>>;
  async(array: Reducible<T>, options: ReduceIntoOptions<T>): Promise<undefined>;
  /** The name of the function. */
  readonly name: string;
}

/** What can be reduced: numbers, bigints, booleans, complex numbers, structs. */
type Reduced = number | bigint | boolean | Complex | object;

/** Makes reductions; `new` may stand before it, as Numba's `Reduce` is a class. */
export interface MakeReduction {
  <C extends Readonly<Record<string, unknown>>, T extends Reduced = number>(
    factory: (captures: C) => (a: T, b: T) => T,
    options: UserFunctionOptions & { readonly captures: C },
  ): Reduction<T>;
  <T extends Reduced = number>(fn: (a: T, b: T) => T, options?: UserFunctionOptions): Reduction<T>;
  new <T extends Reduced = number>(fn: (a: T, b: T) => T, options?: UserFunctionOptions): Reduction<T>;
}

/** The function of a namespace. */
export function reduceOf(devices: DeviceSelection, name: string): MakeReduction {
  // A function that `new` may be written before.
  const make = function reduce(fn: unknown, options?: UserFunctionOptions): Reduction<never> {
    const own = readOptions(name, options, ['captures', 'name']);
    const user = userFunction(name, fn, own);
    return reductionBy(new Reducer(ownJitOf(devices), user.fn, user.name), user.name, devices);
  };
  return hostFunction(devices, name, make) as unknown as MakeReduction;
}

/** A reduction that is ready to be launched. */
interface Ready {
  readonly work: Steps;
  /** Where the result is; undefined where it stays on the device. */
  readonly result: DeviceNDArray | undefined;
}

function reductionBy(reducer: Reducer, name: string, devices: DeviceSelection): Reduction<never> {
  const prepare = (array: unknown, options: unknown): Ready =>
    new Call(name, devices.currentContext(), array, options).prepare(reducer);
  const reduce = (array: unknown, options?: unknown): unknown => {
    const { work, result } = prepare(array, options);
    launchSteps(work);
    try {
      return result?.get(0);
    } finally {
      disposeUnseen(result === undefined ? [] : [result]);
    }
  };
  const reduceAsync = async (array: unknown, options?: unknown): Promise<unknown> => {
    const { work, result } = prepare(array, options);
    try {
      await launchStepsLater(work);
      return await result?.getAsync(0);
    } finally {
      disposeUnseen(result === undefined ? [] : [result]);
    }
  };
  Object.defineProperty(reduce, 'name', { value: name });
  const made = Object.assign(hostFunction(devices, name, reduce), { async: hostFunction(devices, name, reduceAsync) });
  return Object.freeze(made) as unknown as Reduction<never>;
}

/** One call: its arguments, and what must be disposed when it is enqueued. */
class Call {
  readonly #name: string;
  readonly #context: Context;
  readonly #array: unknown;
  readonly #options: Readonly<Record<'size' | 'init' | 'res', unknown>> & { readonly stream?: Stream | 0 | null };
  readonly #owned: { dispose(): void }[] = [];

  constructor(name: string, context: Context, array: unknown, options: unknown) {
    this.#name = name;
    this.#context = context;
    this.#array = array;
    this.#options = readOptions(name, options as never, ['size', 'init', 'res', 'stream']);
  }

  prepare(reducer: Reducer): Ready {
    try {
      return this.#prepared(reducer);
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  #prepared(reducer: Reducer): Ready {
    const { stream } = this.#options;
    const given = this.#device(this.#array);
    const x = this.#elements(given);
    const init = this.#init(x.dtype);
    const into = this.#target(x.dtype);
    const result = into ?? newArray(this.#context, 1, x.dtype, { stream });
    if (into === undefined) this.#owned.push(result);
    if (x.size > 0) {
      const { steps, temporaries } = reducer.plan({ x, result, init, stream });
      return this.#ready(steps, temporaries, result, into);
    }
    result.set(init?.value ?? codecOf(x.dtype).read(new DataView(new ArrayBuffer(x.itemSize)), 0));
    return this.#ready([], [], result, into);
  }

  #ready(steps: Steps['steps'], temporaries: Steps['temporaries'], result: DeviceNDArray, into?: DeviceNDArray): Ready {
    const kept = into === undefined ? result : undefined;
    const owned = this.#owned.filter((array) => array !== kept);
    return { work: { steps, temporaries: [...temporaries, ...owned] }, result: kept };
  }

  #giveBack(): void {
    disposeUnseen(this.#owned);
  }

  /** The array on the device; of a host array a copy. */
  #device(value: unknown): DeviceNDArray {
    const there = deviceOf(value, this.#context);
    if (there !== undefined) {
      if (isBorrowed(there, value as object)) this.#owned.push(there);
      there.checkUsable();
      return there;
    }
    const copy = copyToContext(this.#context, value, { stream: this.#options.stream }) as DeviceNDArray;
    this.#owned.push(copy);
    return copy;
  }

  /** The elements that are reduced. */
  #elements(x: DeviceNDArray): DeviceNDArray {
    if (x.ndim !== 1) {
      throw new TsambaTypeError(
        'E_REDUCE',
        `${this.#name} reduces arrays of one axis, got shape ${formatShape(x.shape)}: pass x.ravel()`,
      );
    }
    const { size } = this.#options;
    if (size === undefined || size === null) return x;
    if (!Number.isInteger(size)) {
      throw new TsambaTypeError('E_REDUCE', `${this.#name}: size must be an integer, got ${show(size)}`);
    }
    if ((size as number) < 0 || (size as number) > x.size) {
      throw new TsambaRangeError('E_REDUCE', `${this.#name}: size is ${size}, and the array has ${x.size} elements`);
    }
    const view = x.slice([0, size as number]);
    this.#owned.push(view);
    return view;
  }

  #init(dtype: DType): ScalarArgument | undefined {
    const { init } = this.#options;
    if (init === undefined || init === null) return undefined;
    if (dtype.fields === undefined || dtype.kind === 'c') return scalar(dtype, init as number);
    throw new TsambaTypeError(
      'E_REDUCE',
      `${this.#name}: init is for numbers, and the elements are ${describeDTypes(dtype, dtype)[0]}`,
    );
  }

  /** The element that gets the result. */
  #target(dtype: DType): DeviceNDArray | undefined {
    const { res, stream } = this.#options;
    if (res === undefined || res === null) return undefined;
    const there = deviceOf(res, this.#context);
    if (there === undefined) {
      throw new TsambaTypeError('E_REDUCE', `${this.#name}: res must be a device array, got ${show(res)}`);
    }
    if (isBorrowed(there, res as object)) this.#owned.push(there);
    there.checkUsable();
    if (!sameDType(there.dtype, dtype)) {
      const [has, wanted] = describeDTypes(there.dtype, dtype);
      throw new TsambaTypeError('E_DTYPE_MISMATCH', `${this.#name}: res has dtype ${has}, and the elements ${wanted}`);
    }
    if (there.size === 0) throw new TsambaRangeError('E_REDUCE', `${this.#name}: res has no elements`);
    const view = new DeviceNDArray<Scalar>(1, [dtype.itemSize], there.dtype, { stream, gpuData: there.gpuData });
    this.#owned.push(view);
    return view;
  }
}
