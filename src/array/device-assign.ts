/**
 * Reading one element of a device array, and assigning to elements that an index picks: what `get` and `set` do.
 *
 * Values convert as by casts, on the host; scalars become fills, arrays of the same dtype on the same device copies within it.
 */

import { codecOf, type DType, sameDType } from '../dtype/index.ts';
import {
  broadcastForAssignment,
  compactLayout,
  elementOffset,
  indexLayout,
  type StridedLayout,
  sizeOf,
} from '../layout/index.ts';
import { foreignMemory } from './cuda-interface.ts';
import { downloadAsync, fetched } from './device-copy.ts';
import { boundStream, checkWritable, type DeviceMemory, deviceMemoryOf, layoutOf } from './device-memory.ts';
import { arePeers, moveBetween } from './device-peer.ts';
import { type ArraySide, download, fill, move, upload } from './device-transfer.ts';
import { copyElements, type HostMemory } from './ndarray-copy.ts';
import { describeSource } from './ndarray-input.ts';

/** Reads one element; waits for it, also on the stream that the array is bound to. */
export function readElement(array: DeviceMemory, index: readonly unknown[]): unknown {
  array.checkUsable();
  const offset = elementOffset(layoutOf(array), index);
  const bytes = new Uint8Array(array.itemSize);
  const from: ArraySide = { array, pointer: array.pointer + offset, strides: [] };
  const stream = boundStream(array);
  download([], { bytes, offset: 0, strides: [] }, from, stream, 'get()', 'await array.getAsync(…)');
  stream?.synchronize();
  return codecOf(array.dtype).read(new DataView(bytes.buffer), 0);
}

/** As `readElement`, without blocking the event loop. */
export async function readElementAsync(array: DeviceMemory, index: readonly unknown[]): Promise<unknown> {
  array.checkUsable();
  const offset = elementOffset(layoutOf(array), index);
  const bytes = new Uint8Array(array.itemSize);
  const from: ArraySide = { array, pointer: array.pointer + offset, strides: [] };
  await downloadAsync({ shape: [], to: { bytes, offset: 0, strides: [] }, from }, boundStream(array));
  return codecOf(array.dtype).read(new DataView(bytes.buffer), 0);
}

/** Assigns a scalar or an array to the elements that an index picks; on the stream that the array is bound to, if it is. */
export function assignElements(array: DeviceMemory, value: unknown, index: readonly unknown[]): void {
  array.checkUsable();
  checkWritable(array, 'set');
  const target = indexLayout(layoutOf(array), index);
  const to: ArraySide = { array, pointer: array.pointer + target.offset, strides: target.strides };
  const device = deviceMemoryOf(value) ?? foreignMemory(value, array.context);
  if (device !== undefined) {
    assignDeviceArray(to, target, device);
    return;
  }
  const source = describeSource(value, array.dtype);
  if (source === undefined) fill(target.shape, to, encode(array.dtype, value), boundStream(array));
  else assignHostArray(to, target, source);
}

function assignDeviceArray(to: ArraySide, target: StridedLayout, source: DeviceMemory): void {
  source.checkUsable();
  const { array } = to;
  const { strides, shape } = broadcastForAssignment(layoutOf(source), target.shape);
  if (source.context.isWith(array.context) && sameDType(source.dtype, array.dtype)) {
    move(shape, to, { array: source, pointer: source.pointer, strides }, boundStream(array));
    return;
  }
  if (arePeers(array, source) && sameDType(source.dtype, array.dtype)) {
    moveBetween(shape, to, { array: source, pointer: source.pointer, strides }, boundStream(array));
    return;
  }
  // Work on the source that was enqueued on another stream than its own is the caller's to wait for, as always.
  assignHostArray(to, target, fetched(source, 'set'));
}

function assignHostArray(to: ArraySide, target: StridedLayout, source: HostMemory): void {
  const { dtype } = to.array;
  // The shape is checked before elements are converted, so that errors come in one order whatever the dtypes.
  broadcastForAssignment(source.layout, target.shape);
  const converted = sameDType(source.dtype, dtype) ? source : convert(source, dtype);
  const { shape, strides, offset } = broadcastForAssignment(converted.layout, target.shape);
  upload(shape, to, { bytes: converted.bytes, offset, strides }, boundStream(to.array));
}

function convert(source: HostMemory, dtype: DType): HostMemory {
  const { shape } = source.layout;
  const layout = compactLayout(shape, dtype.itemSize);
  const converted = { bytes: new Uint8Array(sizeOf(shape) * dtype.itemSize), dtype, layout };
  copyElements(converted, source);
  return converted;
}

function encode(dtype: DType, value: unknown): Uint8Array {
  const bytes = new Uint8Array(dtype.itemSize);
  codecOf(dtype).write(new DataView(bytes.buffer), 0, value);
  return bytes;
}
