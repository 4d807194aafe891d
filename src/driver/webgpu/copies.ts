/**
 * Copies and fills of one WebGPU device. WebGPU copies whole words that stand on words; all else goes through a buffer of our own and a kernel. Host memory that is copied from is read
 * at once, whatever the stream. W3C: WebGPU, section "Buffer Copy Commands" and `GPUQueue.writeBuffer`.
 */
import { planFill } from '../copies/fill-plan.ts';
import { copyOnHost, type HostSpan, hostSpan } from '../copies/host-span.ts';
import { launchesOf } from '../copies/launches.ts';
import { bytesOf, compact, fillWalkOf, renormal, replaceSide, span, type Walk, walkOf } from '../copies/walk.ts';
import type { DeviceSide, HostSide, Pointer, StridedCopy, StridedFill } from '../driver.ts';
import { type GpuBuffer, type GpuDevice, MAP_READ, USAGE } from './api.ts';
import type { Batch } from './batch.ts';
import { CopyKernels } from './copy-kernels.ts';
import type { Location, WebGpuMemory } from './memory.ts';

/** Gives bytes to who uses them, when they are there. */
export type Staged = (use: (bytes: Uint8Array) => void) => PromiseLike<void>;

/** Bytes of a buffer for small reads, and how many are kept. */
const STAGING = 65_536;
const MOST_STAGING = 4;

export class Copies {
  readonly #device: GpuDevice;
  readonly #memory: WebGpuMemory;
  readonly #batch: Batch;
  readonly #kernels: CopyKernels;
  /** Buffers for small reads that nobody uses now. */
  readonly #staging: GpuBuffer[] = [];

  constructor(device: GpuDevice, memory: WebGpuMemory, batch: Batch) {
    this.#device = device;
    this.#memory = memory;
    this.#batch = batch;
    this.#kernels = new CopyKernels(device, batch);
  }

