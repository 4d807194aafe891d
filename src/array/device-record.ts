/**
 * `DeviceRecord`: one element of a struct dtype in device memory, whose members are read and written by name.
 *
 * It is a 0-d device array with another face: kernels take it as such. Numba's `DeviceRecord`.
 */
import { type CapturedArray, DEVICE_ARRAY } from '../compiler/contract.ts';
import { asDType, type DType, type DTypeLike, describeDType, memberOf, type Plain } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { guardProperties } from '../guarded.ts';
import type { Context } from '../memory/context.ts';
import { atSite, captureSite, disposeUnseen } from '../memory/disposal.ts';
import { KEEPS } from '../memory/scope.ts';
import { UNCLONEABLE_ARRAY } from '../memory/uncloneable.ts';
import { describes, isPlainObject as isPlain, readOptions } from '../options.ts';
import type { Stream } from '../stream/stream.ts';
import type { MemoryPointer } from './array-memory.ts';
import type { CudaArrayInterface } from './cuda-interface.ts';
import { DeviceNDArray, memoryOf } from './device-array.ts';
import { copyToDevice, copyToHost, copyToHostAsync } from './device-copy.ts';
import { DEVICE_MEMORY, type DeviceMemory, placement, type StreamOption } from './device-memory.ts';
import { NDArray } from './ndarray.ts';
import { create } from './ndarray-create.ts';

/** Options of `new DeviceRecord(dtype)`. */
export interface DeviceRecordOptions extends StreamOption {
  /** Memory that exists, from the record on, or the context for new memory, undefined. */
  readonly gpuData?: MemoryPointer | Context | undefined;
}

/** What `get` gives for a member: a number, another record, or the array that a sub-array is. */
export type MemberOf<V> = V extends readonly unknown[]
  ? DeviceNDArray
  : V extends number | bigint | boolean | { readonly re: number; readonly im: number }
    ? V
    : DeviceRecord<V>;

/**
 * One record of type `T` in device memory; created by `cuda.toDevice({ … }, { dtype })`. Dispose it as an array.
 * @example
 * const Point = struct({ x: f32, y: f32 });
 * const p = cuda.toDevice({ x: 1, y: 2 }, { dtype: Point });
 * p.set('x', 5);
 * console.log(p.copyToHost()); // { x: 5, y: 2 }
 */
export class DeviceRecord<T = unknown> {
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_ARRAY;
  readonly #array: DeviceNDArray<T, 0>;
  /** Whether it is a device array, for Numba's rules of kernel arguments. */
  declare readonly '~record'?: T;

  /** Throws TypeError unless the dtype is a struct, OutOfMemoryError. */
  constructor(dtype: DTypeLike, options: DeviceRecordOptions = {}) {
    const own = readOptions('DeviceRecord', options, ['stream', 'gpuData']);
    const type = asDType(dtype);
    if (type.fields === undefined) {
      throw new TsambaTypeError('E_STRUCT', `a DeviceRecord needs a struct dtype, got ${describeDType(type)}`);
    }
    this.#array = new DeviceNDArray<T, 0>([], [], type as DType<T>, own);
  }

  /** The record as a 0-d array over the same memory. */
  get array(): DeviceNDArray<T, 0> {
    return this.#array;
  }

  /** The struct that the record is of. */
  get dtype(): DType<T> {
    return this.array.dtype;
  }

  /** The context, and so the device, that the record belongs to. */
  get context(): Context {
    return this.array.context;
  }

  /** Where operations go that are given no stream. */
  get stream(): Stream | undefined {
    return this.array.stream;
  }

  /** Bytes of the record. */
  get nbytes(): number {
    return this.array.nbytes;
  }

  /** The memory from the record on. */
  get gpuData(): MemoryPointer | undefined {
    return this.array.gpuData;
  }

  /** Whether `dispose` has been called. */
  get disposed(): boolean {
    return this.array.disposed;
  }

  /**
   * A member: a number is read, and waited for; a struct is a `DeviceRecord`, a sub-array a `DeviceNDArray`, both views of this memory.
   * Numba: `rec[field]`, `rec.getitem(field, stream)`. Throws TypeError for a field that there is none of.
   */
  get<K extends string & keyof T>(field: K, options: StreamOption = {}): MemberOf<T[K]> {
    const given = readOptions('get', options, ['stream']);
    const { dtype } = memberOf(this.dtype, field);
    const view = this.#member(field, given);
    const { stream } = view;
    if (dtype.fields !== undefined && view.ndim === 0) {
      const nested = new DeviceRecord(dtype, { stream, gpuData: view.gpuData });
      disposeUnseen([view]);
      return nested as MemberOf<T[K]>;
    }
    if (view.ndim > 0) return view as unknown as MemberOf<T[K]>;
    try {
      return view.get() as MemberOf<T[K]>;
    } finally {
      disposeUnseen([view]);
    }
  }

  /**
   * Assigns a member: a number, an object with all its fields, or an array for a sub-array. Values convert as by casts. Without a
   * stream it is done on return. Numba: `rec[field] = value`, which takes numbers only. Throws TypeError, RangeError.
   */
  set<K extends string & keyof T>(field: K, value: Plain<T[K]>, options: StreamOption = {}): void {
    const view = this.#member(field, readOptions('set', options, ['stream']));
    try {
      view.set(value);
    } finally {
      disposeUnseen([view]);
    }
  }

