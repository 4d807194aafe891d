/**
 * What copies ask of the device around them: its library, its current context, streams, temporaries and errors.
 *
 * The NVIDIA driver implements this and hands it to `Copies`; copies know nothing else of the driver.
 */
import type { Address, Ffi, NativeLibrary } from '../../../ffi/ffi.ts';
import type { Pointer, StreamHandle } from '../../driver.ts';

/** The surroundings of the copies of one open device. */
export interface CopyDevice {
  readonly ffi: Ffi;
  /** libcuda. */
  readonly library: NativeLibrary;
  /** Makes the device's context current on this thread; throws once the device is closed or lost. */
  enter(api: string): void;
  /** The CUstream; 0, the default stream, when undefined. Throws for streams of other devices. */
  streamOf(stream: StreamHandle | undefined, api: string): Address;
  /** Throws the DriverError (or OutOfMemoryError) of a CUresult other than 0. */
  check(result: unknown, api: string): void;
  /** Blocks until the default stream has run dry, then throws what went wrong on it, kernels' faults included. */
  settle(): void;
  /** Blocks until `stream` has run dry, then throws likewise. */
  synchronizeStream(stream: StreamHandle): void;
  /** Device memory in the order of the stream: a temporary. At least 256-byte aligned. */
  allocate(bytes: number, stream: StreamHandle | undefined): Pointer;
  free(pointer: Pointer, stream: StreamHandle | undefined): void;
}
