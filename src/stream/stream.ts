/**
 * Streams: queues of work on a device, done in order, unordered between each other.
 *
 * Callbacks and `done()` are built on events that are polled (`waiting.ts`). On a device that works at once (the CPU)
 * everything here keeps its meaning: it is merely done sooner. Which stream an operation uses is the arrays' and the
 * launcher's affair.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { StreamHandle, StreamPriority } from '../driver/driver.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { refuseAssignments } from '../guarded.ts';
import { warn } from '../host/index.ts';
import { blocking, canWait } from '../memory/blocking.ts';
import { Context } from '../memory/context.ts';
import { checkBody, isThenable, type Leavable } from '../memory/context-manager.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { atSite, captureSite, disposedError, type Site } from '../memory/disposal.ts';
import { printAs } from '../memory/printing.ts';
import { refuseWaiting } from '../memory/recording.ts';
import { noteDisposed, noteMade } from '../memory/scope.ts';
import type { StreamUser } from '../memory/stream-ref.ts';
import { UNCLONEABLE_STREAM } from '../memory/uncloneable.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { builtinState, CreatedStream, externalState, type StreamState } from './stream-state.ts';
import { done, whenDone } from './waiting.ts';

/** `created` by `stream()`; the others are the device's own, or another library's, and nobody's here to destroy. */
export type StreamKind = 'created' | 'default' | 'legacy' | 'per-thread' | 'external';

/** What `addCallback` calls: `status` is 0 when the work before it went well. */
export type StreamCallback<A> = (stream: Stream, status: number, arg: A) => void;

/** CUDA_ERROR_LAUNCH_FAILED: the status that callbacks get when work before them failed. */
const STATUS_FAILED = 719;

/** The result of `autoSynchronize()`: disposing of it waits for the stream. */
export interface AutoSynchronize extends Leavable {
  /** The stream. */
  readonly stream: Stream;
  [Symbol.asyncDispose](): Promise<void>;
}

const dropped: FinalizationRegistry<CreatedStream> = new FinalizationRegistry((resource) => {
  resource.context.retire(resource);
});

/**
 * A queue of work on a device, which is done in order. Created by `cuda.stream()`; without one, work goes to the default
 * stream. Numba: `Stream`.
 * @example
 * const stream = cuda.stream();
 * const d = cuda.toDevice(Float32Array.of(1, 2), { stream });
 * await stream.done();
 * console.log(stream instanceof cuda.Stream); // true
 */
export class Stream implements StreamUser {
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_STREAM;
  readonly #kind: StreamKind;
  readonly #ref: StreamState;
  #disposedAt: Site | undefined;

  /** Streams are made by `createStream()` and its like. `address`: of an external one. */
  constructor(context: Context, kind: StreamKind, address = 0n, priority: StreamPriority | undefined = undefined) {
    if (!(context instanceof Context)) throw new TsambaTypeError('E_OPTION', 'streams are made by cuda.stream()');
    context.checkOpen();
    this.#kind = kind;
    const ref = kind === 'created' ? new CreatedStream(context, priority) : stateOf(context, kind, address);
    this.#ref = ref;
    if (new.target === Stream) Object.freeze(this);
    if (!(ref instanceof CreatedStream)) return;
    dropped.register(this, ref, this);
    noteMade(this);
  }

  /** The context, and so the device, that the stream belongs to. */
  get context(): Context {
    return this.#ref.context;
  }

  /** What kind of stream it is: created, the default one, or that of another library. */
  get kind(): StreamKind {
    return this.#kind;
  }

  /** The driver's handle; undefined for the default stream of devices without CUDA streams. Work is enqueued with `use()`, which checks. */
  get handle(): StreamHandle | undefined {
    return this.#ref.handle;
  }

  /** What memory remembers of the streams that use it. For the library itself. */
  get ref(): StreamState {
    return this.#ref;
  }

  /** The stream as other CUDA libraries know it, as `externalStream` takes it; undefined on devices without such. Numba: `int(stream)`. */
  get pointer(): bigint | undefined {
    return this.handle?.address;
  }

  /** Whether the driver's stream is gone. Work that was left on it is done all the same. */
  get destroyed(): boolean {
    return this.ref.destroyed;
  }

  /** Whether `dispose` has been called, or the device's own stream is gone. */
  get disposed(): boolean {
    return this.#disposedAt !== undefined || this.destroyed;
  }

