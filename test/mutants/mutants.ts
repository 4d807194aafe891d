/**
 * Seeded mistakes: each changes the meaning of some program, and the tests must find it.
 *
 * A mutant is a file, an exact piece of its text that stands there once, and what to put in its place.
 */

import { ABSENCE } from './absence.ts';
import { MEMORY } from './memory.ts';
import { NAMES } from './names.ts';

export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly what: string;
}

const LAYOUT: readonly (readonly [file: string, find: string, replace: string, what: string])[] = [
  [
    'axes',
    'order.map((axis) => layout.strides[axis] ?? 0)',
    'order.map((_, axis) => layout.strides[axis] ?? 0)',
    'transpose leaves the strides',
  ],
  ['axes', '(_, i) => ndim - 1 - i);\n  if', '(_, i) => i);\n  if', 'transpose without axes does nothing'],
  ['axes', 'filter((i) => shape[i] === 1)', 'filter((i) => (shape[i] ?? 0) <= 1)', 'squeeze drops empty axes'],
  [
    'axes',
    'Math.min(section, length - i * section)',
    'Math.min(section, length - i)',
    'split: the last piece is too long',
  ],
  ['axes', 'offset: offset + i * section * itemSize', 'offset: offset + i * section', 'split: offsets in elements'],
  ['axes', 'bytes % itemSize !== 0', 'bytes % itemSize > 1', 'view accepts a remainder of a byte'],
  [
    'broadcast',
    'if (length === 1 || length === common) continue;',
    'if (length <= 1 || length === common) continue;',
    'empty axes broadcast',
  ],
  ['broadcast', 'if (own === 1) return 0;', 'if (own === 1) return layout.itemSize;', 'broadcast axes have a stride'],
  ['broadcast', 'const added = shape.length - layout.shape.length;', 'const added = 0;', 'broadcast aligns first axes'],
  [
    'broadcast',
    'while (extra > 0 && layout.shape[extra - 1] === 1) extra--;',
    'extra = 0;',
    'assignment drops axes that are not 1',
  ],
  [
    'collapse',
    'step === axis.length * (axis.steps[k] ?? 0)',
    'step >= axis.length * (axis.steps[k] ?? 0)',
    'axes with gaps are merged',
  ],
  ['collapse', '.filter(({ length }) => length > 1)', '.filter(({ length }) => length > 2)', 'axes of length 2 vanish'],
  ['collapse', '-step * (count - 1)', '-step * count', 'runs wrap too far'],
  ['extent', 'if (reach < 0) low += reach;', 'if (reach < 0) high -= reach;', 'extents of negative strides'],
  [
    'extent',
    'const reach = (length - 1) * (strides[axis] ?? 0);',
    'const reach = length * (strides[axis] ?? 0);',
    'extents one element too long',
  ],
  ['extent', 'step - distance < b.itemSize', 'step - distance <= b.itemSize', 'overlap of neighbours'],
  ['extent', 'if (stride < span) return true;', 'if (stride <= span) return true;', 'adjacent axes overlap themselves'],
  [
    'indexing',
    'index < 0 ? index + length : index',
    'index < 0 ? index + length - 1 : index',
    'negative indices are one off',
  ],
  ['indexing', 'index < -length || index >= length', 'index < -length || index > length', 'an index may be the length'],
  [
    'indexing',
    'step > 0 ? [0, length] : [-1, length - 1]',
    'step > 0 ? [0, length] : [0, length - 1]',
    'backward slices lose the first element',
  ],
  ['indexing', 'Math.ceil((stop - start) / step)', 'Math.floor((stop - start) / step)', 'steps lose the last element'],
  ['indexing', 'offset += start * stride;', 'offset += start * step;', 'slices start by the step'],
  ['indexing', 'strides.push(stride * step + 0);', 'strides.push(stride + 0);', 'slices forget the step'],
  ['indexing', 'given < 0 ? given + length : given', 'given', 'negative bounds are not counted from the end'],
  [
    'indexing',
    'count === 0 ? { start: 0, count: 0, step: 1 }',
    'count === 0 ? { start, count: 0, step }',
    'empty slices begin beside the array',
  ],
  [
    'strides',
    "if (sizeOf(shape) > 0 && strides.includes(0)) return 'A';",
    '',
    'broadcast arrays of one row are contiguous',
  ],
  [
    'strides',
    'Math.abs(strides[a] ?? 0) - Math.abs(strides[b] ?? 0)',
    '(strides[a] ?? 0) - (strides[b] ?? 0)',
    'arrays like reversed ones have their axes in another order',
  ],
  ['reshape', 'if (length < -1) {', 'if (length < -9) {', 'reshape takes negative lengths'],
  ['shape', 'bytes *= Math.max(length, 1);', 'bytes *= length;', 'axes beside an empty one may be of any length'],
  ['shape', '/Float/.test(', '/Floats/.test(', 'a float array is a shape'],
  ['reshape', 'stride *= target[axis] ?? 1;', 'stride *= target[n] ?? 1;', 'reshape multiplies the wrong axis'],
  [
    'reshape',
    'old[i]?.stride !== inner.length * inner.stride',
    'old[i]?.stride < inner.length * inner.stride',
    'reshape over gaps',
  ],
  [
    'reshape',
    'if (newSize < oldSize) newSize *= target[n++] ?? 1;',
    'if (newSize <= oldSize) newSize *= target[n] ?? 1;',
    'regroup takes no step',
  ],
  [
    'reshape',
    "isFContiguous(shape, strides, itemSize) && !isCContiguous(shape, strides, itemSize) ? 'F' : 'C'",
    "isFContiguous(shape, strides, itemSize) ? 'F' : 'C'",
    'order A takes F too often',
  ],
  [
    'strides',
    'strides[axis] = stride;\n    stride *= Math.max(shape[axis] ?? 1, 1);\n  }\n  return strides;\n}\n\n/** Byte strides of a compact array whose first',
    'strides[axis] = stride;\n    stride *= shape[axis] ?? 1;\n  }\n  return strides;\n}\n\n/** Byte strides of a compact array whose first',
    'C strides of empty arrays',
  ],
  [
    'strides',
    'for (const axis of fastestFirst) {\n    strides[axis] = stride;\n    stride *= Math.max(shape[axis] ?? 1, 1);',
    'for (const axis of fastestFirst) {\n    strides[axis] = stride;\n    stride *= shape[axis] ?? 1;',
    'F strides of empty arrays',
  ],
  ['strides', 'if (length === 1) continue;', '', 'axes of length 1 count for contiguity'],
  [
    'strides',
    'stride % itemSize === 0) ? itemSize : 1',
    'stride % itemSize === 0) ? itemSize : itemSize',
    'odd strides in elements',
  ],
];

