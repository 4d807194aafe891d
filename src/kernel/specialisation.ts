/**
 * One kernel compiled for one combination of argument types, index width and device: loaded, and ready to be launched.
 */

import type { ArrayMemory } from '../array/array-memory.ts';
import { memoryIn } from '../array/device-array.ts';
import type { ArgType, CompiledKernel, CompileOptions } from '../compiler/contract.ts';
import type { Dim3, Executable, PendingLaunch, StreamHandle } from '../driver/driver.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { blocking } from '../memory/blocking.ts';
import type { Context } from '../memory/context.ts';
import { type Kept, type Recording, recording, unrecordable } from '../memory/recording.ts';
import type { Resource } from '../memory/resources.ts';
import { type Enqueuing, observing } from '../profile/observing.ts';
import type { Stream } from '../stream/stream.ts';
import { waitWithin } from './async-launch.ts';
import { defaultBlock, showDim } from './dims.ts';
import { type CheckedShape, withBlock } from './launch-shape.ts';
import { Marshaller } from './marshal.ts';
import type { KernelName } from './naming.ts';
import { showSignature } from './type-text.ts';

/** A captured device array, and the parameter that takes its address. */
interface CapturedPointer {
  readonly array: ArrayMemory;
  readonly param: number;
}

/** A compiled and loaded kernel. Dies with its context. */
export class Specialisation implements Resource, Kept {
  readonly context: Context;
  /** `context.epoch` when it was loaded: a reset of the context unloads it. */
  readonly epoch: number;
  readonly types: readonly ArgType[];
  readonly compiled: CompiledKernel;
  readonly options: CompileOptions;
  readonly executable: Executable;
  readonly marshaller: Marshaller;
  /** Paths of the array arguments that the kernel writes, as strings: `'0'`, `'2,1'`. */
  readonly written: ReadonlySet<string>;
  readonly #name: KernelName;
  readonly #captured: readonly CapturedPointer[];
  launches = 0;
  /** The version of the arguments for which it is known what overlaps, and that. */
  #proven = -1;
  #aliased = false;
  /** How many graphs have it, which launch the loaded code. */
  #graphs = 0;
  #destroyed = false;
  /** The block that the driver suggested last. */
  #suggestion: { readonly sharedBytes: number; readonly threads: number } | undefined = undefined;
  /** The last shape whose block was Tsamba's to choose, and what became of it. */
  #chosen: { readonly from: CheckedShape; readonly to: CheckedShape } | undefined = undefined;

  constructor(
    name: KernelName,
    context: Context,
    types: readonly ArgType[],
    compiled: CompiledKernel,
    options: CompileOptions,
    executable: Executable,
    stated: boolean,
  ) {
    this.#name = name;
    this.context = context;
    this.epoch = context.epoch;
    this.types = types;
    this.compiled = compiled;
    this.options = options;
    this.marshaller = new Marshaller(compiled, types, stated);
    this.written = new Set(compiled.written.map(String));
    this.#captured = capturedPointers(compiled);
    this.executable = executable;
    context.adopt(this);
  }

