/**
 * The object `roc`: frozen and plain, so that the compiler can resolve `roc.getGlobalId` in a kernel that captured `roc`; and `hsa`,
 * its name in Numba before 0.43.
 */

import { offerName } from '../compiler/frontend/public-names.ts';
import { warn } from '../host/index.ts';
import * as members from './members.ts';

/** Numba's `roc` module. */
export type Roc = typeof members;

/**
 * Kernels, device memory and streams on AMD GPUs and every other OpenCL device, and OpenCL's vocabulary of kernels; also as named exports
 * of `tsamba/roc`. Numba's `roc`.
 */
export const roc: Roc = /* @__PURE__ */ offerName('roc', Object.freeze({ ...members }));

let warned = false;

/** Once a process. */
function warnHsa(): void {
  if (warned) return;
  warned = true;
  warn('`hsa` is the old name of `roc`: import { roc } instead', {
    type: 'DeprecationWarning',
    code: 'TSAMBA_HSA',
  });
}

/** @deprecated The old name of `roc`, which warns once when it is used. */
export const hsa: Roc = /* @__PURE__ */ new Proxy(offerName('hsa', roc), {
  get: (target, key) => {
    if (typeof key === 'string') warnHsa();
    return Reflect.get(target, key) as unknown;
  },
});
