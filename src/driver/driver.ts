/**
 * The driver contract: everything that a kind of device must do for Tsamba, and all that the layers above may ask of it.
 *
 * A driver turns device memory, streams, events and compiled kernels of one kind of hardware into the calls below. The
 * layers above it (memory, stream, array, kernel) know no other door to a device. A new one is a folder beside this
 * file, a row of `DEVICE_KINDS`, its provider in `memory/providers.ts`, a renderer or an interpreter for its kernels,
 * and a green conformance suite. Pointers are device addresses as plain numbers or bigints; nothing above a driver does
 * more with them than add a byte offset.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import type { DriverError } from '../errors.ts';

/** A device address. `0` is the null pointer. */
export type Pointer = number | bigint;

/** Kinds of hardware and of standing in for it; each has one provider. */
export type DeviceKind = 'nvidia' | 'opencl' | 'hip' | 'webgpu' | 'cpu' | 'simulator';

/** What the layers above know of a kind before there is a device. */
export interface KindFacts {
  /** What users call its devices. */
  readonly name: string;
  /** This process is the device: no hardware of its own, and memory that is JavaScript's. */
  readonly inProcess: boolean;
}

/** A row for each kind, in the order in which they are listed. All that asks for a kind by name reads this. */
export const DEVICE_KINDS: Readonly<Record<DeviceKind, KindFacts>> = {
  nvidia: { name: 'NVIDIA GPU', inProcess: false },
  opencl: { name: 'OpenCL device', inProcess: false },
  hip: { name: 'HIP device', inProcess: false },
  webgpu: { name: 'WebGPU device', inProcess: false },
  cpu: { name: 'CPU device', inProcess: true },
  simulator: { name: 'simulator', inProcess: true },
};

/** Every kind, as `selectDevice` and the environment name them. */
export const KIND_NAMES: readonly DeviceKind[] = Object.keys(DEVICE_KINDS) as DeviceKind[];

/** Limits that launches are validated against. */
export interface DeviceLimits {
  /** The most threads that a block may have, over all axes. */
  readonly maxThreadsPerBlock: number;
  /** The most threads that a block may have along x, y and z. */
  readonly maxBlockDim: readonly [number, number, number];
  /** The most blocks that a grid may have along x, y and z. */
  readonly maxGridDim: readonly [number, number, number];
  /** Bytes of static and dynamic shared memory together that a block may have. */
  readonly maxSharedBytesPerBlock: number;
  /** Threads per warp: 32. */
  readonly warpSize: number;
  /** Multiprocessors (compute units) of a GPU; threads that share the blocks on the CPU device. */
  readonly multiprocessors: number;
  /** Bytes of device memory. */
  readonly totalMemory: number;
}

/** What a device is called and can do; does not change while it is open. */
export interface DeviceInfo {
  /** What kind of device it is: `'cpu'`, `'nvidia'`, …. */
  readonly kind: DeviceKind;
  /** The name that the driver gives the hardware. */
  readonly name: string;
  /** Number among the devices of its kind. */
  readonly index: number;
  /** What launches are checked against. */
  readonly limits: DeviceLimits;
  /** `[9, 0]` on NVIDIA. */
  readonly computeCapability?: readonly [number, number] | undefined;
  /** `GPU-` and 32 hexadecimal digits, as `nvidia-smi -L` prints it. */
  readonly uuid?: string | undefined;
  /** `0000:3b:00.0`. */
  readonly pciBusId?: string | undefined;
  /** The newest version that the driver of the hardware supports: `CUDA 13.0`. */
  readonly driverVersion?: string | undefined;
  /** What the device does without here, and why: one thread where no others are permitted. */
  readonly restriction?: string | undefined;
  /** What stands behind devices of kinds that many vendors make; absent elsewhere. */
  readonly hardware?: HardwareInfo | undefined;
  /** Whether kernels have f64; absent: they do. */
  readonly f64?: boolean | undefined;
  /** What code for the device goes around, because its compiler was found to get it wrong; absent for nothing. */
  readonly workarounds?: readonly string[] | undefined;
  /** What the driver can do beyond the rest of the contract; the calls of what it cannot do throw NotSupportedError. */
  readonly features: DeviceFeatures;
}

