/**
 * Seeded mistakes in sums over rows, whose rounds are lanes, and in what rows of threads have in common.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/rounds.test.ts', 'test/fuzz/sums.test.ts'];

const MISTAKES: readonly Row[] = [
  ['laned-rounds', '(this.#values.get(x.var.id) ?? x)', 'x', 'what is asked ahead is of the round before'],
  [
    'row-sums',
    "return { var: s.var, fn: value.fn as Sum['fn'], value: other };",
    "return { var: s.var, fn: 'add', value: other };",
    'all sums add',
  ],
  ['row-sums', '!isOver(s.var) || ', '', 'what is read behind the loop stays as it was'],
  [
    'laned-rounds',
    '!this.#steady.has(e.var.id)) return false;',
    '!this.#steady.has(e.var.id)) return true;',
    'a sum may be read in the rounds',
  ],
  [
    'laned-rounds',
    "x.op === 'var' && this.#isOther(x.var)))) return false;",
    "x.op === 'var' && this.#isOther(x.var)))) {}",
    'a sum may be a place in the rounds',
  ],
  [
    'laned-rounds',
    'this.#shapes.set(s.var.id, this.shape(s.value));',
    "this.#shapes.set(s.var.id, this.shape(s.value) === 'U' ? 'U' : 'V');",
    'columns that have names are anywhere',
  ],
  ['row-sums', '|| rounds % lanesOf(row) !== 0', '', 'what is left of the rows of a window is left out'],
  ['row-sums', "fn === 'min' ? most : fn === 'max' ? least : 0", '0', 'the least of what is not there is 0'],
  ['round-lanes', "f.op('i64.ge_s');", "f.op('i64.ne', 'drop');\n    f.i32(0);", 'rows end wherever they are said to'],
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
    ['row-steady', "e.name !== 'threadIdx.x' && e.name !== 'laneId' && ", '', 'all items are the first one'],
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

const WINDOWS = ['src/compiler/render/wasm/windows.test.ts', 'test/fuzz/sums.test.ts'];

const WINDOW: readonly Row[] = (
  [
    ['round-lanes', 'sum + count - 1', 'sum + count - 2', 'a window is one longer than it is said to be'],
    [
      'round-lanes',
      "f.op('i64.sub', 'i64.ge_u');",
      "f.op('i64.sub', 'drop', 'drop');\n    f.i32(0);",
      'only the first row of a window is asked about',
    ],
    [
      'row-sums',
      "if (e.fn === 'sub') return b === 'none' ? a : 'even';",
      "if (e.fn === 'sub') return a;",
      'rows count up where they count down',
    ],
    ['windows', "f.op('i32.sub');\n    f.set(by);", "f.op('i32.add');\n    f.set(by);", 'the next row is elsewhere'],
    ['windows', 'if (k > 0) moveOn(g, places);', '', 'all rows are the first'],
    ['rounds', 'range[1] * times], 16)', 'range[1]], 16)', 'lanes of 16 bits overflow'],
    [
      'narrow',
      "for (const fn of ['max', 'min'] as const) {",
      "for (const fn of ['min', 'max'] as const) {",
      'distances are negative',
    ],
  ] as const
).map(([file, find, replace, what]) => [file, find, replace, what, WINDOWS]);

const FEW = ['src/compiler/render/wasm/strided-rows.test.ts', 'test/fuzz/sums.test.ts'];

const STRIDED: readonly Row[] = (
  [
    [
      'strided-rows',
      'f.i32(2 ** 31 - (width === undefined ? g.variant.block[0] : 0));',
      'f.i32(-1);',
      'remainders of negative places are positive',
    ],
    ['strided-rows', "f.op('i32.rem_u', 'i32.sub');", "f.op('i32.rem_u', 'i32.add');", 'the first item is another one'],
    [
      'strided-rows',
      'conjuncts(guard.cond).filter((e) => e !== part);',
      '[] as Expr[];',
      'what else guards an item is forgotten',
    ],
    [
      'strided-rows',
      'if (together > 1 && width !== together * step) run(1);',
      '',
      'the last items of a row are left out',
    ],
    [
      'strided-rows',
      "return (shape === 'U' || shape === 'G') && inTerms(e) !== undefined;",
      'return inTerms(e) !== undefined;',
      'guards of items are asked of the first of a row',
    ],
    ['row-vectors', 'f.i32(g.shift);', 'f.i32(0);', 'faults are told of the first of several items'],
    ['address', 'return Math.imul(g.shift ?? 0, factor);', 'return 0;', "several items have the first one's elements"],
  ] as const
).map(([file, find, replace, what]) => [file, find, replace, what, FEW]);

const EDGES: readonly Row[] = (
  [
    [
      'strided-rows',
      'for (let k = 0; k < lanes; k += step) withShift',
      'for (let k = step; k < lanes; k += step) withShift',
      'the first item of a vector at an edge is left out',
    ],
    [
      'strided-rows',
      'if (inLanes === undefined && (lanes % step !== 0 || ',
      'if (inLanes === undefined && (',
      'vectors at an edge begin with a remainder they do not have',
    ],
  ] as const
).map(([file, find, replace, what]) => [file, find, replace, what, ['src/compiler/render/wasm/strided-edges.test.ts']]);

const ORDER = ['src/compiler/render/wasm/barrier-fusion.test.ts', 'test/fuzz/sums.test.ts'];

const ORDERED: readonly Row[] = (
  [
    ['barrier-fusion', 'apart[1] <= 0 &&', 'true &&', 'items are run downwards whatever they load'],
    ['barrier-fusion', 'isStore && !isSteady(e)', 'false', 'items may store apart from each other'],
    ['barrier-fusion', 'left < 2 ||', '', 'a loop loses its last barrier'],
    ['work-items', 'down ? [rest, whole] : [whole, rest]', '[whole, rest]', 'the last items of a row are run last'],
    ['work-items', 'f.i32(down ? -g.lanes : g.lanes);', 'f.i32(g.lanes);', 'rows have one vector'],
    ['whole', "fn === 'lt' || fn === 'le' ? g.lanes - 1 : 0", '0', 'the first lane is below for all'],
  ] as const
).map(([file, find, replace, what]) => [file, find, replace, what, ORDER]);

export const ROW_SUMS: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [file, find, replace, what, TESTS]),
  ...IN_COMMON,
  ...WINDOW,
  ...STRIDED,
  ...EDGES,
  ...ORDERED,
];
