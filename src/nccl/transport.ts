/**
 * The contract of what carries the data of a communicator. There are two: NCCL (`native/`), and a reference between processes
 * on any device (`reference/`), which is slow and says what is right.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import type { Stream } from '../stream/stream.ts';
import type { ReduceOp, WireType } from './ops.ts';

/** What carries data; `nccl.init` takes it by name. */
export type TransportName = 'nccl' | 'reference';

/** Calls in which all ranks of a communicator take part. */
export type CollectiveKind =
  | 'allReduce'
  | 'reduce'
  | 'broadcast'
  | 'allGather'
  | 'reduceScatter'
  | 'allToAll'
  | 'gather'
  | 'scatter';

/** One call of one rank, checked. Arrays are C-contiguous and of this rank's device. */
export interface Call {
  readonly kind: CollectiveKind | 'send' | 'recv';
  /** What is read; absent on ranks that contribute nothing. */
  readonly send: DeviceNDArray | undefined;
  /** What is written; absent on ranks that receive nothing. It may be `send`, or for gathers and scatters the part of it at this rank's place. */
  readonly recv: DeviceNDArray | undefined;
  /** Numbers of type `type` that a rank contributes or receives: a part, where there is one for each rank. */
  readonly count: number;
  readonly type: WireType;
  readonly op: ReduceOp | undefined;
  /** The root of calls that have one, the other side of `send` and `recv`; else 0. */
  readonly peer: number;
  readonly stream: Stream | undefined;
}

/** One rank's end of a communicator. */
export interface Transport {
  readonly name: TransportName;
  readonly rank: number;
  readonly size: number;
  /**
   * Enqueues a call behind those before it. The promise resolves when work that is enqueued on the call's stream from then on finds the result;
   * undefined where it does at once. Throws CommunicatorError, or rejects with it.
   */
  enqueue(call: Call): Promise<void> | undefined;
  /** Resolves when all ranks have come here. */
  barrier(): Promise<void>;
  /** The communicator of the ranks with the same colour, in the order of `key`; undefined without a colour. All ranks call it. */
  split(color: number | undefined, key: number): Promise<Transport | undefined>;
  /** Ends what is under way, here and on all other ranks. */
  abort(reason: string): void;
  /** Gives the communicator back, when what is under way is done. Calling it again does nothing. */
  dispose(): Promise<void>;
}

/** What a call is for others to compare with theirs. */
export function signatureOf({ kind, count, type, op, peer }: Call): string {
  const rooted = kind === 'reduce' || kind === 'broadcast' || kind === 'gather' || kind === 'scatter';
  return `${kind} of ${count} ${type}${op === undefined ? '' : `, ${op}`}${rooted ? `, root ${peer}` : ''}`;
}
