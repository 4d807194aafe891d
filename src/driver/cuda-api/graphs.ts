/**
 * Recorded work as graphs of the CUDA driver API, by stream capture: runs of work that the device can keep become a graph each, the rest is
 * enqueued between them as always.
 *
 * A lane of the work has a stream of its own while it is captured, which does not wait outside; what comes after work of other lanes waits for
 * an event. The device keeps no launch of a kernel that can fail or print, since each launch of these has a number that its records are found by;
 * and no copy that touches host memory or needs a temporary. CUDA driver API, sections "Graph Management" and "Stream Management".
 */
import { planFill } from '../copies/fill-plan.ts';
import type { DeviceDriver, EventHandle, Pointer, PreparedWork, RecordedWork, StreamHandle } from '../driver.ts';
import { extent } from '../strided.ts';
import { enqueueWork } from '../work-list.ts';
import type { CudaContext } from './context.ts';
import { CudaExecutable } from './executable.ts';
import type { Cuda } from './functions.ts';
import type { CudaStream, CudaStreams } from './streams.ts';

/** A device that graphs are made on. */
export interface GraphDriver extends DeviceDriver {
  readonly context: CudaContext;
  readonly streams: CudaStreams;
  captureMemory(stream: CudaStream): Pointer | undefined;
}

/** What capturing needs of the library. */
type GraphCalls = Required<
  Pick<
    Cuda,
    | 'cuStreamBeginCapture'
    | 'cuStreamEndCapture'
    | 'cuGraphInstantiate'
    | 'cuGraphLaunch'
    | 'cuGraphDestroy'
    | 'cuGraphExecDestroy'
  >
> & { readonly cuGraphExecUpdate: Cuda['cuGraphExecUpdate'] | undefined };

/** CU_STREAM_CAPTURE_MODE_RELAXED: other calls of this thread, such as those that load a kernel, are nobody's affair. */
const RELAXED = 2;

/** One call is no better than another for less. */
const WORTH_A_GRAPH = 2;

/** Work from one place to another in the list. */
interface Run {
  readonly from: number;
  readonly to: number;
  /** The CUgraphExec; undefined where the work is enqueued piece by piece. */
  exec: number | undefined;
  /** What its products need while they run. */
  memory: readonly Pointer[];
}

/** The graphs of recorded work; undefined where the library has none. */
export function cudaGraphs(driver: GraphDriver, work: readonly RecordedWork[]): PreparedWork | undefined {
  const calls = graphCalls(driver.context.cuda);
  return calls === undefined ? undefined : new CudaGraphs(driver, calls, work);
}

function graphCalls(cuda: Cuda): GraphCalls | undefined {
  const { cuStreamBeginCapture, cuStreamEndCapture, cuGraphInstantiate } = cuda;
  const { cuGraphLaunch, cuGraphDestroy, cuGraphExecDestroy, cuGraphExecUpdate } = cuda;
  if (cuStreamBeginCapture === undefined || cuStreamEndCapture === undefined) return undefined;
  if (cuGraphInstantiate === undefined || cuGraphLaunch === undefined) return undefined;
  if (cuGraphDestroy === undefined || cuGraphExecDestroy === undefined) return undefined;
  return {
    cuStreamBeginCapture,
    cuStreamEndCapture,
    cuGraphInstantiate,
    cuGraphLaunch,
    cuGraphDestroy,
    cuGraphExecDestroy,
    cuGraphExecUpdate,
  };
}

class CudaGraphs implements PreparedWork {
  readonly #driver: GraphDriver;
  readonly #calls: GraphCalls;
  #work: readonly RecordedWork[] = [];
  #runs: readonly Run[] = [];

  constructor(driver: GraphDriver, calls: GraphCalls, work: readonly RecordedWork[]) {
    this.#driver = driver;
    this.#calls = calls;
    this.replace(work);
  }

  get kept(): number {
    return this.#runs.reduce((sum, { from, to, exec }) => sum + (exec === undefined ? 0 : to - from), 0);
  }

  enqueue(stream: StreamHandle | undefined): void {
    const { context, streams } = this.#driver;
    for (const { from, to, exec } of this.#runs) {
      if (exec === undefined) {
        for (let k = from; k < to; k++) enqueueWork(this.#driver, this.#work[k] as RecordedWork, stream);
        continue;
      }
      const target = streams.resolve(stream, 'cuGraphLaunch');
      context.enter('cuGraphLaunch');
      this.#note(from, to);
      const result = this.#calls.cuGraphLaunch(exec, target.handle);
      if (result !== 0) throw context.failure(result, 'cuGraphLaunch', { about: `launching a graph of ${to - from}` });
    }
  }

  /** An error that comes up later names the launches before it, of which few are kept. */
  #note(from: number, to: number): void {
    const { launches } = this.#driver.context;
    for (let k = Math.max(from, to - launches.kept); k < to; k++) {
      const work = this.#work[k] as RecordedWork;
      if (work.kind === 'launch' && work.executable instanceof CudaExecutable) work.executable.noteLaunch(work.shape);
    }
  }

