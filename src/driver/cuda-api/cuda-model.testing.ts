/**
 * A model of libcuda for tests without a GPU: real memory at real addresses, and streams whose work is done when it is waited for.
 *
 * What is enqueued runs as late as CUDA allows: at the next call that waits for it. Kernels are functions that a test brings. Calls
 * that are not modelled succeed and do nothing.
 */

import type { Ffi } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { textOf } from '../../ffi/out-parameters.ts';
import type { Cuda } from './functions.ts';
import type { Vocabulary } from './vocabulary.ts';

const NOT_READY = 600;
const OUT_OF_MEMORY = 2;
const INVALID_HANDLE = 400;
const CAPTURE_UNSUPPORTED = 900;
const CAPTURE_UNJOINED = 904;
const UPDATE_FAILED = 910;

interface Work {
  readonly stream: number;
  readonly run: () => void;
  done: boolean;
}

/** Work that is captured and not enqueued, by all streams that take part. */
interface Capture {
  readonly origin: number;
  /** What has been captured, in order, with its stream. */
  readonly work: { readonly stream: number; readonly kind: string; readonly run: () => void }[];
  /** By stream: how much of the work it comes after. */
  readonly streams: Map<number, Set<number>>;
}

/** What is in a graph. */
interface ModelGraph {
  readonly kinds: string;
  readonly runs: readonly (() => void)[];
  /** Of each piece of work, what it comes after. */
  readonly after: readonly (readonly number[])[];
}

/** What a modelled kernel is given: its packed parameters, as they were at the launch. */
export type ModelKernel = (params: DataView) => void;

/** No words beyond the API's own. */
const PLAIN: Vocabulary = { platform: 'CUDA', functionName: (api) => api, meaning: () => undefined };

export class CudaModel {
  readonly ffi: Ffi;
  /** Calls made, in order. */
  readonly calls: string[] = [];
  /** Kernels by the text of their module. */
  readonly kernels: Map<string, ModelKernel> = new Map();
  /** The modules that were loaded, as texts. */
  readonly loaded: string[] = [];
  /** Of streams that were made with one. */
  readonly priorities: number[] = [];
  /** What the linker was given: kinds, and bytes as text. */
  readonly linkInputs: (readonly [type: number, text: string])[] = [];
  /** Results that calls give instead of success, by name, until they are taken out. */
  readonly results: Map<string, number> = new Map();
  /** Run at each call of a name, before anything else. */
  readonly before: Map<string, () => void> = new Map();
  /** Bytes of device memory that there are. */
  capacity: number = 2 ** 30;
  /** Bytes that the pool keeps. */
  pooled: number = 0;
  readonly #memory = new Map<number, Uint8Array>();
  readonly #work: Work[] = [];
  readonly #events = new Map<number, number>();
  readonly #modules = new Map<number, string>();
  readonly #linked = new Map<number, Uint8Array>();
  readonly #gone = new Set<number>();
  readonly #globals = new Map<string, number>();
  readonly #captures = new Map<number, Capture>();
  /** What the work of captures comes after, by the capture. */
  readonly #after = new Map<Capture, (readonly number[])[]>();
  readonly #marks = new Map<number, { readonly capture: Capture; readonly places: ReadonlySet<number> }>();
  /** Graphs and their instances, by handle. */
  readonly graphs: Map<number, ModelGraph> = new Map();
  readonly instances: Map<number, ModelGraph> = new Map();
  readonly #vocabulary: Vocabulary;
  #next = 0x1000;
  #now = 0;

  constructor(vocabulary: Vocabulary = PLAIN) {
    this.#vocabulary = vocabulary;
    const { ffi, reason } = loadFfi();
    if (ffi === undefined) throw new Error(reason);
    this.ffi = ffi;
  }

