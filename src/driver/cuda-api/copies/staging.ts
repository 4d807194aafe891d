/**
 * Large transfers between pageable host memory and the device, through a pinned ring that several threads fill or empty.
 *
 * The driver's own copy of pageable memory stages on one thread (about 10 GB/s); the bus takes five times as much. Threads and
 * ring are made at the first transfer that is worth it; that one begins with the driver's own copy until the threads are up.
 * With few cores, without a C library, or when a thread has gone away, everything is the driver's own copy.
 */

import { OutParameters } from '../../../ffi/out-parameters.ts';
import { nodeModule } from '../../../host/index.ts';
import { CUDA_ERROR_NOT_READY } from '../result.ts';
import { CopyThreads, nativeMemcpy } from './copy-threads.ts';
import type { CopyDevice } from './device.ts';

/** How transfers are cut up and by how many they are copied; the defaults are measured. */
export interface StagingOptions {
  readonly workers: number;
  /** Of large transfers; others have pieces of half the size. */
  readonly pieceBytes: number;
  /** At most: small transfers have small chunks, so that the device need not wait long for the first. */
  readonly piecesAChunk: number;
  readonly slots: number;
}

/** The driver's own copies between host and device. */
export interface OwnCopies {
  upload(target: number, source: Uint8Array, on: number): void;
  download(target: Uint8Array, source: number, on: number): void;
}

/** Transfers below this are the driver's. */
const WORTH_STAGING = 8 * 2 ** 20;
/** The first transfer that starts threads is at least this large. */
const WORTH_STARTING = 32 * 2 ** 20;
/** Bytes of the driver's own copies while threads are starting. */
const SEGMENT = 32 * 2 ** 20;
/** With fewer cores threads gain nothing over the driver's own. */
const MIN_CORES = 4;
const MAX_WORKERS = 5;
const DISABLE_TIMING = 2;
/** From here on pieces have their full size. */
const LARGE = 96 * 2 ** 20;
/** Chunks of a transfer, at least, unless they would be tiny. */
const CHUNKS = 12;
const PAUSE_MS = 0.05;

/** What a machine with so many cores does; undefined: nothing. */
export function stagingFor(cores: number): StagingOptions | undefined {
  if (cores < MIN_CORES) return undefined;
  // The caller copies as well.
  const workers = Math.min(MAX_WORKERS, cores - 1);
  return { workers, pieceBytes: 512 * 1024, piecesAChunk: 16, slots: 4 };
}

/** Pinned memory in slots, each with an event that says when the device is done with it. */
interface Ring {
  readonly address: number;
  readonly events: readonly number[];
  /** Slots that the device may still be reading. */
  readonly busy: Set<number>;
}

/** The staging of one device. */
export class Staging {
  readonly #device: CopyDevice;
  readonly #own: OwnCopies;
  readonly #out: OutParameters;
  #options: StagingOptions | undefined;
  #threads: CopyThreads | undefined;
  #ring: Ring | undefined;

  constructor(
    device: CopyDevice,
    own: OwnCopies,
    options: StagingOptions | undefined = stagingFor(nodeModule('node:os').availableParallelism()),
  ) {
    this.#device = device;
    this.#own = own;
    this.#out = new OutParameters(device.cuda.ffi);
    this.#options = options;
  }

  /** The threads, once they have been started: for tests. */
  get threads(): CopyThreads | undefined {
    return this.#threads;
  }

