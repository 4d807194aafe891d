/**
 * Copies between two devices of one kind: directly, without the host, where the hardware can.
 *
 * What crosses is one block: elements that do not lie so are gathered into a temporary array first, and spread out of one
 * afterwards. The copy comes after the work on the source's own stream (without one: its default stream), and that stream
 * goes on after the copy, so that what is done to the source later cannot overtake it.
 */
import { likeStrides, sizeOf } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import type { Stream } from '../stream/stream.ts';
import { boundStream, type DeviceMemory } from './device-memory.ts';
import { type ArraySide, isOneBlock, move } from './device-transfer.ts';

/** Whether two arrays are on different devices of one kind; if not, and on different devices, copies go through the host. */
export function arePeers(one: DeviceMemory, other: DeviceMemory): boolean {
  return one.context.kind === other.context.kind && one.context.info.index !== other.context.info.index;
}

/** Copies elements from one device to another of its kind. Shapes are equal; synchronous without a stream, which is the target's. */
export function moveBetween(
  shape: readonly number[],
  to: ArraySide,
  from: ArraySide,
  stream: Stream | undefined,
): void {
  const { itemSize, context } = to.array;
  const count = sizeOf(shape) * itemSize;
  if (count === 0) return;
  const strides = likeStrides(shape, to.strides, itemSize);
  const gathered = isOneBlock(shape, strides, from.strides, itemSize) ? from : temporary(from, strides, count);
  const landed = isOneBlock(shape, to.strides, strides, itemSize) ? to : temporary(to, strides, count, stream);
  try {
    if (gathered !== from) move(shape, gathered, from, boundStream(from.array));
    cross(landed, gathered, count, stream);
    context.counters.copied('deviceToDevice', count);
    if (landed !== to) move(shape, to, landed, stream);
  } finally {
    if (gathered !== from) gathered.array.owner.release();
    if (landed !== to) landed.array.owner.release();
  }
}

/** One block from device to device. */
function cross(to: ArraySide, from: ArraySide, bytes: number, stream: Stream | undefined): void {
  const handle = stream?.use();
  const other = boundStream(from.array);
  const otherHandle = other?.use();
  const { context } = to.array;
  const { context: peer } = from.array;
  to.array.owner.touch(stream);
  from.array.owner.touch(other);
  follow(context, handle, peer, otherHandle);
  context.driver.copyFromPeer(to.pointer, peer.driver, from.pointer, bytes, handle);
  // Without a stream it is done.
  if (stream !== undefined) follow(peer, otherHandle, context, handle);
}

type Handle = ReturnType<Stream['use']>;

/** Makes what is enqueued on a stream from now on wait for what a stream of another device has now; undefined is the default stream. */
function follow(context: Context, stream: Handle, earlier: Context, other: Handle): void {
  const event = earlier.driver.createEvent(false);
  try {
    earlier.driver.recordEvent(event, other);
    context.driver.waitEvent(event, stream);
  } finally {
    earlier.driver.destroyEvent(event);
  }
}

/** Memory of its own on the device of a side, for the same elements without gaps. Given back with `release`. */
function temporary(like: ArraySide, strides: readonly number[], bytes: number, stream?: Stream): ArraySide {
  const { array } = like;
  const owner = array.context.allocate(bytes, stream ?? boundStream(array));
  owner.retain();
  return { array: { ...array, owner }, pointer: owner.address, strides };
}
