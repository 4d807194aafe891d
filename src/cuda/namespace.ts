/**
 * The object `cuda`: frozen and plain, so that the compiler can resolve `cuda.grid` in a kernel that captured `cuda`.
 */
import { declareHostOnly, intrinsicName } from '../compiler/intrinsics.ts';
import * as members from './members.ts';

/** Numba's `cuda` module. `const` stands beside `constant`, which needs no quoting of a reserved word in named imports. */
export type Cuda = Readonly<typeof members> & { readonly const: typeof members.constant };

export const cuda: Cuda = Object.freeze({ ...members, const: members.constant });

for (const [name, member] of Object.entries(members)) {
  if (typeof member !== 'function' || intrinsicName(member) !== undefined) continue;
  declareHostOnly(member, {
    what: `cuda.${name}`,
    help: 'call it before the launch, and pass what it gives as an argument',
  });
}
