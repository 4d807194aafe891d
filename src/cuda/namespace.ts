/**
 * The object `cuda`: frozen and plain, so that the compiler can resolve `cuda.grid` in a kernel that captured `cuda`.
 */

import { ndarray } from '../array/ndarray-create.ts';
import { declareHostOnly, intrinsicName } from '../compiler/intrinsics.ts';
import { struct } from '../dtype/index.ts';
import { scope } from '../memory/scope.ts';
import * as members from './members.ts';

/** Numba's `cuda` module. `const` stands beside `constant`, which needs no quoting of a reserved word in named imports. */
export type Cuda = Readonly<typeof members> & { readonly const: typeof members.constant };

/**
 * Kernels, device memory, streams and events, and the vocabulary of kernels; also as named exports of `tsamba/cuda`. Numba's `cuda`.
 */
export const cuda: Cuda = Object.freeze({ ...members, const: members.constant });

const HELP = 'call it before the launch, and pass what it gives as an argument';

for (const [name, member] of Object.entries(members)) {
  if (typeof member !== 'function' || intrinsicName(member) !== undefined) continue;
  declareHostOnly(member, { what: `cuda.${name}`, help: HELP });
}
for (const [name, fn] of Object.entries({ ndarray, scope, struct })) declareHostOnly(fn, { what: name, help: HELP });
