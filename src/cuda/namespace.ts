/**
 * The object `cuda`: frozen and plain, so that the compiler can resolve `cuda.grid` in a kernel that captured `cuda`.
 */
import { offerName } from '../compiler/frontend/public-names.ts';
import * as members from './members.ts';

/**
 * Numba's `cuda` module. `const` stands beside `constant`, which needs no quoting of a reserved word in named imports. Not `Readonly<…>`: that would
 * hide the documentation of members from editors. The object is frozen.
 */
export type Cuda = typeof members & {
  /**
   * Constant memory, by the name that it has in Numba: `constant`.
   * @example
   * const weights = Float32Array.of(0.25, 0.5);
   * const y = new Float32Array(1);
   * cuda.jit((y: Vec<f32>) => { y[0] = cuda.const.arrayLike(weights)[1]!; }).launch({ grid: 1, block: 1 }, y);
   * console.log(y[0]); // 0.5
   */
  readonly const: typeof members.constant;
};

/**
 * Kernels, device memory, streams and events, and the vocabulary of kernels; also as named exports of `tsamba/cuda`. Numba's `cuda`.
 */
export const cuda: Cuda = /* @__PURE__ */ offerName('cuda', Object.freeze({ ...members, const: members.constant }));
