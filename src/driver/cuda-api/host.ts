/**
 * Host memory that a device behind the CUDA driver API knows of: pinned, mapped and managed allocations, and registered memory of the process.
 *
 * CUDA driver API, section "Memory Management": cuMemHostAlloc, cuMemAllocManaged, cuMemHostRegister.
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import type { Address } from '../../ffi/ffi.ts';
import type { HostMemory, HostMemoryOptions } from '../driver.ts';
import type { CudaContext } from './context.ts';
import { CUDA_ERROR_OUT_OF_MEMORY, functionName } from './result.ts';

const HOST_PORTABLE = 1;
const HOST_MAPPED = 2;
const HOST_WRITE_COMBINED = 4;
const ATTACH_GLOBAL = 1;
const ATTACH_HOST = 2;
const REGISTER_PORTABLE = 1;
const REGISTER_MAPPED = 2;
const ALREADY_REGISTERED = 712;

type Kind = HostMemoryOptions['kind'] | 'registered';

/** What the driver's handle holds. */
interface Block {
  readonly owner: CudaHostMemory;
  readonly kind: Kind;
  readonly address: Address;
  readonly bytes: number;
  /** Where kernels find it; undefined where they cannot. */
  readonly pointer: number | undefined;
}

/** The host memory of one context. */
export class CudaHostMemory {
  readonly #context: CudaContext;
  readonly #live = new Set<Block>();

  constructor(context: CudaContext) {
    this.#context = context;
  }

  allocate(bytes: number, options: HostMemoryOptions): HostMemory {
    if (!(bytes > 0 && Number.isSafeInteger(bytes))) {
      throw new DriverError('E_INVALID_VALUE', `allocateHost: ${bytes} is not a number of bytes above 0`, {
        api: 'allocateHost',
      });
    }
    return options.kind === 'managed' ? this.#managed(bytes, options) : this.#pinned(bytes, options);
  }

