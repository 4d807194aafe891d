/**
 * Host arrays over memory that the device reaches: pinned, mapped and managed ones. They are `NDArray`s, and their views are of
 * their kind: a slice of a mapped array still has its address on the device.
 *
 * Views share the memory as those of device arrays do: it is given back when the last is disposed, and no sooner than the last
 * copy or kernel that uses it is done. A TypedArray that is left reads nothing (length 0), or stale bytes; it never reaches
 * memory that is not there. How they are made is `host-create.ts`.
 */
import { type CapturedArray, DEVICE_ARRAY } from '../compiler/contract.ts';
import type { DType, DTypeLike, Scalar, TypedArray, ValueOf } from '../dtype/index.ts';
import { guardProperties } from '../guarded.ts';
import { formatShape, type ShapeLike, type SliceSpec, type StridedLayout } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { atSite, captureSite, disposedError, type Site } from '../memory/disposal.ts';
import type { MemoryOwner } from '../memory/owner.ts';
import { noteDisposed, noteMade } from '../memory/scope.ts';
import type { Stream } from '../stream/stream.ts';
import { type CudaArrayInterface, describeDeviceMemory } from './cuda-interface.ts';
import { DeviceNDArray, memoryOf } from './device-array.ts';
import type { HostResult, HostTarget, HostTargetOf } from './device-copy.ts';
import { boundStream, DEVICE_MEMORY, type DeviceMemory, type StreamOption } from './device-memory.ts';
import { knowMapped } from './mapped.ts';
import { NDArray } from './ndarray.ts';

/** One block of host memory, and where the device has it. */
export interface HostBlock {
  readonly context: Context;
  readonly owner: MemoryOwner;
  /** Bytes of the ArrayBuffer before the block. */
  readonly origin: number;
  /** Address of the block on the device; undefined where only copies use it. */
  readonly pointer: number | undefined;
  /** Keeps the memory alive as long as a TypedArray over it. */
  keepAliveWith(data: ArrayBufferView): void;
}

/**
 * A host array in page-locked memory, which the device copies from and to at full speed, and on streams without the host waiting. Made by
 * `cuda.pinnedArray`. To a kernel it is a host array like any other. Numba: what `pinned_array` returns.
 * @example
 * const host = cuda.pinnedArray(4, f32);
 * console.log(host instanceof cuda.PinnedNDArray); // true
 */
export class PinnedNDArray<T = Scalar, R extends number = number> extends NDArray<T, R> {
  /** @internal Only the host can use it. */
  static readonly '~hostOnly': string = 'cuda.PinnedNDArray';
  readonly #block: HostBlock;
  #disposedAt: Site | undefined;

  constructor(data: TypedArray, dtype: DType<T>, layout: Omit<StridedLayout, 'itemSize'>, block: HostBlock) {
    super(data, dtype, layout);
    this.#block = block;
    this.#disposedAt = undefined;
    block.owner.retain();
    block.keepAliveWith(data);
    noteMade(this);
    if (new.target === PinnedNDArray) Object.freeze(this);
  }

  /** The context that the memory was pinned in. */
  get context(): Context {
    return this.#block.context;
  }

  /** @internal The memory, shared with all views of it. */
  protected get block(): HostBlock {
    return this.#block;
  }

  /** Whether it was disposed, or its context reset or closed. */
  get disposed(): boolean {
    return this.#disposedAt !== undefined || this.block.owner.lost !== undefined;
  }

  /** Throws RangeError when the array was disposed (saying where), or its context reset or closed. */
  checkUsable(): void {
    if (this.#disposedAt !== undefined) {
      throw disposedError('array', this.#disposedAt, 'dispose it after its last use, or keep a view');
    }
    const { lost } = this.block.owner;
    if (lost !== undefined) throw disposedError('array', undefined, `${lost}: make a new one`);
  }

  /**
   * Frees the memory once all its views are disposed of too; copies and kernels that have been enqueued still have it. Twice is a
   * no-op, use afterwards an error.
   */
  dispose(): void {
    this.#retire();
  }

  [Symbol.dispose](): void {
    this.#retire();
  }

  #retire(): void {
    if (this.#disposedAt !== undefined) return;
    const site = captureSite(2);
    this.#disposedAt = site;
    noteDisposed(this);
    atSite(site, () => this.letGo());
    this.block.owner.release();
  }

  /** @internal Gives up what hangs on the array besides its memory. */
  protected letGo(): void {}

  override slice(...specs: SliceSpec[]): PinnedNDArray<T> {
    return super.slice(...specs) as PinnedNDArray<T>;
  }

  override transpose(...axes: readonly number[] | readonly [axes?: readonly number[]]): PinnedNDArray<T, R> {
    return super.transpose(...axes) as PinnedNDArray<T, R>;
  }

  override get T(): PinnedNDArray<T, R> {
    return this.transpose();
  }

  override view<const D extends DTypeLike>(dtype: D): PinnedNDArray<ValueOf<D>, R> {
    return super.view(dtype) as PinnedNDArray<ValueOf<D>, R>;
  }

  protected override derive<U>(data: TypedArray, dtype: DType<U>, layout: Omit<StridedLayout, 'itemSize'>): NDArray<U> {
    this.checkUsable();
    return new PinnedNDArray<U>(data, dtype, layout, this.block);
  }

  protected override checkMemory(): void {
    this.checkUsable();
    super.checkMemory();
  }

  override toString(): string {
    return this.disposed ? `NDArray ${this.dtype.name} ${formatShape(this.shape)} (disposed)` : super.toString();
  }
}

/**
 * A host array that kernels read and write in place: it is device memory as well, and a kernel argument without any copy. Made by
 * `cuda.mappedArray`. The host sees what a kernel wrote once that has been waited for. Numba: `MappedNDArray`.
 * @example
 * const y = cuda.mappedArray(4, f32);
 * console.log(y instanceof cuda.MappedNDArray, y.device.size); // true 4
 */
export class MappedNDArray<T = Scalar, R extends number = number> extends PinnedNDArray<T, R> {
  /** @internal Only the host can use it. */
  static override readonly '~hostOnly': string = 'cuda.MappedNDArray';
  readonly #stream: Stream | undefined;
  #device: DeviceNDArray<T, R> | undefined;

