/**
 * Host memory that an OpenCL device knows of: pinned, mapped and managed allocations, and registered memory of the process.
 *
 * On CPU devices kernels use it in place: a buffer is mapped for good, or made over the memory of the process (USE_HOST_PTR). Other
 * devices get a buffer of their own, a mirror, which is brought up to date before work that uses it and copied back after it: the
 * host sees what was written once it has waited. OpenCL API specification, section "Mapping Buffer Objects".
 */
import { DriverError } from '../../errors.ts';
import type { Address } from '../../ffi/ffi.ts';
import type { HostMemory, HostMemoryOptions } from '../driver.ts';
import type { OpenCLContext } from './context.ts';
import type { DeviceBuffer, OpenCLMemory } from './memory.ts';
import type { Queues } from './queues.ts';

const MEM_READ_WRITE = 1;
const MEM_USE_HOST_PTR = 8;
const MEM_ALLOC_HOST_PTR = 16;
const MAP_READ_WRITE = 3;

/** What the driver's handle holds. */
interface Block {
  readonly owner: OpenCLHostMemory;
  /** What kernels use; undefined where only copies use the memory. */
  readonly buffer: DeviceBuffer | undefined;
  /** The cl_mem that is mapped, and the address; undefined where the memory is the process's own. */
  readonly mapped: { readonly handle: number; readonly address: Address } | undefined;
}

/** The host memory of one device. */
export class OpenCLHostMemory {
  readonly #context: OpenCLContext;
  readonly #memory: OpenCLMemory;
  readonly #queues: Queues;
  readonly #live = new Set<Block>();

  constructor(context: OpenCLContext, memory: OpenCLMemory, queues: Queues) {
    this.#context = context;
    this.#memory = memory;
    this.#queues = queues;
  }

  allocate(bytes: number, { kind }: HostMemoryOptions): HostMemory {
    if (!(bytes > 0 && Number.isSafeInteger(bytes))) {
      throw new DriverError('E_INVALID_VALUE', `allocateHost: ${bytes} is not a number of bytes above 0`, {
        api: 'allocateHost',
      });
    }
    const handle = this.#memory.create(bytes, MEM_READ_WRITE | MEM_ALLOC_HOST_PTR);
    try {
      const address = this.#map(handle, bytes);
      const view = new Uint8Array(this.#context.cl.ffi.view(address, bytes)).fill(0);
      const buffer = this.#bufferFor(handle, view, kind);
      return this.#keep({ owner: this, buffer, mapped: { handle, address } }, view);
    } catch (error) {
      this.#context.cl.clReleaseMemObject(handle);
      throw error;
    }
  }

  /** What kernels use: the mapped buffer itself where they reach it, else a mirror, which memory for copies alone does not need. */
  #bufferFor(handle: number, view: Uint8Array, kind: HostMemoryOptions['kind']): DeviceBuffer | undefined {
    if (this.#context.device.sharesHostMemory) return this.#memory.adopt(handle, view.length, {});
    return kind === 'pinned' ? undefined : this.#mirror(view);
  }

  #mirror(view: Uint8Array): DeviceBuffer {
    return this.#memory.adopt(this.#memory.create(view.length), view.length, { mirror: view });
  }

  #map(handle: number, bytes: number): number {
    const { cl, out } = this.#context;
    const queue = this.#queues.begin(this.#queues.default);
    const address = cl.clEnqueueMapBuffer(queue, handle, 1, MAP_READ_WRITE, 0, bytes, 0, 0, 0, out.at(0));
    this.#context.check(out.int(0), 'clEnqueueMapBuffer');
    this.#queues.done(this.#queues.default);
    return address;
  }

  register(bytes: Uint8Array, mapped: boolean): HostMemory {
    if (!mapped) return this.#keep({ owner: this, buffer: undefined, mapped: undefined }, bytes);
    return this.#keep({ owner: this, buffer: this.#over(bytes), mapped: undefined }, bytes);
  }

  #over(bytes: Uint8Array): DeviceBuffer {
    if (!this.#context.device.sharesHostMemory) return this.#mirror(bytes);
    // Small typed arrays move until their buffer has been asked for.
    if (bytes.buffer.byteLength === 0) throw new DriverError('E_INVALID_VALUE', 'registerHost: there are no bytes');
    const handle = this.#memory.create(bytes.length, MEM_READ_WRITE | MEM_USE_HOST_PTR, bytes);
    return this.#memory.adopt(handle, bytes.length, {});
  }

  #keep(block: Block, bytes: Uint8Array): HostMemory {
    this.#live.add(block);
    return { host: block, bytes, pointer: block.buffer?.start };
  }

  /** Takes back what `allocate` gave, and undoes `register`. */
  release({ host }: HostMemory, api: string): void {
    const block = host as Partial<Block> | undefined;
    if (block?.owner !== this || !this.#live.delete(block as Block)) {
      throw new DriverError(
        'E_INVALID_HANDLE',
        `${api}: this is not host memory of this device, or has been given back`,
        {
          api,
        },
      );
    }
    this.#give(block as Block);
  }

  #give({ buffer, mapped }: Block): void {
    const { cl } = this.#context;
    if (mapped !== undefined) {
      const queue = this.#queues.begin(this.#queues.default);
      cl.clEnqueueUnmapMemObject(queue, mapped.handle, mapped.address, 0, 0, 0);
      this.#queues.finish(this.#queues.default);
    }
    if (buffer !== undefined) this.#memory.release(buffer);
    if (mapped !== undefined && mapped.handle !== buffer?.handle) cl.clReleaseMemObject(mapped.handle);
  }

  /** Gives everything back; failures do not matter any more. */
  close(): void {
    for (const block of this.#live) this.#give(block);
    this.#live.clear();
  }
}