  #pinned(bytes: number, { kind, portable, writeCombined }: HostMemoryOptions): HostMemory {
    const { cuda, out } = this.#context;
    // All of it is mapped, which costs nothing: what is pinned for copies can be mapped for kernels later.
    const flags =
      HOST_MAPPED | (portable === true ? HOST_PORTABLE : 0) | (writeCombined === true ? HOST_WRITE_COMBINED : 0);
    this.#check(cuda.cuMemHostAlloc(out.at(0), bytes, flags), 'cuMemHostAlloc', bytes, kind);
    const address = out.long(0);
    const result = cuda.cuMemHostGetDevicePointer(out.at(0), address, 0);
    if (result === 0) return this.#keep(kind, address, bytes, out.long(0));
    if (kind === 'pinned') return this.#keep(kind, address, bytes, undefined);
    cuda.cuMemFreeHost(address);
    throw this.#context.failure(result, 'cuMemHostGetDevicePointer');
  }

  #managed(bytes: number, { attachGlobal }: HostMemoryOptions): HostMemory {
    const { cuda, out } = this.#context;
    const flags = attachGlobal === false ? ATTACH_HOST : ATTACH_GLOBAL;
    this.#check(cuda.cuMemAllocManaged(out.at(0), bytes, flags), 'cuMemAllocManaged', bytes, 'managed');
    const address = out.long(0);
    return this.#keep('managed', address, bytes, address);
  }

  #check(result: number, api: string, asked: number, kind: Kind): void {
    if (result !== CUDA_ERROR_OUT_OF_MEMORY) return this.#context.check(result, api);
    throw new OutOfMemoryError(
      `${functionName(this.#context.cuda, api)}: cannot allocate ${asked} bytes of ${kind} host memory: the machine has no more of it, or the process may not pin more (ulimit -l)`,
      { asked, live: 0, pending: 0, pooled: 0 },
    );
  }

  #keep(kind: Kind, address: number, bytes: number, pointer: number | undefined): HostMemory {
    const block: Block = { owner: this, kind, address, bytes, pointer };
    this.#live.add(block);
    return { host: block, bytes: new Uint8Array(this.#context.cuda.ffi.view(address, bytes)), pointer };
  }

  free(memory: HostMemory): void {
    this.#release(this.#block(memory, 'freeHost'));
  }

  register(bytes: Uint8Array, mapped: boolean): HostMemory {
    const { cuda, out } = this.#context;
    // Small typed arrays move until their buffer has been asked for.
    const { buffer } = bytes;
    const address = buffer.byteLength === 0 ? 0 : cuda.ffi.address(bytes);
    const flags = REGISTER_PORTABLE | (mapped ? REGISTER_MAPPED : 0);
    const result = cuda.cuMemHostRegister(address, bytes.length, flags);
    if (result === ALREADY_REGISTERED) {
      throw this.#context.failure(result, 'cuMemHostRegister', {
        help: 'a part of this memory is pinned already: pin the whole buffer once, or unpin the part',
      });
    }
    this.#context.check(result, 'cuMemHostRegister');
    const known = { owner: this, kind: 'registered', address, bytes: bytes.length } as const;
    if (!mapped) {
      const block: Block = { ...known, pointer: undefined };
      this.#live.add(block);
      return { host: block, bytes, pointer: undefined };
    }
    const found = cuda.cuMemHostGetDevicePointer(out.at(0), address, 0);
    if (found !== 0) {
      cuda.cuMemHostUnregister(address);
      throw this.#context.failure(found, 'cuMemHostGetDevicePointer');
    }
    const block: Block = { ...known, pointer: out.long(0) };
    this.#live.add(block);
    return { host: block, bytes, pointer: block.pointer };
  }

  /** Whether what kernels find at this address is memory of the host. */
  isHost(address: number): boolean {
    for (const { pointer, bytes } of this.#live) {
      if (pointer !== undefined && address >= pointer && address < pointer + bytes) return true;
    }
    return false;
  }

  /** Also takes the memory that `free` takes, for they are told apart by their handle. */
  unregister(memory: HostMemory): void {
    this.#release(this.#block(memory, 'unregisterHost'));
  }

  /**
   * The pieces of a range of host memory that the driver sees as one each, as their lengths: it refuses copies that leave what is
   * registered, or cross from one registration to another.
   */
  pieces(address: number, bytes: number): readonly number[] {
    const end = address + bytes;
    const borders = new Set<number>([end]);
    for (const block of this.#live) {
      const from = Number(block.address);
      for (const border of [from, from + block.bytes]) if (border > address && border < end) borders.add(border);
    }
    const sorted = [...borders].sort((a, b) => a - b);
    return sorted.map((border, k) => border - (sorted[k - 1] ?? address));
  }

  /** Whether the driver knows all these bytes as pinned, so that it copies them at full speed by itself. */
  isPinned(address: number, bytes: number): boolean {
    for (const block of this.#live) {
      const from = Number(block.address);
      if (address >= from && address + bytes <= from + block.bytes) return true;
    }
    return false;
  }

  #block({ host }: HostMemory, api: string): Block {
    const block = host as Block | undefined;
    if (block?.owner === this && this.#live.has(block)) return block;
    throw new DriverError(
      'E_INVALID_HANDLE',
      `${api}: this is not host memory of this device, or has been given back`,
      {
        api,
      },
    );
  }

  #release(block: Block): void {
    this.#live.delete(block);
    const { cuda } = this.#context;
    switch (block.kind) {
      case 'registered':
        this.#context.check(cuda.cuMemHostUnregister(block.address), 'cuMemHostUnregister');
        break;
      case 'managed':
        this.#context.check(cuda.cuMemFree(block.address), 'cuMemFree');
        break;
      default:
        this.#context.check(cuda.cuMemFreeHost(block.address), 'cuMemFreeHost');
    }
  }

  /**
   * Unpins what is registered. Memory that the driver allocated is left to the end of the process: arrays over it may still be
   * reachable, and reading them must not crash.
   */
  close(): void {
    for (const block of this.#live) {
      if (block.kind === 'registered') this.#context.cuda.cuMemHostUnregister(block.address);
    }
    this.#live.clear();
  }
}