  /** Whether transfers of so many bytes may gain anything here. */
  isFor(bytes: number): boolean {
    if (this.#options === undefined) return false;
    return bytes >= (this.#threads === undefined ? WORTH_STARTING : WORTH_STAGING);
  }

  /** Reads the source's bytes and enqueues their transfer on the CUstream; false when this is not for staging. */
  upload(target: number, source: Uint8Array, on: number): boolean {
    return this.#transfer(true, source, target, on);
  }

  /** Waits for the stream, and fills the target; false when this is not for staging. */
  download(target: Uint8Array, source: number, on: number): boolean {
    return this.#transfer(false, target, source, on);
  }

  close(): void {
    this.#threads?.close();
    this.#freeRing();
    this.#options = undefined;
  }

  #transfer(up: boolean, host: Uint8Array, pointer: number, on: number): boolean {
    const options = this.#options;
    const total = host.length;
    const threads = options === undefined ? undefined : this.#start(options, total);
    if (options === undefined || threads === undefined) return false;
    let done = 0;
    while (done < total && threads.ready < Math.ceil(options.workers / 2)) {
      done += this.#plain(up, host.subarray(done, done + SEGMENT), pointer + done, on);
    }
    const rest = host.subarray(done);
    if (rest.length === 0) return true;
    const ring = this.#openRing(options);
    if (ring === undefined || !this.#run(up, rest, pointer + done, on, options, threads, ring)) {
      this.#plain(up, rest, pointer + done, on);
    }
    return true;
  }

  /** The threads, started if need be; undefined when there are none. */
  #start(options: StagingOptions, bytes: number): CopyThreads | undefined {
    if (this.#threads !== undefined) return this.#threads;
    if (bytes < WORTH_STARTING) return undefined;
    const native = nativeMemcpy(this.#device.cuda.ffi);
    if (native === undefined) {
      this.#options = undefined;
      return undefined;
    }
    this.#threads = new CopyThreads(native.memcpy, native.library);
    this.#threads.start(options.workers);
    return this.#threads;
  }

  /** The driver's own copy of some bytes; how many. */
  #plain(up: boolean, host: Uint8Array, pointer: number, on: number): number {
    if (up) this.#own.upload(pointer, host, on);
    else this.#own.download(host, pointer, on);
    return host.length;
  }

  /** One staged transfer. False when a thread has gone away in the middle: then nothing of it counts. */
  #run(
    up: boolean,
    host: Uint8Array,
    pointer: number,
    on: number,
    options: StagingOptions,
    threads: CopyThreads,
    ring: Ring,
  ): boolean {
    const { slots } = options;
    const pieceBytes = host.length < LARGE ? options.pieceBytes / 2 : options.pieceBytes;
    const wanted = Math.ceil(host.length / pieceBytes / CHUNKS);
    const piecesAChunk = Math.max(2, Math.min(options.piecesAChunk, wanted));
    this.#drain(ring);
    // What is ahead in the stream may take long: it is waited for here, and not by looking at events all the time.
    if (!up) this.#check(this.#device.cuda.cuStreamSynchronize(on), 'cuStreamSynchronize');
    const user = Number(this.#device.cuda.ffi.address(host));
    const limit = up ? slots * piecesAChunk : 0;
    threads.begin({ user, bytes: host.length, ring: ring.address, toRing: up, slots, pieceBytes, piecesAChunk, limit });
    const pass = new Pass(
      this.#device,
      threads,
      ring,
      { ...options, pieceBytes, piecesAChunk },
      host.length,
      pointer,
      on,
    );
    let complete = false;
    try {
      complete = up ? pass.upload() : pass.download();
    } finally {
      threads.end();
      if (threads.broken) this.#abandon();
    }
    return complete;
  }

  /** A thread may still write to the ring: it is not used any more, and not freed. */
  #abandon(): void {
    this.#options = undefined;
    this.#ring = undefined;
  }

  /** Waits until the device has read what earlier uploads left in the ring. */
  #drain(ring: Ring): void {
    for (const slot of ring.busy) {
      this.#check(this.#device.cuda.cuEventSynchronize(ring.events[slot] as number), 'cuEventSynchronize');
      ring.busy.delete(slot);
    }
  }

  #openRing({ pieceBytes, piecesAChunk, slots }: StagingOptions): Ring | undefined {
    if (this.#ring !== undefined) return this.#ring;
    const { cuda } = this.#device;
    const out = this.#out;
    if (cuda.cuMemHostAlloc(out.at(0), pieceBytes * piecesAChunk * slots, 0) !== 0) {
      // No memory to pin: the driver's own copies need none.
      this.#options = undefined;
      return undefined;
    }
    const address = out.long(0);
    const events = Array.from({ length: slots }, () => {
      this.#check(cuda.cuEventCreate(out.at(0), DISABLE_TIMING), 'cuEventCreate');
      return out.long(0);
    });
    this.#ring = { address, events, busy: new Set() };
    return this.#ring;
  }

  #freeRing(): void {
    if (this.#ring === undefined) return;
    const { cuda } = this.#device;
    for (const event of this.#ring.events) cuda.cuEventDestroy(event);
    cuda.cuMemFreeHost(this.#ring.address);
    this.#ring = undefined;
  }

  #check(result: number, api: string): void {
    if (result !== 0) this.#device.check(result, api);
  }
}

