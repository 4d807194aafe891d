/**
 * The commands that move bytes between host memory and buffers: contiguous ones, block copies, copies and fills of buffers.
 *
 * Host memory of a command that is not waited for is kept alive until it is done.
 */
import type { Block, Blocks } from '../copies/blocks.ts';
import type { HostSpan } from '../copies/host-span.ts';
import type { OpenCLContext } from './context.ts';
import type { Location } from './memory.ts';
import type { OpenCLStream, Queues } from './queues.ts';
import { piecesOf } from './rectangles.ts';

/** The commands of one device. */
export class Transfers {
  readonly #context: OpenCLContext;
  readonly #queues: Queues;
  /** Origins of the buffer and the host, the region: three words each. */
  readonly #words: BigUint64Array = new BigUint64Array(new ArrayBuffer(128));
  readonly #at: number;

  constructor(context: OpenCLContext, queues: Queues) {
    this.#context = context;
    this.#queues = queues;
    this.#at = Number(context.cl.ffi.address(this.#words));
  }

  write(on: OpenCLStream, buffer: number, offset: number, source: Uint8Array, blocking: boolean): void {
    const queue = this.#queues.begin(on);
    const from = this.#pin(on, source, blocking);
    const api = 'clEnqueueWriteBuffer';
    const result = this.#context.cl[api](queue, buffer, blocking ? 1 : 0, offset, source.length, from, 0, 0, 0);
    this.#context.check(result, api);
    if (blocking) this.#queues.done(on);
  }

  read(on: OpenCLStream, buffer: number, offset: number, target: Uint8Array, blocking: boolean): void {
    const queue = this.#queues.begin(on);
    const to = this.#pin(on, target, blocking);
    const api = 'clEnqueueReadBuffer';
    const result = this.#context.cl[api](queue, buffer, blocking ? 1 : 0, offset, target.length, to, 0, 0, 0);
    this.#context.check(result, api);
    if (blocking) this.#queues.done(on);
  }

  writeBlocks(on: OpenCLStream, { block, at }: Blocks, to: Location, host: HostSpan): void {
    const pieces = piecesOf(block, 't', to.buffer.bytes);
    for (const [t, s] of at) {
      for (const piece of pieces) {
        this.#writeBlock(on, piece.block, to, to.offset + t + piece.t, host.bytes, host.offset + s + piece.s);
      }
    }
  }

  readBlocks(on: OpenCLStream, { block, at }: Blocks, host: HostSpan, from: Location): void {
    const pieces = piecesOf(block, 's', from.buffer.bytes);
    for (const [t, s] of at) {
      for (const piece of pieces) {
        this.#readBlock(on, piece.block, host.bytes, host.offset + t + piece.t, from, from.offset + s + piece.s);
      }
    }
  }

  #writeBlock(on: OpenCLStream, block: Block, to: Location, offset: number, bytes: Uint8Array, start: number): void {
    const { handle } = to.buffer;
    if (block.height * block.depth === 1) {
      return this.write(on, handle, offset, bytes.subarray(start, start + block.width), false);
    }
    const queue = this.#queues.begin(on);
    const view = this.#pin(on, bytes.subarray(start, start + reach(block, 's')), false);
    const { tRow, tSlice, sRow, sSlice } = this.#describe(block, offset);
    const [a, b, c] = [this.#at, this.#at + 24, this.#at + 48];
    const api = 'clEnqueueWriteBufferRect';
    const { cl } = this.#context;
    this.#context.check(cl[api](queue, handle, 0, a, b, c, tRow, tSlice, sRow, sSlice, view, 0, 0, 0), api);
  }

  #readBlock(on: OpenCLStream, block: Block, bytes: Uint8Array, start: number, from: Location, offset: number): void {
    const { handle } = from.buffer;
    if (block.height * block.depth === 1) {
      return this.read(on, handle, offset, bytes.subarray(start, start + block.width), false);
    }
    const queue = this.#queues.begin(on);
    const view = this.#pin(on, bytes.subarray(start, start + reach(block, 't')), false);
    const { tRow, tSlice, sRow, sSlice } = this.#describe(block, offset);
    const [a, b, c] = [this.#at, this.#at + 24, this.#at + 48];
    const api = 'clEnqueueReadBufferRect';
    const { cl } = this.#context;
    this.#context.check(cl[api](queue, handle, 0, a, b, c, sRow, sSlice, tRow, tSlice, view, 0, 0, 0), api);
  }

  copy(
    on: OpenCLStream,
    source: number,
    sourceOffset: number,
    target: number,
    targetOffset: number,
    bytes: number,
  ): void {
    const queue = this.#queues.begin(on);
    const api = 'clEnqueueCopyBuffer';
    const result = this.#context.cl[api](queue, source, target, sourceOffset, targetOffset, bytes, 0, 0, 0);
    this.#context.check(result, api);
  }

  /** The pattern is read at once. Offset and size are multiples of its length, a power of two. */
  fill(on: OpenCLStream, buffer: number, offset: number, bytes: number, pattern: Uint8Array): void {
    const queue = this.#queues.begin(on);
    const api = 'clEnqueueFillBuffer';
    const result = this.#context.cl[api](queue, buffer, pattern, pattern.length, offset, bytes, 0, 0, 0);
    this.#context.check(result, api);
  }

  /** Origins and region of a block at an offset of the buffer; the pitches of both sides. The host's origin is 0: its address is that of the block. */
  #describe({ width, height, depth, tPitch, sPitch, tHeight, sHeight }: Block, offset: number): Pitches {
    this.#words.set([BigInt(offset), 0n, 0n, 0n, 0n, 0n, BigInt(width), BigInt(height), BigInt(depth)]);
    return { tRow: tPitch, tSlice: tPitch * tHeight, sRow: sPitch, sSlice: sPitch * sHeight };
  }

  /** The bytes, where they stay as long as the command needs them. */
  #pin(on: OpenCLStream, bytes: Uint8Array, blocking: boolean): Uint8Array {
    // Small typed arrays move until their buffer has been asked for.
    const { buffer } = bytes;
    if (!blocking) this.#queues.hold(on, buffer);
    return bytes;
  }
}

interface Pitches {
  readonly tRow: number;
  readonly tSlice: number;
  readonly sRow: number;
  readonly sSlice: number;
}

/** Bytes from the first of a block to its end, on one side. */
function reach({ width, height, depth, tPitch, sPitch, tHeight, sHeight }: Block, side: 't' | 's'): number {
  const [pitch, rows] = side === 't' ? [tPitch, tHeight] : [sPitch, sHeight];
  return ((depth - 1) * rows + height - 1) * pitch + width;
}
