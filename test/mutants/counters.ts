/**
 * Seeded mistakes in counters of a block that are kept in registers.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/counters.test.ts'];

const MISTAKES: readonly Row[] = [
  ['counters', "if (e.op === 'load') others.add(e.mem.array);", '', 'what is read is what was there before'],
  ['counters', '(first !== undefined && first.fn !== s.fn)', 'false', 'a counter has the operation that comes first'],
  ['counters', 'return holds && isWithin', 'return isWithin', 'checks of counters are not made'],
  ['counters', "s.op !== 'atomic' || !isCounted(s) || ", '', 'stores count'],
  ['counters', "splatConst(f, 'i32', neutralOf(of));", "splatConst(f, 'i32', 0);", 'all counters begin with 0'],
  [
    'counters',
    'of.fn === s.fn && of.mem.array === s.mem.array && at === place',
    'of.mem.array === s.mem.array',
    'all counters of an array are the first',
  ],
  ['atomics', "f.op('i32x4.neg');", '', 'lanes count down'],
  ['atomics', "NEUTRAL[fn] !== undefined || fn === 'min' || fn === 'max';", 'true;', 'exchanges count'],
];

/** What random programs find by themselves. */
const FOUND: readonly Row[] = [
  [
    'counters',
    'for (const { of, local } of counters) putJoined',
    'for (const { of, local } of counters.slice(1)) putJoined',
    'the first counter stays in a register',
  ],
  ['counters', 'f.op(joinOf(counter.of));', "f.op('i32x4.add');", 'all counters add up'],
];

const FUZZ = ['test/fuzz/ladders.test.ts'];

export const COUNTERS: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [file, find, replace, what, TESTS]),
  ...FOUND.map(([file, find, replace, what]): Row => [file, find, replace, what, FUZZ]),
];
