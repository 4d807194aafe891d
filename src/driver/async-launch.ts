/**
 * A launch as a piece of work in the queue of a device that this process runs: begun when its turn comes, looked after until it is
 * over, its failure told both to those who wait for its stream and to who launched it.
 *
 * How blocks are run is the device's affair (`Running`); what host arrays and signals of the user have to do with it is `kernel/`'s.
 */
import type { DriverError } from '../errors.ts';
import { onNextTurn } from '../host/turns.ts';
import type { LaunchArgs, LaunchShape, PendingLaunch } from './driver.ts';
import type { LaunchHost } from './host-memory.ts';
import { Interruption } from './interrupts.ts';
import type { Work } from './work-queue.ts';

/** A kernel that is being run. */
export interface Running {
  /** Whether it gets on only while it is advanced. */
  readonly eager: boolean;
  /** Blocks that are done, as far as that is known. */
  readonly done: number;
  /** Has a look, or runs some blocks; whether the kernel is over. */
  advance(): boolean;
  /** Blocks until it is over. */
  finish(): void;
  /** Makes it end before its time. */
  stop(): void;
  /** Called once it is over: what went wrong. */
  end(): DriverError | undefined;
}

/** Milliseconds between two reports of progress, at least. */
const REPORT_EVERY = 50;

/** Puts a launch that has been found possible into the queue of its device; `begin` is called when all earlier work is done. */
export function enqueueLaunch(
  host: LaunchHost,
  stream: object,
  asked: LaunchShape,
  given: LaunchArgs,
  begin: (shape: LaunchShape, args: LaunchArgs) => Running,
  onProgress: ((done: number) => void) | undefined,
): PendingLaunch {
  // The caller will use both for other launches.
  const [shape, args] = [{ ...asked }, given.slice()];
  const launch = new AsyncLaunch(host, stream, args, () => begin(shape, args), onProgress);
  host.enqueue(stream, launch);
  return launch;
}

/** One launch in the queue. */
class AsyncLaunch implements Work, PendingLaunch {
  readonly done: Promise<void>;
  readonly #host: LaunchHost;
  readonly #stream: object;
  readonly #args: LaunchArgs;
  readonly #begin: () => Running;
  readonly #onProgress: ((done: number) => void) | undefined;
  #running: Running | undefined;
  #over = false;
  #stopped: DriverError | undefined;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #reported = 0;
  #reportedAt = performance.now();

  /** `args` are kept. `begin` is called when all earlier work is done. */
  constructor(
    host: LaunchHost,
    stream: object,
    args: LaunchArgs,
    begin: () => Running,
    onProgress: ((done: number) => void) | undefined,
  ) {
    this.#host = host;
    this.#stream = stream;
    this.#args = args;
    this.#begin = begin;
    this.#onProgress = onProgress;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Who launched has been told then.
    this.done.catch((error: DriverError) => host.acknowledgeFault(error));
  }

  get eager(): boolean {
    return this.#running?.eager ?? true;
  }

  advance(): boolean {
    return this.#guarded((running) => {
      if (!running.advance()) {
        this.#report(running.done);
        return;
      }
      this.#end(running);
    });
  }

  finish(): void {
    this.#guarded((running) => {
      running.finish();
      this.#end(running);
    });
  }

  stop(reason: DriverError): void {
    if (this.#over || this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#running?.stop();
  }

  #guarded(step: (running: Running) => void): boolean {
    try {
      if (this.#running === undefined) {
        if (this.#stopped !== undefined) {
          this.#settle(this.#stopped);
          return true;
        }
        this.#host.beforeLaunch(this.#args);
        this.#running = this.#begin();
      }
      step(this.#running);
    } catch (error) {
      if (error instanceof Interruption) throw error;
      this.#settle(error);
    }
    return this.#over;
  }

  #end(running: Running): void {
    const fault = running.end();
    this.#host.afterLaunch(this.#args);
    const error = fault ?? this.#stopped;
    if (error !== undefined) this.#host.keepFault(error, this.#stream);
    this.#settle(error);
  }

  #settle(error: unknown): void {
    this.#over = true;
    if (error === undefined) this.#resolve();
    else this.#reject(error);
  }

  /** Tells how far the kernel has come, but not from within the queue, which the user's function may use. */
  #report(done: number): void {
    const onProgress = this.#onProgress;
    if (onProgress === undefined || done === this.#reported) return;
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_EVERY) return;
    this.#reported = done;
    this.#reportedAt = now;
    onNextTurn(() => {
      if (!this.#over) onProgress(done);
    });
  }
}
