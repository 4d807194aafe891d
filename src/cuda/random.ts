/**
 * `cuda.random`: random numbers in kernels. Numba's `numba.cuda.random`.
 */
import { cudaDevices } from '../memory/devices.ts';
import { type MakeStates, makeStatesOf } from '../random/states.ts';
import {
  xoroshiro128pNext,
  xoroshiro128pNormalFloat32,
  xoroshiro128pNormalFloat64,
  xoroshiro128pUniformFloat32,
  xoroshiro128pUniformFloat64,
} from '../random/xoroshiro128p.ts';

/** What `cuda.random` has. */
export interface Random {
  /**
   * `n` generators in device memory, one for each thread: `const states = cuda.random.createXoroshiro128pStates(n, seed)`. A kernel takes them as
   * `XoroshiroStates`. The same on every device, and in Numba. Numba: `create_xoroshiro128p_states(n, seed, subsequence_start, stream)`.
   * @throws TypeError for a seed that is no integer, RangeError for a negative `n`, OutOfMemoryError.
   */
  readonly createXoroshiro128pStates: MakeStates['create'];
  /** The same, also on devices that only answer through promises. */
  readonly createXoroshiro128pStatesAsync: MakeStates['createAsync'];
  /** Makes the generators of an array anew. Numba: `init_xoroshiro128p_states(states, seed, subsequence_start, stream)`. */
  readonly initXoroshiro128pStates: MakeStates['init'];
  /** In kernels: the next 64 random bits of generator `index`. Numba's `xoroshiro128p_next`. */
  readonly xoroshiro128pNext: typeof xoroshiro128pNext;
  /** In kernels: an f32 from 0 to below 1. Numba's `xoroshiro128p_uniform_float32`, which can give 1. */
  readonly xoroshiro128pUniformFloat32: typeof xoroshiro128pUniformFloat32;
  /** In kernels: an f64 from 0 to below 1. Numba's `xoroshiro128p_uniform_float64`. */
  readonly xoroshiro128pUniformFloat64: typeof xoroshiro128pUniformFloat64;
  /** In kernels: an f32 of the standard normal distribution. Numba's `xoroshiro128p_normal_float32`. */
  readonly xoroshiro128pNormalFloat32: typeof xoroshiro128pNormalFloat32;
  /** In kernels: an f64 of the standard normal distribution. Numba's `xoroshiro128p_normal_float64`. */
  readonly xoroshiro128pNormalFloat64: typeof xoroshiro128pNormalFloat64;
}

/** Random numbers: generators on the device, and what kernels draw from them. Numba's `numba.cuda.random`. */
export const random: Random = /* @__PURE__ */ randomOf();

function randomOf(): Random {
  const { create, createAsync, init } = makeStatesOf(cudaDevices);
  return Object.freeze({
    createXoroshiro128pStates: create,
    createXoroshiro128pStatesAsync: createAsync,
    initXoroshiro128pStates: init,
    xoroshiro128pNext,
    xoroshiro128pUniformFloat32,
    xoroshiro128pUniformFloat64,
    xoroshiro128pNormalFloat32,
    xoroshiro128pNormalFloat64,
  });
}
