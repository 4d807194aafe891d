/**
 * Streams: queues of work on a device, done in order, unordered between each other.
 *
 * Callbacks and `done()` are built on events that are polled (`waiting.ts`), never on the driver's own callbacks, which
 * deadlock with a host that blocks. On a device that works at once (the CPU) everything here keeps its meaning: it is merely
 * done sooner.
 */
import type { StreamHandle } from '../driver/driver.ts';
import type { Context } from '../memory/context.ts';
import type { StreamRef } from '../memory/stream-ref.ts';

export type StreamKind = 'created' | 'default' | 'legacy' | 'per-thread';

export declare class Stream implements StreamRef {
  readonly context: Context;
  readonly kind: StreamKind;
  /** Only `createStream` and its like make streams. */
  constructor(context: Context, kind: StreamKind);
  readonly handle: StreamHandle | undefined;
  readonly destroyed: boolean;
  readonly disposed: boolean;
  /** The driver's handle for work to be enqueued now; throws if the stream was disposed. */
  use(): StreamHandle | undefined;
  synchronize(): void;
  query(): boolean;
  autoSynchronize(): Disposable & AsyncDisposable & { readonly stream: Stream };
  autoSynchronize<R>(body: (stream: Stream) => R): R;
  done(): Promise<Stream>;
  addCallback<A>(fn: (stream: Stream, status: number, arg: A) => void, arg?: A): void;
  /** Keeps a host object alive until the work that is now on the stream has been done. */
  hold(object: object): void;
  dispose(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}
/** `stream` options: a Stream, or Numba's 0 (or nothing) for none. Throws TypeError for anything else. */
export declare function streamOption(value: unknown, context: Context): Stream | undefined;
