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
    'lockstep',
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
  ['scan-rows', 'neutralOf(fn, type) ?? 0', '0', 'products begin with 0'],
  [
    'scan-rows',
    'base + behind + (down ? 16 * together - size : 0)',
    'base + behind',
    'going down, the first element is taken for the last',
  ],
  ['scan-rows', 'down ? rest - 1 - k : count - rest + k', 'count - rest + k', 'going down, what is left is at the end'],
  ['scan-rows', 'k < rest', 'k < 0', 'what is left of the vectors is left out'],
  ['scan-rows', 'for (const by of [1, 2])', 'for (const by of [1])', 'lanes take in their neighbour alone'],
];

/** Of scans however they are written, and of what tells them. */
const SCANS: readonly Row[] = [
  ['block-scans', 'block[1] * block[2] !== 1 || ', '', 'all rows of a block are the first one'],
  [
    'block-scans',
    'return value === neutral ? { lo: 0, hi: 0 } : undefined;',
    'return { lo: 0, hi: 0 };',
    'all constants count for nothing',
  ],
  ['block-scans', 'low.hi !== high.lo && ', 'low.hi < high.lo && ', 'what is joined twice is joined once'],
  [
    'block-scans',
    ': span.lo === wanted.lo && span.hi === wanted.hi',
    ': span.hi === wanted.hi',
    'it does not matter where a sum begins',
  ],
  [
    'block-scans',
    'exclusive ? [take, put, next] : [take, next, put]',
    '[take, next, put]',
    'what is before an element has it in',
  ],
  ['block-scans', 'ir.eq(ir.param', 'ir.ne(ir.param', 'the size that is guessed is any other'],
  [
    'block-scans',
    'needed === touched ? touched : leavesOf(steps, needed)',
    'touched',
    'what is joined lies where it becomes something else',
  ],
  ['block-scans', 'if (this.#isReadOutside(v))', 'if (false)', 'what variables hold in the end is lost'],
  ['lockstep', 'if (writer !== NOBODY && writer !== t) throw new Unknown();', '', 'who loads may race with who stores'],
  [
    'lockstep',
    'if ((writer !== NOBODY && writer !== t) || (reader !== NOBODY && reader !== t)) throw new Unknown();',
    '',
    'who stores may race with anybody',
  ],
  ['lockstep', '(this.fn !== undefined && this.fn !== fn)', 'false', 'two operations are one'],
  [
    'scan-rows',
    'down ? [5, 6, 7, 0] : [0, 4, 5, 6]',
    '[0, 4, 5, 6]',
    'going down, what is before an element is behind it',
  ],
  ['scan-rows', 'const behind = source * size;', 'const behind = 0;', 'the first buffer is the second'],
  ['scan-rows', 'count % run === 0', 'true', 'runs of elements are all whole'],
  ['scan-rows', 'if (exclusive) put();', '', 'what is left of an exclusive scan stays what it was'],
];

/** What random programs find by themselves. */
const FOUND: readonly Row[] = [
  ['prefix-ladders', 'bound < where.width ||', 'bound < 2 ||', 'rounds that reach few reach all'],
  ['scan-rows', 'down ? lane + by : lane - by', 'lane - by', 'lanes take in the wrong neighbour'],
];

const FUZZ = ['test/fuzz/ladders.test.ts'];

/** Of variables of places, which are written out. */
const PLACES: readonly Row[] = [
  [
    'inline-places',
    'definitions.has(x.var.id) ? resolved(definitions.get(x.var.id) as Expr) : x',
    'false ? x : x',
    'a place is what it is told in terms of others',
  ],
  [
    'inline-places',
    'if (readsOf(id, body) === readsOf(id, loop.body.slice(k + 1))) places',
    'places',
    'a place of a round is told to the next one, and behind the loop',
  ],
  ['inline-places', 'Math.abs(step) > 1', 'step > 9', 'places stay variables'],
  ['interleave', 'if (a === stored) return true;\n', '', 'what is loaded from an array is not what was stored there'],
  ['interleave', '!g.apart.has(a.param ?? -1)', 'false', 'arguments are never the same memory'],
];

