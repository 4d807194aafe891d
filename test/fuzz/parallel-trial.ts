/**
 * One random program of `tsamba/parallel`: what its calls are made with, how results are compared, and what it leaves behind.
 */
import { cuda, type DeviceNDArray } from '../../src/index.ts';
import { elementsOf } from '../../testsuite/assert.ts';
import { canWait, read } from '../../testsuite/waiting.ts';
import { type AnyArray, type Given, Inputs } from './parallel-inputs.ts';
import { type Kind, elementsOf as randomElements, show, type Value } from './parallel-kinds.ts';
import type { Random } from './random.ts';

/** Around warps, blocks, tiles, and the chunks of the CPU device. */
const EDGES = [0, 1, 2, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1024, 1025, 2048, 2049, 3073];
const LARGE = [4095, 4096, 4097, 6145, 8191, 8192, 8193, 12_289, 16_385, 20_001, 150_001];

type Callable = { (...args: never[]): unknown; readonly async?: unknown };

export class Trial {
  readonly r: Random;
  readonly inputs: Inputs;
  /** The greatest number of elements. */
  readonly most: number;
  readonly #notes: string[] = [];

  constructor(r: Random, most: number) {
    this.r = r;
    this.most = most;
    this.inputs = new Inputs(r);
  }

  /** How many elements an input has. */
  length(): number {
    const { r, most } = this;
    const length = r.weighted<() => number>([
      [4, () => r.pick(EDGES)],
      [3, () => r.below(300)],
      [1, () => r.below(5000)],
      [1, () => r.pick(LARGE)],
    ])();
    return length <= most ? length : length % (most + 1);
  }

  /** Of which kind the elements are. */
  kind(kinds: readonly Kind[]): Kind {
    return this.r.pick(kinds);
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  get text(): string {
    return this.#notes.join('\n');
  }

  /** What a function gives, by either of its forms. What it makes is kept. */
  async call<R>(fn: Callable, ...args: readonly unknown[]): Promise<R> {
    const waits = canWait(cuda.currentContext()) && this.r.chance(0.5);
    const form = (waits ? fn : fn.async) as (...given: readonly unknown[]) => unknown;
    const result = await form(...args);
    this.#keepAll(result);
    return result as R;
  }

  /** As `call`, with an array for the results at random: where it is read, beside it, or anywhere. */
  async into(
    fn: Callable,
    kind: Kind,
    given: Given | undefined,
    length: number,
    make: (more: object) => readonly unknown[],
  ): Promise<AnyArray> {
    const { r } = this;
    const own = given?.array;
    const fits = own !== undefined && given?.kind === kind && own.size === length;
    const out = r.chance(0.6) ? undefined : fits && r.chance(0.5) ? own : this.inputs.room(kind, length);
    this.note(`out: ${out === undefined ? 'none' : out === own ? 'what is read' : `strides ${out.strides}`}`);
    const result = await this.call<AnyArray>(fn, ...make(out === undefined ? {} : { out }));
    if (out !== undefined && result !== out) throw new Error('out was not given back');
    return result;
  }

  /** An input, described. */
  take(name: string, given: Given): Given {
    const some = given.values.slice(0, 40).map(show).join(' ');
    this.note(`${name}: ${given.values.length} of ${given.kind.name}, ${given.text}: ${some}`);
    return given;
  }

  any(name: string, kind: Kind, style: Parameters<Inputs['any']>[1], length: number, inRuns = false): Given {
    return this.take(name, this.inputs.any(kind, style, length, inRuns));
  }

  elements(kind: Kind, style: Parameters<Inputs['any']>[1], length: number, inRuns = false): Value[] {
    return randomElements(this.r, kind, style, length, inRuns);
  }

  /** Compares what an array holds. */
  async is(
    found: { readonly dtype: unknown },
    kind: Kind,
    expected: readonly (Value | undefined)[],
    what = 'result',
  ): Promise<void> {
    const array = found as DeviceNDArray;
    if (array.dtype.name !== kind.dtype.name) throw new Error(`${what} is of ${array.dtype.name}, not ${kind.name}`);
    const list = elementsOf((await read(array as never)) as never) as Value[];
    if (list.length !== expected.length) throw new Error(`${what} has ${list.length} elements, not ${expected.length}`);
    expected.forEach((value, k) => {
      // Results of segments without elements may be anything.
      if (value !== undefined) this.same(kind.family === 'bool' ? Boolean(list[k]) : list[k], value, `${what} ${k}`);
    });
  }

  /** Compares a value. */
  same(found: unknown, expected: unknown, what: string): void {
    if (!isSame(found, expected)) throw new Error(`${what} is ${show(found)}, not ${show(expected)}`);
  }

  dispose(): void {
    this.inputs.dispose();
  }

  #keepAll(result: unknown): void {
    if (typeof result !== 'object' || result === null) return;
    if ('dispose' in result) this.inputs.keep(result);
    else for (const one of Object.values(result)) this.#keepAll(one);
  }
}

function isSame(found: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return Object.is(found, expected);
  return Object.entries(expected).every(([name, v]) => {
    const other = (found as Readonly<Record<string, unknown>>)[name];
    // Which zero a product of complex numbers has depends on the order.
    return Object.is(other, v) || (v === 0 && other === 0);
  });
}
