/**
 * Seeded mistakes in look-ups of the CPU device: addresses that are taken out in pairs, halves of vectors, checks in narrow lanes.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/gathers.test.ts'];

export const GATHERS: readonly Row[] = [
  ['render/wasm/address', 'f.get(pairs[lane >> 1] ?? 0);', 'f.get(pairs[0] ?? 0);', 'all lanes are in one pair', TESTS],
  [
    'render/wasm/memory',
    'address(first + from + lane)',
    'address(first + lane)',
    'both halves of a vector are the first',
    TESTS,
  ],
  ['render/wasm/memory', 'i < 8 ? i : i + 8', 'i', 'the second half of a vector is dropped', TESTS],
  [
    'render/wasm/checks',
    "f.get(few);\n  f.op('v128.and');",
    "f.get(few);\n  f.op('drop');",
    'an extent that lanes cannot hold is taken for what is left of it',
    TESTS,
  ],
  [
    'render/wasm/checks',
    "=== 'u' ? (bits as 8 | 16)",
    '!== undefined ? (bits as 8 | 16)',
    'negative indices are checked as if they were large',
    TESTS,
  ],
  ['render/wasm/checks', 'f.op(`${lanes}.ge_u`);', 'f.op(`${lanes}.gt_u`);', 'an index may be the extent', TESTS],
];
