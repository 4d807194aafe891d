/**
 * A WebGPU device of another thread, for a thread that waits for it: what is called is sent over in batches, and answers are taken in turns of the event loop or while this thread sleeps.
 */
import { atExit } from '../../host/index.ts';
import { startThread, type Thread } from '../../host/start-thread.ts';
import { Answer } from './answer.ts';
import type {
  GpuBuffer,
  GpuComputePass,
  GpuDevice,
  GpuEncoder,
  GpuError,
  GpuInfo,
  GpuLimits,
  GpuPipeline,
  GpuQuerySet,
  GpuQueue,
} from './api.ts';
import { BOX, REMOTE_CODE, type RemoteAnswer, type RemoteData } from './remote-code.ts';

/** Requests that are sent at the latest, and bytes. */
const MOST_REQUESTS = 256;
const MOST_BYTES = 1 << 24;

/** How long this thread sleeps before it looks whether the other one is alive. */
const LOOK_MS = 500;

/** How long a thread may take to end that has given its device back. */
const LINGER_MS = 100;

/** The line to the thread that has the device. */
class Line {
  readonly #box = new SharedArrayBuffer(BOX.size);
  readonly #state = new Int32Array(this.#box);
  readonly #thread: Thread;
  readonly #answers = new Map<number, Answer<RemoteAnswer>>();
  readonly lost: Answer<{ readonly reason: string; readonly message: string }> = new Answer();
  #requests: unknown[][] = [];
  #transfer: ArrayBuffer[] = [];
  #bytes = 0;
  #next = 1;
  #gone: string | undefined;
  #handing = false;

