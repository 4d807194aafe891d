/**
 * Seeded mistakes in which kernels run with one lane, in checks of one lane at a time, and in which loops are stages of a transform.
 */
import type { Row } from './row.ts';

const LANE = ['src/compiler/render/wasm/scattered.test.ts'];
const ATOMICS = ['src/compiler/render/wasm/atomics.test.ts'];
const STAGES = ['src/compiler/ir/passes/unroll.test.ts'];

export const SCATTERED: readonly Row[] = [
  ['render/wasm/scattered', '2 * long > operations || ', '', 'integers of 64 bits are like others', LANE],
  [
    'render/wasm/scattered',
    'facts.offsets(index) === undefined && ',
    '',
    'what lies in a row is all over memory',
    LANE,
  ],
  ['render/wasm/scattered', ' + WORTH_A_GUESS * guesses', '', 'branches within a round cost nothing', LANE],
  ['render/wasm/scattered', 'WORTH_A_GUESS = 5', 'WORTH_A_GUESS = 50', 'no stack pays for branches', LANE],
  ['render/wasm/scattered', 'operations + WORTH_A_GUESS', 'WORTH_A_GUESS', 'arithmetic costs nothing', LANE],
  ['render/wasm/scattered', 'products > 0 && ', '', 'long integers need not be multiplied', LANE],
  ['render/wasm/scattered', 'rows + guesses === 0', 'guesses === 0', 'a row is loaded lane by lane', LANE],
  ['render/wasm/scattered', 'rows + guesses === 0', 'rows === 0', 'branches cost nothing beside products', LANE],
  ['render/wasm/scattered', ' && operations - products - shifts < slow', '', 'all is slow beside a product', LANE],
  ['render/wasm/scattered', ' + WORTH_A_SHIFT * shifts', '', 'vectors are shifted by vectors', LANE],
  [
    'render/wasm/checks',
    "f.op('i32.ge_u');\n    f.brIf(slow);",
    "f.op('i32.gt_u');\n    f.brIf(slow);",
    'a lane may be one too far',
    ATOMICS,
  ],
  [
    'render/wasm/checks',
    'f.op(`${bits}.shl`);\n  f.set(fault.bits);',
    'f.op(`${bits}.add`);\n  f.set(fault.bits);',
    'another lane fails',
    ATOMICS,
  ],
  ['render/wasm/atomics', 'check(lane);', '', 'lanes are not asked', ATOMICS],
  [
    'render/wasm/atomics',
    'sameExpr(hazard.index, s.mem.index);',
    'hazard.index !== undefined;',
    'places are asked instead of numbers of rows',
    ATOMICS,
  ],
  ['render/wasm/atomics', "fn: fn as 'add'", "fn: 'add'", 'lanes in a row add up', ATOMICS],
  [
    'render/wasm/atomics',
    'g.lanes === 1 || result !== undefined || ',
    'g.lanes === 1 || ',
    'lanes in a row forget what was there',
    ATOMICS,
  ],
  [
    'render/wasm/atomics',
    "if (shapeOf(g, mem.index) !== 'C')",
    "if (shapeOf(g, mem.index) === 'U')",
    'lanes all over memory are in a row',
    ATOMICS,
  ],
  ['ir/passes/unroll', '[counter, ...doubled]', '[counter]', 'only the counter is a stride', STAGES],
  ['ir/passes/unroll', 'STRIDING.has(e.fn) && ', '', 'elements so far on are strides', STAGES],
  ['ir/passes/unroll', '!steps.has(e) && ', '', 'what is doubled is a stride for that', STAGES],
  ['ir/passes/unroll', '!isDoubled(step, counter) || ', '', 'all counters are doubled', STAGES],
];