  /** The driver's handle for work to be enqueued now. Throws RangeError if the stream was disposed. */
  use(): StreamHandle | undefined {
    if (this.#disposedAt !== undefined) throw disposedError('stream', this.#disposedAt, 'make a new one with stream()');
    this.context.checkOpen();
    if (this.destroyed) throw disposedError('stream', undefined, 'its context was reset: make a new one with stream()');
    return this.handle;
  }

  /** Blocks until all work on the stream is done, copies included; throws if it failed. Numba: `synchronize()`. */
  synchronize(): void {
    refuseWaiting('stream.synchronize()');
    const handle = this.use();
    const { driver: one, turns } = this.context;
    const driver = blocking(one, 'stream.synchronize()', 'await stream.done()');
    if (turns.waiting > 0) turns.check('stream.synchronize()');
    this.context.counters.synchronizations++;
    if (handle === undefined) driver.synchronize();
    else driver.synchronizeStream(handle);
    this.ref.release();
    this.context.throwFault();
  }

  /** Whether all enqueued work is done. Does not block. CUDA's `cuStreamQuery`. */
  query(): boolean {
    refuseWaiting('stream.query()');
    const handle = this.use();
    const { driver } = this.context;
    if (handle !== undefined) return driver.queryStream(handle);
    const event = driver.createEvent(false);
    driver.recordEvent(event, undefined);
    const done = driver.queryEvent(event);
    driver.destroyEvent(event);
    return done;
  }

  /**
   * Synchronises the stream when the result is disposed (`await using`: without blocking), or when `body`, sync or async, is
   * done; also when it throws. An async body is awaited without blocking. Numba: `auto_synchronize()`.
   */
  autoSynchronize(): AutoSynchronize;
  autoSynchronize<R>(body: (stream: Stream) => R): R;
  autoSynchronize<R>(body?: (stream: Stream) => R): AutoSynchronize | R {
    refuseWaiting('stream.autoSynchronize()');
    this.use();
    if (body === undefined) return this.#contextManager();
    checkBody('autoSynchronize', body);
    return this.#synchronizeAfter(body);
  }

  #contextManager(): AutoSynchronize {
    let left = false;
    const leave = (): boolean => {
      const first = !left;
      left = true;
      return first;
    };
    const dispose = (): void => {
      if (leave()) this.synchronize();
    };
    return {
      stream: this,
      dispose,
      [Symbol.dispose]: dispose,
      [Symbol.asyncDispose]: async () => {
        if (leave()) await this.done();
      },
    };
  }

  #synchronizeAfter<R>(body: (stream: Stream) => R): R {
    let result: R;
    try {
      result = body(this);
    } catch (error) {
      this.#synchronizeAside();
      throw error;
    }
    if (!isThenable(result)) {
      this.synchronize();
      return result;
    }
    const settled = Promise.resolve(result).then(
      async (value) => {
        await this.done();
        return value;
      },
      async (error: unknown) => {
        await this.#finished();
        throw error;
      },
    );
    return settled as R;
  }

  /** The body's error is the one to be thrown: a fault of the stream is for others who wait. */
  #synchronizeAside(): void {
    const { driver } = this.context;
    if (!canWait(driver)) return;
    try {
      const event = driver.createEvent(false);
      driver.recordEvent(event, this.use());
      driver.reachEvent(event);
      driver.destroyEvent(event);
    } catch (fault) {
      this.context.keepFault(fault);
    }
  }

  /** As `done`, whatever came of the work: nobody is told here. */
  #finished(): Promise<void> {
    return new Promise((resolve) => {
      whenDone(this.context, this.use(), () => resolve());
    });
  }

  /**
   * Resolves with the stream when the work now on it is done, without blocking the event loop; rejects if it failed. Numba: `async_done()`.
   */
  async done(): Promise<Stream> {
    refuseWaiting('stream.done()');
    const { turns, driver } = this.context;
    if (turns.waiting > 0) await turns.afterThem();
    const handle = this.use();
    await done(this.context, handle);
    // Nobody may ever be able to synchronise: what was kept for the work is given up here.
    if (handle !== undefined && !canWait(driver) && !this.disposed && driver.queryStream(handle)) this.ref.release();
    return this;
  }

  /**
   * Calls `fn(stream, status, arg)` from the event loop, never inside this call, when the work now on the stream is done; `status` is 0 if it
   * succeeded. Errors thrown by `fn` become warnings. Numba: `add_callback(fn, arg)`.
   */
  addCallback(fn: StreamCallback<undefined>): void;
  addCallback<A>(fn: StreamCallback<A>, arg: A): void;
  addCallback<A>(fn: StreamCallback<A | undefined>, arg?: A): void {
    if (typeof fn !== 'function') {
      throw new TsambaTypeError('E_CALLBACK', `addCallback needs a function, got ${typeof fn}`);
    }
    refuseWaiting('stream.addCallback()');
    whenDone(this.context, this.use(), (outcome) => {
      // A callback only learns that something failed. What failed stays for those who wait.
      try {
        fn(this, outcome === undefined ? 0 : STATUS_FAILED, arg);
      } catch (error) {
        const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
        warn(`a stream callback threw: ${message}`, { type: 'TsambaWarning', code: 'TSAMBA_CALLBACK' });
      }
    });
  }

  /** @internal Keeps host memory alive until the work that is on the stream now has been done. */
  hold(object: object): void {
    this.ref.hold(object);
  }

  /**
   * Releases the stream; work on it still runs, and is not waited for. Calling it again does nothing, nor does calling it on streams that `stream()` did
   * not make.
   */
  dispose(): void {
    this.#dispose();
  }

  [Symbol.dispose](): void {
    this.#dispose();
  }

  #dispose(): void {
    const { ref } = this;
    if (!(ref instanceof CreatedStream) || this.#disposedAt !== undefined) return;
    this.#disposedAt = captureSite(2);
    noteDisposed(this);
    dropped.unregister(this);
    this.context.retire(ref);
  }

  /** Waits for the work on the stream without blocking, then releases it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.disposed) return;
    // Afterwards the stack begins in the event loop.
    const site = captureSite(1);
    try {
      await this.done();
    } finally {
      atSite(site, () => this.#dispose());
    }
  }

  toString(): string {
    return `Stream(${this.kind}, ${this.disposed ? 'disposed' : this.context.info.name})`;
  }
}

printAs(Stream.prototype);
refuseAssignments('Stream', Stream.prototype);

function stateOf(context: Context, kind: Exclude<StreamKind, 'created'>, address: bigint): StreamState {
  return kind === 'external' ? externalState(context, address) : builtinState(context, kind);
}

/** Options of `cuda.stream`. */
export interface StreamOptions {
  /**
   * `'high'`: blocks of kernels on this stream start before those that wait on other streams; what runs already is not interrupted. NVIDIA and AMD GPUs; other
   * devices treat all streams alike. Default: `'normal'`. CUDA: `cuStreamCreateWithPriority`.
   */
  readonly priority?: StreamPriority | undefined;
}

