/**
 * `cuda.cache` and `roc.cache`: the machine code that is kept on disk from process to process.
 */
import { hostOnly } from '../compiler/intrinsics.ts';
import { clearCaches } from '../driver/binary-cache.ts';

/** The machine code that is kept on disk, where a driver's compiler is slow: of NVIDIA GPUs, OpenCL and HIP. */
export interface Cache {
  /**
   * Removes all of it, of all devices. What is loaded stays loaded; the next process compiles again. Synchronous; never throws.
   * @example
   * cuda.cache.clear(); // what later processes would have found compiled
   */
  clear(): void;
}

/**
 * The machine code that is kept on disk. Later processes that run the same program compile nothing. `TSAMBA_CACHE_DIR` moves it, `TSAMBA_CACHE=0` does
 * without. Numba's counterpart: `@cuda.jit(cache=True)`.
 * @example
 * cuda.cache.clear(); // what later processes would have found compiled
 */
export const cache: Cache = /* @__PURE__ */ Object.freeze({
  clear: /* @__PURE__ */ hostOnly('cuda.cache.clear', (): void => clearCaches()),
});
