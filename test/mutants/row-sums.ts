/**
 * Seeded mistakes in sums over rows, whose rounds are lanes, and in what rows of threads have in common.
 */
type Row = readonly [file: string, find: string, replace: string, what: string, tests: readonly string[]];

const TESTS = ['src/compiler/render/wasm/rounds.test.ts', 'test/fuzz/sums.test.ts'];

const MISTAKES: readonly (readonly [file: string, find: string, replace: string, what: string])[] = [
  ['row-sums', '(values.get(x.var.id) ?? x)', 'x', 'what is asked ahead is of the round before'],
  [
    'row-sums',
    "return { var: s.var, fn: value.fn as Sum['fn'], value: other };",
    "return { var: s.var, fn: 'add', value: other };",
    'all sums add',
  ],
  ['row-sums', '|| someExpr(other, isOwn)', '', 'a sum that goes into itself is one'],
  ['row-sums', '!isOver(s.var) || ', '', 'what is read behind the loop stays as it was'],
  [
    'row-sums',
    '!shapes.has(e.var.id)) return false;',
    '!shapes.has(e.var.id)) return true;',
    'a sum may be read in the rounds',
  ],
  ['row-sums', 'rounds % lanesOf(row) === 0', 'rounds > 0', 'what is left of the rows of a window is left out'],
  ['row-sums', "fn === 'min' ? most : fn === 'max' ? least : 0", '0', 'the least of what is not there is 0'],
  [
    'rounds',
    "f.op('i64.extend_i32_s', 'i64.gt_s');",
    "f.op('i64.extend_i32_s', 'i64.ne', 'drop');\n    f.i32(0);",
    'rows end wherever they are said to',
  ],
  ['rounds', 'f.i64(counts.length - 1);', 'f.i64(counts.length);', 'a window is one longer than it is said to be'],
  ['rounds', "? 's' : 'u';", "? 'u' : 's';", 'words lose their sign'],
  ['rounds', "fitsSign(widths.ranges.of(e), 16, 's')", 'true', 'large words are multiplied as negative ones'],
  [
    'rounds',
    "sum.fn === 'sub' ? 'add' : sum.fn, sum.var.type",
    'sum.fn, sum.var.type',
    'what lanes took away they take away from each other',
  ],
];

const STEADY = ['src/compiler/render/wasm/row-steady.test.ts', 'test/fuzz/sums.test.ts'];

const IN_COMMON: readonly Row[] = (
  [
    [
      'row-steady',
      "return e.name !== 'threadIdx.x' && e.name !== 'laneId';",
      'return true;',
      'all items are the first one',
    ],
    [
      'row-steady',
      "isQuiet = s.op === 'assign' && step !== undefined;",
      'isQuiet = true;',
      'rows load ahead of what they store',
    ],
    ['row-steady', 'once.has(s.var.id) && ', '', 'a variable has its last value in all of the row'],
    ['row-steady', 'isAsked(c) === asked', 'asked', 'checks of each item are made for the first alone'],
  ] as const
).map(([file, find, replace, what]) => [file, find, replace, what, STEADY]);

export const ROW_SUMS: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [file, find, replace, what, TESTS]),
  ...IN_COMMON,
];
