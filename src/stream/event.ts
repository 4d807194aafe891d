/**
 * Events: marks in a stream that can be waited for, and between which time can be measured.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { EventHandle, StreamHandle } from '../driver/driver.ts';
import { DriverError, TsambaTypeError } from '../errors.ts';
import { refuseAssignments } from '../guarded.ts';
import { blocking } from '../memory/blocking.ts';
import { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { captureSite, disposedError, type Site } from '../memory/disposal.ts';
import { printAs } from '../memory/printing.ts';
import { recording, refuseWaiting, unrecordable } from '../memory/recording.ts';
import type { Resource } from '../memory/resources.ts';
import { noteDisposed, noteMade } from '../memory/scope.ts';
import { UNCLONEABLE_STREAM } from '../memory/uncloneable.ts';
import { flag, readOptions } from '../options.ts';
import { type Stream, streamOption } from './stream.ts';
import { settle, whenReached } from './waiting.ts';

class EventResource implements Resource {
  readonly context: Context;
  readonly handle: EventHandle;
  destroyed = false;
  #waiters = 0;

  constructor(context: Context, timing: boolean) {
    this.context = context;
    this.handle = context.driver.createEvent(timing);
    context.adopt(this);
  }

  destroy(): void {
    this.destroyed = true;
    if (this.#waiters === 0) this.context.driver.destroyEvent(this.handle);
  }

  /** Keeps the driver's event while somebody waits for it; the function that it gives lets go. */
  hold(): () => void {
    this.#waiters++;
    return () => {
      this.#waiters--;
      if (this.destroyed && this.#waiters === 0 && !this.context.closed) this.context.driver.destroyEvent(this.handle);
    };
  }
}

const dropped: FinalizationRegistry<EventResource> = new FinalizationRegistry((resource) => {
  resource.context.retire(resource);
});

/**
 * A mark in a stream: other streams can wait for it, and time is measured between two. Created by `cuda.event()`. Numba: `Event`.
 * @example
 * const event = cuda.event();
 * event.record();
 * event.synchronize();
 * console.log(event instanceof cuda.Event, event.query()); // true true
 */
export class Event {
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_STREAM;
  /** @internal Only the host can use it. */
  static readonly '~hostOnly': string = 'cuda.Event';
  readonly #timing: boolean;
  readonly #resource: EventResource;
  #recorded = false;
  #disposedAt: Site | undefined;

  /** Events are made by `createEvent()`. */
  constructor(context: Context, timing: boolean) {
    if (!(context instanceof Context)) throw new TsambaTypeError('E_OPTION', 'events are made by cuda.event()');
    context.checkOpen();
    this.#timing = timing;
    this.#resource = new EventResource(context, timing);
    if (new.target === Event) Object.freeze(this);
    dropped.register(this, this.#resource, this);
    noteMade(this);
  }

  /** The context, and so the device, that the event belongs to. */
  get context(): Context {
    return this.#resource.context;
  }

  /** Whether the event can measure times: false with the option `timing: false`. */
  get timing(): boolean {
    return this.#timing;
  }

  /** Whether `dispose` has been called. */
  get disposed(): boolean {
    return this.#disposedAt !== undefined || this.#resource.destroyed;
  }

  /** Marks the point that the stream (none: the default stream) has reached with what is enqueued now. */
  record(stream?: Stream | 0 | null): void {
    const event = this.#use();
    this.context.driver.recordEvent(event, this.#handleOf(stream));
    // In a graph it is a mark within that, and nothing that time could be measured from.
    if (recording.current === undefined) this.#recorded = true;
  }

  /** Makes what is enqueued on the stream (none: the default stream) from now on wait for the mark. Does not block. */
  wait(stream?: Stream | 0 | null): void {
    const event = this.#use();
    const { current } = recording;
    if (current !== undefined && !current.knows(event)) {
      throw current.fail(
        unrecordable(
          'event.wait()',
          'the event is not recorded earlier in it, and work outside a graph comes before or after all of it',
          'record the event in the graph, or wait for it before the graph is launched',
        ),
      );
    }
    this.context.driver.waitEvent(event, this.#handleOf(stream));
  }

  /** Whether the work before the mark has been done. Does not block. */
  query(): boolean {
    refuseWaiting('event.query()');
    return this.context.driver.queryEvent(this.#use());
  }

  /** Blocks until the work before the mark has been done. */
  synchronize(): void {
    refuseWaiting('event.synchronize()');
    const event = this.#use();
    const driver = blocking(this.context.driver, 'event.synchronize()', 'await event.done()');
    this.context.counters.synchronizations++;
    driver.synchronizeEvent(event);
  }

  /**
   * Resolves with the event when the work before the mark is done, without blocking the event loop; rejects if it failed. The event may be disposed
   * of meanwhile; if it is recorded again, that is waited for too.
   */
  async done(): Promise<Event> {
    refuseWaiting('event.done()');
    const event = this.#use();
    const { context } = this;
    const letGo = this.#resource.hold();
    await new Promise<void>((resolve, reject) => {
      whenReached(context, event, (outcome) => {
        letGo();
        settle(outcome, resolve, reject);
      });
    });
    return this;
  }

  /**
   * Milliseconds from this mark to `end`. Both must have been recorded, with timing, and reached. Numba:
   * `event_elapsed_time(start, end)`.
   */
  elapsedTime(end: Event): number {
    refuseWaiting('event.elapsedTime()');
    if (!(end instanceof Event)) {
      throw new TsambaTypeError('E_EVENT', `elapsedTime needs the event that ends the time, got ${typeof end}`);
    }
    const handles = [this.#timed('start'), end.#timed('end')] as const;
    return this.context.driver.elapsedTime(...handles);
  }

  #timed(which: string): EventHandle {
    const handle = this.#use();
    const missing = this.timing
      ? this.#recorded
        ? undefined
        : 'was not recorded: call record() first'
      : 'was made with timing: false: leave that out';
    if (missing === undefined) return handle;
    throw new DriverError('E_EVENT', `elapsedTime: the ${which} event ${missing}`, { api: 'elapsedTime' });
  }

  /** Releases the event. Calling it again does nothing. */
  dispose(): void {
    this.#dispose();
  }

  [Symbol.dispose](): void {
    this.#dispose();
  }

  #dispose(): void {
    if (this.#disposedAt !== undefined) return;
    this.#disposedAt = captureSite(2);
    noteDisposed(this);
    dropped.unregister(this);
    this.context.retire(this.#resource);
  }

  /** A short description of the event. */
  toString(): string {
    return `Event(${this.timing ? 'with timing' : 'without timing'}, ${this.disposed ? 'disposed' : this.context.info.name})`;
  }

  #use(): EventHandle {
    if (this.#disposedAt !== undefined) throw disposedError('event', this.#disposedAt, 'make a new one with event()');
    this.context.checkOpen();
    if (this.disposed) throw disposedError('event', undefined, 'its context was reset: make a new one with event()');
    return this.#resource.handle;
  }

  #handleOf(stream: Stream | 0 | null | undefined): StreamHandle | undefined {
    return streamOption(stream, this.context)?.handle;
  }
}

printAs(Event.prototype);
refuseAssignments('Event', Event.prototype);

/** Makes an event on the current device. */
export type CreateEvent = (options?: { readonly timing?: boolean }) => Event;

export function createEventOf(devices: DeviceSelection): CreateEvent {
  return hostFunction(devices, 'event', (options = {}) => {
    const timing = flag('timing', readOptions('event', options, ['timing']).timing) ?? true;
    return new Event(devices.currentContext(), timing);
  });
}
