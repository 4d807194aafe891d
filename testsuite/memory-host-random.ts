/**
 * Random copies, kernels, host writes and disposals of device, pinned, mapped and managed arrays on several streams, against a model of
 * what each must hold. For the chapter on host memory, and for soaks.
 */
import type { PinnedNDArray, Stream } from '../src/cuda/index.ts';
import { cuda, DeviceNDArray, i32, type NDArray, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';

type Kind = 'device' | 'pinned' | 'mapped' | 'managed';

/** An array with what it must hold, and the stream that the last work on it is on. */
interface Actor {
  readonly kind: Kind;
  readonly array: DeviceNDArray<i32, 1> | PinnedNDArray<i32, 1>;
  readonly model: Int32Array;
  stream: Stream;
}

/** Random copies, kernels, writes of the host and disposals; nothing waits but where a program would have to. */
export class RandomPlay {
  readonly #streams = [cuda.stream(), cuda.stream(), cuda.stream()];
  readonly #actors: Actor[] = [];
  readonly #n = 1000;
  readonly #add = cuda.jit((a: Vec<i32>, k: number) => {
    const i = cuda.grid(1);
    if (i < a.length) a[i] = a[i] + i32(k) + i;
  });
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  #random(below: number): number {
    this.#seed = (Math.imul(this.#seed, 1103515245) + 12345) >>> 0;
    return (this.#seed >>> 8) % below;
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random(from.length)] as T;
  }

  run(steps: number): void {
    for (let k = 0; k < steps; k++) this.#step(k);
    for (const actor of this.#actors.splice(0)) this.#check(actor);
    for (const stream of this.#streams) stream.dispose();
  }

  #step(k: number): void {
    if (this.#actors.length < 3) return this.#make();
    switch (this.#random(8)) {
      case 0:
        return this.#actors.length < 8 ? this.#make() : this.#leave();
      case 1:
        return this.#leave();
      case 2:
        return this.#check(this.#pick(this.#actors));
      case 3:
        return this.#write(this.#pick(this.#actors), k);
      case 4:
        return this.#launch(this.#pick(this.#actors), k);
      default:
        return this.#copy(this.#pick(this.#actors), this.#pick(this.#actors));
    }
  }

  #make(): void {
    const kind = this.#pick<Kind>(['device', 'pinned', 'mapped', 'managed']);
    const make = {
      device: cuda.deviceArray,
      pinned: cuda.pinnedArray,
      mapped: cuda.mappedArray,
      managed: cuda.managedArray,
    };
    const array = make[kind](this.#n, i32) as Actor['array'];
    const actor = { kind, array, model: new Int32Array(this.#n), stream: this.#pick(this.#streams) };
    this.#actors.push(actor);
    this.#write(actor, 1);
  }

  /** Disposes one whatever is still being done with it. */
  #leave(): void {
    const [actor] = this.#actors.splice(this.#random(this.#actors.length), 1);
    actor?.array.dispose();
    if (this.#random(3) === 0) cuda.currentContext().deallocations.clear();
  }

  #check({ array, model, stream, kind }: Actor): void {
    stream.synchronize();
    sameElements(kind === 'device' ? (array as DeviceNDArray<i32, 1>).copyToHost() : (array as NDArray), model, kind);
  }

  #write(actor: Actor, k: number): void {
    actor.stream.synchronize();
    actor.model.forEach((_, i) => {
      actor.model[i] = i * k;
    });
    if (actor.array instanceof DeviceNDArray) actor.array.copyToDevice(actor.model);
    else actor.array.set(actor.model);
  }

  #launch(actor: Actor, k: number): void {
    // To a kernel a pinned array is a host array, which is copied back when the launch returns only without a stream.
    if (actor.kind === 'pinned') return;
    this.#add.launch({ threads: this.#n, stream: actor.stream }, actor.array, k);
    actor.model.forEach((x, i) => {
      actor.model[i] = x + k + i;
    });
  }

  /** On the target's stream, after what the source's has. */
  #copy(from: Actor, to: Actor): void {
    if (from === to) return;
    if (from.stream !== to.stream) from.stream.synchronize();
    const { stream } = to;
    const target = deviceOf(to);
    const source = deviceOf(from);
    if (target !== undefined) target.copyToDevice(from.array, { stream });
    else if (source !== undefined) source.copyToHost(to.array as NDArray<i32>, { stream });
    else return;
    to.model.set(from.model);
    // The source is read on the target's stream: what is done with it next must come after that.
    if (from.stream !== stream) stream.synchronize();
  }
}

function deviceOf({ array }: Actor): DeviceNDArray<i32, 1> | undefined {
  if (array instanceof DeviceNDArray) return array;
  return array instanceof cuda.MappedNDArray ? (array.device as DeviceNDArray<i32, 1>) : undefined;
}
