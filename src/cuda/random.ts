/**
 * `cuda.random`: random numbers in kernels. Numba's `numba.cuda.random`.
 */
import { cudaDevices } from '../memory/devices.ts';
import { philox4x32, philox4x64, threefry2x32, threefry2x64, threefry4x32, threefry4x64 } from '../random/counters.ts';
import { generatorOf } from '../random/generator.ts';
import { type MakeStates, makeStatesOf } from '../random/states.ts';
import type { MakeGenerator } from '../random/types.ts';
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
   * @throws TypeError for a seed that is not an integer, RangeError for a negative `n`, OutOfMemoryError.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(1024, 42);
   * console.log(states.size); // 1024
   */
  readonly createXoroshiro128pStates: MakeStates['create'];
  /**
   * The same, also on devices that only answer through promises.
   * @example
   * const states = await cuda.random.createXoroshiro128pStatesAsync(1024, 42);
   * console.log(states.size); // 1024
   */
  readonly createXoroshiro128pStatesAsync: MakeStates['createAsync'];
  /**
   * Makes the generators of an array anew. Numba: `init_xoroshiro128p_states(states, seed, subsequence_start, stream)`.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(1024, 42);
   * cuda.random.initXoroshiro128pStates(states, 43);
   */
  readonly initXoroshiro128pStates: MakeStates['init'];
  /**
   * In kernels: the next 64 random bits of generator `index`. Numba's `xoroshiro128p_next`.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(4, 1);
   * const y = new BigUint64Array(4);
   * const draw = cuda.jit((states: XoroshiroStates, y: Vec<u64>) => {
   *   y[cuda.grid(1)] = cuda.random.xoroshiro128pNext(states, cuda.grid(1));
   * });
   * draw.launch({ grid: 1, block: 4 }, states, y);
   */
  readonly xoroshiro128pNext: typeof xoroshiro128pNext;
  /**
   * In kernels: an f32 from 0 to below 1. Numba's `xoroshiro128p_uniform_float32`, which can give 1.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(4, 1);
   * const y = new Float32Array(4);
   * const draw = cuda.jit((states: XoroshiroStates, y: Vec<f32>) => {
   *   y[cuda.grid(1)] = cuda.random.xoroshiro128pUniformFloat32(states, cuda.grid(1));
   * });
   * draw.launch({ grid: 1, block: 4 }, states, y);
   */
  readonly xoroshiro128pUniformFloat32: typeof xoroshiro128pUniformFloat32;
  /**
   * In kernels: an f64 from 0 to below 1. Numba's `xoroshiro128p_uniform_float64`.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(4, 1);
   * const y = new Float64Array(4);
   * const draw = cuda.jit((states: XoroshiroStates, y: Vec<f64>) => {
   *   y[cuda.grid(1)] = cuda.random.xoroshiro128pUniformFloat64(states, cuda.grid(1));
   * });
   * draw.launch({ grid: 1, block: 4 }, states, y);
   */
  readonly xoroshiro128pUniformFloat64: typeof xoroshiro128pUniformFloat64;
  /**
   * In kernels: an f32 of the standard normal distribution. Numba's `xoroshiro128p_normal_float32`.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(4, 1);
   * const y = new Float32Array(4);
   * const draw = cuda.jit((states: XoroshiroStates, y: Vec<f32>) => {
   *   y[cuda.grid(1)] = cuda.random.xoroshiro128pNormalFloat32(states, cuda.grid(1));
   * });
   * draw.launch({ grid: 1, block: 4 }, states, y);
   */
  readonly xoroshiro128pNormalFloat32: typeof xoroshiro128pNormalFloat32;
  /**
   * In kernels: an f64 of the standard normal distribution. Numba's `xoroshiro128p_normal_float64`.
   * @example
   * const states = cuda.random.createXoroshiro128pStates(4, 1);
   * const y = new Float64Array(4);
   * const draw = cuda.jit((states: XoroshiroStates, y: Vec<f64>) => {
   *   y[cuda.grid(1)] = cuda.random.xoroshiro128pNormalFloat64(states, cuda.grid(1));
   * });
   * draw.launch({ grid: 1, block: 4 }, states, y);
   */
  readonly xoroshiro128pNormalFloat64: typeof xoroshiro128pNormalFloat64;
  /**
   * A generator on the current device, whose methods fill arrays: `rng.random(1000)`. NumPy's `Generator(Philox(seed))`, with its numbers where a device can draw them in parallel.
   * @throws TypeError for a seed that is not an integer, RangeError for a negative one.
   * @example
   * const rng = cuda.random.generator(42);
   * const dice = rng.integers(1, 7, [2, 3]);
   * console.log(dice.shape, rng.random(1).get(0) < 1); // [ 2, 3 ] true
   */
  readonly generator: MakeGenerator;
  /**
   * In kernels: four random u32 of a key of two and a counter of four, with no state: each thread makes counters of its own. Philox4x32-10 of Random123, bit for bit.
   * @example
   * const y = new Uint32Array(4);
   * const draw = cuda.jit((y: Vec<u32>, seed: u32) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.philox([seed, 0], [i, 0, 0, 0]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u32, 42));
   */
  readonly philox: typeof philox4x32;
  /**
   * In kernels: the same as `philox`.
   * @example
   * const y = new Uint32Array(4);
   * const draw = cuda.jit((y: Vec<u32>, seed: u32) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.philox4x32([seed, 0], [i, 0, 0, 0]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u32, 42));
   */
  readonly philox4x32: typeof philox4x32;
  /**
   * In kernels: four random u64 of a key of two and a counter of four. Philox4x64-10 of Random123, and what NumPy's `Philox` is made of.
   * @example
   * const y = new BigUint64Array(4);
   * const draw = cuda.jit((y: Vec<u64>, seed: u64) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.philox4x64([seed, 0n], [u64(i), 0n, 0n, 0n]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u64, 42n));
   */
  readonly philox4x64: typeof philox4x64;
  /**
   * In kernels: two random u32 of a key of two and a counter of two. Threefry2x32-20 of Random123, and of JAX.
   * @example
   * const y = new Uint32Array(4);
   * const draw = cuda.jit((y: Vec<u32>, seed: u32) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.threefry2x32([seed, 0], [i, 0]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u32, 42));
   */
  readonly threefry2x32: typeof threefry2x32;
  /**
   * In kernels: four random u32 of a key and a counter of four. Threefry4x32-20 of Random123.
   * @example
   * const y = new Uint32Array(4);
   * const draw = cuda.jit((y: Vec<u32>, seed: u32) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.threefry4x32([seed, 0, 0, 0], [i, 0, 0, 0]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u32, 42));
   */
  readonly threefry4x32: typeof threefry4x32;
  /**
   * In kernels: two random u64 of a key and a counter of two. Threefry2x64-20 of Random123.
   * @example
   * const y = new BigUint64Array(4);
   * const draw = cuda.jit((y: Vec<u64>, seed: u64) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.threefry2x64([seed, 0n], [u64(i), 0n]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u64, 42n));
   */
  readonly threefry2x64: typeof threefry2x64;
  /**
   * In kernels: four random u64 of a key and a counter of four. Threefry4x64-20 of Random123.
   * @example
   * const y = new BigUint64Array(4);
   * const draw = cuda.jit((y: Vec<u64>, seed: u64) => {
   *   const i = cuda.grid(1);
   *   const [word] = cuda.random.threefry4x64([seed, 0n, 0n, 0n], [u64(i), 0n, 0n, 0n]);
   *   y[i] = word;
   * });
   * draw.launch({ grid: 1, block: 4 }, y, cuda.scalar(u64, 42n));
   */
  readonly threefry4x64: typeof threefry4x64;
}

/**
 * Random numbers: generators on the device, and what kernels draw from them. Numba's `numba.cuda.random`.
 * @example
 * const states = cuda.random.createXoroshiro128pStates(4, 1);
 * const y = new Float32Array(4);
 * const draw = cuda.jit((states: XoroshiroStates, y: Vec<f32>) => {
 *   y[cuda.grid(1)] = cuda.random.xoroshiro128pUniformFloat32(states, cuda.grid(1));
 * });
 * draw.launch({ grid: 1, block: 4 }, states, y);
 * console.log(y.every((x) => x >= 0 && x < 1)); // true
 */
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
    generator: generatorOf(cudaDevices),
    philox: philox4x32,
    philox4x32,
    philox4x64,
    threefry2x32,
    threefry4x32,
    threefry2x64,
    threefry4x64,
  });
}
