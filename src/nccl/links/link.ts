/**
 * A link: messages between the ranks of a job, in order from each to each, and news of ranks that are lost.
 *
 * It is what the reference transport sends data by, and what NCCL's hands its unique id around by and learns by who was lost.
 */
import { CommunicatorError, lostRank } from '../errors.ts';

/** A message that has come. */
export interface Message {
  readonly from: number;
  /** Which exchange it belongs to. */
  readonly key: string;
  /** What the sender is doing, for messages of errors. */
  readonly what: string;
  readonly payload: Uint8Array;
}

/** What is told of a rank. */
export type FailureListener = (error: CommunicatorError, isOver: boolean) => void;

/** One rank's end. */
export interface Link {
  readonly rank: number;
  readonly size: number;
  /** Sends; does not wait. The bytes must not change afterwards. */
  post(to: number, key: string, what: string, payload: Uint8Array): void;
  /** The next message of this key from a rank. Rejects when the rank is lost, or after `timeout` milliseconds. */
  take(from: number, key: string, what: string, timeout: number): Promise<Message>;
  /** Tells all others that the job is over, and ends what waits here. */
  abort(reason: string): void;
  /** Called when a rank is lost or aborts (`isOver`: nothing will be completed any more) or has left, once for each. */
  onFailure(listener: FailureListener): void;
  /** Why nothing can be done with a rank any more; undefined while it can. */
  failureOf(rank: number): CommunicatorError | undefined;
  /** Says goodbye. Calling it again does nothing. */
  close(): Promise<void>;
}

interface Waiter {
  readonly from: number;
  resolve(message: Message): void;
  reject(error: CommunicatorError): void;
}

/** What is the same for all links: what has come, and who waits for it. */
export abstract class Mailbox implements Link {
  readonly rank: number;
  readonly size: number;
  readonly #mail = new Map<string, Message[]>();
  readonly #waiters = new Map<string, Waiter[]>();
  readonly #failures = new Map<number, CommunicatorError>();
  readonly #listeners: FailureListener[] = [];
  #aborted: CommunicatorError | undefined;
  /** Where one rank was lost, nothing that goes through all will ever be completed. */
  #lost: CommunicatorError | undefined;

  constructor(rank: number, size: number) {
    this.rank = rank;
    this.size = size;
  }

  /** Takes a message to another rank. */
  protected abstract carry(to: number, message: Message): void;
  /** Tells all others of an end: `left`, or that all is over. */
  protected abstract announce(key: 'left' | 'abort', what: string): Promise<void>;

  post(to: number, key: string, what: string, payload: Uint8Array): void {
    const message = { from: this.rank, key, what, payload };
    if (to === this.rank) this.receive(message);
    else this.carry(to, message);
  }

  take(from: number, key: string, what: string, timeout: number): Promise<Message> {
    const place = `${from}|${key}`;
    const queue = this.#mail.get(place);
    const first = queue?.shift();
    if (queue?.length === 0) this.#mail.delete(place);
    if (first !== undefined) return Promise.resolve(first);
    const failure = this.failureOf(from);
    if (failure !== undefined) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#forget(place, waiter);
        reject(
          new CommunicatorError('E_NCCL_TIMEOUT', `${what}: rank ${from} did not come within ${timeout} ms`, {
            rank: from,
          }),
        );
      }, timeout);
      const waiter: Waiter = {
        from,
        resolve: (message) => {
          clearTimeout(timer);
          resolve(message);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const waiting = this.#waiters.get(place);
      if (waiting === undefined) this.#waiters.set(place, [waiter]);
      else waiting.push(waiter);
    });
  }

  #forget(place: string, waiter: Waiter): void {
    const left = (this.#waiters.get(place) ?? []).filter((other) => other !== waiter);
    if (left.length === 0) this.#waiters.delete(place);
    else this.#waiters.set(place, left);
  }

  /** A message has come. */
  receive(message: Message): void {
    const place = `${message.from}|${message.key}`;
    const waiter = this.#waiters.get(place)?.[0];
    if (waiter !== undefined) {
      this.#forget(place, waiter);
      waiter.resolve(message);
      return;
    }
    const queue = this.#mail.get(place);
    if (queue === undefined) this.#mail.set(place, [message]);
    else queue.push(message);
  }

  /** A rank is gone: it was lost, or has left. */
  gone(rank: number, wasLost: boolean): void {
    if (this.#failures.has(rank)) return;
    const error = wasLost
      ? lostRank(rank, '')
      : new CommunicatorError(
          'E_NCCL_LOST',
          `rank ${rank} has left: it disposed of its communicator, or its program ended`,
          {
            rank,
          },
        );
    this.#failures.set(rank, error);
    if (wasLost) this.#lost ??= error;
    this.#fail(error, (waiter) => wasLost || waiter.from === rank);
    for (const listener of this.#listeners) listener(error, wasLost);
  }

  /** A rank has ended the job. */
  over(rank: number, reason: string): void {
    if (this.#aborted !== undefined) return;
    const own = rank === this.rank;
    const message = own ? `the communicator was aborted: ${reason}` : `rank ${rank} aborted: ${reason}`;
    const error = new CommunicatorError('E_NCCL_ABORTED', message, { rank });
    this.#aborted = error;
    this.#fail(error, () => true);
    for (const listener of this.#listeners) listener(error, true);
  }

  #fail(error: CommunicatorError, which: (waiter: Waiter) => boolean): void {
    for (const [place, waiters] of [...this.#waiters]) {
      for (const waiter of waiters.filter(which)) {
        this.#forget(place, waiter);
        waiter.reject(error);
      }
    }
  }

  abort(reason: string): void {
    if (this.#aborted !== undefined) return;
    this.over(this.rank, reason);
    void this.announce('abort', reason);
  }

  onFailure(listener: FailureListener): void {
    this.#listeners.push(listener);
  }

  failureOf(rank: number): CommunicatorError | undefined {
    return this.#aborted ?? this.#failures.get(rank) ?? this.#lost;
  }

  async close(): Promise<void> {
    await this.announce('left', '');
  }
}

/** Links of ranks that are all in this thread. */
export function localLinks(size: number): readonly Link[] {
  const links: LocalLink[] = Array.from({ length: size }, (_, rank) => new LocalLink(rank, size, () => links));
  return links;
}

class LocalLink extends Mailbox {
  readonly #all: () => readonly LocalLink[];

  constructor(rank: number, size: number, all: () => readonly LocalLink[]) {
    super(rank, size);
    this.#all = all;
  }

  protected override carry(to: number, message: Message): void {
    this.#all()[to]?.receive(message);
  }

  protected override async announce(key: 'left' | 'abort', what: string): Promise<void> {
    for (const other of this.#all()) {
      if (other === this) continue;
      if (key === 'left') other.gone(this.rank, false);
      else other.over(this.rank, what);
    }
  }
}