  copyToDevice(target: Pointer, source: Uint8Array): void {
    if (source.length === 0) return;
    this.#write(this.#memory.resolve(target, 0, source.length, 'copyToDevice'), source);
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number): void {
    if (bytes === 0) return;
    this.#move({ axes: [], item: bytes, t: 0, s: 0, ordered: false }, target, source, 'copyOnDevice');
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>): void {
    const walk = walkOf(copy);
    if (walk === undefined) return;
    const host = hostSpan(walk, 's', copy.source);
    const to = this.#memory.resolve(copy.target.pointer, ...span(walk, 't'), 'copyToDeviceStrided');
    const strides = compact(walk);
    const packed: HostSpan = { bytes: new Uint8Array(bytesOf(walk)), offset: 0 };
    copyOnHost(replaceSide(walk, 't', 0, strides), packed, host);
    const deliver = renormal(replaceSide(walk, 's', 0, strides));
    if (deliver.axes.length === 0) {
      this.#write({ buffer: to.buffer, offset: to.offset + deliver.t }, packed.bytes);
      return;
    }
    this.#withTemporary(packed.bytes.length, (temporary) => {
      this.#writeFresh(temporary, packed.bytes);
      this.#kernels.run(launchesOf(deliver, to.offset, 0), to.buffer, temporary);
    });
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>): void {
    const walk = walkOf(copy);
    if (walk !== undefined) this.#move(walk, copy.target.pointer, copy.source.pointer, 'copyOnDeviceStrided');
  }

  fillStrided(fill: StridedFill<DeviceSide>): void {
    const walk = fillWalkOf(fill);
    if (walk === undefined) return;
    const to = this.#memory.resolve(fill.target.pointer, ...span(walk, 't'), 'fillStrided');
    const plan = planFill(fill, to.offset);
    if (plan === undefined) return;
    if (plan.how === 'kernel') {
      this.#kernels.run(plan.launches, to.buffer, undefined, repeated(plan.pattern, 16));
      return;
    }
    if (plan.how === 'memset') {
      const { size, count, target } = plan;
      const all: Walk = { axes: [], item: size * count, t: 0, s: 0, ordered: false };
      const pattern = repeated(fill.pattern.subarray(0, size), 16);
      this.#kernels.run(launchesOf(all, target, undefined), to.buffer, undefined, pattern);
      return;
    }
    this.#withTemporary(plan.pattern.length, (temporary) => {
      this.#writeFresh(temporary, plan.pattern);
      this.#kernels.run(launchesOf(plan.walk, to.offset, 0), to.buffer, temporary);
    });
  }

  /** All reads are enqueued when this returns; the function that it gives fills the target once the buffer can be mapped. */
  fetch(copy: StridedCopy<HostSide, DeviceSide>): (() => PromiseLike<void>) | undefined {
    const walk = walkOf(copy);
    if (walk === undefined) return undefined;
    const host = hostSpan(walk, 't', copy.target);
    const from = this.#memory.resolve(copy.source.pointer, ...span(walk, 's'), 'copyToHostLater');
    const strides = compact(walk);
    const bytes = bytesOf(walk);
    const packed = renormal({ ...replaceSide(walk, 't', 0, strides), ordered: false });
    const start = from.offset + packed.s;
    const staging =
      packed.axes.length === 0 && start % 4 === 0
        ? this.stage(from.buffer, start, bytes)
        : this.#withTemporary(bytes, (between) => {
            this.#copy(packed, { buffer: between, offset: 0 }, from);
            return this.stage(between, 0, bytes);
          });
    return () => staging((read) => copyOnHost(replaceSide(walk, 's', 0, strides), host, { bytes: read, offset: 0 }));
  }

  /** Bytes of a buffer as they are now, from a whole word on, for who uses them when the device has come so far; they are gone afterwards. Submits what has been recorded. */
  stage(source: GpuBuffer, from: number, bytes: number): Staged {
    const size = Math.ceil(bytes / 4) * 4;
    const isSmall = size <= STAGING;
    const staging =
      (isSmall ? this.#staging.pop() : undefined) ??
      this.#device.createBuffer({ size: isSmall ? STAGING : size, usage: USAGE.mapRead | USAGE.copyTarget });
    this.#copyWords(source, from, staging, 0, size);
    this.#batch.flush();
    const mapped = staging.mapAsync(MAP_READ, 0, size);
    // Whoever reads is told; a device that is gone rejects before.
    mapped.then(undefined, () => undefined);
    return (use) =>
      mapped
        .then(() => use(new Uint8Array(staging.getMappedRange(0, size), 0, bytes)))
        .then(
          () => {
            staging.unmap();
            if (isSmall && this.#staging.length < MOST_STAGING) this.#staging.push(staging);
            else staging.destroy();
          },
          (error) => {
            staging.destroy();
            throw error;
          },
        );
  }

  close(): void {
    for (const buffer of this.#staging.splice(0)) buffer.destroy();
  }

  #write({ buffer, offset }: Location, source: Uint8Array): void {
    const aligned = offset % 4 === 0 && source.length % 4 === 0;
    if (aligned) return this.#batch.write(buffer, offset, source);
    this.#withTemporary(source.length, (temporary) => {
      this.#writeFresh(temporary, source);
      const walk: Walk = { axes: [], item: source.length, t: 0, s: 0, ordered: false };
      this.#copy(walk, { buffer, offset }, { buffer: temporary, offset: 0 });
    });
  }

  #move(walk: Walk, target: Pointer, source: Pointer, api: string): void {
    const to = this.#memory.resolve(target, ...span(walk, 't'), api);
    const from = this.#memory.resolve(source, ...span(walk, 's'), api);
    if (to.buffer !== from.buffer) return this.#copy(walk, to, from);
    // A buffer cannot be bound twice, nor copied to itself where the ranges meet.
    const strides = compact(walk);
    this.#withTemporary(bytesOf(walk), (temporary) => {
      const out = renormal({ ...replaceSide(walk, 't', 0, strides), ordered: false });
      this.#copy(out, { buffer: temporary, offset: 0 }, from);
      this.#copy(renormal(replaceSide(walk, 's', 0, strides)), to, { buffer: temporary, offset: 0 });
    });
  }

  #copy(walk: Walk, to: Location, from: Location): void {
    const [t, s] = [to.offset + walk.t, from.offset + walk.s];
    if (walk.axes.length === 0 && [t, s, walk.item].every((n) => n % 4 === 0)) {
      return this.#copyWords(from.buffer, s, to.buffer, t, walk.item);
    }
    this.#kernels.run(launchesOf(walk, to.offset, from.offset), to.buffer, from.buffer);
  }

  #copyWords(from: GpuBuffer, s: number, to: GpuBuffer, t: number, bytes: number): void {
    this.#batch.encode((encoder) => encoder.copyBufferToBuffer(from, s, to, t, bytes));
  }

  /** Bytes at the beginning of a temporary buffer, which nothing that has been recorded uses. */
  #writeFresh(temporary: GpuBuffer, bytes: Uint8Array): void {
    const whole = bytes.length % 4 === 0 ? bytes : new Uint8Array(Math.ceil(bytes.length / 4) * 4);
    if (whole !== bytes) whole.set(bytes);
    this.#batch.write(temporary, 0, whole, true);
  }

  /** A buffer that lives until the commands that `body` enqueues are done. */
  #withTemporary<R>(bytes: number, body: (buffer: GpuBuffer) => R): R {
    const buffer = this.#memory.create(bytes);
    try {
      return body(buffer);
    } finally {
      this.#batch.destroy(buffer);
    }
  }
}

/** A pattern as long as the largest unit: of smaller ones its beginning is read. */
function repeated(pattern: Uint8Array, bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, k) => pattern[k % pattern.length] as number);
}
