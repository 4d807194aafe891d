/**
 * The generator xoroshiro128+ in kernels: Numba's `numba.cuda.random`, value for value.
 *
 * These are functions of the kernel language. The constants are those of the generator of 2016 (Blackman and Vigna: 55, 14, 36).
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { f32, f64, type u64 } from '../dtype/index.ts';
import type { Vec } from '../kernel/types.ts';

/** The state of one generator: 128 bits, not all of them zero. */
export interface XoroshiroState {
  /** The first half of the state. */
  s0: u64;
  /** The second half of the state. */
  s1: u64;
}

/** An array of generators, as a kernel's parameter: each thread draws from one of its own. */
export type XoroshiroStates = Vec<XoroshiroState>;

type Draw<T> = (states: XoroshiroStates, index: number) => T;

/**
 * The next 64 random bits of generator `index`. Numba's `xoroshiro128p_next`.
 *
 * Two threads must not draw from the same generator at the same time. So with all that follow.
 */
export const xoroshiro128pNext: Draw<u64> = (states, index) => {
  const { s0, s1 } = states[index] as XoroshiroState;
  const mixed = s0 ^ s1;
  states[index] = {
    s0: ((s0 << 55n) | (s0 >> 9n)) ^ mixed ^ (mixed << 14n),
    s1: (mixed << 36n) | (mixed >> 28n),
  };
  return s0 + s1;
};

/**
 * An f32 from 0 to below 1, evenly distributed. Numba's `xoroshiro128p_uniform_float32`, but that one gives 1 for about one draw in 33 million: here that
 * is the greatest number below.
 */
export const xoroshiro128pUniformFloat32: Draw<number> = /* @__PURE__ */ deviceFunction(
  ({ next, f32 }) =>
    (states, index) =>
      Math.min(f32(next(states, index) >> 11n) * f32(2 ** -53), f32(1 - 2 ** -24)),
  { next: xoroshiro128pNext, f32 },
);

/** An f64 from 0 to below 1, evenly distributed in steps of 2⁻⁵³. Numba's `xoroshiro128p_uniform_float64`. */
export const xoroshiro128pUniformFloat64: Draw<number> = /* @__PURE__ */ deviceFunction(
  ({ next, f64 }) =>
    (states, index) =>
      f64(next(states, index) >> 11n) * f64(2 ** -53),
  { next: xoroshiro128pNext, f64 },
);

/**
 * An f32 of the standard normal distribution, by Box and Muller: two draws, and the second number is dropped. Numba's
 * `xoroshiro128p_normal_float32`.
 */
export const xoroshiro128pNormalFloat32: Draw<number> = /* @__PURE__ */ deviceFunction(
  ({ uniform, f32 }) =>
    (states, index) => {
      const u1 = uniform(states, index);
      const u2 = uniform(states, index);
      return Math.sqrt(f32(-2) * Math.log(Math.max(u1, f32(2 ** -54)))) * Math.cos(f32(2 * Math.PI) * u2);
    },
  { uniform: xoroshiro128pUniformFloat32, f32 },
);

/** An f64 of the standard normal distribution, in the same way. Numba's `xoroshiro128p_normal_float64`. */
export const xoroshiro128pNormalFloat64: Draw<number> = /* @__PURE__ */ deviceFunction(
  ({ uniform, f64 }) =>
    (states, index) => {
      const u1 = uniform(states, index);
      const u2 = uniform(states, index);
      return Math.sqrt(f64(-2) * Math.log(Math.max(u1, f64(2 ** -54)))) * Math.cos(f64(2 * Math.PI) * u2);
    },
  { uniform: xoroshiro128pUniformFloat64, f64 },
);
