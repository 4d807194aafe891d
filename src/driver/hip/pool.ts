/**
 * A pool of device memory over `hipMalloc`, in place of HIP's own: `hipMallocAsync` of ROCm 7 runs out of memory or crashes on RDNA 3, and
 * does not keep what its release threshold says. It answers for the driver API's functions of pools, so that what manages
 * memory (cuda-api/memory.ts) does not know. `TSAMBA_HIP_MALLOC_ASYNC=1` asks for HIP's own.
 *
 * A freed block may be had again at once by allocations in the order of the same stream, and by all others once an event that was recorded
 * when it was freed has come. Nothing ever waits. Blocks have sizes of eight steps to an octave, and go back to the device when the pool is trimmed:
 * when memory runs out, and when the device is closed.
 */
import type { Cuda } from '../cuda-api/functions.ts';
import type { Vocabulary } from '../cuda-api/vocabulary.ts';

const LEAST = 512;
const EVENT_DISABLE_TIMING = 2;
const INVALID_VALUE = 1;
const RESERVED_CURRENT = 5;
const USED_CURRENT = 7;
/** Events that are asked for, for one allocation, whether they have come. */
const MOST_ASKED = 8;

type Bound = Required<Pick<Cuda, 'cuMemAllocAsync' | 'cuMemFreeAsync' | 'cuMemPoolGetAttribute' | 'cuMemPoolTrimTo'>>;

interface Block {
  readonly address: number;
  readonly bytes: number;
  /** The stream in whose order it was freed; undefined when that stream is gone. */
  stream: number | undefined;
  /** The hipEvent_t that comes when it is no longer used. */
  event: number;
}

/** Bytes of a block for so many. */
export function blockBytes(bytes: number): number {
  const step = Math.max(LEAST, 2 ** (Math.floor(Math.log2(bytes)) - 3));
  return Math.ceil(bytes / step) * step;
}

/** The library with a pool of our own, for one device. */
export function withOwnPool(cuda: Cuda): Cuda {
  const pool = new Pool(cuda);
  return { ...cuda, ...pool.functions(), vocabulary: renamed(cuda.vocabulary) };
}

/** Messages name the functions that are called. */
function renamed(vocabulary: Vocabulary): Vocabulary {
  const names: Readonly<Record<string, string>> = { cuMemAllocAsync: 'cuMemAlloc', cuMemFreeAsync: 'cuMemFree' };
  return { ...vocabulary, functionName: (api) => vocabulary.functionName(names[api] ?? api) };
}

class Pool {
  readonly #cuda: Cuda;
  readonly #used = new Map<number, Block>();
  /** Those that are free, by size; the last one freed is the last. */
  readonly #idle = new Map<number, Block[]>();
  readonly #spareEvents: number[] = [];
  /** Streams of the library's own, which nobody else destroys; and the default stream. */
  readonly #streams = new Set<number>([0]);
  readonly #cell: BigUint64Array<ArrayBuffer> = new BigUint64Array(new ArrayBuffer(128));
  readonly #cellAddress: number;
  #reserved = 0;
  #inUse = 0;

  constructor(cuda: Cuda) {
    this.#cuda = cuda;
    this.#cellAddress = Number(cuda.ffi.address(this.#cell));
  }