  /** A member as an array, on the stream of the call. */
  #member<K extends string & keyof T>(field: K, options: StreamOption): DeviceNDArray {
    const { stream } = placement(memoryOf(this.array), options.stream);
    const view = this.array.field(field as never) as unknown as DeviceNDArray;
    if (view.stream === stream) return view;
    const bound = view.bind(stream);
    disposeUnseen([view]);
    return bound;
  }

  /**
   * The record as a plain object, or copied into the 0-d NDArray given, which it gives then; with an array a stream only orders the copy,
   * and the array is valid after the stream was synchronised.
   */
  copyToHost(options?: StreamOption): T;
  copyToHost<H extends NDArray<never> | NDArray>(into: H, options?: StreamOption): H;
  copyToHost(...args: readonly unknown[]): unknown {
    const [into] = args;
    if (into instanceof NDArray) return copyToHost(memoryOf(this.array), args);
    const options = readOptions<StreamOption>('copyToHost', (into ?? args[1] ?? undefined) as StreamOption, ['stream']);
    const { stream } = placement(memoryOf(this.array), options.stream);
    const host = copyToHost(memoryOf(this.array), stream === undefined ? [] : [{ stream }]) as unknown as NDArray<T, 0>;
    stream?.synchronize();
    return host.get();
  }

  /** As `copyToHost`, without blocking the event loop: resolves when the copy is done. */
  copyToHostAsync(options?: StreamOption): Promise<T>;
  copyToHostAsync<H extends NDArray<never> | NDArray>(into: H, options?: StreamOption): Promise<H>;
  async copyToHostAsync(...args: readonly unknown[]): Promise<unknown> {
    const [into] = args;
    const host = await copyToHostAsync(memoryOf(this.array), args);
    return into instanceof NDArray ? host : (host as NDArray<T, 0>).get();
  }

  /** As `get`, without blocking the event loop. */
  async getAsync<K extends string & keyof T>(field: K, options: StreamOption = {}): Promise<MemberOf<T[K]>> {
    const view = this.#member(field, readOptions('get', options, ['stream']));
    try {
      // These are not read.
      if (view.dtype.fields !== undefined || view.ndim > 0) return this.get(field, options);
      return (await view.getAsync()) as MemberOf<T[K]>;
    } finally {
      disposeUnseen([view]);
    }
  }

  /** Copies a plain object with all fields, a 0-d array or another record into this one. Throws TypeError, RangeError. */
  copyToDevice(source: unknown, options: StreamOption = {}): void {
    const { stream } = readOptions('copyToDevice', options, ['stream']);
    copyToDevice(memoryOf(this.array), isPlainObject(source) ? hostRecord(source, this.dtype) : source, stream);
  }

  /** The same record with another default stream (0 or none: no stream). */
  bind(stream?: Stream | 0 | null): DeviceRecord<T> {
    this.array.checkUsable();
    return new DeviceRecord<T>(this.dtype, { stream, gpuData: this.gpuData });
  }

  /** Frees the memory once all its views are disposed of too. Calling it again does nothing; using it afterwards is an error. */
  dispose(): void {
    this.#dispose();
  }

  [Symbol.dispose](): void {
    this.#dispose();
  }

  #dispose(): void {
    atSite(captureSite(2), () => this.array.dispose());
  }

  /** The CUDA array interface of the 0-d array. */
  get __cuda_array_interface__(): CudaArrayInterface {
    return this.array.__cuda_array_interface__;
  }

  /** The text of `toString`: nothing is copied from the device. */
  toJSON(): string {
    return this.toString();
  }

  /** A short description, `DeviceRecord` with its fields. Nothing is copied from the device. */
  toString(): string {
    const where = this.disposed ? 'disposed' : this.context.info.name;
    return `DeviceRecord(${describeDType(this.dtype)}, ${where})`;
  }
}

/** Whether a value is an object written as `{ … }`, and so may be a record. */
export function isPlainObject(value: unknown): value is object {
  return isPlain(value) && !describes(value, '__cuda_array_interface__');
}

/** A plain object as a 0-d host array. */
export function hostRecord(value: object, dtype: DType): NDArray {
  return create(value as never, { dtype }) as unknown as NDArray;
}

// Not class members, since computed names of other files' symbols have no place in declarations made file by file.
Object.defineProperties(DeviceRecord.prototype, {
  [DEVICE_ARRAY]: {
    get(this: DeviceRecord): CapturedArray {
      return (this.array as unknown as { readonly [DEVICE_ARRAY]: CapturedArray })[DEVICE_ARRAY];
    },
  },
  [KEEPS]: {
    get(this: DeviceRecord): object {
      return this.array;
    },
  },
  [DEVICE_MEMORY]: {
    get(this: DeviceRecord): DeviceMemory {
      return memoryOf(this.array);
    },
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: DeviceRecord): string {
      return this.toString();
    },
  },
});
guardProperties('DeviceRecord', DeviceRecord.prototype);
