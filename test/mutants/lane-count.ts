/**
 * A mistake in how many lanes a kernel gets, which costs time alone: the named tests ask for the number.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/lane-count.test.ts'];

export const LANE_COUNT: readonly Row[] = [
  [
    'compiler/render/wasm/lane-count',
    'tiles.findLast((n) => scattered(n) < usual)',
    'tiles.findLast((n) => scattered(n) > usual)',
    'tiles are gone through in more lanes',
    TESTS,
  ],
];
