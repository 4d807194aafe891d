/**
 * Copies and fills of one device: the copy part of the driver contract.
 *
 * Without a stream everything goes through the default stream and is done on return. How strided copies are done is decided in
 * `plan.ts`; contiguous ones between host and device are `host-transfers.ts`; what is left for kernels runs in `kernel-runner.ts`.
 */
import type { Blocks } from '../../copies/blocks.ts';
import { type FillPlan, planFill } from '../../copies/fill-plan.ts';
import { copyOnHost, type HostSpan, hostSpan, part } from '../../copies/host-span.ts';
import { launchesOf } from '../../copies/launches.ts';
import { bytesOf, compact, replaceSide, span, type Walk, walkOf } from '../../copies/walk.ts';
import type { DeviceSide, HostSide, Pointer, StreamHandle, StridedCopy, StridedFill } from '../../driver.ts';
import type { CopyCalls } from '../../enqueued.ts';
import { CUDA_ERROR_INVALID_VALUE } from '../result.ts';
import { BounceBuffers } from './bounce-buffers.ts';
import type { BlockSide, CopyDevice } from './device.ts';
import { HostTransfers } from './host-transfers.ts';
import { KernelRunner } from './kernel-runner.ts';
import {
  BOUNCE_BYTES,
  type Download,
  downloadSteps,
  gatherSteps,
  planPacked,
  scatterSteps,
  type Upload,
  uploadSteps,
} from './plan.ts';

/** The copies of one open device. */
export class Copies implements CopyCalls {
  readonly #device: CopyDevice;
  readonly #kernels: KernelRunner;
  readonly #transfers: HostTransfers;
  readonly #bounce: BounceBuffers;

