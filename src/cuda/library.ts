/**
 * What Numba brings along, on the devices of `cuda`: reductions and universal functions made from functions that the user writes.
 */

import { fuseOf } from '../fuse/fuse.ts';
import type { Fuse } from '../fuse/types.ts';
import { graphOf, type MakeGraph } from '../graph/graph.ts';
import { dotOf } from '../matmul/dot.ts';
import { einsumOf } from '../matmul/einsum.ts';
import { matmulOf } from '../matmul/matmul.ts';
import type { Dot, Einsum, Matmul } from '../matmul/types.ts';
import { cudaDevices } from '../memory/devices.ts';
import { type MakeReduction, reduceOf } from '../reduce/reduce.ts';
import { guvectorizeOf } from '../ufunc/guvectorize.ts';
import type { GUVectorize, Vectorize } from '../ufunc/types.ts';
import { vectorizeOf } from '../ufunc/vectorize.ts';

/**
 * Makes a reduction from a function of two values, `const sum = cuda.reduce((a, b) => a + b)`: then `sum(x)` combines the elements of an array with one axis, on
 * the device or the host, and waits for the result; `sum(x, { res })` leaves it on the device. The function must be associative and commutative. Numba: `cuda.reduce`.
 * @throws TypeError for anything that is not a function, or invalid options.
 * @example
 * const sum = cuda.reduce((a: number, b: number) => a + b);
 * console.log(sum(Float64Array.of(1, 2, 3))); // 6
 */
export const reduce: MakeReduction = /* @__PURE__ */ reduceOf(cudaDevices, 'reduce');

/**
 * The same as `cuda.reduce`, under the name of Numba's class: `new cuda.Reduce(fn)`. Numba: `cuda.Reduce`.
 * @example
 * const largest = new cuda.Reduce((a: number, b: number) => Math.max(a, b));
 * console.log(largest(Float64Array.of(1, 3, 2))); // 3
 */
export const Reduce: MakeReduction = /* @__PURE__ */ reduceOf(cudaDevices, 'Reduce');

/**
 * Makes a universal function from a function of elements, `const add = cuda.vectorize((a: number, b: number) => a + b)`: then `add(x, y)` applies it to all elements of arrays that are
 * broadcast together, on the device or the host. Numba: `@vectorize([…], target='cuda')`.
 * @throws TypeError for anything that is not a function of elements, or invalid signatures.
 * @example
 * const add = cuda.vectorize((a: number, b: number) => a + b);
 * console.log(add(Float64Array.of(1, 2), Float64Array.of(10, 20))); // Float64Array(2) [ 11, 22 ]
 */
export const vectorize: Vectorize = /* @__PURE__ */ vectorizeOf(cudaDevices);

/**
 * Makes a generalised universal function from a function that receives parts of arrays and stores its results: `cuda.guvectorize((A, B, C) => {…}, '(m,n),(n,p)->(m,p)')`. The
 * layout says which axes the function sees; it is applied along all others, one thread per application. Numba: `@guvectorize([…], '(m,n),(n,p)->(m,p)', target='cuda')`.
 * @throws TypeError for anything that is not a function, a layout that cannot be read, or signatures that do not match it.
 * @example
 * const sums = cuda.guvectorize((x: Vec<f64>, out: Vec<f64>) => {
 *   let sum = 0;
 *   for (const v of x) sum += v;
 *   out[0] = sum;
 * }, '(n)->()');
 * console.log(sums([[1, 2], [3, 4]])); // Float64Array(2) [ 3, 7 ]
 */
export const guvectorize: GUVectorize = /* @__PURE__ */ guvectorizeOf(cudaDevices);

/**
 * The product of two matrices, of matrices and vectors, or of batches of them, which are broadcast: NumPy's `matmul`. Operands may have any layout,
 * including transposed views; products of f16 and bf16 are added in f32. If the arrays are on the device, so is the result, and nothing waits. Uses
 * Tsamba's kernels, or NVIDIA's cuBLAS if it is installed and the product is large; `inspect` says which.
 * @throws TypeError for anything but arrays of numbers, RangeError for shapes that do not match.
 * @example
 * const a = cuda.toDevice(ndarray(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }));
 * const product = cuda.matmul(a, a.T);
 * console.log(product.get(0, 0), product.get(0, 1), product.get(1, 1)); // 5 11 25
 */