/** What an OpenCL, HIP or WebGPU device is made of. */
export interface HardwareInfo {
  /** What the hardware is. */
  readonly type: 'gpu' | 'cpu' | 'other';
  /** Who made the hardware. */
  readonly vendor: 'amd' | 'nvidia' | 'intel' | 'other';
}

/** Parts of the contract that not every kind of device has. */
export interface DeviceFeatures {
  /** Memory is allocated and freed in the order of a stream. */
  readonly streamOrdered: boolean;
  /** `share` and `openShared`: another process can open the memory. */
  readonly ipc: boolean;
  /** `LaunchShape.cooperative`: all blocks of a grid run at the same time and can wait for each other. */
  readonly cooperative: boolean;
  /** `externalStream` takes a stream that another library made. */
  readonly externalStreams: boolean;
  /** The device reads and writes this process's own arrays in place, once they are registered. */
  readonly mapsHostMemory: boolean;
  /** Kernels can be ended: `LaunchShape.timeout`, and `launchLater` is there. */
  readonly stopsKernels: boolean;
  /** A thread may wait for the device: all of `BlockingCalls` is there. False where answers come by the event loop alone. */
  readonly hostCanWait: boolean;
}

/** Whose blocks start first, where streams compete. */
export type StreamPriority = 'normal' | 'high';

/** A queue of work; opaque to everybody but the driver that made it. */
export interface StreamHandle {
  /** The driver's own object. */
  readonly stream: unknown;
  /** The stream as other libraries know it (a CUstream); absent where there is no such thing. */
  readonly address?: bigint | undefined;
}
/** A mark in a stream; opaque likewise. */
export interface EventHandle {
  /** The driver's own object. */
  readonly event: unknown;
}

/** How `allocateHost` makes memory that both sides reach. */
export interface HostMemoryOptions {
  /**
   * `pinned`: the device copies to and from it at full speed. `mapped`: it also reads and writes it in place. `managed`: the driver moves
   * its pages to whoever touches them.
   */
  readonly kind: 'pinned' | 'mapped' | 'managed';
  /** `pinned`, `mapped`: pinned for all contexts. */
  readonly portable?: boolean | undefined;
  /** `pinned`, `mapped`: not cached by the host; quick to write, very slow to read. */
  readonly writeCombined?: boolean | undefined;
  /** `managed`: any stream of any device may use it; otherwise the host only until it is attached. */
  readonly attachGlobal?: boolean | undefined;
}

/** Host memory that the device knows of. Its handle is opaque to everybody but the driver that made it. */
export interface HostMemory {
  readonly host: unknown;
  /** The bytes as the host sees them. */
  readonly bytes: Uint8Array;
  /** The same bytes as the device sees them; undefined where only copies use the memory. */
  readonly pointer: Pointer | undefined;
}

/** What a driver is asked to compile. */
export interface Program {
  readonly kernel: Kernel;
  /** Threads of a block at most; drivers may make code for that. */
  readonly launchBounds?: number | undefined;
  /** Blocks of so many threads that a multiprocessor shall hold at least, at the price of registers; no matter where there is no occupancy. */
  readonly minBlocks?: number | undefined;
  /** Blocks of a cluster; no matter if there are none. */
  readonly cluster?: Dim3 | undefined;
  /** Percent of the memory that caches and shared memory share that should be shared; no matter where it is not divided. */
  readonly sharedCarveout?: number | undefined;
  /** Registers of a thread at most; no matter if there are none. */
  readonly maxRegisters?: number | undefined;
  /** Whether code names lines of the author's file, for profilers, debuggers and sanitizers; undefined: where one of these has started the process. */
  readonly lineInfo?: boolean | undefined;
  /** What profilers and messages call the kernel; the kernel's own name when absent. */
  readonly name?: string | undefined;
}