/** Makes a stream of the current device. */
export type CreateStream = (options?: StreamOptions) => Stream;

export function createStreamOf(devices: DeviceSelection): CreateStream {
  return hostFunction(devices, 'stream', (options?: StreamOptions) => {
    const { priority = 'normal' } = readOptions<StreamOptions>('stream', options, ['priority']);
    if (priority !== 'normal' && priority !== 'high') {
      throw new TsambaTypeError('E_OPTION', `stream: priority is 'normal' or 'high', got ${show(priority)}`);
    }
    return new Stream(devices.currentContext(), 'created', 0n, priority);
  });
}

/** A stream that the device has, of the kind that the namespace calls `name`. */
export function streamOf(
  devices: DeviceSelection,
  kind: Exclude<StreamKind, 'external' | 'created'>,
  name: string,
): () => Stream {
  return hostFunction(devices, name, () => new Stream(devices.currentContext(), kind));
}

export function externalStreamOf(devices: DeviceSelection): (pointer: number | bigint) => Stream {
  return hostFunction(devices, 'externalStream', (pointer) => externalStreamIn(devices.currentContext(), pointer));
}

/** A stream that another library made, in a context. */
export function externalStreamIn(context: Context, pointer: number | bigint): Stream {
  if (typeof pointer !== 'bigint' && !Number.isSafeInteger(pointer)) {
    throw new TsambaTypeError(
      'E_STREAM',
      `externalStream needs the stream's handle as an integer, got ${show(pointer)}`,
    );
  }
  const { name, features } = context.info;
  if (!features.externalStreams) {
    throw new NotSupportedError(
      'E_EXTERNAL_STREAM',
      `${name} has no CUDA streams that another library could have made`,
    );
  }
  const address = BigInt(pointer);
  if (address < 0n) {
    throw new TsambaRangeError('E_STREAM', `externalStream needs the stream's handle, got ${address}`);
  }
  return new Stream(context, 'external', address === 0n ? LEGACY : address);
}

/** CU_STREAM_LEGACY: what Numba and the CUDA Array Interface write for the default stream, besides 0. */
const LEGACY = 1n;

/**
 * Reads a `stream` option: a Stream, or nothing (Numba's 0) for none.
 * @throws TypeError for anything else, RangeError for a disposed stream or one of another device.
 */
export function streamOption(value: unknown, context: Context): Stream | undefined {
  if (value === undefined || value === null || value === 0) return undefined;
  if (!(value instanceof Stream)) {
    throw new TsambaTypeError(
      'E_STREAM',
      `stream must be a Stream or 0, got ${describe(value)}; make one with ${context.namespace}.stream()`,
    );
  }
  value.use();
  if (value.context !== context && !value.context.isWith(context)) {
    throw new TsambaTypeError(
      'E_STREAM',
      `the stream belongs to ${value.context.place}, the work is on ${context.place}; make a stream there`,
    );
  }
  return value;
}

function describe(value: unknown): string {
  if (typeof value === 'object') return `an object of class ${value?.constructor?.name ?? 'null'}`;
  return typeof value === 'function' ? 'a function' : `the ${typeof value} ${String(value)}`;
}
