/**
 * Universal functions on the devices of `roc`.
 */
import { guvectorizeOf } from '../ufunc/guvectorize.ts';
import type { GUVectorize, Vectorize } from '../ufunc/types.ts';
import { vectorizeOf } from '../ufunc/vectorize.ts';
import { rocDevices } from './devices.ts';

/**
 * Makes a universal function of a function of elements, `const add = roc.vectorize((a: number, b: number) => a + b)`: then `add(x, y)` applies it to all elements of arrays that are
 * broadcast together, on the device or the host. Numba: `@vectorize([…], target='roc')`.
 * @throws TypeError for what is no function of elements, or signatures that are none.
 * @example
 * const add = roc.vectorize((a: number, b: number) => a + b);
 * console.log(add(Float64Array.of(1, 2), Float64Array.of(10, 20))); // Float64Array(2) [ 11, 22 ]
 */
export const vectorize: Vectorize = /* @__PURE__ */ vectorizeOf(rocDevices);

/**
 * Makes a generalised universal function of a function that is given parts of arrays and stores its results: `roc.guvectorize((A, B, C) => {…}, '(m,n),(n,p)->(m,p)')`. Numba:
 * `@guvectorize([…], '(m,n),(n,p)->(m,p)', target='roc')`.
 * @throws TypeError for what is no function, a layout that cannot be read, or signatures that do not go with it.
 * @example
 * const sums = roc.guvectorize((x: Vec<f64>, out: Vec<f64>) => {
 *   let sum = 0;
 *   for (const v of x) sum += v;
 *   out[0] = sum;
 * }, '(n)->()');
 * console.log(sums([[1, 2], [3, 4]])); // Float64Array(2) [ 3, 7 ]
 */
export const guvectorize: GUVectorize = /* @__PURE__ */ guvectorizeOf(rocDevices);