  /** `scale(f32[::1], number)`. */
  get signature(): string {
    return showSignature(this.types).replace(/^void/, this.#name.text);
  }

  get indexBits(): 32 | 64 {
    return this.options.indexBits;
  }

  /** Whether a reset of the context has unloaded it. */
  get stale(): boolean {
    return this.epoch !== this.context.epoch || this.context.closed;
  }

  /** The last checks, which need the compiled kernel; then enqueues the launch with the values that the marshaller holds. */
  launch(asked: CheckedShape, stream: Stream | undefined): void {
    const shape = this.#ready(asked, stream);
    const { executable, marshaller, context } = this;
    if (recording.current !== undefined) return this.#record(recording.current, shape, stream);
    if (shape.timeout > 0)
      blocking(context.driver, 'launch with a timeout', () => `await ${this.#name.text}.launchAsync(…)`);
    const on = stream === undefined ? undefined : stream.use();
    const observer = observing.current;
    if (observer === undefined) executable.launch(shape, marshaller.values, on);
    else observer.enqueue(this.#doing(shape, on), () => executable.launch(shape, marshaller.values, on));
    this.launches++;
    if (shape.timeout > 0 && !context.info.features.stopsKernels) {
      waitWithin({ name: this.#name.text }, shape, { context, stream });
    }
  }

  #record(graph: Recording, { grid, block, sharedBytes, aliased, timeout }: CheckedShape, stream?: Stream): void {
    if (timeout > 0) {
      const instead = 'leave the timeout out';
      throw graph.fail(unrecordable(`the launch of ${this.#name.text}`, 'its timeout would wait for it', instead));
    }
    graph.keep(this);
    // The caller fills the same objects again for the next launch.
    const shape = { grid: copyOf(grid), block: copyOf(block), sharedBytes, aliased };
    graph.record(
      { kind: 'launch', executable: this.executable, shape, args: [...this.marshaller.values] },
      stream?.use(),
    );
  }

  /** Makes what a launch of this shape needs. Throws MissingPart where a page has not loaded what makes it. */
  prepare(asked: CheckedShape): true {
    this.executable.prepare?.(asked.chosenFor === 0 ? asked : this.#choose(asked));
    return true;
  }

  /** As `launch`, without blocking; undefined where a launch is only enqueued. */
  launchLater(
    asked: CheckedShape,
    stream: Stream,
    onProgress: ((done: number) => void) | undefined,
  ): PendingLaunch | undefined {
    const shape = this.#ready(asked, stream);
    const { executable, marshaller } = this;
    const on = stream.use();
    const enqueue = (): PendingLaunch | undefined => {
      const pending = executable.launchLater?.(shape, marshaller.values, on, onProgress);
      if (pending === undefined) executable.launch(shape, marshaller.values, on);
      return pending;
    };
    const observer = observing.current;
    const pending = observer === undefined ? enqueue() : observer.enqueue(this.#doing(shape, on), enqueue);
    this.launches++;
    return pending;
  }

  /** What a launch is for who looks. */
  #doing({ grid, block, sharedBytes }: CheckedShape, stream: StreamHandle | undefined): Enqueuing {
    // The caller fills the same objects again for the next launch.
    const detail = { grid: copyOf(grid), block: copyOf(block), ...(sharedBytes > 0 ? { sharedBytes } : {}) };
    return { kind: 'launch', name: this.#name.text, context: this.context, stream, detail };
  }

  /** The shape to launch with, and all values of parameters in place. */
  #ready(asked: CheckedShape, stream: Stream | undefined): CheckedShape {
    const { context, executable, marshaller } = this;
    if (context.turns.waiting > 0) context.turns.check(`this launch of ${this.#name.text}`);
    const { attributes } = executable;
    const { aliasing } = marshaller;
    const shape = asked.chosenFor === 0 ? asked : this.#choose(asked);
    if (shape.blockSize > attributes.maxThreadsPerBlock) this.#failBlock(shape);
    if (shape.sharedBytes > 0 || attributes.sharedBytes > 0) this.#checkShared(shape);
    const captured = this.#captured;
    for (let i = 0; i < captured.length; i++) {
      const { array, param } = captured[i] as CapturedPointer;
      array.checkUsable();
      if (array.context !== context && !array.context.isWith(context)) this.#failContext(array);
      marshaller.put(param, array.pointer);
      if (aliasing.matters) aliasing.note(param, array, array.itemSize);
      if (stream !== undefined || recording.current !== undefined) array.owner.touch(stream);
    }
    const { version } = marshaller;
    if (version !== this.#proven) this.#prove(version);
    shape.aliased = this.#aliased;
    shape.argsVersion = version;
    if (context.beforeLaunch !== undefined) context.beforeLaunch();
    return shape;
  }

  /** Finds out anew what overlaps: some argument is another one. */
  #prove(version: number): void {
    const { aliasing } = this.marshaller;
    this.#aliased = aliasing.matters && aliasing.found();
    const clash = aliasing.clash();
    if (clash !== undefined) this.#failAliased(clash);
    this.#proven = version;
  }

  /** The block that suits the compiled kernel, where Tsamba chooses it. */
  #choose(asked: CheckedShape): CheckedShape {
    if (this.#chosen?.from !== asked) this.#chosen = { from: asked, to: this.#fit(asked) };
    return this.#chosen.to;
  }

  #fit(asked: CheckedShape): CheckedShape {
    const { executable, context } = this;
    const { warpSize } = context.info.limits;
    const most = executable.attributes.maxThreadsPerBlock;
    const usual = defaultBlock(asked.chosenFor, Math.min(most, asked.blockSize), warpSize);
    if (asked.chosenFor > 1) return asked.blockSize > most ? withBlock(asked, usual) : asked;
    return withBlock(asked, [this.#blockFor(asked.sharedBytes, usual[0], most), 1, 1]);
  }

  /** Threads of a block along one axis. Asking the driver takes microseconds: the last answer is kept. */
  #blockFor(sharedBytes: number, usual: number, most: number): number {
    const known = this.#suggestion;
    if (known?.sharedBytes === sharedBytes) return known.threads;
    const { executable } = this;
    const suggested = executable.suggestBlock(sharedBytes, most);
    // The calculator gives the largest block of those that keep the device equally busy; small ones finish more evenly.
    const busy = (block: number): number => block * executable.activeBlocks(block, sharedBytes);
    const threads = suggested > usual && busy(suggested) > busy(usual) ? suggested : usual;
    this.#suggestion = { sharedBytes, threads };
    return threads;
  }

  #checkShared(shape: CheckedShape): void {
    const { sharedBytes } = this.executable.attributes;
    const { info } = this.context;
    const limit = info.limits.maxSharedBytesPerBlock;
    if (sharedBytes + shape.sharedBytes <= limit) return;
    const more = shape.sharedBytes > 0 ? ` and asks for ${shape.sharedBytes} more (sharedBytes)` : '';
    throw new TsambaRangeError(
      'E_LAUNCH_LIMIT',
      `${this.#name.text} has ${sharedBytes} bytes of static shared memory${more}: ${info.name} has ${limit} for a block; make them smaller`,
    );
  }

  #failBlock(shape: CheckedShape): never {
    const { maxThreadsPerBlock, localBytes } = this.executable.attributes;
    const local = localBytes > 0 ? `, each with ${localBytes} bytes of local memory` : '';
    throw new TsambaRangeError(
      'E_LAUNCH_LIMIT',
      `block ${showDim(shape.block)} has ${shape.blockSize} threads${local}, ${this.#name.text} can run at most ${maxThreadsPerBlock} in a block on ${this.context.info.name}: make the block ${local === '' ? '' : 'or the local arrays '}smaller`,
    );
  }

  #failAliased([a, b]: readonly [number, number]): never {
    const { params } = this.compiled.kernel;
    const [p, q] = [params[a]?.name, params[b]?.name];
    throw new TsambaRangeError(
      'E_ALIASED',
      `${p} and ${q} overlap in memory in this launch of ${this.#name.text}, which goes on with a name for an element of one after it has assigned an element of the other: ` +
        `copy the element in the kernel, const t = { ...${q}[i] }, or pass arrays that do not overlap`,
    );
  }

  #failContext(array: ArrayMemory): never {
    const [there, here] = [array.context, this.context];
    throw new TsambaTypeError(
      'E_CONTEXT',
      `${this.#name.text} captured an array of ${there.place} and is launched on ${here.place}: pass the array as an argument instead`,
    );
  }

  /** One more graph launches the code. */
  retain(): void {
    this.#graphs++;
  }

  /** One graph fewer. */
  release(): void {
    this.#graphs--;
    if (this.#destroyed && this.#graphs === 0) this.executable.unload();
  }

  /** Code that graphs have is unloaded with the last of these. */
  destroy(): void {
    this.#destroyed = true;
    if (this.#graphs === 0) this.executable.unload();
  }
}

function copyOf([x, y, z]: Dim3): Dim3 {
  return [x, y, z];
}

function capturedPointers({ kernel, captured }: CompiledKernel): readonly CapturedPointer[] {
  const pointers: CapturedPointer[] = [];
  for (const { index, origin } of kernel.params) {
    if (origin.kind !== 'capturedBase') continue;
    const owner = captured[origin.capture]?.owner;
    const array = owner === undefined ? undefined : memoryIn(owner);
    if (array === undefined) throw new Error(`no captured array ${origin.capture}`);
    pointers.push({ array, param: index });
  }
  return pointers;
}
