/**
 * Streams and events of one CUDA context: identity, ownership and use after destruction are checked here.
 *
 * Created streams are blocking ones, as Numba's: they and the default stream wait for each other. CUDA driver API, sections
 * "Stream Management" and "Event Management".
 */
import type { EventHandle, StreamHandle, StreamPriority } from '../driver.ts';
import type { Mark } from '../enqueued.ts';
import type { Moment } from '../faults.ts';
import { anyEvent, checkTimed, DriverEvent, ownEvent, ownStream } from '../handles.ts';
import { noteWait, type ReportStream, type WaitedFor } from '../launch-reports.ts';
import type { CudaContext } from './context.ts';
import { CUDA_ERROR_NOT_READY } from './result.ts';

/** CU_STREAM_LEGACY and CU_STREAM_PER_THREAD stand for the default streams; 0 is the first of them. */
const LEGACY = 1;
const PER_THREAD = 2;
const EVENT_DISABLE_TIMING = 2;
const NON_BLOCKING = 1;

/** A stream as the driver here knows it. */
export class CudaStream implements ReportStream<CudaStream> {
  readonly owner: CudaStreams;
  /** The CUstream; 0 is the default stream. */
  readonly handle: number;
  readonly created: boolean;
  alive = true;
  readonly waitedFor: WaitedFor<CudaStream> = new Map();

  constructor(owner: CudaStreams, handle: number, created: boolean) {
    this.owner = owner;
    this.handle = handle;
    this.created = created;
  }
}

class CudaEvent extends DriverEvent<CudaStreams> {
  readonly handle: number;
  mark: Mark<CudaStream> | undefined;

  constructor(owner: CudaStreams, handle: number, timing: boolean) {
    super(owner, timing);
    this.handle = handle;
  }
}

/** The streams and events of one context. */
export class CudaStreams {
  readonly default: CudaStream = new CudaStream(this, 0, false);
  readonly #perThread: CudaStream = new CudaStream(this, PER_THREAD, false);
  readonly #context: CudaContext;
  readonly #live = new Set<CudaStream>();
  readonly #events = new Set<CudaEvent>();
  /** Whether the default stream may have work. Whatever is enqueued there makes all streams wait for each other. */
  defaultUsed = false;
  /** Whether streams of other libraries take part, which may not wait for the default stream. */
  foreign = false;

  constructor(context: CudaContext) {
    this.#context = context;
  }

  /** The stream behind a handle; the default stream for undefined. Throws for streams of other devices and destroyed ones. */
  resolve(handle: StreamHandle | undefined, api: string): CudaStream {
    if (handle === undefined) {
      this.defaultUsed = true;
      return this.default;
    }
    const stream = ownStream(handle, CudaStream, this, api);
    if (stream === this.default) this.defaultUsed = true;
    return stream;
  }

  create(priority?: StreamPriority): StreamHandle {
    const { out } = this.#context;
    if (priority === 'high') this.#createFirst();
    else this.#context.check(this.#context.cuda.cuStreamCreate(out.at(0), 0), 'cuStreamCreate');
    const stream = new CudaStream(this, out.long(0), true);
    this.#live.add(stream);
    return handleOf(stream);
  }

