/**
 * Contiguous transfers between host and device: the driver's own copy, or staging by several threads for large pageable memory.
 *
 * Everything here takes CUstreams. Uploads have read the host's bytes on return, except from memory that the driver has pinned;
 * downloads from pageable memory have written them.
 */
import { OutParameters } from '../../../ffi/out-parameters.ts';
import { CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_READY } from '../result.ts';
import type { CopyDevice } from './device.ts';
import { LaterTransfers, type Source } from './later-transfers.ts';
import { Staging } from './staging.ts';

/** CU_POINTER_ATTRIBUTE_MEMORY_TYPE: fails for memory that the driver does not know. */
const MEMORY_TYPE = 2;
const DISABLE_TIMING = 2;
/** Bytes at a time that take the way round by a copy. */
const DETOUR = 16 * 2 ** 20;

/** Host memory that the device may still read, until its event is reached. */
interface Held {
  readonly event: number;
  readonly bytes: Uint8Array;
}

export class HostTransfers {
  readonly #device: CopyDevice;
  readonly #out: OutParameters;
  readonly #staging: Staging;
  readonly #later: LaterTransfers;
  #held: Held[] = [];

  constructor(device: CopyDevice) {
    this.#device = device;
    this.#out = new OutParameters(device.cuda.ffi);
    this.#staging = new Staging(device, {
      upload: (target, source, on) => this.#ownUpload(target, source, on),
      download: (target, source, on) => this.#ownDownload(target, source, on),
    });
    this.#later = new LaterTransfers(device);
  }

  upload(target: number, source: Uint8Array, on: number): void {
    const staged = this.#staging.isFor(source.length) && !this.isPinned(source);
    if (!staged || !this.#staging.upload(target, source, on)) this.#ownUpload(target, source, on);
  }

  download(target: Uint8Array, source: number, on: number): void {
    const staged = this.#staging.isFor(target.length) && !this.isPinned(target);
    if (!staged || !this.#staging.download(target, source, on)) this.#ownDownload(target, source, on);
  }

  /**
   * Uploads by the driver's synchronous call, which waits for the default stream and costs one call instead of two; false where
   * that is not the way.
   */
  uploadAtOnce(target: number, source: Uint8Array): boolean {
    if (this.#staging.isFor(source.length)) return false;
    return this.#done(this.#device.cuda.cuMemcpyHtoD(target, source, source.length), 'cuMemcpyHtoD');
  }

  /** Downloads likewise. */
  downloadAtOnce(target: Uint8Array, source: number): boolean {
    if (this.#staging.isFor(target.length)) return false;
    return this.#done(this.#device.cuda.cuMemcpyDtoH(target, source, target.length), 'cuMemcpyDtoH');
  }

  /** False where the driver refuses the host memory, because only a part of it is registered. */
  #done(result: number, api: string): boolean {
    if (result === CUDA_ERROR_INVALID_VALUE) return false;
    if (result !== 0) this.#device.check(result, api);
    return true;
  }

  #ownUpload(target: number, source: Uint8Array, on: number): void {
    const { cuda } = this.#device;
    const result = cuda.cuMemcpyHtoDAsync(target, source, source.length, on);
    if (result === 0) return;
    if (result !== CUDA_ERROR_INVALID_VALUE) this.#device.check(result, 'cuMemcpyHtoDAsync');
    // The driver refuses host memory of which only a part is registered. A copy of it is not registered at all.
    for (let at = 0; at < source.length; at += DETOUR) {
      const bytes = source.slice(at, at + DETOUR);
      this.#device.check(cuda.cuMemcpyHtoDAsync(target + at, bytes, bytes.length, on), 'cuMemcpyHtoDAsync');
      this.hold(bytes, on);
    }
  }

  #ownDownload(target: Uint8Array, source: number, on: number): void {
    const { cuda } = this.#device;
    const result = cuda.cuMemcpyDtoHAsync(target, source, target.length, on);
    if (result === 0) return;
    if (result !== CUDA_ERROR_INVALID_VALUE) this.#device.check(result, 'cuMemcpyDtoHAsync');
    for (let at = 0; at < target.length; at += DETOUR) {
      const bytes = new Uint8Array(Math.min(DETOUR, target.length - at));
      this.#device.check(cuda.cuMemcpyDtoHAsync(bytes, source + at, bytes.length, on), 'cuMemcpyDtoHAsync');
      this.#device.check(cuda.cuStreamSynchronize(on), 'cuStreamSynchronize');
      target.set(bytes, at);
    }
  }

  /** Downloads without blocking; resolves when the bytes are there. */
  downloadLater(target: Uint8Array, source: Source, on: number): Promise<void> {
    return this.#later.download(target, this.isPinned(target), source, on);
  }

  /** Whether the driver has pinned these bytes, all of them. */
  isPinned(bytes: Uint8Array): boolean {
    const { cuda } = this.#device;
    const first = Number(cuda.ffi.address(bytes));
    const known = (address: number): boolean => cuda.cuPointerGetAttribute(this.#out.at(0), MEMORY_TYPE, address) === 0;
    return known(first) && known(first + bytes.length - 1);
  }

  /** Keeps host bytes alive until `on` has come to where it is now. */
  hold(bytes: Uint8Array, on: number): void {
    const { cuda } = this.#device;
    this.#held = this.#held.filter(({ event }) => {
      if (cuda.cuEventQuery(event) === CUDA_ERROR_NOT_READY) return true;
      cuda.cuEventDestroy(event);
      return false;
    });
    this.#device.check(cuda.cuEventCreate(this.#out.at(0), DISABLE_TIMING), 'cuEventCreate');
    const event = this.#out.long(0);
    this.#held.push({ event, bytes });
    this.#device.check(cuda.cuEventRecord(event, on), 'cuEventRecord');
  }

  /** Gives buffers, events and threads back; the device has run dry. */
  close(): void {
    for (const { event } of this.#held) this.#device.cuda.cuEventDestroy(event);
    this.#held = [];
    this.#staging.close();
    this.#later.close();
  }
}
