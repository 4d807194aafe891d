/**
 * The words of the vocabulary that sorts are written with, beside those of all kernels of the library.
 */
import { intrinsic, intrinsicNumber } from '../compiler/intrinsics.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS, type Words } from '../kernel/words.ts';

interface SortWords extends Words {
  readonly laneId: number;
  readonly laneMaskLt: () => number;
  readonly popc: (bits: number) => number;
  readonly ballot: (mask: number, predicate: boolean) => number;
  readonly matchAny: (mask: number, value: number) => number;
  readonly shflUp: (mask: number, value: number, delta: number) => number;
  readonly syncWarp: () => void;
  readonly add: (array: Vec<number>, index: number, value: number) => number;
  readonly or: (array: Vec<number>, index: number, value: number) => number;
  readonly load: (array: Vec<number>, index: number) => number;
  readonly store: (array: Vec<number>, index: number, value: number) => void;
}

export const SORT_WORDS: SortWords = /* @__PURE__ */ Object.freeze({
  ...WORDS,
  laneId: intrinsicNumber('laneId'),
  laneMaskLt: intrinsic<SortWords['laneMaskLt']>('laneMaskLt'),
  popc: intrinsic<SortWords['popc']>('popc'),
  ballot: intrinsic<SortWords['ballot']>('ballotSync'),
  matchAny: intrinsic<SortWords['matchAny']>('matchAnySync'),
  shflUp: intrinsic<SortWords['shflUp']>('shflUpSync'),
  syncWarp: intrinsic<SortWords['syncWarp']>('syncWarp'),
  add: intrinsic<SortWords['add']>('atomic.add'),
  or: intrinsic<SortWords['or']>('atomic.or'),
  load: intrinsic<SortWords['load']>('atomic.load'),
  store: intrinsic<SortWords['store']>('atomic.store'),
});
