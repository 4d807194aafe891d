/**
 * What the kernels of products have in common: the words of the kernel language that they use, and the types of their elements.
 */
import { intrinsic, intrinsicObject } from '../compiler/intrinsics.ts';
import { type DType, i32 } from '../dtype/index.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';

/** An element of whatever type: a kernel is compiled for each. */
export type Value = never;

/** A type, or a vector of it, as the function that makes its values. */
export type Construct = (...lanes: readonly Value[]) => Value;

/** Memory of a thread. */
export const local: <T>(length: number, dtype: unknown) => Vec<T> =
  /* @__PURE__ */ intrinsic<<T>(length: number, dtype: unknown) => Vec<T>>('local.array');

interface Place3 {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The block in the grid. */
export const block: Place3 = /* @__PURE__ */ intrinsicObject<Place3>('blockIdx', ['x', 'y', 'z']);

/** 0, 1 … below a count: loops over it are written out. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, k) => k);

/** What a kernel is compiled for: the types of its result, and of what it adds. */
export interface SumSpec {
  readonly result: DType;
  readonly sum: DType;
}

/** Words for those types. */
interface SumWords {
  readonly block: Place3;
  readonly local: typeof local;
  readonly i32: typeof i32;
  /** What elements are added in. */
  readonly type: Construct;
  readonly typeOut: Construct;
  readonly complex: boolean;
  /** The result is of the type that is added. */
  readonly same: boolean;
}

/** What every kernel captures. */
export function wordsFor({ result, sum }: SumSpec): typeof WORDS & SumWords {
  return {
    ...WORDS,
    block,
    local,
    i32,
    type: sum as unknown as Construct,
    typeOut: result as unknown as Construct,
    complex: sum.kind === 'c',
    same: result.name === sum.name,
  };
}
