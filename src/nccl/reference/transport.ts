/**
 * The reference transport: collectives by messages of whole arrays through the host, on any device. It is slow, and there to run and test
 * programs where there is no NCCL; it is taken only where it is asked for.
 *
 * What is computed is computed in the order of ranks, by one of them. Calls of one communicator are done one after another, as on a stream.
 */
import type { DeviceNDArray } from '../../array/device-array.ts';
import { type DType, rowOf, u8 } from '../../dtype/index.ts';
import { CommunicatorError } from '../errors.ts';
import { type Grouping, join } from '../group.ts';
import type { Link, Message } from '../links/link.ts';
import { type Call, signatureOf, type Transport } from '../transport.ts';
import { combine } from './combine.ts';

const EMPTY = new Uint8Array(0);

/** One rank's end. */
export class ReferenceTransport implements Transport, Grouping {
  readonly name = 'reference';
  readonly rank: number;
  readonly #link: Link;
  /** Ranks of the link, by ranks of the communicator. */
  readonly #members: readonly number[];
  readonly #id: string;
  readonly #timeout: number;
  /** Whether the link is this communicator's alone, and ends with it. */
  readonly #ownsLink: boolean;
  #calls = 0;
  #splits = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #group: { readonly after: Promise<unknown>; readonly running: Promise<unknown>[] } | undefined;
  #disposed = false;

  constructor(link: Link, timeout: number, id = 'world', members: readonly number[] | undefined = undefined) {
    this.#link = link;
    this.#timeout = timeout;
    this.#id = id;
    this.#members = members ?? Array.from({ length: link.size }, (_, rank) => rank);
    this.#ownsLink = members === undefined;
    this.rank = this.#members.indexOf(link.rank);
  }

  get size(): number {
    return this.#members.length;
  }

  enqueue(call: Call): Promise<void> {
    join(this);
    const isPair = call.kind === 'send' || call.kind === 'recv';
    const key = isPair ? `${this.#id}/pair` : `${this.#id}/${this.#calls++}`;
    if (this.#group !== undefined) {
      // All parts of a group are under way at the same time.
      const done = this.#group.after.then(() => this.#run(call, key));
      this.#group.running.push(done.catch(() => undefined));
      return done;
    }
    return this.#behind(() => this.#run(call, key));
  }

