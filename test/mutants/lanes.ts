/**
 * Seeded mistakes in lanes of 8 and 16 bits: what fits them, how they become wider and narrower, and what is computed in them.
 */
import type { Row } from './row.ts';

export const LANES: readonly Row[] = [
  [
    'ir/passes/lane-widths',
    "return high < 2 ** bits ? 'u' : undefined;",
    "return high <= 2 ** bits ? 'u' : undefined;",
    '256 fits a byte',
  ],
  [
    'ir/passes/lane-widths',
    "return low >= -(2 ** (bits - 1)) && high < 2 ** (bits - 1) ? 's' : undefined;",
    "return low >= -(2 ** (bits - 1)) && high < 2 ** bits ? 's' : undefined;",
    'numbers with a sign have as many bits as those without',
  ],
  [
    'ir/passes/lane-widths',
    'return range[0] >= low - 1 && range[1] <= high + 1 ? range : [low - 1, high + 1];',
    'return range[0] >= low - 1 && range[1] <= high + 1 ? range : [low, high];',
    'what is compared with is brought to the end of the range',
  ],
  [
    'ir/passes/lane-widths',
    'if ((factor * by - power) * BigInt(most) < power)',
    'if ((factor * by - power) * BigInt(most) < power << 8n)',
    'reciprocals are too coarse',
  ],
  [
    'ir/passes/integer-ranges',
    'isWithin(range, env.get(id) ?? ZERO) ? [] : [id]',
    'isWithin(range, ANY) ? [] : [id]',
    'loops run once',
  ],
  ['ir/passes/integer-ranges', 'if (low < 0 || high > c) continue;', 'if (low < 0) continue;', 'weights beyond one'],
  [
    'render/wasm/narrow-ops',
    "splatBits(f, 8, fn === 'shl' ? 0xff << count : 0xff >> count);",
    'splatBits(f, 8, 0xff);',
    'bits of the neighbour stay in shifted bytes',
  ],
  ['render/wasm/narrow-ops', 'if (fit !== undefined) return;', 'return;', 'what is cut off saturates'],
  [
    'render/wasm/narrow-ops',
    'export const MOST_BY_255: number = 0xffff - 0xff - 1;',
    'export const MOST_BY_255: number = 0xffff;',
    'large words divided by 255 wrap',
  ],
  ['render/wasm/narrow', "range[0] >= 0 ? 'u' : 's';", "range[1] >= 0 ? 'u' : 's';", 'negative lanes lose their sign'],
  [
    'render/wasm/narrow',
    'range[1] >= 2 ** (from - 1)',
    'range[1] >= 2 ** from',
    'large words saturate as if they were negative',
  ],
  [
    'render/wasm/narrow',
    "extmul_${p & 1 ? 'high' : 'low'}",
    'extmul_low',
    'products of the low half stand in the high one',
  ],
  [
    'render/wasm/masks',
    'resize(g, MASK, 32, bits, p, (q) => f.get(mask?.parts[q] ?? 0));',
    'resize(g, MASK, 32, bits, p, () => f.get(mask?.parts[0] ?? 0));',
    'the first lanes say which bytes are kept',
  ],
  [
    'render/wasm/checks',
    "f.op('v128.any_true');\n  f.release('v128', limit);",
    "f.op('i32x4.bitmask');\n  f.release('v128', limit);",
    'one of four look-ups by bytes is checked',
    ['src/compiler/render/wasm/narrow.test.ts'],
  ],
];
