/**
 * Functions of integers that `Math` has no word for: each is a row of the table of intrinsics and, by its export, a member of `cuda`.
 *
 * A new one needs no other file: what it means, how devices say it, its types and its documentation stand here.
 */
import { add, binary, constant, eq, intrinsic, mul, select } from '../ir/builder.ts';
import type { Expr } from '../ir/ops.ts';
import { define, type SameInteger } from './define.ts';
import { BREV, CLZ, CTZ } from './operations.ts';
import { binaryDigits, bitsOf } from './row.ts';

/**
 * Number of bits set in an integer. Numba's `cuda.popc`.
 * @example
 * const y = Uint32Array.of(0b1011);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.popc(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 3
 */
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
    wgsl: { word: 'countOneBits', wide: 'vec2<u32>(countOneBits(a.x) + countOneBits(a.y), 0u)' },
    wasm: 'popcnt',
    simd: (lanes) =>
      lanes === 'i32x4'
        ? ['i8x16.popcnt', 'i16x8.extadd_pairwise_i8x16_u', 'i32x4.extadd_pairwise_i16x8_u']
        : undefined,
  },
});

/**
 * Number of zero bits above the highest bit set; the width for 0. Numba's `cuda.clz`.
 * @example
 * const y = Uint32Array.of(1);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.clz(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 31
 */
export const clz: SameInteger = define<SameInteger>(CLZ);

/**
 * Place of the lowest bit set, from 1; 0 for 0. Numba's `cuda.ffs`.
 * @example
 * const y = Uint32Array.of(0b1000);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.ffs(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4
 */
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

/**
 * The bits of an integer in reverse order. Numba's `cuda.brev`.
 * @example
 * const y = Uint32Array.of(1);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.brev(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 2147483648
 */
export const brev: SameInteger = define<SameInteger>(BREV);

/**
 * The products of four bytes of `a` and `b`, added to `c`: signed ones of i32, unsigned ones of u32. The sum wraps. One instruction on NVIDIA
 * and most AMD GPUs. CUDA's `__dp4a`.
 * @example
 * const y = Uint32Array.of(0x01020304, 0x01010101);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.dp4a(y[0]!, y[1]!, 100); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 110
 */
export const dp4a: (a: number, b: number, c: number) => number = define<(a: number, b: number, c: number) => number>({
  name: 'dp4a',
  arity: 3,
  types: ['i32', 'u32'],
  evaluate: (type, a, b, c) => {
    const byte = (x: bigint, by: bigint): bigint => (type === 'i32' ? BigInt.asIntN(8, x >> by) : (x >> by) & 0xffn);
    return [0n, 8n, 16n, 24n].reduce((sum, by) => sum + byte(a, by) * byte(b, by), c);
  },
  expand: (a, b, c) => {
    // The byte comes to the top first, which leaves its sign there.
    const byte = (x: Expr, by: number): Expr =>
      binary('shr', by === 0 ? x : binary('shl', x, constant(x.type, by)), constant(x.type, 24));
    return [24, 16, 8, 0].reduce((sum, by) => add(sum, mul(byte(a, by), byte(b, by))), c);
  },
  native: {
    ptx: (type, sm) => (sm < 61 ? undefined : type === 'i32' ? 'dp4a.s32.s32' : 'dp4a.u32.u32'),
    hip: (arch, type) => {
      // From gfx11 on an operand says whether the bytes are signed.
      const says = /^gfx1[12]\d\d/.test(arch);
      if (!says && !/^gfx(90[68a]|94[0-2]|101[12]|103\d)/.test(arch)) return undefined;
      const call = type === 'u32' ? 'udot4(a, b, c' : says ? 'sudot4(true, a, true, b, c' : 'sdot4(a, b, c';
      return { body: () => `return __builtin_amdgcn_${call}, false);` };
    },
  },
});
