/**
 * DLPack, in: `fromDlpack`, which takes managed tensors of other libraries of this process by their pointers.
 *
 * Who takes a tensor calls its deleter, once: when the last array over it is gone, and the work that uses it done.
 */
import { hostFunction, hostOnly } from '../compiler/intrinsics.ts';
import type { DType, Scalar } from '../dtype/index.ts';
import { dataClassOf } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import type { Ffi } from '../ffi/ffi.ts';
import { extentOf } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { keepInPlace, whenCollected } from '../memory/host/exposed.ts';
import { allocationSite } from '../memory/leaks.ts';
import { Allocation, MemoryOwner } from '../memory/owner.ts';
import { flag, ownValue, readOptions } from '../options.ts';
import { show } from '../show.ts';
import { DeviceNDArray } from './device-array.ts';
import { deviceOf, newArrayLike } from './device-create.ts';
import {
  checkDlpackVersion,
  consume,
  type DlpackCapsule,
  deleteTensor,
  dlpackFfi,
  exportDlpack,
  exportedMemory,
  type ToDlpackOptions,
  usedTensor,
} from './dlpack-export.ts';
import {
  DL_CPU,
  DL_CUDA,
  DL_CUDA_HOST,
  DL_CUDA_MANAGED,
  type DlpackTensor,
  type DlpackVersion,
  readTensor,
} from './dlpack-struct.ts';
import { NDArray } from './ndarray.ts';

export type { DlpackCapsule, ToDlpackOptions } from './dlpack-export.ts';
export type { DlpackVersion } from './dlpack-struct.ts';

/** Options of `fromDlpack`. */
export interface FromDlpackOptions {
  /** Of a bare pointer: 1 (default) is a DLManagedTensorVersioned, 0 a DLManagedTensor. */
  readonly version?: DlpackVersion | undefined;
  /** True: an array with memory of its own; the tensor is deleted at once. */
  readonly copy?: boolean | undefined;
}

/** Tensors of others that were taken and not deleted yet. */
const held = new Set<number>();

/** Memory borrowed from a tensor; it is counted by whoever allocated it. */
class BorrowedAllocation extends Allocation {
  readonly #context: Context;
  readonly #giveBack: () => void;

  constructor(context: Context, pointer: number, giveBack: () => void) {
    super(context, pointer, 0, allocationSite(0));
    this.#context = context;
    this.#giveBack = giveBack;
  }

  override destroy(): void {
    this.#context.freed(this);
    // Its owner knows nothing of our streams.
    this.finishUses(true);
    this.#giveBack();
  }
}

function toTensor(array: DeviceNDArray<never> | DeviceNDArray, options?: ToDlpackOptions): Required<DlpackCapsule> {
  if (array instanceof DeviceNDArray) return exportDlpack(array, options);
  throw new TsambaTypeError('E_DLPACK', 'toDlpack needs a device array: toDevice() makes one of a host array');
}

/**
 * A DLPack tensor for other libraries of this process: `cuda.toDlpack(d).pointer`. It keeps the memory alive until the library that takes
 * it calls its deleter; `release()` is for tensors that nobody took. Nothing is copied. Waits for the work that uses the array.
 * @throws NotSupportedError without koffi, on devices whose memory DLPack has no name for, and for structs.
 * @example
 * if (cuda.isAvailable()) {
 *   const { pointer } = cuda.toDlpack(cuda.deviceArray(4, f32)); // for a library that takes DLPack tensors
 * }
 */
export const toDlpack: typeof toTensor = /* @__PURE__ */ hostOnly('cuda.toDlpack', toTensor);

/** Takes a DLPack tensor. */
export type FromDlpack = (
  source: DlpackCapsule | number | bigint,
  options?: FromDlpackOptions,
) => DeviceNDArray | NDArray;

export function fromDlpackOf(devices: DeviceSelection): FromDlpack {
  return hostFunction(devices, 'fromDlpack', (source, options = {}) => take(devices.currentContext(), source, options));
}

function take(
  context: Context,
  source: DlpackCapsule | number | bigint,
  options: FromDlpackOptions,
): DeviceNDArray | NDArray {
  const read = readOptions('fromDlpack', options, ['version', 'copy']);
  const { version: stated } = read;
  const copies = flag('copy', read.copy);
  const { pointer, version } = readSource(context, source, stated);
  const taken = typeof source === 'object' ? consume(source) : undefined;
  const own = exportedMemory(pointer);
  const array = own === undefined ? takeForeign(context, pointer, version, copies === true) : overOwn(own, pointer);
  taken?.();
  if (copies !== true || !(array instanceof DeviceNDArray)) return array;
  const copy = newArrayLike(context, array, undefined);
  copy.copyToDevice(array);
  array.dispose();
  // A copy is asked for to be rid of the tensor.
  array.context.deallocations.clear();
  return copy;
}

