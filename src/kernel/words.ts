/**
 * The words of the vocabulary that the library's own kernels are written with. The same values as those of `cuda`, which stands above them.
 */
import { intrinsic, intrinsicObject } from '../compiler/intrinsics.ts';
import type { Vec } from './types.ts';

interface Along {
  readonly x: number;
}

/** What kernels of the library capture. `any` where a kernel is one for all element types. */
export interface Words {
  readonly grid: (ndim: 1) => number;
  readonly gridSize: (ndim: 1) => number;
  readonly threadIdx: Along;
  readonly blockIdx: Along;
  readonly gridDim: Along;
  readonly syncThreads: () => void;
  readonly shared: <T>(length: number, dtype: unknown) => Vec<T>;
  readonly shflDownSync: <T>(mask: number, value: T, delta: number) => T;
  readonly assumeAligned: <A>(array: A, bytes: number) => A;
}

export const WORDS: Words = /* @__PURE__ */ Object.freeze({
  grid: intrinsic<Words['grid']>('grid'),
  gridSize: intrinsic<Words['gridSize']>('gridSize'),
  threadIdx: intrinsicObject<Along>('threadIdx', ['x']),
  blockIdx: intrinsicObject<Along>('blockIdx', ['x']),
  gridDim: intrinsicObject<Along>('gridDim', ['x']),
  syncThreads: intrinsic<Words['syncThreads']>('syncThreads'),
  shared: intrinsic<Words['shared']>('shared.array'),
  shflDownSync: intrinsic<Words['shflDownSync']>('shflDownSync'),
  assumeAligned: intrinsic<Words['assumeAligned']>('assumeAligned'),
});
