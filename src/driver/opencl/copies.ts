/**
 * Copies and fills of one OpenCL device: the copy part of the driver contract.
 *
 * Without a stream everything goes through the default stream and is done on return. Strided copies between host and device are block
 * copies (clEnqueue…BufferRect) where rows are long enough for that; else the host gathers or scatters, and a kernel packs or
 * spreads on the device. OpenCL API specification, sections "Reading, Writing and Copying Buffer Objects", "Filling Buffer Objects".
 */

import { sizeOf } from '../../layout/index.ts';
import { type Blocks, blocksOf } from '../copies/blocks.ts';
import { planFill } from '../copies/fill-plan.ts';
import { copyOnHost, type HostSpan, hostSpan, part } from '../copies/host-span.ts';
import { launchesOf } from '../copies/launches.ts';
import { bytesOf, compact, dense, fillWalkOf, renormal, replaceSide, span, type Walk, walkOf } from '../copies/walk.ts';
import type { DeviceSide, HostSide, Pointer, StreamHandle, StridedCopy, StridedFill } from '../driver.ts';
import type { CopyCalls } from '../enqueued.ts';
import type { OpenCLContext } from './context.ts';
import type { CopyKernels } from './copy-kernels.ts';
import type { DeviceBuffer, Location, OpenCLMemory } from './memory.ts';
import type { OpenCLStream, Queues } from './queues.ts';
import { Transfers } from './transfers.ts';

/** What copies need of their device. */
export interface CopyDevice {
  readonly context: OpenCLContext;
  readonly memory: OpenCLMemory;
  readonly queues: Queues;
  readonly kernels: CopyKernels;
  streamOf(stream: StreamHandle | undefined, api: string): OpenCLStream;
  /** Waits for the default stream; throws what went wrong. */
  synchronizeAndCheck(): void;
}

/** A row of a block copy is worth a command of its own engine from this width on; few rows always are. */
const ROW_BYTES = 64;
const FEW_ROWS = 64;
/** Block copies that a strided copy may take. */
const MAX_BLOCKS = 16;

/** The copies of one open device. */
export class Copies implements CopyCalls {
  readonly #device: CopyDevice;
  readonly #transfers: Transfers;

