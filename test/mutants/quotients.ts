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

export const QUOTIENTS: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [`compiler/ir/passes/${file}`, find, replace, what, TESTS]),
  [
    'compiler/render/wasm/scalar',
    "        f.op(`${w}.gt_s`);\n        if (w === 'i64')",
    "        f.op(`${w}.lt_s`);\n        if (w === 'i64')",
    'quotients by constants are rounded up',
    ['src/compiler/render/wasm/operators.test.ts'],
  ],
];
