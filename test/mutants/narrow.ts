/**
 * Seeded mistakes in the codecs of narrow floats, on the host and as IR operations, and in what is rounded once.
 */
import type { Row } from './row.ts';

const STORED = ['src/kernel/stored-numbers.test.ts'];

export const NARROW: readonly Row[] = [
  ['dtype/narrow-float', 'return floor + (floor % 2);', 'return floor + 1;', 'ties go up'],
  ['dtype/narrow-float', '2 ** (last - bias + 1)', '2 ** (last - bias)', 'the greatest binade is infinite'],
  ['dtype/narrow-float', 'saturates ? greatest : special * implicit', 'special * implicit', 'nothing saturates'],
  [
    'dtype/narrow-float',
    'if (bits % sign === nan) return Number.NaN;',
    '',
    'the NaN of a format without infinities is a number',
  ],
  ['compiler/ir/narrow-float', 'format.saturates ? 0 : 1', '1', 'nothing saturates on devices'],
  ['dtype/narrow-float', 'if (Number.isNaN(value)) return nan;', '', 'a NaN becomes something else'],
  ['dtype/narrow-float', '- 1024 + bias, 0)', '- 1024 + bias, 1)', 'subnormals lose a digit'],
  ['dtype/convert', 'kept : kept | 1n)', 'kept : kept)', 'bigints just above a tie go down'],
  ['dtype/table', 'dlpack: 4 }', 'dlpack: 2 }', 'bfloat16 is float16 to DLPack'],
  [
    'compiler/ir/narrow-float',
    'i32(2 ** (drop - 1) - 1 - rebase)',
    'i32(2 ** (drop - 1) - rebase)',
    'ties go up on devices',
  ],
  [
    'compiler/ir/narrow-float',
    "if (exponentBits === 8) return select(unary('isNaN', value), nan, rounded(word, 0));",
    'if (exponentBits === 8) return rounded(word, 0);',
    'a NaN with low bits alone becomes infinity or zero',
  ],
  [
    'compiler/ir/narrow-float',
    "const exact = binary('or', compare('eq', back, x), unary('isNaN', x));",
    "const exact = compare('eq', back, back);",
    'f64 is rounded to f32 first',
  ],
  ['compiler/ir/narrow-float', 'lowBitsTogether(x, 9)', 'x', 'i32 is rounded to f32 first'],
  ['compiler/ir/narrow-float', 'lowBitsTogether(x, 12)', 'x', 'i64 is rounded to f64 first'],
  [
    'compiler/frontend/convert',
    "return from === 'f64' || 2 ** (narrow.exponentBits - 1) > 24 ? store : undefined;",
    'return undefined;',
    'what is stored is rounded to f32 first',
    STORED,
  ],
  [
    'compiler/frontend/convert',
    'value: SCALAR_TOKENS[elem](n) as number',
    "value: type === 'f32' ? Math.fround(n) : n",
    'literals are rounded to f32 first',
    STORED,
  ],
  [
    'compiler/ir/passes/expand-narrow',
    'if (array === mem.array && elem === mem.elem) return mem;',
    'return mem;',
    'elements stay what the renderer does not know',
  ],
];
