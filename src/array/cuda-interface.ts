/**
 * The CUDA array interface, in and out: how libraries in one process borrow device arrays from each other.
 *
 * Out: `describeDeviceMemory` makes the dictionary of version 3. In: `foreignMemory` reads one of versions 0 to 3 as device
 * memory, checked. On devices whose memory no other library can reach the address is an object that only Tsamba understands.
 * https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
 */
import { type Descr, type DType, descrOf, dtypeOfDescr } from '../dtype/index.ts';
import { switchFromEnvironment } from '../environment.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { cStrides, extentOf, isCContiguous, normalizeShape, normalizeStrides, sizeOf } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { Allocation, MemoryOwner } from '../memory/owner.ts';
import { describes, ownValue } from '../options.ts';
import { show } from '../show.ts';
import { externalStreamIn, Stream } from '../stream/stream.ts';
import { boundStream, type DeviceMemory } from './device-memory.ts';

/** What `__cuda_array_interface__` is, version 3. */
export interface CudaArrayInterface {
  /** Length of each axis, in elements. */
  readonly shape: readonly number[];
  /** NumPy's array-protocol string: `'<f4'`. */
  readonly typestr: string;
  /** Address of the first element (0 when there is none) and whether it may only be read. */
  readonly data: readonly [address: number | bigint | object, readOnly: boolean];
  /** Bytes; null where the elements lie in C order without gaps. */
  readonly strides: readonly number[] | null;
  /** The fields of a struct, as in NumPy's `dtype.descr`. */
  readonly descr?: Descr | undefined;
  /** The CUstream that the data is ready on; 1 is the legacy default stream; null: nothing to wait for. */
  readonly stream: number | bigint | null;
  /** Version of the interface: 3 on export; 0 to 3 are accepted. */
  readonly version: number;
}

/** An object that exports its device memory. */
export interface CudaArrayLike {
  /** A `CudaArrayInterface`; what another library sets here is checked when it is read. */
  readonly __cuda_array_interface__: unknown;
}

const LEGACY = 1;
const PER_THREAD = 2;

