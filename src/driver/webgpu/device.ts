/**
 * A WebGPU device that is open: the driver contract, put together from its parts.
 *
 * WebGPU has one queue, which does everything in the order of the calls: streams are names for parts of it. Nothing waits: events are reached when the queue has come so far and what
 * kernels left has been read, some turns of the event loop later.
 */
import type { Abilities } from '../../compiler/render/wgsl/module.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import { trace } from '../../trace.ts';
import type {
  DeviceDriver,
  DeviceInfo,
  DeviceSide,
  EventHandle,
  Executable,
  Failure,
  HostMemory,
  HostMemoryOptions,
  HostSide,
  Pointer,
  Program,
  StreamHandle,
  StridedCopy,
  StridedFill,
} from '../driver.ts';
import type { Moment } from '../faults.ts';
import { Answer, given, inTurn } from './answer.ts';
import { type GpuDevice, type GpuError, type GpuLimits, type GpuQuerySet, MAP_READ, USAGE } from './api.ts';
import { Batch, type Pipeline } from './batch.ts';
import { Copies } from './copies.ts';
import { type ExecutableHost, WebGpuExecutable } from './executable.ts';
import { type Place, WebGpuMemory } from './memory.ts';
import { sendBefore, WebGpuPage } from './page.ts';
import { Reports } from './reports.ts';

export interface Stream {
  /** How far the queue was when the stream was last given work. */
  last: number;
  alive: boolean;
}

export interface Mark {
  readonly timing: boolean;
  stream: StreamHandle | undefined;
  moment: Moment | undefined;
  at: number;
  /** Nanoseconds, once they have been read. */
  time: bigint | undefined;
}

export class WebGpuDriver implements DeviceDriver, ExecutableHost {
  readonly info: DeviceInfo;
  readonly device: GpuDevice;
  readonly limits: GpuLimits;
  readonly abilities: Abilities;
  readonly batch: Batch;
  readonly memory: WebGpuMemory;
  readonly reports: Reports;
  readonly page?: WebGpuPage;
  readonly checkedByDefault = false;
  readonly contractByDefault = true;
  protected readonly copies: Copies;
  readonly #executables = new Set<WebGpuExecutable>();
  /** What stands for an array without elements. */
  readonly #nothing: Place;
  /** What stands for the default stream in the log. */
  readonly #default: Stream = { last: 0, alive: true };
  readonly #perThread: StreamHandle = { stream: { last: 0, alive: true } satisfies Stream };
  readonly #legacy: StreamHandle = { stream: this.#default };
  /** The stream of the call that is being made, and those that have work in what has not been submitted. */
  #current: Stream = this.#default;
  #users = new Set<Stream>();
  /** Pieces of work that have been given to the queue, that somebody wants to know of, and that are done and looked at. */
  #given = 0;
  #wanted = 0;
  #done = 0;
  #pumping = false;
  #pumped: Answer<void> = given(undefined);
  #closed = false;
  #listener: (() => void) | undefined;
  #lost: string | undefined;
  /** Who waited for what, to be noted once it is known what failed before. */
  #waits: (() => void)[] = [];
  /** Read the times of events. */
  #times: (() => PromiseLike<void>)[] = [];