/** Numbers along x, y and z, 1 where an axis is not used. */
export type Dim3 = readonly [x: number, y: number, z: number];

/** How many blocks of how many threads run. */
export interface LaunchShape {
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Bytes of dynamic shared memory. */
  readonly sharedBytes: number;
  /** Whether an array that the kernel only reads may share memory with one that it writes; absent: no. */
  readonly aliased?: boolean | undefined;
  /** Where it is that of the executable's last launch, so are the arguments; absent or -1: they may be others. */
  readonly argsVersion?: number | undefined;
  /** Milliseconds after which a device with the feature `stopsKernels` ends the kernel, counted from when it begins; absent or 0: never. */
  readonly timeout?: number | undefined;
}

/** A launch that goes on while the program does. */
export interface PendingLaunch {
  /** Resolves when the kernel is done; rejects with what went wrong in it, or with what it was stopped for. */
  readonly done: Promise<void>;
  /** Ends the kernel, wherever it is. What it has written stays. */
  stop(reason: DriverError): void;
}

/** One value a `Kernel.params` entry, in order: pointers and 64-bit integers may be number or bigint, bool is boolean. */
export type LaunchArgs = readonly (number | bigint | boolean)[];

/** A kernel loaded on a device. */
export interface Executable {
  /**
   * Enqueues one launch; the shape has been validated. Faults are reported by the next synchronising call. Must not keep `shape`
   * and `args` after it returns: callers fill the same objects again for the next launch.
   */
  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void;
  /**
   * As `launch`, where that runs the kernel and does not only enqueue it: leaves the event loop alone. `onProgress` is told from the
   * event loop, now and then, how many blocks are done. A fault goes to `done` and to those who wait for the stream already.
   */
  launchLater?(
    shape: LaunchShape,
    args: LaunchArgs,
    stream: StreamHandle | undefined,
    onProgress: ((done: number) => void) | undefined,
  ): PendingLaunch;
  /**
   * Makes what launches of this shape need beside what was loaded, so that they find it. Throws MissingPart where a page has not loaded what makes it. Absent where all is made by `load`, and where
   * nothing is loaded later.
   */
  prepare?(shape: LaunchShape): void;
  /** Generated code for `kernel.inspect`: `'wasm'`, `'ptx'`, `'opencl'`, `'js'`. Undefined when not this driver's. */
  inspect(target: string): string | undefined;
  readonly attributes: ExecutableAttributes;
  /** Threads a block with which most of the device is busy, for `forAll`; at most `limit`. CUDA's occupancy calculator where there is one. */
  suggestBlock(sharedBytes: number, limit: number): number;
  /** Blocks of `threads` threads that one multiprocessor holds at the same time. CUDA's `cuOccupancyMaxActiveBlocksPerMultiprocessor`. */
  activeBlocks(threads: number, sharedBytes: number): number;
  /** Gives up code and constants; launching afterwards is an error. Calling it again does nothing. */
  unload(): void;
}

/** What a kernel takes of a device: bytes per block (shared), thread (local) and launch (constant). */
export interface ExecutableAttributes {
  /** Registers per thread; 0 where the notion does not exist. */
  readonly registers: number;
  /** Bytes of static shared memory per block. */
  readonly sharedBytes: number;
  /** Bytes of local memory per thread. */
  readonly localBytes: number;
  /** Bytes of constant memory that the kernel uses. */
  readonly constBytes: number;
  /** The most threads of a block that this kernel can be launched with on the device. */
  readonly maxThreadsPerBlock: number;
}

/** Where the elements of one side of a strided copy are. */
export interface StridedSide {
  /** Bytes from an element to the next along each axis, outermost axis first; they may be zero or negative. */
  readonly strides: readonly number[];
}

/** Elements in device memory. */
export interface DeviceSide extends StridedSide {
  /** Address of the first element. */
  readonly pointer: Pointer;
}

