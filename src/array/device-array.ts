/**
 * `DeviceNDArray`: an array in device memory, strided as NumPy's are, with Numba's methods.
 *
 * The class ties together what is written elsewhere: layout algebra (`layout/`), copies (`device-copy.ts`), reading and
 * assigning elements (`device-assign.ts`). Views share the owner of the memory; making one copies nothing. How arrays come
 * about is `device-create.ts`.
 */
import { type CapturedArray, DEVICE_ARRAY, type Layout } from '../compiler/contract.ts';
import {
  asDType,
  type DType,
  type DTypeLike,
  type FieldElement,
  type FieldOf,
  memberOf,
  type Plain,
  type Scalar,
  type ValueOf,
} from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import { guardProperties } from '../guarded.ts';
import {
  formatShape,
  inferShape,
  isCContiguous,
  isFContiguous,
  type ReshapeOrder,
  ravelLayout,
  reshapeLayout,
  resolveOrder,
  type ShapeLike,
  type SliceSpec,
  type StridedLayout,
  sliceLayout,
  splitLayout,
  squeezeLayout,
  stridesFor,
  transposeLayout,
  viewLayout,
} from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { captureSite } from '../memory/disposal.ts';
import type { MemoryOwner } from '../memory/owner.ts';
import { noteDisposed, noteMade } from '../memory/scope.ts';
import { UNCLONEABLE_ARRAY } from '../memory/uncloneable.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { ArrayMemory, type MemoryPointer, OwnOptions } from './array-memory.ts';
import { type CudaArrayInterface, describeDeviceMemory } from './cuda-interface.ts';
import { assignElements, readElement, readElementAsync } from './device-assign.ts';
import { copyToDevice, copyToHost, copyToHostAsync, type HostResult, type HostTargetOf } from './device-copy.ts';
import {
  boundStream,
  DEVICE_MEMORY,
  type DeviceMemory,
  layoutOf,
  placement,
  type StreamOption,
} from './device-memory.ts';
import { move } from './device-transfer.ts';
import type { DlpackCapsule, ToDlpackOptions } from './dlpack-export.ts';
import { type ArrayKind, addOperators, type Expression, type Operators } from './expression.ts';
import { gpuBufferOf, type PageGpuBuffer } from './gpu-buffer.ts';
import { describeIpc, type IpcArrayHandle } from './ipc-handle.ts';
import type { RankOf } from './ndarray.ts';
import type { Namespace, NamespaceMark, RankMark } from './rank.ts';
import { reshapeArguments, reshapedInPlace } from './reshaping.ts';
import { exportDlpack } from './to-dlpack.ts';

let readMemory: (value: object) => ArrayMemory | undefined;

/** Arrays of a namespace by their elements. */
export interface DeviceArrayKind<N extends Namespace> extends ArrayKind {
  readonly array: DeviceNDArray<this['element'], number, N>;
}

/** An expression of arrays on the device: `a.add(b).mul(2)`, computed when its value is asked for. */
export type ArrayExpression<T = unknown, N extends Namespace = Namespace> = Expression<T, DeviceArrayKind<N>>;

// biome-ignore lint/correctness/noUnusedVariables: as the class has them
export interface DeviceNDArray<T, R extends number, N extends Namespace> extends Operators<DeviceArrayKind<N>> {}