  /** `shares`: the program has the GPUDevice as well. */
  constructor(device: GpuDevice, info: DeviceInfo, abilities: Abilities, shares = true) {
    this.device = device;
    this.abilities = abilities;
    this.limits = device.limits;
    this.info = info;
    this.batch = new Batch(device, (submit, alone) => this.#watch(submit, alone));
    const { totalMemory } = info.limits;
    this.memory = new WebGpuMemory(device, this.batch, info.name, totalMemory, (...asked) => this.#listen(...asked));
    this.copies = new Copies(device, this.memory, this.batch);
    if (shares) {
      this.page = new WebGpuPage(device, this.memory, this);
      sendBefore(device.queue, () => this.batch.flush());
    }
    this.reports = new Reports(device, this.batch, this.copies);
    this.#nothing = { buffer: this.memory.create(16), offset: 0, start: 0 };
    void device.lost.then(({ reason, message }) => {
      if (!this.#closed) this.#lost = `${reason || 'unknown'}: ${message}`;
      this.#tell();
    });
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  // the queue

  /** How much the queue has been given. */
  protected get position(): number {
    return this.#given;
  }

  /** The stream that a fault of work on `stream` is a fault of; undefined for the default stream, which waits for all others. */
  protected orderedWith(stream: StreamHandle | undefined): object | undefined {
    return stream === undefined || stream.stream === this.#default ? undefined : (stream.stream as Stream);
  }

  /** The stream that a call is for. Throws DriverError where the device or the stream is gone. */
  enter(api: string, stream?: StreamHandle): Stream {
    if (this.#closed) throw new DriverError('E_DEVICE_CLOSED', `${api}: ${this.info.name} has been closed`, { api });
    if (this.#lost !== undefined) {
      throw new DriverError('E_DEVICE_LOST', `${api}: ${this.info.name} is lost (${this.#lost}); open it again`, {
        api,
      });
    }
    const own = stream === undefined ? this.#default : (stream.stream as Stream);
    if (!own.alive) throw new DriverError('E_STREAM', `${api}: the stream has been disposed`, { api });
    own.last = ++this.#given;
    this.#current = own;
    this.#users.add(own);
    this.batch.alone = false;
    return own;
  }

  /** Makes a submission, and posts that the device refuses it. */
  #watch(submit: () => void, alone: boolean): void {
    const users = [...this.#users];
    // What is recorded next may be of the call that is being made.
    this.#users = new Set([this.#current]);
    this.device.pushErrorScope('validation');
    try {
      submit();
    } finally {
      const refused = this.device.popErrorScope();
      // A pipeline that is not proven has an error scope of its own.
      const errorOf = (text: string): DriverError => new DriverError('E_DRIVER', `submit: ${this.info.name}: ${text}`);
      if (!alone) void this.#post(refused, errorOf, users);
    }
  }

  /** Posts what the device finds wrong with a pipeline that is made here. */
  scoped(what: string, make: () => Pipeline): Pipeline {
    this.device.pushErrorScope('validation');
    let made: Pipeline | undefined;
    try {
      made = make();
      return made;
    } finally {
      const failed = this.#post(this.device.popErrorScope(), (text) => {
        trace('wgsl', () => `${what}: ${text}`);
        return new DriverError('E_BUILD_FAILED', `${what} does not compile on ${this.info.name}: ${text}`);
      });
      void failed.then((known) => {
        if (made !== undefined) made.proven = !known;
      });
    }
  }

  /** Posts what the device refuses of commands that are given to it here. */
  watched(give: () => void, errorOf: (text: string) => DriverError): void {
    this.#listen('validation', give, errorOf);
  }

  #listen(filter: 'validation' | 'out-of-memory', give: () => void, errorOf: (text: string) => DriverError): void {
    this.device.pushErrorScope(filter);
    try {
      give();
    } finally {
      void this.#post(this.device.popErrorScope(), errorOf);
    }
  }

  /** Posts an error of work that is given to the queue now, if there is one; whether there is. */
  #post(
    answer: PromiseLike<GpuError | null>,
    errorOf: (text: string) => DriverError,
    streams: readonly Stream[] = [this.#current],
  ): PromiseLike<boolean> {
    const { log } = this.reports;
    const { position } = log.now;
    const [stream = this.#default, ...others] = streams;
    return answer.then((error) => {
      if (error !== null) log.post(errorOf(error.message), stream, position, others);
      return error !== null;
    });
  }

  locate(pointer: Pointer): Place {
    return Number(pointer) === 0 ? this.#nothing : this.memory.resolve(pointer, 0, 0, 'launch');
  }

  /** Has what kernels left looked at soon, whether or not somebody waits. */
  lookSoon(): void {
    this.#want(this.#given);
  }

  #want(position: number): void {
    this.#wanted = Math.max(this.#wanted, position);
    if (this.#pumping || this.#done >= this.#wanted) return;
    this.#pumping = true;
    this.#pumped = new Answer();
    this.#pump();
  }

  /** Resolves when the queue has come so far, and what kernels left has been looked at. */
  async #reachedLater(position: number): Promise<void> {
    while (!this.reached(position)) await this.#pumped;
  }

  /** Looks at what is done, in rounds, until nobody wants to know more. */
  #pump(): void {
    if (this.#done >= this.#wanted || this.#closed || this.#lost !== undefined) {
      this.#pumping = false;
      this.#pumped.give(undefined);
      this.#tell();
      return;
    }
    const position = this.#given;
    const next = (): void => {
      this.#done = position;
      this.#tell();
      this.#pump();
    };
    this.#round().then(next, (error: Error) => {
      // A device that is gone says so elsewhere, in the next turn.
      if (this.#lost === undefined && !this.#closed) this.#lost = error.message;
      next();
    });
  }

