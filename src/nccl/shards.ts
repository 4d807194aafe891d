/**
 * Arrays over several ranks, thin: each rank has a part of one axis, with copies of its neighbours' edges where that is asked for.
 */
import { DeviceNDArray } from '../array/device-array.ts';
import type { HostTarget } from '../array/device-copy.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { describeHostArray } from '../array/ndarray-input.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { formatShape } from '../layout/index.ts';
import { flag, readOptions } from '../options.ts';
import { show } from '../show.ts';
import { Communicator, type OnStream } from './communicator.ts';
import { grouped } from './group.ts';
import { arrayOf } from './operands.ts';

/** How an array is divided. */
export interface ShardOptions extends OnStream {
  /** The axis that is divided; 0 by default. */
  readonly axis?: number | undefined;
  /** How many elements of each neighbour along the axis a rank has a copy of; 0 by default. */
  readonly halo?: number | undefined;
  /** Whether the last rank and the first are neighbours. */
  readonly periodic?: boolean | undefined;
}

/** Where a rank's part begins and ends: parts differ by one at most, the longer ones first. */
export function partOf(length: number, rank: number, size: number): readonly [start: number, stop: number] {
  const [least, more] = [Math.floor(length / size), length % size];
  const start = rank * least + Math.min(rank, more);
  return [start, start + least + (rank < more ? 1 : 0)];
}

/** Options that have been read. */
interface Division {
  readonly axis: number;
  readonly halo: number;
  readonly periodic: boolean;
}

/** One rank's part of an array, made by `shard`. */
export class Shard<T = unknown> {
  /** The communicator that the whole is divided over. */
  readonly comm: Communicator;
  /** The shape of the whole. */
  readonly shape: readonly number[];
  /** The axis that is divided. */
  readonly axis: number;
  /** How many elements of each neighbour a rank has copies of. */
  readonly halo: number;
  /** From where to where along the axis this rank's own elements are in the whole. */
  readonly start: number;
  /** The index after this rank's last own element in the whole. */
  readonly stop: number;
  /** This rank's elements with its copies of the neighbours': what kernels work on. */
  readonly local: DeviceNDArray<T, number>;
  /** Copies of the neighbours' elements before and behind this rank's own in `local`: `halo`, or 0 at an end. */
  readonly before: number;
  /** Copies behind this rank's own elements in `local`: `halo`, or 0 at an end. */
  readonly behind: number;
  readonly #lower: number | undefined;
  readonly #upper: number | undefined;

  /** @internal Created by `shard`. */
  constructor(comm: Communicator, source: DeviceNDArray<T, number> | Placed<T>, options: Division) {
    const { axis, halo, periodic } = options;
    this.comm = comm;
    this.shape = source.shape;
    this.axis = axis;
    this.halo = halo;
    const length = source.shape[axis] as number;
    [this.start, this.stop] = partOf(length, comm.rank, comm.size);
    if (halo > 0 && Math.floor(length / comm.size) < halo) {
      throw new TsambaRangeError(
        'E_NCCL_ARGUMENT',
        `shard: axis ${axis} of ${formatShape(source.shape)} over ${comm.size} ranks gives parts that are shorter than the halo of ${halo}`,
      );
    }
    const wraps = periodic && halo > 0;
    this.#lower = comm.rank > 0 ? comm.rank - 1 : wraps ? comm.size - 1 : undefined;
    this.#upper = comm.rank < comm.size - 1 ? comm.rank + 1 : wraps ? 0 : undefined;
    this.before = this.#lower === undefined ? 0 : halo;
    this.behind = this.#upper === undefined ? 0 : halo;
    const shape = source.shape.map((n, k) => (k === axis ? this.stop - this.start + this.before + this.behind : n));
    this.local = new DeviceNDArray<T, number>(shape, null, source.dtype, { gpuData: comm.context });
  }

  /** A view of this rank's own elements, without copies of others'. */
  own(): DeviceNDArray<T, number> {
    return this.along(this.before, this.before + this.stop - this.start);
  }

  /** A view of `local` from one place along the axis to another. */
  along(from: number, to: number): DeviceNDArray<T, number> {
    return along(this.local, this.axis, from, to);
  }