  replace(work: readonly RecordedWork[]): void {
    this.#driver.context.enter('cuStreamBeginCapture');
    const before = this.#runs;
    const runs = runsOf(work);
    runs.forEach((run, k) => {
      if (run.exec !== undefined) run.exec = this.#instance(work.slice(run.from, run.to), run, before[k]);
    });
    const kept = new Set(runs.map(({ exec }) => exec));
    for (const run of before) this.#destroy(run, kept.has(run.exec));
    this.#work = work;
    this.#runs = runs;
  }

  /**
   * A CUgraphExec of a run of work: an earlier one with other arguments where that has the same form. Undefined where the library does not take the work
   * into a graph: then it is enqueued piece by piece, which comes to the same.
   */
  #instance(work: readonly RecordedWork[], run: Run, earlier: Run | undefined): number | undefined {
    const graph = this.#capture(work, run);
    if (graph === undefined) return undefined;
    const { out } = this.#driver.context;
    const { cuGraphExecUpdate, cuGraphInstantiate, cuGraphDestroy } = this.#calls;
    const same = earlier?.exec !== undefined && cuGraphExecUpdate?.(earlier.exec, graph, out.at(0), out.at(1)) === 0;
    const made = !same && cuGraphInstantiate(out.at(0), graph, 0) === 0 ? out.long(0) : undefined;
    cuGraphDestroy(graph);
    return same ? earlier.exec : made;
  }

  /** The CUgraph of a run of work. Undefined where it cannot be captured. */
  #capture(work: readonly RecordedWork[], run: Run): number | undefined {
    const { context, streams } = this.#driver;
    const { cuStreamBeginCapture, cuStreamEndCapture, cuGraphDestroy } = this.#calls;
    const lanes = new LaneStreams(this.#driver, work, run.from);
    run.memory = lanes.memory();
    const origin = streams.resolve(lanes.origin, 'cuStreamBeginCapture').handle;
    try {
      if (cuStreamBeginCapture(origin, RELAXED) !== 0) return undefined;
      const complete = this.#enqueueOn(lanes, work);
      if (cuStreamEndCapture(origin, context.out.at(0)) !== 0) return undefined;
      const graph = context.out.long(0);
      if (complete) return graph;
      cuGraphDestroy(graph);
      return undefined;
    } finally {
      lanes.close();
    }
  }

  /** False where a call failed, as those do that a capture does not take. */
  #enqueueOn(lanes: LaneStreams, work: readonly RecordedWork[]): boolean {
    try {
      lanes.fork();
      work.forEach((each, k) => {
        const on = lanes.before(k);
        enqueueWork(this.#driver, each, on);
        lanes.after(k, on);
      });
      lanes.join();
      return true;
    } catch {
      // What is wrong with the work itself is said when it is enqueued.
      return false;
    }
  }

  #destroy({ exec, memory }: Run, kept = false): void {
    // What has been launched goes on; the driver frees it afterwards.
    if (exec !== undefined && !kept) this.#calls.cuGraphExecDestroy(exec);
    // On the default stream, which comes after all that was launched.
    const { default: last } = this.#driver.streams;
    for (const pointer of memory) this.#driver.free(pointer, { stream: last });
  }

  destroy(): void {
    const { context } = this.#driver;
    const runs = this.#runs;
    this.#runs = [];
    this.#work = [];
    if (context.closed || context.broken !== undefined) return;
    context.enter('cuGraphExecDestroy');
    for (const run of runs) this.#destroy(run);
  }
}

/** Cuts a list into runs that become graphs, whose `exec` is 0 until they are made, and the rest. */
function runsOf(work: readonly RecordedWork[]): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < work.length; ) {
    const keep = canKeep(work[from] as RecordedWork);
    let to = from + 1;
    while (to < work.length && canKeep(work[to] as RecordedWork) === keep) to++;
    runs.push({ from, to, exec: keep && to - from >= WORTH_A_GRAPH ? 0 : undefined, memory: [] });
    from = to;
  }
  return runs;
}