/** Of regions that one item runs. */
const SINGLES: readonly Row[] = [
  ['single-items', ' || saves.length > 0', '', 'what other items keep is lost'],
  ['work-items', 'n.single && ', '', 'all conditions are for one item'],
  ['single-items', '      setItem(g);\n', '', 'the first item is accused for another'],
];

/** Of rounds that one item makes for all. */
const CHOSEN: readonly Row[] = [
  ['chosen-items', 'block[1] * block[2] !== 1 || ', '', 'all rows of a block are the first one'],
  [
    'chosen-items',
    "ir.lt(ir.cast('u32', ir.read(chosen)), ir.u32(block[0]))",
    'ir.bool(true)',
    'somebody is chosen in any case',
  ],
  [
    'chosen-items',
    '...(safe === undefined ? []',
    '...(safe !== undefined ? []',
    'nothing fails for those who are chosen',
  ],
  ['chosen-items', 'entry.has(v.id) || leaving.has(v.id) || ', '', 'what a round leaves is not wanted'],
  ['chosen-items', "|| (x.op === 'var' && assigned.has(x.var.id))", '', 'checks may be made ahead of what they check'],
  ['chosen-items', "(x.op === 'load' && x.mem.array.space === 'local') || ", '', 'local memory is that of all items'],
  ['chosen-items', " || (x.op === 'special' && x.name === 'laneId')", '', 'all items are in the first lane'],
  [
    'chosen-items',
    '...Array.from(places, ([v, array]) => ir.assign(v, ir.load(first(array)), pos)),',
    '',
    'all rounds are made once more',
  ],
];

/** Of sums of floats by trees. */
const TREES: readonly Row[] = [
  ['tree-scans', 'count < FEWEST || ', '', 'the fewest elements are as good as many'],
  ['tree-scans', '[...before.slice(1), total]', 'before', 'elements that have themselves in are none'],
  ['tree-scans', 'first ?? neutral', 'first ?? 0', 'what is in front of all elements is 0'],
  ['tree-scans', 'const start = ir.constant(type, root);', 'const start = ir.constant(type, 0);', 'the root is 0'],
  ['tree-scans', 'length === count / 4 && !exclusive', '!exclusive', 'sums become what they and all before them are'],
  ['tree-scans', 'join(join(a, b), join(c, d))', 'join(join(join(a, b), c), d)', 'four are added one after another'],
  [
    'tree-scans',
    'for (const { sums, length } of levels) atTop.push(ir.store(sums(ir.i32(length)), all));',
    '',
    'what all are together is lost',
  ],
  ['block-scans', ' || tree.count > 4 * this.#width', '', 'threads are always enough'],
  ['block-scans', 'if (gap > 0 && run % 4 !== 0) return undefined;', '', 'four elements lie side by side'],
  ['lockstep', 'Object.is(this.constantOf(p), neutral)', 'this.constantOf(p) === neutral', '0 and -0 are the same'],
  ['lockstep', "return fn === 'add' ? -0 :", "return fn === 'add' ? 0 :", 'adding 0 changes nothing'],
];

const OF_CHOSEN = ['src/compiler/render/wasm/chosen-items.test.ts'];
const OF_SINGLES = ['src/compiler/render/wasm/single-items.test.ts'];
const OF_PLACES = ['src/compiler/render/wasm/inline-places.test.ts', 'src/compiler/render/wasm/interleave.test.ts'];
const OF_TREES = ['src/compiler/render/wasm/tree-scans.test.ts'];
const OF_SCANS = ['src/compiler/render/wasm/block-scans.test.ts'];

export const LADDERS: readonly Row[] = [
  ...SINGLES.map(([file, find, replace, what]): Row => [file, find, replace, what, OF_SINGLES]),
  ...CHOSEN.map(([file, find, replace, what]): Row => [file, find, replace, what, OF_CHOSEN]),
  ...PLACES.map(([file, find, replace, what]): Row => [file, find, replace, what, OF_PLACES]),
  ...TREES.map(([file, find, replace, what]): Row => [file, find, replace, what, OF_TREES]),
  ...SCANS.map(([file, find, replace, what]): Row => [file, find, replace, what, OF_SCANS]),
  ...MISTAKES.map(([file, find, replace, what]): Row => [file, find, replace, what, TESTS]),
  ...FOUND.map(([file, find, replace, what]): Row => [file, find, replace, what, FUZZ]),
];
