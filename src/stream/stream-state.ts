/**
 * The driver's streams, apart from the objects that users hold, so that those can be collected.
 *
 * A created stream dies with its `Stream` or its context, and need not be idle then: the work that is left on it is done all
 * the same, and memory that it uses lives until then. The device's own streams and those of other libraries are nobody's
 * to destroy; each is one state a context, however many `Stream`s stand for it.
 */
import type { EventHandle, StreamHandle, StreamPriority } from '../driver/driver.ts';
import { lockProperties } from '../guarded.ts';
import type { Context } from '../memory/context.ts';
import { waitFor } from '../memory/owner.ts';
import type { Outliving, Resource } from '../memory/resources.ts';
import type { StreamRef } from '../memory/stream-ref.ts';

/** More objects or bytes of host memory than this are held for a stream only after a look at whether they still must be. */
const MANY_HELD = 64;
const MUCH_HELD = 2 ** 26;

/** A stream of a driver. */
export class StreamState implements StreamRef, Outliving {
  readonly context: Context;
  readonly handle: StreamHandle | undefined;
  readonly external: boolean;
  destroyed = false;
  tail: EventHandle | undefined = undefined;
  /** Host memory that enqueued copies use. */
  #held: object[] = [];
  #heldBytes = 0;

  constructor(context: Context, handle: StreamHandle | undefined, external: boolean) {
    this.context = context;
    this.handle = handle;
    this.external = external;
    lockProperties(this, 'context', 'handle', 'external');
  }

  /** Keeps host memory alive until the work that is on the stream now has been done. */
  hold(object: object): void {
    // Without a handle the driver's calls are synchronous.
    if (this.handle === undefined) return;
    if (this.#held.length >= MANY_HELD || this.#heldBytes >= MUCH_HELD) this.#releaseIfIdle(this.handle);
    this.#held.push(object);
    if (ArrayBuffer.isView(object)) this.#heldBytes += object.byteLength;
    this.context.holders.add(this);
  }

  #releaseIfIdle(handle: StreamHandle): void {
    if (this.context.driver.queryStream(handle)) this.release();
    // What is held is looked at again when there is as much more of it.
    else this.#heldBytes = 0;
  }

  /** All work has been done: host memory need not be held any longer. */
  release(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.context.holders.delete(this);
  }

  /** Makes the default stream come after the work that is left here: for what goes there since this stream was disposed. */
  handOver(): void {
    const { driver } = this.context;
    if (this.tail !== undefined) driver.waitEvent(this.tail, undefined);
    else if (this.handle !== undefined && !this.destroyed && !driver.queryStream(this.handle)) {
      waitFor(driver, this.handle, undefined);
    }
  }

  /** Whether what was left on a destroyed stream has been done; gives up what was kept for it. */
  finished(): boolean {
    const { tail } = this;
    if (tail === undefined) return true;
    const { driver } = this.context;
    if (!driver.queryEvent(tail)) return false;
    this.tail = undefined;
    this.release();
    driver.destroyEvent(tail);
    return true;
  }
}

/** A stream that `createStream()` made. */
export class CreatedStream extends StreamState implements Resource {
  declare readonly handle: StreamHandle;

  constructor(context: Context, priority: StreamPriority | undefined) {
    super(context, context.driver.createStream(priority), false);
    context.adopt(this);
  }

  /** Gives the driver's stream back; blocks for none of its work. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    const { driver } = this.context;
    try {
      if (!driver.queryStream(this.handle)) {
        const tail = driver.createEvent(false);
        driver.recordEvent(tail, this.handle);
        this.tail = tail;
        this.context.outlive(this);
      } else this.release();
    } finally {
      driver.destroyStream(this.handle);
    }
  }
}

/** More streams of other libraries than this are not remembered: an older one gets a new state when it comes again. */
const MANY_EXTERNAL = 64;

const shared = new WeakMap<Context, Map<string, StreamState>>();

/** The state of one of the device's own streams. Devices without CUDA streams have one default stream, which has no handle. */
export function builtinState(context: Context, which: 'default' | 'legacy' | 'per-thread'): StreamState {
  return sharedState(context, which, () => {
    const { driver, info } = context;
    const handle = info.features.externalStreams
      ? driver.builtinStream(which === 'per-thread' ? 'per-thread' : 'legacy')
      : undefined;
    return new StreamState(context, handle, false);
  });
}

/** The state of another library's stream. */
export function externalState(context: Context, address: bigint): StreamState {
  const known = sharedOf(context);
  if (known.size > MANY_EXTERNAL) {
    const oldest = [...known.keys()].find((key) => key.startsWith('external'));
    if (oldest !== undefined) known.delete(oldest);
  }
  return sharedState(context, `external ${address}`, () => {
    return new StreamState(context, context.driver.externalStream(address), true);
  });
}

function sharedState(context: Context, key: string, make: () => StreamState): StreamState {
  const known = sharedOf(context);
  let state = known.get(key);
  if (state === undefined) {
    state = make();
    known.set(key, state);
  }
  return state;
}

function sharedOf(context: Context): Map<string, StreamState> {
  let known = shared.get(context);
  if (known === undefined) {
    known = new Map();
    shared.set(context, known);
  }
  return known;
}