  /** With the greatest priority that the device has; devices without priorities have one for all. */
  #createFirst(): void {
    const { cuda, out } = this.#context;
    const { cuStreamCreateWithPriority: create, cuCtxGetStreamPriorityRange: rangeOf } = cuda;
    if (create === undefined || rangeOf === undefined) {
      return this.#context.check(cuda.cuStreamCreate(out.at(0), 0), 'cuStreamCreate');
    }
    this.#context.check(rangeOf(out.at(0), out.at(1)), 'cuCtxGetStreamPriorityRange');
    this.#context.check(create(out.at(0), 0, out.int(1)), 'cuStreamCreateWithPriority');
  }

  /** A stream that no other waits for, and that waits for none: what is captured there has nothing to do with what runs meanwhile. */
  createApart(): StreamHandle {
    const { cuda, out } = this.#context;
    this.#context.check(cuda.cuStreamCreate(out.at(0), NON_BLOCKING), 'cuStreamCreate');
    const stream = new CudaStream(this, out.long(0), true);
    this.#live.add(stream);
    return handleOf(stream);
  }

  /** As `record` and `wait`, within a capture: nothing runs, and nothing can fail there. */
  recordCaptured(handle: EventHandle, on: StreamHandle): void {
    const stream = this.resolve(on, 'recordEvent');
    const event = this.#event(handle, 'recordEvent');
    this.#context.check(this.#context.cuda.cuEventRecord(event.handle, stream.handle), 'cuEventRecord');
  }

  waitCaptured(handle: EventHandle, waiting: StreamHandle): void {
    const event = this.#event(handle, 'waitEvent');
    const stream = this.resolve(waiting, 'waitEvent');
    this.#context.check(this.#context.cuda.cuStreamWaitEvent(stream.handle, event.handle, 0), 'cuStreamWaitEvent');
  }

  builtin(which: 'legacy' | 'per-thread'): StreamHandle {
    if (which === 'legacy') return { stream: this.default, address: BigInt(LEGACY) };
    return handleOf(this.#perThread);
  }

  external(address: bigint): StreamHandle {
    const handle = Number(address);
    const { cuda } = this.#context;
    // An address that is no stream crashes the driver or gives an error, depending on what is there: nothing better can be asked.
    const result = cuda.cuStreamQuery(handle);
    if (result !== 0 && result !== CUDA_ERROR_NOT_READY) throw this.#context.failure(result, 'cuStreamQuery');
    this.foreign = true;
    return handleOf(new CudaStream(this, handle, false));
  }

  destroy(handle: StreamHandle): void {
    const stream = this.resolve(handle, 'destroyStream');
    if (!stream.created) return;
    stream.alive = false;
    this.#live.delete(stream);
    this.#context.check(this.#context.cuda.cuStreamDestroy(stream.handle), 'cuStreamDestroy');
  }

  query(handle: StreamHandle): boolean {
    const result = this.#context.cuda.cuStreamQuery(this.resolve(handle, 'queryStream').handle);
    if (result === CUDA_ERROR_NOT_READY) return false;
    this.#context.check(result, 'cuStreamQuery');
    return true;
  }

  createEvent(timing: boolean): EventHandle {
    const { cuda, out } = this.#context;
    this.#context.check(cuda.cuEventCreate(out.at(0), timing ? 0 : EVENT_DISABLE_TIMING), 'cuEventCreate');
    const event = new CudaEvent(this, out.long(0), timing);
    this.#events.add(event);
    return { event };
  }

  destroyEvent(handle: EventHandle): void {
    const event = this.#event(handle, 'destroyEvent');
    event.alive = false;
    this.#events.delete(event);
    this.#context.check(this.#context.cuda.cuEventDestroy(event.handle), 'cuEventDestroy');
  }

  record(handle: EventHandle, to: StreamHandle | undefined, now: Moment): void {
    const event = this.#event(handle, 'recordEvent');
    const stream = this.resolve(to, 'recordEvent');
    this.#context.check(this.#context.cuda.cuEventRecord(event.handle, stream.handle), 'cuEventRecord');
    event.mark = { stream, moment: now };
  }

  /** The event may be of another device: faults there are that device's. `position`: of the wait. */
  wait(handle: EventHandle, waiting: StreamHandle | undefined, position: number): void {
    const event = anyEvent(handle, CudaEvent, 'waitEvent');
    const stream = this.resolve(waiting, 'waitEvent');
    this.#context.check(this.#context.cuda.cuStreamWaitEvent(stream.handle, event.handle, 0), 'cuStreamWaitEvent');
    const { mark } = event;
    if (mark === undefined || mark.stream === stream || mark.stream.owner !== this) return;
    if (mark.moment.position > 0) noteWait(stream.waitedFor, mark.stream, mark.moment, position);
  }

  queryEvent(handle: EventHandle): boolean {
    const result = this.#context.cuda.cuEventQuery(this.#event(handle, 'queryEvent').handle);
    if (result === CUDA_ERROR_NOT_READY) return false;
    this.#context.check(result, 'cuEventQuery');
    return true;
  }

  markOf(handle: EventHandle, api: string): Mark<CudaStream> | undefined {
    return this.#event(handle, api).mark;
  }

  reachEvent(handle: EventHandle): void {
    const event = this.#event(handle, 'reachEvent');
    this.#context.check(this.#context.cuda.cuEventSynchronize(event.handle), 'cuEventSynchronize');
  }

  elapsed(start: EventHandle, end: EventHandle): number {
    const { cuda, out } = this.#context;
    const from = this.#timed(start, 'start');
    const to = this.#timed(end, 'end');
    const result = cuda.cuEventElapsedTime(out.at(0), from.handle, to.handle);
    if (result === CUDA_ERROR_NOT_READY) {
      // The work between them is still running: its time is known once it is done.
      this.#context.check(cuda.cuEventSynchronize(from.handle), 'cuEventSynchronize');
      this.#context.check(cuda.cuEventSynchronize(to.handle), 'cuEventSynchronize');
      this.#context.check(cuda.cuEventElapsedTime(out.at(0), from.handle, to.handle), 'cuEventElapsedTime');
    } else {
      this.#context.check(result, 'cuEventElapsedTime');
    }
    return out.float(0);
  }

  #timed(handle: EventHandle, which: 'start' | 'end'): CudaEvent {
    const event = this.#event(handle, 'elapsedTime');
    checkTimed(event, event.mark !== undefined, which);
    return event;
  }

  #event(handle: EventHandle, api: string): CudaEvent {
    return ownEvent(handle, CudaEvent, this, api);
  }

  /** Destroys what is left; failures do not matter any more. */
  close(): void {
    const { cuda } = this.#context;
    for (const event of this.#events) {
      event.alive = false;
      cuda.cuEventDestroy(event.handle);
    }
    for (const stream of this.#live) {
      stream.alive = false;
      cuda.cuStreamDestroy(stream.handle);
    }
    this.#events.clear();
    this.#live.clear();
  }
}

function handleOf(stream: CudaStream): StreamHandle {
  return { stream, address: BigInt(stream.handle) };
}