  /** Bytes of device memory that are allocated. */
  get live(): number {
    let sum = 0;
    for (const bytes of this.#memory.values()) sum += bytes.length;
    return sum;
  }

  /** The library, as nvidia/library.ts gives it. */
  get cuda(): Cuda {
    const functions = this.#functions();
    const known = new Map<string, (...args: never[]) => number>(Object.entries(functions));
    const call = (name: string) => {
      return (...args: never[]): number => {
        this.calls.push(name);
        this.before.get(name)?.();
        const result = this.results.get(name);
        return result ?? known.get(name)?.(...args) ?? 0;
      };
    };
    const made = new Map<string, unknown>([
      ['ffi', this.ffi],
      ['version', 13000],
      ['vocabulary', this.#vocabulary],
    ]);
    return new Proxy({} as Cuda, {
      get: (_target, name) => {
        if (typeof name !== 'string') return undefined;
        if (!made.has(name)) made.set(name, call(name));
        return made.get(name);
      },
    });
  }

  /** The bytes at an address that the model gave. */
  bytesAt(address: number, count: number): Uint8Array {
    return new Uint8Array(this.ffi.view(address, count));
  }

  /** The address of a module's variable. */
  global(module: string, symbol: string): number {
    return this.#globals.get(`${module}/${symbol}`) ?? 0;
  }

  #set(cell: number, value: number): void {
    new BigUint64Array(this.ffi.view(cell, 8))[0] = BigInt(value);
  }

  #int(cell: number, value: number): number {
    new Int32Array(this.ffi.view(cell, 4))[0] = value;
    return 0;
  }