function readSource(context: Context, source: unknown, stated: unknown): { pointer: number; version: DlpackVersion } {
  // An array has a pointer too: to its elements.
  const isCapsule = typeof source === 'object' && source !== null && deviceOf(source, context) === undefined;
  const given = isCapsule ? ownValue(source, 'pointer') : source;
  const version = (isCapsule ? ownValue(source, 'version') : undefined) ?? stated ?? 1;
  checkDlpackVersion('fromDlpack', version);
  const pointer = typeof given === 'bigint' ? Number(given) : given;
  if (typeof pointer === 'number' && Number.isSafeInteger(pointer) && mayPoint(pointer)) return { pointer, version };
  throw new TsambaTypeError(
    'E_DLPACK',
    `fromDlpack needs the pointer to a managed tensor, or an object { pointer, version }, got ${show(given ?? source)}`,
  );
}

/** Structs of pointers are aligned to 8 bytes, and no system maps the first page: reading there would end the process. */
function mayPoint(pointer: number): boolean {
  return pointer >= 4096 && pointer % 8 === 0;
}

/** A tensor that was made here: its memory is known. */
function overOwn(memory: NonNullable<ReturnType<typeof exportedMemory>>, pointer: number): DeviceNDArray {
  const { context, owner, pointer: address, readOnly, shape, strides, dtype } = memory;
  const gpuData = { context, owner, address, readOnly };
  const array = new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { gpuData });
  deleteTensor(pointer);
  return array;
}

function takeForeign(
  context: Context,
  pointer: number,
  version: DlpackVersion,
  copy: boolean,
): DeviceNDArray | NDArray {
  if (held.has(pointer)) throw usedTensor();
  const ffi = dlpackFfi('fromDlpack');
  const { tensor, deleter } = readTensor(ffi, pointer, version);
  let over = false;
  const giveBack = (): void => {
    if (over) return;
    over = true;
    held.delete(pointer);
    if (deleter !== 0n) ffi.call(deleter, 'void (void *)', pointer);
  };
  const onHost = tensor.deviceType === DL_CPU || tensor.deviceType === DL_CUDA_HOST;
  // Host arrays cannot be read-only.
  const copied = onHost && (copy || tensor.readOnly);
  const array = onHost ? takeHost(ffi, tensor, giveBack, copied) : takeDevice(context, tensor, giveBack);
  held.add(pointer);
  if (copied || tensor.shape.includes(0)) giveBack();
  return array;
}

function takeDevice(context: Context, tensor: DlpackTensor, giveBack: () => void): DeviceNDArray {
  const { address, deviceType, deviceIndex, shape, strides, dtype, readOnly } = tensor;
  const { kind, index, name } = context.info;
  const isCuda = deviceType === DL_CUDA || deviceType === DL_CUDA_MANAGED;
  if (!isCuda || kind !== 'nvidia' || (deviceType === DL_CUDA && deviceIndex !== index)) {
    const where = isCuda ? `CUDA device ${deviceIndex}` : `a device of DLPack's type ${deviceType}`;
    const remedy = isCuda && kind === 'nvidia' ? `cuda.selectDevice(${deviceIndex})` : 'copy it to the host there';
    throw new NotSupportedError(
      'E_DLPACK',
      `fromDlpack: the tensor is on ${where}, the current device is ${name}: ${remedy}`,
    );
  }
  const { low, bytes } = extentOf(shape, strides, dtype.itemSize);
  if (bytes === 0) return new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { gpuData: context });
  const allocation = context.own(new BorrowedAllocation(context, address + low, giveBack));
  const owner = new MemoryOwner(context, allocation, bytes);
  const gpuData = { context, owner, address, readOnly };
  return new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { gpuData });
}

function takeHost(ffi: Ffi, tensor: DlpackTensor, giveBack: () => void, copy: boolean): NDArray {
  const { address, shape, strides, dtype } = tensor;
  const { low, bytes } = extentOf(shape, strides, dtype.itemSize);
  const layout = { shape, strides, offset: -low };
  const DataClass = dataClassOf(dtype);
  if (bytes === 0) return new NDArray(new DataClass(new ArrayBuffer(0)), dtype as DType<Scalar>, layout);
  const borrowed = ffi.view(address + low, bytes);
  const buffer = copy ? borrowed.slice(0) : borrowed;
  if (!copy) {
    keepInPlace(buffer);
    whenCollected(buffer, giveBack);
  }
  return new NDArray(new DataClass(buffer), dtype as DType<Scalar>, layout);
}