/** One staged transfer under way: chunks go through the slots in order. */
class Pass {
  readonly #device: CopyDevice;
  readonly #threads: CopyThreads;
  readonly #ring: Ring;
  readonly #options: StagingOptions;
  readonly #bytes: number;
  readonly #pointer: number;
  readonly #on: number;
  readonly #chunkBytes: number;
  readonly #chunks: number;

  constructor(
    device: CopyDevice,
    threads: CopyThreads,
    ring: Ring,
    options: StagingOptions,
    bytes: number,
    pointer: number,
    on: number,
  ) {
    this.#device = device;
    this.#threads = threads;
    this.#ring = ring;
    this.#options = options;
    this.#bytes = bytes;
    this.#pointer = pointer;
    this.#on = on;
    this.#chunkBytes = options.pieceBytes * options.piecesAChunk;
    this.#chunks = Math.ceil(bytes / this.#chunkBytes);
  }

  /** Sends what threads have filled, and lets them fill what has been sent. */
  upload(): boolean {
    const { slots, piecesAChunk } = this.#options;
    const threads = this.#threads;
    let sent = 0;
    let read = 0;
    while (sent < this.#chunks) {
      if (threads.takeDone(sent % slots, this.#pieces(sent))) {
        this.#enqueue(sent++, true);
      } else if (read < sent && this.#reached(read)) {
        read++;
        threads.allow((read + slots) * piecesAChunk);
      } else if (!threads.help() && !threads.pause(PAUSE_MS)) {
        return false;
      }
    }
    for (let chunk = read; chunk < sent; chunk++) this.#ring.busy.add(chunk % slots);
    return true;
  }

  /** Fetches into slots that threads have emptied, and lets them empty what has arrived. */
  download(): boolean {
    const { slots, piecesAChunk } = this.#options;
    const threads = this.#threads;
    let asked = 0;
    let arrived = 0;
    let emptied = 0;
    while (emptied < this.#chunks) {
      if (asked < this.#chunks && asked < emptied + slots) {
        this.#enqueue(asked++, false);
      } else if (arrived < asked && this.#reached(arrived)) {
        arrived++;
        threads.allow(arrived * piecesAChunk);
      } else if (threads.takeDone(emptied % slots, this.#pieces(emptied))) {
        emptied++;
      } else if (!threads.help() && !threads.pause(PAUSE_MS)) {
        return false;
      }
    }
    return true;
  }

  #pieces(chunk: number): number {
    return Math.ceil(this.#length(chunk) / this.#options.pieceBytes);
  }

  #length(chunk: number): number {
    return Math.min(this.#chunkBytes, this.#bytes - chunk * this.#chunkBytes);
  }

  #enqueue(chunk: number, up: boolean): void {
    const { cuda } = this.#device;
    const slot = chunk % this.#options.slots;
    const inRing = this.#ring.address + slot * this.#chunkBytes;
    const onDevice = this.#pointer + chunk * this.#chunkBytes;
    const length = this.#length(chunk);
    const result = up
      ? cuda.cuMemcpyHtoDAsync(onDevice, inRing, length, this.#on)
      : cuda.cuMemcpyDtoHAsync(inRing, onDevice, length, this.#on);
    if (result !== 0) this.#device.check(result, up ? 'cuMemcpyHtoDAsync' : 'cuMemcpyDtoHAsync');
    const recorded = cuda.cuEventRecord(this.#ring.events[slot] as number, this.#on);
    if (recorded !== 0) this.#device.check(recorded, 'cuEventRecord');
  }

  #reached(chunk: number): boolean {
    const result = this.#device.cuda.cuEventQuery(this.#ring.events[chunk % this.#options.slots] as number);
    if (result !== 0 && result !== CUDA_ERROR_NOT_READY) this.#device.check(result, 'cuEventQuery');
    return result === 0;
  }
}
