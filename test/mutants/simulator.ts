/**
 * Seeded mistakes in what the simulator reports: races, by the clocks that fences and atomics hand over, and integers that wrap.
 */
import type { Row } from './row.ts';

export const SIMULATOR: readonly Row[] = [
  ['clocks', 'join(now, pending);', '', 'a fence receives nothing'],
  ['clocks', 'fenced.set(now);', '', 'a fence hands nothing over'],
  [
    'clocks',
    'now[thread] = (now[thread] as number) + 1;',
    '',
    'what comes after a fence is as old as what came before',
  ],
  ['clocks', 'join(held, own.fenced);', 'held.set(own.fenced);', 'a place forgets who updated it before'],
  ['clocks', 'own.fenced.slice()', 'own.now.slice()', 'an atomic hands over what no fence stands behind'],
  [
    'clocks',
    'join((own ?? this.#knownOf(thread)).pending, held)',
    'join((own ?? this.#knownOf(thread)).now, held)',
    'an atomic receives without a fence',
  ],
  [
    'clocks',
    'if (own === undefined || !changes) return;',
    'if (own === undefined) return;',
    'a swap that fails hands over',
  ],
  ['clocks', '>= time', '> time', 'the last accesses before a fence are not handed over'],
  ['clocks', '(from[k] as number) > (to[k] as number)', '(from[k] as number) !== 0', 'old news replaces new'],
  [
    'clocks',
    'const locations = this.#locations.get(memory) ?? new Map<number, Clock>();',
    'const locations = this.#locations.values().next().value ?? new Map<number, Clock>();',
    'places of all memories are one',
  ],
  [
    'clocks',
    'const held = locations.get(at);',
    'const held = locations.values().next().value;',
    'all places of a memory are one',
  ],
  ['shadow', 'return before >= 0 && clocks.isAfter(', 'return false && clocks.isAfter(', 'clocks are not asked'],
  ['shadow', "other(slots, base + READ, 'read', now) ??", '', 'writes do not race with reads'],
  ['shadow', 'slots[at + 3] = time;', 'slots[at + 3] = 0;', 'all that is past is known of'],
  [
    'shadow',
    'if (slots[at] === phase && before === who && slots[at + 3] === time) return;',
    'if (slots[at] === phase && before === who) return;',
    'an access after a fence counts as the one before',
  ],
  [
    'overflow',
    'const LARGEST_INSIDE = 2 ** 48;',
    'const LARGEST_INSIDE = 2 ** 80;',
    'products that no number holds are exact',
  ],
  [
    'overflow',
    'const kept = this.#wrap(Math.imul(a, b));',
    'const kept = this.#wrap(exact);',
    'products lose low bits',
  ],
  ['overflow', 'return this.#unsigned ? exact >>> 0 : exact | 0;', 'return exact | 0;', 'u32 wraps as i32'],
  [
    'overflow',
    'const exact = a - b;\n    const kept = this.#wrap(exact);\n    if (kept !== exact) ',
    'const exact = a - b;\n    const kept = this.#wrap(exact);\n    if (exact > kept) ',
    'differences below the range are not reported',
  ],
  [
    'overflow',
    'const exact = Math.round(a ** b);\n    if (kept !== exact)',
    'const exact = Math.round(a ** b);\n    if (kept > exact)',
    'powers are not reported',
  ],
  ['overflow', 'if (kept !== -a)', 'if (kept === -a)', 'negation is reported where it fits'],
  [
    'overflow',
    "type === 'i32' ? '| 0' : '>>> 0'",
    "type === 'u32' ? '| 0' : '>>> 0'",
    'the help names the other conversion',
  ],
  [
    'wrapping',
    'return this.#value(e.a, !wraps(e.a.type, e.to));',
    'return this.#value(e.a, true);',
    'casts that wrap need the number',
  ],
  [
    'wrapping',
    'this.#value(s.value, false);\n        return this.#access(s.mem);',
    'this.#value(s.value, true);\n        return this.#access(s.mem);',
    'stores need the number',
  ],
  [
    'wrapping',
    'return this.#value(s.value, this.variables.has(s.var.id));',
    'return this.#value(s.value, false);',
    'variables never need the number',
  ],
  ['wrapping', 'BITS.has(e.fn) ? false :', 'BITS.has(e.fn) ? true :', 'bit operations need the number'],
  [
    'wrapping',
    'for (let before = -1; before !== uses.variables.size; )',
    'for (let before = -1; before < 0; )',
    'one walk over loops is enough',
  ],
  ['wrapping', 'this.#value(index, true);', 'this.#value(index, false);', 'indices may wrap'],
  ['wrapping', '!WRAPPING_ATOMICS.has(s.fn)', 'true', 'atomic sums need the number'],
  ['wrapping', 'ELEM_SIZE[to] <= ELEM_SIZE[from]', 'ELEM_SIZE[to] >= ELEM_SIZE[from]', 'casts to more bits wrap'],
];
