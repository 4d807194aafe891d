/**
 * Work on its way to the queue: commands of many calls go into one encoder, and what they are told into one uniform buffer, for an encoder, a submission and a bind group each would cost
 * more than a small kernel.
 *
 * What has been recorded is submitted when somebody waits or reads, when the host writes what cannot be recorded, and at the end of the turn of the event loop. The first command is submitted
 * at once, so that the device begins; after it twice as many wait for each submission, up to a limit, so that what waits is never more than what the device has been given.
 */
import {
  type GpuBuffer,
  type GpuComputePass,
  type GpuDevice,
  type GpuEncoder,
  type GpuPipeline,
  type GpuQueue,
  USAGE,
} from './api.ts';

/** Where one dispatch begins in the uniform buffer: WebGPU's `minUniformBufferOffsetAlignment` is at most this. */
const SLOT = 256;
/** Commands that are submitted together, at most; and bytes of the uniform buffer, which is full at last with that many slots. */
const MOST = 32;
const BYTES = 65_536;
/** What the host writes is recorded up to so many bytes. */
const SMALL = 8192;
/** Bytes of buffers that wait to be destroyed until what uses them has been submitted. */
const MOST_DOOMED = 2 ** 26;

/** A pipeline with what can be bound to it. */
export interface Pipeline {
  readonly pipeline: GpuPipeline;
  readonly layout: object;
  /** Whether the device has accepted it. One that it refuses spoils the encoder that it is used in, so until this is known it is used in encoders of its own. */
  proven: boolean;
}

export type Grid = readonly [x: number, y: number, z: number];

/** A submission, around which a driver may listen for what the device refuses. `alone`: of a pipeline that is not proven. */
export type Around = (submit: () => void, alone: boolean) => void;

export class Batch {
  /** The uniform buffer: binding 0 of what is dispatched, at an offset of its own for each dispatch. */
  readonly uniform: GpuBuffer;
  readonly #device: GpuDevice;
  /** As the device has them; pages see others, which submit what has been recorded first. */
  readonly #queue: Pick<GpuQueue, 'submit' | 'writeBuffer'>;
  readonly #around: Around;
  readonly #bytes = new Uint8Array(BYTES);
  #used = 0;
  #encoder: GpuEncoder | undefined;
  #pass: GpuComputePass | undefined;
  /** What the pass was last given. */
  #pipeline: Pipeline | undefined;
  #commands = 0;
  #most = 1;
  #ends = false;
  #alone = false;
  #doomed: GpuBuffer[] = [];
  #doomedBytes = 0;

  constructor(device: GpuDevice, around: Around) {
    const { queue } = device;
    this.#device = device;
    this.#queue = { submit: queue.submit.bind(queue), writeBuffer: queue.writeBuffer.bind(queue) };
    this.#around = around;
    this.uniform = device.createBuffer({ size: BYTES, usage: USAGE.uniform | USAGE.copySource | USAGE.copyTarget });
  }

  /** Records a dispatch; `words` are its own in the uniform buffer, and are copied. */
  dispatch(pipeline: Pipeline, group: object, words: Uint8Array, [x, y, z]: Grid): void {
    const { proven } = pipeline;
    if (!proven || this.#alone || this.#used + words.length > BYTES) this.#submit(false);
    const offset = this.#place(words);
    this.#encoder ??= this.#device.createCommandEncoder();
    this.#pass ??= this.#encoder.beginComputePass();
    const pass = this.#pass;
    if (this.#pipeline !== pipeline) pass.setPipeline(pipeline.pipeline);
    this.#pipeline = pipeline;
    pass.setBindGroup(0, group, [offset]);
    pass.dispatchWorkgroups(x, y, z);
    if (proven) this.#recorded();
    else this.#submit(true);
  }

  /** Records other commands; `words` are their own in the uniform buffer, and are copied there to `at`. */
  encode(record: (encoder: GpuEncoder, at: number) => void, words?: Uint8Array): void {
    const bytes = words?.length ?? 0;
    if (this.#alone || this.#used + bytes > BYTES) this.#submit(false);
    const at = words === undefined ? 0 : this.#place(words);
    this.#encoder ??= this.#device.createCommandEncoder();
    this.#endPass();
    record(this.#encoder, at);
    this.#recorded();
  }

  /** Writes whole words into a buffer, behind what has been recorded; `fresh`: that uses nothing of them. */
  write(buffer: GpuBuffer, at: number, bytes: Uint8Array, fresh = false): void {
    if (this.#encoder !== undefined && !fresh && bytes.length <= SMALL) {
      const copy = (encoder: GpuEncoder, from: number): void =>
        encoder.copyBufferToBuffer(this.uniform, from, buffer, at, bytes.length);
      return this.encode(copy, bytes);
    }
    if (!fresh) this.#submit(false);
    this.#queue.writeBuffer(buffer, at, bytes);
  }

  /** Whether all that is recorded from now on is submitted by itself: the device might refuse it. */
  set alone(alone: boolean) {
    this.#alone = alone;
  }

  /** Submits what has been recorded. Somebody waits for it: what comes next begins at once again. */
  flush(): void {
    this.#submit(false);
    this.#most = 1;
  }

  /** Submits what has been recorded, for which nobody waits. */
  send(): void {
    this.#submit(false);
  }

  /** Destroys a buffer as soon as nothing that has been recorded uses it; WebGPU keeps it for what has been submitted. */
  destroy(buffer: GpuBuffer): void {
    if (this.#encoder === undefined) return buffer.destroy();
    this.#doomed.push(buffer);
    this.#doomedBytes += buffer.size;
    if (this.#doomedBytes > MOST_DOOMED) this.#submit(false);
  }

  close(): void {
    for (const buffer of [...this.#doomed.splice(0), this.uniform]) buffer.destroy();
    this.#encoder = undefined;
  }

  #place(bytes: Uint8Array): number {
    const at = this.#used;
    this.#bytes.set(bytes, at);
    this.#used += Math.ceil(bytes.length / SLOT) * SLOT;
    return at;
  }

  #recorded(): void {
    if (++this.#commands >= this.#most || this.#alone) {
      this.#submit(false);
      this.#most = Math.min(MOST, 2 * this.#most);
    } else if (!this.#ends) {
      this.#ends = true;
      queueMicrotask(() => {
        this.#ends = false;
        this.#submit(false);
      });
    }
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
    this.#pipeline = undefined;
  }

  #submit(alone: boolean): void {
    const encoder = this.#encoder;
    if (encoder === undefined) return;
    const queue = this.#queue;
    this.#endPass();
    if (this.#used > 0) queue.writeBuffer(this.uniform, 0, this.#bytes, 0, this.#used);
    this.#encoder = undefined;
    this.#commands = 0;
    this.#used = 0;
    this.#around(() => queue.submit([encoder.finish()]), alone);
    for (const buffer of this.#doomed.splice(0)) buffer.destroy();
    this.#doomedBytes = 0;
  }
}
