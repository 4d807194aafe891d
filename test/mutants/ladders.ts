/**
 * Seeded mistakes in prefix sums and maxima that are recognised as wholes.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/prefix-ladders.test.ts'];

const MISTAKES: readonly Row[] = [
  ['prefix-ladders', 'bound < where.width ||', '', 'rounds that do not reach all do'],
  ['prefix-ladders', ' || Number(start.value.value) !== 1', '', 'rounds may begin anywhere'],
  ['prefix-ladders', 'if (this.#asking) throw new Unknown();', '', 'barriers between loads and stores do not matter'],
  [
    'prefix-ladders',
    "case 'xor':\n      return float ? undefined : 0;",
    "case 'xor':\n      return 0;",
    'the order of float sums does not matter',
  ],
  ['prefix-ladders', "|| alone.memory.kind !== 'own'", '', 'what threads without a partner store is lost'],
  [
    'prefix-ladders',
    '!(follows && isCopy(before, v, first, asked))',
    '!follows',
    'what threads keep is taken for their element',
  ],
  [
    'prefix-ladders',
    'if (c !== this.first || !isInside(array.length ?? 0)) throw new Unknown();',
    '',
    'partners may be one further',
  ],
  ['prefix-ladders', '!same || ', '', 'checks are of the elements, whatever they ask'],
  ['prefix-ladders', 'block[1] * block[2] !== 1 || ', '', 'all rows of a block are the first one'],
  [
    'prefix-ladders',
    '...copies.map((v) => ir.assign(v, ir.load(ir.at(array, ir.add(t, ir.i32(first)), { pos })), pos)),',
    '',
    'what threads keep stays what it was',
  ],
  ['prefix-ladders', 'ir.assign(step, ir.i32(last), pos),', '', 'the step stays what it was'],
  ['prefix-ladders', "['1 -1 0', '-1 1 -1']", "['1 -1 0', '-1 1 0']", 'the thread at the step has no partner'],
  ['scan-rows', 'Math.min(Math.max(lane, 0), 3)', 'lane & 3', 'lanes come round from the other end'],
  ['scan-rows', 'fill(down ? 0 : 3)', 'fill(3)', 'going down, the last lane is handed on'],
  ['scan-rows', "fn === 'mul' ? 1 : 0", '0', 'products begin with 0'],
  [
    'scan-rows',
    'base + (down ? 16 * together - size : 0)',
    'base',
    'going down, the first element is taken for the last',
  ],
  ['scan-rows', 'down ? rest - 1 - k : count - rest + k', 'count - rest + k', 'going down, what is left is at the end'],
  ['scan-rows', 'k < rest', 'k < 0', 'what is left of the vectors is left out'],
  ['scan-rows', 'for (const by of [1, 2])', 'for (const by of [1])', 'lanes take in their neighbour alone'],
];

/** What random programs find by themselves. */
const FOUND: readonly Row[] = [
  ['prefix-ladders', 'bound < where.width ||', 'bound < 2 ||', 'rounds that reach few reach all'],
  ['scan-rows', 'down ? lane + by : lane - by', 'lane - by', 'lanes take in the wrong neighbour'],
];

const FUZZ = ['test/fuzz/ladders.test.ts'];

export const LADDERS: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [file, find, replace, what, TESTS]),
  ...FOUND.map(([file, find, replace, what]): Row => [file, find, replace, what, FUZZ]),
];
