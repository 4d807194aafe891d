/**
 * The command queues behind streams, in order each: what keeps the default stream in step with all others, what is still being
 * done, and what host memory that needs.
 *
 * Work on the default stream comes after all work of other streams that was enqueued before, and before all that is enqueued later,
 * as on CUDA (the legacy default stream): barriers on events are put between queues where one has work that the other has not
 * waited for. Nothing here ever calls back into JavaScript. OpenCL API specification, section "Command Queues".
 */
import type { Address } from '../../ffi/ffi.ts';
import { nodeModule } from '../../host/index.ts';
import type { ReportStream, WaitedFor } from '../launch-reports.ts';
import type { OpenCLContext } from './context.ts';

const QUEUE_PROFILING_ENABLE = 2;
const EVENT_COMMAND_EXECUTION_STATUS = 0x11d3;
/** Copies whose host memory is held before it is looked which of them are done. */
const MANY_HELD = 32;
/** Milliseconds between looks at an event that is waited for without blocking. */
const LONGEST_PAUSE = 5;

interface Held {
  readonly sequence: number;
  readonly memory: unknown;
}

/** A stream as the driver here knows it. */
export class OpenCLStream implements ReportStream<OpenCLStream> {
  readonly owner: object;
  /** The cl_command_queue. */
  readonly queue: number;
  readonly created: boolean;
  alive = true;
  readonly waitedFor: WaitedFor<OpenCLStream> = new Map();
  /** Commands so far, and how many of them are known to be done. */
  sequence = 0;
  finished = 0;
  /** Commands of the default stream that this one waits for. */
  seen = 0;
  /** A marker, and the command that it is. */
  probe = 0;
  probed = 0;
  readonly held: Held[] = [];

  constructor(owner: object, queue: number, created: boolean) {
    this.owner = owner;
    this.queue = queue;
    this.created = created;
  }
}

/** The queues of one context. */
export class Queues {
  readonly default: OpenCLStream;
  readonly #context: OpenCLContext;
  readonly #all = new Set<OpenCLStream>();
  /** Those with work that the default stream has not waited for. */
  readonly #ahead = new Set<OpenCLStream>();
  /** A list of one event, where it stays. */
  readonly #list: BigUint64Array = new BigUint64Array(new ArrayBuffer(128));
  readonly #listAddress: Address;

  constructor(context: OpenCLContext) {
    this.#context = context;
    this.#listAddress = context.cl.ffi.address(this.#list);
    this.default = this.create(false);
  }

  create(created: boolean): OpenCLStream {
    const { cl, out, handle, id } = this.#context;
    this.#sweep();
    const queue = cl.clCreateCommandQueue(handle, id, QUEUE_PROFILING_ENABLE, out.at(0));
    this.#context.check(out.int(0), 'clCreateCommandQueue');
    const stream = new OpenCLStream(this, queue, created);
    this.#all.add(stream);
    return stream;
  }

  /** Its work will be done all the same. */
  destroy(stream: OpenCLStream): void {
    stream.alive = false;
    this.#context.check(this.#context.cl.clFlush(stream.queue), 'clFlush');
    this.#sweep();
  }

