/**
 * Functions of integers that `Math` has no word for: each is a row of the table of intrinsics and, by its export, a member of `cuda`.
 *
 * A new one needs no other file: what it means, how devices say it, its types and its documentation stand here.
 */
import { add, and, binary, bitcast, cast, constant, eq, intrinsic, lt, mul, select, sub } from '../ir/builder.ts';
import type { Expr } from '../ir/ops.ts';
import { define, type SameInteger, type SameIntegers, type SameIntegers3 } from './define.ts';
import { BREV, CLZ, CTZ, POPC, PRMT } from './operations.ts';
import { bitsOf, type IntrinsicType } from './row.ts';

/**
 * Number of bits set in an integer. Numba's `cuda.popc`.
 * @example
 * const y = Uint32Array.of(0b1011);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.popc(y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 3
 */
export const popc: SameInteger = define<SameInteger>(POPC);

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

const ALL: readonly IntrinsicType[] = ['i32', 'u32', 'i64', 'u64'];

/** The `s32` or `u64` of a PTX instruction. */
const suffix = (type: IntrinsicType): string => `${type.startsWith('i') ? 's' : 'u'}${bitsOf(type)}`;

/** The upper half of the product of two u64, from products of their halves. */
function upperOf64(a: Expr, b: Expr): Expr {
  const low = (x: Expr): Expr => and(x, constant('u64', 0xffffffffn));
  const high = (x: Expr): Expr => binary('shr', x, constant('u64', 32));
  const first = add(mul(high(a), low(b)), high(mul(low(a), low(b))));
  const second = add(mul(low(a), high(b)), low(first));
  return add(add(mul(high(a), high(b)), high(first)), high(second));
}

/**
 * The upper half of a product: of two i32 or u32 its upper 32 bits, of two i64 or u64 its upper 64. libdevice's `mulhi umulhi mul64hi umul64hi`, by the
 * type of the operands.
 * @example
 * const y = Uint32Array.of(0xffffffff);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.mulhi(y[0]!, y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4294967294
 */
export const mulhi: SameIntegers = define<SameIntegers>({
  name: 'mulhi',
  arity: 2,
  types: ALL,
  evaluate: (type, a, b) => (a * b) >> BigInt(bitsOf(type)),
  expand: (a, b) => {
    switch (a.type) {
      case 'i32':
        return cast('i32', binary('shr', mul(cast('i64', a), cast('i64', b)), constant('i64', 32)));
      case 'u32':
        return cast('u32', binary('shr', mul(cast('u64', a), cast('u64', b)), constant('u64', 32)));
      case 'i64': {
        const zero = constant('i64', 0);
        const upper = bitcast('i64', upperOf64(bitcast('u64', a), bitcast('u64', b)));
        return sub(sub(upper, select(lt(a, zero), b, zero)), select(lt(b, zero), a, zero));
      }
      default:
        return upperOf64(a, b);
    }
  },
  native: {
    ptx: (type) => `mul.hi.${suffix(type)}`,
    opencl: { call: 'mul_hi' },
    hip: () => undefined,
  },
});

/**
 * The lower 32 bits of the product of the lower 24 bits of two integers, with their sign those of i32. libdevice's `mul24` and `umul24`; GPUs of today
 * multiply 32 bits as quickly.
 * @example
 * const y = Int32Array.of(-3);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.mul24(y[0]!, 0x7000005); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -15
 */
export const mul24: (a: number, b: number) => number = define<(a: number, b: number) => number>({
  name: 'mul24',
  arity: 2,
  types: ['i32', 'u32'],
  evaluate: (type, a, b) => {
    const low = (x: bigint): bigint => (type === 'i32' ? BigInt.asIntN(24, x) : BigInt.asUintN(24, x));
    return low(a) * low(b);
  },
  expand: (a, b) => {
    const low = (x: Expr): Expr => binary('shr', binary('shl', x, constant(x.type, 8)), constant(x.type, 8));
    return mul(low(a), low(b));
  },
  native: { ptx: (type) => `mul24.lo.${suffix(type)}` },
});

/**
 * `|a - b| + c`, wrapped to the type. libdevice's `sad` and `usad`, by the type of the operands.
 * @example
 * const y = Uint32Array.of(3, 10);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.sad(y[0]!, y[1]!, 100); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 107
 */
export const sad: SameIntegers3 = define<SameIntegers3>({
  name: 'sad',
  arity: 3,
  types: ALL,
  evaluate: (_type, a, b, c) => (a < b ? b - a : a - b) + c,
  expand: (a, b, c) => add(select(lt(a, b), sub(b, a), sub(a, b)), c),
  native: { ptx: (type) => `sad.${suffix(type)}` },
});

/**
 * The mean of two integers, rounded down, without overflow. libdevice's `hadd` and `uhadd`, by the type of the operands.
 * @example
 * const y = Uint32Array.of(0xffffffff, 0xfffffffe);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.hadd(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 4294967294
 */
export const hadd: SameIntegers = define<SameIntegers>({
  name: 'hadd',
  arity: 2,
  types: ALL,
  evaluate: (_type, a, b) => (a + b) >> 1n,
  expand: (a, b) => add(and(a, b), binary('shr', binary('xor', a, b), constant(a.type, 1))),
  native: { opencl: { call: 'hadd' }, hip: () => undefined },
});

/**
 * The mean of two integers, rounded up, without overflow. libdevice's `rhadd` and `urhadd`, by the type of the operands.
 * @example
 * const y = Int32Array.of(-4, -7);
 * cuda.jit((y: Vec<i32>) => { y[0] = cuda.rhadd(y[0]!, y[1]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -5
 */
export const rhadd: SameIntegers = define<SameIntegers>({
  name: 'rhadd',
  arity: 2,
  types: ALL,
  evaluate: (_type, a, b) => (a + b + 1n) >> 1n,
  expand: (a, b) => sub(binary('or', a, b), binary('shr', binary('xor', a, b), constant(a.type, 1))),
  native: { opencl: { call: 'rhadd' }, hip: () => undefined },
});

/**
 * Four of the eight bytes of `a` (0 to 3, from the lowest) and `b` (4 to 7), as the four lowest hexadecimal digits of `selector` say, the lowest
 * first; of each digit three bits count. libdevice's `byte_perm`.
 * @example
 * const y = Uint32Array.of(0x33221100, 0x77665544);
 * cuda.jit((y: Vec<u32>) => { y[0] = cuda.bytePerm(y[0]!, y[1]!, 0x0246); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]!.toString(16)); // 224466
 */
export const bytePerm: (a: number, b: number, selector: number) => number = define<
  (a: number, b: number, selector: number) => number
>({
  name: 'bytePerm',
  arity: 3,
  types: ['u32'],
  expand: (a, b, selector) => intrinsic(PRMT, a, b, and(selector, constant('u32', 0x7777))),
});