/** Elements in host memory. */
export interface HostSide extends StridedSide {
  /** All elements lie in here. */
  readonly bytes: Uint8Array;
  /** Bytes from the start of `bytes` to the first element. */
  readonly offset: number;
}

/** A copy of a rectangular set of elements: both sides have the same shape, each has strides of its own. */
export interface StridedCopy<Target extends StridedSide, Source extends StridedSide> {
  readonly target: Target;
  readonly source: Source;
  /** Elements along each axis, outermost first. */
  readonly shape: readonly number[];
  /** Bytes of an element. */
  readonly itemSize: number;
}

/** A value for every element of a rectangular set. */
export interface StridedFill<Target extends StridedSide> {
  readonly target: Target;
  /** Elements along each axis, outermost first. */
  readonly shape: readonly number[];
  /** The bytes of an element: 1, 2, 4, 8 or 16. */
  readonly pattern: Uint8Array;
}

/** Types of elements that a library multiplies. */
export type ProductType = 'f16' | 'bf16' | 'f32' | 'f64' | 'c64' | 'c128';

/** A matrix, or several at equal distances, which are counted in elements. */
export interface ProductMatrix {
  readonly pointer: Pointer;
  readonly type: ProductType;
  /** Whether columns lie in a piece each, instead of rows. */
  readonly turned: boolean;
  /** From row to row; of one that is turned, from column to column. */
  readonly step: number;
  /** From matrix to matrix. */
  readonly next: number;
}

/** `C[z] = A[z] · B[z]`, of `m × k` and `k × n` elements, for `count` matrices. C is not turned, and overlaps neither A nor B. */
export interface MatrixProduct {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly count: number;
  readonly a: ProductMatrix;
  readonly b: ProductMatrix;
  readonly c: ProductMatrix;
}

/** The vendor's library of products of matrices, by its name and version; or why there is none. */
export type ProductLibrary =
  | { readonly name: string; readonly reason?: undefined }
  | { readonly name?: undefined; readonly reason: string };

/** One piece of work, as it was asked for. What it names must stay alive and where it is until it has been enqueued for the last time. */
export type Work =
  | {
      readonly kind: 'launch';
      readonly executable: Executable;
      readonly shape: LaunchShape;
      readonly args: LaunchArgs;
    }
  | { readonly kind: 'copyToDevice'; readonly target: Pointer; readonly source: Uint8Array }
  | { readonly kind: 'copyToHost'; readonly target: Uint8Array; readonly source: Pointer }
  | { readonly kind: 'copyOnDevice'; readonly target: Pointer; readonly source: Pointer; readonly bytes: number }
  | { readonly kind: 'copyToDeviceStrided'; readonly copy: StridedCopy<DeviceSide, HostSide> }
  | { readonly kind: 'copyToHostStrided'; readonly copy: StridedCopy<HostSide, DeviceSide> }
  | { readonly kind: 'copyOnDeviceStrided'; readonly copy: StridedCopy<DeviceSide, DeviceSide> }
  | { readonly kind: 'fillStrided'; readonly fill: StridedFill<DeviceSide> }
  | { readonly kind: 'multiply'; readonly product: MatrixProduct };

/** Work that was recorded, in an order in which it may be done. */
export type RecordedWork = Work & {
  /** Places in the list of what must be done before; all of them earlier ones. */
  readonly after: readonly number[];
  /** A number for the stream that it was meant for. Work of one lane is in order by `after` alone. */
  readonly lane: number;
};

/** Recorded work that is ready to be enqueued, as often as you like. */
export interface PreparedWork {
  /** How many pieces of the work the device itself keeps; the others are enqueued one by one. */
  readonly kept: number;
  /** Enqueues all of it on a stream; undefined is the default stream. */
  enqueue(stream: StreamHandle | undefined): void;
  /** Puts other work in its place; what has been enqueued stays as it was. */
  replace(work: readonly RecordedWork[]): void;
  /** Gives back what the device keeps; what has been enqueued is done all the same. Calling it again does nothing. */
  destroy(): void;
}

