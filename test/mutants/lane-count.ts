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
  [
    'compiler/render/wasm/lane-count',
    "if (uniformity.shape(index) === 'C') bytes",
    "if (uniformity.shape(index) !== 'V') bytes",
    'what all threads read in a loop is taken for columns',
    TESTS,
  ],
  [
    'compiler/render/wasm/lane-count',
    '!isCrowded(kernel, (16 * REGISTERS) / LINE) ? lanes',
    'width > 0 ? lanes',
    'columns of more sums than registers hold get more lanes',
    TESTS,
  ],
  [
    'compiler/render/wasm/lane-count',
    'usual === 1 || height * depth > 1',
    'usual === 1',
    'columns of blocks of several rows get more lanes',
    TESTS,
  ],
];
