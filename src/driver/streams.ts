/**
 * Streams and events of devices that do their work at once, on the thread that asks.
 *
 * Work is over when it has been enqueued, so waiting is trivial; what remains real is order, identity, use after
 * destruction, timing, and which stream a fault belongs to. Used by the CPU device and the simulator.
 */
import { DriverError } from '../errors.ts';
import type { EventHandle, StreamHandle } from './driver.ts';
import { FaultLog } from './faults.ts';

class Stream {
  readonly owner: ImmediateStreams;
  alive = true;
  constructor(owner: ImmediateStreams) {
    this.owner = owner;
  }
}

class Event {
  readonly owner: ImmediateStreams;
  readonly timing: boolean;
  alive = true;
  /** Milliseconds; undefined until recorded. */
  time: number | undefined;
  stream: Stream | undefined;
  /** Faults posted before this mark happened before the event. */
  mark = 0;
  constructor(owner: ImmediateStreams, timing: boolean) {
    this.owner = owner;
    this.timing = timing;
  }
}

/** The streams and events of one device; the members are those of the driver contract. */
export class ImmediateStreams {
  readonly faults: FaultLog = new FaultLog();
  readonly #default: Stream = new Stream(this);

  /** The stream behind a handle; the default stream for undefined. Throws for handles of other devices and destroyed ones. */
  resolve(handle: StreamHandle | undefined, api: string): object {
    return handle === undefined ? this.#default : this.#stream(handle, api);
  }

  create(): StreamHandle {
    return { stream: new Stream(this) };
  }

  /** Legacy and per-thread default streams are one here: work is done at once. */
  builtin(): StreamHandle {
    return { stream: this.#default };
  }

  destroy(handle: StreamHandle): void {
    this.#stream(handle, 'destroyStream').alive = false;
  }

  synchronize(handle: StreamHandle): void {
    this.faults.raise(this.#stream(handle, 'synchronizeStream'));
  }

  query(handle: StreamHandle): boolean {
    this.#stream(handle, 'queryStream');
    return true;
  }

  createEvent(timing: boolean): EventHandle {
    return { event: new Event(this, timing) };
  }

  destroyEvent(handle: EventHandle): void {
    this.#event(handle, 'destroyEvent').alive = false;
  }

  record(handle: EventHandle, stream: StreamHandle | undefined): void {
    const event = this.#event(handle, 'recordEvent');
    event.stream = stream === undefined ? this.#default : this.#stream(stream, 'recordEvent');
    event.mark = this.faults.mark;
    event.time = performance.now();
  }

  wait(handle: EventHandle, stream: StreamHandle | undefined): void {
    const event = this.#event(handle, 'waitEvent');
    const to = stream === undefined ? this.#default : this.#stream(stream, 'waitEvent');
    if (event.stream !== undefined) this.faults.follow(this.#orderedWith(event.stream), event.mark, to);
  }

  /** True also of an event that was never recorded, as on CUDA. */
  queryEvent(handle: EventHandle): boolean {
    this.#event(handle, 'queryEvent');
    return true;
  }

  synchronizeEvent(handle: EventHandle): void {
    const event = this.#event(handle, 'synchronizeEvent');
    if (event.stream !== undefined) this.faults.raise(this.#orderedWith(event.stream), event.mark);
  }

  /** Work on the default stream comes after that of all streams, as on CUDA (the legacy default stream): undefined for these. */
  #orderedWith(stream: Stream): Stream | undefined {
    return stream === this.#default ? undefined : stream;
  }

  elapsed(start: EventHandle, end: EventHandle): number {
    return this.#time(end, 'end') - this.#time(start, 'start');
  }

  #time(handle: EventHandle, which: string): number {
    const event = this.#event(handle, 'elapsedTime');
    if (!event.timing) {
      throw invalid('elapsedTime', `the ${which} event was created without timing: use event({ timing: true })`);
    }
    if (event.time === undefined) {
      throw invalid('elapsedTime', `the ${which} event has not been recorded: call record(stream) first`);
    }
    return event.time;
  }

  #stream(handle: StreamHandle, api: string): Stream {
    const { stream } = handle;
    if (!(stream instanceof Stream) || stream.owner !== this) {
      throw invalid(api, 'the stream belongs to another device');
    }
    if (!stream.alive) throw invalid(api, 'the stream has been destroyed');
    return stream;
  }

  #event(handle: EventHandle, api: string): Event {
    const { event } = handle;
    if (!(event instanceof Event) || event.owner !== this) throw invalid(api, 'the event belongs to another device');
    if (!event.alive) throw invalid(api, 'the event has been destroyed');
    return event;
  }
}

function invalid(api: string, message: string): DriverError {
  return new DriverError('E_INVALID_HANDLE', `${api}: ${message}`, { api });
}
