/**
 * Streams and events of one OpenCL device: identity, ownership and use after destruction are checked here; their work is in
 * `queues.ts`. OpenCL API specification, section "Event Objects".
 */
import { NotSupportedError } from '../../errors.ts';
import type { EventHandle, StreamHandle } from '../driver.ts';
import type { Mark } from '../enqueued.ts';
import type { Moment } from '../faults.ts';
import { anyEvent, checkTimed, DriverEvent, ownEvent, ownStream } from '../handles.ts';
import { noteWait } from '../launch-reports.ts';
import type { OpenCLContext } from './context.ts';
import { OpenCLStream, Queues } from './queues.ts';

const PROFILING_COMMAND_END = 0x1283;
const MEM_READ_WRITE = 1;
const NOTHING = new Uint8Array(new ArrayBuffer(128), 0, 4);

class OpenCLEvent extends DriverEvent<OpenCLStreams> {
  /** The cl_event of the last recording; 0 before the first. */
  handle = 0;
  mark: Mark<OpenCLStream> | undefined;
  /** The marker's number among the commands of its stream. */
  sequence = 0;
}

/** The streams and events of one device. */
export class OpenCLStreams {
  readonly queues: Queues;
  readonly #context: OpenCLContext;
  readonly #events = new Set<OpenCLEvent>();
  #perThread: OpenCLStream | undefined;
  #markerTimes: boolean | undefined;
  /** A cl_mem that is filled to know the time; 0 where markers tell it. */
  #timer = 0;

  /** `markersHaveTimes`: known beforehand, for tests. */
  constructor(context: OpenCLContext, markersHaveTimes?: boolean) {
    this.#context = context;
    this.#markerTimes = markersHaveTimes;
    this.queues = new Queues(context);
  }

  get default(): OpenCLStream {
    return this.queues.default;
  }

  /** The stream behind a handle; the default stream for undefined. Throws for streams of other devices and destroyed ones. */
  resolve(handle: StreamHandle | undefined, api: string): OpenCLStream {
    return handle === undefined ? this.queues.default : ownStream(handle, OpenCLStream, this.queues, api);
  }

  create(): StreamHandle {
    return { stream: this.queues.create(true) };
  }

  builtin(which: 'legacy' | 'per-thread'): StreamHandle {
    if (which === 'legacy') return { stream: this.default };
    this.#perThread ??= this.queues.create(false);
    return { stream: this.#perThread };
  }

  destroy(handle: StreamHandle): void {
    const stream = this.resolve(handle, 'destroyStream');
    if (stream.created) this.queues.destroy(stream);
  }

  query(handle: StreamHandle): boolean {
    return this.queues.isDone(this.resolve(handle, 'queryStream'));
  }

  createEvent(timing: boolean): EventHandle {
    const event = new OpenCLEvent(this, timing);
    this.#events.add(event);
    return { event };
  }

  destroyEvent(handle: EventHandle): void {
    const event = this.#event(handle, 'destroyEvent');
    event.alive = false;
    this.#events.delete(event);
    if (event.handle !== 0) this.#context.cl.clReleaseEvent(event.handle);
  }

  record(handle: EventHandle, to: StreamHandle | undefined, now: Moment): void {
    const event = this.#event(handle, 'recordEvent');
    const stream = this.resolve(to, 'recordEvent');
    this.queues.begin(stream);
    const recorded = event.timing && !this.#markersHaveTimes() ? this.#fillTimer(stream) : this.queues.mark(stream);
    if (event.handle !== 0) this.#context.cl.clReleaseEvent(event.handle);
    event.handle = recorded;
    event.mark = { stream, moment: now };
    event.sequence = stream.sequence;
  }

  /** Whether the implementation tells when markers came; found out once. */
  #markersHaveTimes(): boolean {
    if (this.#markerTimes === undefined) {
      const { cl, out } = this.#context;
      this.queues.begin(this.default);
      const marker = this.queues.mark(this.default);
      this.queues.waitFor(marker);
      out.set(0, 0n);
      const result = cl.clGetEventProfilingInfo(marker, PROFILING_COMMAND_END, 8, out.at(0), 0);
      this.#markerTimes = result === 0 && out.long(0) > 0;
      cl.clReleaseEvent(marker);
    }
    return this.#markerTimes;
  }

