/**
 * NCCL as a transport: a call of ours is a call of its own on the stream, by address, and nothing waits for JavaScript. What goes wrong
 * elsewhere is learnt from NCCL and from the link, and ends the communicator: who waits for the device is told.
 */
import { DeviceNDArray } from '../../array/device-array.ts';
import { f32, rowOf } from '../../dtype/index.ts';
import { NotSupportedError } from '../../errors.ts';
import type { Context } from '../../memory/context.ts';
import { Stream } from '../../stream/stream.ts';
import { CommunicatorError } from '../errors.ts';
import { inGroup, join } from '../group.ts';
import type { Link } from '../links/link.ts';
import { OPS, WIRE_TYPES } from '../ops.ts';
import type { Call, Transport } from '../transport.ts';
import { groupOf, type NativeGroup } from './group.ts';
import { check, type Nccl, ncclError } from './library.ts';
import { Watch, type Watched } from './watch.ts';

/** ncclInProgress. */
const IN_PROGRESS = 7;
/** NCCL_SPLIT_NOCOLOR. */
const NO_COLOR = -1;

/** What a transport is made of. */
export interface NativeParts {
  readonly nccl: Nccl;
  /** The ncclComm_t. */
  readonly comm: number;
  readonly rank: number;
  readonly size: number;
  readonly context: Context;
  /** By which ranks learn of each other's end; undefined where they did not meet. */
  readonly link: Link | undefined;
  /** Whether the link ends with the communicator. */
  readonly ownsLink: boolean;
  readonly timeout: number;
}

/** One rank's end. */
export class NativeTransport implements Transport, Watched {
  readonly name = 'nccl';
  readonly rank: number;
  readonly size: number;
  readonly context: Context;
  readonly #parts: NativeParts;
  readonly #nccl: Nccl;
  readonly #watch: Watch;
  readonly #group: NativeGroup;
  #comm: number;
  #failure: CommunicatorError | undefined;
  #barrier: { readonly stream: Stream; readonly array: DeviceNDArray } | undefined;

  constructor(parts: NativeParts) {
    const { nccl, comm, rank, size, context, link, timeout } = parts;
    this.#parts = parts;
    this.#nccl = nccl;
    this.#comm = comm;
    this.rank = rank;
    this.size = size;
    this.context = context;
    this.#watch = new Watch(this, timeout);
    this.#group = groupOf(nccl);
    link?.onFailure((error, isOver) => {
      // Who has left has done its part of what is under way; later calls have nobody to go to.
      if (this.#comm === 0) return;
      if (isOver && this.#watch.isBusy()) this.#end(error);
      else this.#failure ??= error;
    });
  }

  enqueue(call: Call): Promise<void> | undefined {
    const isGrouped = inGroup();
    if (isGrouped) join(this.#group);
    this.#checkUsable(call.kind);
    // Nothing on all ranks: arrays without elements have no address, which NCCL would refuse.
    if (call.count === 0) return undefined;
    this.#issue(call);
    this.#watch.note(call.stream);
    return isGrouped ? this.#group.ended() : undefined;
  }

  #checkUsable(api: string): void {
    if (this.#failure !== undefined) {
      const { code, message, rank } = this.#failure;
      throw new CommunicatorError(code as never, `${api}: ${message}`, {
        api,
        cause: this.#failure,
        ...(rank === undefined ? {} : { rank }),
      });
    }
    this.context.checkOpen();
  }

  #issue(call: Call): void {
    const { send, recv, count, peer, stream } = call;
    const nccl = this.#nccl;
    const comm = this.#comm;
    const type = WIRE_TYPES[call.type];
    const op = OPS.indexOf(call.op ?? 'sum');
    const on = stream?.use()?.address ?? 0n;
    const from = pointerOf(send, stream);
    const to = recv === send ? from : pointerOf(recv, stream);
    const part = count * rowOf(call.type).bytes;
    switch (call.kind) {
      case 'allReduce':
        return this.#check(nccl.ncclAllReduce(from, to, count, type, op, comm, on), 'ncclAllReduce');
      case 'reduce':
        return this.#check(nccl.ncclReduce(from, to, count, type, op, peer, comm, on), 'ncclReduce');
      case 'broadcast':
        return this.#check(nccl.ncclBroadcast(from || to, to || from, count, type, peer, comm, on), 'ncclBroadcast');
      case 'allGather':
        return this.#check(nccl.ncclAllGather(from, to, count, type, comm, on), 'ncclAllGather');
      case 'reduceScatter':
        return this.#check(nccl.ncclReduceScatter(from, to, count, type, op, comm, on), 'ncclReduceScatter');
      case 'send':
        return this.#check(nccl.ncclSend(from, count, type, peer, comm, on), 'ncclSend');
      case 'recv':
        return this.#check(nccl.ncclRecv(to, count, type, peer, comm, on), 'ncclRecv');
      default:
        return this.#pairs(call, { from, to, part, type, on });
    }
  }

  /** What older versions of NCCL have no function for is a group of sends and receives, as its own documentation has it. */
  #pairs({ kind, count, peer: root }: Call, { from, to, part, type, on }: Pairs): void {
    const nccl = this.#nccl;
    const comm = this.#comm;
    const send = (rank: number, at: number): void =>
      this.#check(nccl.ncclSend(from + at * part, count, type, rank, comm, on), 'ncclSend');
    const recv = (rank: number, at: number): void =>
      this.#check(nccl.ncclRecv(to + at * part, count, type, rank, comm, on), 'ncclRecv');
    const isRoot = this.rank === root;
    this.#check(nccl.ncclGroupStart(), 'ncclGroupStart');
    try {
      for (let rank = 0; rank < this.size; rank++) {
        if (kind === 'allToAll' || (kind === 'scatter' && isRoot)) send(rank, rank);
        if (kind === 'allToAll' || (kind === 'gather' && isRoot)) recv(rank, rank);
      }
      if (kind === 'gather') send(root, 0);
      if (kind === 'scatter') recv(root, 0);
    } finally {
      this.#check(nccl.ncclGroupEnd(), 'ncclGroupEnd');
    }
  }