/** What went wrong before a mark, for somebody who waits for that. */
export interface Failure {
  readonly error: unknown;
  /** Whether the device keeps it until somebody has acknowledged it. */
  readonly kept: boolean;
  /** Somebody was told: who begins to wait from now on is not told of it again. */
  acknowledge(): void;
}

/**
 * The calls that block the calling thread until a device has answered. A driver whose features say `hostCanWait` has them all; one
 * that only answers through promises has none, and does without waiting what `copyToHostLater`, `loadLater` and events are for.
 */
export interface BlockingCalls {
  /** Contiguous bytes. */
  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void;
  /** The same of elements with strides: touches no byte outside the elements. */
  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void;
  /** Blocks until the stream has run dry, then throws what went wrong on it, if anything did. */
  synchronizeStream(stream: StreamHandle): void;
  /** Blocks until the mark has been reached, then throws what went wrong before it and nobody was told of yet, if anything did. */
  synchronizeEvent(event: EventHandle): void;
  /** Blocks until the mark has been reached. What went wrong before it stays for others to be told. */
  reachEvent(event: EventHandle): void;
  /** Blocks until all work of this device is done, then throws what went wrong, if anything did. */
  synchronize(): void;
  /** Compiles a verified kernel and puts it on the device. Throws NotSupportedError for what the device cannot do. */
  load(program: Program): Executable;
}

/** A device that a thread may wait for. */
export type BlockingDriver = DeviceDriver & BlockingCalls;

/** Elements of a picture in device memory, row by row without gaps. */
export interface Picture {
  readonly pointer: Pointer;
  readonly width: number;
  readonly height: number;
  /** Red, green, blue, alpha of a pixel: bytes, or f32 from 0 to 1. */
  readonly format: 'rgba8' | 'rgba32f';
}

/** Where a picture of the page goes: its pixels, four bytes each, or four f32 of a texture of floats. */
export interface ImagePlace {
  readonly pointer: Pointer;
  readonly width: number;
  readonly height: number;
  /** A GPUTexture of the device; all else is what browsers copy to one. */
  readonly isTexture: boolean;
}

/** Pixels along each axis of a picture, and in all, at most. */
export interface Largest {
  readonly side: number;
  readonly pixels: number;
}

/** What a WebGPU device shares with the program that runs beside it. */
export interface PageCalls {
  /** The GPUDevice. */
  readonly device: object;
  /** What a canvas can show. */
  readonly largestPicture: Largest;
  /** The GPUBuffer that an address is in, and where. */
  bufferOf(pointer: Pointer): { readonly buffer: object; readonly offset: number };
  /** Makes a GPUBuffer of this device reachable by an address, until `release`; it stays its owner's. Throws TypeError for what is none, or has not all usages. */
  adopt(buffer: unknown): { readonly pointer: number; readonly bytes: number; release(): void };
  /** Enqueues that a canvas shows a picture. `context` is the canvas's own, for WebGPU. */
  present(picture: Picture, context: object): void;
  /** Enqueues that a picture is copied to where it shall be. Throws TypeError for a texture that cannot be read, and what the browser throws. */
  read(place: ImagePlace, image: object): void;
}

/**
 * One open device. All calls may throw DriverError. Where `stream` is undefined the call is synchronous with respect to the
 * host: copies have been done when it returns, and a driver that cannot wait has read the host memory named by then. Otherwise it
 * is enqueued, and the host memory and the description of a copy must stay alive and unchanged until the stream has come that far.
 */
export interface DeviceDriver extends Partial<BlockingCalls> {
  /** What the device is; does not change while it is open. */
  readonly info: DeviceInfo;