  /** A command that has times everywhere; its cl_event. */
  #fillTimer(stream: OpenCLStream): number {
    const { cl, out, handle } = this.#context;
    if (this.#timer === 0) {
      this.#timer = cl.clCreateBuffer(handle, MEM_READ_WRITE, 16, null, out.at(0));
      this.#context.check(out.int(0), 'clCreateBuffer');
    }
    const result = cl.clEnqueueFillBuffer(stream.queue, this.#timer, NOTHING, 4, 0, 16, 0, 0, out.at(0));
    this.#context.check(result, 'clEnqueueFillBuffer');
    this.#context.check(cl.clFlush(stream.queue), 'clFlush');
    return out.long(0);
  }

  /** An event of another device is waited for by the host: contexts share no events. `position`: of the wait. */
  wait(handle: EventHandle, waiting: StreamHandle | undefined, position: number): void {
    const event = anyEvent(handle, OpenCLEvent, 'waitEvent');
    const stream = this.resolve(waiting, 'waitEvent');
    const { mark, owner } = event;
    if (mark === undefined || mark.stream === stream) return;
    if (owner !== this) return owner.queues.waitFor(event.handle);
    this.queues.begin(stream);
    this.queues.barrier(stream, event.handle);
    if (mark.moment.position > 0) noteWait(stream.waitedFor, mark.stream, mark.moment, position);
  }

  queryEvent(handle: EventHandle): boolean {
    const event = this.#event(handle, 'queryEvent');
    if (event.mark === undefined) return true;
    if (!this.queues.reached(event.handle)) return false;
    this.queues.done(event.mark.stream, event.sequence);
    return true;
  }

  markOf(handle: EventHandle, api: string): Mark<OpenCLStream> | undefined {
    return this.#event(handle, api).mark;
  }

  reachEvent(handle: EventHandle): void {
    const event = this.#event(handle, 'reachEvent');
    if (event.mark === undefined) return;
    this.queues.waitFor(event.handle);
    this.queues.done(event.mark.stream, event.sequence);
  }

  /** Milliseconds, by the device's clock. */
  elapsed(start: EventHandle, end: EventHandle): number {
    const from = this.#timed(start, 'start');
    const to = this.#timed(end, 'end');
    return (this.#time(to) - this.#time(from)) / 1e6;
  }

  #time(event: OpenCLEvent): number {
    this.queues.waitFor(event.handle);
    const { cl, out } = this.#context;
    const result = cl.clGetEventProfilingInfo(event.handle, PROFILING_COMMAND_END, 8, out.at(0), 0);
    if (result !== 0) {
      throw new NotSupportedError(
        'E_EVENT',
        `elapsedTime: ${this.#context.name} does not report when events occurred: measure on the host, around synchronize()`,
      );
    }
    return out.long(0);
  }

  #timed(handle: EventHandle, which: 'start' | 'end'): OpenCLEvent {
    const event = this.#event(handle, 'elapsedTime');
    checkTimed(event, event.mark !== undefined, which);
    return event;
  }

  #event(handle: EventHandle, api: string): OpenCLEvent {
    return ownEvent(handle, OpenCLEvent, this, api);
  }

  /** Releases what is left; failures do not matter any more. */
  close(): void {
    for (const event of this.#events) {
      event.alive = false;
      if (event.handle !== 0) this.#context.cl.clReleaseEvent(event.handle);
    }
    this.#events.clear();
    if (this.#timer !== 0) this.#context.cl.clReleaseMemObject(this.#timer);
    this.queues.close();
  }
}
