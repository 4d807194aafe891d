/**
 * Mistakes in which variables of f64 are integers.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/ir/passes/keep-integers.test.ts'];

export const KEEP_INTEGERS: readonly Row[] = [
  ["e.to === 'f64' && ", '', 'what rounds is not rounded'],
  ['else others.add(defined(s) ?? -1);', '', 'fractions are integers'],
  [" && e.a.type === 'i32' ? e.a", ' ? e.a', 'what is above 2^31 is negative'],
  ['analyseLiveness(kernel.body).entry', '[]', 'what has no value is looked for'],
].map(([find = '', replace = '', what = '']): Row => ['compiler/ir/passes/keep-integers', find, replace, what, TESTS]);