  #check(result: unknown, api: string): void {
    if (result !== 0) check(this.#nccl, result, api, this.#comm);
  }

  poll(): void {
    if (this.#comm === 0) return;
    const { out, ncclCommGetAsyncError } = this.#nccl;
    const asked = ncclCommGetAsyncError(this.#comm, out.at(0));
    const result = asked === 0 ? out.int(0) : Number(asked);
    if (result === 0 || result === IN_PROGRESS) return;
    const cause = ncclError(this.#nccl, result, 'a collective', this.#comm);
    this.#fail(new CommunicatorError('E_NCCL', `rank ${this.rank}: ${cause.message}`, { rank: this.rank, cause }));
  }

  stuck(milliseconds: number): void {
    const message = `rank ${this.rank} has waited ${Math.round(milliseconds)} ms for a collective: a rank did not call it, or is busy`;
    this.#fail(new CommunicatorError('E_NCCL_TIMEOUT', message, { rank: this.rank }));
  }

  /** Ends the communicator here, and tells the others. */
  #fail(error: CommunicatorError): void {
    if (this.#comm === 0) return;
    this.#end(error);
    this.#parts.link?.abort(error.message);
  }

  /** Ends the communicator here. Who waits for the device is told what it was. */
  #end(error: CommunicatorError): void {
    const comm = this.#comm;
    this.#comm = 0;
    this.#failure = error;
    this.#watch.stop();
    // What is on the GPU ends; it would wait for the others for ever.
    this.#nccl.ncclCommAbort(comm);
    this.context.keepFault(error);
  }

  async barrier(): Promise<void> {
    this.#barrier ??= this.#scratch();
    const { array, stream } = this.#barrier;
    await this.enqueue({
      kind: 'allReduce',
      send: array,
      recv: array,
      count: 1,
      type: 'f32',
      op: 'sum',
      peer: 0,
      stream,
    });
    await stream.done();
    this.#checkUsable('barrier');
  }

  #scratch(): { readonly stream: Stream; readonly array: DeviceNDArray } {
    const stream = new Stream(this.context, 'created');
    const array = new DeviceNDArray(1, null, f32, { gpuData: this.context, stream });
    array.set(0);
    return { stream, array: array as unknown as DeviceNDArray };
  }

  async split(color: number | undefined, key: number): Promise<Transport | undefined> {
    this.#checkUsable('split');
    const { ncclCommSplit, out } = this.#nccl;
    if (ncclCommSplit === undefined) throw new NotSupportedError('E_NCCL_LIBRARY', 'split needs NCCL 2.18 or newer');
    this.context.memoryInfo();
    this.#check(ncclCommSplit(this.#comm, color ?? NO_COLOR, key, out.at(0), 0), 'ncclCommSplit');
    if (color === undefined) return undefined;
    const comm = out.long(0);
    this.#check(this.#nccl.ncclCommUserRank(comm, out.at(1)), 'ncclCommUserRank');
    this.#check(this.#nccl.ncclCommCount(comm, out.at(2)), 'ncclCommCount');
    return new NativeTransport({ ...this.#parts, comm, rank: out.int(1), size: out.int(2), ownsLink: false });
  }

  abort(reason: string): void {
    if (this.#comm === 0) return;
    this.#fail(new CommunicatorError('E_NCCL_ABORTED', `the communicator was aborted: ${reason}`, { rank: this.rank }));
  }

  async dispose(): Promise<void> {
    this.#barrier?.array.dispose();
    this.#barrier?.stream.dispose();
    this.#barrier = undefined;
    if (this.#comm !== 0) {
      const comm = this.#comm;
      this.#comm = 0;
      this.#watch.stop();
      this.#failure ??= new CommunicatorError('E_NCCL', 'the communicator was disposed');
      this.context.memoryInfo();
      this.#check(this.#nccl.ncclCommDestroy(comm), 'ncclCommDestroy');
    }
    if (this.#parts.ownsLink) await this.#parts.link?.close();
  }
}

interface Pairs {
  readonly from: number;
  readonly to: number;
  /** Bytes of a part. */
  readonly part: number;
  readonly type: number;
  readonly on: bigint;
}

/** The address of an array, which from now on is in use by the stream; 0 for none. */
function pointerOf(array: DeviceNDArray | undefined, stream: Stream | undefined): number {
  if (array === undefined) return 0;
  array.owner.touch(stream);
  return array.pointer;
}
