/**
 * Seeded mistakes in loops along rows that go on four rounds at a time.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/row-fours.test.ts'];

const MISTAKES: readonly Row[] = [
  [
    'row-fours',
    "compare('ge', sub(sub(b, a), u64(1)), u64(ROUNDS * SIZE - 1))",
    "constant('bool', true)",
    'rounds read what has yet to be stored',
  ],
  ['row-fours', 'other.isLate ? undefined : sameRow', 'sameRow', 'what a round reads behind its store comes before it'],
  ['row-fours', 'const end = ends.reduce(least, bound);', 'const end = bound;', 'rows go on beyond their ends'],
  ['row-fours', 'const alone = asked.length > 1;', 'const alone = false;', 'checks change places'],
  ['row-fours', '...stores.slice(0, k).map', '...stores.slice(0, 0).map', 'what two statements store changes places'],
  ['row-fours', 'sub(end, i32(ROUNDS - 1)), i32(0))', 'end, i32(0))', 'there are always four rounds'],
  ['row-fours', 'if (!sameLeaf(x, y)) equal.push(eq(x, y));', '', 'all rows are of one length'],
  [
    'row-fours',
    "or(compare('le', a.end, b.start), compare('le', b.end, a.start))",
    "constant('bool', true)",
    'all arrays are apart',
  ],
  ['row-fours', 'values.get(x.var.id) ?? x', 'x', 'an index in a variable is that of another round'],
];

export const ROW_FOURS: readonly Row[] = MISTAKES.map(([file, find, replace, what]) => [
  file,
  find,
  replace,
  what,
  TESTS,
]);
