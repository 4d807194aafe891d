/**
 * `Communicator`: the collectives, as methods. Arguments are checked here, the same for all transports; what carries data is `transport.ts`.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { recording, refuseRecording } from '../memory/recording.ts';
import { readOptions } from '../options.ts';
import { type Observer, observePromise, observing } from '../profile/observing.ts';
import { show } from '../show.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { CommunicatorError } from './errors.ts';
import { grouped, inGroup } from './group.ts';
import { type AnyArray, arrayOf, checkPair, checkSize, type Packed, packed, targetOf } from './operands.ts';
import { combinedAs, movedAs, operatorOf, type ReduceOp } from './ops.ts';
import type { Call, Transport, TransportName } from './transport.ts';

function finish(from: Packed | undefined, to: Packed | undefined): void {
  if (from !== to) from?.finish();
  to?.finish();
}

/** On which stream a call is enqueued: by default that of the first array, otherwise the default stream. */
export interface OnStream {
  /** The stream to enqueue on. */
  readonly stream?: Stream | 0 | null | undefined;
}
/** How contributions are combined: `'sum'` by default. */
export interface Combining extends OnStream {
  /** How contributions are combined; `'sum'` by default. */
  readonly op?: ReduceOp | undefined;
}
/** Which rank is the root: 0 by default. */
export interface Rooted extends OnStream {
  /** The rank of the root; 0 by default. */
  readonly root?: number | undefined;
}

/** A call before it is packed. */
interface Request {
  readonly kind: Call['kind'];
  readonly send: DeviceNDArray | undefined;
  readonly recv: DeviceNDArray | undefined;
  /** Elements that a rank contributes or receives. */
  readonly elements: number;
  readonly op?: ReduceOp | undefined;
  readonly peer?: number | undefined;
  readonly stream: unknown;
}

/**
 * One rank's end of a group of processes, workers or GPUs that compute together; created by `nccl.init`, `nccl.initAll` and `split`. All ranks make
 * the same calls in the same order. A call is enqueued at once, in stream order; its promise resolves when work enqueued on the stream afterwards
 * will see the result, which under NCCL is immediately, without waiting.
 *
 * Arrays are device arrays of any dtype and layout: views with gaps are packed. The receiving array may be the one that is sent.
 */
export class Communicator {
  readonly #transport: Transport;
  readonly #context: Context;
  #disposed = false;

  /** @internal Created by `nccl.init`. */
  constructor(transport: Transport, context: Context) {
    this.#transport = transport;
    this.#context = context;
  }

  /** The number of this end, from 0. */
  get rank(): number {
    return this.#transport.rank;
  }

  /** How many ranks there are. */
  get size(): number {
    return this.#transport.size;
  }

  /** What carries the data: `'nccl'`, or `'reference'`, which is slow and asked for by name only. */
  get transport(): TransportName {
    return this.#transport.name;
  }

  /** The device that arrays must be on. */
  get context(): Context {
    return this.#context;
  }

