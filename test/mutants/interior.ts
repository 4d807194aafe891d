/**
 * Seeded mistakes in what is found out once for a block, and in what is then left out.
 */
import type { Row } from './row.ts';

const PLANES = ['src/compiler/render/wasm/planes.test.ts'];

export const INTERIOR: readonly Row[] = [
  ['sums', "kind === 'least' ? t.least : t.most", 't.least', 'only the first items of a block are asked about'],
  [
    'sums',
    "a.kind === 'least' ? Math.min(x, y) : Math.max(x, y)",
    "a.kind === 'least' ? Math.max(x, y) : Math.max(x, y)",
    'of two tests that are made one the weaker is kept',
  ],
  ['sums', 't.axis === 0 ? scope.lanes - 1 : 0', '0', 'only the first lane of a vector is asked about'],
  [
    'sums',
    "kind === 'below' ? parts.offset <= 0 : parts.offset >= 0",
    'true',
    'limits that wrap are taken for what they would be',
  ],
  ['sums', '...signs.map((t) => isNatural(t.factor)), test', 'test', 'factors may be negative'],
  [
    'interior',
    'for (const [other, e] of values) if (someExpr(e, (x) => isRead(x, id))) values.delete(other);',
    '',
    'indices are said in terms of variables that have changed',
  ],
  [
    'interior',
    'rangeSum(first, sub(exit.b, i32(1)))',
    'rangeSum(first, first)',
    'loops of unknown length have one round',
  ],
  ['interior', 'if (reads && most', 'if (!reads && most', 'a block asks tables for all rows that a byte can name'],
  ['interior', 'this.tests.add([room])', 'this.tests.add([])', 'counters in steps never wrap'],
  [
    'interior',
    'this.tests.add([...room, ...atLeast(a, i32(0)), ...below(a, e.b)])',
    'this.tests.add([...room, ...atLeast(a, i32(0))])',
    'remainders are dropped at the far edge',
  ],
  ['interior', '[allOnes, ...atLeast(a, i32(0))', '[...atLeast(a, i32(0))', 'any number is taken for a mask'],
  [
    'interior',
    "e.fn === 'max' ? atLeast(a, limit) : below(a, limit, 1)",
    "e.fn === 'max' ? [] : below(a, limit, 1)",
    'clamps are dropped at the near edge',
  ],
  ['interior', "value: fn === 'ne' } : undefined;", "value: fn === 'eq' } : undefined;", 'what is apart is equal'],
  ['interior', 'const strict = (expected ? fn : OPPOSITE[fn])', 'const strict = fn', 'guards that deny are off by one'],
  [
    'interior',
    'return [...atLeast(a, i32(-(2 ** 31))), ...below(a, i32(2 ** 31 - 1), 1)];',
    'return [];',
    'compared values do not wrap',
  ],
  [
    'interior',
    'const sum = rangeSum(i32(0), mask);',
    'const sum = rangeSum(i32(0), i32(0));',
    'what is masked is nothing',
  ],
  ['sums', 'merged([], exact, true)', 'merged([], exact, false)', 'tests of many planes are too many', PLANES],
  [
    'sums',
    'if (!isKnown(e)) asked.push(isNatural(e));',
    'if (isKnown(e)) asked.push(isNatural(e));',
    'planes that go backwards are taken for planes that go forwards',
    PLANES,
  ],
  [
    'sums',
    "end: i64(a.kind === 'least' ? Math.min(x, y) : Math.max(x, y))",
    'end: i64(Math.min(x, y))',
    'of several planes the first is asked about',
    PLANES,
  ],
  [
    'interior',
    'g.ranges.of(e)?.[0]',
    'g.ranges.of(e)?.[1]',
    'the far end of a range is taken for its beginning',
    ['src/compiler/render/wasm/interior.test.ts'],
  ],
];
