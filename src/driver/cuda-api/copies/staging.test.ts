/**
 * Staging by real threads, with a device that is host memory: its copies are done when its events are looked at, as late as can be.
 */
import { describe, expect, it } from 'vitest';
import { type FfiOrReason, loadFfi } from '../../../ffi/koffi.ts';
import type { Cuda } from '../functions.ts';
import { CUDA_ERROR_NOT_READY } from '../result.ts';
import { nativeMemcpy } from './copy-threads.ts';
import type { CopyDevice } from './device.ts';
import { Staging, stagingFor } from './staging.ts';

const found: FfiOrReason = loadFfi();
const ffi = 'ffi' in found ? found.ffi : undefined;
const MIB = 2 ** 20;

/** Copies that run when an event behind them is asked for the second time. */
class LateDevice {
  readonly #queue: (() => void)[] = [];
  readonly #events: { after: number; asked: number }[] = [];
  readonly #buffers: ArrayBuffer[] = [];
  #done = 0;
  own = 0;

  get device(): CopyDevice {
    if (ffi === undefined) throw new Error('no FFI');
    const memcpy = nativeMemcpy(ffi)?.memcpy;
    const later = (target: number, source: number, bytes: number): number => {
      this.#queue.push(() => memcpy?.(target, source, bytes));
      return 0;
    };
    const result = (address: number, value: number): number => {
      memcpy?.(address, Number(ffi?.address(new BigUint64Array([BigInt(value)]))), 8);
      return 0;
    };
    const calls = {
      ffi,
      cuMemHostAlloc: (address: number, bytes: number) => {
        const buffer = new ArrayBuffer(bytes);
        this.#buffers.push(buffer);
        return result(address, Number(ffi?.address(new Uint8Array(buffer))));
      },
      cuMemFreeHost: () => 0,
      cuMemcpyHtoDAsync: later,
      cuMemcpyDtoHAsync: later,
      cuEventCreate: (address: number) => result(address, this.#events.push({ after: 0, asked: 0 }) - 1),
      cuEventRecord: (event: number) => {
        this.#events[event] = { after: this.#queue.length, asked: 0 };
        return 0;
      },
      cuEventQuery: (event: number) => {
        const state = this.#events[event];
        if (state === undefined) return 1;
        if (this.#done < state.after && state.asked++ < 1) return CUDA_ERROR_NOT_READY;
        this.run(state.after);
        return 0;
      },
      cuEventSynchronize: (event: number) => this.run(this.#events[event]?.after ?? 0),
      cuEventDestroy: () => 0,
      cuStreamSynchronize: () => this.run(this.#queue.length),
    };
    const check = (code: number): void => expect(code).toBe(0);
    return { cuda: calls as unknown as Cuda, check } as unknown as CopyDevice;
  }

  /** Does what was enqueued before. */
  run(end = this.#queue.length): number {
    while (this.#done < end) this.#queue[this.#done++]?.();
    return 0;
  }

  staging(workers: number): Staging {
    const { device } = this;
    const count = () => {
      this.own++;
    };
    const own = { upload: count, download: count };
    return new Staging(device, own, { workers, pieceBytes: 65536, piecesAChunk: 8, slots: 3 });
  }
}

const all = new Uint32Array(10 * MIB);
for (let k = 0; k < all.length; k++) all[k] = Math.imul(k, 2654435761);
const noise = (length: number): Uint8Array => new Uint8Array(all.buffer).subarray(0, length);
const address = (bytes: Uint8Array): number => Number(ffi?.address(bytes));

describe.skipIf(ffi === undefined)('staging', () => {
  it('moves every byte, in chunks that wait for the device', async () => {
    const late = new LateDevice();
    const staging = late.staging(2);
    const memory = new Uint8Array(40 * MIB);
    // The first is the driver's own, for the threads are not there yet.
    expect(staging.upload(address(memory), noise(32 * MIB), 0)).toBe(true);
    expect(late.own).toBe(1);
    expect(staging.threads?.awaitReady(2, 10_000)).toBe(2);
    for (const bytes of [8 * MIB, 9 * MIB + 1, 40 * MIB - 3]) {
      const source = noise(bytes);
      memory.fill(0);
      expect(staging.upload(address(memory), source, 0)).toBe(true);
      late.run();
      expect(Buffer.compare(memory.subarray(0, bytes), source)).toBe(0);
      const back = new Uint8Array(bytes);
      expect(staging.download(back, address(memory), 0)).toBe(true);
      expect(Buffer.compare(back, source)).toBe(0);
    }
    expect(late.own).toBe(1);
    staging.close();
  });

  it('starts no threads for transfers that are not large', () => {
    const staging = new LateDevice().staging(2);
    expect(staging.upload(0, new Uint8Array(31 * MIB), 0)).toBe(false);
    expect(staging.threads).toBeUndefined();
    staging.close();
  });

  it('is the driver’s own copy once a thread has gone away', async () => {
    const late = new LateDevice();
    const staging = late.staging(1);
    staging.upload(0, new Uint8Array(32 * MIB), 0);
    expect(staging.threads?.awaitReady(1, 10_000)).toBe(1);
    await staging.threads?.workers[0]?.terminate();
    const memory = new Uint8Array(16 * MIB);
    expect(staging.upload(address(memory), noise(16 * MIB), 0)).toBe(true);
    late.run();
    // This thread alone does it all.
    expect(Buffer.compare(memory, noise(16 * MIB))).toBe(0);
    staging.close();
  });

  it('is not for machines with few cores', () => {
    expect([1, 2, 3].map(stagingFor)).toEqual([undefined, undefined, undefined]);
    expect([4, 16].map((cores) => stagingFor(cores)?.workers)).toEqual([3, 5]);
  });
});
