/**
 * Seeded mistakes in lanes that are every second item of a row, in neighbouring blocks that take turns, and in calls for several rows of blocks.
 */
import type { Row } from './row.ts';

const FOLDER = 'src/compiler/render/wasm';
const LANES = [`${FOLDER}/stepped-lanes.test.ts`, 'test/fuzz/chequer.test.ts'];
const TURNS = [`${FOLDER}/turns.test.ts`, 'test/fuzz/chequer.test.ts'];
const CALLS = [`${FOLDER}/run.test.ts`];

export const STEPPED: readonly Row[] = [
  [
    'stepped-lanes',
    'add(mul(e, i32(STEP)), read(first))',
    'mul(e, i32(STEP))',
    'the first item is the first of the row',
    LANES,
  ],
  ['stepped-lanes', '.some((id) => entry.has(id))', '.some(() => false)', 'items begin with what others left', LANES],
  ['stepped-lanes', "if (specialsIn(body).has('laneId')) return undefined;", '', 'lanes are those of the warp', LANES],
  ['stepped-lanes', '|| !cannotFail(g, body)', '', 'items by lanes do not fail', LANES],
  ['stepped-lanes', "f.op('i32.shr_u');", "f.op('drop');", 'vectors of rows at an edge begin twice as far on', LANES],
  [
    'strided-rows',
    'if (strided.lanes !== undefined) {',
    'if (strided.lanes !== undefined && g.lanes > 64) {',
    'no rows have lanes',
    LANES,
  ],
  [
    'strided-rows',
    ' && isOfNumber(g, place);',
    ';',
    'blocks of which each counts by itself are run as one row',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  [
    'strided-rows',
    '!isOfBlock(rest) && (when === undefined || !isOfBlock(when))',
    'true',
    'what holds for the first block is taken to hold for all that take turns with it',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  [
    'strided-rows',
    ' && !someStmt(each, (s) => !stmtExprs(s).every((e) => isOfNumber(g, e)));',
    ';',
    'items know the block no longer',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  [
    'strided-rows',
    "width();\n    f.op('i32.sub');",
    "width();\n    f.op('drop');",
    'remainders are taken of what is negative in a later block',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  [
    'stepped-lanes',
    'while ((lanes / LANES) % together > 0) together--;',
    '',
    'rounds end behind the row',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  [
    'woven-stores',
    'g.variant.concurrent || ',
    '',
    'other threads may write in between',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  [
    'woven-stores',
    'const BEFORE_LAST = words(3, 4, 5, 6);',
    'const BEFORE_LAST = words(3, 4, 6, 5);',
    'the last lanes are stored elsewhere',
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  ['turns', "nodes[0]?.kind !== 'workItems' || ", '', 'blocks take turns inside of loops', TURNS],
  [
    'turns',
    "every(({ space }) => space === 'global' || space === 'constant')",
    'every(() => true)',
    'blocks that take turns share what each has',
    TURNS,
  ],
  ['turns', ' && cannotFail(g, node.body)', '', 'a later block fails before an earlier one', TURNS],
  ['turns', "pushHolds(g, holds);\n    f.op('i32.and');", '', 'all blocks behind one take turns with it', TURNS],
  [
    'turns',
    "x.op === 'special' && x.name === 'blockIdx.x'",
    "x.op === 'special' && x.name === 'blockIdx.y'",
    'blocks at an edge of a row take turns with others',
    TURNS,
  ],
  [
    'row-steady',
    " && !(ofBlocks && e.name === 'blockIdx.x')",
    '',
    'blocks that take turns load what the first of them has',
    TURNS,
  ],
  [
    'work-items',
    'each({ ...node, body }), { ofBlocks: true });',
    'each({ ...node, body }), { ofBlocks: g.lanes > 64 });',
    'what is that of a block is not left to its turn',
    TURNS,
  ],
  ['run', "!someStmt(body, (s) => s.op === 'loop') && ", '', 'many blocks with loops are in one call', CALLS],
  ['run', 'soon || inTurns > BLOCKS_TOGETHER', 'soon', 'blocks in turns are in several calls', CALLS],
  ['run', 'f.setGlobal(most);', "f.op('drop');", 'calls are for one block for ever', CALLS],
  [
    'turns',
    'f.get(end);\n  f.i32(1);',
    'f.get(end);\n  f.i32(0);',
    'the block behind those that took turns is left out',
    TURNS,
  ],
  [
    'checks',
    "(s.op === 'store' && boundsHazards(g, s.mem).length > 0) || ",
    '',
    'stores cannot fail',
    [...LANES, ...TURNS],
  ],
  [
    'records',
    'isPair(any.mem, step) ? 2 * SIZE : WHOLE;',
    'WHOLE;',
    "of records of two, the next lane's are loaded with them",
    [`${FOLDER}/stepped-lanes.test.ts`],
  ],
  ['run', 'atMost(rows, y, gy);', '', 'rows go on behind a plane', CALLS],
  ['run', 'atMost(rows, block, end);', '', 'rows go on behind a range', CALLS],
  ['run', "f.get(gx);\n  f.op('i32.mul', 'i32.add');", "f.op('i32.add');", 'rows that fail have one block', CALLS],
  ['render', 'f.i32(0);\n  f.set(x);\n  f.get(y);', 'f.get(y);', 'rows begin where the one before ended', CALLS],
];