const FRONT: typeof LAYOUT = [
  [
    'frontend/arithmetic',
    "return a * b;\n    case 'div':\n      return a / b;",
    "return a * b;\n    case 'div':\n      return b / a;",
    'literals are divided the wrong way',
  ],
  [
    'frontend/arithmetic',
    'if (isLit(a, 0) || isLit(b, 0)) return literal(0, pos);',
    'if (isLit(a, 0) || isLit(b, 0)) return literal(1, pos);',
    'index products with 0 are 1',
  ],
  [
    'frontend/arithmetic',
    "if (fn === 'or' && isLit(b, 0)) return { k: 'toInt', unsigned: false, a, pos };",
    "if (fn === 'or' && isLit(b, 0)) return { k: 'toInt', unsigned: true, a, pos };",
    'x | 0 is unsigned',
  ],
  ['frontend/arithmetic', 'return cond.value ? a : b;', 'return cond.value ? b : a;', 'selects of known conditions'],
  [
    'frontend/convert',
    "return to === 'i64' || to === 'u64';\n    case 'i64':",
    "return to === 'u64';\n    case 'i64':",
    'u32 does not widen to i64',
  ],
  [
    'frontend/convert',
    'if (isIntegral(e)) return castTo(a, use.store ?? to, pos);',
    'if (isIntegral(e)) return castTo(a, to, pos);',
    'rounded floats wrap into small elements',
  ],
  [
    'frontend/convert',
    'isFloat(from) && value < 0 ? 0n :',
    'isFloat(from) && value < -1e9 ? 0n :',
    'negative float constants wrap to u64',
  ],
  [
    'frontend/lower-expression',
    "const fn = isFloat(m) || e.fn === 'copysign' ? e.fn : e.fn === 'fmin' ? 'min'",
    "const fn = isFloat(m) || e.fn === 'copysign' ? e.fn : e.fn === 'fmin' ? 'max'",
    'fmin of integers is max',
  ],
  [
    'frontend/lower-expression',
    "fn: e.fn === 'shl' ? 'shl' : 'shr'",
    "fn: e.fn === 'shr' ? 'shr' : 'shl'",
    '>>> shifts left',
  ],
  [
    'frontend/quotients',
    "return binary('floordiv', over, under, pos);",
    "return binary('div', over, under, pos);",
    'floor of a quotient truncates',
  ],
  [
    'frontend/quotients',
    "if (fn === 'ceil') return compare('ne', rest, zero);",
    "if (fn === 'ceil') return compare('lt', zero, rest);",
    'ceil of a quotient by a negative divisor',
  ],
  ['frontend/quotients', "binary('and', compare('ne', b, zero), up())", 'up()', 'ceil by zero is not 0'],
  [
    'frontend/lower-expression',
    "const wraps = isFloat(a.type) && (m === 'i32' || m === 'u32')",
    "const wraps = isFloat(a.type) && m === 'i32'",
    'x >>> 0 saturates',
  ],
  [
    'ir/passes/intervals',
    'return low > -(2 ** 31) - 1 && high < 2 ** 31;',
    'return low > -(2 ** 33);',
    'u32 floats fit i32',
  ],
  ['frontend/quotients', "return farther('le');", "return farther('lt');", 'halves of quotients round down'],
  [
    'frontend/quotients',
    "select(compare('lt', b, zero), compare(below, rest, missing), compare(below, missing, rest))",
    'compare(below, missing, rest)',
    'round of a quotient by a negative divisor',
  ],
  [
    'frontend/quotients',
    "compare('ne', binary('and', down, constant(type, 1)), zero)",
    "compare('eq', binary('and', down, constant(type, 1)), zero)",
    'rint of a quotient goes to odd',
  ],
  [
    'frontend/lower-expression',
    "e.k === 'lit' ? Number.isInteger(Number(e.value)) : !isFloatType(t);",
    'true;',
    'masks and lanes may be floats',
  ],
  [
    'frontend/lower-expression',
    'under: castTo(read(under), m, e.pos)',
    'under: constant(1, m, e.pos)',
    'variables forget what they are divided by',
  ],
  [
    'frontend/lower-expression',
    "const type = wide ? m : 'u32';",
    "const type = wide ? m : 'i32' as 'u32';",
    'brev of 32 bits is i32',
  ],
  ['frontend/lower-expression', 'a: zero, b: found }', 'a: found, b: found }', 'ffs of 0 is 33'],
  [
    'frontend/lower-expression',
    "const type = beyond(ea) || beyond(eb) ? 'f64' : m;",
    'const type = m;',
    'comparisons with literals out of range are refused',
  ],
  [
    'frontend/lower-expression',
    "fn: 'trunc', a: held },\n          b: held,",
    "fn: 'abs', a: held },\n          b: held,",
    'isInteger asks for the sign',
  ],
  [
    'frontend/statements',
    '(k === 0 || !entersByFall(s.cond)) && ',
    '',
    'breaks of cases are lost where empty cases fall through',
  ],
  [
    'frontend/statements',
    'return select(test, literal(k, pos), from(k + 1), pos);',
    'return select(test, literal(k + 1, pos), from(k + 1), pos);',
    'switch enters one case late',
  ],
  [
    'frontend/context',
    'if (v === undefined || !this.list.slice(mark).some(hasEffect)) continue;',
    'continue;',
    'operands are not kept before later effects',
  ],
  [
    'frontend/assignments',
    'return scalar(node.prefix ? after : before);',
    'return scalar(node.prefix ? before : after);',
    'a[i]++ gives the new value',
  ],
  [
    'frontend/assignments',
    'const before = isLiteral(old) ? old : ctx.temp(old);',
    'const before = old;',
    'i++ gives the new value',
  ],
  ['frontend/assignments', "const fn = node.operator === '++' ? 'add' : 'sub';", "const fn = 'add';", 'i-- counts up'],
  [
    'frontend/assignments',
    "cond: node.operator === '&&=' ? test : not(test, pos)",
    "cond: node.operator !== '&&=' ? test : not(test, pos)",
    '&&= is ||=',
  ],
  [
    'frontend/arrays',
    "for (const k of order === 'C' ? indices.reverse() : indices) {",
    "for (const k of order === 'F' ? indices.reverse() : indices) {",
    'C and F order are exchanged',
  ],
  [
    'frontend/arrays',
    'offset: addIndex(view.offset, mulIndex(held, axis.stride, pos), pos),',
    'offset: addIndex(undefined, mulIndex(held, axis.stride, pos), pos),',
    'only the last index counts',
  ],
  [
    'frontend/arrays',
    'extent: axis.extent, axis: view.firstAxis }],',
    'extent: axis.stride, axis: view.firstAxis }],',
    'bounds are strides',
  ],
  [
    'frontend/arrays',
    'start = part.start === undefined ? last :',
    'start = part.start === undefined ? n :',
    'backward slices start beyond the end',
  ],
  [
    'frontend/intrinsic-calls',
    'a: number(call, 1), b: number(call, 2), pos: call.pos });\n  },\n  fma',
    'a: number(call, 2), b: number(call, 1), pos: call.pos });\n  },\n  fma',
    'selp takes the other value',
  ],
  [
    'frontend/intrinsic-calls',
    "syncThreadsAnd: barrier('and')",
    "syncThreadsAnd: barrier('or')",
    'syncThreadsAnd is Or',
  ],
  ['types/lattice', "return 's8';", "return 'u8';", 'i8 counts as unsigned'],
  [
    'types/lattice',
    "case 's8':\n      return lo === 's8' || lo === 'u8' ? 'i32' : hi;",
    "case 's8':\n      return lo === 's8' || lo === 'u8' ? 'u32' : hi;",
    'i8 and u8 make u32',
  ],
  [
    'types/infer',
    't = joinOr(t, def.type);\n        else if (counts(def.expr))',
    't = joinOr(t, def.type);\n        else if (range.type === undefined)',
    'only first guesses are joined',
  ],
  ['types/infer', 'joinDefinitions(ranges, growing, isTyped);\n', '', 'guesses stay in the join'],
  [
    'types/ranges',
    'return merge(this.#run(s.then, state), this.#run(s.else, state));',
    'return merge(this.#run(s.then, state), state);',
    'definitions in else are lost',
  ],
  [
    'types/ranges',
    'else target.continues = merge(target.continues, state);',
    '',
    'definitions before continue are lost',
  ],
  [
    'types/typing',
    "return t === 'i64' || t === 'B' ? 'u64' : isWide(t) ? t : 'u32';",
    "return t === 'i64' || t === 'B' ? 'u64' : t;",
    '>>> keeps i32',
  ],
  [
    'types/typing',
    "(a === 'u32' && b === 'i32')) return 'i32';",
    "(a === 'u32' && b === 'i32')) return 'u32';",
    'bit operations of i32 and u32 are u32',
  ],
];

