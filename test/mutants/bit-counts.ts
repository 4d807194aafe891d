/**
 * Mistakes in what counts bits.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/ir/passes/bit-counts.test.ts'];

export const BIT_COUNTS: readonly Row[] = [
  ['isShift(e, 24) && ', '', 'any bits of the product are the uppermost'],
  ['before?.step === step - 1', 'before !== undefined', 'steps come in any order'],
  ['      known.delete(id);\n', '', 'what changed is what it was'],
  ['if (of.id === id)', 'if (of.id === -1)', 'what is counted does not change'],
  [' && found.of !== s.var', '', 'pairs are counted instead of bits'],
  ["v.op === 'var' && isShiftOf(half, v, 1)", "v.op === 'var'", 'pairs have any other half'],
  [' && Number(e.value) === value', '', 'all masks are the same'],
  [' && x.var === v.var', '', 'variables are the same'],
  ['x.fn !== fn || ', '', 'all operations are the same'],
].map(([find = '', replace = '', what = '']): Row => ['compiler/ir/passes/bit-counts', find, replace, what, TESTS]);