  /** What stands for the library's functions. */
  functions(): Partial<Cuda> & Bound {
    const { cuStreamCreate, cuStreamCreateWithPriority, cuStreamDestroy } = this.#cuda;
    const write = (cell: Parameters<typeof cuStreamCreate>[0], value: number): number => {
      new BigUint64Array(this.#cuda.ffi.view(cell, 8))[0] = BigInt(value);
      return 0;
    };
    const noted = (cell: Parameters<typeof cuStreamCreate>[0], result: number): number => {
      if (result === 0) this.#streams.add(Number(new BigUint64Array(this.#cuda.ffi.view(cell, 8))[0]));
      return result;
    };
    return {
      // Any number but 0, which says that there is no pool.
      cuDeviceGetDefaultMemPool: (cell) => write(cell, 1),
      cuMemPoolSetAttribute: () => 0,
      cuMemPoolSetAccess: () => 0,
      cuMemPoolGetAttribute: (_pool, which, cell) => {
        if (which === RESERVED_CURRENT) return write(cell, this.#reserved);
        return which === USED_CURRENT ? write(cell, this.#inUse) : INVALID_VALUE;
      },
      cuMemPoolTrimTo: () => this.#trim(),
      cuMemAllocAsync: (cell, bytes, stream) => {
        const block = this.#take(blockBytes(Number(bytes)), Number(stream));
        return typeof block === 'number' ? block : write(cell, block.address);
      },
      cuMemFreeAsync: (address, stream) => this.#free(Number(address), Number(stream)),
      cuStreamCreate: (cell, flags) => noted(cell, cuStreamCreate(cell, flags)),
      ...(cuStreamCreateWithPriority === undefined
        ? {}
        : {
            cuStreamCreateWithPriority: (cell, flags, priority) =>
              noted(cell, cuStreamCreateWithPriority(cell, flags, priority)),
          }),
      cuStreamDestroy: (stream) => {
        this.#forget(Number(stream));
        return cuStreamDestroy(stream);
      },
    };
  }

  /** A block that may be used in the order of the stream, or the result of the call that failed. */
  #take(bytes: number, stream: number): Block | number {
    const block = this.#reusable(bytes, stream) ?? this.#fresh(bytes);
    if (typeof block === 'number') return block;
    if (block.event !== 0) this.#spareEvents.push(block.event);
    block.event = 0;
    this.#used.set(block.address, block);
    this.#inUse += bytes;
    return block;
  }

  #reusable(bytes: number, stream: number): Block | undefined {
    const list = this.#idle.get(bytes);
    if (list === undefined) return undefined;
    let at = list.findLastIndex((block) => block.stream === stream);
    // The oldest first: they have most likely come.
    for (let k = 0; at < 0 && k < Math.min(MOST_ASKED, list.length); k++) {
      if (this.#cuda.cuEventQuery((list[k] as Block).event) === 0) at = k;
    }
    return at < 0 ? undefined : list.splice(at, 1)[0];
  }

  #fresh(bytes: number): Block | number {
    const result = this.#cuda.cuMemAlloc(this.#cellAddress, bytes);
    if (result !== 0) return result;
    this.#reserved += bytes;
    return { address: Number(this.#cell[0]), bytes, stream: undefined, event: 0 };
  }

  #free(address: number, stream: number): number {
    const block = this.#used.get(address);
    if (block === undefined) return INVALID_VALUE;
    const event = this.#event();
    const result = event < 0 ? -event : this.#cuda.cuEventRecord(event, stream);
    if (result !== 0) return result;
    this.#used.delete(address);
    this.#inUse -= block.bytes;
    block.event = event;
    block.stream = this.#streams.has(stream) ? stream : undefined;
    const list = this.#idle.get(block.bytes);
    if (list === undefined) this.#idle.set(block.bytes, [block]);
    else list.push(block);
    return 0;
  }

  /** An event; the negative of the result where none could be made. */
  #event(): number {
    const spare = this.#spareEvents.pop();
    if (spare !== undefined) return spare;
    const result = this.#cuda.cuEventCreate(this.#cellAddress, EVENT_DISABLE_TIMING);
    return result === 0 ? Number(this.#cell[0]) : -result;
  }

  /** The stream's handle may come to stand for another stream, which waits for nothing on this one. */
  #forget(stream: number): void {
    this.#streams.delete(stream);
    for (const list of this.#idle.values()) {
      for (const block of list) if (block.stream === stream) block.stream = undefined;
    }
  }

  /** Gives all idle blocks back; `hipFree` waits for what still uses them. */
  #trim(): number {
    let failed = 0;
    for (const list of this.#idle.values()) {
      for (const { address, bytes, event } of list) {
        failed ||= this.#cuda.cuMemFree(address);
        this.#reserved -= bytes;
        this.#spareEvents.push(event);
      }
    }
    this.#idle.clear();
    for (const event of this.#spareEvents.splice(0)) failed ||= this.#cuda.cuEventDestroy(event);
    return failed;
  }
}