export const matmul: Matmul = /* @__PURE__ */ matmulOf(cudaDevices);

/**
 * The product of two arrays, as NumPy's `dot`: a number for vectors, the product for matrices, and for more axes the sum over the last axis of `a`
 * and the second-to-last of `b`; arrays without axes, and numbers, multiply all elements. If the arrays are on the device, so is the result, and
 * nothing waits unless it is a number.
 * @throws TypeError for anything but arrays of numbers, RangeError for shapes that do not match.
 * @example
 * const x = cuda.toDevice(Float32Array.of(1, 2, 3));
 * console.log(cuda.dot(x, x)); // 14
 * console.log(cuda.dot(x, 2).copyToHost()); // Float32Array(3) [ 2, 4, 6 ]
 */
export const dot: Dot = /* @__PURE__ */ dotOf(cudaDevices);

/**
 * Sums of products over labelled axes, NumPy's `einsum`: `cuda.einsum('ij,jk->ik', a, b)`. A letter names an axis, `...` all others; axes missing
 * from the output are summed, and without `->` the output has the letters that appear once. Several operands are multiplied in the cheapest order of
 * pairs; matrix products use `matmul`, everything else becomes one kernel. If the arrays are on the device, so is the result, and nothing waits
 * unless it is a number.
 * @throws TypeError for anything but arrays of numbers, RangeError for subscripts that cannot be read, or do not match the operands.
 * @example
 * const a = cuda.toDevice(ndarray(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }));
 * console.log(cuda.einsum('ij,kj->ik', a, a).ravel().copyToHost()); // Float32Array(4) [ 5, 11, 11, 25 ]
 * console.log(cuda.einsum('ii->', a), cuda.einsum('ij->j', a).copyToHost()); // 5 Float32Array(2) [ 4, 6 ]
 */
export const einsum: Einsum = /* @__PURE__ */ einsumOf(cudaDevices);

/**
 * Records the work that a function enqueues, kernels, copies and fills, and returns a graph that enqueues all of it with one call: `g.launch({ stream
 * })`. The function runs once, now, but its work does not; arguments stay as they are now until `g.update()`. Calls that would wait for the device
 * are refused. CUDA's graphs, as PyTorch's `torch.cuda.graph`.
 * @throws TypeError for anything that is not a function, or an asynchronous one, NotSupportedError for calls that cannot be recorded; and what the function throws.
 * @example
 * const x = cuda.toDevice(Float32Array.of(1, 2));
 * const scale = cuda.jit((x: Vec<f32>, k: number) => { x[cuda.grid(1)]! *= k; });
 * const g = cuda.graph(() => {
 *   scale.launch({ grid: 1, block: 2 }, x, 2);
 *   scale.launch({ grid: 1, block: 2 }, x, 5);
 * });
 * g.launch();
 * g.launch();
 * console.log(x.copyToHost()); // Float32Array(2) [ 100, 200 ]
 */
export const graph: MakeGraph = /* @__PURE__ */ graphOf(cudaDevices);

/**
 * Evaluates an expression of whole arrays, `a.add(b).mul(2)`, as `evaluate()` does: operations that can run together become one kernel, reductions
 * included. Device arrays have NumPy's arithmetic as methods; these return expressions, and nothing is computed until a value is requested.
 * @throws TypeError for anything that is not an expression, RangeError for shapes that cannot be broadcast together.
 * @example
 * const a = cuda.toDevice(Float32Array.of(1, 2, 3));
 * console.log(cuda.fuse(a.add(1).mul(a)).copyToHost()); // Float32Array(3) [ 2, 6, 12 ]
 */
export const fuse: Fuse = /* @__PURE__ */ fuseOf(cudaDevices);
