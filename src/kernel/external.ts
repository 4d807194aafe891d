/**
 * `declareDevice`: functions of other languages that kernels can call, with the types that they have there.
 */

import { type ExternalFunction, markExternal } from '../compiler/intrinsics/external.ts';
import { hostOnly } from '../compiler/intrinsics.ts';
import { ELEM_SIZE } from '../compiler/ir/ops.ts';
import { isNarrowFloat } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import { isInstance, readKeys } from '../options.ts';
import { show } from '../show.ts';
import { type LinkInput, linkItems } from './link.ts';
import { parseFunction } from './signature.ts';

/** Options of `declareDevice`. */
export interface DeclareOptions<F> {
  /**
   * Where the code comes from: files `.ptx .cubin .fatbin .o .ltoir .cu` for NVIDIA GPUs (`.cu` through NVRTC, `.ltoir` through nvJitLink), `.cl` for OpenCL devices, `.hip` for HIP; or texts,
   * `{ opencl: 'float f(float x) { … }' }`. Several, for several devices. Without it a kernel's own option `link` names the code.
   */
  readonly link?: LinkInput | readonly LinkInput[] | undefined;
  /** The same in TypeScript: an ordinary device function, for devices that there is no code for (the CPU device and the simulator have none). */
  readonly fallback?: F | undefined;
}

/** A function of another language when nothing more is known of it: numbers, booleans and bigints, and arrays as pointers. */
export type ExternalCall = (...args: readonly (number | bigint | boolean | object)[]) => number;

function declared<F extends (...args: never[]) => unknown = ExternalCall>(
  name: string,
  signature: string,
  options: DeclareOptions<F> = {},
): F {
  if (typeof name !== 'string' || !/^[A-Za-z_]\w*$/.test(name)) {
    throw new TsambaTypeError('E_DECLARE', `declareDevice takes the name of a C function, got ${show(name)}`);
  }
  if (typeof signature !== 'string') {
    throw new TsambaTypeError(
      'E_DECLARE',
      `declareDevice takes the function's types as a string such as 'float32(float32, int32*)', got ${show(signature)}`,
    );
  }
  const given: unknown = options;
  if (typeof given !== 'object' || given === null || isInstance(given)) {
    throw new TsambaTypeError('E_DECLARE', `declareDevice takes its options as an object, got ${show(given)}`);
  }
  const { link, fallback } = readKeys('declareDevice', given, ['link', 'fallback']);
  if (fallback !== undefined && typeof fallback !== 'function') {
    throw new TsambaTypeError('E_DECLARE', `fallback of ${name} must be a function, got ${show(fallback)}`);
  }
  const { result, params } = parseFunction(signature);
  for (const { elem, pointer } of [{ elem: result ?? 'i32', pointer: false } as const, ...params]) {
    if (pointer || !isNarrowFloat(elem)) continue;
    throw new TsambaTypeError(
      'E_DECLARE',
      `${name}: ${elem} (${ELEM_SIZE[elem]} bytes) is passed by pointer only: declare float32, or ${elem}*`,
    );
  }
  const external: ExternalFunction = {
    name,
    params,
    result,
    link: link === undefined ? [] : linkItems(`link of ${name}`, link),
    fallback: fallback as ExternalFunction['fallback'],
  };
  const onHost = (): never => {
    throw new NotSupportedError(
      'E_HOST_INTRINSIC',
      `${name} is a function of another language, which only kernels can call: call it in a function that is passed to cuda.jit, not on the host`,
    );
  };
  Object.defineProperty(onHost, 'name', { value: name });
  return Object.freeze(markExternal(onHost, external)) as unknown as F;
}

/**
 * Declares a function written in another language, for use in kernels: `extern "C" __device__` in CUDA C++, a plain function in OpenCL C and HIP C++. `signature`
 * gives its types in C's order, `'float32(float32, int32*)'`; a pointer is the address of an array's first element, whose fastest axis has no gaps. On
 * devices for which `link` has no code, kernels run `fallback`; without one, they are refused. Numba: `cuda.declare_device(name, sig, link=…)`, with C's calling convention.
 *
 *     const mad = cuda.declareDevice('mad', 'float32(float32, float32, float32)', {
 *       link: [{ ptx: text }, { opencl: 'float mad3(…) { … }' }],
 *       fallback: (a: number, b: number, c: number) => a * b + c,
 *     });
 * @throws TypeError for an invalid name or signature, or something that cannot be linked, NotSupportedError for a missing file.
 * @example
 * const triple = cuda.declareDevice('triple', 'float32(float32)', {
 *   link: [{ opencl: 'float triple(float x) { return 3 * x; }' }],
 *   fallback: (x: number) => 3 * x,
 * });
 * const y = Float32Array.of(2);
 * cuda.jit((y: Vec<f32>) => { y[0] = triple(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 6
 */
export const declareDevice: typeof declared = /* @__PURE__ */ hostOnly('cuda.declareDevice', declared);
