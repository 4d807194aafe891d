/**
 * Transfers of elements: host to device, device to host, within a device, and fills. Contiguous ones go as one block.
 *
 * All are element-exact: bytes between the elements of a strided array are never touched. Every transfer is counted, notes its
 * stream with the owner of the memory, and keeps host memory alive until the stream has come that far. Types and shapes have
 * been checked by the callers (`device-copy.ts`, `device-assign.ts`).
 */
import type { DeviceSide, HostSide } from '../driver/driver.ts';
import { collapseAxes, sizeOf } from '../layout/index.ts';
import { blocking, stillFilled } from '../memory/blocking.ts';
import { fillsOf } from '../memory/host/fills.ts';
import { noteHostUse } from '../memory/host/uses.ts';
import type { Stream } from '../stream/stream.ts';
import type { DeviceMemory } from './device-memory.ts';

/** One side of a transfer on the device: as in a device array, but possibly seen with another shape and other strides. */
export interface ArraySide extends DeviceSide {
  readonly array: DeviceMemory;
  readonly pointer: number;
}

/** From the host to the device. Shapes are equal; synchronous without a stream. */
export function upload(shape: readonly number[], to: ArraySide, from: HostSide, stream: Stream | undefined): void {
  const { context, owner, itemSize } = to.array;
  const count = sizeOf(shape) * itemSize;
  if (count === 0) return;
  const handle = stream?.use();
  const { driver } = context;
  if (context.turns.waiting > 0) context.turns.check('a copy to the device');
  const { buffer, byteOffset, byteLength } = from.bytes;
  if (fillsOf(buffer, byteOffset, byteOffset + byteLength) !== undefined)
    throw stillFilled('a copy to the device reads');
  owner.touch(stream);
  noteHostUse(from.bytes, stream);
  if (isOneBlock(shape, to.strides, from.strides, itemSize)) {
    driver.copyToDevice(to.pointer, from.bytes.subarray(from.offset, from.offset + count), handle);
  } else {
    driver.copyToDeviceStrided({ target: to, source: from, shape, itemSize }, handle);
  }
  stream?.hold(from.bytes);
  context.counters.copied('hostToDevice', count);
}

/** What to call in place of the calls that read. */
const READ_LATER = 'await array.copyToHostAsync()';

/** From the device to the host. Shapes are equal; synchronous without a stream. Throws NotSupportedError where nothing can wait. */
export function download(
  shape: readonly number[],
  to: HostSide,
  from: ArraySide,
  stream: Stream | undefined,
  call = 'copyToHost()',
  instead: string = READ_LATER,
): void {
  const { context, owner, itemSize } = from.array;
  const driver = blocking(context.driver, call, instead);
  if (context.turns.waiting > 0) context.turns.check(call);
  const count = sizeOf(shape) * itemSize;
  if (count === 0) return;
  const handle = stream?.use();
  owner.touch(stream);
  noteHostUse(to.bytes, stream);
  if (isOneBlock(shape, to.strides, from.strides, itemSize)) {
    driver.copyToHost(to.bytes.subarray(to.offset, to.offset + count), from.pointer, handle);
  } else {
    driver.copyToHostStrided({ target: to, source: from, shape, itemSize }, handle);
  }
  stream?.hold(to.bytes);
  context.counters.copied('deviceToHost', count);
}

/** As `download` on a stream, without ever blocking: resolves when the bytes are there, which a driver may copy in several steps. */
export async function downloadLater(
  shape: readonly number[],
  to: HostSide,
  from: ArraySide,
  stream: Stream,
): Promise<void> {
  const { context, owner, itemSize } = from.array;
  const { driver } = context;
  const count = sizeOf(shape) * itemSize;
  if (count === 0) return;
  if (driver.copyToHostLater === undefined) {
    download(shape, to, from, stream);
    return;
  }
  const handle = stream.use();
  owner.touch(stream);
  noteHostUse(to.bytes, stream);
  const filled = driver.copyToHostLater({ target: to, source: from, shape, itemSize }, handle);
  context.counters.copied('deviceToHost', count);
  await filled;
}

/** Within one device. Where the two overlap, the source is read before anything is written. */
export function move(shape: readonly number[], to: ArraySide, from: ArraySide, stream: Stream | undefined): void {
  const { context, itemSize } = to.array;
  const count = sizeOf(shape) * itemSize;
  if (count === 0) return;
  const handle = stream?.use();
  const { driver } = context;
  if (context.turns.waiting > 0) context.turns.check('a copy on the device');
  to.array.owner.touch(stream);
  from.array.owner.touch(stream);
  // Memory of another library: its object may be nobody else's any more.
  if (from.array.owner.externalOwner !== undefined) stream?.hold(from.array.owner);
  if (isOneBlock(shape, to.strides, from.strides, itemSize)) {
    driver.copyOnDevice(to.pointer, from.pointer, count, handle);
  } else {
    driver.copyOnDeviceStrided({ target: to, source: from, shape, itemSize }, handle);
  }
  context.counters.copied('deviceToDevice', count);
}

/** Writes one element's bytes to every element. */
export function fill(shape: readonly number[], to: ArraySide, element: Uint8Array, stream: Stream | undefined): void {
  const { context, owner, itemSize } = to.array;
  if (sizeOf(shape) === 0) return;
  if (![1, 2, 4, 8, 16].includes(itemSize)) {
    // Structs: drivers fill with patterns of these sizes only. A source whose strides are all 0 says the same.
    upload(shape, to, { bytes: element, offset: 0, strides: shape.map(() => 0) }, stream);
    return;
  }
  const handle = stream?.use();
  if (context.turns.waiting > 0) context.turns.check('an assignment');
  owner.touch(stream);
  context.driver.fillStrided({ target: to, shape, pattern: element }, handle);
  stream?.hold(element);
}

/** Whether both sides are the same elements in the same order without gaps. */
export function isOneBlock(
  shape: readonly number[],
  to: readonly number[],
  from: readonly number[],
  itemSize: number,
): boolean {
  const { shape: lengths, strides } = collapseAxes(shape, [to, from]);
  if (lengths.length === 0) return true;
  return lengths.length === 1 && strides.every((steps) => steps[0] === itemSize);
}