  constructor(device: CopyDevice) {
    this.#device = device;
    this.#kernels = new KernelRunner(device);
    this.#transfers = new HostTransfers(device);
    this.#bounce = new BounceBuffers(device);
  }

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    const on = this.#enter('copyToDevice', stream);
    if (stream === undefined && source.length > 0 && this.#transfers.uploadAtOnce(Number(target), source)) {
      // The driver may still be on its way from a buffer of its own to the device.
      this.#device.checkFaults(false);
      return;
    }
    if (source.length > 0) this.#transfers.upload(Number(target), source, on);
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    const on = this.#enter('copyToHost', stream);
    if (stream === undefined && target.length > 0 && this.#transfers.downloadAtOnce(target, Number(source))) {
      this.#device.checkFaults(true);
      return;
    }
    if (target.length > 0) this.#transfers.download(target, Number(source), on);
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    const on = this.#enter('copyOnDevice', stream);
    if (bytes > 0)
      this.#move({ axes: [], item: bytes, t: 0, s: 0, ordered: false }, Number(target), Number(source), on);
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    const on = this.#enter('copyToDeviceStrided', stream);
    const walk = walkOf(copy);
    if (walk !== undefined) {
      const to = Number(copy.target.pointer);
      const host = hostSpan(walk, 's', copy.source);
      const pinned = this.#transfers.isPinned(host.bytes);
      for (const { walk: each, plan } of uploadSteps(walk, pinned)) {
        if (this.#upload(plan, to, host, on)) continue;
        for (const step of gatherSteps(each)) this.#upload(step.plan, to, host, on);
      }
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void {
    const on = this.#enter('copyToHostStrided', stream);
    const walk = walkOf(copy);
    if (walk !== undefined) {
      const from = Number(copy.source.pointer);
      const host = hostSpan(walk, 't', copy.target);
      const pinned = this.#transfers.isPinned(host.bytes);
      for (const { walk: each, plan } of downloadSteps(walk, pinned)) {
        if (this.#download(plan, host, from, on, stream)) continue;
        for (const step of scatterSteps(each)) this.#download(step.plan, host, from, on, stream);
      }
    }
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    const on = this.#enter('copyOnDeviceStrided', stream);
    const walk = walkOf(copy);
    if (walk !== undefined) this.#move(walk, Number(copy.target.pointer), Number(copy.source.pointer), on);
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    const on = this.#enter('fillStrided', stream);
    const to = Number(fill.target.pointer);
    const plan = planFill(fill, to);
    if (plan !== undefined) this.#fill(plan, to, on);
    if (stream === undefined) this.#device.synchronizeAndCheck();
  }

  /**
   * Copies to the host without ever blocking: resolves once the bytes are in the target, rejects with what went wrong. What is
   * enqueued on the stream afterwards may already change the source.
   */
  async copyToHostLater(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): Promise<void> {
    const on = this.#enter('copyToHostLater', stream);
    const walk = walkOf(copy);
    if (walk === undefined) return;
    const host = hostSpan(walk, 't', copy.target);
    const from = Number(copy.source.pointer);
    const plan = planPacked(walk);
    const pack = (to: number): void => this.#kernels.copy(launchesOf(plan.walk, to, from), on);
    if (plan.scatter === undefined) {
      const pointer = walk.axes.length === 0 ? from + walk.s : undefined;
      await this.#transfers.downloadLater(part(host, plan.low, plan.bytes), { pointer, pack }, on);
    } else {
      const temporary = new Uint8Array(plan.bytes);
      await this.#transfers.downloadLater(temporary, { pointer: undefined, pack }, on);
      copyOnHost(plan.scatter, host, { bytes: temporary, offset: 0 });
    }
  }

  /** Gives kernels, buffers and threads back. */
  close(): void {
    this.#kernels.close();
    this.#transfers.close();
    this.#bounce.close();
  }

  #enter(api: string, stream: StreamHandle | undefined): number {
    this.#device.enter(api);
    return this.#device.streamOf(stream, api);
  }

  /** False when the driver refuses block copies of this host memory, because only a part of it is registered. */
  #upload(plan: Upload, target: number, host: HostSpan, on: number): boolean {
    if (plan.how === 'blocks') return this.#blocks('upload', plan.blocks, target, host, on);
    if (plan.how === 'span') {
      this.#withTemporary(plan.bytes, on, (temporary) => {
        this.#transfers.upload(temporary, part(host, plan.low, plan.bytes), on);
        this.#kernels.copy(launchesOf(plan.walk, target, temporary), on);
      });
      return true;
    }
    const bounce = plan.bytes <= BOUNCE_BYTES ? this.#bounce.next() : undefined;
    const gathered = bounce?.bytes ?? new Uint8Array(plan.bytes);
    const packed: HostSpan = { bytes: gathered, offset: 0 };
    copyOnHost(plan.gather, packed, host);
    const taken = this.#upload(plan.then, target, packed, on);
    if (bounce === undefined) this.#transfers.hold(gathered, on);
    else this.#bounce.sent(bounce, on);
    return taken;
  }

  /** False as above. */
  #download(plan: Download, host: HostSpan, source: number, on: number, stream: StreamHandle | undefined): boolean {
    if (plan.how === 'blocks') return this.#blocks('download', plan.blocks, source, host, on);
    if (plan.how === 'span') {
      this.#withTemporary(plan.bytes, on, (temporary) => {
        this.#kernels.copy(launchesOf(plan.walk, temporary, source), on);
        this.#transfers.download(part(host, plan.low, plan.bytes), temporary, on);
      });
      return true;
    }
    const bytes = plan.bytes <= BOUNCE_BYTES ? this.#bounce.next().bytes : new Uint8Array(plan.bytes);
    const packed: HostSpan = { bytes, offset: 0 };
    if (!this.#download(plan.first, packed, source, on, stream)) return false;
    // The host has to see the bytes before it can spread them.
    if (stream === undefined) this.#device.synchronizeAndCheck();
    else this.#device.synchronizeStream(stream);
    copyOnHost(plan.scatter, host, packed);
    return true;
  }

  #blocks(way: 'upload' | 'download', { block, at }: Blocks, device: number, host: HostSpan, on: number): boolean {
    const { cuda, platform } = this.#device;
    const up = way === 'upload';
    if (block.depth === 1 && block.height === 1) {
      for (const [t, s] of at) {
        if (up) this.#transfers.upload(device + t, part(host, s, block.width), on);
        else this.#transfers.download(part(host, t, block.width), device + s, on);
      }
      return true;
    }
    const address = Number(cuda.ffi.address(host.bytes)) + host.offset;
    for (const [t, s] of at) {
      const to: BlockSide = up ? { memory: 'device', address: device + t } : { memory: 'host', address: address + t };
      const from: BlockSide = up ? { memory: 'host', address: address + s } : { memory: 'device', address: device + s };
      const result = platform.copyBlock(block, to, from, on);
      if (result === CUDA_ERROR_INVALID_VALUE) return false;
      this.#check(result, block.depth === 1 ? 'cuMemcpy2DAsync' : 'cuMemcpy3DAsync');
    }
    return true;
  }

  /** Within the device. Where the two sides overlap, the source is copied out first. */
  #move(walk: Walk, target: number, source: number, on: number): void {
    const [targetLow, targetHigh] = span(walk, 't');
    const [sourceLow, sourceHigh] = span(walk, 's');
    if (target + targetLow < source + sourceHigh && source + sourceLow < target + targetHigh) {
      const same = target + walk.t === source + walk.s && walk.axes.every((axis) => axis.t === axis.s);
      if (same && !walk.ordered) return;
      this.#withTemporary(bytesOf(walk), on, (temporary) => {
        const strides = compact(walk);
        this.#moveApart({ ...replaceSide(walk, 't', 0, strides), ordered: false }, temporary, source, on);
        this.#moveApart(replaceSide(walk, 's', 0, strides), target, temporary, on);
      });
    } else {
      this.#moveApart(walk, target, source, on);
    }
  }

  #moveApart(walk: Walk, target: number, source: number, on: number): void {
    if (walk.axes.length > 0) {
      this.#kernels.copy(launchesOf(walk, target, source), on);
    } else {
      const { cuda } = this.#device;
      const result = cuda.cuMemcpyDtoDAsync(target + walk.t, source + walk.s, walk.item, on);
      this.#check(result, 'cuMemcpyDtoDAsync');
    }
  }

  #fill(plan: FillPlan, target: number, on: number): void {
    const { cuda } = this.#device;
    if (plan.how === 'kernel') {
      this.#kernels.fill(plan.launches, plan.pattern, on);
      return;
    }
    if (plan.how === 'copy') {
      this.#withTemporary(plan.pattern.length, on, (temporary) => {
        this.#transfers.upload(temporary, plan.pattern, on);
        this.#kernels.copy(launchesOf(plan.walk, target, temporary), on);
      });
      return;
    }
    const { value, count, size } = plan;
    const set = size === 1 ? cuda.cuMemsetD8Async : size === 2 ? cuda.cuMemsetD16Async : cuda.cuMemsetD32Async;
    this.#check(set(plan.target, value, count, on), `cuMemsetD${8 * size}Async`);
  }

  /** Device memory for the time of what `use` enqueues. */
  #withTemporary(bytes: number, on: number, use: (temporary: number) => void): void {
    const temporary = this.#device.allocate(bytes, on);
    try {
      use(temporary);
    } finally {
      this.#device.free(temporary, on);
    }
  }

  #check(result: number, api: string): void {
    if (result !== 0) this.#device.check(result, api);
  }
}
