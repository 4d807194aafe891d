/**
 * What Numba brings along, on the devices of `cuda`: reductions and universal functions of functions that the user writes.
 */
import { cudaDevices } from '../memory/devices.ts';
import { type MakeReduction, reduceOf } from '../reduce/reduce.ts';

/**
 * Makes a reduction of a function of two values, `const sum = cuda.reduce((a, b) => a + b)`: then `sum(x)` combines the elements of an array with one axis, on
 * the device or the host, and waits for the result; `sum(x, { res })` leaves it on the device. The function must be associative and commutative. Numba: `cuda.reduce`.
 * @throws TypeError for what is no function, or bad options.
 */
export const reduce: MakeReduction = /* @__PURE__ */ reduceOf(cudaDevices, 'reduce');

/** The same as `cuda.reduce`, by the name that Numba's class has: `new cuda.Reduce(fn)`. Numba: `cuda.Reduce`. */
export const Reduce: MakeReduction = /* @__PURE__ */ reduceOf(cudaDevices, 'Reduce');