const PASSES: typeof LAYOUT = [
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
    'targets.set(s.label, { break: out, continue: NONE });\n        // Around',
    '// Around',
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
    'ir/passes/placement',
    'const saves = slots.filter((v) => written.has(v.id) && after.has(v.id));',
    'const saves = slots.filter((v) => written.has(v.id) && !before.has(v.id) && after.has(v.id));',
    'changed values are not saved across a barrier',
  ],
  [
    'ir/passes/placement',
    'if (copies.size === 0) return [node];',
    'return [node];',
    'values of the block are changed while items read them',
  ],
  ['ir/passes/regions', 'flush(reduction(s));', 'flush();', 'votes are not counted'],
];

const WASM: typeof LAYOUT = [
  ['render/wasm/convert', 'splatConst(f, a.type, 2 ** 31);', 'splatConst(f, a.type, 2 ** 32);', 'u32 lanes saturate'],
  [
    'render/wasm/convert',
    "f.op('i32x4.sub');\n  f.set(result);",
    "f.op('i32x4.add');\n  f.set(result);",
    'negative lanes that wrap are 2 off',
  ],
  [
    'render/wasm/scalar',
    "f.f64(2 ** 32);\n    f.op('f64.mul', 'f64.sub'",
    "f.f64(2 ** 32);\n    f.op('f64.mul', 'f64.add'",
    'floats beyond 2^63 wrap to anything',
  ],
  [
    'render/wasm/scalar',
    "f.op(`${type}.gt`, 'select', `${type}.sub`);",
    "f.op(`${type}.ge`, 'select', `${type}.sub`);",
    'halves round down',
  ],
  [
    'render/wasm/scalar',
    "f.op(isUnsigned(type) ? `${w as 'i32'}.gt_u` : `${w as 'i32'}.gt_s`);",
    "f.op(`${w as 'i32'}.gt_s`);",
    'sign of large unsigned values',
  ],
  [
    'render/wasm/scalar',
    "f.op(`${w as 'i32'}.rem_${sign}`);",
    "f.op(`${w as 'i32'}.rem_s`);",
    'unsigned remainders are signed',
  ],
  [
    'render/wasm/scalar',
    "f.op(`${w as 'i32'}.${fn === 'min' ? 'lt' : 'gt'}_${sign}`, 'select');",
    "f.op(`${w as 'i32'}.${fn === 'min' ? 'lt' : 'gt'}_s`, 'select');",
    'unsigned min and max are signed',
  ],
  [
    'render/wasm/scalar',
    'f.get(x);\n    f.op(`${w}.sub`);\n    f.else();',
    'f.get(x);\n    f.op(`${w}.add`);\n    f.else();',
    'division by -1 keeps the sign',
  ],
  [
    'render/wasm/scalar',
    "if (target === 'i64' && source === 'i32') f.op(`i64.extend_i32_${unsignedFrom}`);",
    "if (target === 'i64' && source === 'i32') f.op('i64.extend_i32_s');",
    'u32 extends by sign',
  ],
  ['render/wasm/scalar', 'i16: [-0x8000, 0x7fff],', 'i16: [-0x8000, 0xffff],', 'floats saturate to u16 for i16'],
  [
    'render/wasm/vector',
    "splatConst(f, 'i64', -(2n ** 63n));",
    "splatConst(f, 'i64', -(2n ** 62n));",
    'u64 comparisons flip the wrong bit',
  ],
  [
    'render/wasm/vector',
    "f.op(fn === 'shl' ? `${v}.shl` : `${v}.shr_${isUnsigned(type) ? 'u' : 's'}`);",
    "f.op(fn === 'shl' ? `${v}.shl` : `${v}.shr_s`);",
    'vector shifts of u32 follow the sign',
  ],
  [
    'render/wasm/vector',
    'f.shuffle([0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]);',
    'f.shuffle([0, 1, 2, 3, 8, 9, 10, 11, 24, 25, 26, 27, 16, 17, 18, 19]);',
    'lanes are exchanged when 64 bits narrow',
  ],
  [
    'render/wasm/vector',
    "case 'uniform':\n      return plain();\n    case 'neg':\n      return plain(`${v}.neg`);",
    "case 'uniform':\n      return plain();\n    case 'neg':\n      return plain(`${v}.abs`);",
    'vector negation is abs',
  ],
  [
    'render/wasm/convert',
    "splatConst(f, 'i32', range[1]);\n      f.op('i32x4.min_s');",
    '',
    'vectors of floats saturate below only',
  ],
  [
    'render/wasm/convert',
    "f.op(`i64x2.extend_${part & 1 ? 'high' : 'low'}_i32x4_${unsigned}`);",
    'f.op(`i64x2.extend_low_i32x4_${unsigned}`);',
    'the high lanes repeat the low ones',
  ],
  [
    'render/wasm/half',
    "splatConst(f, 'i32', 0x38800000);",
    "splatConst(f, 'i32', 0x39800000);",
    'small normal halves are taken for denormal ones',
  ],
  [
    'render/wasm/half',
    "splatConst(f, 'i32', 0xfff - ((127 - 15) << 23));",
    "splatConst(f, 'i32', 0x1000 - ((127 - 15) << 23));",
    'halves round ties up',
  ],
  ['render/wasm/helpers', '[8n, 0x00ff00ff00ff00ffn],', '[8n, 0x00ff00ff00ff00f0n],', 'brev drops bits'],
  [
    'render/wasm/helpers',
    'f.tee(quotient);\n  push(1);',
    'f.tee(quotient);\n  push(2);',
    'floor division goes two down',
  ],
  ['render/wasm/masks', "g.f.op('v128.andnot');", "g.f.op('v128.and');", 'jumps keep the lanes that go'],
  [
    'render/wasm/ranges',
    "if (e.fn === 'and' && low >= 0) return [0, high];",
    "if (e.fn === 'and') return [0, high];",
    'masks with negative numbers bound',
  ],
  ['render/wasm/ranges', 'if (index[1] < extent[0] ||', 'if (index[1] <= extent[0] ||', 'the index may be the extent'],
  [
    'render/wasm/relations',
    'f.slack + offset <= room',
    'f.slack + offset <= room + 1',
    'a guard proves what is one further',
  ],
  [
    'render/wasm/ranges',
    'walk(s.else, learn(s.cond, false, place, s.else));',
    'walk(s.else, learn(s.cond, true, place, s.else));',
    'what a guard says holds on its other side',
  ],
  [
    'render/wasm/checks',
    'Math.max(Number(extent.value) - g.lanes + 1, 0)',
    'Math.max(Number(extent.value) + 1, 0)',
    'only the first lane is checked',
  ],
  ['render/wasm/jam', 'return add(x, i32(row));', 'return add(x, i32(1));', 'rows run together read the second one'],
  [
    'render/wasm/rows',
    'const span = x * (width - 1) + y * (height - 1);',
    'const span = x * (width - 1) + y;',
    'only two rows of a block are checked ahead',
  ],
];

const MATH: typeof LAYOUT = [
  ['math/trig', 'const SIN = [-0.16666653752326965,', 'const SIN = [-0.16656653752326965,', 'a coefficient of sin'],
  ['math/trig', 'const COS = [0.04166664555668831,', 'const COS = [0.04166764555668831,', 'a coefficient of cos'],
  ['math/trig', '0xa2f9836e, 0x4e441529', '0xa2f9836e, 0x4e441528', 'a bit of 2/pi'],
];

function under(folder: string, list: typeof LAYOUT): Mutant[] {
  return list.map(([file, find, replace, what]) => ({ file: `src/${folder}${file}.ts`, find, replace, what }));
}

export const MUTANTS: readonly Mutant[] = [
  ...under('layout/', LAYOUT),
  ...under('', MEMORY),
  ...under('', NAMES),
  ...under('compiler/', FRONT),
  ...under('compiler/frontend/', ABSENCE),
  ...under('compiler/', PASSES),
  ...under('compiler/', WASM),
  ...under('compiler/', MATH),
];