  // memory
  /** At least 16-byte aligned; throws OutOfMemoryError. `bytes` > 0. `shareable`: can be given to `share`. */
  allocate(bytes: number, stream?: StreamHandle, shareable?: boolean): Pointer;
  /** Takes back what `allocate` gave, once the stream (undefined: the default stream) has come this far; does not block where memory is stream-ordered. */
  free(pointer: Pointer, stream?: StreamHandle): void;
  /** Bytes: `pooled` are kept for later allocations, and counted in `free`. */
  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number };

  /** Gives freed memory back to the device that the driver keeps where nobody else can have it; absent where it keeps none so. */
  trim?(): void;

  /** Tells a profiler that watches the process that what follows is to be recorded, or no more; absent if there are none. */
  profile?(on: boolean): void;

  /** What the device shares with a page; absent elsewhere. */
  readonly page?: PageCalls;

  /** Device memory as the host sees it, where it is this process's own; valid until the memory moves, which keeps the old one readable. */
  hostBytes?(pointer: Pointer, bytes: number): Uint8Array;

  /** Makes memory that host and device both reach; throws OutOfMemoryError. */
  allocateHost(bytes: number, options: HostMemoryOptions): HostMemory;
  /**
   * Takes back what `allocateHost` gave. Nobody uses it any more: not the device, and no ArrayBuffer over it is reachable. The driver
   * must not have kept one; `bytes` are empty here. One that cannot wait keeps the memory until its own work with that is done.
   */
  freeHost(memory: HostMemory): void;
  /** Pins memory of the process in place; `mapped`: the device can use it under the `pointer` of the result. */
  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory;
  /** Undoes `registerHost`; the device does not use the memory any more, as for `freeHost`. */
  unregisterHost(memory: HostMemory): void;
  /** A handle under which another process on this device can open memory that was allocated as shareable. */
  share(pointer: Pointer): Uint8Array;
  /** Opens another process's memory; `closeShared` gives the address back. */
  openShared(handle: Uint8Array): Pointer;
  /** Gives back what `openShared` opened. */
  closeShared(pointer: Pointer): void;

  // copies; `stream` as said above. Contiguous bytes:
  /** Copies bytes from the host. */
  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void;
  /** Copies bytes within the device. */
  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void;
  // Strided ones are element-exact: they touch no byte outside the elements.
  /** Copies elements with strides from the host. */
  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void;
  /**
   * As `copyToHostStrided` with a stream, for hosts that must not be blocked: all reads of the source are enqueued when this returns;
   * resolves when the target is filled. Absent where enqueueing `copyToHostStrided` is all there is to do.
   */
  copyToHostLater?(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): Promise<void>;
  /** Overlapping source and target behave as if the source had been copied out first. */
  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void;
  /** Sets every element to one value. */
  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void;

  /** Copies from another device of the same kind, without the host where the hardware can. */
  copyFromPeer(target: Pointer, peer: DeviceDriver, source: Pointer, bytes: number, stream?: StreamHandle): void;

  // streams and events
  /** Creates a stream; `destroyStream` gives it back. Devices without priorities take no notice of one. */
  createStream(priority?: StreamPriority): StreamHandle;
  /** The stream that waits for and is waited for by all others, or the calling thread's own; nobody destroys them. */
  builtinStream(which: 'legacy' | 'per-thread'): StreamHandle;
  /** A stream that another library made, by its handle; it stays that library's. */
  externalStream(handle: bigint): StreamHandle;
  /** Work that is still on the stream is done all the same; does not block. What fails there is thrown by `synchronize`. */
  destroyStream(stream: StreamHandle): void;
  /** Whether the stream has run dry. */
  queryStream(stream: StreamHandle): boolean;
  /** Creates an event; `timing`: it can be measured with. */
  createEvent(timing: boolean): EventHandle;
  /** Streams may still wait for it, and it may not have been reached yet. */
  destroyEvent(event: EventHandle): void;
  /** Marks where the stream (undefined: the default stream) is now. */
  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void;
  /** Makes what is enqueued from now on wait for the mark, which may be on another device of the same kind; does not block. */
  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void;
  /**
   * Whether the mark has been reached, and what went wrong before it is known to `failureBefore`; true of an event that was never
   * recorded. Never blocks.
   */
  queryEvent(event: EventHandle): boolean;
  /** Where answers come by the event loop: calls `listener` each time when `queryEvent` may answer otherwise than before. Other drivers are asked again and again. */
  onNews?(listener: () => void): void;
  /** What went wrong before a mark that has been reached, for somebody who waits since it was recorded: also what others were told of since. */
  failureBefore(event: EventHandle): Failure | undefined;
  /** Milliseconds between two recorded timing events. */
  elapsedTime(start: EventHandle, end: EventHandle): number;

  // kernels
  /** Whether kernels are compiled in checked mode unless the user says otherwise. */
  /** Whether the device is gone for good, and all calls fail: who wants it again opens another. Absent where devices are not lost. */
  readonly lost?: boolean;
  readonly checkedByDefault: boolean;
  /** Whether a*b+c is fused unless the user says otherwise. */
  readonly contractByDefault: boolean;
  /** As `load`, without blocking: rejects with what that would throw. A driver has one of the two at least. */
  readonly loadLater?: ((program: Program) => Promise<Executable>) | undefined;
  /** Begins to load what compiles for this device, in pages that load it on demand: a kernel is about to be compiled. */
  readonly fetch?: (() => void) | undefined;
  /** Loads what of the library is loaded on demand, so that `load` finds it; absent where all of it is there. */
  readonly complete?: (() => Promise<void>) | undefined;

  /** The vendor's library of products of matrices, which is loaded when this is first asked; absent where the kind of device has none. */
  productLibrary?(): ProductLibrary;
  /** Enqueues a product that the library computes. Sums are at least as precise as f32, or the type itself. */
  multiply?(product: MatrixProduct, stream: StreamHandle | undefined): void;

  /**
   * Makes of recorded work what can be enqueued by one call: CUDA graphs. Absent, or undefined, where nothing is gained over enqueueing it
   * piece by piece (`work-list.ts`).
   */
  prepare?(work: readonly RecordedWork[]): PreparedWork | undefined;

  /** Frees everything; the driver can not be used afterwards. */
  close(): void;
}