  constructor(
    data: TypedArray,
    dtype: DType<T>,
    layout: Omit<StridedLayout, 'itemSize'>,
    block: HostBlock,
    stream: Stream | undefined,
  ) {
    super(data, dtype, layout, block);
    knowMapped((value) => value instanceof MappedNDArray);
    this.#stream = stream;
    this.#device = undefined;
    if (new.target === MappedNDArray || new.target === ManagedNDArray) Object.freeze(this);
  }

  /** Where operations on the device go that are given no stream. */
  get stream(): Stream | undefined {
    return this.#stream;
  }

  override get shape(): readonly number[] {
    return super.shape;
  }

  override set shape(shape: ShapeLike) {
    super.shape = shape;
    if (this.#device?.disposed === false) this.#device.shape = shape;
  }

  /** The same elements as a device array; disposed with this array. */
  get device(): DeviceNDArray<T, R> {
    this.checkUsable();
    if (this.#device === undefined || this.#device.disposed) {
      const { context, owner, origin, pointer = 0 } = this.block;
      const address = pointer + (this.data as unknown as TypedArray).byteOffset + this.byteOffset - origin;
      const { shape, strides, dtype } = this;
      const stream = boundStream(this);
      const gpuData = { context, owner, address };
      this.#device = new DeviceNDArray<T, R>(shape, strides, dtype, { stream, gpuData });
    }
    return this.#device;
  }

  /** `device.copyToHost`: a copy, of what the device has. */
  copyToHost(options?: StreamOption): HostResult<T, R>;
  copyToHost<H extends HostTargetOf<T>>(into: H, options?: StreamOption): H;
  copyToHost(into?: unknown, options?: StreamOption): unknown {
    return this.device.copyToHost(into as HostTarget, options);
  }

  /** `device.copyToHostAsync`. */
  copyToHostAsync(options?: StreamOption): Promise<HostResult<T, R>>;
  copyToHostAsync<H extends HostTargetOf<T>>(into: H, options?: StreamOption): Promise<H>;
  copyToHostAsync(into?: unknown, options?: StreamOption): Promise<unknown> {
    return this.device.copyToHostAsync(into as HostTarget, options);
  }

  /** `device.copyToDevice`. */
  copyToDevice(source: unknown, options?: StreamOption): void {
    this.device.copyToDevice(source, options);
  }

  /** The CUDA array interface of `device`. */
  get __cuda_array_interface__(): CudaArrayInterface {
    return describeDeviceMemory(memoryOf(this.device));
  }

  override slice(...specs: SliceSpec[]): MappedNDArray<T> {
    return super.slice(...specs) as MappedNDArray<T>;
  }

  override transpose(...axes: readonly number[] | readonly [axes?: readonly number[]]): MappedNDArray<T, R> {
    return super.transpose(...axes) as MappedNDArray<T, R>;
  }

  override get T(): MappedNDArray<T, R> {
    return this.transpose();
  }

  override view<const D extends DTypeLike>(dtype: D): MappedNDArray<ValueOf<D>, R> {
    return super.view(dtype) as MappedNDArray<ValueOf<D>, R>;
  }

  protected override letGo(): void {
    this.#device?.dispose();
    this.#device = undefined;
  }

  protected override derive<U>(data: TypedArray, dtype: DType<U>, layout: Omit<StridedLayout, 'itemSize'>): NDArray<U> {
    this.checkUsable();
    return new MappedNDArray<U>(data, dtype, layout, this.block, this.stream);
  }
}

/**
 * As a mapped array, but its pages move to whoever touches them: fast for kernels that use them often. Created by `cuda.managedArray`. The host
 * may touch it when the kernels that use it have been waited for. Numba: `ManagedNDArray`.
 * @example
 * const y = cuda.managedArray(4, f32);
 * console.log(y instanceof cuda.ManagedNDArray); // true
 */
export class ManagedNDArray<T = Scalar, R extends number = number> extends MappedNDArray<T, R> {
  /** @internal Only the host can use it. */
  static override readonly '~hostOnly': string = 'cuda.ManagedNDArray';
  protected override derive<U>(data: TypedArray, dtype: DType<U>, layout: Omit<StridedLayout, 'itemSize'>): NDArray<U> {
    this.checkUsable();
    return new ManagedNDArray<U>(data, dtype, layout, this.block, this.stream);
  }
}

// Not class members, since computed names of other files' symbols have no place in declarations made file by file.
Object.defineProperties(MappedNDArray.prototype, {
  [DEVICE_MEMORY]: {
    get(this: MappedNDArray): DeviceMemory {
      return memoryOf(this.device);
    },
  },
  [DEVICE_ARRAY]: {
    get(this: MappedNDArray): CapturedArray {
      const { dtype, pointer, shape, strides } = memoryOf(this.device);
      return { owner: this.device, dtype, pointer, shape, strides };
    },
  },
});
guardProperties('PinnedNDArray', PinnedNDArray.prototype);
guardProperties('MappedNDArray', MappedNDArray.prototype);
