/**
 * `openIpcArray`: device memory of another process as an array of this one.
 *
 * CUDA gives one address a handle and process, so all arrays over one allocation share one opening; the last of them closes it.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import { asDType, type DType, type DTypeLike, dtypeOfDescr, type Scalar, type ValueOf } from '../dtype/index.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { processId } from '../host/index.ts';
import {
  cStrides,
  extentOf,
  normalizeOrder,
  normalizeShape,
  normalizeStrides,
  type Order,
  type ShapeLike,
  stridesFor,
} from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { allocationSite } from '../memory/leaks.ts';
import { Allocation, MemoryOwner } from '../memory/owner.ts';
import { ownValue, readOptions } from '../options.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { DeviceNDArray } from './device-array.ts';
import type { IpcArrayHandle } from './ipc-handle.ts';
import type { RankOf } from './ndarray.ts';

const HANDLE_BYTES = 64;

/** Options of `openIpcArray` for a handle of another library. */
export interface OpenIpcOptions {
  /** Bytes from one element to the next along each axis. Overrides `order`. */
  readonly strides?: ShapeLike | null | undefined;
  /** `'C'` (default): the last axis is fastest. `'F'`: the first axis is fastest. */
  readonly order?: Order | undefined;
  /** Bytes from the start of the allocation to the first element. */
  readonly offset?: number | undefined;
  /** Becomes the array's own stream. */
  readonly stream?: Stream | 0 | null | undefined;
}

/** Memory of another process that is open here. */
class SharedAllocation extends Allocation {
  readonly #context: Context;
  readonly #key: string;

  constructor(context: Context, pointer: number, key: string) {
    // It is counted by the process that allocated it.
    super(context, pointer, 0, allocationSite(0));
    this.#context = context;
    this.#key = key;
  }

  override destroy(): void {
    this.#context.freed(this);
    this.finishUses(true);
    opened.get(this.#context)?.delete(this.#key);
    this.#context.driver.closeShared(this.pointer);
  }
}

/** The allocations that are open, by their handles. */
const opened = new WeakMap<
  Context,
  Map<string, { readonly allocation: SharedAllocation; readonly owner: WeakRef<MemoryOwner> }>
>();

/** An array of another process on the same GPU. */
export interface OpenIpcArray {
  (handle: IpcArrayHandle, options?: Pick<OpenIpcOptions, 'stream'>): DeviceNDArray;
  <const S extends ShapeLike, const D extends DTypeLike>(
    bytes: Uint8Array | readonly number[],
    shape: S,
    dtype: D,
    options?: OpenIpcOptions,
  ): DeviceNDArray<ValueOf<D>, RankOf<S>>;
}

export function openIpcArrayOf(devices: DeviceSelection): OpenIpcArray {
  const openIpcArray = (...args: readonly unknown[]): DeviceNDArray => openIn(devices.currentContext(), args);
  return hostFunction(devices, 'openIpcArray', openIpcArray as OpenIpcArray);
}

function openIn(context: Context, [handle, second, dtype, fourth]: readonly unknown[]): DeviceNDArray {
  if (!context.info.features.ipc) {
    throw new NotSupportedError('E_IPC', `openIpcArray: ${context.info.name} cannot open memory of other processes`);
  }
  const { bytes, size, offset, shape, strides, type, stream } = isOurs(handle)
    ? readOurs(context, handle, second)
    : readBytes(context, handle, second, dtype, fourth);
  const { low, high } = extentOf(shape, strides, type.itemSize);
  if (offset + low < 0 || (size !== undefined && offset + high > size)) {
    throw new TsambaRangeError(
      'E_BOUNDS',
      `openIpcArray: the elements span bytes ${offset + low} to ${offset + high} of memory that has ${size ?? 'unknown'} bytes`,
    );
  }
  if (low === high)
    return new DeviceNDArray<Scalar>(shape, strides, type as DType<Scalar>, { stream, gpuData: context });
  const owner = open(context, bytes, size ?? Number.MAX_SAFE_INTEGER);
  const gpuData = { context, owner, address: owner.address + offset };
  return new DeviceNDArray<Scalar>(shape, strides, type as DType<Scalar>, { stream, gpuData });
}

interface Wanted {
  readonly bytes: Uint8Array;
  /** Undefined where the handle does not say. */
  readonly size: number | undefined;
  readonly offset: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly type: DType;
  readonly stream: Stream | undefined;
}

function isOurs(handle: unknown): handle is IpcArrayHandle {
  return typeof handle === 'object' && handle !== null && ownValue(handle, 'type') === 'tsamba.ipc';
}

function readOurs(context: Context, handle: IpcArrayHandle, options: unknown): Wanted {
  const own = readOptions('openIpcArray', options as OpenIpcOptions | undefined, ['stream']);
  const { size, offset, pid } = handle;
  if (pid === processId()) {
    throw new TsambaRangeError('E_IPC', 'openIpcArray: this process made the handle: use the array itself');
  }
  const type = dtypeOfDescr(handle.dtype, ownValue(handle, 'descr'));
  const shape = normalizeShape(handle.shape, type.itemSize);
  const strides = normalizeStrides(handle.strides, shape.length);
  const stream = streamOption(own.stream, context);
  return { bytes: handleBytes(handle.bytes), size, offset, shape, strides, type, stream };
}

function readBytes(context: Context, handle: unknown, shapeLike: unknown, dtype: unknown, given: unknown): Wanted {
  const bytes = handleBytes(handle);
  const known = ['strides', 'order', 'offset', 'stream'] as const;
  const options = readOptions('openIpcArray', given as OpenIpcOptions | undefined, known);
  const type = asDType(dtype as DTypeLike);
  const shape = normalizeShape(shapeLike as ShapeLike, type.itemSize);
  const order = normalizeOrder(options.order);
  const strides =
    options.strides === undefined || options.strides === null
      ? shape.length === 0
        ? cStrides(shape, type.itemSize)
        : stridesFor(shape, type.itemSize, order)
      : normalizeStrides(options.strides, shape.length);
  const stream = streamOption(options.stream, context);
  return { bytes, size: undefined, offset: options.offset ?? 0, shape, strides, type, stream };
}

function handleBytes(value: unknown): Uint8Array {
  const bytes = value instanceof Uint8Array || Array.isArray(value) ? Uint8Array.from(value) : undefined;
  if (bytes?.length === HANDLE_BYTES) return bytes;
  throw new TsambaTypeError(
    'E_IPC',
    `openIpcArray needs the result of ipcHandle(), or the ${HANDLE_BYTES} bytes of a CUipcMemHandle with shape and dtype, got ` +
      (bytes === undefined ? `a value of type ${typeof value}` : `${bytes.length} bytes`),
  );
}

function open(context: Context, handle: Uint8Array, size: number): MemoryOwner {
  let known = opened.get(context);
  if (known === undefined) {
    known = new Map();
    opened.set(context, known);
  }
  const key = handle.join();
  const owner = known.get(key)?.owner.deref();
  // One whose last array was disposed may still wait to be closed: then that is done now.
  if (owner !== undefined && owner.arrays > 0) return owner;
  if (known.has(key)) context.deallocations.clear();
  const pointer = Number(context.retrying(size, () => context.driver.openShared(handle)));
  const allocation = context.own(new SharedAllocation(context, pointer, key));
  const fresh = new MemoryOwner(context, allocation, size, false);
  known.set(key, { allocation, owner: new WeakRef(fresh) });
  return fresh;
}