/** An address on a device whose memory is not one that other libraries could reach. */
class DeviceHandle {
  readonly #memory: DeviceMemory;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  static memoryOf(value: unknown): DeviceMemory | undefined {
    return typeof value === 'object' && value !== null && #memory in value ? value.#memory : undefined;
  }

  toString(): string {
    return `[memory of ${this.#memory.context.info.name}: only Tsamba can use this handle]`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Whether addresses of this context mean something to other libraries of the process. */
function hasRealAddresses(context: Context): boolean {
  return context.info.features.externalStreams;
}

/** The interface of device memory. */
export function describeDeviceMemory(array: DeviceMemory): CudaArrayInterface {
  array.checkUsable();
  const { context, shape, strides, dtype, itemSize, size } = array;
  const address = size === 0 ? 0 : hasRealAddresses(context) ? array.pointer : new DeviceHandle(array);
  return {
    shape: [...shape],
    typestr: dtype.typestr,
    data: [address, array.readOnly],
    strides: isCContiguous(shape, strides, itemSize) ? null : [...strides],
    ...(dtype.fields === undefined ? {} : { descr: descrOf(dtype) }),
    stream: array.stream === undefined ? null : nativeStream(boundStream(array)),
    version: 3,
  };
}

/** Of the default stream (undefined), and where there are no addresses: the legacy default stream's. */
function nativeStream(stream: Stream | undefined): number | bigint {
  const { address } = stream?.handle ?? {};
  return address === undefined || address === 0n ? LEGACY : Number(address);
}

/**
 * Whether a value has the attribute `__cuda_array_interface__`; what it says is not verified. Numba: `is_cuda_array`.
 * @example
 * console.log(cuda.isCudaArray(cuda.deviceArray(4, f32)), cuda.isCudaArray(new Float32Array(4))); // true false
 */
export function isCudaArray(value: unknown): value is CudaArrayLike {
  return typeof value === 'object' && value !== null && describes(value, '__cuda_array_interface__');
}

/** Whether importing waits for the exporter's stream unless told otherwise. Numba: `NUMBA_CUDA_ARRAY_INTERFACE_SYNC`. */
function synchronizesByDefault(): boolean {
  return switchFromEnvironment(['TSAMBA_CUDA_ARRAY_INTERFACE_SYNC', 'NUMBA_CUDA_ARRAY_INTERFACE_SYNC']) ?? true;
}

/**
 * The device memory that an object of another library exports, on the device of a context; undefined when it exports none. It is not copied, and the object is kept
 * alive as long as the memory is used. `sync`: waits for the stream that the data is made on.
 * @throws TypeError, RangeError for an interface that is not sound, NotSupportedError for masked arrays.
 */
export function foreignMemory(value: unknown, context: Context, sync = true): DeviceMemory | undefined {
  if (!isCudaArray(value)) return undefined;
  const described = readInterface(value.__cuda_array_interface__);
  const { shape, strides, dtype, readOnly } = described;
  const { low, bytes } = extentOf(shape, strides, dtype.itemSize);
  const own = DeviceHandle.memoryOf(described.address);
  if (own !== undefined) checkOwn(own, low, bytes);
  const owner = own?.owner ?? ownerOf(context, described.address, low, bytes, value);
  const named = streamOf(described.stream, context);
  const stream = own === undefined ? named : boundStream(own);
  if (sync && synchronizesByDefault()) stream?.synchronize();
  return {
    context: own?.context ?? context,
    owner,
    pointer: own?.pointer ?? (bytes === 0 ? 0 : Number(described.address)),
    shape,
    strides,
    dtype,
    itemSize: dtype.itemSize,
    size: sizeOf(shape),
    readOnly: readOnly || (own?.readOnly ?? false),
    stream,
    checkUsable: () => own?.checkUsable(),
  };
}

/** An interface that was made here is plain data: it may have been changed, and may outlive its array. */
function checkOwn(array: DeviceMemory, low: number, bytes: number): void {
  array.checkUsable();
  const first = array.pointer + low - array.owner.address;
  if (bytes === 0 || (first >= 0 && first + bytes <= array.owner.bytes)) return;
  throw new TsambaRangeError(
    'E_BOUNDS',
    `__cuda_array_interface__: shape and strides span bytes ${first} to ${first + bytes} of memory that has ${array.owner.bytes} bytes`,
  );
}

function ownerOf(context: Context, address: unknown, low: number, bytes: number, externalOwner: object): MemoryOwner {
  if (bytes === 0) return context.noMemory;
  if (!hasRealAddresses(context)) {
    throw new TsambaTypeError(
      'E_CUDA_ARRAY',
      `__cuda_array_interface__ holds an address, which ${context.info.name} cannot reach: copy the array to the host with the ` +
        'library that made it, then toDevice()',
    );
  }
  const start = Number(address);
  if (!(Number.isSafeInteger(start) && start > 0)) {
    throw new TsambaRangeError(
      'E_CUDA_ARRAY',
      `__cuda_array_interface__: data[0] must be the address of the first element, got ${show(address)}`,
    );
  }
  // Not this context's own: nothing is freed when the last array over it goes.
  const owner = new MemoryOwner(context, new Allocation(context, start + low, 0, undefined), bytes);
  owner.externalOwner = externalOwner;
  return owner;
}

/** The entries of an interface that say something here. */
const REQUIRED = ['shape', 'typestr', 'data', 'version'];
const INTERFACE = [...REQUIRED, 'strides', 'descr', 'mask', 'stream'];

interface Interface {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dtype: DType;
  readonly address: unknown;
  readonly readOnly: boolean;
  readonly stream: unknown;
}

function readInterface(given: unknown): Interface {
  if (typeof given !== 'object' || given === null) {
    throw new TsambaTypeError('E_CUDA_ARRAY', `__cuda_array_interface__ must be an object, got ${show(given)}`);
  }
  const entry = Object.fromEntries(INTERFACE.map((name) => [name, ownValue(given, name)]));
  for (const name of REQUIRED) {
    if (entry[name] === undefined || entry[name] === null) {
      throw new TsambaTypeError('E_CUDA_ARRAY', `__cuda_array_interface__ has no \`${name}\``);
    }
  }
  const version = Number(entry['version']);
  if (!(Number.isInteger(version) && version >= 0)) {
    throw new TsambaTypeError(
      'E_CUDA_ARRAY',
      `__cuda_array_interface__: version must be 0 to 3, got ${show(entry['version'])}`,
    );
  }
  // Version 0 knew no masks.
  if (version > 0 && entry['mask'] !== undefined && entry['mask'] !== null) {
    throw new NotSupportedError(
      'E_CUDA_ARRAY_MASK',
      'masked arrays are not supported: pass the data and the mask as two arrays',
    );
  }
  const dtype = dtypeOfDescr(entry['typestr'], entry['descr']);
  const shape = normalizeShape(entry['shape'] as Iterable<number>, dtype.itemSize);
  const strides = entry['strides'] ?? undefined;
  const { data } = entry;
  if (!Array.isArray(data) || data.length < 2) {
    throw new TsambaTypeError('E_CUDA_ARRAY', '__cuda_array_interface__: data must be [address, readOnly]');
  }
  return {
    shape,
    strides:
      strides === undefined
        ? cStrides(shape, dtype.itemSize)
        : normalizeStrides(strides as Iterable<number>, shape.length),
    dtype,
    address: data[0] as unknown,
    readOnly: Boolean(data[1]),
    // Before version 3 there was no such entry.
    stream: version >= 3 ? entry['stream'] : undefined,
  };
}

/** The stream that an interface names; undefined for none. */
function streamOf(given: unknown, context: Context): Stream | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'bigint' && !Number.isSafeInteger(given)) {
    throw new TsambaTypeError(
      'E_CUDA_ARRAY',
      `__cuda_array_interface__: stream must be an integer or null, got ${show(given)}`,
    );
  }
  const handle = given as number | bigint;
  if (Number(handle) === 0) {
    throw new TsambaRangeError(
      'E_CUDA_ARRAY',
      '__cuda_array_interface__: stream 0 is not allowed, since it may mean two things: 1 is the legacy default stream, 2 the per-thread one',
    );
  }
  // Where all work is done at once there is nothing to wait for.
  if (!hasRealAddresses(context)) return undefined;
  if (Number(handle) === LEGACY) return new Stream(context, 'legacy');
  return Number(handle) === PER_THREAD ? new Stream(context, 'per-thread') : externalStreamIn(context, handle);
}
