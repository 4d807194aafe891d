/**
 * Host arrays as kernel arguments: their copies on the device, for one launch.
 *
 * Each is copied in before the launch and back after it, unless a hint or the compiled kernel (which knows what it writes)
 * says that one way is not needed. Arguments that share bytes on the host share them on the device too, so that the kernel
 * sees the same aliasing; Numba makes independent copies and loses one of the results.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import { type ArraySide, upload } from '../array/device-transfer.ts';
import type { NDArray } from '../array/ndarray.ts';
import type { HostSide } from '../driver/driver.ts';
import { sameDType, u8 } from '../dtype/index.ts';
import { classifyLayout, extentOf, fStrides, mayOverlapItself } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { disposeUnseen } from '../memory/disposal.ts';
import { fillsOf, noteFill } from '../memory/host/fills.ts';
import type { Stream } from '../stream/stream.ts';
import { arrayType, type HostTyped } from './args.ts';

/** Host arguments that share memory. */
interface Group {
  readonly buffer: ArrayBufferLike;
  readonly members: HostTyped[];
  /** Bytes of the buffer that the members touch. */
  start: number;
  end: number;
}

/** What copies the elements of a device array to the host; a promise where streams do not order when they arrive. */
export type CopyBack = (shape: readonly number[], to: HostSide, from: ArraySide) => Promise<unknown> | undefined;

/** How the host arrays of one launch get to the device. Made before compiling, carried out after. */
export class Staging {
  readonly #context: Context;
  readonly #groups: readonly Group[];
  readonly #devices = new Map<HostTyped, DeviceNDArray>();
  readonly #owned: DeviceNDArray[] = [];

  /** Arrays that share memory in different ways keep their strides on the device: their types are revised here. */
  constructor(hosts: readonly HostTyped[], context: Context) {
    this.#context = context;
    this.#groups = groupByMemory(hosts);
    for (const group of this.#groups) {
      if (isPacked(group)) continue;
      for (const member of group.members) {
        const { shape, strides, itemSize } = member.layout;
        member.type = arrayType(member.array, classifyLayout(shape, strides, itemSize), startOf(member));
      }
    }
  }

  /** Resolves when earlier launches have filled the host arrays; undefined where none is about to. */
  filling(): Promise<unknown> | undefined {
    const fills = this.#groups.map(({ buffer, start, end }) => fillsOf(buffer, start, end));
    return fills.every((fill) => fill === undefined) ? undefined : Promise.all(fills);
  }

  /** Allocates, and copies in what is not Out. Call `dispose` when the launch is done or has failed. */
  copyIn(stream: Stream | undefined): void {
    for (const group of this.#groups) {
      if (isPacked(group)) this.#copyInPacked(group, stream);
      else this.#copyInShared(group, stream);
    }
  }

  #copyInPacked(group: Group, stream: Stream | undefined): void {
    const [first] = group.members as [HostTyped];
    const { array, layout, type } = first;
    const strides = type.layout === 'F' ? fStrides(layout.shape, layout.itemSize) : null;
    const device = this.#allocate(layout.shape, strides, array.dtype, stream);
    if (group.members.some(({ direction }) => direction !== 'out')) {
      upload(layout.shape, sideOf(device), hostSide(first), stream);
    }
    for (const member of group.members) this.#devices.set(member, device);
  }

  #copyInShared(group: Group, stream: Stream | undefined): void {
    const bytes = group.end - group.start;
    const region = this.#allocate([bytes], null, u8, stream);
    // All of it, even below Out arguments: what they do not write must come back as it was.
    const source = new Uint8Array(group.buffer, group.start, bytes);
    upload([bytes], sideOf(region), { bytes: source, offset: 0, strides: [1] }, stream);
    for (const member of group.members) {
      const { array, layout } = member;
      const address = region.pointer + startOf(member) - group.start;
      const view = new DeviceNDArray(layout.shape, layout.strides, array.dtype, {
        gpuData: { context: region.context, owner: region.owner, address },
      });
      this.#owned.push(view);
      this.#devices.set(member, view);
    }
  }

  #allocate(
    shape: readonly number[],
    strides: readonly number[] | null,
    dtype: NDArray['dtype'],
    stream: Stream | undefined,
  ): DeviceNDArray {
    const device = new DeviceNDArray(shape, strides, dtype, { stream, gpuData: this.#context });
    this.#owned.push(device);
    return device;
  }

  /** The device's copy of an argument. */
  deviceOf(argument: HostTyped): DeviceNDArray {
    const device = this.#devices.get(argument);
    if (device === undefined) throw new Error('a host argument was not staged');
    return device;
  }

  /** Copies back what is not In and what the kernel writes. */
  copyBack(isWritten: (argument: HostTyped) => boolean, transfer: CopyBack): void {
    for (const { buffer, start, end, members } of this.#groups) {
      const done = new Set<DeviceNDArray>();
      for (const member of members) {
        const device = this.deviceOf(member);
        if (member.direction === 'in' || done.has(device)) continue;
        if (!isWritten(member) && !members.some((other) => this.deviceOf(other) === device && isWritten(other)))
          continue;
        done.add(device);
        const filled = transfer(member.layout.shape, hostSide(member), sideOf(device));
        if (filled !== undefined) noteFill(buffer, start, end, filled);
      }
    }
  }

  /** Gives the device memory back; work that has been enqueued keeps it until it is done. */
  dispose(): void {
    disposeUnseen(this.#owned.splice(0));
    this.#devices.clear();
  }
}

/** Byte of the buffer at which the first element stands. */
function startOf({ array, layout }: HostTyped): number {
  return array.bytes.byteOffset + layout.offset;
}

/** Device allocations begin at multiples of 16: groups begin where that keeps every element aligned as on the host. */
const ALIGNMENT = 16;

function groupByMemory(hosts: readonly HostTyped[]): readonly Group[] {
  const alone = hosts.map((argument): Group => {
    const { array, layout } = argument;
    const { low, high } = extentOf(layout.shape, layout.strides, layout.itemSize);
    const start = startOf(argument);
    return { buffer: array.bytes.buffer, members: [argument], start: start + low, end: start + high };
  });
  const groups: Group[] = [];
  for (const next of alone.sort((a, b) => a.start - b.start)) {
    const { buffer, start, end, members } = next;
    const overlapping = groups.find((group) => group.buffer === buffer && start < group.end && start < end);
    if (overlapping === undefined) {
      groups.push(next);
      continue;
    }
    overlapping.members.push(...members);
    overlapping.end = Math.max(overlapping.end, end);
  }
  for (const group of groups) {
    if (!isPacked(group)) group.start = Math.floor(group.start / ALIGNMENT) * ALIGNMENT;
  }
  return groups;
}

/** Whether all members are one and the same array, which can be packed on the device. */
function isPacked({ members }: Group): boolean {
  const [first, ...rest] = members;
  if (first === undefined) return true;
  const { shape, strides, itemSize } = first.layout;
  if (mayOverlapItself(shape, strides, itemSize)) return false;
  return rest.every(
    (other) =>
      startOf(other) === startOf(first) &&
      sameDType(other.array.dtype, first.array.dtype) &&
      String(other.layout.shape) === String(shape) &&
      String(other.layout.strides) === String(strides),
  );
}

function sideOf(device: DeviceNDArray): Parameters<typeof upload>[1] {
  return { array: device, pointer: device.pointer, strides: device.strides };
}

function hostSide({ array, layout }: HostTyped): Parameters<typeof upload>[2] {
  return { bytes: array.bytes, offset: layout.offset, strides: layout.strides };
}
