/**
 * Seeded mistakes in scalar code of the CPU device that runs work items in pairs.
 */
import type { Row } from './row.ts';

const PAIRED = ['src/compiler/render/wasm/pairs.test.ts'];

export const PAIRS: readonly Row[] = [
  [
    'pairs',
    'leaveIf(exit, true, firstLeft, secondLeft);',
    'leaveIf(exit, true, firstLeft);',
    'the second item leaves as the first',
    PAIRED,
  ],
  ['pairs', 'step(x, 2);', 'step(x, 1);', 'the second item of a pair is the first of the next', PAIRED],
  ['pairs', 'both(items.start);', 'items.start();', 'the second item goes on with what others left', PAIRED],
  ['pairs', "!isSo) f.op('i32.eqz');", "!isSo) f.op('i32.eqz', 'i32.eqz');", 'guards are taken the other way', PAIRED],
  [
    'pairs',
    "!someStmt([s], (x) => x.op !== 'assign' && x.op !== 'if')",
    'true',
    'what is in front of the loop happens twice',
    PAIRED,
  ],
  ['checks', 'f.i32(g.second ? 2 : 1);', 'f.i32(1);', 'faults of the second item are reported of the first', PAIRED],
];
