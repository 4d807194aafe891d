/**
 * Words of the vocabulary that scans and selections are written with, beside those that all kernels of the library share.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS, type Words } from '../kernel/words.ts';

type Shuffle = (mask: number, value: number, by: number) => number;
type Bits = (value: number) => number;

/** The words of `WORDS`, and those of lanes, atomics and bits. */
export interface LaneWords extends Words {
  readonly shflSync: Shuffle;
  readonly shflUpSync: Shuffle;
  readonly shflDownSync: Words['shflDownSync'];
  readonly anySync: (mask: number, predicate: boolean) => boolean;
  readonly nanosleep: (nanoseconds: number) => void;
  readonly atomicAdd: (array: unknown, i: number, value: bigint) => bigint;
  readonly atomicLoad: (array: Vec<bigint>, i: number) => bigint;
  readonly atomicStore: (array: Vec<bigint>, i: number, value: bigint) => void;
  readonly floatAsUint: Bits;
  readonly uintAsFloat: Bits;
  readonly doubleToHiInt: Bits;
  readonly doubleToLoInt: Bits;
  readonly hiLoIntToDouble: (high: number, low: number) => number;
}

export const LANE_WORDS: LaneWords = /* @__PURE__ */ Object.freeze({
  ...WORDS,
  shflSync: intrinsic<Shuffle>('shflSync'),
  shflUpSync: intrinsic<Shuffle>('shflUpSync'),
  anySync: intrinsic<LaneWords['anySync']>('anySync'),
  nanosleep: intrinsic<LaneWords['nanosleep']>('nanosleep'),
  atomicAdd: intrinsic<LaneWords['atomicAdd']>('atomic.add'),
  atomicLoad: intrinsic<LaneWords['atomicLoad']>('atomic.load'),
  atomicStore: intrinsic<LaneWords['atomicStore']>('atomic.store'),
  floatAsUint: intrinsic<Bits>('floatAsUint'),
  uintAsFloat: intrinsic<Bits>('uintAsFloat'),
  doubleToHiInt: intrinsic<Bits>('doubleToHiInt'),
  doubleToLoInt: intrinsic<Bits>('doubleToLoInt'),
  hiLoIntToDouble: intrinsic<LaneWords['hiLoIntToDouble']>('hiLoIntToDouble'),
});
