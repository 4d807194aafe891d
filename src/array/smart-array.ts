/**
 * `SmartArray`: an array with a host and a device side that are brought up to date when they are asked for.
 *
 * Each side is made when it is first needed. Which of them hold the current elements is the whole of the state: asking for a
 * side copies to it when it is behind, and a change of one side puts the other behind. A chain of kernels over smart arrays
 * copies nothing in between. How a launch takes one as an argument is the kernel layer's.
 */

import {
  asDType,
  type DType,
  type DTypeLike,
  type ElementOf,
  type f64 as F64,
  type Plain,
  type Scalar,
  type TypedArray,
  type ValueOf,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { COMPARED, guardProperties } from '../guarded.ts';
import {
  classifyLayout,
  normalizeOrder,
  normalizeShape,
  type Order,
  type ShapeLike,
  type SliceSpec,
  sizeOf,
  stridesFor,
} from '../layout/index.ts';
import { blocking, canWait } from '../memory/blocking.ts';
import type { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { atSite, captureSite, disposedError, type Site } from '../memory/disposal.ts';
import { printAs } from '../memory/printing.ts';
import { noteDisposed, noteMade } from '../memory/scope.ts';
import { UNCLONEABLE_ARRAY } from '../memory/uncloneable.ts';
import { describes, flag, readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { isCudaArray } from './cuda-interface.ts';
import { DeviceNDArray } from './device-array.ts';
import { deviceOf, givingBack, isOnDevice } from './device-create.ts';
import { boundStream, deviceMemoryOf } from './device-memory.ts';
import { allocate, NDArray, type RankOf } from './ndarray.ts';
import { asHostArray, type NestedInput, ndarray } from './ndarray-create.ts';
import type { HostArrayLike } from './ndarray-input.ts';
import type { RankMark } from './rank.ts';

/** The two sides of a smart array. */
export type Side = 'host' | 'gpu';

/** Options of `new SmartArray(object, options)`. */
export interface SmartArrayOptions {
  /** False: the array takes the object for its own side instead of copying it. */
  readonly copy?: boolean | undefined;
  /** Which side is made at once; 'host' by default. */
  readonly where?: Side | undefined;
}

/** What `new SmartArray({ shape, dtype })` makes. */
export interface SmartArrayShape<D extends DTypeLike = DTypeLike, S extends ShapeLike = ShapeLike> {
  /** Length of each axis, in elements. */
  readonly shape: S;
  /** The type of the elements. */
  readonly dtype: D;
  /** C (default): last axis fastest. F: first axis fastest. */
  readonly order?: Order | undefined;
  /** The side that is created at once. Default: `'host'`. */
  readonly where?: Side | undefined;
}

/**
 * An array of `T` with `R` axes that lives on the host and on the device, and moves by itself. As a kernel argument it is
 * uploaded only when the host side is ahead, and what the kernel writes stays on the device until somebody asks. Numba's `SmartArray`.
 */
class Smart<T = Scalar, R extends number = number> {
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_ARRAY;
  /** @internal Only the host can use it. */
  static readonly '~hostOnly': string = 'cuda.SmartArray';
  /** @internal */
  get '~smartArray'(): true {
    return true;
  }
  readonly #shape: readonly number[];
  readonly #strides: readonly number[];
  readonly #dtype: DType<T>;
  /** Phantom: tells ranks apart in the editor. */
  declare readonly '~rank'?: RankMark<R>;
  #host: NDArray<T, R> | undefined;
  #device: DeviceNDArray<T, R> | undefined;
  /** Which sides have the current elements; at least one does. */
  readonly #current: Record<Side, boolean> = { host: false, gpu: false };
  /** Somebody has the host side in hand: it is refreshed as soon as the device side changes. */
  #referenced = false;
  /** How often the device side has changed. */
  #changes = 0;
  /** The stream on which the device side changed last. */
  #stream: Stream | undefined;
  #disposedAt: Site | undefined;

  constructor(object: unknown, options: SmartArrayOptions = {}) {
    if (isShape(object)) {
      this.#make(readOptions<SmartArrayShape>('SmartArray', object, ['shape', 'dtype', 'order', 'where']));
    } else {
      this.#adopt(object, readOptions('SmartArray', options, ['copy', 'where']));
    }
    const first = (this.#host ?? this.#device) as NDArray<T, R> | DeviceNDArray<T, R>;
    this.#shape = first.shape;
    this.#strides = first.strides;
    this.#dtype = first.dtype;
    noteMade(this);
    Object.defineProperty(this, COMPARED, {
      enumerable: true,
      get: () => ({ host: this.#host, device: this.#device, current: this.#current }),
    });
    if (new.target === Smart) Object.freeze(this);
  }

  #make({ shape, dtype, order, where }: SmartArrayShape): void {
    const side = checkSide(where ?? 'host');
    const type = asDType(dtype) as DType<T>;
    const lengths = normalizeShape(shape, type.itemSize);
    const wanted = normalizeOrder(order);
    if (side === 'host') this.#host = allocate<T>(lengths, type, wanted) as NDArray<T, R>;
    else this.#device = keep(new DeviceNDArray<T, R>(lengths, stridesFor(lengths, type.itemSize, wanted), type));
    this.#current[side] = true;
  }

  #adopt(object: unknown, { copy: copied, where }: SmartArrayOptions): void {
    const copy = flag('copy', copied) ?? true;
    const side = checkSide(where ?? 'host');
    const given = object instanceof Smart ? object.#latest() : object;
    // Host arrays open no device.
    const device = isOnDevice(given)
      ? (deviceOf(given, cudaDevices.currentContext()) as DeviceNDArray<T, R> | undefined)
      : undefined;
    if (device !== undefined) {
      device.checkUsable();
      this.#device = copy ? givingBack(device, given, () => keep(copyOf(device))) : device;
      this.#current.gpu = true;
    } else {
      const host = (given instanceof NDArray ? given : (asHostArray(given) ?? ndarray(given as number[]))) as NDArray<
        T,
        R
      >;
      this.#host = copy ? host.copy({ order: orderOf(host) }) : host;
      this.#current.host = true;
      this.#referenced = !copy;
    }
    // The side that was asked for is made, with the elements in it.
    if (side === 'gpu') this.#onDevice(cudaDevices.currentContext());
    else this.#onHost();
  }

  /** The side that is up to date, the device's first: to be copied from. */
  #latest(): NDArray<T, R> | DeviceNDArray<T, R> {
    this.#check();
    if (this.#current.gpu && this.#device !== undefined) return this.#device;
    return this.#onHost();
  }

  /** Length of each axis, in elements. */
  get shape(): readonly number[] {
    return this.#shape;
  }

  /** Byte strides of the side that was made first; the other has its axes in the same order. */
  get strides(): readonly number[] {
    return this.#strides;
  }

  /** The type of the elements. */
  get dtype(): DType<T> {
    return this.#dtype;
  }

  /** Number of axes. */
  get ndim(): R {
    return this.shape.length as R;
  }

  /** Number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /** Bytes of the elements. */
  get nbytes(): number {
    return this.size * this.dtype.itemSize;
  }

  /** Extent of the first axis. */
  get length(): number {
    const [first] = this.shape;
    if (first === undefined) throw new TsambaTypeError('E_RANK', 'a 0-d array has no length');
    return first;
  }

  /** Whether `dispose` has been called. */
  get disposed(): boolean {
    return this.#disposedAt !== undefined;
  }

  /**
   * One side, with the current elements: the host's `NDArray` or the device's `DeviceNDArray`. From then on the host side counts as
   * referenced, until `release('host')`: it is refreshed as soon as the device side is marked as changed. Blocks while it copies.
   * Numba: `get(where)`.
   */
  get(where?: 'host'): NDArray<T, R>;
  get(where: 'gpu'): DeviceNDArray<T, R>;
  get(where: Side): NDArray<T, R> | DeviceNDArray<T, R>;
  get(where: Side = 'host'): NDArray<T, R> | DeviceNDArray<T, R> {
    this.#check();
    if (checkSide(where) === 'gpu') return this.#onDevice(cudaDevices.currentContext());
    this.#referenced = true;
    return this.#onHost();
  }

  /** As `get`, without blocking the event loop: the only way to the host side on devices that nothing can wait for. */
  getAsync(where?: 'host'): Promise<NDArray<T, R>>;
  getAsync(where: 'gpu'): Promise<DeviceNDArray<T, R>>;
  getAsync(where: Side): Promise<NDArray<T, R> | DeviceNDArray<T, R>>;
  async getAsync(where: Side = 'host'): Promise<NDArray<T, R> | DeviceNDArray<T, R>> {
    this.#check();
    if (checkSide(where) === 'gpu') {
      const context = cudaDevices.currentContext();
      // From another device it comes by way of the host.
      if (this.#device?.context.isWith(context) !== true) await this.#onHostLater();
      return this.#onDevice(context);
    }
    this.#referenced = true;
    return this.#onHostLater();
  }

  /**
   * Says that one side was written to, which puts the other behind. The host side is refreshed at once if it counts as referenced, else
   * when it is next asked for. A side that was never made cannot have changed: nothing happens. Numba: `mark_changed(where)`.
   */
  markChanged(where: Side = 'host'): void {
    this.#check();
    if (checkSide(where) === 'gpu') this.changedOnDevice(undefined);
    else if (this.#host !== undefined) {
      this.#current.host = true;
      this.#current.gpu = false;
    }
  }

  /** Lets go of what `get('host')` gave: from now on changes on the device wait until somebody asks. */
  release(where: 'host' = 'host'): void {
    checkSide(where);
    this.#referenced = false;
  }

  /** One element, from the host side. */
  at(...index: number[]): Plain<T> {
    this.#check();
    return this.#onHost().get(...index);
  }

  /** Assigns a scalar or an array to the elements that an index picks, on the host side, which is marked as changed. */
  set(value: unknown, ...index: SliceSpec[]): void {
    this.#check();
    this.#onHost().set(value, ...index);
    this.markChanged('host');
  }

  /** A part of the host side, sharing its memory. Who writes to it says so with `markChanged('host')`. */
  slice(...specs: SliceSpec[]): NDArray<T> {
    return this.get('host').slice(...specs);
  }

  /** The elements of a 1-D array, the rows of others, from the host side. */
  *[Symbol.iterator](): IterableIterator<Plain<T> | NDArray<T>> {
    const { length } = this;
    const host = this.shape.length === 1 ? this.#onHost() : this.get('host');
    for (let i = 0; i < length; i++) yield this.shape.length === 1 ? host.get(i) : host.slice(i);
  }

  /** @internal The device side for a launch on a context, up to date. */
  forKernel(context: Context): DeviceNDArray<T, R> {
    this.#check();
    return this.#onDevice(context);
  }

  /**
   * @internal The device side was written to, by work on a stream (none: the default stream). `later`: who calls refreshes a host side
   * that is referenced, by `refreshReferenced`.
   */
  changedOnDevice(stream: Stream | undefined, later = false): void {
    const device = this.#device;
    if (device === undefined) return;
    this.#current.gpu = true;
    this.#current.host = false;
    this.#changes++;
    this.#stream = stream;
    if (later || !this.#referenced || this.#host === undefined) return;
    // Where nobody can wait the host side stays behind until `getAsync`.
    if (canWait(device.context.driver)) this.#onHost();
  }

  /** @internal Brings a host side that is referenced up to date without blocking. */
  async refreshReferenced(): Promise<void> {
    if (this.#referenced && this.#host !== undefined && !this.disposed) await this.#onHostLater();
  }

  /** Gives the device side back; the host side stays with whoever has it. Calling it again does nothing; using it afterwards is an error. */
  dispose(): void {
    this.#dispose();
  }

  [Symbol.dispose](): void {
    this.#dispose();
  }

  #dispose(): void {
    if (this.#disposedAt !== undefined) return;
    const site = captureSite(2);
    this.#disposedAt = site;
    noteDisposed(this);
    atSite(site, () => this.#device?.dispose());
  }

  #check(): void {
    if (this.#disposedAt !== undefined) throw disposedError('array', this.#disposedAt, 'dispose it after its last use');
  }

  #onHost(): NDArray<T, R> {
    const host = this.#hostSide();
    if (!this.#current.host) {
      this.#download(this.#usable(), host);
      this.#current.host = true;
    }
    return host;
  }

  async #onHostLater(): Promise<NDArray<T, R>> {
    const host = this.#hostSide();
    while (!this.#current.host) {
      const changes = this.#changes;
      const stream = boundStream({ stream: this.#stream });
      await this.#usable().copyToHostAsync(host, { stream });
      // What has changed since comes in the next round.
      if (changes === this.#changes) this.#current.host = true;
    }
    return host;
  }

  /** The host side as it is, made if need be. */
  #hostSide(): NDArray<T, R> {
    const { shape, strides, dtype, itemSize } = (this.#host ?? this.#device) as NDArray<T, R> | DeviceNDArray<T, R>;
    this.#host ??= allocate<T>(shape, dtype, classifyLayout(shape, strides, itemSize) === 'F' ? 'F' : 'C') as NDArray<
      T,
      R
    >;
    return this.#host;
  }

  #download(device: DeviceNDArray<T, R>, host: NDArray<T, R>): void {
    blocking(device.context.driver, 'reading the host side of a SmartArray', "await array.getAsync('host') first");
    const stream = boundStream({ stream: this.#stream });
    if (stream === undefined) {
      device.copyToHost(host);
      return;
    }
    device.copyToHost(host, { stream });
    stream.synchronize();
  }

  /** The device side in a context; when it is in another, it moves through the host. */
  #onDevice(context: Context): DeviceNDArray<T, R> {
    const known = this.#device;
    if (known === undefined || known.disposed || !known.context.isWith(context)) {
      const host = this.#onHost();
      if (known !== undefined && !known.disposed) known.dispose();
      const order = orderOf(host);
      const strides = stridesFor(host.shape, host.itemSize, order);
      this.#device = keep(new DeviceNDArray<T, R>(host.shape, strides, host.dtype, { gpuData: context }));
      this.#current.gpu = false;
      this.#stream = undefined;
    }
    const device = this.#device as DeviceNDArray<T, R>;
    if (!this.#current.gpu) {
      device.copyToDevice(this.#host);
      this.#current.gpu = true;
    }
    return device;
  }

  /** The device side, which has the only current elements: it must still be there. */
  #usable(): DeviceNDArray<T, R> {
    const device = this.#device as DeviceNDArray<T, R>;
    device.checkUsable();
    return device;
  }

  /** A short description with dtype and shape. Nothing is copied from the device. */
  toString(): string {
    const sides = (['host', 'gpu'] as const).filter((side) => this.#current[side]).join(' and ');
    return `SmartArray(${this.dtype.name} [${this.shape.join(', ')}], ${this.disposed ? 'disposed' : `current on ${sides}`})`;
  }
}

Object.defineProperty(Smart, 'name', { value: 'SmartArray' });
printAs(Smart.prototype);
guardProperties('SmartArray', Smart.prototype, 'at');

/** An array of `T` with `R` axes that lives on the host and on the device. */
export type SmartArray<T = Scalar, R extends number = number> = Smart<T, R>;

/** The ways to make a smart array. */
export interface SmartArrayConstructor {
  /**
   * Of an array: a host array of any layout, nested arrays, a device array or another smart array, copied unless `copy` is false.
   * @throws TypeError for anything that is not an array, RangeError for a `where` that is not a side.
   */
  new <T, R extends number>(
    object: NDArray<T, R> | DeviceNDArray<T, R> | Smart<T, R>,
    options?: SmartArrayOptions,
  ): Smart<T, R>;
  new <A extends TypedArray>(object: A, options?: SmartArrayOptions): Smart<ElementOf<A>, 1>;
  /** A new array, of zeros on the host, uninitialised on the device. */
  new <const D extends DTypeLike, const S extends ShapeLike>(
    shape: SmartArrayShape<D, S>,
  ): Smart<ValueOf<D>, RankOf<S>>;
  new (object: readonly number[], options?: SmartArrayOptions): Smart<F64, 1>;
  new (object: readonly (readonly number[])[], options?: SmartArrayOptions): Smart<F64, 2>;
  new (object: HostArrayLike | NestedInput<Scalar>, options?: SmartArrayOptions): Smart;
  readonly prototype: Smart;
}

/**
 * Makes smart arrays. Numba's `SmartArray`.
 * @example
 * const x = new SmartArray(Float32Array.of(1, 2, 3));
 * cuda.jit((y: Vec<f32>) => { y[cuda.grid(1)]! *= 2; }).launch({ grid: 1, block: 3 }, x);
 * console.log(x.get('host')); // NDArray f32 [3] [2, 4, 6]
 */
export const SmartArray: SmartArrayConstructor = Smart as SmartArrayConstructor;

function isShape(value: unknown): value is SmartArrayShape {
  return (
    typeof value === 'object' &&
    value !== null &&
    (describes(value, 'shape') || describes(value, 'dtype')) &&
    !describes(value, 'data') &&
    !isArray(value)
  );
}

function isArray(value: object): boolean {
  return (
    value instanceof Smart ||
    asHostArray(value) !== undefined ||
    deviceMemoryOf(value) !== undefined ||
    isCudaArray(value)
  );
}

function checkSide(where: unknown): Side {
  if (where === 'host' || where === 'gpu') return where;
  throw new TsambaRangeError(
    'E_SIDE',
    `${show(where)} is not a valid target: a SmartArray has the sides 'host' and 'gpu'`,
  );
}

function orderOf(host: { isCContiguous(): boolean; isFContiguous(): boolean }): Order {
  return host.isFContiguous() && !host.isCContiguous() ? 'F' : 'C';
}

function copyOf<T, R extends number>(device: DeviceNDArray<T, R>): DeviceNDArray<T, R> {
  const { shape, strides, dtype, itemSize } = device;
  const order = classifyLayout(shape, strides, itemSize) === 'F' ? 'F' : 'C';
  const copy = new DeviceNDArray<T, R>(shape, stridesFor(shape, itemSize, order), dtype);
  copy.copyToDevice(device);
  return copy;
}

/** The device side belongs to its smart array, and not to the `scope()` that happens to be in force. */
function keep<D extends { dispose(): void }>(device: D): D {
  noteDisposed(device);
  return device;
}
