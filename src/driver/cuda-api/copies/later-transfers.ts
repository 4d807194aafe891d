/**
 * Downloads that never block: through pinned buffers, watched by events, and copied on by threads of the FFI.
 *
 * Everything that reads the source is enqueued before `download` returns, so what is enqueued afterwards may change it. A large
 * source is copied to a device temporary for that; from there it comes in chunks, on a stream of its own.
 */

import { TsambaTypeError } from '../../../errors.ts';
import type { AsyncNativeFunction } from '../../../ffi/ffi.ts';
import { OutParameters } from '../../../ffi/out-parameters.ts';
import { nodeModule } from '../../../host/index.ts';
import { CUDA_ERROR_NOT_READY } from '../result.ts';
import { nativeMemcpy } from './copy-threads.ts';
import type { CopyDevice } from './device.ts';

/** What is downloaded: contiguous device memory, or what `pack` enqueues into a temporary. */
export interface Source {
  readonly pointer: number | undefined;
  readonly pack: (temporary: number) => void;
}

const API = 'copyToHostLater';
const DISABLE_TIMING = 2;
const NON_BLOCKING = 1;
const SMALLEST = 64 * 1024;
/** Chunks of large downloads; what fits into one needs no temporary on the device. */
const CHUNK = 16 * 2 ** 20;
/** Chunks under way. */
const DEPTH = 2;
/** Bytes of buffers that are kept for the next download. */
const KEPT = 64 * 2 ** 20;
/** Below this the host copies on its own thread. */
const WORTH_A_THREAD = 256 * 1024;
/** Threads that copy a chunk on: as many as the pool of the process has by default. */
const PARTS = 4;
/** How long events are looked at in every turn of the event loop, before it is left alone for a millisecond at a time. */
const EAGER_MS = 2;

interface Buffer {
  readonly address: number;
  readonly bytes: number;
}

export class LaterTransfers {
  readonly #device: CopyDevice;
  readonly #out: OutParameters;
  readonly #idle: Buffer[] = [];
  #memcpy: AsyncNativeFunction | undefined;
  #stream = 0;

  constructor(device: CopyDevice) {
    this.#device = device;
    this.#out = new OutParameters(device.cuda.ffi);
  }

  /** Resolves once the bytes are in `target`. `pinned`: the device can write there itself. */
  async download(target: Uint8Array, pinned: boolean, source: Source, on: number): Promise<void> {
    const bytes = target.length;
    const direct = pinned ? Number(this.#device.cuda.ffi.address(target)) : undefined;
    if (direct === undefined && bytes > CHUNK) {
      await this.#inChunks(target, source, on);
      return;
    }
    const buffer = direct === undefined ? this.#take(bytes) : undefined;
    let event: number;
    try {
      this.#fetch(direct ?? buffer?.address ?? 0, source, bytes, on);
      event = this.#mark(on);
    } catch (error) {
      if (buffer !== undefined) this.#giveBack(buffer);
      throw error;
    }
    await this.#reached(event);
    if (buffer === undefined) return;
    await this.#copyOut(target, 0, buffer, bytes);
    this.#giveBack(buffer);
  }

  close(): void {
    const { cuda } = this.#device;
    for (const { address } of this.#idle) cuda.cuMemFreeHost(address);
    this.#idle.length = 0;
    if (this.#stream !== 0) cuda.cuStreamDestroy(this.#stream);
    this.#stream = 0;
  }

  /** Enqueues everything that reads the source. */
  #fetch(address: number, source: Source, bytes: number, on: number): void {
    const { cuda } = this.#device;
    if (source.pointer !== undefined) {
      this.#device.check(cuda.cuMemcpyDtoHAsync(address, source.pointer, bytes, on), 'cuMemcpyDtoHAsync');
      return;
    }
    const temporary = this.#device.allocate(bytes, on);
    try {
      source.pack(temporary);
      this.#device.check(cuda.cuMemcpyDtoHAsync(address, temporary, bytes, on), 'cuMemcpyDtoHAsync');
    } finally {
      this.#device.free(temporary, on);
    }
  }

  async #inChunks(target: Uint8Array, source: Source, on: number): Promise<void> {
    const bytes = target.length;
    const temporary = this.#device.allocate(bytes, on);
    const stream = this.#ownStream();
    try {
      if (source.pointer === undefined) source.pack(temporary);
      else
        this.#device.check(
          this.#device.cuda.cuMemcpyDtoDAsync(temporary, source.pointer, bytes, on),
          'cuMemcpyDtoDAsync',
        );
      this.#waitFor(stream, on);
    } catch (error) {
      this.#device.free(temporary, on);
      throw error;
    }
    const lanes = Array.from({ length: DEPTH }, (_, lane) => this.#lane(target, temporary, lane, stream));
    const results = await Promise.allSettled(lanes);
    // The lanes have waited for all that reads it.
    this.#device.enter(API);
    this.#device.free(temporary, stream);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Every DEPTH-th chunk, one after another, through a buffer of its own. */
  async #lane(target: Uint8Array, temporary: number, lane: number, stream: number): Promise<void> {
    const buffer = this.#take(CHUNK);
    try {
      for (let at = lane * CHUNK; at < target.length; at += DEPTH * CHUNK) {
        const bytes = Math.min(CHUNK, target.length - at);
        this.#device.enter(API);
        const result = this.#device.cuda.cuMemcpyDtoHAsync(buffer.address, temporary + at, bytes, stream);
        this.#device.check(result, 'cuMemcpyDtoHAsync');
        await this.#reached(this.#mark(stream));
        await this.#copyOut(target, at, buffer, bytes);
      }
    } finally {
      this.#giveBack(buffer);
    }
  }

  #ownStream(): number {
    if (this.#stream === 0) {
      this.#device.check(this.#device.cuda.cuStreamCreate(this.#out.at(0), NON_BLOCKING), 'cuStreamCreate');
      this.#stream = this.#out.long(0);
    }
    return this.#stream;
  }

