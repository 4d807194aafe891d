/**
 * The soak's world: arrays, views and streams that come, are used and go at random, each result compared with the model.
 *
 * Every operation names its stream; memory that changes streams is ordered by an event, as a program would do it.
 */
import { cuda, type DeviceNDArray, f64, i32, NDArray, ndarray, scope, u8, type Vec } from '../../src/index.ts';
import { assign, expected, type Held, type Memory, randomView } from './model.ts';
import { Random } from './random.ts';

type Stream = ReturnType<typeof cuda.stream>;
const TYPES = { i32, f64, u8 } as const;
/** No more arrays and views than this are held. */
const MOST = 60;
const STREAMS = 4;

const addI32 = cuda.jit((a: Vec<i32>, value: number) => {
  const k = cuda.grid(1);
  if (k < a.length) a[k] = a[k] + value;
});
const addF64 = cuda.jit((a: Vec<f64>, value: number) => {
  const k = cuda.grid(1);
  if (k < a.length) a[k] = a[k] + value;
});

/** The array without the stream that it was made on, which may be gone before it. */
function unbound(array: DeviceNDArray<number>): DeviceNDArray<number> {
  const free = array.bind();
  array.dispose();
  return free;
}

interface Check {
  readonly what: string;
  readonly result: unknown;
  readonly expected: Float64Array;
}