  /**
   * Updates the copies of the neighbours' elements. Enqueued like a collective: resolves when work enqueued on the stream afterwards will see them.
   * Only the edges are read and written, so the interior can be computed meanwhile on another stream.
   */
  async exchange(options?: OnStream): Promise<void> {
    const { stream } = readOptions<OnStream>('exchange', options, ['stream']);
    const { halo, before } = this;
    if (halo === 0) return;
    const end = before + this.stop - this.start;
    const lower = this.#lower;
    const upper = this.#upper;
    // In this order two ranks that are each other's neighbours on both sides take for the lower edge what is sent upwards.
    await grouped(() => {
      const calls: Promise<unknown>[] = [];
      if (upper !== undefined) calls.push(this.comm.send(this.along(end - halo, end), upper, { stream }));
      if (lower !== undefined) calls.push(this.comm.send(this.along(before, before + halo), lower, { stream }));
      if (lower !== undefined) calls.push(this.comm.recv(this.along(0, halo), lower, { stream }));
      if (upper !== undefined) calls.push(this.comm.recv(this.along(end, end + halo), upper, { stream }));
      return Promise.all(calls);
    });
  }

  /** The whole array, on one rank, as a new device array; undefined on the others. All ranks call it. */
  async gatherTo(root = 0, options?: OnStream): Promise<DeviceNDArray<T, number> | undefined> {
    const { stream } = readOptions<OnStream>('gatherTo', options, ['stream']);
    const { comm, axis } = this;
    const length = this.shape[axis] as number;
    const isRoot = comm.rank === root;
    const { dtype } = this.local;
    const whole = isRoot ? new DeviceNDArray<T, number>(this.shape, null, dtype, { gpuData: comm.context }) : undefined;
    await grouped(() => {
      if (whole === undefined) return comm.send(this.own(), root, { stream });
      const others = Array.from({ length: comm.size }, (_, rank) => rank).filter((rank) => rank !== root);
      return Promise.all(
        others.map((rank) => comm.recv(along(whole, axis, ...partOf(length, rank, comm.size)), rank, { stream })),
      );
    });
    if (whole !== undefined) along(whole, axis, this.start, this.stop).copyToDevice(this.own(), { stream });
    return whole;
  }

  /** Frees the memory. Calling it again does nothing. */
  dispose(): void {
    this.local.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function along<T>(array: DeviceNDArray<T, number>, axis: number, from: number, to: number): DeviceNDArray<T, number> {
  return array.slice(...Array.from({ length: axis }, () => ':'), [from, to]);
}

/** What a host array is to a shard. */
interface Placed<T> {
  readonly shape: readonly number[];
  readonly dtype: DeviceNDArray<T, number>['dtype'];
}

/**
 * Divides an array that all ranks have along an axis: each rank gets its part on its device, with copies of its neighbours' edges if there is a
 * `halo`. The array may be on the host or the device; only the rank's part of it is read.
 * @throws RangeError for an invalid axis, or parts shorter than the halo.
 */
export function shard<T = unknown>(
  comm: Communicator,
  array: DeviceNDArray<T, number> | HostTarget,
  options?: ShardOptions,
): Shard<T> {
  const own = readOptions<ShardOptions>('shard', options, ['axis', 'halo', 'periodic', 'stream']);
  if (!(comm instanceof Communicator)) {
    throw new TsambaTypeError('E_NCCL_ARGUMENT', `shard takes a communicator first, got ${show(comm)}`);
  }
  const host =
    array instanceof DeviceNDArray || describeHostArray(array) === undefined ? undefined : ndarray(array as never);
  const source = (host ?? arrayOf('shard', 'the array', array, comm.context)) as DeviceNDArray<T, number>;
  const { axis = 0, halo = 0, stream } = own;
  if (!Number.isInteger(axis) || axis < 0 || axis >= source.shape.length) {
    throw new TsambaRangeError(
      'E_NCCL_ARGUMENT',
      `shard: there is no axis ${show(axis)} of ${formatShape(source.shape)}`,
    );
  }
  if (!Number.isInteger(halo) || halo < 0) {
    throw new TsambaRangeError('E_NCCL_ARGUMENT', `shard: halo must be 0 or a positive integer, got ${show(halo)}`);
  }
  const periodic = flag('periodic', own.periodic) ?? false;
  const part = new Shard<T>(comm, source, { axis, halo, periodic });
  const length = source.shape[axis] as number;
  const place = (to: DeviceNDArray<T, number>, from: number, stop: number): void => {
    if (stop > from) to.copyToDevice(along(source, axis, from, stop), { stream });
  };
  place(part.own(), part.start, part.stop);
  const low = (part.start - part.before + length) % length;
  if (part.before > 0) place(part.along(0, part.before), low, low + part.before);
  const high = part.stop % length;
  const end = part.before + part.stop - part.start;
  if (part.behind > 0) place(part.along(end, end + part.behind), high, high + part.behind);
  return part;
}
