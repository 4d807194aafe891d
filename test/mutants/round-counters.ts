/**
 * Mistakes in counting rounds apart from what lanes have counted.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/round-counters.test.ts'];

const MISTAKES: readonly (readonly [string, string, string])[] = [
  [' && !jumpsOn(before, loop)', '', 'lanes that go on earlier have counted'],
  [' && times.get(s.var.id) === 1', '', 'what else is added does not matter'],
  ['for (const id of assignedIn([s])) known.delete(id);', '', 'starts are those of long ago'],
  ['.filter(([id]) => !changes.has(id))', '', 'loops in loops begin anew'],
  ['return of === undefined ? [s] : [s,', 'return of === undefined || s.pos ? [s] : [s,', 'nobody knows the count'],
  [" && uniformity.varShape(v) === 'V'", '', 'all counters are apart'],
];

export const ROUND_COUNTERS: readonly Row[] = MISTAKES.map(
  ([find, replace, what]): Row => ['compiler/ir/passes/round-counters', find, replace, what, TESTS],
);