  constructor(device: CopyDevice) {
    this.#device = device;
    this.#transfers = new Transfers(device.context, device.queues);
  }

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    const on = this.#enter('copyToDevice', stream);
    if (source.length > 0) {
      const to = this.#device.memory.resolve(target, 0, source.length, 'copyToDevice');
      this.#reading(to.buffer, on);
      this.#transfers.write(on, to.buffer.handle, to.offset, source, stream === undefined);
      this.#wrote(to.buffer, on);
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    const on = this.#enter('copyToHost', stream);
    if (target.length > 0) {
      const from = this.#device.memory.resolve(source, 0, target.length, 'copyToHost');
      this.#reading(from.buffer, on);
      this.#transfers.read(on, from.buffer.handle, from.offset, target, stream === undefined);
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    const on = this.#enter('copyOnDevice', stream);
    if (bytes > 0) {
      const walk: Walk = { axes: [], item: bytes, t: 0, s: 0, ordered: false };
      this.#move(walk, target, source, on, 'copyOnDevice');
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    const on = this.#enter('copyToDeviceStrided', stream);
    const walk = walkOf(copy);
    if (walk !== undefined) {
      const host = hostSpan(walk, 's', copy.source);
      const to = this.#device.memory.resolve(copy.target.pointer, ...span(walk, 't'), 'copyToDeviceStrided');
      this.#reading(to.buffer, on);
      this.#upload(walk, to, host, on);
      this.#wrote(to.buffer, on);
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void {
    const on = this.#enter('copyToHostStrided', stream);
    const scatter = this.#fetch(copy, on, 'copyToHostStrided');
    if (scatter !== undefined) {
      this.#device.queues.finish(on);
      scatter();
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    const on = this.#enter('copyOnDeviceStrided', stream);
    const walk = walkOf(copy);
    if (walk !== undefined) this.#move(walk, copy.target.pointer, copy.source.pointer, on, 'copyOnDeviceStrided');
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    const on = this.#enter('fillStrided', stream);
    const walk = fillWalkOf(fill);
    if (walk !== undefined) {
      const to = this.#device.memory.resolve(fill.target.pointer, ...span(walk, 't'), 'fillStrided');
      this.#reading(to.buffer, on);
      this.#fill(fill, to, on);
      this.#wrote(to.buffer, on);
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  /**
   * Copies to the host without ever blocking: resolves once the bytes are in the target. What is enqueued on the stream afterwards may
   * already change the source.
   */
  async copyToHostLater(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): Promise<void> {
    const on = this.#enter('copyToHostLater', stream);
    if (sizeOf(copy.shape) === 0) return;
    const scatter = this.#fetch(copy, on, 'copyToHostLater');
    await this.#device.queues.reachedLater(on);
    scatter?.();
  }

  #enter(api: string, stream: StreamHandle | undefined): OpenCLStream {
    this.#device.context.enter(api);
    return this.#device.streamOf(stream, api);
  }

  #upload(walk: Walk, to: Location, host: HostSpan, on: OpenCLStream): void {
    const blocks = worthwhile(blocksOf(walk));
    if (blocks !== undefined) return this.#transfers.writeBlocks(on, blocks, to, host);
    // Gathered on the host, one element after another; from there on to the device.
    const packed: HostSpan = { bytes: scratch(bytesOf(walk)), offset: 0 };
    const strides = compact(walk);
    copyOnHost(replaceSide(walk, 't', 0, strides), packed, host);
    const deliver = renormal(replaceSide(walk, 's', 0, strides));
    const direct = worthwhile(blocksOf(deliver));
    if (direct !== undefined) return this.#transfers.writeBlocks(on, direct, to, packed);
    this.#withTemporary(packed.bytes.length, (temporary) => {
      this.#transfers.write(on, temporary, 0, packed.bytes, false);
      this.#device.kernels.run(launchesOf(deliver, to.offset, 0), on, to.buffer.handle, temporary);
    });
  }

  /** Enqueues a copy to the host; what is left for the host to do once the stream has come that far, if anything is. */
  #fetch(copy: StridedCopy<HostSide, DeviceSide>, on: OpenCLStream, api: string): (() => void) | undefined {
    const walk = walkOf(copy);
    if (walk === undefined) return undefined;
    const host = hostSpan(walk, 't', copy.target);
    const from = this.#device.memory.resolve(copy.source.pointer, ...span(walk, 's'), api);
    this.#reading(from.buffer, on);
    return this.#download(walk, host, from, on);
  }

  #download(walk: Walk, host: HostSpan, from: Location, on: OpenCLStream): (() => void) | undefined {
    const blocks = worthwhile(blocksOf(walk));
    if (blocks !== undefined) {
      this.#transfers.readBlocks(on, blocks, host, from);
      return undefined;
    }
    if (!walk.ordered && dense(walk, 't')) {
      const [low, high] = span(walk, 't');
      this.#pack({ ...walk, t: walk.t - low }, part(host, low, high - low), from, on);
      return undefined;
    }
    // Packed on the device, one element after another; the host scatters what has come.
    const strides = compact(walk);
    const packed = scratch(bytesOf(walk));
    this.#pack(renormal({ ...replaceSide(walk, 't', 0, strides), ordered: false }), packed, from, on);
    return () => copyOnHost(replaceSide(walk, 's', 0, strides), host, { bytes: packed, offset: 0 });
  }

  /** The elements of a walk whose target is the whole of `into`. */
  #pack(walk: Walk, into: Uint8Array, from: Location, on: OpenCLStream): void {
    if (walk.axes.length === 0) {
      return this.#transfers.read(on, from.buffer.handle, from.offset + walk.s, into, false);
    }
    this.#withTemporary(into.length, (temporary) => {
      this.#device.kernels.run(launchesOf(walk, 0, from.offset), on, temporary, from.buffer.handle);
      this.#transfers.read(on, temporary, 0, into, false);
    });
  }

  #move(walk: Walk, target: Pointer, source: Pointer, on: OpenCLStream, api: string): void {
    const to = this.#device.memory.resolve(target, ...span(walk, 't'), api);
    const from = this.#device.memory.resolve(source, ...span(walk, 's'), api);
    this.#reading(from.buffer, on);
    if (to.buffer !== from.buffer) this.#reading(to.buffer, on);
    if (overlapping(walk, to, from)) {
      const strides = compact(walk);
      const out = renormal({ ...replaceSide(walk, 't', 0, strides), ordered: false });
      this.#withTemporary(bytesOf(walk), (temporary) => {
        this.#copy(out, { handle: temporary, offset: 0 }, { handle: from.buffer.handle, offset: from.offset }, on);
        const back = renormal(replaceSide(walk, 's', 0, strides));
        this.#copy(back, { handle: to.buffer.handle, offset: to.offset }, { handle: temporary, offset: 0 }, on);
      });
    } else {
      const [there, here] = [to, from].map(({ buffer, offset }) => ({ handle: buffer.handle, offset })) as [Spot, Spot];
      this.#copy(walk, there, here, on);
    }
    this.#wrote(to.buffer, on);
  }

  #copy(walk: Walk, to: Spot, from: Spot, on: OpenCLStream): void {
    if (walk.axes.length === 0) {
      this.#transfers.copy(on, from.handle, from.offset + walk.s, to.handle, to.offset + walk.t, walk.item);
    } else {
      this.#device.kernels.run(launchesOf(walk, to.offset, from.offset), on, to.handle, from.handle);
    }
  }

  #fill(fill: StridedFill<DeviceSide>, to: Location, on: OpenCLStream): void {
    const plan = planFill(fill, to.offset);
    if (plan === undefined) return;
    const { handle } = to.buffer;
    switch (plan.how) {
      case 'memset':
        this.#transfers.fill(on, handle, plan.target, plan.size * plan.count, fill.pattern.subarray(0, plan.size));
        break;
      case 'kernel':
        this.#device.kernels.run(plan.launches, on, handle, 0, plan.pattern);
        break;
      case 'copy':
        this.#withTemporary(plan.pattern.length, (temporary) => {
          this.#transfers.write(on, temporary, 0, scratch(plan.pattern.length, plan.pattern), false);
          this.#device.kernels.run(launchesOf(plan.walk, to.offset, 0), on, handle, temporary);
        });
    }
  }

  /** A buffer that lives until the commands that `body` enqueues are done. */
  #withTemporary(bytes: number, body: (handle: number) => void): void {
    const { memory, context } = this.#device;
    const handle = memory.create(bytes);
    try {
      body(handle);
    } finally {
      context.cl.clReleaseMemObject(handle);
    }
  }

  /** The device's copy of host memory is brought up to date before it is used. */
  #reading(buffer: DeviceBuffer, on: OpenCLStream): void {
    if (buffer.mirror !== undefined) this.#transfers.write(on, buffer.handle, 0, buffer.mirror, false);
  }

  /** Shows the host what has been written to the device's copy of its memory. */
  #wrote(buffer: DeviceBuffer, on: OpenCLStream): void {
    if (buffer.mirror !== undefined) this.#transfers.read(on, buffer.handle, 0, buffer.mirror, false);
  }

  /** Before a launch whose arguments point into these mirrors. */
  push(mirrors: Iterable<DeviceBuffer>, on: OpenCLStream): void {
    for (const buffer of mirrors) this.#reading(buffer, on);
  }

  /** After a launch that writes to these mirrors. What it only reads is left alone: the host may be writing there. */
  pull(mirrors: Iterable<DeviceBuffer>, on: OpenCLStream): void {
    for (const buffer of mirrors) this.#wrote(buffer, on);
  }
}

interface Spot {
  readonly handle: number;
  readonly offset: number;
}

/** Block copies, unless they are too many or their rows too short. */
function worthwhile(blocks: Blocks | undefined): Blocks | undefined {
  if (blocks === undefined || blocks.at.length > MAX_BLOCKS) return undefined;
  const { width, height, depth } = blocks.block;
  return width >= ROW_BYTES || height * depth <= FEW_ROWS ? blocks : undefined;
}

function overlapping(walk: Walk, to: Location, from: Location): boolean {
  if (to.buffer !== from.buffer) return false;
  const [tLow, tHigh] = span(walk, 't');
  const [sLow, sHigh] = span(walk, 's');
  return to.offset + tLow < from.offset + sHigh && from.offset + sLow < to.offset + tHigh;
}

/** Bytes off the moving heap. */
function scratch(bytes: number, from?: Uint8Array): Uint8Array {
  const made = new Uint8Array(new ArrayBuffer(Math.max(bytes, 128)), 0, bytes);
  if (from !== undefined) made.set(from);
  return made;
}
