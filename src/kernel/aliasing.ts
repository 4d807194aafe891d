/**
 * The proof that arrays which a kernel only reads share no memory with those that it writes, made anew for each launch.
 *
 * GPUs load what nobody writes through a cache that stores do not reach, and the loads of one pass may be kept for the next:
 * the driver is told (`LaunchShape.aliased`) when that would be wrong. Ranges of addresses are compared, so that arrays over
 * the same foreign memory count as well. Interleaved views, as of even and odd elements, count as overlapping.
 */
import type { Kernel } from '../compiler/ir/ops.ts';
import { eachStmt, written } from '../compiler/ir/passes/walk.ts';

/** The bytes that the array arguments of one specialisation touch. */
export class Aliasing {
  /** Of each parameter that is an array's address: its first byte, and the byte past its last. */
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  /** Numbers of parameters in pairs: one that is only read, one that is written. */
  readonly #pairs: readonly number[];

  /** Pairs of parameters that must not overlap. */
  readonly #apart: readonly (readonly [number, number])[];

  constructor({ params, body }: Kernel, apart: readonly (readonly [number, number])[] = []) {
    this.#starts = new Float64Array(params.length);
    this.#ends = new Float64Array(params.length);
    this.#pairs = pairsOf(params, body);
    this.#apart = apart;
  }

  /** Whether there is anything to prove. */
  get matters(): boolean {
    return this.#pairs.length > 0 || this.#apart.length > 0;
  }

  /** Notes where an array lies. Allocates nothing. */
  note(param: number, array: Placed, itemSize: number): void {
    const { pointer, shape, strides } = array;
    let start = pointer;
    let end = pointer + itemSize;
    for (let axis = 0; axis < shape.length; axis++) {
      const length = shape[axis] as number;
      if (length === 0) end = Number.NEGATIVE_INFINITY;
      const reach = (length - 1) * (strides[axis] as number);
      if (reach < 0) start += reach;
      else end += reach;
    }
    this.#starts[param] = start;
    this.#ends[param] = end;
  }

  /** Whether an array that is only read overlaps one that is written, as they were noted last. */
  found(): boolean {
    const pairs = this.#pairs;
    for (let k = 0; k < pairs.length; k += 2) {
      if (this.#overlap(pairs[k] as number, pairs[k + 1] as number)) return true;
    }
    return false;
  }

  /** Two arrays that overlap although the kernel was compiled for such as do not. */
  clash(): readonly [number, number] | undefined {
    for (let k = 0; k < this.#apart.length; k++) {
      const pair = this.#apart[k] as readonly [number, number];
      if (this.#overlap(pair[0], pair[1])) return pair;
    }
    return undefined;
  }

  #overlap(a: number, b: number): boolean {
    const starts = this.#starts;
    const ends = this.#ends;
    return (starts[a] as number) < (ends[b] as number) && (starts[b] as number) < (ends[a] as number);
  }
}

/** What is asked of an array: the address of its first element, and where the others lie. */
interface Placed {
  readonly pointer: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

function pairsOf(params: Kernel['params'], body: Kernel['body']): readonly number[] {
  const stored = new Set<number>();
  eachStmt(body, (s) => {
    const param = written(s)?.array.param;
    if (param !== undefined) stored.add(param);
  });
  const pointers = params.filter(({ type }) => type === 'ptr').map(({ index }) => index);
  const read = pointers.filter((index) => !stored.has(index));
  return read.flatMap((index) => [...stored].flatMap((other) => [index, other]));
}
