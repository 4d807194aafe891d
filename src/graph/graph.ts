/**
 * Graphs: work that is recorded once and launched as often as you like, with one call.
 *
 * A body is run once, and what it enqueues is recorded instead (`recorder.ts`): kernels with their arguments, copies and fills, in the order that
 * streams and events give them. A device with graphs of its own (CUDA's) keeps the work; others are given it piece by piece, without the checks
 * that a launch makes. CUDA driver API, section "Graph Management".
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { PreparedWork, RecordedWork } from '../driver/driver.ts';
import { WorkList } from '../driver/work-list.ts';
import { TsambaTypeError } from '../errors.ts';
import { refuseAssignments } from '../guarded.ts';
import type { Context } from '../memory/context.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { captureSite, disposedError, type Site } from '../memory/disposal.ts';
import { noteHostUse } from '../memory/host/uses.ts';
import type { MemoryOwner } from '../memory/owner.ts';
import { printAs } from '../memory/printing.ts';
import { type Kept, recording } from '../memory/recording.ts';
import type { Resource } from '../memory/resources.ts';
import { noteDisposed, noteMade } from '../memory/scope.ts';
import { UNCLONEABLE_STREAM } from '../memory/uncloneable.ts';
import { readOptions } from '../options.ts';
import { observing } from '../profile/observing.ts';
import { show } from '../show.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { builtinState } from '../stream/stream-state.ts';
import { type Recorded, recordWork } from './recorder.ts';

/** Makes graphs on the current device. */
export type MakeGraph = <R>(body: () => R) => Graph<R>;

/** Options of `graph.launch`. */
export interface GraphLaunchOptions {
  /** The stream that all of the work is enqueued on. Default: the default stream. */
  readonly stream?: Stream | 0 | null | undefined;
}

export function graphOf(devices: DeviceSelection): MakeGraph {
  return hostFunction(devices, 'graph', <R>(body: () => R) => new Graph(devices.currentContext(), body));
}

/** Work, and what it uses. */
type Uses = Omit<Recorded, 'result'>;

/** What a graph has on the device and keeps alive; apart from the object that users hold, so that this can be collected. */
class GraphResource implements Resource {
  readonly context: Context;
  readonly epoch: number;
  #recorded: Uses;
  readonly #prepared: PreparedWork;
  #live = true;

  constructor(context: Context, recorded: Uses) {
    this.context = context;
    this.epoch = context.epoch;
    this.#recorded = recorded;
    try {
      this.#prepared = context.driver.prepare?.(recorded.work) ?? new WorkList(() => context.driver, recorded.work);
    } catch (error) {
      letGo(recorded);
      throw error;
    }
    context.adopt(this);
  }

  get work(): readonly RecordedWork[] {
    return this.#recorded.work;
  }

  get kept(): number {
    return this.#prepared.kept;
  }

