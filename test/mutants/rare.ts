/**
 * Seeded mistakes in rounds and work items that are passed over, and in what is run as scalar code.
 */
import type { Row } from './row.ts';

const PASSED = ['src/compiler/render/wasm/pass-over.test.ts'];
const SCATTERED = ['src/compiler/render/wasm/scattered.test.ts'];

export const RARE: readonly Row[] = [
  ['pass-over', "f.op('i32.gt_s');", "f.op('i32.gt_s', 'i32.eqz');", 'rounds are passed over behind the last', PASSED],
  ['pass-over', 'g.kernel.checked || !guarded;', 'true;', 'what nobody may load is loaded', PASSED],
  ['pass-over', 'unsure, rare.guarded);', 'unsure);', 'what only guards prove is not asked', PASSED],
  ['rare-rounds', 'someExpr(cond, isRaised) &&', 'true ||', 'all guards are taken to hold seldom', PASSED],
  ['rare-rounds', 'rare.guarded || mayLeave(then)', 'rare.guarded', 'loops are taken to go on to the end', PASSED],
  ['scattered', "way.some((s) => s.op === 'store' && isFar(s.mem)) &&", '', 'stores are here and there', SCATTERED],
];
