/**
 * Seeded mistakes in the WebAssembly renderer, and in the tables of math functions.
 */

export const WASM: readonly (readonly [file: string, find: string, replace: string, what: string])[] = [
  ['render/wasm/convert', 'splatConst(f, a.type, 2 ** 31);', 'splatConst(f, a.type, 2 ** 32);', 'u32 lanes saturate'],
  [
    'render/wasm/convert',
    "f.op('i32x4.sub');\n  f.set(result);",
    "f.op('i32x4.add');\n  f.set(result);",
    'negative lanes that wrap are 2 off',
  ],
  [
    'render/wasm/scalar',
    "f.f64(2 ** 32);\n    f.op('f64.mul', 'f64.sub'",
    "f.f64(2 ** 32);\n    f.op('f64.mul', 'f64.add'",
    'floats beyond 2^63 wrap to anything',
  ],
  [
    'render/wasm/scalar',
    "f.op(`${type}.gt`, 'select', `${type}.sub`);",
    "f.op(`${type}.ge`, 'select', `${type}.sub`);",
    'halves round down',
  ],
  [
    'render/wasm/scalar',
    "f.op(isUnsigned(type) ? `${w as 'i32'}.gt_u` : `${w as 'i32'}.gt_s`);",
    "f.op(`${w as 'i32'}.gt_s`);",
    'sign of large unsigned values',
  ],
  [
    'render/wasm/scalar',
    "f.op(`${w as 'i32'}.rem_${sign}`);",
    "f.op(`${w as 'i32'}.rem_s`);",
    'unsigned remainders are signed',
  ],
  [
    'render/wasm/scalar',
    "f.op(`${w as 'i32'}.${fn === 'min' ? 'lt' : 'gt'}_${sign}`, 'select');",
    "f.op(`${w as 'i32'}.${fn === 'min' ? 'lt' : 'gt'}_s`, 'select');",
    'unsigned min and max are signed',
  ],
  [
    'render/wasm/scalar',
    'f.get(x);\n    f.op(`${w}.sub`);\n    f.else();',
    'f.get(x);\n    f.op(`${w}.add`);\n    f.else();',
    'division by -1 keeps the sign',
  ],
  [
    'render/wasm/scalar',
    "if (target === 'i64' && source === 'i32') f.op(`i64.extend_i32_${unsignedFrom}`);",
    "if (target === 'i64' && source === 'i32') f.op('i64.extend_i32_s');",
    'u32 extends by sign',
  ],
  ['render/wasm/scalar', 'i16: [-0x8000, 0x7fff],', 'i16: [-0x8000, 0xffff],', 'floats saturate to u16 for i16'],
  [
    'render/wasm/vector',
    "splatConst(f, 'i64', -(2n ** 63n));",
    "splatConst(f, 'i64', -(2n ** 62n));",
    'u64 comparisons flip the wrong bit',
  ],
  [
    'render/wasm/vector',
    "f.op(fn === 'shl' ? `${v}.shl` : `${v}.shr_${isUnsigned(type) ? 'u' : 's'}`);",
    "f.op(fn === 'shl' ? `${v}.shl` : `${v}.shr_s`);",
    'vector shifts of u32 follow the sign',
  ],
  [
    'render/wasm/vector',
    'f.shuffle([0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]);',
    'f.shuffle([0, 1, 2, 3, 8, 9, 10, 11, 24, 25, 26, 27, 16, 17, 18, 19]);',
    'lanes are exchanged when 64 bits narrow',
  ],
  [
    'render/wasm/vector',
    "case 'uniform':\n      return plain();\n    case 'neg':\n      return plain(`${v}.neg`);",
    "case 'uniform':\n      return plain();\n    case 'neg':\n      return plain(`${v}.abs`);",
    'vector negation is abs',
  ],
  [
    'render/wasm/convert',
    "splatConst(f, 'i32', range[1]);\n      f.op('i32x4.min_s');",
    '',
    'vectors of floats saturate below only',
  ],
  [
    'render/wasm/convert',
    "f.op(`i64x2.extend_${part & 1 ? 'high' : 'low'}_i32x4_${unsigned}`);",
    'f.op(`i64x2.extend_low_i32x4_${unsigned}`);',
    'the high lanes repeat the low ones',
  ],
  [
    'render/wasm/half',
    "splatConst(f, 'i32', 0x38800000);",
    "splatConst(f, 'i32', 0x39800000);",
    'small normal halves are taken for denormal ones',
  ],
  [
    'render/wasm/half',
    "splatConst(f, 'i32', 0xfff - ((127 - 15) << 23));",
    "splatConst(f, 'i32', 0x1000 - ((127 - 15) << 23));",
    'halves round ties up',
  ],
  ['intrinsics/operations', '[8, 0x00ff00ff00ff00ffn],', '[8, 0x00ff00ff00ff00f0n],', 'brev drops bits'],
  [
    'render/wasm/helpers',
    'f.tee(quotient);\n  push(1);',
    'f.tee(quotient);\n  push(2);',
    'floor division goes two down',
  ],
  ['render/wasm/masks', "g.f.op('v128.andnot');", "g.f.op('v128.and');", 'jumps keep the lanes that go'],
  [
    'render/wasm/ranges',
    "if (e.fn === 'and' && low >= 0) return [0, high];",
    "if (e.fn === 'and') return [0, high];",
    'masks with negative numbers bound',
  ],
  ['render/wasm/ranges', 'if (index[1] < extent[0] ||', 'if (index[1] <= extent[0] ||', 'the index may be the extent'],
  [
    'render/wasm/relations',
    'f.slack + offset <= room',
    'f.slack + offset <= room + 1',
    'a guard proves what is one further',
  ],
  [
    'render/wasm/ranges',
    'walk(s.else, learn(s.cond, false, place, s.else));',
    'walk(s.else, learn(s.cond, true, place, s.else));',
    'what a guard says holds on its other side',
  ],
  [
    'render/wasm/checks',
    'Math.max(Number(extent.value) - g.lanes + 1, 0)',
    'Math.max(Number(extent.value) + 1, 0)',
    'only the first lane is checked',
  ],
  ['render/wasm/jam', 'return add(x, i32(row));', 'return add(x, i32(1));', 'rows run together read the second one'],
  [
    'render/wasm/rows',
    'const span = x * (width - 1) + y * (height - 1);',
    'const span = x * (width - 1) + y;',
    'only two rows of a block are checked ahead',
  ],
];

export const MATH: readonly (readonly [file: string, find: string, replace: string, what: string])[] = [
  ['math/trig', 'const SIN = [-0.16666653752326965,', 'const SIN = [-0.16656653752326965,', 'a coefficient of sin'],
  ['math/trig', 'const COS = [0.04166664555668831,', 'const COS = [0.04166764555668831,', 'a coefficient of cos'],
  ['math/trig', '0xa2f9836e, 0x4e441529', '0xa2f9836e, 0x4e441528', 'a bit of 2/pi'],
];