  /** Releases the queues of destroyed streams whose work is done. Until then they are kept: queues are waited for when the process ends. */
  #sweep(): void {
    for (const stream of this.#all) {
      if (!stream.alive && this.isDone(stream)) {
        this.#all.delete(stream);
        this.#ahead.delete(stream);
        this.#context.cl.clReleaseCommandQueue(stream.queue);
      }
    }
  }

  /** A command is about to be enqueued: puts it after what it must come after. The cl_command_queue. */
  begin(stream: OpenCLStream): number {
    const first = this.default;
    if (stream === first) {
      if (this.#ahead.size > 0) this.#waitForStreams();
    } else {
      if (first.sequence > stream.seen) this.#waitForDefault(stream);
      this.#ahead.add(stream);
    }
    stream.sequence++;
    return stream.queue;
  }

  #waitForStreams(): void {
    for (const stream of this.#ahead) {
      if (stream.finished < stream.sequence) this.#waitFor(this.default, stream);
    }
    this.#ahead.clear();
  }

  #waitForDefault(stream: OpenCLStream): void {
    const first = this.default;
    if (first.finished < first.sequence) this.#waitFor(stream, first);
    stream.seen = first.sequence;
  }

  #waitFor(waiting: OpenCLStream, other: OpenCLStream): void {
    const event = this.mark(other);
    try {
      this.barrier(waiting, event);
    } finally {
      this.#context.cl.clReleaseEvent(event);
    }
  }

  /** A marker behind all that is on the queue; the cl_event. */
  mark(stream: OpenCLStream): number {
    const { cl, out } = this.#context;
    this.#context.check(cl.clEnqueueMarkerWithWaitList(stream.queue, 0, 0, out.at(0)), 'clEnqueueMarkerWithWaitList');
    const event = out.long(0);
    // Another queue may only wait for what has been handed to the device.
    this.#context.check(cl.clFlush(stream.queue), 'clFlush');
    return event;
  }

  /** What is enqueued from now on comes after an event. */
  barrier(stream: OpenCLStream, event: number): void {
    const { cl } = this.#context;
    this.#list[0] = BigInt(event);
    const result = cl.clEnqueueBarrierWithWaitList(stream.queue, 1, this.#listAddress, 0);
    this.#context.check(result, 'clEnqueueBarrierWithWaitList');
  }

  /** Host memory that the last command reads or writes: it is kept until that is done. */
  hold(stream: OpenCLStream, memory: unknown): void {
    stream.held.push({ sequence: stream.sequence, memory });
    if (stream.held.length > MANY_HELD) this.isDone(stream);
  }

  /** Whether all commands of a stream are done; does not wait. */
  isDone(stream: OpenCLStream): boolean {
    if (stream.finished === stream.sequence) return true;
    if (stream.probe === 0) this.#probe(stream);
    if (!this.reached(stream.probe)) return false;
    const { probed } = stream;
    this.#dropProbe(stream);
    this.done(stream, probed);
    if (stream.finished === stream.sequence) return true;
    this.#probe(stream);
    return false;
  }

  /** The command that was enqueued last, or the one of that number, has been waited for: it is done, and all before it. */
  done(stream: OpenCLStream, sequence: number = stream.sequence): void {
    if (sequence > stream.finished) this.#done(stream, sequence);
  }

  #probe(stream: OpenCLStream): void {
    stream.probe = this.mark(stream);
    stream.probed = stream.sequence;
  }

  #dropProbe(stream: OpenCLStream): void {
    if (stream.probe !== 0) this.#context.cl.clReleaseEvent(stream.probe);
    stream.probe = 0;
  }

  #done(stream: OpenCLStream, sequence: number): void {
    stream.finished = sequence;
    const { held } = stream;
    if (held.length === 0) return;
    const left = held.filter((each) => each.sequence > sequence);
    held.splice(0, held.length, ...left);
  }

  /** Whether an event has come; throws when what it stands for has failed. */
  reached(event: number): boolean {
    const { cl, out } = this.#context;
    const api = 'clGetEventInfo';
    this.#context.check(cl.clGetEventInfo(event, EVENT_COMMAND_EXECUTION_STATUS, 4, out.at(0), 0), api);
    const status = out.int(0);
    if (status < 0) throw this.#context.workFailed(status, api);
    return status === 0;
  }

  /** Resolves when all that is on a stream now is done. */
  async reachedLater(stream: OpenCLStream): Promise<void> {
    this.begin(stream);
    const { sequence } = stream;
    const event = this.mark(stream);
    try {
      const { setTimeout: sleep } = nodeModule('node:timers/promises');
      for (let round = 0; !this.reached(event); round++) await sleep(Math.min(round >> 3, LONGEST_PAUSE));
      this.done(stream, sequence);
    } finally {
      this.#context.cl.clReleaseEvent(event);
    }
  }

  /** Waits for an event. */
  waitFor(event: number): void {
    const { cl } = this.#context;
    this.#list[0] = BigInt(event);
    const result = cl.clWaitForEvents(1, this.#listAddress);
    if (result !== 0) throw this.#context.workFailed(result, 'clWaitForEvents');
  }

  /** Waits for a stream; for the default stream, for all others as well. */
  finish(stream: OpenCLStream): void {
    if (stream !== this.default) return this.#finish(stream);
    for (const other of this.#ahead) this.#finish(other);
    this.#ahead.clear();
    this.#finish(stream);
  }

  /** Waits for all work of the device. */
  finishAll(): void {
    for (const stream of this.#all) this.#finish(stream);
    this.#ahead.clear();
    this.#sweep();
  }

  #finish(stream: OpenCLStream): void {
    const result = this.#context.cl.clFinish(stream.queue);
    this.#dropProbe(stream);
    this.#done(stream, stream.sequence);
    if (result !== 0) throw this.#context.workFailed(result, 'clFinish');
  }

  /** Whether all work of the device is done; does not wait. */
  get idle(): boolean {
    return [...this.#all].every((stream) => this.isDone(stream));
  }

  /** Releases all queues; failures do not matter any more. */
  close(): void {
    for (const stream of this.#all) {
      stream.alive = false;
      this.#dropProbe(stream);
      this.#context.cl.clReleaseCommandQueue(stream.queue);
    }
    this.#all.clear();
  }
}