/**
 * An array of `T` with `R` axes in device memory; created by `cuda.deviceArray`, `cuda.toDevice` and `cuda.deviceArrayLike`. Its methods are for the
 * host. Views share its memory, which is freed when the last of them is disposed of. Strides are in bytes, sizes in elements unless their names say
 * otherwise. Numba's `DeviceNDArray`.
 * @example
 * const d = new cuda.DeviceNDArray([2, 3], null, f32);
 * d.set(1);
 * console.log(d.T.shape, d.slice(0, '1:3').copyToHost()); // [ 3, 2 ] Float32Array(2) [ 1, 1 ]
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: `addOperators` gives the class these methods
export class DeviceNDArray<T = Scalar, R extends number = number, N extends Namespace = Namespace>
  implements DeviceMemory
{
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_ARRAY;
  /** Phantom: tells ranks apart in the editor. */
  declare readonly '~rank'?: RankMark<R>;
  /** Phantom: tells arrays of `cuda` from those of `roc` in the editor. */
  declare readonly '~namespace'?: NamespaceMark<N>;
  /** @internal What comparisons see of the array (`COMPARED`). Nothing reads it. */
  readonly '~state': Compared;
  #memory: ArrayMemory;

  /**
   * An uninitialised array, or one over memory that exists (`gpuData`, which may also be the context for a new one). Strides are bytes, taken as given; none: C order.
   * Numba: `DeviceNDArray(shape, strides, dtype, stream=0, gpu_data=None)`.
   * @throws TypeError for a shape that is not made of integers, RangeError for strides of another rank or elements outside `gpuData`.
   */
  constructor(
    shape: ShapeLike,
    strides: ShapeLike | null | undefined,
    dtype: DType<T> | DTypeLike,
    options: StreamOption & { readonly gpuData?: MemoryPointer | Context | null | undefined } = {},
  ) {
    const own = options instanceof OwnOptions ? options : readOptions('DeviceNDArray', options, ['stream', 'gpuData']);
    this.#memory = new ArrayMemory(shape, strides, dtype, own.stream, own.gpuData);
    noteMade(this);
    this['~state'] = comparedOf(this.#memory);
    // Classes that are made of this one may still add fields.
    if (new.target === DeviceNDArray) Object.freeze(this);
  }

  static {
    readMemory = (value) => (#memory in value ? value.#memory : undefined);
  }

  /** The context, and so the device, that the array belongs to. */
  get context(): Context {
    return this.#memory.context;
  }

  /** The memory, shared with all views of it. */
  get owner(): MemoryOwner {
    return this.#memory.owner;
  }

  /** Device address of the first logical element; 0 when there are no elements. */
  get pointer(): number {
    return this.#memory.pointer;
  }

  /** Assigning a shape of as many elements is `reshape` in place, where no element need be moved. */
  get shape(): readonly number[] {
    return this.#memory.shape;
  }

  set shape(shape: ShapeLike) {
    this.checkUsable();
    this.#memory = this.#memory.inLayout(reshapedInPlace(layoutOf(this.#memory), shape));
    Object.assign(this['~state'], comparedOf(this.#memory));
  }

  /** Bytes from one element to the next along each axis; may be zero or negative. */
  get strides(): readonly number[] {
    return this.#memory.strides;
  }

  /** The type of the elements. */
  get dtype(): DType<T> {
    return this.#memory.dtype as DType<T>;
  }

  /** What kernels are specialised for: C if C-contiguous, else F, else A; A also with a stride of 0. */
  get layout(): Layout {
    return this.#memory.layout;
  }

  /** Where operations go that are given no stream, until it is disposed: then to none. It does not choose the stream of a launch. */
  get stream(): Stream | undefined {
    return this.#memory.stream;
  }

  /** Number of axes. Numba and NumPy: `ndim`. */
  get ndim(): R {
    return this.#memory.shape.length as R;
  }

  /** Number of elements. */
  get size(): number {
    return this.#memory.size;
  }

  /** Whether nothing may write to it: memory of another library that says so. */
  get readOnly(): boolean {
    return this.#memory.readOnly;
  }

  /** Bytes of one element. */
  get itemSize(): number {
    return this.#memory.itemSize;
  }

  /** Bytes from the lowest to the highest byte of an element; 0 when there are none. */
  get allocSize(): number {
    return this.#memory.allocSize;
  }

  /** Bytes that the elements take, without gaps and with repetitions. */
  get nbytes(): number {
    return this.size * this.itemSize;
  }

  /** The memory from the first element on; undefined when there are no elements. */
  get gpuData(): MemoryPointer | undefined {
    if (this.size === 0) return undefined;
    const { context, owner, pointer, readOnly } = this.#memory;
    return { context, owner, address: pointer, readOnly };
  }

  /** Whether the elements lie without gaps in C order and in Fortran order. Numba and NumPy: `flags`. */
  get flags(): { readonly C_CONTIGUOUS: boolean; readonly F_CONTIGUOUS: boolean } {
    return { C_CONTIGUOUS: this.isCContiguous(), F_CONTIGUOUS: this.isFContiguous() };
  }

  /** Whether it was disposed, or its context reset or closed. */
  get disposed(): boolean {
    return this.#memory.disposed;
  }

  /** Throws RangeError when the array was disposed (saying where), or its context reset or closed. */
  checkUsable(): void {
    this.#memory.checkUsable();
  }

  /** Whether the elements lie without gaps, last axis fastest (axes of length 1 are ignored). */
  isCContiguous(): boolean {
    return isCContiguous(this.shape, this.strides, this.itemSize);
  }

  /** Whether the elements lie without gaps, first axis fastest (axes of length 1 are ignored). */
  isFContiguous(): boolean {
    return isFContiguous(this.shape, this.strides, this.itemSize);
  }

  /**
   * Copies to the host: into a new compact array (a TypedArray for rank 1 and a number type, otherwise an NDArray), or into the one given, and
   * returns it. Only elements are written. Without a stream in the call, the copy is complete on return; with one, it is enqueued, and valid after
   * the stream has been synchronised.
   * @throws TypeError when the dtypes differ, RangeError when the shapes do (axes of length 1 apart).
   */
  copyToHost(options?: StreamOption): HostResult<T, R>;
  copyToHost(into: undefined, options?: StreamOption): HostResult<T, R>;
  copyToHost<H extends HostTargetOf<T>>(into: H, options?: StreamOption): H;
  copyToHost(...args: readonly unknown[]): unknown {
    return copyToHost(this.#memory, args);
  }

  /** As `copyToHost`, but without blocking the event loop: resolves when the copy is done, rejects if something failed. */
  copyToHostAsync(options?: StreamOption): Promise<HostResult<T, R>>;
  copyToHostAsync(into: undefined, options?: StreamOption): Promise<HostResult<T, R>>;
  copyToHostAsync<H extends HostTargetOf<T>>(into: H, options?: StreamOption): Promise<H>;
  copyToHostAsync(...args: readonly unknown[]): Promise<unknown> {
    return copyToHostAsync(this.#memory, args);
  }

  /**
   * Copies a host array (of any layout) or another device array into this one. With a stream, the copy is enqueued: leave the host array unchanged
   * until it is done. Numba: `copy_to_device`.
   * @throws TypeError when the dtypes differ, RangeError when the shapes do (axes of length 1 apart).
   */
  copyToDevice(source: unknown, options: StreamOption = {}): void {
    copyToDevice(this.#memory, source, readOptions('copyToDevice', options, ['stream']).stream);
  }

  /** Reads one element, and waits for it: `d.get(i, j)`. Negative indices count from the end. Throws RangeError, TypeError. */
  get(...index: number[]): Plain<T> {
    return readElement(this.#memory, index) as Plain<T>;
  }

  /** As `get`, without blocking the event loop. */
  getAsync(...index: number[]): Promise<Plain<T>> {
    return readElementAsync(this.#memory, index) as Promise<Plain<T>>;
  }

  /**
   * Assigns a scalar or an array, which is broadcast, to the elements selected by an index (in the forms of `slice`; all elements without one): `d.set(0)`, `d.set(row, ':', 0)`. Values convert as by casts. Numba: `d[index] = value`.
   * @throws RangeError when the index is out of range or the value does not broadcast, TypeError when it does not convert.
   */
  set(value: unknown, ...index: SliceSpec[]): void {
    assignElements(this.#memory, value, index);
  }

  /**
   * A view: for each axis an integer, `[start?, stop?, step?]` or `'1:5'`; missing axes are kept whole.
   * @throws TypeError when no axis is left (use `get`), RangeError out of range.
   */
  slice(...specs: SliceSpec[]): DeviceNDArray<T, number, N> {
    this.checkUsable();
    return this.#over(sliceLayout(layoutOf(this.#memory), specs), boundStream(this.#memory), this.dtype);
  }

  /**
   * The same elements in another shape: `d.reshape(2, 3)`, `d.reshape([2, -1], { order: 'F' })`. Elements are read and placed in the order given, as
   * in NumPy. A view if the strides allow it; a contiguous array of the other order is copied.
   * @throws RangeError for a wrong size, NotSupportedError for a strided array that would have to be copied.
   */
  reshape<const S extends ShapeLike>(
    shape: S,
    options?: { readonly order?: ReshapeOrder },
  ): DeviceNDArray<T, RankOf<S>, N>;
  reshape(...shape: number[]): DeviceNDArray<T, number, N>;
  reshape(
    ...args: readonly [...shape: number[], options: { readonly order?: ReshapeOrder }]
  ): DeviceNDArray<T, number, N>;
  reshape(...args: readonly unknown[]): DeviceNDArray<T, number, N> {
    this.checkUsable();
    const { shape, order } = reshapeArguments(args);
    const newShape = inferShape(shape, this.size);
    const layout = reshapeLayout(layoutOf(this.#memory), newShape, order);
    if (layout !== undefined) return this.#over(layout, boundStream(this.#memory), this.dtype);
    if (!this.isCContiguous() && !this.isFContiguous()) {
      throw new NotSupportedError(
        'E_RESHAPE_COPY',
        `reshape to ${formatShape(newShape)}: the elements of shape ${formatShape(this.shape)}, strides ` +
          `${formatShape(this.strides)} would have to be copied; copy them first: const c = deviceArrayLike(d); c.set(d)`,
      );
    }
    return this.#reshapedCopy(newShape, resolveOrder(layoutOf(this.#memory), order));
  }

  #reshapedCopy(newShape: readonly number[], order: 'C' | 'F'): DeviceNDArray<T, number, N> {
    const { itemSize } = this;
    const stream = boundStream(this.#memory);
    const owner = this.context.allocate(this.nbytes, stream);
    const gpuData = { context: this.context, owner, address: owner.address };
    const result = new DeviceNDArray<T, number, N>(newShape, stridesFor(newShape, itemSize, order), this.dtype, {
      stream,
      gpuData,
    });
    const memory = this.#memory;
    const to = { array: result.#memory, pointer: result.pointer, strides: stridesFor(memory.shape, itemSize, order) };
    move(memory.shape, to, { array: memory, pointer: memory.pointer, strides: memory.strides }, stream);
    return result;
  }

  /**
   * All elements along one axis, as a view: in C order of a C-contiguous array, in F order of an F-contiguous one.
   * @throws NotSupportedError if the elements would have to be copied.
   */
  ravel(options: StreamOption & { readonly order?: ReshapeOrder } = {}): DeviceNDArray<T, 1, N> {
    this.checkUsable();
    const { order, stream } = readOptions('ravel', options, ['order', 'stream']);
    const layout = ravelLayout(layoutOf(this.#memory), order);
    if (layout !== undefined) return this.#over(layout, this.#streamFor(stream), this.dtype);
    throw new NotSupportedError(
      'E_RAVEL_COPY',
      `ravel: the elements of shape ${formatShape(this.shape)}, strides ${formatShape(this.strides)} would have to be ` +
        `copied to lie in ${order ?? 'C'} order; ${
          this.isFContiguous() ? "ravel({ order: 'F' }) is a view, reshape(-1) copies" : 'copy them first, with set()'
        }`,
    );
  }

  /**
   * The same bytes as elements of another type. Another item size needs a C-contiguous array, whose last axis is resized.
   * @throws RangeError where that is not so, or does not come out whole.
   */
  view<const D extends DTypeLike>(dtype: D): DeviceNDArray<ValueOf<D>, R, N> {
    this.checkUsable();
    const target = asDType(dtype);
    return this.#over(viewLayout(layoutOf(this.#memory), target.itemSize), boundStream(this.#memory), target);
  }

  /**
   * The member of every struct (or part of every complex number) as a view; a sub-array adds its axes at the end. NumPy: `a['x']`.
   * Throws TypeError when there is none of this name.
   */
  field<K extends FieldOf<T>>(name: K): DeviceNDArray<FieldElement<T, K>, number, N> {
    this.checkUsable();
    const { dtype, offset, shape, strides } = memberOf(this.dtype, name);
    const layout = {
      shape: [...this.shape, ...shape],
      strides: [...this.strides, ...strides],
      offset,
      itemSize: dtype.itemSize,
    };
    return this.#over(layout, boundStream(this.#memory), dtype as DType<FieldElement<T, K>>);
  }

  /** The axes in another order, reversed by default; a view (Numba copies here), never the array itself. */
  transpose(...axes: readonly number[] | readonly [axes?: readonly number[]]): DeviceNDArray<T, R, N> {
    this.checkUsable();
    const [first] = axes;
    const order = first === undefined ? undefined : typeof first === 'number' ? (axes as readonly number[]) : first;
    return this.#over(transposeLayout(layoutOf(this.#memory), order), boundStream(this.#memory), this.dtype);
  }

  /** A view with the axes reversed. Each reading makes a view, which shares the memory until it is disposed. */
  get T(): DeviceNDArray<T, R, N> {
    return this.transpose();
  }

  /** A view without its axes of length 1, all or those named (negative ones count from the end). Throws RangeError. */
  squeeze(axis?: number | readonly number[] | null, options: StreamOption = {}): DeviceNDArray<T, number, N> {
    this.checkUsable();
    const { stream } = readOptions('squeeze', options, ['stream']);
    return this.#over(squeezeLayout(layoutOf(this.#memory), axis ?? undefined), this.#streamFor(stream), this.dtype);
  }

  /**
   * Consecutive views of a rank-1 contiguous array: `section` is their length, not their number; the last may be shorter.
   * Numba: `split(section, stream)`. Throws RangeError.
   */
  split(section: number, options: StreamOption = {}): DeviceNDArray<T, 1, N>[] {
    this.checkUsable();
    const stream = this.#streamFor(readOptions('split', options, ['stream']).stream);
    return splitLayout(layoutOf(this.#memory), section).map(
      (part) => this.#over(part, stream, this.dtype) as DeviceNDArray<T, 1, N>,
    );
  }

  /** The same array with another default stream (0 or none: no stream). Numba: `bind(stream=0)`. */
  bind(stream?: Stream | 0 | null): DeviceNDArray<T, R, N> {
    this.checkUsable();
    return this.#over(layoutOf(this.#memory), streamOption(stream, this.context), this.dtype);
  }

  /**
   * Frees the memory once all its views are disposed of too; work already enqueued can still use it. Calling it again does nothing,
   * use afterwards an error.
   */
  dispose(): void {
    this.#dispose();
  }

  [Symbol.dispose](): void {
    this.#dispose();
  }

  #dispose(): void {
    if (this.#memory.retired) return;
    this.#memory.retire(captureSite(2));
    noteDisposed(this);
  }

  /** The CUDA array interface, version 3: the memory as other libraries of the process take it. Throws RangeError once disposed. */
  get __cuda_array_interface__(): CudaArrayInterface {
    return describeDeviceMemory(this.#memory);
  }

  /**
   * A handle with which another process on the same GPU can open this memory, using `cuda.openIpcArray`, Numba or CuPy. Plain data, for JSON and
   * messages. The array must have been created with `deviceArray(…, { ipc: true })`, and must outlive its use there. Numba: `get_ipc_handle()`.
   * @throws NotSupportedError for other arrays, and if processes cannot share device memory.
   */
  ipcHandle(): IpcArrayHandle {
    this.checkUsable();
    return describeIpc(this.#memory);
  }

  /**
   * A DLPack tensor over this memory for other libraries of the process, by its pointer. It keeps the memory alive until its deleter is called.
   * Waits for the work that uses the array. As `cuda.toDlpack(d)`.
   * @throws NotSupportedError without koffi, on devices whose memory DLPack has no name for, and for structs.
   */
  toDlpack(options?: ToDlpackOptions): Required<DlpackCapsule> {
    return exportDlpack(this.#memory, options);
  }

  /**
   * The GPUBuffer that the array is in; its first element is at byte `gpuOffset`. What WebGPU does with it after kernels that were launched, and before others, is done in that order. It is destroyed
   * with the last array over it.
   * @throws NotSupportedError on devices other than WebGPU's.
   */
  get gpuBuffer(): PageGpuBuffer {
    return gpuBufferOf(this.#memory).buffer;
  }

  /** Bytes from the beginning of `gpuBuffer` to the first element. */
  get gpuOffset(): number {
    return gpuBufferOf(this.#memory).offset;
  }

  /** JSON has no device memory: what stands there is the description. For the elements: `copyToHost()`. */
  toJSON(): string {
    return this.toString();
  }

  toString(): string {
    const where = this.disposed ? 'disposed' : this.context.info.name;
    return `DeviceNDArray(${this.dtype.name}, shape ${formatShape(this.shape)}, ${where})`;
  }

  #streamFor(stream: StreamOption['stream']): Stream | undefined {
    return placement(this.#memory, stream).stream;
  }

  #over<U, Q extends number>(
    layout: StridedLayout,
    stream: Stream | undefined,
    dtype: DType<U>,
  ): DeviceNDArray<U, Q, N> {
    const { context, owner, pointer, readOnly } = this.#memory;
    const gpuData = { context, owner, address: pointer + layout.offset, readOnly };
    return new DeviceNDArray<U, Q, N>(layout.shape, layout.strides, dtype, { stream, gpuData });
  }
}

/** What an array is over. */
type Compared = Pick<ArrayMemory, 'pointer' | 'shape' | 'strides' | 'dtype'>;

function comparedOf({ pointer, shape, strides, dtype }: ArrayMemory): Compared {
  return { pointer, shape, strides, dtype };
}

/** The memory of a device array; undefined for what is none, whatever it looks like. */
export function memoryIn(value: object): ArrayMemory | undefined {
  return readMemory(value);
}

/** The memory of a device array. Throws TypeError for what only looks like one. */
export function memoryOf(array: object): ArrayMemory {
  const memory = readMemory(array);
  if (memory === undefined) throw new TsambaTypeError('E_DEVICE_ARRAY', `this is not a device array: ${show(array)}`);
  return memory;
}

addOperators(DeviceNDArray.prototype);
// Not class members, since computed names of other files' symbols have no place in declarations made file by file.
Object.defineProperties(DeviceNDArray.prototype, {
  [DEVICE_ARRAY]: {
    get(this: DeviceNDArray): CapturedArray {
      const { dtype, pointer, shape, strides } = memoryOf(this);
      return { owner: this, dtype, pointer, shape, strides };
    },
  },
  [DEVICE_MEMORY]: {
    get(this: DeviceNDArray): ArrayMemory {
      return memoryOf(this);
    },
  },
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: DeviceNDArray): string {
      return this.toString();
    },
  },
});
guardProperties('DeviceNDArray', DeviceNDArray.prototype);
