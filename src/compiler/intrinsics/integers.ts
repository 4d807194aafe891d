/**
 * Functions of integers that `Math` has no word for: each is a row of the table of intrinsics and, by its export, a member of `cuda`.
 *
 * A new one needs no other file: what it means, how devices say it, its types and its documentation stand here.
 */
import { add, constant, eq, intrinsic, select } from '../ir/builder.ts';
import { define, type SameInteger } from './define.ts';
import { BREV, CLZ, CTZ } from './operations.ts';
import { binaryDigits, bitsOf } from './row.ts';

/** Number of bits set in an integer. Numba's `cuda.popc`. */
export const popc: SameInteger = define<SameInteger>({
  name: 'popc',
  arity: 1,
  types: ['i32', 'u32', 'i64', 'u64'],
  result: 'operand',
  evaluate: (type, a) => BigInt(binaryDigits(type, a).replaceAll('0', '').length),
  native: {
    ptx: (type) => `popc.b${bitsOf(type)}`,
    ptxGives32: true,
    opencl: { call: 'popcount' },
    hip: () => ({ body: ({ T, U, bits }) => `return (${T})__builtin_popcount${bits === 64 ? 'l' : ''}((${U})a);` }),
    wasm: 'popcnt',
    simd: (lanes) =>
      lanes === 'i32x4'
        ? ['i8x16.popcnt', 'i16x8.extadd_pairwise_i8x16_u', 'i32x4.extadd_pairwise_i16x8_u']
        : undefined,
  },
});

/** Number of zero bits above the highest bit set; the width for 0. Numba's `cuda.clz`. */
export const clz: SameInteger = define<SameInteger>(CLZ);

/** Place of the lowest bit set, from 1; 0 for 0. Numba's `cuda.ffs`. */
export const ffs: SameInteger = define<SameInteger>({
  name: 'ffs',
  arity: 1,
  types: ['i32', 'u32', 'i64', 'u64'],
  result: 'int',
  expand: (a) => {
    const zero = constant(a.type, 0);
    return select(eq(a, zero), zero, add(intrinsic(CTZ, a), constant(a.type, 1)));
  },
});

/** The bits of an integer in reverse order. Numba's `cuda.brev`. */
export const brev: SameInteger = define<SameInteger>(BREV);
