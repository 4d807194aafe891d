/**
 * Who looks at what the library does: nobody, or one collector for all profiles and traces that are being taken.
 *
 * What enqueues, compiles or waits asks `observing.current` and goes its way where that is undefined: a branch is all that it costs then. Who
 * looks is `collector.ts`; here is what the layers above tell it.
 */
import type { DeviceDriver, DeviceInfo, StreamHandle } from '../driver/driver.ts';

/** What an event is of. `product`: of matrices, by the vendor's library. */
export type EventKind =
  | 'launch'
  | 'graph'
  | 'copy'
  | 'fill'
  | 'product'
  | 'collective'
  | 'compile'
  | 'wait'
  | 'range'
  | 'mark';

/** The direction of a copy. */
export type CopyDirection = 'hostToDevice' | 'deviceToHost' | 'deviceToDevice';

/** A context, as far as it is looked at. */
export interface Observed {
  readonly info: DeviceInfo;
  readonly namespace: string;
  readonly counters: { readonly live: number };
  driver: DeviceDriver;
}

/** What is done, as it is told when it begins. */
export interface Doing {
  readonly kind: EventKind;
  readonly name: string;
  /** On which device; undefined for what is of none. */
  readonly context?: Observed | undefined;
  readonly bytes?: number | undefined;
  readonly direction?: CopyDirection | undefined;
  /** What else there is to know, such as grid and block of a launch. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

/** What is enqueued on a stream; undefined is the default stream. */
export interface Enqueuing extends Doing {
  readonly context: Observed;
  readonly stream: StreamHandle | undefined;
}

/** What is told of all that is done. Whatever goes wrong in looking is kept from the program. */
export interface Observer {
  /** Runs what enqueues work on a stream; the time on the device is found out later. */
  enqueue<R>(what: Enqueuing, body: () => R): R;
  /** Runs what takes the host's time. */
  spend<R>(what: Doing, body: () => R): R;
  /** Something that has begun; the function that it gives says that it is over. Others may begin and end meanwhile; `nested`: all of them within it. */
  begin(what: Doing): (error?: unknown, nested?: boolean) => void;
  /** Something that takes no time. */
  mark(what: Doing): void;
  /** A context was made. */
  opened(context: Observed): void;
}

/** Who looks now. */
export const observing: { current: Observer | undefined } = { current: undefined };

/** Contexts that there are; those that nobody has any more are not kept. */
const contexts = new Set<WeakRef<Observed>>();

/** Makes a context known to whoever looks, now or later. */
export function noteContext(context: Observed): void {
  for (const known of contexts) if (known.deref() === undefined) contexts.delete(known);
  contexts.add(new WeakRef(context));
  observing.current?.opened(context);
}

/** All contexts that there are. */
export function knownContexts(): Observed[] {
  return Array.from(contexts, (known) => known.deref()).filter((context) => context !== undefined);
}

/** As `begin`, of a promise: over when it is settled. The promise itself is given back. */
export function observePromise<R>(what: Doing, promise: Promise<R>): Promise<R> {
  const end = observing.current?.begin(what);
  if (end !== undefined) promise.then(() => end(), end);
  return promise;
}