  #round(): PromiseLike<void> {
    const read = this.reports.begin();
    this.batch.flush();
    const waits = this.#waits.splice(0);
    const times = this.#times.splice(0).map((time) => time());
    return this.device.queue
      .onSubmittedWorkDone()
      .then(read)
      .then(() => {
        for (const note of waits) note();
        return inTurn(times.map((time) => () => time));
      });
  }

  /** Whether the queue has come so far, and what kernels left has been looked at; has it looked at if not. */
  protected reached(position: number): boolean {
    if (this.#done >= position || this.#lost !== undefined) return true;
    this.#want(position);
    return false;
  }

  onNews(listener: () => void): void {
    this.#listener = listener;
  }

  #tell(): void {
    this.#listener?.();
  }

  // memory

  allocate(bytes: number, stream?: StreamHandle): Pointer {
    this.enter('allocate', stream);
    return this.memory.allocate(bytes);
  }

  free(pointer: Pointer): void {
    if (this.#closed) return;
    this.memory.free(pointer);
  }

  memoryInfo(): { readonly free: number; readonly total: number; readonly pooled: number } {
    return this.memory.info();
  }

  allocateHost(bytes: number, { kind }: HostMemoryOptions): HostMemory {
    if (kind !== 'pinned') throw this.#unsupported('E_HOST_MEMORY', 'cannot access host memory in place');
    return { host: undefined, bytes: new Uint8Array(bytes), pointer: undefined };
  }

  freeHost(): void {}

  registerHost(bytes: Uint8Array, mapped: boolean): HostMemory {
    if (mapped) throw this.#unsupported('E_HOST_MEMORY', 'cannot access host memory in place');
    return { host: undefined, bytes, pointer: undefined };
  }

  unregisterHost(): void {}

  share(): Uint8Array {
    throw this.#unsupported('E_IPC', 'cannot share memory with other processes');
  }

  openShared(): Pointer {
    throw this.#unsupported('E_IPC', 'cannot share memory with other processes');
  }

  closeShared(): void {
    throw this.#unsupported('E_IPC', 'cannot share memory with other processes');
  }

  // copies

  copyToDevice(target: Pointer, source: Uint8Array, stream?: StreamHandle): void {
    this.enter('copyToDevice', stream);
    this.copies.copyToDevice(target, source);
  }

  copyOnDevice(target: Pointer, source: Pointer, bytes: number, stream?: StreamHandle): void {
    this.enter('copyOnDevice', stream);
    this.copies.copyOnDevice(target, source, bytes);
  }

  copyToDeviceStrided(copy: StridedCopy<DeviceSide, HostSide>, stream?: StreamHandle): void {
    this.enter('copyToDeviceStrided', stream);
    this.copies.copyToDeviceStrided(copy);
  }

  async copyToHostLater(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): Promise<void> {
    const { last } = this.enter('copyToHostLater', stream);
    const fill = this.copies.fetch(copy);
    await this.#reachedLater(last);
    await fill?.();
  }

  copyOnDeviceStrided(copy: StridedCopy<DeviceSide, DeviceSide>, stream?: StreamHandle): void {
    this.enter('copyOnDeviceStrided', stream);
    this.copies.copyOnDeviceStrided(copy);
  }

  fillStrided(fill: StridedFill<DeviceSide>, stream?: StreamHandle): void {
    this.enter('fillStrided', stream);
    this.copies.fillStrided(fill);
  }

  copyFromPeer(): void {
    throw this.#unsupported('E_PEER', 'cannot copy from another device without the host');
  }

  // streams and events

  createStream(): StreamHandle {
    this.enter('createStream');
    return { stream: { last: 0, alive: true } satisfies Stream };
  }

  builtinStream(which: 'legacy' | 'per-thread'): StreamHandle {
    return which === 'legacy' ? this.#legacy : this.#perThread;
  }

  externalStream(): StreamHandle {
    throw this.#unsupported('E_EXTERNAL_STREAM', 'has no CUDA streams that another library could have made');
  }

  destroyStream(stream: StreamHandle): void {
    (stream.stream as Stream).alive = false;
  }

  queryStream(stream: StreamHandle): boolean {
    return this.reached((stream.stream as Stream).last);
  }

  createEvent(timing: boolean): EventHandle {
    this.enter('createEvent');
    const mark: Mark = { timing, stream: undefined, moment: undefined, at: 0, time: undefined };
    return { event: mark };
  }

  destroyEvent(): void {}

  recordEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    const mark = event.event as Mark;
    this.enter('recordEvent', stream);
    mark.stream = stream;
    mark.moment = this.reports.log.now;
    mark.at = this.#given;
    if (mark.timing) this.#stamp(mark);
  }

  /** An empty pass that notes the device's time. W3C: WebGPU, section "Timestamp Query". */
  #stamp(mark: Mark): void {
    mark.time = undefined;
    if (!this.device.features.has('timestamp-query')) return;
    const set: GpuQuerySet = this.device.createQuerySet({ type: 'timestamp', count: 1 });
    const usage = USAGE.queryResolve | USAGE.copySource;
    const resolved = this.device.createBuffer({ size: 256, usage });
    const staging = this.device.createBuffer({ size: 8, usage: USAGE.mapRead | USAGE.copyTarget });
    this.batch.encode((encoder) => {
      encoder.beginComputePass({ timestampWrites: { querySet: set, beginningOfPassWriteIndex: 0 } }).end();
      encoder.resolveQuerySet(set, 0, 1, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, 8);
    });
    const read = (): void => {
      mark.time = new DataView(staging.getMappedRange()).getBigUint64(0, true);
      for (const each of [staging, resolved, set]) each.destroy();
    };
    // A buffer that is to be mapped cannot be submitted any more.
    this.#times.push(() =>
      staging
        .mapAsync(MAP_READ)
        .then(read)
        .then(undefined, () => undefined),
    );
  }

  waitEvent(event: EventHandle, stream: StreamHandle | undefined): void {
    const { stream: from, moment } = event.event as Mark;
    const own = this.enter('waitEvent', stream);
    // One queue: what comes later waits by itself; what failed before is a fault of this stream as well.
    const source = from === undefined ? undefined : (from.stream as Stream);
    if (moment === undefined) return;
    const { log } = this.reports;
    const at = log.advance();
    this.#waits.push(() => log.follow(source, moment, own, at));
  }

  queryEvent(event: EventHandle): boolean {
    return this.reached((event.event as Mark).at);
  }

  failureBefore(event: EventHandle): Failure | undefined {
    const { stream, moment } = event.event as Mark;
    if (this.#lost !== undefined) {
      const error = new DriverError('E_DEVICE_LOST', `${this.info.name} is lost (${this.#lost}); open it again`);
      return { error, kept: false, acknowledge: () => undefined };
    }
    if (moment === undefined) return undefined;
    return this.reports.log.failure(this.orderedWith(stream), moment);
  }

  elapsedTime(start: EventHandle, end: EventHandle): number {
    const [from, to] = [(start.event as Mark).time, (end.event as Mark).time];
    if (from === undefined || to === undefined) {
      throw this.#unsupported('E_EVENT', 'has no timestamps for these events (timestamp-query)');
    }
    return Number(to - from) / 1e6;
  }

  // kernels

  async loadLater(program: Program): Promise<Executable> {
    return this.loadNow(program);
  }

  protected loadNow(program: Program): Executable {
    this.enter('load');
    const executable = new WebGpuExecutable(this, program);
    this.#executables.add(executable);
    return executable;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const executable of this.#executables) executable.unload();
    this.#executables.clear();
    this.copies.close();
    this.batch.close();
    this.memory.close();
    this.device.destroy();
    this.#tell();
  }

  #unsupported = (code: string, what: string): Error => new NotSupportedError(code, `${this.info.name} ${what}`);
}
