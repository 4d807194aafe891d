/**
 * Seeded mistakes in the last rounds of sorting networks on the CPU device, and in exchanges within a vector.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/last-rounds.test.ts'];

export const LAST_ROUNDS: readonly Row[] = [
  [
    'ir/passes/last-rounds',
    "binary('shr', i32(value), i32(1))",
    'i32(value)',
    'the round behind one that was written out is left out',
    TESTS,
  ],
  [
    'ir/passes/last-rounds',
    'if (!halves || at(exit, 0) !== true',
    'if (at(exit, 0) !== true',
    'strides need not halve',
    TESTS,
  ],
  [
    'render/wasm/lane-facts',
    '(lane ^ low) - low',
    '(lane ^ low)',
    'exchanged lanes lie as far from the first vector as from the first lane',
    TESTS,
  ],
  [
    'render/wasm/permuted-stores',
    'own[lane] === least + 4 * k',
    'own[lane] !== undefined',
    'lanes that are not neighbours are stored as if they were',
    TESTS,
  ],
  [
    'render/wasm/permuted-stores',
    'inOrder(mask.parts[p] ?? 0);',
    'f.get(mask.parts[p] ?? 0);',
    'exchanged lanes are stored where their partners are active',
    TESTS,
  ],
];
