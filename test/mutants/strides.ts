/**
 * Seeded mistakes in what is known of the lanes of an index, and in how lanes at such distances are loaded and stored.
 */
import type { Row } from './row.ts';
export const STRIDES: readonly Row[] = [
  [
    'ir/passes/fold',
    "binary('and', a, complement(b.b))",
    "binary('and', a, b.b)",
    'the low bits are kept, not the high ones',
  ],
  [
    'ir/passes/integer-ranges',
    'floorTo(a[1], -low)];',
    'floorTo(a[1], -low) + low];',
    'a mask leaves less than it does',
  ],
  [
    'ir/passes/unroll',
    'copies.push(...(stages ? renamed(round, options.own(loop)) : round), copyOf(step));',
    'copies.push(...(stages ? renamed(round, options.own(loop)) : round));',
    'all stages are the first',
  ],
  [
    'ir/passes/round-copies',
    'inside.has(id) && !before.has(id) && !after.has(id)',
    'inside.has(id)',
    'stages forget what the one before left',
    ['src/compiler/ir/passes/unroll.test.ts'],
  ],
  [
    'render/wasm/lane-facts',
    'this.#each((lane) => lane & mask);',
    'this.#each((lane) => lane % (mask + 1));',
    'masks are taken for remainders',
  ],
  [
    'render/wasm/lane-facts',
    "this.#uniformity.shape(a) !== 'C' || !this.#isAligned(a)) return undefined;",
    "this.#uniformity.shape(a) !== 'C') return undefined;",
    'vectors begin at multiples of their lanes, wherever they begin',
  ],
  [
    'render/wasm/memory',
    'x === (distances[first] ?? 0) + k * size',
    '(k > 1 || x === (distances[first] ?? 0) + k * size)',
    'lanes are in a row if the first two are',
  ],
  [
    'render/wasm/memory',
    "f.memoryLane('v128.store64_lane', log2(size), base + extra, at / 2);",
    "f.memoryLane('v128.store64_lane', log2(size), base + extra, 0);",
    'the first pair is stored twice',
  ],
  [
    'render/wasm/deinterleave',
    "const signed = elem.startsWith('i') && size < width;",
    'const signed = false;',
    'members lose their signs',
  ],
  ['render/wasm/deinterleave', '* step + at + byte;', '* step + byte;', 'all members are the first'],
  ['render/wasm/deinterleave', 'x >> 4 !== v ?', 'x >> 4 < v ?', 'vectors add what is in later ones'],
  [
    'render/wasm/deinterleave',
    'load.mem.array === any.mem.array && load.mem.elem === any.mem.elem',
    'load.mem.elem === any.mem.elem',
    'records of several arrays are one',
  ],
  [
    'render/wasm/sums',
    'i64(constantOf(b) - constantOf(a))',
    'i64(0)',
    'limits are compared without what is added to the index',
  ],
  [
    'render/wasm/sums',
    "compare(a.kind === 'least' ? 'ge' : 'le', limit",
    "compare('ge', limit",
    'the farther limit is asked about',
  ],
  [
    'render/wasm/interior',
    'mayHoldInRow: all(inVector.filter((e) => !isOfVector(e))),',
    'mayHoldInRow: bool(true),',
    'what is the same for a row is not asked',
  ],
];