  #give(cell: number): number {
    this.#next += 16;
    this.#set(cell, this.#next);
    return 0;
  }

  #allocate(cell: number, bytes: number): number {
    if (this.live + this.pooled + bytes > this.capacity) return OUT_OF_MEMORY;
    const memory = new Uint8Array(new ArrayBuffer(Math.max(bytes, 128)), 0, bytes);
    const address = Number(this.ffi.address(memory));
    this.#memory.set(address, memory);
    this.#set(cell, address);
    return 0;
  }

  #enqueue(stream: number, run: () => void, kind = 'work'): number {
    if (this.#gone.has(stream)) return INVALID_HANDLE;
    const capture = this.#captures.get(stream);
    if (capture !== undefined) {
      const place = capture.work.push({ stream, kind, run }) - 1;
      this.#after.get(capture)?.push([...(capture.streams.get(stream) ?? [])]);
      capture.streams.set(stream, new Set([place]));
      return 0;
    }
    this.#work.push({ stream, run, done: false });
    return 0;
  }

  /** Work of a library on top of the API; captured where the stream is. */
  work(stream: number, kind: string, run: () => void): number {
    return this.#enqueue(stream, run, kind);
  }

  /** Does a piece of work, and before it all that it must come after. */
  #do(index: number): void {
    const work = this.#work[index];
    if (work === undefined || work.done) return;
    work.done = true;
    for (let k = 0; k < index; k++) {
      const other = this.#work[k];
      // Streams wait for the default stream, and it for them.
      if (other?.stream === work.stream || other?.stream === 0 || work.stream === 0) this.#do(k);
    }
    work.run();
  }

  #drain(stream: number): number {
    if (this.#captures.has(stream)) return CAPTURE_UNSUPPORTED;
    for (let k = 0; k < this.#work.length; k++) if (stream === 0 || this.#work[k]?.stream === stream) this.#do(k);
    return 0;
  }

  #busy(stream: number): boolean {
    return this.#work.some((work) => !work.done && (stream === 0 || work.stream === stream));
  }

  #move(target: number, source: number, bytes: number): void {
    this.bytesAt(target, bytes).set(this.bytesAt(source, bytes));
  }

  #launch(handle: number, stream: number, extra: number): number {
    const name = this.#modules.get(handle) ?? '';
    const words = new BigUint64Array(this.ffi.view(extra, 40));
    const size = Number(new BigUint64Array(this.ffi.view(Number(words[3]), 8))[0]);
    const params = this.bytesAt(Number(words[1]), size).slice();
    return this.#enqueue(stream, () => this.kernels.get(name)?.(new DataView(params.buffer)), name);
  }

  #endCapture(stream: number, cell: number): number {
    const capture = this.#captures.get(stream);
    if (capture === undefined || capture.origin !== stream) return INVALID_HANDLE;
    const joined = capture.streams.get(stream) ?? new Set();
    const after = this.#after.get(capture) ?? [];
    const reached = new Set<number>();
    const reach = (place: number): void => {
      if (reached.has(place)) return;
      reached.add(place);
      for (const before of after[place] ?? []) reach(before);
    };
    for (const place of joined) reach(place);
    for (const each of capture.streams.keys()) this.#captures.delete(each);
    if (reached.size < capture.work.length) return CAPTURE_UNJOINED;
    this.#give(cell);
    const { work } = capture;
    const kinds = work.map(({ kind }) => kind).join();
    this.graphs.set(this.#next, { kinds, runs: work.map(({ run }) => run), after });
    return 0;
  }

  #wait(stream: number, event: number): number {
    const mark = this.#marks.get(event);
    if (mark !== undefined) {
      const { capture, places } = mark;
      const known = capture.streams.get(stream);
      capture.streams.set(stream, new Set([...(known ?? []), ...places]));
      this.#captures.set(stream, capture);
      return 0;
    }
    const at = this.#events.get(event);
    return at === undefined ? 0 : this.#enqueue(stream, () => this.#do(at));
  }

  #graphFunctions(): Readonly<Record<string, (...args: never[]) => number>> {
    return {
      cuStreamBeginCapture: (stream: number) => {
        const capture: Capture = { origin: stream, work: [], streams: new Map([[stream, new Set()]]) };
        this.#captures.set(stream, capture);
        this.#after.set(capture, []);
        return 0;
      },
      cuStreamEndCapture: (stream: number, cell: number) => this.#endCapture(stream, cell),
      cuGraphInstantiate: (cell: number, graph: number) => {
        const made = this.graphs.get(graph);
        if (made === undefined) return INVALID_HANDLE;
        this.#give(cell);
        this.instances.set(this.#next, made);
        return 0;
      },
      cuGraphExecUpdate: (instance: number, graph: number) => {
        const [old, made] = [this.instances.get(instance), this.graphs.get(graph)];
        if (old === undefined || made === undefined) return INVALID_HANDLE;
        if (old.kinds !== made.kinds) return UPDATE_FAILED;
        this.instances.set(instance, made);
        return 0;
      },
      cuGraphLaunch: (instance: number, stream: number) => {
        const made = this.instances.get(instance);
        if (made === undefined) return INVALID_HANDLE;
        return this.#enqueue(stream, () => {
          for (const run of made.runs) run();
        });
      },
      cuGraphDestroy: (graph: number) => (this.graphs.delete(graph) ? 0 : INVALID_HANDLE),
      cuGraphExecDestroy: (instance: number) => (this.instances.delete(instance) ? 0 : INVALID_HANDLE),
    };
  }

  #functions(): Readonly<Record<string, (...args: never[]) => number>> {
    const record = (event: number, stream: number): number => {
      const capture = this.#captures.get(stream);
      this.#marks.delete(event);
      if (capture !== undefined) {
        this.#marks.set(event, { capture, places: new Set(capture.streams.get(stream)) });
        return 0;
      }
      this.#enqueue(stream, () => undefined);
      this.#events.set(event, this.#work.length - 1);
      return 0;
    };
    return {
      ...this.#graphFunctions(),
      cuDevicePrimaryCtxRetain: (cell: number) => this.#give(cell),
      cuDeviceGetDefaultMemPool: (cell: number) => this.#give(cell),
      cuMemPoolGetAttribute: (_pool: number, which: number, cell: number) => {
        this.#set(cell, which === 5 ? this.live + this.pooled : this.live);
        return 0;
      },
      cuMemPoolTrimTo: () => {
        this.pooled = 0;
        return 0;
      },
      cuMemGetInfo: (free: number, total: number) => {
        this.#set(free, this.capacity - this.live - this.pooled);
        this.#set(total, this.capacity);
        return 0;
      },
      cuMemAlloc: (cell: number, bytes: number) => this.#allocate(cell, bytes),
      cuMemAllocAsync: (cell: number, bytes: number) => this.#allocate(cell, bytes),
      cuMemHostAlloc: (cell: number, bytes: number) => this.#allocate(cell, bytes),
      cuMemAllocManaged: (cell: number, bytes: number) => this.#allocate(cell, bytes),
      cuMemHostGetDevicePointer: (cell: number, address: number) => {
        this.#set(cell, address);
        return 0;
      },
      cuMemFreeHost: (address: number) => (this.#memory.delete(address) ? 0 : 1),
      cuMemFree: (address: number) => (this.#memory.delete(address) ? 0 : 1),
      cuMemFreeAsync: (address: number, stream: number) =>
        this.#enqueue(stream, () => void this.#memory.delete(address)),
      cuMemcpyHtoD: (target: number, source: Uint8Array, bytes: number) => {
        this.#drain(0);
        this.bytesAt(target, bytes).set(source.subarray(0, bytes));
        return 0;
      },
      cuMemcpyHtoDAsync: (target: number, source: Uint8Array, bytes: number, stream: number) =>
        this.#enqueue(stream, () => this.bytesAt(target, bytes).set(source.subarray(0, bytes))),
      cuMemcpyDtoH: (target: Uint8Array, source: number, bytes: number) => {
        this.#drain(0);
        this.#move(Number(this.ffi.address(target)), source, bytes);
        return 0;
      },
      cuMemcpyDtoHAsync: (target: Uint8Array, source: number, bytes: number, stream: number) =>
        this.#enqueue(stream, () => this.#move(Number(this.ffi.address(target)), source, bytes)),
      cuMemcpyDtoDAsync: (target: number, source: number, bytes: number, stream: number) =>
        this.#enqueue(stream, () => this.#move(target, source, bytes)),
      cuMemsetD8Async: (address: number, value: number, bytes: number, stream: number) =>
        this.#enqueue(stream, () => void this.bytesAt(address, bytes).fill(value)),
      cuStreamCreate: (cell: number) => this.#give(cell),
      cuStreamCreateWithPriority: (cell: number, _flags: number, priority: number) => {
        this.priorities.push(priority);
        return this.#give(cell);
      },
      cuCtxGetStreamPriorityRange: (_least: number, greatest: number) => this.#int(greatest, -5),
      cuStreamDestroy: (stream: number) => {
        this.#gone.add(stream);
        return 0;
      },
      cuStreamSynchronize: (stream: number) => this.#drain(stream),
      cuCtxSynchronize: () => this.#drain(0),
      cuStreamQuery: (stream: number) =>
        this.#captures.has(stream) ? CAPTURE_UNSUPPORTED : this.#busy(stream) ? NOT_READY : 0,
      cuStreamWaitEvent: (stream: number, event: number) => this.#wait(stream, event),
      cuEventCreate: (cell: number) => this.#give(cell),
      cuEventRecord: record,
      cuEventQuery: (event: number) => (this.#work[this.#events.get(event) ?? -1]?.done === false ? NOT_READY : 0),
      cuEventSynchronize: (event: number) => {
        this.#do(this.#events.get(event) ?? -1);
        return 0;
      },
      cuEventElapsedTime: (cell: number) => {
        this.#now += 0.5;
        new Float32Array(this.ffi.view(cell, 4))[0] = this.#now;
        return 0;
      },
      cuModuleLoadDataEx: (cell: number, text: Uint8Array) => {
        this.#give(cell);
        this.#modules.set(this.#next, textOf(text));
        this.loaded.push(textOf(text));
        return 0;
      },
      // Machine code is the text as it is.
      cuLinkCreate: (_count: number, _options: number, _values: number, cell: number) => this.#give(cell),
      cuLinkAddData: (state: number, type: number, text: Uint8Array) => {
        this.linkInputs.push([type, Buffer.from(text).toString('latin1')]);
        if (!this.#linked.has(state)) this.#linked.set(state, text.slice());
        return 0;
      },
      cuLinkComplete: (state: number, cell: number, size: number) => {
        const code = this.#linked.get(state) ?? new Uint8Array();
        const memory = new Uint8Array(new ArrayBuffer(Math.max(code.length, 128)));
        memory.set(code);
        this.#linked.set(state, memory);
        this.#set(cell, Number(this.ffi.address(memory)));
        this.#set(size, code.length);
        return 0;
      },
      cuLinkDestroy: (state: number) => (this.#linked.delete(state) ? 0 : INVALID_HANDLE),
      cuModuleGetFunction: (cell: number, module: number) => {
        this.#set(cell, module);
        return 0;
      },
      cuModuleGetGlobal: (cell: number, size: number, module: number, symbol: Uint8Array) => {
        const key = `${this.#modules.get(module)}/${textOf(symbol)}`;
        const bytes = new Uint8Array(new ArrayBuffer(2 ** 20));
        const address = Number(this.ffi.address(bytes));
        this.#memory.set(-address, bytes.subarray(0, 0));
        this.#globals.set(key, address);
        this.#set(cell, address);
        this.#set(size, bytes.length);
        return 0;
      },
      cuFuncGetAttribute: (cell: number, which: number) => this.#int(cell, which === 0 ? 1024 : which === 1 ? 16 : 0),
      cuLaunchKernel: (
        handle: number,
        _gx: number,
        _gy: number,
        _gz: number,
        _bx: number,
        _by: number,
        _bz: number,
        _shared: number,
        stream: number,
        _params: number,
        extra: number,
      ) => this.#launch(handle, stream, extra),
    };
  }
}