  replace(recorded: Uses): void {
    try {
      this.#prepared.replace(recorded.work);
    } catch (error) {
      letGo(recorded);
      throw error;
    }
    letGo(this.#recorded);
    this.#recorded = recorded;
  }

  launch(stream: Stream | undefined): void {
    const { context } = this;
    const { kept, held } = this.#recorded;
    for (const used of kept) if (isMemory(used)) used.touch(stream);
    if (stream !== undefined) {
      for (const object of held) {
        if (object instanceof Uint8Array) noteHostUse(object, stream);
        stream.hold(object);
      }
    }
    context.beforeLaunch?.();
    // Copies on the default stream by its name are only enqueued; without a stream they would wait.
    const on = stream === undefined ? builtinState(context, 'default').handle : stream.use();
    const observer = observing.current;
    if (observer === undefined) return this.#prepared.enqueue(on);
    const detail = { pieces: this.work.length };
    observer.enqueue({ kind: 'graph', name: 'graph', context, stream: on, detail }, () => this.#prepared.enqueue(on));
  }

  /** Records the work again, as part of another graph. */
  embed(stream: Stream | undefined): void {
    const { current } = recording;
    if (current === undefined) return;
    for (const used of this.#recorded.kept) current.keep(used);
    for (const object of this.#recorded.held) current.hold(object);
    for (const work of this.#recorded.work) current.record(work, stream?.use());
  }

  /** What it used may be freed, once what has been enqueued is done. */
  release(): void {
    if (!this.#live) return;
    this.#live = false;
    letGo(this.#recorded);
  }

  destroy(): void {
    this.#prepared.destroy();
    this.release();
  }
}

function isMemory(used: Kept): used is MemoryOwner {
  return 'touch' in used;
}

function letGo({ kept }: Uses): void {
  for (const used of kept) used.release();
}

const dropped: FinalizationRegistry<GraphResource> = new FinalizationRegistry((resource) => {
  resource.release();
  resource.context.retire(resource);
});

/**
 * Work that was recorded, to be launched as often as you like. Created by `cuda.graph()`.
 * @example
 * const x = cuda.toDevice(Float32Array.of(1, 2));
 * const double = cuda.jit((x: Vec<f32>) => { x[cuda.grid(1)]! *= 2; });
 * const g = cuda.graph(() => double.launch({ grid: 1, block: 2 }, x));
 * g.launch();
 * g.launch();
 * console.log(x.copyToHost()); // Float32Array(2) [ 4, 8 ]
 */
export class Graph<R = unknown> {
  /** @internal Makes a structured clone fail with a message that says what to do; must stay the first property. */
  readonly crossThread: symbol = UNCLONEABLE_STREAM;
  readonly #resource: GraphResource;
  #body: () => R;
  #result: R;
  #disposedAt: Site | undefined;

  /** Graphs are made by `graph()`. */
  constructor(context: Context, body: () => R) {
    checkBody('graph', body);
    context.checkOpen();
    const { result, ...recorded } = recordWork(context, body);
    this.#body = body;
    this.#result = result as R;
    this.#resource = new GraphResource(context, recorded);
    dropped.register(this, this.#resource, this);
    noteMade(this);
  }

  /** The context, and so the device, that the graph runs on. */
  get context(): Context {
    return this.#resource.context;
  }

  /** What the body returned when it was recorded last: arrays that it made hold new values after each launch. */
  get result(): R {
    return this.#result;
  }

  /** How many kernels, copies and fills a launch does. */
  get size(): number {
    return this.#resource.work.length;
  }

  /**
   * How many of them the device itself keeps, as a graph of CUDA's; the others are enqueued one by one: on devices that have no graphs, and of
   * kernels that can print or fail, whose launches have to be told apart.
   */
  get kept(): number {
    return this.#resource.kept;
  }

  /** Whether `dispose` has been called. */
  get disposed(): boolean {
    return this.#disposedAt !== undefined || this.context.closed || this.#resource.epoch !== this.context.epoch;
  }

  /**
   * Enqueues all of the work on one stream; does not wait. What went wrong in a kernel is thrown by what waits for the stream, as for launches.
   * While another graph is recorded, becomes part of that.
   * @throws RangeError when the graph or the stream was disposed.
   */
  launch(options?: GraphLaunchOptions): void {
    this.#check();
    const { stream: given } = readOptions('graph.launch', options, ['stream']);
    const { context } = this;
    const stream = streamOption(given, context);
    if (context.turns.waiting > 0) context.turns.check('graph.launch()');
    if (recording.current !== undefined) this.#resource.embed(stream);
    else this.#resource.launch(stream);
  }

  /**
   * Records the body again, or another one, and replaces the recorded work: later launches use its arguments, earlier ones keep theirs. With the same
   * kernels in the same order, only their arguments are changed on the device.
   * @throws what `graph()` throws; the graph is then unchanged.
   */
  update(body: () => R = this.#body): void {
    this.#check();
    checkBody('graph.update', body);
    const { result, ...recorded } = recordWork(this.context, body);
    this.#resource.replace(recorded);
    this.#body = body;
    this.#result = result as R;
  }

  /** Releases the graph and what only it kept alive; launches already made still run. Calling it again does nothing. */
  dispose(): void {
    this.#dispose();
  }

  [Symbol.dispose](): void {
    this.#dispose();
  }

  #dispose(): void {
    if (this.#disposedAt !== undefined) return;
    this.#disposedAt = captureSite(2);
    noteDisposed(this);
    dropped.unregister(this);
    this.#resource.release();
    this.context.retire(this.#resource);
  }

  #check(): void {
    if (this.#disposedAt !== undefined) throw disposedError('graph', this.#disposedAt, 'make a new one with graph()');
    this.context.checkOpen();
    if (this.disposed) throw disposedError('graph', undefined, 'its context was reset: make a new one with graph()');
  }

  /** A short description with the number of operations. */
  toString(): string {
    return `Graph(${this.size} pieces of work, ${this.disposed ? 'disposed' : this.context.info.name})`;
  }
}

printAs(Graph.prototype);
refuseAssignments('Graph', Graph.prototype);

function checkBody(call: string, body: unknown): void {
  if (typeof body === 'function') return;
  throw new TsambaTypeError(
    'E_GRAPH',
    `${call} takes a function that makes the launches and copies, as in graph(() => { kernel.launch(…); }), got ${show(body)}`,
  );
}