/** Code of a kind of device that is made without one, as `kernel.inspect({ target, arch })` shows it. */
export interface OfflineCode extends Pick<DeviceDriver, 'checkedByDefault' | 'contractByDefault'> {
  /** `ptx`, `opencl`, `amdgcn`. */
  readonly target: string;
  /** The architecture that is meant where none is named, such as `sm_90`; absent where code is for none. */
  readonly usualArch?: string | undefined;
  /** The code as text. Throws RangeError for anything that is not an architecture, NotSupportedError where a tool is missing. */
  show(program: Program, arch: string | undefined): string;
}

/** A kind of device: found on this machine or not, opened by index. */
export interface DriverProvider {
  readonly kind: DeviceKind;
  /** How many devices of this kind there are; 0 with a reason when none. Never throws. */
  probe(): { readonly count: number; readonly reason?: string | undefined };
  /** False where there is no GPU of this kind for certain, known without loading a library; absent where `probe` costs little. Never throws. */
  mayHaveGpu?(): boolean;
  /** Devices of this kind are opened by a promise: they are in no list that describes devices at once. */
  readonly opensLater?: true | undefined;
  /** What the device that `open` would give says of itself, without opening it; absent where opening costs nothing. */
  describe?(index: number): DeviceInfo;
  /** What code of its kind can be had without a device; absent for none. */
  readonly offline?: readonly OfflineCode[] | undefined;
  /** A promise where the device cannot be opened at once. */
  open(index: number): DeviceDriver | Promise<DeviceDriver>;
  /** Where `open` gives a promise: a device that a thread may wait for, at once; undefined where there can be none. */
  openNow?(index: number): BlockingDriver | undefined;
}

/** A kind of device that is opened at once and that a thread may wait for. */
export interface BlockingProvider extends DriverProvider {
  open(index: number): BlockingDriver;
}
