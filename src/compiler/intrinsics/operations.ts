/**
 * Rows that other rows and the bodies of math functions are made of. Those that users call too have their names in `integers.ts`.
 */
import { binary, bitcast, cast, constant, intrinsic } from '../ir/builder.ts';
import type { Expr } from '../ir/ops.ts';
import type { Row } from './define.ts';
import { binaryDigits, bitsOf, type IntrinsicType } from './row.ts';

const INTEGERS: readonly IntrinsicType[] = ['i32', 'u32', 'i64', 'u64'];

/** Bits that are set. */
export const POPC: Row = {
  name: 'popc',
  arity: 1,
  types: INTEGERS,
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
};

/** Zeros above the highest bit set; the width for 0. */
export const CLZ: Row = {
  name: 'clz',
  arity: 1,
  types: INTEGERS,
  result: 'operand',
  evaluate: (type, a) => BigInt(`${binaryDigits(type, a)}1`.indexOf('1')),
  native: {
    ptx: (type) => `clz.b${bitsOf(type)}`,
    ptxGives32: true,
    opencl: { body: ({ T, U, bits }) => `return a == 0 ? ${bits} : (${T})clz((${U})a);` },
    wgsl: {
      word: 'countLeadingZeros',
      wide: 'vec2<u32>(select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u), 0u)',
    },
    wasm: 'clz',
    js: (type, a) => (bitsOf(type) === 32 ? `Math.clz32(${a})` : undefined),
  },
};

/** The bits in reverse order. */
export const BREV: Row = {
  name: 'brev',
  arity: 1,
  types: ['u32', 'i64', 'u64'],
  evaluate: (type, a) => BigInt(`0b${[...binaryDigits(type, a)].reverse().join('')}`),
  expand: (a) => {
    if (a.type === 'i64') return bitcast('i64', intrinsic(BREV, bitcast('u64', a)));
    const swaps = SWAPS.filter(([by]) => by < (a.type === 'u64' ? 64 : 32));
    return swaps.reduce((bits, [by, mask]) => swapped(bits, by, mask), a);
  },
  native: {
    ptx: (type) => `brev.b${bitsOf(type)}`,
    wgsl: { word: 'reverseBits', wide: 'vec2<u32>(reverseBits(a.y), reverseBits(a.x))' },
  },
};

/** Neighbours of so many bits, of which the mask has the lower ones. */
const SWAPS: readonly (readonly [by: number, mask: bigint])[] = [
  [1, 0x5555555555555555n],
  [2, 0x3333333333333333n],
  [4, 0x0f0f0f0f0f0f0f0fn],
  [8, 0x00ff00ff00ff00ffn],
  [16, 0x0000ffff0000ffffn],
  [32, 0x00000000ffffffffn],
];

/** Unsigned integers with such neighbours exchanged. */
function swapped(a: Expr, by: number, mask: bigint): Expr {
  const [count, low] = [constant(a.type, by), constant(a.type, mask)];
  return binary('or', binary('and', binary('shr', a, count), low), binary('shl', binary('and', a, low), count));
}

/** Zeros below the lowest bit set; the width for 0. */
export const CTZ: Row = {
  name: 'ctz',
  arity: 1,
  types: INTEGERS,
  evaluate: (type, a) => BigInt(bitsOf(type) - 1 - binaryDigits(type, a).lastIndexOf('1')),
  expand: (a) =>
    a.type === 'i32'
      ? bitcast('i32', intrinsic(CLZ, intrinsic(BREV, bitcast('u32', a))))
      : intrinsic(CLZ, intrinsic(BREV, a)),
  native: {
    opencl: {
      body: ({ T, U, bits }) => `return a == 0 ? ${bits} : (${T})(${bits - 1} - clz((${U})a & (0 - (${U})a)));`,
    },
    wgsl: {
      word: 'countTrailingZeros',
      wide: 'vec2<u32>(select(countTrailingZeros(a.x), 32u + countTrailingZeros(a.y), a.x == 0u), 0u)',
    },
    wasm: 'ctz',
  },
};

/** Bytes of `a` (0 to 3) and `b` (4 to 7), picked by the four lowest hexadecimal digits of the selector, each below 8. */
export const PRMT: Row = {
  name: 'prmt',
  arity: 3,
  types: ['u32'],
  evaluate: (_type, a, b, selector) => {
    const bytes = (b << 32n) | a;
    const picked = (k: bigint): bigint => (bytes >> (8n * ((selector >> (4n * k)) & 7n))) & 0xffn;
    return [0n, 1n, 2n, 3n].reduce((word, k) => word | (picked(k) << (8n * k)), 0n);
  },
  expand: (a, b, selector) => {
    const bytes = binary('or', cast('u64', a), binary('shl', cast('u64', b), constant('u64', 32)));
    const picked = (k: number): Expr => {
      const digit = binary('and', binary('shr', selector, constant('u32', 4 * k)), constant('u32', 7));
      const by = cast('u64', binary('shl', digit, constant('u32', 3)));
      const byte = binary('and', cast('u32', binary('shr', bytes, by)), constant('u32', 0xff));
      return k === 0 ? byte : binary('shl', byte, constant('u32', 8 * k));
    };
    return [1, 2, 3].reduce((word, k) => binary('or', word, picked(k)), picked(0));
  },
  // The fourth bit of a digit would repeat the sign of the byte.
  native: { ptx: () => '.reg .b32 digits; and.b32 digits, $3, 0x7777; prmt.b32 $0, $1, $2, digits' },
};
