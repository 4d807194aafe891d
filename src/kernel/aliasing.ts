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

  constructor({ params, body }: Kernel) {
    this.#starts = new Float64Array(params.length);
    this.#ends = new Float64Array(params.length);
    this.#pairs = pairsOf(params, body);
  }

  /** Whether there is anything to prove. */
  get matters(): boolean {
    return this.#pairs.length > 0;
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
    const starts = this.#starts;
    const ends = this.#ends;
    for (let k = 0; k < pairs.length; k += 2) {
      const read = pairs[k] as number;
      const other = pairs[k + 1] as number;
      if ((starts[read] as number) < (ends[other] as number) && (starts[other] as number) < (ends[read] as number)) {
        return true;
      }
    }
    return false;
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
