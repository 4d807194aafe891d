/**
 * What a case of the CPU benchmark is: a kernel as one would write it for a GPU, the plain JavaScript and the C that one would write
 * instead, and the data that all of them work on. The cases are in `kernels/`, the C in `bench/peers/c`; `contest.ts` runs them.
 */
import { type NDArray, ndarray } from 'tsamba';

export type HostArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | BigInt64Array;

/** Of a launch: a number, or a host array (flat or shaped by `matrix`), in whose place its copy on the device is passed. */
export type Argument = number | HostArray | NDArray;

export interface Launch {
  // Kernels differ in their parameters; arguments are checked when they are launched.
  readonly kernel: (...args: never[]) => void;
  readonly threads?: number | readonly number[];
  readonly grid?: number | readonly number[];
  readonly block: number | readonly number[];
  readonly args: readonly Argument[];
}

export interface Contest {
  /** One after another. */
  readonly launches: readonly Launch[];
  readonly plain: () => void;
  /** A function of `bench/peers/c` and its arguments. */
  readonly c: readonly [name: string, ...args: (number | HostArray)[]];
  /** The arrays that hold the results afterwards. They are given their first values back before results are compared. */
  readonly results: readonly HostArray[];
  /** How far results may differ, relative to the larger of 1 and the value. Left out: not at all. */
  readonly tolerance?: number;
  /** The share of elements that may differ by more, where a comparison of rounded numbers decides about them. */
  readonly outliers?: number;
}

export interface Case {
  readonly name: string;
  /** What the data are, for the table. */
  readonly size: string;
  /** Makes the data. */
  setUp(): Contest;
}

/** The same numbers in [0, 1) for each seed. */
export function random(n: number, seed = 1): Float32Array {
  let s = seed;
  const x = new Float32Array(n);
  for (let k = 0; k < n; k++) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    x[k] = s / 2 ** 32;
  }
  return x;
}

/** Whole numbers below a limit. */
export function randomBytes(n: number, seed = 1, limit = 256): Uint8Array {
  return Uint8Array.from(random(n, seed), (v) => v * limit);
}

/** The array as a launch takes it: with a shape, the memory being the same. */
export function shaped(data: HostArray, ...shape: number[]): NDArray {
  return ndarray(data, { shape });
}

/** Says where results differ by more than a case allows, if they do. */
export function difference(actual: HostArray, expected: HostArray, contest: Contest): string | undefined {
  const { tolerance = 0, outliers = 0 } = contest;
  let count = 0;
  for (let k = 0; k < expected.length; k++) {
    const [a, e] = [Number(actual[k]), Number(expected[k])];
    if (Math.abs(a - e) <= tolerance * Math.max(1, Math.abs(e))) continue;
    count++;
    if (count > outliers * expected.length) return `element ${k} is ${a} and ${e}`;
  }
  return undefined;
}