  #behind<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  groupStart(): void {
    this.#group = { after: this.#tail, running: [] };
  }

  groupEnd(): void {
    if (this.#group !== undefined) this.#tail = Promise.all(this.#group.running);
    this.#group = undefined;
  }

  groupDone(): void {}

  async #run(call: Call, key: string): Promise<void> {
    try {
      await this.#perform(call, key);
    } catch (error) {
      // The others would wait for what will never come.
      if (error instanceof CommunicatorError && (error.code === 'E_NCCL_TIMEOUT' || error.code === 'E_NCCL_MISMATCH')) {
        this.#link.abort(error.message);
      }
      throw during(error, call.kind);
    }
  }

  async #perform(call: Call, key: string): Promise<void> {
    const own = call.send === undefined ? EMPTY : await bytesOf(call.send, call);
    const what = signatureOf(call);
    const received = await this.#exchange(call, { key, what, own });
    if (received !== undefined && call.recv !== undefined) putBytes(call.recv, received, call);
  }

  /** What goes into `recv`; undefined for nothing. */
  #exchange(call: Call, step: Step): Promise<Uint8Array | undefined> {
    const { kind, peer: root, type, op = 'sum' } = call;
    const part = call.count * rowOf(type).bytes;
    switch (kind) {
      case 'send':
        this.#post(root, step, step.own);
        return Promise.resolve(undefined);
      case 'recv':
        return this.#take(root, step, part);
      case 'broadcast':
        return this.#fromRoot(root, step, part, () => step.own);
      case 'scatter':
        return this.#fromRoot(root, step, part, (rank) => slice(step.own, rank, part));
      case 'gather':
        return this.#atRoot(root, step, part, concatenated);
      case 'reduce':
        return this.#atRoot(root, step, part, (parts) => combine(type, op, parts));
      case 'allGather':
        return this.#everyone(step, part, concatenated, (all) => all);
      case 'allReduce':
        return this.#everyone(
          step,
          part,
          (parts) => combine(type, op, parts),
          (all) => all,
        );
      case 'reduceScatter':
        return this.#everyone(
          step,
          part * this.size,
          (parts) => combine(type, op, parts),
          (all, rank) => slice(all, rank, part),
        );
      case 'allToAll':
        return this.#pairwise(step, part);
    }
  }

  async #fromRoot(root: number, step: Step, bytes: number, partOf: (rank: number) => Uint8Array): Promise<Uint8Array> {
    if (this.rank !== root) return this.#take(root, step, bytes);
    for (let rank = 0; rank < this.size; rank++) if (rank !== root) this.#post(rank, step, partOf(rank));
    return partOf(root);
  }

  async #atRoot(
    root: number,
    step: Step,
    bytes: number,
    join: (parts: readonly Uint8Array[]) => Uint8Array,
  ): Promise<Uint8Array | undefined> {
    if (this.rank !== root) {
      this.#post(root, step, step.own);
      return undefined;
    }
    const parts: Uint8Array[] = [];
    for (let rank = 0; rank < this.size; rank++) {
      parts.push(rank === root ? step.own : await this.#take(rank, step, bytes));
    }
    return join(parts);
  }

  /** To the first rank, and what that makes of it back to all. */
  async #everyone(
    step: Step,
    bytes: number,
    join: (parts: readonly Uint8Array[]) => Uint8Array,
    partOf: (all: Uint8Array, rank: number) => Uint8Array,
  ): Promise<Uint8Array> {
    const all = await this.#atRoot(0, step, bytes, join);
    if (all === undefined) return this.#take(0, { ...step, key: `${step.key}<` }, undefined);
    for (let rank = 1; rank < this.size; rank++) this.#post(rank, { ...step, key: `${step.key}<` }, partOf(all, rank));
    return partOf(all, 0);
  }

  async #pairwise(step: Step, part: number): Promise<Uint8Array> {
    for (let rank = 0; rank < this.size; rank++)
      if (rank !== this.rank) this.#post(rank, step, slice(step.own, rank, part));
    const parts: Uint8Array[] = [];
    for (let rank = 0; rank < this.size; rank++) {
      parts.push(rank === this.rank ? slice(step.own, rank, part) : await this.#take(rank, step, part));
    }
    return concatenated(parts);
  }

  #linkRank(rank: number): number {
    return this.#members[rank] as number;
  }

  #post(to: number, { key, what }: Step, payload: Uint8Array): void {
    const failure = this.#link.failureOf(this.#linkRank(to));
    if (failure !== undefined && to !== this.rank) throw failure;
    this.#link.post(this.#linkRank(to), key, what, payload);
  }

  async #take(from: number, { key, what }: Step, bytes: number | undefined): Promise<Uint8Array> {
    const message = await this.#link.take(this.#linkRank(from), key, what, this.#timeout);
    this.#compare(message, from, what);
    if (bytes === undefined || message.payload.length === bytes) return message.payload;
    throw new CommunicatorError(
      'E_NCCL_MISMATCH',
      `rank ${from} sent ${message.payload.length} bytes to rank ${this.rank}, which expects ${bytes}`,
      { rank: from },
    );
  }

  /** What both sides do must be the same; of a pair what is sent is told by its bytes. */
  #compare(message: Message, from: number, what: string): void {
    if (message.what === what || message.key.endsWith('/pair')) return;
    throw new CommunicatorError(
      'E_NCCL_MISMATCH',
      `rank ${from} calls ${message.what} where rank ${this.rank} calls ${what}: all ranks must make the same calls in the same order`,
      { rank: from },
    );
  }

  async barrier(): Promise<void> {
    const key = `${this.#id}/${this.#calls++}`;
    await this.#behind(async () => {
      try {
        await this.#everyone(
          { key, what: 'barrier', own: EMPTY },
          0,
          () => EMPTY,
          () => EMPTY,
        );
      } catch (error) {
        if (error instanceof CommunicatorError && error.code === 'E_NCCL_TIMEOUT') this.#link.abort(error.message);
        throw during(error, 'barrier');
      }
    });
  }

  async split(color: number | undefined, key: number): Promise<Transport | undefined> {
    const id = `${this.#id}.${this.#splits++}`;
    const own = new Uint8Array(Float64Array.of(color ?? Number.NaN, key).buffer);
    const call = `${this.#id}/${this.#calls++}`;
    const step = { key: call, what: 'split', own };
    const all = await this.#behind(() => this.#everyone(step, own.length, concatenated, (bytes) => bytes));
    if (color === undefined) return undefined;
    const given = new Float64Array(all.slice().buffer);
    const members = this.#members
      .map((member, rank) => ({ member, color: given[2 * rank], key: given[2 * rank + 1] as number }))
      .filter((other) => other.color === color)
      .sort((a, b) => a.key - b.key)
      .map(({ member }) => member);
    return new ReferenceTransport(this.#link, this.#timeout, `${id}:${color}`, members);
  }

  abort(reason: string): void {
    this.#link.abort(reason);
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#tail;
    if (this.#ownsLink) await this.#link.close();
  }
}

/** One exchange of a call. */
interface Step {
  readonly key: string;
  readonly what: string;
  /** What this rank has given. */
  readonly own: Uint8Array;
}

function during(error: unknown, kind: string): unknown {
  if (!(error instanceof CommunicatorError)) return error;
  const details = { api: kind, cause: error, ...(error.rank === undefined ? {} : { rank: error.rank }) };
  return new CommunicatorError(
    error.code as never,
    error.message.startsWith(kind) ? error.message : `${kind}: ${error.message}`,
    details,
  );
}

function slice(bytes: Uint8Array, rank: number, part: number): Uint8Array {
  return bytes.slice(rank * part, (rank + 1) * part);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The elements of an array as bytes, read in the order of its stream. */
async function bytesOf(array: DeviceNDArray, { stream }: Call): Promise<Uint8Array> {
  if (array.size === 0) return EMPTY;
  const bytes = flat(array);
  try {
    return await bytes.copyToHostAsync(new Uint8Array(array.nbytes), { stream });
  } finally {
    bytes.dispose();
  }
}

function putBytes(array: DeviceNDArray, payload: Uint8Array, { stream }: Call): void {
  if (array.size === 0) return;
  const bytes = flat(array);
  bytes.copyToDevice(payload, { stream });
  bytes.dispose();
}

function flat(array: DeviceNDArray): DeviceNDArray<number, 1> {
  const line = array.ravel();
  const bytes = line.view(u8 as DType<number>) as DeviceNDArray<number, 1>;
  line.dispose();
  return bytes;
}
