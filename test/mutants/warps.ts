/**
 * Seeded mistakes in what lanes of a warp exchange: in registers, by votes, through memory, and in branches of lanes that are known.
 */
import type { Row } from './row.ts';

export const WARPS: readonly Row[] = [
  [
    'render/wasm/exchange',
    'return from >= 0 && from < g.lanes ? from : lane;',
    'return from >= 0 && from < g.lanes ? from : 0;',
    'who asks beyond the warp gets the value of lane 0',
  ],
  [
    'render/wasm/exchange',
    "fn === 'shflXor' ? lane ^ n : fn === 'shflUp' ? lane - n : lane + n;",
    "fn === 'shflXor' ? lane ^ n : fn === 'shflUp' ? lane - n : lane ^ n;",
    'down is across',
  ],
  [
    'render/wasm/exchange',
    ': (round === 0 ? lane % perPart : k) * bytes;',
    ': (round === 0 ? k : k) * bytes;',
    'a part stays in place',
  ],
  [
    'render/wasm/exchange',
    'if (mask !== null) pushShuffled(g, mask.parts, 4, from, q);',
    'if (mask !== null) f.get(mask.parts[q] ?? 0);',
    'whether the asking lane takes part decides',
  ],
  [
    'render/wasm/exchange',
    'f.v128(lanesFrom(4 * q).map((lane) => (1 << (from[lane] ?? 0)) | 0)',
    'f.v128(lanesFrom(4 * q).map((lane) => (1 << lane) | 0)',
    'the mask is asked about the own lane',
  ],
  [
    'render/wasm/exchange',
    "'i32x4.lt_u', 'v128.bitselect'",
    "'i32x4.lt_s', 'v128.bitselect'",
    'lanes below 0 are some',
  ],
  [
    'render/wasm/exchange',
    "f.op('i32x4.splat', 'i32x4.ge_s');",
    "f.op('i32x4.splat', 'i32x4.gt_s');",
    'the first lane that is given to by all keeps its own value',
  ],
  [
    'render/wasm/exchange',
    'if (mask !== null) storeForAll(g, mask.parts, active);',
    'if (mask === null) storeForAll(g, values, active);',
    'who takes part is not said in memory',
  ],
  [
    'render/wasm/exchange',
    'for (const local of [...locals].reverse()) f.set(local);',
    'for (const local of locals) f.set(local);',
    'parts are set in the wrong order',
  ],
  [
    'render/wasm/votes',
    "    f.get(present);\n    f.op('i32.and');\n    f.set(chosen);",
    '    f.set(chosen);',
    'lanes that take no part vote',
  ],
  ['render/wasm/votes', "f.op('i32.eqz', 'i32.or');", "f.op('i32.eqz', 'i32.and');", 'lanes agree only on nothing'],
  [
    'render/wasm/votes',
    "    f.op('i32.ctz');\n    f.i32(31);",
    "    f.op('i32.clz');\n    f.i32(31);",
    'values are matched with those of another lane',
    ['src/compiler/render/wasm/exchange.test.ts'],
  ],
  [
    'render/wasm/votes',
    "f.i32(4 * q);\n    f.op('i32.shl', 'i32.or');",
    "f.i32(8 * q);\n    f.op('i32.shl', 'i32.or');",
    'upper lanes vote for others',
  ],
  [
    'render/wasm/votes',
    "named(everyone);\n    f.op('i32x4.eq', 'v128.and');",
    "named(everyone);\n    f.op('v128.or', 'v128.and');",
    'who is alike are all',
  ],
  [
    'render/wasm/lane-branches',
    'for (const x of s.else) assignIn(g, x, all & ~bits);',
    'for (const x of s.else) assignIn(g, x, all);',
    'the other way is taken by all lanes',
  ],
  [
    'render/wasm/lane-branches',
    'pushLaneMask(g, here, perPart);',
    'pushLaneMask(g, 15, perPart);',
    'a part is assigned as a whole',
  ],
  ['render/wasm/lane-branches', '  move(lane);\n', '', 'a single lane takes itself for the first'],
  ['render/wasm/lane-branches', '  move(-lane);\n', '', 'who comes after a single lane is taken for others'],
  [
    'render/wasm/lane-branches',
    'if (vector !== undefined && assigned.has(v.id)) {',
    'if (vector !== undefined && !assigned.has(v.id)) {',
    'what a single lane computes is lost',
  ],
  [
    'render/wasm/static-lanes',
    '((bits >> (perPart === 2 ? k >> 1 : k)) & 1 ? -1 : 0)',
    '((bits >> k) & 1 ? -1 : 0)',
    'masks of wide lanes are those of narrow ones',
  ],
  [
    'ir/passes/lanes',
    "return e.fn === 'mul' && (isMultiple(e.a) || isMultiple(e.b));",
    "return e.fn === 'mul';",
    'any product is a multiple of 32',
  ],
  [
    'ir/passes/uniformity',
    "const all = warps === 'whole' && live === undefined && parting?.level !== 'V' && isFull(mask);",
    "const all = warps === 'whole' && live === undefined && isFull(mask);",
    'a lane gives to all where some are missing',
  ],
  ['render/wasm/work-items', 'if (g.warps && !aligned) return undefined;', '', 'vectors begin in the middle of a warp'],
];
