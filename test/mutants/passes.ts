/**
 * Seeded mistakes in the passes over the intermediate code.
 */

export const PASSES: readonly (readonly [file: string, find: string, replace: string, what: string])[] = [
  [
    'ir/passes/fold',
    "case 'or':\n    case 'xor':\n    case 'sub':",
    "case 'or':\n    case 'mul':\n    case 'xor':\n    case 'sub':",
    'x * 0 is x',
  ],
  [
    'ir/passes/fold',
    "if (same(a, b) && (e.fn === 'xor' || e.fn === 'sub')) return zero;",
    "if (same(a, b) && (e.fn === 'xor' || e.fn === 'sub' || e.fn === 'shl')) return zero;",
    'x << x is 0',
  ],
  [
    'ir/passes/fold',
    "const rightWay = e.fn === 'floordiv' || isNotNegative(a);",
    'const rightWay = true;',
    'division of negatives by shifts',
  ],
  [
    'ir/passes/fold',
    "!isNotNegative(a)) return e;\n  return binary(\n    'and'",
    "false) return e;\n  return binary(\n    'and'",
    'remainders of negatives by masks',
  ],
  ['ir/passes/fold', 'if (same(e.a, e.b) && !isFloat(e.a.type))', 'if (same(e.a, e.b))', 'NaN equals itself'],
  [
    'ir/passes/fold',
    'return is(b, -0) ? a : is(a, -0) ? b : e;',
    'return is(b, 0) || is(b, -0) ? a : is(a, -0) ? b : e;',
    'x + 0 keeps -0',
  ],
  ['ir/passes/fold', '{ ...e, cond: cond.a, a: b, b: a } : e;', '{ ...e, cond: cond.a } : e;', 'select of a negation'],
  [
    'ir/passes/fold',
    "if (b.value === (e.fn === 'and')) return a;",
    "if (b.value === (e.fn === 'or')) return a;",
    'x && false is x',
  ],
  [
    'ir/passes/fold',
    'return integers && (isWord(e.to) || isLong(a.to))',
    'return integers && true && (isWord(e.to) || isLong(a.to) || isWord(a.to))',
    'i64 through i32 keeps its high bits',
  ],
  [
    'ir/passes/fold',
    "if (e.to === 'i64') return e.a.type === 'u32' ||",
    "if (e.to === 'i64') return e.a.type !== 'bool' ||",
    'i64 of i32 is never negative',
  ],
  [
    'ir/passes/simplify',
    'forget(known, assignedIn([...s.body, ...s.update]));',
    'forget(known, assignedIn(s.update));',
    'loops keep what they knew',
  ],
  [
    'ir/passes/simplify',
    'if (first) for (const [id, e] of first) if (!second || second.get(id) === e) known.set(id, e);',
    'if (first) for (const [id, e] of first) known.set(id, e);',
    'knowledge of one branch holds after both',
  ],
  [
    'ir/passes/simplify',
    'const body = this.list(s.body, new Map(known));\n        forget(known, assignedIn(s.body));',
    'const body = this.list(s.body, known);',
    'knowledge of a block holds where it was left early',
  ],
  [
    'ir/passes/liveness',
    'targets.set(s.label, { break: out, continue: NONE });\n        const update',
    'const update',
    'breaks in updates reach nothing',
  ],
  ['ir/passes/liveness', 'live.addAll(otherwise);', '', 'what else reads is dead'],
  [
    'ir/passes/dead',
    'const id = defined(s);\n        if (id !== undefined) live.delete(id);\n        for (const e of stmtExprs(s)) addReads(e, live);',
    'for (const e of stmtExprs(s)) addReads(e, live);\n        const id = defined(s);\n        if (id !== undefined) live.delete(id);',
    'x = x + 1 kills x',
  ],
  [
    'ir/passes/structure',
    'return [...out, branch(s, tail(s.then), tail([...s.else, ...rest]))];',
    'return [...out, branch(s, tail(s.then), tail(s.else))];',
    'code behind a jump is lost',
  ],
  [
    'ir/passes/shapes',
    "if (array.space === 'local' || !steady(index)) return 'V';",
    "if (!steady(index)) return 'V';",
    'local arrays are the same for all',
  ],
  [
    'ir/passes/shapes',
    "if (e.fn === 'sub' && a === 'C' && steady(b)) return 'C';",
    "if (e.fn === 'sub' && (a === 'C' || b === 'C') && (steady(b) || steady(a))) return 'C';",
    'u - lane is consecutive',
  ],
  [
    'ir/passes/returns',
    'const counted = neutral ? or(not(takesPart), read(v)) : and(takesPart, read(v));',
    'const counted = read(v);',
    'threads that returned vote',
  ],
  [
    'ir/passes/storage',
    'const saves = slots.filter((v) => written.has(v.id) && after.has(v.id));',
    'const saves = slots.filter((v) => written.has(v.id) && !before.has(v.id) && after.has(v.id));',
    'changed values are not saved across a barrier',
  ],
  [
    'ir/passes/storage',
    'if (copies.size === 0) return [node];',
    'return [node];',
    'values of the block are changed while items read them',
  ],
  ['ir/passes/regions', 'flush(reduction(s));', 'flush();', 'votes are not counted'],
];
