/**
 * Seeded mistakes in look-ups of the CPU device: addresses that are taken out in pairs, halves of vectors, checks in narrow lanes.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/gathers.test.ts'];

/** Of records that lie anywhere. */
const ANYWHERE: readonly Row[] = [
  [
    'render/wasm/records',
    'use(() => where.lane(lane++), where.offset)',
    'use(() => where.lane(lane), where.offset)',
    'all records are the first',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/records',
    '< 2 * SIZE ? ',
    '< WHOLE ? ',
    'the upper half of a record is not loaded',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/records',
    "if (g.mask !== null && purpose !== 'load') return undefined;",
    '',
    'records are stored in lanes that are not active',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/records',
    'return g.mask !== null || someExpr(step',
    'return someExpr(step',
    'records in rows are loaded in lanes that are not active',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/records',
    '- Math.min(0, ...places) < WHOLE;',
    '- Math.min(0, ...places) <= WHOLE;',
    'the first of the next row is loaded with a row',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/records',
    'isLate ||= isNew;',
    '',
    'members of later statements are asked about before what stands between',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/shared-loads',
    'loads.has(e) || boundsHazards(g, e.mem).length > 0',
    'loads.has(e)',
    'what is loaded twice is asked about before the rest of its statement',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/record-stores',
    'if (!isAsked(g, e, first)) return true;',
    '',
    'what fails later is reported first',
    ['test/fuzz/anywhere.test.ts'],
  ],
  [
    'render/wasm/address',
    'powerIn(e.a) * powerIn(e.b) : 1',
    '1 : 1',
    'records in rows are not known to begin at multiples of their size',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/address',
    '(factor * scale * powerIn(e)) % bytes !== 0',
    'false',
    'all indices are multiples of the size of records',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/interleave',
    "f.op('i32.and', 'i32.eqz');",
    "f.op('drop', 'drop');\n  f.i32(1);",
    'arrays always begin at the same place of a record',
    ['src/compiler/render/wasm/records.test.ts'],
  ],
  [
    'render/wasm/deinterleave',
    'const more = where.lane(WORD * p + lane);',
    'const more = where.lane(lane);',
    'all vectors of words are the first',
    ['src/compiler/render/wasm/deinterleave.test.ts'],
  ],
  [
    'render/wasm/deinterleave',
    'anywhere ? WORD - ELEM_SIZE[any.mem.elem] : step - 1',
    'step',
    'a word has five bytes',
    ['src/compiler/render/wasm/deinterleave.test.ts'],
  ],
  [
    'ir/passes/fold',
    "a.to === 'f64' && e.to === a.a.type",
    "a.to === 'f64'",
    'what saturates does not',
    ['src/compiler/ir/passes/simplify.test.ts'],
  ],
];

/** Of stores that wait for what is computed after them. */
const LATE: readonly Row[] = [
  ['late-stores', 'read.has(s.var.id) || ', '', 'what a store is to write has been assigned anew'],
  [
    'late-stores',
    'loadsOf(s).every((e) => !mayBeSame(g, e.mem.array, array)) && ',
    '',
    'what is stored is not loaded afterwards',
  ],
].map(
  ([file, find, replace, what]): Row => [
    `render/wasm/${file}`,
    find as string,
    replace as string,
    what as string,
    ['src/compiler/render/wasm/late-stores.test.ts'],
  ],
);

/** Of variables that become several. */
const RANGES: readonly Row[] = [
  ['for (const id of assignedIn([s])) begun.delete(id);', '', 'what branches assign is another variable'],
  ['begun.clear();', '', 'where a jump leads, a variable is what it was before'],
  ['        current.delete(s.var.id);\n', '', 'the last value has the name of the one before'],
].map(
  ([find, replace, what]): Row => [
    'ir/passes/live-ranges',
    find as string,
    replace as string,
    what as string,
    ['src/compiler/ir/passes/live-ranges.test.ts'],
  ],
);

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
    "2 ** bits - 1);\n  f.op('i32.le_u');",
    "2 ** bits - 1);\n  f.op('i32.lt_u');",
    'a table with room for all indices but the last is taken to have room for all',
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
  ...ANYWHERE,
  ...LATE,
  ...RANGES,
];