/** The streams that stand for the lanes of a run of work while it is captured, and the events between them. */
class LaneStreams {
  readonly origin: StreamHandle;
  readonly #driver: GraphDriver;
  readonly #work: readonly RecordedWork[];
  readonly #offset: number;
  readonly #streams = new Map<number, StreamHandle>();
  /** Places of work that other lanes come after. */
  readonly #awaited = new Set<number>();
  /** By lane: the place of its last work. */
  readonly #last = new Map<number, number>();
  readonly #events = new Map<number, EventHandle>();

  constructor(driver: GraphDriver, work: readonly RecordedWork[], offset: number) {
    this.#driver = driver;
    this.#work = work;
    this.#offset = offset;
    const lanes = new Set(work.map(({ lane }) => lane));
    for (const lane of lanes) this.#streams.set(lane, driver.streams.createApart());
    const [first] = this.#streams.values();
    this.origin = first ?? driver.streams.createApart();
    if (first === undefined) this.#streams.set(0, this.origin);
    work.forEach(({ lane }, k) => this.#last.set(lane, k));
    for (const [k, { lane }] of work.entries()) {
      for (const place of this.#places(k)) if (this.#work[place]?.lane !== lane) this.#awaited.add(place);
    }
    for (const k of this.#last.values()) this.#awaited.add(k);
  }

  /** Memory for the products of each lane. */
  memory(): readonly Pointer[] {
    const lanes = new Set(this.#work.flatMap(({ kind, lane }) => (kind === 'multiply' ? [lane] : [])));
    return [...lanes].flatMap((lane) => {
      const stream = this.#driver.streams.resolve(this.#streams.get(lane) ?? this.origin, 'multiply');
      return this.#driver.captureMemory(stream) ?? [];
    });
  }

  /** What work comes after, of this run: what was before is done when the graph begins. */
  #places(k: number): number[] {
    const after = this.#work[k]?.after ?? [];
    return after.map((place) => place - this.#offset).filter((place) => place >= 0);
  }

  /** All lanes become part of the capture. */
  fork(): void {
    if (this.#streams.size === 1) return;
    const event = this.#record(this.origin);
    for (const stream of this.#streams.values()) {
      if (stream !== this.origin) this.#driver.streams.waitCaptured(event, stream);
    }
    this.#driver.destroyEvent(event);
  }

  /** The stream of a piece of work, which waits for what that comes after. */
  before(k: number): StreamHandle {
    const { lane } = this.#work[k] as RecordedWork;
    const stream = this.#streams.get(lane) ?? this.origin;
    for (const place of this.#places(k)) {
      if (this.#work[place]?.lane === lane) continue;
      const event = this.#events.get(place);
      if (event !== undefined) this.#driver.streams.waitCaptured(event, stream);
    }
    return stream;
  }

  after(k: number, stream: StreamHandle): void {
    if (this.#streams.size > 1 && this.#awaited.has(k)) this.#events.set(k, this.#record(stream));
  }

  /** The first stream comes after all others, as it must where a capture ends. */
  join(): void {
    for (const k of this.#last.values()) {
      const event = this.#events.get(k);
      if (event !== undefined) this.#driver.streams.waitCaptured(event, this.origin);
    }
  }

  #record(stream: StreamHandle): EventHandle {
    const event = this.#driver.createEvent(false);
    this.#driver.streams.recordCaptured(event, stream);
    return event;
  }

  close(): void {
    for (const event of this.#events.values()) this.#driver.destroyEvent(event);
    for (const stream of this.#streams.values()) this.#driver.destroyStream(stream);
  }
}

/** Whether the device can keep a piece of work: nothing of it is the host's, and nothing is allocated for it. */
function canKeep(work: RecordedWork): boolean {
  switch (work.kind) {
    case 'launch':
      return work.executable instanceof CudaExecutable && !work.executable.watched;
    case 'copyOnDevice': {
      const [to, from] = [Number(work.target), Number(work.source)];
      return to + work.bytes <= from || from + work.bytes <= to;
    }
    case 'copyOnDeviceStrided': {
      const { target, source, shape, itemSize } = work.copy;
      const [toLow, toHigh] = extent(target.strides, shape, itemSize);
      const [fromLow, fromHigh] = extent(source.strides, shape, itemSize);
      const [to, from] = [Number(target.pointer), Number(source.pointer)];
      return to + toHigh <= from + fromLow || from + fromHigh <= to + toLow;
    }
    case 'fillStrided':
      return planFill(work.fill, Number(work.fill.target.pointer))?.how !== 'copy';
    case 'multiply':
      return true;
    default:
      return false;
  }
}
