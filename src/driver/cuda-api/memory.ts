/**
 * Device memory: allocated from the driver's default pool in the order of a stream, or by `cuMemAlloc` where there is no pool
 * or the memory is to be shared with other processes, which pool memory cannot.
 *
 * What is allocated and freed without a stream must be usable at once on all of them, and must not make them wait for each other,
 * as everything on the default stream does. While that has no work, a stream that does not wait serves. For the same reason the
 * pool may not make a stream wait for another one whose memory it hands out again.
 *
 * The pool keeps what is freed (its release threshold is set to everything); when memory runs out it is trimmed, once, and
 * the allocation tried again. CUDA driver API, sections "Memory Management" and "Stream Ordered Memory Allocator".
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import type { Pointer } from '../driver.ts';
import type { CudaContext } from './context.ts';
import { CUDA_ERROR_OUT_OF_MEMORY, functionName } from './result.ts';
import type { CudaStreams } from './streams.ts';

const POOL_REUSE_BY_DEPENDENCY = 3;
const POOL_RELEASE_THRESHOLD = 4;
const POOL_RESERVED_CURRENT = 5;
const POOL_USED_CURRENT = 7;
const STREAM_NON_BLOCKING = 1;

/** Bytes of a device: `pooled` are kept for later allocations, and counted in `free`. */
export interface MemoryInfo {
  readonly free: number;
  readonly total: number;
  readonly pooled: number;
}

/** The memory of one context. */
export class CudaMemory {
  readonly #context: CudaContext;
  /** The CUmemoryPool; 0 if there are none. */
  readonly #pool: number;
  readonly #allocateAsync: ((cell: number, bytes: number, stream: number) => number) | undefined;
  readonly #freeAsync: ((pointer: number, stream: number) => number) | undefined;
  /** A stream that does not wait and has no work. */
  readonly #free: number;
  readonly #streams: CudaStreams;
  readonly #out: number;
  /** Addresses of the pool that are allocated. */
  readonly #pooled = new Set<number>();
  /** Addresses that `cuMemAlloc` gave. */
  readonly #plain = new Set<number>();

  constructor(context: CudaContext, streams: CudaStreams, poolsSupported: boolean) {
    this.#context = context;
    this.#streams = streams;
    this.#out = context.out.at(0);
    const { cuda } = context;
    this.#pool = poolsSupported ? this.#openPool() : 0;
    this.#free = 0;
    if (this.#pool === 0) return;
    context.check(cuda.cuStreamCreate(context.out.at(0), STREAM_NON_BLOCKING), 'cuStreamCreate');
    this.#free = context.out.long(0);
    this.#allocateAsync = cuda.cuMemAllocAsync;
    this.#freeAsync = cuda.cuMemFreeAsync;
  }

  /** Whether memory is allocated and freed in the order of streams. */
  get streamOrdered(): boolean {
    return this.#pool !== 0;
  }

  /** The CUmemoryPool, 0 for none: peers are given access to it. */
  get pool(): number {
    return this.#pool;
  }

  #openPool(): number {
    const { cuda, out, device } = this.#context;
    const { cuDeviceGetDefaultMemPool, cuMemPoolSetAttribute, cuMemAllocAsync, cuMemFreeAsync } = cuda;
    if (cuDeviceGetDefaultMemPool === undefined || cuMemPoolSetAttribute === undefined) return 0;
    if (cuMemAllocAsync === undefined || cuMemFreeAsync === undefined) return 0;
    if (cuDeviceGetDefaultMemPool(out.at(0), device) !== 0) return 0;
    const pool = out.long(0);
    out.set(1, 0n);
    this.#context.check(cuMemPoolSetAttribute(pool, POOL_REUSE_BY_DEPENDENCY, out.at(1)), 'cuMemPoolSetAttribute');
    // The default gives the pool's memory back to the system at every synchronisation.
    out.set(1, 2n ** 64n - 1n);
    this.#context.check(cuMemPoolSetAttribute(pool, POOL_RELEASE_THRESHOLD, out.at(1)), 'cuMemPoolSetAttribute');
    return pool;
  }

  /** The stream in whose order memory is allocated and freed that is bound to no stream. */
  #unbound(): number {
    const streams = this.#streams;
    if (streams.defaultUsed) {
      if (this.#context.cuda.cuStreamQuery(0) !== 0) return 0;
      streams.defaultUsed = false;
    }
    return this.#free;
  }

