/**
 * Seeded mistakes in boxes of blocks: in what guards leave, in what is asked about it, and in how its rows are run.
 */
import type { Row } from './row.ts';

const BOXES = ['src/compiler/render/wasm/box-rows.test.ts'];
const ROWS = 'compiler/render/wasm/box-rows';
const PEELING = 'compiler/ir/passes/box-peeling';

export const BOX_ROWS: readonly Row[] = [
  [PEELING, 'holds.push(bound.exact);', '', 'coordinates that wrap are in boxes', BOXES],
  [PEELING, 'holds.push(full);', '', 'what is the same for the block is not asked', BOXES],
  [PEELING, "binary('max', los[k] ?? i32(0), bound.lo)", 'bound.lo', 'the last bound from below is the one', BOXES],
  [PEELING, "binary('min', hi, bound.hi)", 'hi', 'the first bound from above is the one', BOXES],
  [PEELING, '|| (k === 0 && bound.lo !== undefined && uniformity.isAligned())', '', 'vectors begin anywhere', BOXES],
  [PEELING, "x.name.startsWith('threadIdx')", "x.name === 'threadIdx.x'", 'rows are taken for blocks', BOXES],
  [PEELING, 'extent: extent * blocks, span, isSteady', 'extent, isSteady', 'only the first block is run', BOXES],
  [
    'compiler/render/wasm/sums',
    'return upper ? scope.box[t.axis].last : scope.box[t.axis].first;',
    'return scope.box[t.axis].first;',
    'only the first items of a box are asked about',
    BOXES,
  ],
  [ROWS, '|| !cannotFail(g, body)', '', 'what fails is not found out', BOXES],
  [
    ROWS,
    'members.reduce((a, b) => (b.at < a.at ? b : a))',
    'members.reduce((a) => a)',
    'places lie before the first',
    BOXES,
  ],
  [ROWS, 'beyond: m.at - first.at', 'beyond: m.at', 'places lie elsewhere', BOXES],
  [ROWS, '|| growth(index) !== 1', '', 'any index grows along the row', BOXES],
  [ROWS, 'array !== one.mem.array || ', '', 'arrays are one', BOXES],
  [ROWS, "f.op('i32.ge_s');\n    f.brIf(empty);", "f.op('i32.gt_s');\n    f.brIf(empty);", 'no items are some', BOXES],
  [
    ROWS,
    "f.op('i32x4.splat', 'i32x4.lt_s', 'v128.and');",
    "f.op('i32x4.splat', 'i32x4.lt_s', 'v128.or');",
    'all lanes are on',
    BOXES,
  ],
  [
    ROWS,
    'if (g.uniformity.isAligned()) f.i32(0);',
    'if (g.lanes > 64) f.i32(0);',
    'last vectors begin anywhere',
    BOXES,
  ],
  [ROWS, "f.op('i32.lt_u', 'select');", "f.op('i32.gt_u', 'select');", 'more blocks than there are are run', BOXES],
  [
    'compiler/render/wasm/memory',
    'alone = g.stored !== undefined && size >= 4',
    'alone = g.stored !== undefined',
    'bytes are blended',
    BOXES,
  ],
  [
    'compiler/render/wasm/address',
    'return disp + known.beyond;',
    'return disp;',
    'places beyond the first are the first',
    BOXES,
  ],
];
