/**
 * Streams and events of devices whose work this process does itself: the CPU device and the simulator.
 *
 * Most work is over when it has been enqueued. What was launched asynchronously is in the queue, and so is what a stream is given
 * after it. Beyond that order there remain identity, use after destruction, timing, and which stream a fault belongs to.
 */
import { DriverError } from '../errors.ts';
import type { EventHandle, Failure, StreamHandle } from './driver.ts';
import { FaultLog, type Moment } from './faults.ts';
import { checkTimed, DriverEvent, ownEvent, ownStream } from './handles.ts';
import { type Work, WorkQueue } from './work-queue.ts';

class Stream {
  readonly owner: ImmediateStreams;
  alive = true;
  /** The last piece of work in the queue that it comes after. */
  after = 0;
  constructor(owner: ImmediateStreams) {
    this.owner = owner;
  }
}

class Event extends DriverEvent<ImmediateStreams> {
  /** Milliseconds; undefined until recorded. */
  time: number | undefined;
  stream: Stream | undefined;
  /** Which work comes before it, and what somebody had been told of when it was recorded. */
  mark: Moment | undefined;
  /** The piece of work in the queue that it is reached with. */
  after = 0;
}

/** The streams and events of one device; the members are those of the driver contract. */
export class ImmediateStreams {
  readonly faults: FaultLog = new FaultLog();
  readonly queue: WorkQueue = new WorkQueue();
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

  /** Puts work into the queue, after all that is there, on a stream that `resolve` gave. */
  enqueue(stream: object, work: Work): void {
    (stream as Stream).after = this.queue.add(work);
  }

  /**
   * Does something in the order of a stream: at once where nothing is left on that, else when the queue has come so far. The number
   * of the piece of work that it is then, 0 if it is done.
   */
  perform(stream: object, action: () => void): number {
    if (this.queue.running || !this.busy(stream)) {
      action();
      return 0;
    }
    const advance = (): true => {
      try {
        action();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.faults.post(
          error instanceof DriverError ? error : new DriverError('E_FAULT', message, { cause: error }),
          stream,
        );
      }
      return true;
    };
    this.enqueue(stream, { advance, finish: advance });
    return this.queue.enqueued;
  }

  /** Blocks until all work is done that comes before what a stream is given now, or before anything when it is undefined. */
  waitForWork(stream?: object): void {
    if (this.queue.idle) return;
    this.queue.wait(stream === undefined ? this.queue.enqueued : this.#last(stream as Stream));
  }

  /** The last piece of work that a stream waits for. As on CUDA, the default stream waits for all, and all wait for it. */
  #last(stream: Stream): number {
    return stream === this.#default ? this.queue.enqueued : Math.max(stream.after, this.#default.after);
  }

  /** Whether something in the queue comes before what a stream is given now. */
  busy(stream: object): boolean {
    return !this.queue.idle && !this.queue.finished(this.#last(stream as Stream));
  }

  synchronize(handle: StreamHandle): void {
    const stream = this.#stream(handle, 'synchronizeStream');
    this.waitForWork(stream);
    this.faults.raise(stream);
  }

  query(handle: StreamHandle): boolean {
    return !this.busy(this.#stream(handle, 'queryStream'));
  }

  createEvent(timing: boolean): EventHandle {
    return { event: new Event(this, timing) };
  }

  destroyEvent(handle: EventHandle): void {
    this.#event(handle, 'destroyEvent').alive = false;
  }

  record(handle: EventHandle, stream: StreamHandle | undefined): void {
    const event = this.#event(handle, 'recordEvent');
    const where = stream === undefined ? this.#default : this.#stream(stream, 'recordEvent');
    event.stream = where;
    event.mark = undefined;
    const { told } = this.faults.now;
    const reached = (): void => {
      event.mark = { position: this.faults.now.position, told };
      event.time = performance.now();
    };
    event.after = this.perform(where, reached);
  }

  wait(handle: EventHandle, stream: StreamHandle | undefined): void {
    const event = this.#event(handle, 'waitEvent');
    const to = stream === undefined ? this.#default : this.#stream(stream, 'waitEvent');
    const { stream: from, after } = event;
    if (from === undefined) return;
    to.after = Math.max(to.after, after);
    this.perform(to, () => {
      if (event.mark !== undefined) this.faults.follow(this.#orderedWith(from), event.mark, to);
    });
  }

  /** True also of an event that was never recorded, as on CUDA. */
  queryEvent(handle: EventHandle): boolean {
    return this.queue.finished(this.#event(handle, 'queryEvent').after);
  }

  synchronizeEvent(handle: EventHandle): void {
    this.reachEvent(handle);
    const { stream, mark } = this.#event(handle, 'synchronizeEvent');
    if (stream !== undefined) this.faults.raise(this.#orderedWith(stream), mark?.position);
  }

  reachEvent(handle: EventHandle): void {
    this.queue.wait(this.#event(handle, 'synchronizeEvent').after);
  }

  failureBefore(handle: EventHandle): Failure | undefined {
    const { stream, mark } = this.#event(handle, 'failureBefore');
    if (stream === undefined || mark === undefined) return undefined;
    return this.faults.failure(this.#orderedWith(stream), mark);
  }

  /** Work on the default stream comes after that of all streams, as on CUDA (the legacy default stream): undefined for these. */
  #orderedWith(stream: Stream): Stream | undefined {
    return stream === this.#default ? undefined : stream;
  }

  elapsed(start: EventHandle, end: EventHandle): number {
    return this.#time(end, 'end') - this.#time(start, 'start');
  }

  #time(handle: EventHandle, which: 'start' | 'end'): number {
    const event = this.#event(handle, 'elapsedTime');
    checkTimed(event, event.time !== undefined, which);
    return event.time ?? 0;
  }

  #stream(handle: StreamHandle, api: string): Stream {
    return ownStream(handle, Stream, this, api);
  }

  #event(handle: EventHandle, api: string): Event {
    return ownEvent(handle, Event, this, api);
  }
}