  constructor(data: Omit<RemoteData, 'box'>) {
    this.#thread = startThread({
      name: 'tsamba-webgpu',
      code: REMOTE_CODE,
      data: { ...data, box: this.#box },
      onMessage: () => this.#take(),
      onError: ({ message }) => this.#lose(message),
      onExit: () => this.#lose('its thread has ended'),
    });
    if (data.path === undefined) closeAtExit(this);
  }

  /** The number of a thing to be made. */
  number(): number {
    return this.#next++;
  }

  /** Sends a request, soon: with those that follow. */
  send(request: unknown[], bytes?: Uint8Array<ArrayBuffer>): void {
    if (this.#gone !== undefined) return;
    this.#requests.push(request);
    if (bytes !== undefined) {
      this.#transfer.push(bytes.buffer);
      this.#bytes += bytes.length;
    }
    if (this.#requests.length >= MOST_REQUESTS || this.#bytes >= MOST_BYTES) this.flush();
  }

  flush(): void {
    if (this.#requests.length === 0) return;
    const [requests, transfer] = [this.#requests, this.#transfer];
    [this.#requests, this.#transfer, this.#bytes] = [[], [], 0];
    this.#thread.post(requests, transfer);
  }

  /** The answer to a request by its number. While there is one to come, the process stays. */
  ask(number: number): Answer<RemoteAnswer> {
    const answer = new Answer<RemoteAnswer>();
    if (this.#gone !== undefined) answer.fail(new Error(this.#gone));
    else {
      this.#answers.set(number, answer);
      this.#thread.hold(true);
    }
    return answer;
  }

  /** Sleeps until something is the case that answers bring about, or the device is lost. */
  wait(until: () => boolean): void {
    this.flush();
    if (this.#take() && until()) return;
    Atomics.store(this.#state, BOX.sleeps, 1);
    while (!until() && this.#gone === undefined) {
      this.flush();
      Atomics.wait(this.#state, BOX.full, 0, LOOK_MS);
      if (!this.#take() && this.#thread.ended) this.#lose('its thread has ended');
    }
    Atomics.store(this.#state, BOX.sleeps, 0);
    this.#take();
  }

  /** Hears what has been answered by now, for a thread that asks again and again and never gets to its event loop. */
  look(): void {
    this.flush();
    if (!this.#handing) this.#take();
  }

  close(): void {
    this.send(['close']);
    this.flush();
    this.#lose('it has been closed');
  }

  /** Closes, and waits until the thread has ended, but not for long. */
  closeNow(): void {
    if (this.#gone !== undefined) return;
    const number = this.number();
    const until = performance.now() + LOOK_MS;
    let closed = false;
    this.ask(number).then(
      () => {
        closed = true;
      },
      () => {},
    );
    this.send(['close', number]);
    this.wait(() => closed || performance.now() >= until);
    this.#lose('it has been closed');
    // Nothing tells when the thread has ended.
    Atomics.wait(this.#state, BOX.sleeps, 0, LINGER_MS);
  }

  /** Takes the letter out of the box, if there is one, and hands out the answers. */
  #take(): boolean {
    if (Atomics.load(this.#state, BOX.full) === 0) return false;
    const bytes = new Uint8Array(this.#box, BOX.text, this.#state[BOX.bytes]);
    const answers = JSON.parse(new TextDecoder().decode(bytes.slice())) as RemoteAnswer[];
    Atomics.store(this.#state, BOX.full, 0);
    if (Atomics.load(this.#state, BOX.more) === 1) this.#thread.post([['more']]);
    this.#handing = true;
    try {
      for (const answer of answers) this.#hand(answer);
    } finally {
      this.#handing = false;
    }
    if (this.#answers.size === 0) this.#thread.hold(false);
    this.flush();
    return true;
  }

  #hand(answer: RemoteAnswer): void {
    const { to, error, lost } = answer;
    if (lost !== undefined) return this.#lose(lost.message, lost.reason);
    const waiting = this.#answers.get(to);
    this.#answers.delete(to);
    if (error === undefined) waiting?.give(answer);
    else if (waiting === undefined) this.#lose(error);
    else waiting.fail(new Error(error));
  }

  #lose(message: string, reason = 'unknown'): void {
    if (this.#gone !== undefined) return;
    this.#gone = message;
    toClose?.delete(this);
    this.lost.give({ reason, message });
    const answers = [...this.#answers.values()];
    this.#answers.clear();
    for (const answer of answers) answer.fail(new Error(message));
    this.#thread.hold(false);
  }
}

/** Lines to the devices of Deno's that there are: a process crashes now and then that ends while a thread has one, or is about to end itself. */
let toClose: Set<Line> | undefined;

function closeAtExit(line: Line): void {
  if (toClose === undefined) {
    const lines = new Set<Line>();
    toClose = lines;
    atExit(() => {
      for (const each of lines) each.closeNow();
    });
  }
  toClose.add(line);
}

/** Something that the other thread has, and lets go when nobody has it here. */
class Thing {
  readonly $: number;
  readonly #line: Line;

  constructor(line: Line, method: string, options: unknown) {
    this.#line = line;
    this.$ = line.number();
    line.send(['make', this.$, method, sendable(options)]);
    dropped.register(this, { line, number: this.$ }, this);
  }

  destroy(): void {
    if (dropped.unregister(this)) this.#line.send(['drop', this.$]);
  }
}

const dropped = new FinalizationRegistry<{ readonly line: Line; readonly number: number }>(({ line, number }) =>
  line.send(['drop', number]),
);

/** What is sent of a description: things by their numbers. */
function sendable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Thing) return { $: value.$ };
  if (Array.isArray(value)) return value.map(sendable);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sendable(each)]));
}

class RemoteBuffer extends Thing implements GpuBuffer {
  readonly size: number;
  readonly #own: Line;
  #shared: SharedArrayBuffer | undefined;
  #mapped: SharedArrayBuffer | undefined;

  constructor(line: Line, options: { readonly size: number }) {
    super(line, 'createBuffer', options);
    this.#own = line;
    this.size = options.size;
  }

  mapAsync(_mode: number, _offset = 0, size: number = this.size): Answer<void> {
    const number = this.#own.number();
    // Kept: buffers for small reads are used again and again.
    const shared = this.#shared?.byteLength === size ? this.#shared : new SharedArrayBuffer(size);
    this.#shared = shared;
    const answer = this.#own.ask(number).then(() => {
      this.#mapped = shared;
    });
    this.#own.send(['read', number, this.$, shared]);
    this.#own.flush();
    return answer;
  }

  getMappedRange(): SharedArrayBuffer {
    if (this.#mapped === undefined) throw new Error('internal error: the buffer is not mapped');
    return this.#mapped;
  }

  unmap(): void {
    this.#mapped = undefined;
  }
}

class RemotePipeline extends Thing implements GpuPipeline {
  getBindGroupLayout(): object {
    throw new Error('internal error: layouts are explicit');
  }
}

/** Commands, as they are recorded. */
class RemoteEncoder implements GpuEncoder, GpuComputePass {
  readonly commands: unknown[][] = [];

  beginComputePass(...args: unknown[]): GpuComputePass {
    this.#record('beginComputePass', args);
    return this;
  }
  setPipeline(...args: unknown[]): void {
    this.#record('setPipeline', args);
  }
  setBindGroup(...args: unknown[]): void {
    this.#record('setBindGroup', args);
  }
  dispatchWorkgroups(...args: unknown[]): void {
    this.#record('dispatchWorkgroups', args);
  }
  end(): void {
    this.#record('end', []);
  }
  copyBufferToBuffer(...args: unknown[]): void {
    this.#record('copyBufferToBuffer', args);
  }
  clearBuffer(...args: unknown[]): void {
    this.#record('clearBuffer', args);
  }
  resolveQuerySet(...args: unknown[]): void {
    this.#record('resolveQuerySet', args);
  }
  finish(): object {
    return this;
  }

  #record(name: string, args: readonly unknown[]): void {
    this.commands.push([name, ...args.map(sendable)]);
  }
}

/** The device, with what can be done beside it: sleeping until it answers. */
export class RemoteDevice implements GpuDevice {
  readonly queue: GpuQueue;
  readonly lost: GpuDevice['lost'];
  readonly #line: Line;
  #opened: RemoteAnswer['opened'];

  private constructor(line: Line) {
    this.#line = line;
    this.lost = line.lost;
    this.queue = queueOf(line);
  }

  /** Starts the thread and sleeps until it has a device; undefined where there is no adapter. Throws Error for what goes wrong. */
  static open(data: Omit<RemoteData, 'box'>): RemoteDevice | undefined {
    const line = new Line(data);
    const device = new RemoteDevice(line);
    device.#opened = device.waitFor(line.ask(0)).opened;
    return device.#opened === undefined ? undefined : device;
  }

  get limits(): GpuLimits {
    return this.#opened?.limits as unknown as GpuLimits;
  }

  get info(): GpuInfo {
    return this.#opened?.info ?? {};
  }

  get features(): { has(name: string): boolean } {
    return { has: (name) => this.#opened?.features.includes(name) ?? false };
  }

  /** Sleeps until something is the case that answers bring about, or the device is lost. */
  wait(until: () => boolean): void {
    this.#line.wait(until);
  }

  /** Sleeps until there is an answer. Throws what it fails with. */
  waitFor<T>(asked: PromiseLike<T>): T {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    asked.then(
      (value) => {
        outcome = { value };
      },
      (error) => {
        outcome = { error };
      },
    );
    this.#line.wait(() => outcome !== undefined);
    const settled = outcome as unknown as { readonly value: T } | { readonly error: unknown };
    if ('error' in settled) throw settled.error;
    return settled.value;
  }

  /** Hears what has been answered by now. */
  look(): void {
    this.#line.look();
  }

  createBuffer(options: { readonly size: number }): GpuBuffer {
    return new RemoteBuffer(this.#line, options);
  }
  createShaderModule(options: object): object {
    return new Thing(this.#line, 'createShaderModule', options);
  }
  createBindGroupLayout(options: object): object {
    return new Thing(this.#line, 'createBindGroupLayout', options);
  }
  createPipelineLayout(options: object): object {
    return new Thing(this.#line, 'createPipelineLayout', options);
  }
  createComputePipeline(options: object): GpuPipeline {
    return new RemotePipeline(this.#line, 'createComputePipeline', options);
  }
  createQuerySet(options: object): GpuQuerySet {
    return new Thing(this.#line, 'createQuerySet', options);
  }
  createBindGroup(options: object): object {
    return new Thing(this.#line, 'createBindGroup', options);
  }
  createCommandEncoder(): GpuEncoder {
    return new RemoteEncoder();
  }

  pushErrorScope(filter: string): void {
    this.#line.send(['push', filter]);
  }

  popErrorScope(): PromiseLike<GpuError | null> {
    const number = this.#line.number();
    const answer = this.#line.ask(number);
    this.#line.send(['pop', number]);
    return answer.then(({ message }) => (typeof message === 'string' ? { message } : null));
  }

  destroy(): void {
    this.#line.close();
  }
}

function queueOf(line: Line): GpuQueue {
  return {
    submit: (encoders) => {
      for (const encoder of encoders as readonly RemoteEncoder[]) line.send(['submit', encoder.commands]);
      line.flush();
    },
    writeBuffer: (buffer, at, data, offset = 0, size = data.length - offset) => {
      // What the caller does with its array from now on must not be seen.
      const bytes = data.slice(offset, offset + size) as Uint8Array<ArrayBuffer>;
      line.send(['write', (buffer as RemoteBuffer).$, at, bytes], bytes);
    },
    onSubmittedWorkDone: () => {
      const number = line.number();
      const answer = line.ask(number).then(() => undefined);
      line.send(['done', number]);
      line.flush();
      return answer;
    },
  };
}
