/**
 * Mistakes in loops down columns, whose rounds a block makes together, and in extremes that are chosen.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/ir/passes/column-rounds.test.ts'];

const MISTAKES: readonly Row[] = [
  [
    'column-rounds',
    'mine.push(assign(start.var, read(rounds.base), start.pos), s);',
    'mine.push(start, s);',
    'what is left of a column begins at its top',
  ],
  [
    'column-rounds',
    "const at = (k: number): Expr => foldExpr(add(read(base), binary('mul', step, i32(k))));",
    'const at = (k: number): Expr => foldExpr(add(read(base), i32(k)));',
    'rounds of longer steps overlap',
  ],
  [
    'column-rounds',
    'const more = compare(inclusive',
    'const more = compare(!inclusive',
    'the last of four rounds may be none',
  ],
  [
    'column-rounds',
    'this.#guard === undefined ? copies : [ifElse(this.#guard, copies, [], pos)]',
    'copies',
    'threads that a guard leaves out go down columns',
  ],
  [
    'column-rounds',
    "someExpr(s.cond, (e) => e.op === 'var' && assigned.has(e.var.id))",
    'assigned.has(-1)',
    'a guard is asked again when it has changed',
  ],
  [
    'column-rounds',
    '&& keepsOrder(s);',
    "&& s.op !== 'atomic' && keepsOrder(s);",
    'threads draw their numbers row by row',
  ],
  ['column-rounds', 'return countingLoop(s) === undefined;', 'return false;', 'threads wait where others cannot come'],
  ['column-rounds', 'k % (TOGETHER - 1) === 0', 'k === 0', 'only the first of four rounds is asked about'],
  ['column-rounds', 'isFarApart(index, counter) && ', '', 'windows are taken for columns'],
  ['row-limits', "compare('ge', base, i64(0))", "compare('ge', base, i64(-9))", 'rows before the first are inside'],
  ['row-limits', 'within(i64(this.#width - 1))', 'within(i64(0))', 'only the first item of a row is asked about'],
  [
    'row-limits',
    'add(bound.base, i64(1))',
    'add(bound.base, i64(2))',
    'the last item that a guard lets through is not asked about',
  ],
];

const CHOICES = ['src/compiler/render/wasm/extremes.test.ts'];

const EXTREMES: readonly Row[] = [
  [
    'ir/passes/extremes',
    "LARGER.has(cond.fn) === first ? 'max'",
    "LARGER.has(cond.fn) ? 'max'",
    'the smaller of two words is the larger one, said the other way round',
  ],
  [
    'ir/passes/extremes',
    'sameExpr(cond.a, value)',
    'cond.a.type === value.type',
    'something else is assigned than was compared',
  ],
  [
    'ir/passes/extremes',
    "cond.fn !== 'lt' && cond.fn !== 'gt'",
    "cond.fn === 'eq'",
    'of equal zeros the first is taken',
  ],
  [
    'ir/passes/extremes',
    "(cond.fn === 'gt') === inOrder ? 'max'",
    "cond.fn === 'gt' ? 'max'",
    'choices are taken the other way round',
  ],
  [
    'render/wasm/expr',
    'part(g, e.b, p);\n    part(g, e.a, p);\n    f.op(`${e.type',
    'part(g, e.a, p);\n    part(g, e.b, p);\n    f.op(`${e.type',
    'of NaN and a number the wrong one is chosen',
  ],
];

/** Below `src/compiler`. */
export const COLUMNS: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [`ir/passes/${file}`, find, replace, what, TESTS]),
  [
    'ir/passes/column-rounds',
    'down ? [wide(bound)',
    'false ? [wide(bound)',
    'rounds from the last row up end where others begin',
    TESTS,
  ],
  [
    'ir/passes/fold',
    'same(negative.a, x) && same(cond.a, x)',
    'same(negative.a, x)',
    'the sign of one number is taken for that of another',
    ['src/compiler/ir/passes/simplify.test.ts'],
  ],
  [
    'ir/passes/loop-bounds',
    'eachAccess(body, note);',
    "eachAccess(body.map((s) => (s.op === 'store' ? { ...s, mem: { ...s.mem, checks: [] } } : s)), note);",
    'counters are not asked about the extents of what is stored',
    ['src/compiler/ir/passes/loop-bounds.test.ts'],
  ],
  ...EXTREMES.map(([file, find, replace, what]): Row => [file, find, replace, what, CHOICES]),
];