  #waitFor(stream: number, on: number): void {
    const { cuda } = this.#device;
    const event = this.#mark(on);
    this.#device.check(cuda.cuStreamWaitEvent(stream, event, 0), 'cuStreamWaitEvent');
    this.#device.check(cuda.cuEventDestroy(event), 'cuEventDestroy');
  }

  #mark(on: number): number {
    const { cuda } = this.#device;
    this.#device.check(cuda.cuEventCreate(this.#out.at(0), DISABLE_TIMING), 'cuEventCreate');
    const event = this.#out.long(0);
    this.#device.check(cuda.cuEventRecord(event, on), 'cuEventRecord');
    return event;
  }

  /** Resolves when the device has come to the event, and destroys it. */
  async #reached(event: number): Promise<void> {
    const { cuda } = this.#device;
    const { setImmediate: nextTurn, setTimeout: sleep } = nodeModule('node:timers/promises');
    const eager = performance.now() + EAGER_MS;
    for (;;) {
      this.#device.enter(API);
      const result = cuda.cuEventQuery(event);
      if (result !== CUDA_ERROR_NOT_READY) {
        cuda.cuEventDestroy(event);
        this.#device.check(result, 'cuEventQuery');
        return;
      }
      if (performance.now() < eager) await nextTurn();
      else await sleep(1);
    }
  }

  async #copyOut(target: Uint8Array, at: number, buffer: Buffer, bytes: number): Promise<void> {
    const { ffi } = this.#device.cuda;
    this.#memcpy ??= nativeMemcpy(ffi)?.memcpy;
    const memcpy = this.#memcpy;
    if (target.length < at + bytes) {
      throw new TsambaTypeError(
        'E_DETACHED',
        'copyToHostAsync: the array was transferred to another thread while it was being copied to; wait for the copy first',
      );
    }
    if (memcpy === undefined || bytes < WORTH_A_THREAD) {
      target.set(new Uint8Array(ffi.view(buffer.address, bytes)), at);
      return;
    }
    const to = Number(ffi.address(target)) + at;
    const step = Math.ceil(bytes / PARTS);
    const parts = Array.from({ length: PARTS }, (_, k) => {
      const from = k * step;
      return memcpy.later(to + from, buffer.address + from, Math.max(0, Math.min(step, bytes - from)));
    });
    await Promise.all(parts);
  }

  #take(bytes: number): Buffer {
    const size = Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)));
    const at = this.#idle.findIndex((buffer) => buffer.bytes === size);
    if (at >= 0) return this.#idle.splice(at, 1)[0] as Buffer;
    this.#device.enter(API);
    this.#device.check(this.#device.cuda.cuMemHostAlloc(this.#out.at(0), size, 0), 'cuMemHostAlloc');
    return { address: this.#out.long(0), bytes: size };
  }

  #giveBack(buffer: Buffer): void {
    const kept = this.#idle.reduce((sum, each) => sum + each.bytes, 0);
    if (kept + buffer.bytes <= KEPT) this.#idle.push(buffer);
    else this.#device.cuda.cuMemFreeHost(buffer.address);
  }
}
