/**
 * What the drivers of devices with queues of their own have in common: copies, streams and events are handed on to the parts that
 * do them, and every call that waits looks at what kernels have left behind.
 *
 * A driver adds memory, kernels and what it waits with.
 */
import type {
  BlockingDriver,
  DeviceDriver,
  DeviceSide,
  EventHandle,
  Failure,
  HostSide,
  Pointer,
  StreamHandle,
  StreamPriority,
  StridedCopy,
  StridedFill,
} from './driver.ts';
import type { FaultLog, Moment } from './faults.ts';

/** The calls of the driver contract that a driver's copies make. */
export type CopyCalls = Pick<
  BlockingDriver,
  | 'copyToDevice'
  | 'copyToHost'
  | 'copyOnDevice'
  | 'copyToDeviceStrided'
  | 'copyToHostStrided'
  | 'copyOnDeviceStrided'
  | 'fillStrided'
> &
  Required<Pick<DeviceDriver, 'copyToHostLater'>>;

/** Where an event was recorded, and when. */
export interface Mark<S> {
  readonly stream: S;
  readonly moment: Moment;
}

/** A driver's streams and events. Moments and positions are those of the driver's log of faults. */
export interface StreamCalls<S> {
  readonly default: S;
  resolve(handle: StreamHandle | undefined, api: string): S;
  create(priority?: StreamPriority): StreamHandle;
  builtin(which: 'legacy' | 'per-thread'): StreamHandle;
  destroy(handle: StreamHandle): void;
  query(handle: StreamHandle): boolean;
  createEvent(timing: boolean): EventHandle;
  destroyEvent(handle: EventHandle): void;
  record(handle: EventHandle, stream: StreamHandle | undefined, now: Moment): void;
  wait(handle: EventHandle, stream: StreamHandle | undefined, position: number): void;
  queryEvent(handle: EventHandle): boolean;
  /** Where the event was recorded, if anywhere. */
  markOf(handle: EventHandle, api: string): Mark<S> | undefined;
  /** Blocks until the event has come. */
  reachEvent(handle: EventHandle): void;
  elapsed(start: EventHandle, end: EventHandle): number;
}

/** What kernels have left: see `launch-reports.ts`. */
export interface RecordCalls<S> {
  readonly log: Pick<FaultLog, 'now' | 'advance' | 'raise' | 'failure'>;
  collect(stream: S | undefined, before?: number): void;
}

/** The part of the driver contract that is forwarding and waiting. `S` is a stream as the driver knows it. */
export abstract class EnqueuedDriver<S extends object> implements CopyCalls {
  abstract readonly context: { enter(api: string): void };
  abstract readonly streams: StreamCalls<S>;
  abstract readonly reports: RecordCalls<S>;
  protected abstract readonly copies: CopyCalls;

  /** Blocks until a stream has run dry. */
  protected abstract finish(stream: S): void;
  /** Blocks until the whole device has run dry. */
  protected abstract finishAll(): void;

  // copies

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    this.copies.copyToDevice(target, source, stream);
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    this.copies.copyToHost(target, source, stream);
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    this.copies.copyOnDevice(target, source, bytes, stream);
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    this.copies.copyToDeviceStrided(copy, stream);
  }

  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void {
    this.copies.copyToHostStrided(copy, stream);
  }

  /** As `copyToHostStrided` on a stream, but never blocks: resolves when the bytes are in the target. */
  copyToHostLater(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): Promise<void> {
    return this.copies.copyToHostLater(copy, stream);
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    this.copies.copyOnDeviceStrided(copy, stream);
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    this.copies.fillStrided(fill, stream);
  }

  // streams and events

  createStream(priority?: StreamPriority): StreamHandle {
    this.context.enter('createStream');
    return this.streams.create(priority);
  }

  builtinStream(which: 'legacy' | 'per-thread'): StreamHandle {
    this.context.enter('builtinStream');
    return this.streams.builtin(which);
  }

  destroyStream(stream: StreamHandle): void {
    this.context.enter('destroyStream');
    this.streams.destroy(stream);
  }

  queryStream(stream: StreamHandle): boolean {
    this.context.enter('queryStream');
    return this.streams.query(stream);
  }

  createEvent(timing: boolean): EventHandle {
    this.context.enter('createEvent');
    return this.streams.createEvent(timing);
  }

  destroyEvent(event: EventHandle): void {
    this.context.enter('destroyEvent');
    this.streams.destroyEvent(event);
  }

  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    this.context.enter('recordEvent');
    this.streams.record(event, stream, this.reports.log.now);
  }

  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    this.context.enter('waitEvent');
    const { log } = this.reports;
    // Before the first launch that can fail nobody need remember what waited for what.
    this.streams.wait(event, stream, log.now.position === 0 ? 0 : log.advance());
  }

  queryEvent(event: EventHandle): boolean {
    this.context.enter('queryEvent');
    return this.streams.queryEvent(event);
  }

  elapsedTime(start: EventHandle, end: EventHandle): number {
    this.context.enter('elapsedTime');
    return this.streams.elapsed(start, end);
  }

  // waiting

  synchronizeStream(stream: StreamHandle): void {
    this.context.enter('synchronizeStream');
    this.synchronizeAndCheck(this.streams.resolve(stream, 'synchronizeStream'));
  }

  synchronizeEvent(event: EventHandle): void {
    this.context.enter('synchronizeEvent');
    const mark = this.streams.markOf(event, 'synchronizeEvent');
    this.streams.reachEvent(event);
    if (mark !== undefined) this.checkFaults(mark.stream, mark.moment.position);
  }

  reachEvent(event: EventHandle): void {
    this.context.enter('reachEvent');
    this.streams.reachEvent(event);
  }

  failureBefore(event: EventHandle): Failure | undefined {
    this.context.enter('failureBefore');
    const mark = this.streams.markOf(event, 'failureBefore');
    if (mark === undefined) return undefined;
    const ordered = this.#ordered(mark.stream);
    this.reports.collect(ordered, mark.moment.position);
    return this.reports.log.failure(ordered, mark.moment);
  }

  synchronize(): void {
    this.context.enter('synchronize');
    this.finishAll();
    this.checkFaults(this.streams.default);
  }

  /** Blocks until a stream has run dry, then throws what went wrong on it; the context is current. */
  protected synchronizeAndCheck(stream: S): void {
    this.finish(stream);
    this.checkFaults(stream);
  }

  /** Throws what went wrong on a stream that has been waited for. */
  protected checkFaults(stream: S, until?: number): void {
    const ordered = this.#ordered(stream);
    this.reports.collect(ordered, until);
    this.reports.log.raise(ordered, until);
  }

  /** Work on the default stream comes after that of all others: undefined for these. */
  #ordered(stream: S): S | undefined {
    return stream === this.streams.default ? undefined : stream;
  }
}