  /**
   * Combines the arrays of all ranks, elementwise; all receive the result, in place unless `recv` is given. NCCL: `ncclAllReduce`.
   * @throws as promise: TypeError and RangeError for arrays that do not fit, NotSupportedError for a dtype without the operator, CommunicatorError.
   */
  allReduce<A extends AnyArray>(send: A, recv?: AnyArray | Combining, options?: Combining): Promise<A> {
    return this.#call('allReduce', () => {
      const [target, { op, stream }] = this.#arguments('allReduce', send, recv, options, ['op', 'stream']);
      const from = this.#source('allReduce', send);
      const to = targetOf('allReduce', target, this.#context);
      checkPair('allReduce', from, to, from.size, 'as many as are sent');
      return this.#enqueue(
        {
          kind: 'allReduce',
          send: from,
          recv: to,
          elements: from.size,
          op: operatorOf('allReduce', op),
          stream,
        },
        to,
      );
    });
  }

  /** As `allReduce`, but only the root receives the result, in place unless `recv` is given. NCCL: `ncclReduce`. */
  reduce<A extends AnyArray>(
    send: A,
    recv?: AnyArray | (Combining & Rooted),
    options?: Combining & Rooted,
  ): Promise<A> {
    return this.#call('reduce', () => {
      const [target, read] = this.#arguments('reduce', send, recv, options, ['op', 'root', 'stream']);
      const peer = this.#rankOf('reduce', 'root', read.root ?? 0);
      const from = this.#source('reduce', send);
      const to = peer === this.rank ? targetOf('reduce', target, this.#context) : undefined;
      if (to !== undefined) checkPair('reduce', from, to, from.size, 'as many as are sent');
      const op = operatorOf('reduce', read.op);
      return this.#enqueue(
        { kind: 'reduce', send: from, recv: to, elements: from.size, op, peer, stream: read.stream },
        to ?? from,
      );
    });
  }

  /** Copies the root's array to all ranks, in place. NCCL: `ncclBroadcast`. */
  broadcast<A extends AnyArray>(array: A, options?: Rooted): Promise<A> {
    return this.#call('broadcast', () => {
      const { root = 0, stream } = readOptions<Rooted>('broadcast', options, ['root', 'stream']);
      const peer = this.#rankOf('broadcast', 'root', root);
      const isRoot = peer === this.rank;
      const to = isRoot ? this.#source('broadcast', array) : targetOf('broadcast', array, this.#context);
      return this.#enqueue(
        {
          kind: 'broadcast',
          send: isRoot ? to : undefined,
          recv: isRoot ? undefined : to,
          elements: to.size,
          peer,
          stream,
        },
        to,
      );
    });
  }

  /** The arrays of all ranks, one after another in the order of ranks, into `recv` on every rank: `size` times as long. NCCL: `ncclAllGather`. */
  allGather<A extends AnyArray>(send: AnyArray, recv: A, options?: OnStream): Promise<A> {
    return this.#call('allGather', () => {
      const { stream } = readOptions<OnStream>('allGather', options, ['stream']);
      const from = this.#source('allGather', send);
      const to = targetOf('allGather', recv, this.#context);
      checkPair('allGather', from, to, from.size * this.size, `${from.size} of each of ${this.size} ranks`);
      return this.#enqueue({ kind: 'allGather', send: from, recv: to, elements: from.size, stream }, to);
    });
  }

  /** Combines the arrays of all ranks, elementwise, and gives each rank its part of the result: `send` is `size` times as long. NCCL: `ncclReduceScatter`. */
  reduceScatter<A extends AnyArray>(send: AnyArray, recv: A, options?: Combining): Promise<A> {
    return this.#call('reduceScatter', () => {
      const { op, stream } = readOptions<Combining>('reduceScatter', options, ['op', 'stream']);
      const from = this.#source('reduceScatter', send);
      const to = targetOf('reduceScatter', recv, this.#context);
      checkPair('reduceScatter', to, from, to.size * this.size, `${to.size} for each of ${this.size} ranks`);
      return this.#enqueue(
        {
          kind: 'reduceScatter',
          send: from,
          recv: to,
          elements: to.size,
          op: operatorOf('reduceScatter', op),
          stream,
        },
        to,
      );
    });
  }

  /** Sends the k-th part of `send` to rank k, and receives rank k's into the k-th part of `recv`. NCCL: `ncclAlltoAll`. */
  allToAll<A extends AnyArray>(send: AnyArray, recv: A, options?: OnStream): Promise<A> {
    return this.#call('allToAll', () => {
      const { stream } = readOptions<OnStream>('allToAll', options, ['stream']);
      const from = this.#source('allToAll', send);
      const to = targetOf('allToAll', recv, this.#context);
      checkPair('allToAll', from, to, from.size, 'as many as are sent');
      if (from === to || from.pointer === to.pointer) {
        throw new TsambaTypeError('E_NCCL_ARGUMENT', 'allToAll cannot be done in place: receive into another array');
      }
      const elements = this.#shareOf('allToAll', from);
      return this.#enqueue({ kind: 'allToAll', send: from, recv: to, elements, stream }, to);
    });
  }

  /** The arrays of all ranks, one after another, into `recv` of the root; others leave it out. MPI: `MPI_Gather`. */
  gather(send: AnyArray, recv?: AnyArray | undefined, options?: Rooted): Promise<void> {
    return this.#call('gather', () => {
      const { root = 0, stream } = readOptions<Rooted>('gather', options, ['root', 'stream']);
      const peer = this.#rankOf('gather', 'root', root);
      const from = this.#source('gather', send);
      const to = peer === this.rank ? targetOf('gather', recv, this.#context) : undefined;
      if (to !== undefined)
        checkPair('gather', from, to, from.size * this.size, `${from.size} of each of ${this.size} ranks`);
      return this.#enqueue({ kind: 'gather', send: from, recv: to, elements: from.size, peer, stream }, undefined);
    });
  }

  /** Gives rank k the k-th part of `send` of the root, into `recv`; ranks that are not the root pass undefined for `send`. MPI: `MPI_Scatter`. */
  scatter<A extends AnyArray>(send: AnyArray | undefined, recv: A, options?: Rooted): Promise<A> {
    return this.#call('scatter', () => {
      const { root = 0, stream } = readOptions<Rooted>('scatter', options, ['root', 'stream']);
      const peer = this.#rankOf('scatter', 'root', root);
      const from = peer === this.rank ? this.#source('scatter', send) : undefined;
      const to = targetOf('scatter', recv, this.#context);
      if (from !== undefined)
        checkPair('scatter', to, from, to.size * this.size, `${to.size} for each of ${this.size} ranks`);
      return this.#enqueue({ kind: 'scatter', send: from, recv: to, elements: to.size, peer, stream }, to);
    });
  }

  /** Sends an array to a rank, which calls `recv`. Within `nccl.group` where ranks send to each other at the same time. NCCL: `ncclSend`. */
  send(array: AnyArray, to: number, options?: OnStream): Promise<void> {
    return this.#call('send', () => {
      const { stream } = readOptions<OnStream>('send', options, ['stream']);
      const from = this.#source('send', array);
      return this.#enqueue(
        {
          kind: 'send',
          send: from,
          recv: undefined,
          elements: from.size,
          peer: this.#rankOf('send', 'to', to),
          stream,
        },
        undefined,
      );
    });
  }

  /** Receives what a rank sends, into an array with the same number of elements. NCCL: `ncclRecv`. */
  recv<A extends AnyArray>(array: A, from: number, options?: OnStream): Promise<A> {
    return this.#call('recv', () => {
      const { stream } = readOptions<OnStream>('recv', options, ['stream']);
      const to = targetOf('recv', array, this.#context);
      return this.#enqueue(
        {
          kind: 'recv',
          send: undefined,
          recv: to,
          elements: to.size,
          peer: this.#rankOf('recv', 'from', from),
          stream,
        },
        to,
      );
    });
  }

  /** Resolves when all ranks have called it and everything enqueued earlier on this communicator is done. MPI: `MPI_Barrier`. */
  barrier(): Promise<void> {
    return this.#call('barrier', async () => {
      if (inGroup()) throw new TsambaTypeError('E_NCCL_ARGUMENT', 'barrier cannot be part of a group: call it outside');
      await this.#transport.barrier();
    });
  }

  /** Makes calls of this and other communicators as one: `nccl.group`. */
  group<R>(body: () => R): R {
    this.#open('group');
    return grouped(body);
  }

  /**
   * Splits the ranks: those with the same `color` (a non-negative integer) form a communicator, ordered by `key`, by default by their ranks here.
   * Resolves to undefined on ranks without a colour. All ranks must call it. NCCL: `ncclCommSplit`.
   */
  split(options: {
    readonly color?: number | undefined;
    readonly key?: number | undefined;
  }): Promise<Communicator | undefined> {
    return this.#call('split', async () => {
      const { color, key = this.rank } = readOptions('split', options, ['color', 'key']);
      for (const [name, value] of [
        ['color', color],
        ['key', key],
      ] as const) {
        if (value === undefined || (Number.isInteger(value) && value >= 0 && value < 2 ** 31)) continue;
        throw new TsambaRangeError(
          'E_NCCL_ARGUMENT',
          `split: ${name} must be 0 or a positive integer, got ${show(value)}`,
        );
      }
      const part = await this.#transport.split(color, key);
      return part === undefined ? undefined : new Communicator(part, this.#context);
    });
  }

  /** Ends pending calls on all ranks: they reject with a CommunicatorError that says which rank aborted and why. NCCL: `ncclCommAbort`. */
  abort(reason = 'the program asked for it'): void {
    this.#transport.abort(reason);
  }

  /** Whether it was given back. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** Releases the communicator once pending calls are done. Calling it again does nothing. NCCL: `ncclCommDestroy`. */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#transport.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** A short description with the rank and the number of ranks. */
  toString(): string {
    return `Communicator(rank ${this.rank} of ${this.size}, ${this.transport}${this.#disposed ? ', disposed' : ''})`;
  }

  /** Makes a call at once; what goes wrong is the promise's. */
  #call<R>(name: string, body: () => unknown): Promise<R> {
    if (recording.current !== undefined) {
      refuseRecording(`comm.${name}()`, 'collectives are not captured', 'call it outside');
    }
    try {
      this.#open(name);
      // Promise.resolve gives a promise back as it is.
      return Promise.resolve(body()) as Promise<R>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #open(name: string): void {
    if (!this.#disposed) return;
    throw new CommunicatorError('E_NCCL', `${name}: the communicator was disposed`, { api: name });
  }

  #source(call: string, value: unknown): DeviceNDArray {
    return arrayOf(call, 'the array to send', value, this.#context);
  }

  /** `(send, recv?, options?)` or `(send, options?)`. */
  #arguments<T extends OnStream>(
    call: string,
    send: unknown,
    recv: unknown,
    options: T | undefined,
    known: readonly (keyof T & string)[],
  ): readonly [target: unknown, options: T] {
    const isArray = recv !== undefined && recv !== null && Object.getPrototypeOf(recv) !== Object.prototype;
    return [isArray ? recv : send, readOptions<T>(call, isArray || recv === undefined ? options : (recv as T), known)];
  }

  #rankOf(call: string, role: string, value: unknown): number {
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) < this.size) return value as number;
    throw new TsambaRangeError(
      'E_NCCL_ARGUMENT',
      `${call}: ${role} must be a rank from 0 to ${this.size - 1}, got ${show(value)}`,
    );
  }

  #shareOf(call: string, array: DeviceNDArray): number {
    const share = Math.floor(array.size / this.size);
    checkSize(call, array, share * this.size, `a multiple of the ${this.size} ranks`);
    return share;
  }

  /** Enqueues a call; where somebody looks they are told of its time, on the device too if that is what carries it. */
  #observed(observer: Observer, call: Call, bytes: number | undefined): Promise<void> | undefined {
    const detail = { rank: this.rank, size: this.size, transport: this.transport };
    const doing = { kind: 'collective', name: call.kind, context: this.#context, bytes, detail } as const;
    const enqueue = () => this.#transport.enqueue(call);
    if (this.transport === 'nccl') return observer.enqueue({ ...doing, stream: call.stream?.use() }, enqueue);
    return observePromise(doing, enqueue() ?? Promise.resolve());
  }

  /**
   * Enqueues a request, whose result is `value`; a promise of it where the work is not enqueued at once. Allocates little: NCCL's calls take
   * microseconds, and so should ours.
   */
  #enqueue<R>({ kind, send, recv, elements, op, peer = 0, stream: named }: Request, value: R): R | Promise<R> {
    const first = (send ?? recv) as DeviceNDArray;
    const stream = streamOption(named, this.#context) ?? (first.stream?.disposed === false ? first.stream : undefined);
    const { type, lanes } = op === undefined ? movedAs(first.dtype) : combinedAs(kind, first.dtype, op);
    const inPlace = send !== undefined && send === recv;
    const from = send === undefined ? undefined : packed(send, stream, { reads: true, writes: inPlace });
    const to = recv === undefined ? undefined : inPlace ? from : packed(recv, stream, { reads: false, writes: true });
    const call = {
      kind,
      send: from?.array ?? send,
      recv: to?.array ?? recv,
      count: elements * lanes,
      type,
      op,
      peer,
      stream,
    };
    let pending: Promise<void> | undefined;
    try {
      const observer = observing.current;
      pending = observer === undefined ? this.#transport.enqueue(call) : this.#observed(observer, call, first.nbytes);
    } catch (error) {
      finish(from, to);
      throw error;
    }
    if (pending === undefined) {
      finish(from, to);
      return value;
    }
    if (from === undefined && to === undefined) return pending.then(() => value);
    return pending.then(
      () => {
        finish(from, to);
        return value;
      },
      (error: unknown) => {
        finish(from, to);
        throw error;
      },
    );
  }
}
