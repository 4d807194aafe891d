/**
 * Seeded mistakes in copies of counters in global memory.
 */
import type { Row } from './row.ts';

const TESTS = ['src/compiler/render/wasm/own-copies.test.ts'];

const MISTAKES: readonly Row[] = [
  ['atomics', ' && !g.own.has(array);', ' && g.own.has(array);', 'other threads do not matter'],
  ['own-copies', 'ordered ||= s.result !== undefined || ', 'ordered ||= ', 'what asks what was there has copies'],
  ['own-copies', "(s.order ?? 'relaxed') !== 'relaxed' || ", '', 'what releases may be late'],
  ['own-copies', 'someStmt(body, (s) => ENTANGLING.has(s.op))', 'false', 'what is behind a fence may be late'],
  ['own-copies', 'kindOf(first) !== kindOf(s)', 'false', 'a copy has the operation that comes first'],
  ['own-copies', '    others.add(e.mem.array);', '', 'what is loaded is what was there before'],
  ['own-copies', '      others.add(mem.array);\n      return;', '      return;', 'what is stored is overwritten'],
  ['own-copies', "if (origin.kind === 'stride') return undefined;", '', 'arrays are contiguous'],
  ['own-copies', 'scale !== 4 || disp !== 0', 'disp !== 0', 'elements are far apart'],
  ['own-copies', "if (p.type !== 'i64') f.op('i64.extend_i32_u');", "f.op('i64.extend_i32_u');", 'wide extents'],
  ['own-copies', "if (axis > 0) f.op('i64.mul');", "if (axis > 0) f.op('i64.add');", 'two axes are one'],
  [
    'own-copies',
    "    f.op('i64.gt_u');\n    f.brIf(shared);",
    "    f.op('drop', 'drop');",
    'copies of very long arrays',
  ],
  [
    'own-copies',
    "f.op('i64.mul', 'i64.gt_u');\n  f.brIf(shared);",
    "f.op('i64.mul', 'drop', 'drop');",
    'copies for one change',
  ],
  ['own-copies', '? ROUNDS : 1', '? 1 : 1', 'loops have one round'],
  ['own-copies', 'f.get(a.start, b.after);', 'f.get(a.start, b.start);', 'only what begins before it overlaps'],
  ['own-copies', 'f.get(b.start, a.after);', 'f.get(b.start, a.start);', 'nothing that begins within it overlaps'],
  ['own-copies', 'spans.slice(k + 1)', 'spans.slice(copies.length)', 'copies of one array twice'],
];

/** What random programs find by themselves. */
const FOUND: readonly Row[] = [
  [
    'own-copies',
    "f.i32(neutralOf(of));\n    f.op('i32x4.splat');",
    "f.i32(0);\n    f.op('i32x4.splat');",
    'all copies begin with 0',
  ],
  ['own-copies', "fn: fn === 'sub' ? 'add' : fn", 'fn', 'what has been taken away is taken away from'],
  ['own-copies', 'f.i32(16);', 'f.i32(32);', 'every second vector arrives'],
  ['own-copies', 'offset: 4 * lane', 'offset: 0', 'all lanes arrive in the first'],
  ['scratch', 'copies.set(array, take(bytes, 16))', 'copies.set(array, take(0, 16))', 'all copies are in one place'],
];

const FOLDER = 'compiler/render/wasm/';
const FUZZ = ['test/fuzz/counts.test.ts'];

export const OWN_COPIES: readonly Row[] = [
  ...MISTAKES.map(([file, find, replace, what]): Row => [`${FOLDER}${file}`, find, replace, what, TESTS]),
  ...FOUND.map(([file, find, replace, what]): Row => [`${FOLDER}${file}`, find, replace, what, FUZZ]),
  [
    'driver/cpu/executable',
    'module.copies === true ?',
    'module.copies !== true ?',
    'chunks are few where they cost nothing',
    ['src/driver/cpu/executable.test.ts'],
  ],
];
