/**
 * What copies ask of the device around them: its library, its current context, streams, temporaries and errors; and what each library
 * does in a way of its own.
 */
import type { Block } from '../../copies/blocks.ts';
import type { Unit } from '../../copies/launches.ts';
import type { StreamHandle } from '../../driver.ts';
import type { Cuda } from '../functions.ts';

/** Where one side of a block copy is. */
export interface BlockSide {
  readonly memory: 'host' | 'device';
  readonly address: number;
}

/** What is not the same behind libcuda and HIP's library: the code of kernels, and block copies. */
export interface CopyPlatform {
  /** The image of a module with the kernel that `entryName` names. */
  module(kind: 'copy' | 'fill', unit: Unit): Uint8Array;
  /** What ends a launch's list of `extra`. */
  readonly endOfExtra: bigint;
  /** Enqueues the copy of a block between host and device; the result. */
  copyBlock(block: Block, to: BlockSide, from: BlockSide, on: number): number;
}

/** The surroundings of the copies of one open device. */
export interface CopyDevice {
  readonly cuda: Cuda;
  readonly platform: CopyPlatform;
  /** Makes the device's context current on this thread; throws once the device is closed or lost. */
  enter(api: string): void;
  /** The CUstream; 0, the default stream, when undefined. Throws for streams of other devices. */
  streamOf(stream: StreamHandle | undefined, api: string): number;
  /** Throws the DriverError (or OutOfMemoryError) of a CUresult other than 0. */
  check(result: number, api: string): void;
  /** Blocks until the default stream has run dry, then throws what went wrong on it, kernels' faults included. */
  synchronizeAndCheck(): void;
  /** After a call that has waited for the kernels of the default stream itself: throws likewise. `dry`: it has waited for everything. */
  checkFaults(dry: boolean): void;
  /** Blocks until `stream` has run dry, then throws likewise. */
  synchronizeStream(stream: StreamHandle): void;
  /** Device memory in the order of a CUstream: a temporary. At least 256-byte aligned. */
  allocate(bytes: number, stream: number): number;
  free(pointer: number, stream: number): void;
}
