/**
 * Two pinned buffers by turns, into which the host gathers what the device fetches, and from which it scatters what arrived.
 */
import { OutParameters } from '../../../ffi/out-parameters.ts';
import type { CopyDevice } from './device.ts';
import { BOUNCE_BYTES } from './plan.ts';

const BUFFERS = 2;
const DISABLE_TIMING = 2;

/** A pinned buffer. */
export interface Bounce {
  readonly bytes: Uint8Array;
  readonly address: number;
  readonly event: number;
}

/** The buffers of one device, made when they are first needed. */
export class BounceBuffers {
  readonly #device: CopyDevice;
  readonly #out: OutParameters;
  readonly #buffers: Bounce[] = [];
  /** Buffers that the device may still be reading. */
  readonly #busy = new Set<Bounce>();
  #turn = 0;

  constructor(device: CopyDevice) {
    this.#device = device;
    this.#out = new OutParameters(device.cuda.ffi);
  }

  /** A buffer that the device is not reading any more. */
  next(): Bounce {
    const turn = this.#turn++ % BUFFERS;
    const buffer = this.#buffers[turn] ?? this.#make(turn);
    if (this.#busy.delete(buffer)) {
      this.#device.check(this.#device.cuda.cuEventSynchronize(buffer.event), 'cuEventSynchronize');
    }
    return buffer;
  }

  /** What is enqueued on the CUstream up to now reads the buffer. */
  sent(buffer: Bounce, on: number): void {
    this.#busy.add(buffer);
    this.#device.check(this.#device.cuda.cuEventRecord(buffer.event, on), 'cuEventRecord');
  }

  /** Gives the buffers back; the device has run dry. */
  close(): void {
    const { cuda } = this.#device;
    for (const { address, event } of this.#buffers) {
      cuda.cuEventDestroy(event);
      cuda.cuMemFreeHost(address);
    }
    this.#buffers.length = 0;
    this.#busy.clear();
  }

  #make(turn: number): Bounce {
    const { cuda } = this.#device;
    this.#device.check(cuda.cuEventCreate(this.#out.at(0), DISABLE_TIMING), 'cuEventCreate');
    const event = this.#out.long(0);
    this.#device.check(cuda.cuMemHostAlloc(this.#out.at(0), BOUNCE_BYTES, 0), 'cuMemHostAlloc');
    const address = this.#out.long(0);
    const buffer = { address, event, bytes: new Uint8Array(cuda.ffi.view(address, BOUNCE_BYTES)) };
    this.#buffers[turn] = buffer;
    return buffer;
  }
}