export class World {
  readonly random: Random;
  operations = 0;
  checks = 0;
  readonly counts: Record<string, number> = {};
  #held: Held[] = [];
  readonly #streams: Stream[];
  /** Results that are there once a stream was synchronised. */
  readonly #pending: Check[][] = Array.from({ length: STREAMS }, () => []);
  #deferral: { dispose(): void } | undefined;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.#streams = [cuda.defaultStream(), ...Array.from({ length: STREAMS - 1 }, () => cuda.stream())];
  }

  /** One random operation, unless it is one of `without`; a promise for those that wait without blocking. */
  step(without: readonly string[] = []): Promise<void> | undefined {
    const [name, run] = this.random.pick(OPERATIONS) as Operation;
    if (without.includes(name)) return undefined;
    this.operations++;
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    return run(this) ?? undefined;
  }

  /** Waits for everything, checks it, and disposes all there is. */
  finish(): void {
    this.#deferral?.dispose();
    this.#deferral = undefined;
    for (let k = 0; k < STREAMS; k++) this.synchronize(k);
    for (const held of this.#held) held.array.dispose();
    this.#held = [];
    for (const stream of this.#streams.slice(1)) stream.dispose();
    const context = cuda.currentContext();
    context.deallocations.clear();
    context.resourceDeallocations.clear();
  }

  synchronize(number: number): void {
    this.#streams[number]?.synchronize();
    for (const check of this.#pending[number]?.splice(0) ?? []) this.#compare(check);
  }

  #compare({ what, result, expected: right }: Check): void {
    this.checks++;
    const list = result instanceof NDArray ? result.toArray() : [...(result as Float64Array)];
    const flat = (Array.isArray(list) ? list.flat(Number.POSITIVE_INFINITY) : [list]) as number[];
    if (flat.length !== right.length) throw new Error(`${what}: ${flat.length} elements, not ${right.length}`);
    for (let k = 0; k < right.length; k++) {
      if (flat[k] !== right[k]) {
        throw new Error(`operation ${this.operations}, ${what}: element ${k} is ${flat[k]}, not ${right[k]}`);
      }
    }
  }

  pickHeld(): Held | undefined {
    return this.random.pick(this.#held);
  }

  /** A stream for an operation on some memory, behind all that was done with it before. */
  streamFor(...memories: Memory[]): [stream: Stream, number: number] {
    const number = this.random.below(STREAMS);
    const stream = this.#streams[number] as Stream;
    for (const memory of memories) {
      if (memory.stream === number) continue;
      const event = cuda.event();
      event.record(this.#streams[memory.stream] as Stream);
      event.wait(stream);
      event.dispose();
      memory.stream = number;
    }
    return [stream, number];
  }

  values(type: Memory['type'], size: number): Float64Array {
    const span = type === 'u8' ? 256 : 1_000_000;
    return Float64Array.from({ length: size }, () => this.random.below(span));
  }

  host(type: Memory['type'], values: Float64Array, shape: readonly number[]): NDArray<number> {
    const order = this.random.below(2) === 0 ? 'C' : 'F';
    const array = ndarray.empty(shape, { dtype: TYPES[type], order }) as unknown as NDArray<number>;
    array.set(ndarray(values, { shape }));
    return array;
  }

  create(): void {
    const { random } = this;
    const shape = random.below(2) === 0 ? [1 + random.below(3000)] : [1 + random.below(60), 1 + random.below(60)];
    const size = shape.reduce((a, b) => a * b, 1);
    const type = random.pick(['i32', 'f64', 'u8'] as const) ?? 'i32';
    const values = this.values(type, size);
    const number = random.below(STREAMS);
    const stream = this.#streams[number] as Stream;
    const array = unbound(cuda.toDevice(this.host(type, values, shape), { stream }) as DeviceNDArray<number>);
    const memory = { values, type, stream: number };
    this.hold({ array, memory, shape, cells: Int32Array.from(values, (_, k) => k) });
  }

  hold(held: Held): void {
    this.#held.push(held);
    while (this.#held.length > MOST) this.remove()?.array.dispose();
  }

  /** Takes one out of the world. */
  remove(): Held | undefined {
    return this.#held.splice(this.random.below(this.#held.length), 1)[0];
  }

  view(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const view = randomView(this.random, held);
    if (view.cells.length > 0) this.hold(view);
    else view.array.dispose();
  }

  read(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const [stream, number] = this.streamFor(held.memory);
    const result = held.array.copyToHost({ stream });
    this.#pending[number]?.push({ what: 'copyToHost', result, expected: expected(held) });
    if (this.random.below(3) === 0) this.synchronize(number);
  }

  async readLater(): Promise<void> {
    const held = this.pickHeld();
    if (held === undefined) return;
    const [stream] = this.streamFor(held.memory);
    const right = expected(held);
    const result = await held.array.copyToHostAsync({ stream });
    this.#compare({ what: 'copyToHostAsync', result, expected: right });
  }

  readElement(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const [stream] = this.streamFor(held.memory);
    const at = this.random.below(held.cells.length);
    const columns = held.shape[1] ?? 1;
    const index = held.shape.length === 1 ? [at] : [Math.floor(at / columns), at % columns];
    const bound = held.array.bind(stream);
    const result = Float64Array.of(Number(bound.get(...index)));
    bound.dispose();
    this.#compare({ what: `get(${index})`, result, expected: expected(held).slice(at, at + 1) });
  }

  write(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const { memory, shape, cells, array } = held;
    const [stream] = this.streamFor(memory);
    const values = this.values(memory.type, cells.length);
    array.copyToDevice(this.host(memory.type, values, shape), { stream });
    assign(held, values);
  }

  fill(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const [stream] = this.streamFor(held.memory);
    const value = this.random.below(200);
    const bound = held.array.bind(stream);
    bound.set(value);
    bound.dispose();
    assign(held, new Float64Array(held.cells.length).fill(value));
  }

  copy(): void {
    const [to, from] = [this.pickHeld(), this.pickHeld()];
    if (to === undefined || from === undefined || to.memory.type !== from.memory.type) return;
    if (String(to.shape) !== String(from.shape)) return;
    const [stream] = this.streamFor(to.memory, from.memory);
    to.array.copyToDevice(from.array, { stream });
    assign(to, expected(from));
  }

  /** A copy of an array of the same kind, which is then disposed while it may still be used. */
  duplicate(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const [stream, number] = this.streamFor(held.memory);
    const values = expected(held);
    const array = unbound(cuda.deviceArrayLike(held.array, { stream }));
    array.copyToDevice(held.array, { stream });
    const memory = { values, type: held.memory.type, stream: number };
    const copy = { array, memory, shape: held.shape, cells: Int32Array.from(values, (_, k) => k) };
    if (this.random.below(2) === 0) return this.hold(copy);
    const result = array.copyToHost({ stream });
    this.#pending[number]?.push({ what: 'copyToHost of a copy', result, expected: values });
    array.dispose();
  }

  launch(): void {
    const held = this.pickHeld();
    if (held === undefined || held.shape.length !== 1 || held.memory.type === 'u8') return;
    const [stream] = this.streamFor(held.memory);
    const value = 1 + this.random.below(10);
    const kernel = held.memory.type === 'i32' ? addI32 : addF64;
    kernel.launch({ threads: held.cells.length, stream }, held.array as never, value);
    assign(
      held,
      expected(held).map((x) => x + value),
    );
  }

  /** Memory that nobody disposes: the collector's. */
  drop(): void {
    const large = cuda.deviceArray(1 + this.random.below(500_000), f64);
    large.slice('::2');
  }

  pinned(): void {
    const held = this.pickHeld();
    if (held === undefined) return;
    const { memory, shape, cells, array } = held;
    const values = this.values(memory.type, cells.length);
    const host = cuda.pinnedArray(shape, TYPES[memory.type]);
    host.set(ndarray(values, { shape }));
    const [stream] = this.streamFor(memory);
    array.copyToDevice(host, { stream });
    host.dispose();
    assign(held, values);
  }

  temporary(): void {
    const sum = scope(() => {
      const a = cuda.toDevice(Float64Array.of(1, 2, 3));
      const b = cuda.deviceArrayLike(a);
      b.set(a.slice('::-1'));
      addF64.launch({ threads: 3 }, b, 1);
      return b.get(0) + b.get(2);
    });
    this.#compare({ what: 'a scope', result: [sum], expected: Float64Array.of(6) });
  }

  renewStream(): void {
    const number = 1 + this.random.below(STREAMS - 1);
    // Its work goes on; what waits for it is checked behind an event.
    if (this.random.below(2) === 0) this.synchronize(number);
    const old = this.#streams[number] as Stream;
    const fresh = cuda.stream();
    const event = cuda.event();
    event.record(old);
    event.wait(fresh);
    event.dispose();
    old.dispose();
    this.#streams[number] = fresh;
  }

  defer(): void {
    if (this.#deferral === undefined) this.#deferral = cuda.deferCleanup();
    else {
      this.#deferral.dispose();
      this.#deferral = undefined;
    }
  }
}

type Operation = readonly [name: string, run: (world: World) => void | Promise<void>];

/** How often each comes is how often it stands here. */
const OPERATIONS: readonly Operation[] = (
  [
    [4, 'create', (w) => w.create()],
    [6, 'view', (w) => w.view()],
    [6, 'dispose', (w) => w.remove()?.array.dispose()],
    [1, 'forget', (w) => void w.remove()],
    [1, 'drop', (w) => w.drop()],
    [5, 'copyToHost', (w) => w.read()],
    [2, 'copyToHostAsync', (w) => w.readLater()],
    [3, 'get', (w) => w.readElement()],
    [5, 'copyToDevice', (w) => w.write()],
    [4, 'set', (w) => w.fill()],
    [5, 'device copy', (w) => w.copy()],
    [4, 'duplicate', (w) => w.duplicate()],
    [6, 'launch', (w) => w.launch()],
    [1, 'pinned', (w) => w.pinned()],
    [1, 'scope', (w) => w.temporary()],
    [1, 'stream', (w) => w.renewStream()],
    [1, 'deferCleanup', (w) => w.defer()],
  ] satisfies readonly (readonly [number, string, Operation[1]])[]
).flatMap(([times, name, run]) => Array.from({ length: times }, () => [name, run] as const));
