/**
 * The driver contract: everything that a kind of device must do for Tsamba, and all that the layers above may ask of it.
 *
 * A driver turns device memory, streams, events and compiled kernels of one kind of hardware into the calls below. The
 * layers above it (memory, stream, array, kernel) know no other door to a device. A new backend is one folder beside this
 * file, one renderer, and a green conformance suite. Pointers are device addresses as plain numbers or bigints; nothing
 * above a driver does more with them than add a byte offset.
 */
import type { Kernel } from '../compiler/ir/ops.ts';

/** A device address. `0` is the null pointer. */
export type Pointer = number | bigint;

export type DeviceKind = 'nvidia' | 'opencl' | 'hip' | 'cpu' | 'simulator';

/** Limits that launches are validated against. */
export interface DeviceLimits {
  readonly maxThreadsPerBlock: number;
  readonly maxBlockDim: readonly [number, number, number];
  readonly maxGridDim: readonly [number, number, number];
  /** Bytes of static and dynamic shared memory together that a block may have. */
  readonly maxSharedBytesPerBlock: number;
  readonly warpSize: number;
  readonly multiprocessors: number;
  /** Bytes of device memory. */
  readonly totalMemory: number;
}

export interface DeviceInfo {
  readonly kind: DeviceKind;
  readonly name: string;
  readonly index: number;
  readonly limits: DeviceLimits;
  /** `[9, 0]` on NVIDIA. */
  readonly computeCapability?: readonly [number, number] | undefined;
}

/** Opaque to everybody but the driver that made it. */
export interface StreamHandle {
  readonly stream: unknown;
}
export interface EventHandle {
  readonly event: unknown;
}

/** What a driver is asked to compile. */
export interface Program {
  readonly kernel: Kernel;
  /** Launches must not exceed it; drivers may specialise. */
  readonly launchBounds?: number | undefined;
  readonly maxRegisters?: number | undefined;
}

export type Dim3 = readonly [x: number, y: number, z: number];

export interface LaunchShape {
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
}

/** One value a `Kernel.params` entry, in order: pointers and 64-bit integers may be number or bigint, bool is boolean. */
export type LaunchArgs = readonly (number | bigint | boolean)[];

/** A kernel loaded on a device. */
export interface Executable {
  /** Enqueues one launch; the shape has been validated. Faults are reported by the next synchronising call. */
  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void;
  /** Generated code for `kernel.inspect`: `'wasm'`, `'ptx'`, `'opencl'`, `'js'`. Undefined when not this driver's. */
  inspect(target: string): string | undefined;
  readonly attributes: ExecutableAttributes;
  unload(): void;
}

export interface ExecutableAttributes {
  /** Registers a thread; 0 where the notion does not exist. */
  readonly registers: number;
  readonly sharedBytes: number;
  readonly localBytes: number;
  readonly constBytes: number;
  readonly maxThreadsPerBlock: number;
}

/** A rectangular set of elements in memory, for strided copies: byte strides, which may be zero or negative. */
export interface StridedRegion {
  /** Extents, outermost first, the same for both sides of a copy. */
  readonly shape: readonly number[];
  readonly itemSize: number;
}

/**
 * One open device. All calls may throw DriverError. Where `stream` is undefined the call is synchronous with respect to the
 * host: copies have been done when it returns. Otherwise it is enqueued, and the host memory named must stay alive and
 * unchanged until the stream has come that far.
 */
export interface DeviceDriver {
  readonly info: DeviceInfo;

  // memory
  /** At least 16-byte aligned; throws OutOfMemoryError. `bytes` > 0. */
  allocate(bytes: number, stream?: StreamHandle): Pointer;
  free(pointer: Pointer, stream?: StreamHandle): void;
  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number };

  // copies; `stream` as said above. Contiguous bytes:
  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void;
  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void;
  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void;
  /** Element-exact: touches no byte outside the elements. Offsets are bytes to the first element. */
  copyToDeviceStrided(
    target: Pointer,
    targetStrides: readonly number[],
    source: Uint8Array,
    sourceOffset: number,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void;
  copyToHostStrided(
    target: Uint8Array,
    targetOffset: number,
    targetStrides: readonly number[],
    source: Pointer,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void;
  /** Overlapping source and target behave as if the source had been copied out first. */
  copyOnDeviceStrided(
    target: Pointer,
    targetStrides: readonly number[],
    source: Pointer,
    sourceStrides: readonly number[],
    region: StridedRegion,
    stream?: StreamHandle,
  ): void;
  /** Writes `pattern` (1, 2, 4, 8 or 16 bytes) to every element of a strided region. */
  fillStrided(
    target: Pointer,
    strides: readonly number[],
    region: StridedRegion,
    pattern: Uint8Array,
    stream?: StreamHandle,
  ): void;

  // streams and events
  createStream(): StreamHandle;
  destroyStream(stream: StreamHandle): void;
  /** Blocks until the stream has run dry, then throws what went wrong on it, if anything did. */
  synchronizeStream(stream: StreamHandle): void;
  /** Whether the stream has run dry. */
  queryStream(stream: StreamHandle): boolean;
  createEvent(timing: boolean): EventHandle;
  destroyEvent(event: EventHandle): void;
  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void;
  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void;
  queryEvent(event: EventHandle): boolean;
  synchronizeEvent(event: EventHandle): void;
  /** Milliseconds between two recorded timing events. */
  elapsedTime(start: EventHandle, end: EventHandle): number;
  /** Blocks until all work of this device is done, then throws what went wrong, if anything did. */
  synchronize(): void;

  // kernels
  /** Whether kernels are compiled in checked mode unless the user says otherwise. */
  readonly checkedByDefault: boolean;
  /** Whether a*b+c is fused unless the user says otherwise. */
  readonly contractByDefault: boolean;
  load(program: Program): Executable;

  /** Frees everything; the driver can not be used afterwards. */
  close(): void;
}

/** A kind of device: found on this machine or not, opened by index. */
export interface DriverProvider {
  readonly kind: DeviceKind;
  /** How many devices of this kind there are; 0 with a reason when none. */
  probe(): { readonly count: number; readonly reason?: string | undefined };
  open(index: number): DeviceDriver;
}
