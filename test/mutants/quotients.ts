/**
 * Mistakes in code for vectors of which all threads have the same quotient.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/quotients.test.ts'];

const MISTAKES: readonly Row[] = [
  ["        compare('ge', by, i32(lanes)),\n", '', 'divisors may be anything'],
  ["        compare('ge', read(first), i32(0)),\n", '', 'quotients of negative numbers are rounded up'],
  ["        compare('le', read(first), i32(2 ** 31 - lanes)),\n", '', 'numbers do not wrap'],
  ['sub(by, i32(lanes))', 'sub(by, i32(1))', 'the last threads are in the row before'],
  ["e.fn === 'rem' ? sub(e.a, read(m.start))", "e.fn === 'rem' ? sub(e.a, read(m.quotient))", 'columns are not'],
  ['labels.get(t.label) ?? t.label', 't.label', 'copies of loops are the same loop'],
  ["(e.fn === 'sub' ? binary('sub', i32(0), e.b) : e.b)", 'e.b', 'what is taken away is added'],
].map(([find, replace, what]) => ['quotients', find, replace, what] as Row);

const STRETCHES: readonly Row[] = [
  [
    "    f.op('i32.ge_u', 'i32.and');\n    if (k > 0)",
    "    f.op('drop', 'drop');\n    if (k > 0)",
    'numbers wrap on the way',
  ],
  [
    "    f.i32(0);\n    f.op('i32.ge_s', 'i32.and');",
    "    f.op('drop');",
    'quotients of negative numbers are carried on',
  ],
  ['      add(localOf(g, quotient), () => f.i32(1));\n', '', 'all of a row has the quotient that it began with'],
  ['kept.slice(s.checks.length)', 'kept.slice(0, 0)', 'rows of memory go on without an end'],
  ["    f.op('i32.lt_s');\n    f.brIf(crossed);", "    f.op('i32.lt_s', 'drop');", 'vectors of two quotients have one'],
  ['f.i32(LARGEST);', 'f.i32(-1);', 'where a quotient ends may wrap'],
  ["    f.op('i32.eqz');\n    f.brIf(done);\n", "    f.op('drop');\n", 'a vector between stretches is never the last'],
  [
    "f.op('i32.add', 'i32.eqz', 'i32.and', 'i32.or');",
    "f.op('i32.add', 'drop', 'i32.or');",
    'what lies askew begins anew',
  ],
  [
    "f.op('i32.sub', 'i32.lt_u', 'i32.and');",
    "f.op('i32.sub', 'drop', 'drop');",
    'only the first of a row is asked about',
  ],
  ["      f.i32(FARTHEST);\n      f.op('i32.lt_u', 'i32.and');", "      f.op('drop');", 'indices go down unseen'],
  ['(s.goesOn ? inItsBlock(g, vector) : vector())', 'vector()', 'faults are in the first block of a row'],
].map(([find, replace, what]) => [
  'compiler/render/wasm/stretch-rows',
  find,
  replace,
  what,
  ['src/compiler/render/wasm/stretches.test.ts'],
]);

const LONG: readonly Row[] = [
  [
    'isOfNumber(g, long.bounded) ? long : undefined',
    'long ? long : undefined',
    'all blocks have the guard of the first',
  ],
  ['known.some(isOfBlock) ? undefined : ', '', 'blocks that are left out are not asked for'],
  ['less(x);\n  f.set(x);', '', 'threads are counted on from block to block'],
  [
    "    f.get(all, rest);\n    f.op('i32.lt_s', 'select');",
    "    f.op('drop', 'drop');\n    f.get(all);",
    'rows go on behind the blocks of a call',
  ],
  ['    scalar(g, long.exact);\n', '    f.i32(1);\n', 'numbers that wrap are within the guard'],
].map(([find, replace, what]) => [
  'compiler/render/wasm/long-rows',
  find as string,
  replace as string,
  what as string,
  ['src/compiler/render/wasm/stretches.test.ts'],
]);

export const QUOTIENTS: readonly Row[] = [
  ...LONG,
  ...MISTAKES.map(([file, find, replace, what]): Row => [`compiler/ir/passes/${file}`, find, replace, what, TESTS]),
  ...STRETCHES,
  [
    'compiler/render/wasm/stretches',
    ' || !isAbout(choice.cond, quotients)',
    '',
    "a program's own choice is taken for that between vectors",
    ['src/compiler/render/wasm/stretches.test.ts'],
  ],
  [
    'compiler/render/wasm/stretches',
    'of[1] === width * of[0]',
    'true',
    'blocks that are told apart go on',
    ['src/compiler/render/wasm/stretches.test.ts'],
  ],
  [
    'compiler/render/wasm/scalar',
    "        f.op(`${w}.gt_s`);\n        if (w === 'i64')",
    "        f.op(`${w}.lt_s`);\n        if (w === 'i64')",
    'quotients by constants are rounded up',
    ['src/compiler/render/wasm/operators.test.ts'],
  ],
];
