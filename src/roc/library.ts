/**
 * Universal functions on the devices of `roc`.
 */
import { graphOf, type MakeGraph } from '../graph/graph.ts';
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

/**
 * Records the work that a function enqueues, kernels, copies and fills, and gives a graph of it, which enqueues all of that with one call: `g.launch({ stream })`. The function runs
 * once, now, and its work does not: arguments are those of now until `g.update()`. What would wait for the device is refused. CUDA's graphs, as PyTorch's `torch.cuda.graph`.
 * @throws TypeError for what is no function, or an asynchronous one, NotSupportedError for what cannot be recorded; what the function throws.
 * @example
 * const x = roc.toDevice(Float32Array.of(1, 2));
 * const scale = roc.jit((x: Vec<f32>, k: number) => { x[roc.getGlobalId(0)]! *= k; });
 * const g = roc.graph(() => {
 *   scale.launch({ grid: 1, block: 2 }, x, 2);
 *   scale.launch({ grid: 1, block: 2 }, x, 5);
 * });
 * g.launch();
 * g.launch();
 * console.log(x.copyToHost()); // Float32Array(2) [ 100, 200 ]
 */
export const graph: MakeGraph = /* @__PURE__ */ graphOf(rocDevices);
