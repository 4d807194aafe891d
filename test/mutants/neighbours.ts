/**
 * Seeded mistakes in grid-stride loops that neighbouring blocks of the CPU device go through in turns.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/neighbours.test.ts'];

export const NEIGHBOURS: readonly Row[] = [
  [
    'render/wasm/neighbours',
    "x.mem.array.space === 'shared' || (checked && x.mem.checks.length > 0)",
    'checked && x.mem.checks.length > 0',
    'shared memory is read ahead of other blocks',
    TESTS,
  ],
  [
    'render/wasm/neighbours',
    "x.mem.array.space === 'shared' || (checked && x.mem.checks.length > 0)",
    "x.mem.array.space === 'shared'",
    'blocks fail ahead of others',
    TESTS,
  ],
  [
    'render/wasm/neighbours',
    "s.op !== 'assign' && s.op !== 'if'",
    "s.op !== 'assign' && s.op !== 'if' && s.op !== 'store'",
    'blocks store ahead of others',
    TESTS,
  ],
  [
    'render/wasm/neighbours',
    "storage.get(v.id)?.kind === 'uniform'",
    'assigned.size === 0',
    'neighbours share what is kept once for the block',
    TESTS,
  ],
  [
    'render/wasm/neighbours',
    ', MOST_KEPT / Math.max(1, slots));',
    ');',
    'neighbours keep more than the second cache is to have',
    TESTS,
  ],
  ['render/wasm/neighbours', '    f.i32(stride);', '    f.i32(0);', 'neighbours share their scratch memory', TESTS],
  [
    'render/wasm/neighbours',
    "f.op('i32.lt_u', 'select');",
    "f.op('i32.lt_u', 'i32.eqz', 'select');",
    'neighbours go beyond the last block',
    TESTS,
  ],
  [
    'ir/passes/full-rounds',
    'Number(b.value) === width',
    'Number(b.value) >= width',
    'blocks with gaps between them are neighbours',
    TESTS,
  ],
  [
    'render/wasm/render',
    'f.get(at.home, at.block[0]);',
    'f.get(at.scratch, at.block[0]);',
    'the fault of a neighbour is told where nobody looks',
    TESTS,
  ],
];
