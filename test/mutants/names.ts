/**
 * Seeded mistakes in what names of records mean, and in clamped bytes.
 */
import type { Row } from './row.ts';

const STORED = ['src/kernel/stored-numbers.test.ts'];

export const NAMES: readonly Row[] = [
  [
    'compiler/frontend/name-states',
    'if (by.region.level > level) return false;',
    'if (by.region.level >= level) return false;',
    'whole elements replace nothing',
  ],
  [
    'compiler/frontend/name-states',
    'after[this.#index.get(s.names) ?? -1] = of || CURRENT;',
    'after[this.#index.get(s.names) ?? -1] = CURRENT;',
    'a name of a replaced record is the element again',
  ],
  [
    'compiler/frontend/name-states',
    'const both = (known[k] ?? 0) | (more[k] ?? 0);',
    'const both = known[k] || (more[k] ?? 0);',
    'what one way replaces is forgotten where ways meet',
  ],
  [
    'compiler/frontend/name-states',
    'return this.#replaced(s, s.by, name, found) ? REPLACED | (state & UNCERTAIN) : state;',
    'return this.#replaced(s, s.by, name, found) ? REPLACED : state;',
    'a second assignment makes a changed record certain',
  ],
  [
    'compiler/frontend/name-states',
    "(s.k === 'store' || s.k === 'atomic') && (stateOf(s.mem) & REPLACED) !== 0",
    "s.k === 'atomic' && (stateOf(s.mem) & REPLACED) !== 0",
    'stores through the name of a replaced record reach the array',
  ],
  [
    'compiler/frontend/name-states',
    'return overlap(region, name.region) !== false;',
    'return false;',
    'parts that are stored to leave names alone',
  ],
  [
    'compiler/frontend/name-states',
    'if (p.statement === undefined || !isBarrier(p.statement)) waiting.push(...p.next);',
    'if (p.statement === undefined) waiting.push(...p.next);',
    'other threads assign nothing after a barrier',
  ],
  [
    'compiler/frontend/name-copies',
    'x.part !== undefined && overwrites.includes(x.part)',
    'x.part === undefined && overwrites.includes(x.part)',
    'copies are taken when the record has been replaced',
  ],
  [
    'compiler/frontend/name-copies',
    'return from === undefined || (from < part.at',
    'return from === undefined && (from < part.at',
    'copies do not follow what changes the element',
  ],
  ['compiler/frontend/name-copies', 'disp: base.disp + at,', 'disp: base.disp,', 'copies hold the first member'],
  [
    'compiler/frontend/paths',
    'targets.set(s.label, { onBreak: after, onContinue: update });',
    'targets.set(s.label, { onBreak: after, onContinue: after });',
    'continue leaves the loop',
  ],
  [
    'compiler/frontend/regions',
    'return p.start + n <= q.start || q.start + m <= p.start;',
    'return p.start + n <= q.start || q.start <= p.start;',
    'an element that is assigned is not the one that was named',
  ],
  [
    'compiler/frontend/arrays',
    'level: view.via === undefined ? view.level : view.level + 1,',
    'level: view.level,',
    'rows of sub-arrays replace the whole',
  ],
  [
    'compiler/frontend/convert',
    "castTo({ op: 'unary', type: a.type, fn: 'rint', a }, 'u8', pos)",
    "castTo(a, 'u8', pos)",
    'clamped stores cut off',
  ],
  ['compiler/frontend/convert', "cut('max', a, 0)", 'a', 'negative integers wrap in clamped bytes'],
  [
    'compiler/types/infer',
    'if (!s.mem.clamped) meet(g,',
    'meet(g,',
    'what is stored to clamped bytes must be an integer',
    STORED,
  ],
  ['kernel/args', "type.clamped ? 'c' : ''", "''", 'one kernel for bytes and clamped bytes'],
  ['dtype/convert', 'rest === 0.5 && low % 2 === 1', 'rest === 0.5', 'ties are rounded up on the host'],
];
