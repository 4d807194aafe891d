/**
 * What Numba brings along, and arithmetic of whole arrays, on the devices of `roc`.
 */
import { fuseOf } from '../fuse/fuse.ts';
import type { Fuse } from '../fuse/types.ts';
import { graphOf, type MakeGraph } from '../graph/graph.ts';
import { dotOf } from '../matmul/dot.ts';
import { einsumOf } from '../matmul/einsum.ts';
import { matmulOf } from '../matmul/matmul.ts';
import type { Dot, Einsum, Matmul } from '../matmul/types.ts';
import { guvectorizeOf } from '../ufunc/guvectorize.ts';
import type { GUVectorize, Vectorize } from '../ufunc/types.ts';
import { vectorizeOf } from '../ufunc/vectorize.ts';
import { rocDevices } from './devices.ts';

/**
 * Makes a universal function from a function of elements, `const add = roc.vectorize((a: number, b: number) => a + b)`: then `add(x, y)` applies it to all elements of arrays that are
 * broadcast together, on the device or the host. Numba: `@vectorize([…], target='roc')`.
 * @throws TypeError for anything that is not a function of elements, or invalid signatures.
 * @example
 * const add = roc.vectorize((a: number, b: number) => a + b);
 * console.log(add(Float64Array.of(1, 2), Float64Array.of(10, 20))); // Float64Array(2) [ 11, 22 ]
 */
export const vectorize: Vectorize = /* @__PURE__ */ vectorizeOf(rocDevices);

/**
 * Makes a generalised universal function from a function that receives parts of arrays and stores its results: `roc.guvectorize((A, B, C) => {…}, '(m,n),(n,p)->(m,p)')`. Numba:
 * `@guvectorize([…], '(m,n),(n,p)->(m,p)', target='roc')`.
 * @throws TypeError for anything that is not a function, a layout that cannot be read, or signatures that do not match it.
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
 * Records the work that a function enqueues, kernels, copies and fills, and returns a graph that enqueues all of it with one call: `g.launch({ stream
 * })`. The function runs once, now, but its work does not; arguments stay as they are now until `g.update()`. Calls that would wait for the device
 * are refused. CUDA's graphs, as PyTorch's `torch.cuda.graph`.
 * @throws TypeError for anything that is not a function, or an asynchronous one, NotSupportedError for calls that cannot be recorded; and what the function throws.
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

/**
 * The product of two matrices, of matrices and vectors, or of batches of them, which are broadcast: NumPy's `matmul`. Operands may have any layout,
 * including transposed views; products of f16 and bf16 are added in f32. If the arrays are on the device, so is the result, and nothing waits. Uses
 * Tsamba's kernels, or NVIDIA's cuBLAS if it is installed and the product is large; `inspect` says which.
 * @throws TypeError for anything but arrays of numbers, RangeError for shapes that do not match.
 * @example
 * const a = roc.toDevice(ndarray(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }));
 * const product = roc.matmul(a, a.T);
 * console.log(product.get(0, 0), product.get(0, 1), product.get(1, 1)); // 5 11 25
 */
export const matmul: Matmul = /* @__PURE__ */ matmulOf(rocDevices);

/**
 * The product of two arrays, as NumPy's `dot`: a number for vectors, the product for matrices, and for more axes the sum over the last axis of `a`
 * and the second-to-last of `b`; arrays without axes, and numbers, multiply all elements. If the arrays are on the device, so is the result, and
 * nothing waits unless it is a number.
 * @throws TypeError for anything but arrays of numbers, RangeError for shapes that do not match.
 * @example
 * const x = roc.toDevice(Float32Array.of(1, 2, 3));
 * console.log(roc.dot(x, x)); // 14
 * console.log(roc.dot(x, 2).copyToHost()); // Float32Array(3) [ 2, 4, 6 ]
 */
export const dot: Dot = /* @__PURE__ */ dotOf(rocDevices);

/**
 * Sums of products over labelled axes, NumPy's `einsum`: `roc.einsum('ij,jk->ik', a, b)`. A letter names an axis, `...` all others; axes missing from
 * the output are summed, and without `->` the output has the letters that appear once. Several operands are multiplied in the cheapest order of
 * pairs; matrix products use `matmul`, everything else becomes one kernel. If the arrays are on the device, so is the result, and nothing waits
 * unless it is a number.
 * @throws TypeError for anything but arrays of numbers, RangeError for subscripts that cannot be read, or do not match the operands.
 * @example
 * const a = roc.toDevice(ndarray(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }));
 * console.log(roc.einsum('ij,kj->ik', a, a).ravel().copyToHost()); // Float32Array(4) [ 5, 11, 11, 25 ]
 * console.log(roc.einsum('ii->', a), roc.einsum('ij->j', a).copyToHost()); // 5 Float32Array(2) [ 4, 6 ]
 */
export const einsum: Einsum = /* @__PURE__ */ einsumOf(rocDevices);

/**
 * Evaluates an expression of whole arrays, `a.add(b).mul(2)`, as `evaluate()` does: operations that can run together become one kernel, reductions
 * included. Device arrays have NumPy's arithmetic as methods; these return expressions, and nothing is computed until a value is requested.
 * @throws TypeError for anything that is not an expression, RangeError for shapes that cannot be broadcast together.
 * @example
 * const a = roc.toDevice(Float32Array.of(1, 2, 3));
 * console.log(roc.fuse(a.add(1).mul(a)).copyToHost()); // Float32Array(3) [ 2, 6, 12 ]
 */
export const fuse: Fuse = /* @__PURE__ */ fuseOf(rocDevices);