  /** Address of fresh memory, usable after what is on `stream` now; without one, at once, everywhere. */
  allocate(bytes: number, stream: number | undefined, shareable: boolean): number {
    if (!(bytes > 0 && Number.isSafeInteger(bytes))) {
      throw new DriverError('E_INVALID_VALUE', `allocate: ${bytes} is not a number of bytes above 0`, {
        api: 'allocate',
      });
    }
    if (this.#allocateAsync === undefined || shareable) return this.#allocatePlain(bytes);
    const on = stream ?? this.#unbound();
    let result = this.#allocateAsync(this.#out, bytes, on);
    if (result === CUDA_ERROR_OUT_OF_MEMORY && this.trim()) result = this.#allocateAsync(this.#out, bytes, on);
    if (result !== 0) throw this.#failure(result, 'cuMemAllocAsync', bytes);
    const pointer = this.#context.out.long(0);
    if (stream === undefined && (on !== 0 || this.#streams.foreign)) this.#waitFor(on);
    this.#pooled.add(pointer);
    return pointer;
  }

  /** Nothing to wait for is on the driver's own stream; a stream of another library need not wait for the default stream. */
  #waitFor(stream: number): void {
    const { cuda } = this.#context;
    if (cuda.cuStreamQuery(stream) !== 0) this.#context.check(cuda.cuStreamSynchronize(stream), 'cuStreamSynchronize');
  }

  #allocatePlain(bytes: number): number {
    const { cuda, out } = this.#context;
    let result = cuda.cuMemAlloc(this.#out, bytes);
    if (result === CUDA_ERROR_OUT_OF_MEMORY && this.trim()) result = cuda.cuMemAlloc(this.#out, bytes);
    if (result !== 0) throw this.#failure(result, 'cuMemAlloc', bytes);
    const pointer = out.long(0);
    this.#plain.add(pointer);
    return pointer;
  }

  /** Frees what `allocate` gave, after what is on `stream` (undefined: the default stream) now; without a pool, after everything. */
  free(pointer: Pointer, stream: number | undefined): void {
    const address = typeof pointer === 'number' ? pointer : Number(pointer);
    if (this.#freeAsync !== undefined && this.#pooled.delete(address)) {
      const result = this.#freeAsync(address, stream ?? this.#unbound());
      if (result !== 0) throw this.#context.failure(result, 'cuMemFreeAsync');
    } else if (this.#plain.delete(address)) {
      this.#context.check(this.#context.cuda.cuMemFree(address), 'cuMemFree');
    } else {
      throw new DriverError('E_INVALID_POINTER', `free: ${String(pointer)} is not an allocation of this device`, {
        api: 'free',
      });
    }
  }

  /** Whether other processes can be given the memory at this address. */
  isShareable(address: number): boolean {
    return this.#plain.has(address);
  }

  /** Whether an address is the start of an allocation. */
  owns(address: number): boolean {
    return this.#pooled.has(address) || this.#plain.has(address);
  }

  info(): MemoryInfo {
    const { cuda, out } = this.#context;
    this.#context.check(cuda.cuMemGetInfo(out.at(0), out.at(1)), 'cuMemGetInfo');
    const [free, total] = [out.long(0), out.long(1)];
    const pooled = this.#idleInPool();
    return { free: free + pooled, total, pooled };
  }

  #idleInPool(): number {
    const { cuda, out } = this.#context;
    if (this.#pool === 0 || cuda.cuMemPoolGetAttribute === undefined) return 0;
    if (cuda.cuMemPoolGetAttribute(this.#pool, POOL_RESERVED_CURRENT, out.at(2)) !== 0) return 0;
    if (cuda.cuMemPoolGetAttribute(this.#pool, POOL_USED_CURRENT, out.at(3)) !== 0) return 0;
    return Math.max(0, out.long(2) - out.long(3));
  }

  /** Gives what the pool holds without use back to the device; false when there is no pool. */
  trim(): boolean {
    const { cuda } = this.#context;
    if (this.#pool === 0 || cuda.cuMemPoolTrimTo === undefined) return false;
    // What was freed on a stream becomes idle when the stream comes that far.
    if (cuda.cuCtxSynchronize() !== 0) return false;
    return cuda.cuMemPoolTrimTo(this.#pool, 0) === 0;
  }

  #failure(result: number, api: string, asked: number): DriverError {
    if (result !== CUDA_ERROR_OUT_OF_MEMORY) return this.#context.failure(result, api);
    const { free, total, pooled } = this.info();
    return new OutOfMemoryError(
      `${functionName(this.#context.cuda, api)}: cannot allocate ${asked} bytes on ${this.#context.name}: ${free} of ${total} are free, ${pooled} of these pooled`,
      { asked, live: 0, pending: 0, pooled },
    );
  }

  /** Frees everything that is still allocated; failures do not matter any more. */
  close(): void {
    const { cuda } = this.#context;
    for (const address of this.#pooled) this.#freeAsync?.(address, 0);
    for (const address of this.#plain) cuda.cuMemFree(address);
    this.#pooled.clear();
    this.#plain.clear();
    this.trim();
    if (this.#free !== 0) cuda.cuStreamDestroy(this.#free);
  }
}
