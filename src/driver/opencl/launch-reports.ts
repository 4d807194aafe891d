/**
 * The fault records and printed values of an OpenCL device: how its memory is read.
 */
import { LaunchReports as Records, type ReportMemory, type Watched as WatchedModule } from '../launch-reports.ts';
import type { OpenCLContext } from './context.ts';
import type { OpenCLStream, Queues } from './queues.ts';

/** A loaded module that can fault or print; its records are cl_mem buffers. */
export type Watched = WatchedModule<OpenCLStream, number>;

/** The records of all modules of an OpenCL device. */
export class LaunchReports extends Records<OpenCLStream, number> {
  constructor(context: OpenCLContext, queues: Queues) {
    super(new OpenCLRecordMemory(context, queues));
  }
}

class OpenCLRecordMemory implements ReportMemory<OpenCLStream, number> {
  readonly #context: OpenCLContext;
  readonly #queues: Queues;

  constructor(context: OpenCLContext, queues: Queues) {
    this.#context = context;
    this.#queues = queues;
  }

  get lost(): boolean {
    return this.#context.broken !== undefined || this.#context.closed;
  }

  isDefault(stream: OpenCLStream): boolean {
    return stream === this.#queues.default;
  }

  isBusy(stream: OpenCLStream): boolean {
    return !this.#queues.isDone(stream);
  }

  waitForAll(): void {
    this.#queues.finishAll();
  }

  read(into: Uint8Array, at: number, offset: number, stream: OpenCLStream | undefined): void {
    const on = stream ?? this.#queues.default;
    const queue = this.#queues.begin(on);
    const result = this.#context.cl.clEnqueueReadBuffer(queue, at, 1, offset, into.length, into, 0, 0, 0);
    this.#context.check(result, 'clEnqueueReadBuffer');
    this.#queues.done(on);
  }

  zero(at: number, bytes: number, stream: OpenCLStream | undefined): void {
    zero(this.#context, this.#queues, stream ?? this.#queues.default, at, bytes);
    this.#queues.finish(stream ?? this.#queues.default);
  }
}

const NOTHING = new Uint8Array(new ArrayBuffer(128), 0, 4);

/** Clears the first bytes of a buffer, a multiple of 4. */
export function zero(context: OpenCLContext, queues: Queues, stream: OpenCLStream, at: number, bytes: number): void {
  const queue = queues.begin(stream);
  const result = context.cl.clEnqueueFillBuffer(queue, at, NOTHING, NOTHING.length, 0, bytes, 0, 0, 0);
  context.check(result, 'clEnqueueFillBuffer');
}
