/**
 * Seeded mistakes in what kernels have beside numbers and plain arrays, each with the tests that must find it: arguments of vitest.
 */
import type { Row } from './row.ts';

const CONFORMANCE = 'test/conformance-cpu.test.ts';
const RECURSION = ['test/fuzz/objects.test.ts', '-t', 'cpu'];
const OBJECTS = [CONFORMANCE, '-t', 'objects:'];
const CHOICES = ['test/fuzz/choices.test.ts'];
const BLOCKS = ['test/fuzz/blocks.test.ts', '-t', 'cpu'];
const FLAGS = [CONFORMANCE, '-t', 'shared flags'];
const COMPLEX = ['test/fuzz/complex.test.ts', '-t', 'cpu'];
const LIBRARY = ['test/fuzz/library.test.ts', '-t', 'cpu'];
const VECTORS = ['test/fuzz/vectors.test.ts', '-t', 'cpu'];
const CALLS = ['test/fuzz/calls.test.ts', '-t', 'cpu'];
const LOCALS = ['src/compiler/local-arrays.test.ts'];
const PARTS = [CONFORMANCE, '-t', 'numbers in parts'];
const ORDERS = ['src/cuda/memory-instructions.test.ts'];
const JOINT = ['src/compiler/render/wasm/joint-stores.test.ts'];

const FRAMES = 'compiler/frontend/recursion-frames';
const STEADY = 'compiler/ir/passes/steady-loads';
const CHOICE = 'compiler/frontend/array-choices';
const COMPLEXES = 'compiler/frontend/complex';
const EXACT = 'compiler/math/exact';
const TEXTS = 'compiler/frontend/texts';
const LANES = 'compiler/frontend/vectors';
const BITS = 'compiler/intrinsics/integers';

export const LANGUAGE: readonly Required<Row>[] = [
  [FRAMES, 'add(at(end.back));', '', 'variables that are used after a call are not kept', RECURSION],
  [
    FRAMES,
    "if (s.k !== 'assign' || s.value.k !== 'local') return false;",
    "if (s.k !== 'assign' || s.value.k !== 'local') continue;",
    'calls that something is done with are the last thing that is done',
    RECURSION,
  ],
  [
    FRAMES,
    "return [leave, this.#step('sub', pos), {",
    'return [leave, {',
    'a call that returns leaves its frame there',
    RECURSION,
  ],
  [FRAMES, 'literal(depth - 1, pos)', 'literal(depth + 1, pos)', 'calls may be deeper than was said', RECURSION],
  [
    'compiler/frontend/recursion',
    'if (varying.has(k) || isSame(arg, outer)) continue;',
    'continue;',
    'arguments of inner calls are those of the outermost',
    RECURSION,
  ],
  [
    CHOICE,
    'offset: form.offset && pick(x.offset ?? zero, y.offset ?? zero),',
    'offset: form.offset && (x.offset ?? zero),',
    'a choice begins where the first begins',
    CHOICES,
  ],
  [
    CHOICE,
    'stride: pick(axis.stride, y.axes[k]?.stride ?? axis.stride),',
    'stride: axis.stride,',
    'a choice lies as the first does',
    CHOICES,
  ],
  [
    CHOICE,
    'which: pick(whichOf(x, pos), whichOf(y, pos)),',
    'which: whichOf(x, pos),',
    'a choice is the first',
    CHOICES,
  ],
  [
    CHOICE,
    'isLiteral(a) && isLiteral(b) && a.value === b.value',
    'isLiteral(a) && isLiteral(b)',
    'any two known strides are the same',
    CHOICES,
  ],
  [
    STEADY,
    "case 'barrier':\n        return { stored: new Set(), loads: new Set() };",
    "case 'barrier':\n        return { stored: new Set(), loads: since.loads };",
    'barriers leave reads behind',
    FLAGS,
  ],
  [
    STEADY,
    'for (const load of since.loads) if (mayMeet(mem, load.mem)) this.#unsteady.add(load);',
    '',
    'stores behind a read are none',
    FLAGS,
  ],
  [
    STEADY,
    'for (const mem of since.stored) if (mayMeet(mem, part.mem)) this.#unsteady.add(part);',
    '',
    'stores before a read are none',
    FLAGS,
  ],
  [STEADY, 'this.changed = true;', '', 'loops have one round', FLAGS],
  [
    STEADY,
    'if (memoryOf(a.array) !== memoryOf(b.array)) return false;',
    'if (a.array !== b.array) return false;',
    'dynamic arrays lie apart',
    FLAGS,
  ],
  [
    STEADY,
    'return either(then, this.list(s.else, since));',
    'return then ?? this.list(s.else, since);',
    'what a branch passes by has not happened',
    FLAGS,
  ],
  [
    STEADY,
    'return either(this.list(s.body, since), take(this.#breaks, s.label));',
    'return this.list(s.body, since);',
    'jumps out of blocks lead nowhere',
    FLAGS,
  ],
  [
    STEADY,
    'return take(this.#breaks, s.label);\n  }',
    'return take(this.#breaks, s.label) && since;\n  }',
    'loops store nothing',
    FLAGS,
  ],
  [STEADY, 'take(this.#continues, s.label));', 'undefined);', 'rounds that are cut short store nothing', FLAGS],
  [
    STEADY,
    "a.index.op !== 'const' || b.index.op !== 'const') return true;",
    "a.index.op !== 'const' || b.index.op !== 'const') return false;",
    'indices that are not known are apart',
    FLAGS,
  ],
  [
    COMPLEXES,
    "fn === 'sub' ? negate(b.im, pos) : b.im",
    'b.im',
    'a real number less a complex one keeps the other part',
    COMPLEX,
  ],
  [
    COMPLEXES,
    "return both(ctx, test('eq', a.re, b.re), test('eq', a.im, b.im), pos);",
    "return test('eq', a.re, b.re);",
    'numbers of one real part are equal',
    COMPLEX,
  ],
  [
    COMPLEXES,
    "return complex(re, arith('add', xy, xy, pos));",
    'return complex(re, xy);',
    'squares have half an imaginary part',
    COMPLEX,
  ],
  [
    'compiler/math/complex',
    'im: div(sub(mul(b, c), mul(a, d)), square),',
    'im: div(sub(mul(a, d), mul(b, c)), square),',
    'quotients are conjugate',
    COMPLEX,
  ],
  [
    'compiler/frontend/complex-calls',
    'args: [im, re], pos: call.pos',
    'args: [re, im], pos: call.pos',
    'angles are measured from the other axis',
    COMPLEX,
  ],
  [
    TEXTS,
    'for (let k = from.length; k < type.length; k++)',
    'for (let k = from.length; k < 0; k++)',
    'what a longer string had stays behind a shorter',
    LIBRARY,
  ],
  [
    TEXTS,
    "{ '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' }",
    "{ '<': 'lt', '<=': 'lt', '>': 'gt', '>=': 'ge' }",
    'a string is not at most itself',
    LIBRARY,
  ],
  [
    TEXTS,
    "const at = ctx.hold(arith('sub', own, count, pos));",
    'const at = ctx.hold(own);',
    'strings end with nothing but what is empty',
    LIBRARY,
  ],
  [
    'compiler/frontend/array-reductions',
    'a: compare(order, v, old, pos), b: becomesNaN, pos };',
    'a: compare(order, v, old, pos), b: literal(false, pos), pos };',
    'a NaN is no extreme',
    LIBRARY,
  ],
  [
    EXACT,
    "const again = binary('and', compare('ne', second, first), above(second, 'ge'));",
    "const again = above(second, 'ge');",
    'ties of remainders are odd',
    PARTS,
  ],
  [
    EXACT,
    "const away = compare('eq', compare('lt', a, b), compare('gt', a, zero));",
    "const away = compare('lt', a, b);",
    'neighbours of negative numbers are on the other side',
    CALLS,
  ],
  [
    EXACT,
    'const lost = select(denormal, i32(f.fraction + 1), i32(0));',
    'const lost = i32(0);',
    'exponents of denormals are too large',
    CALLS,
  ],
  [
    BITS,
    "sub(binary('or', a, b), binary('shr', binary('xor', a, b), constant(a.type, 1)))",
    "add(binary('and', a, b), binary('shr', binary('xor', a, b), constant(a.type, 1)))",
    'means are rounded down',
    CALLS,
  ],
  [
    BITS,
    'return sub(sub(upper, select(lt(a, zero), b, zero)), select(lt(b, zero), a, zero));',
    'return sub(upper, select(lt(a, zero), b, zero));',
    'upper halves of products take one sign',
    CALLS,
  ],
  [
    'compiler/render/wasm/half',
    "splatConst(f, 'i32', 0x477ff000 - 1);",
    "splatConst(f, 'i32', 0x477fe000 - 1);",
    'the greatest half is infinite',
    ['src/compiler/ir/narrow-float.test.ts', CONFORMANCE, '-t', '16-bit floats|narrow'],
  ],
  [
    LANES,
    "const fn = operator.startsWith('!') ? 'or' : 'and';",
    "const fn = 'or';",
    'vectors with one equal lane are equal',
    VECTORS,
  ],
  [
    LANES,
    'const lanes = read.some(touchesMemory) ? read.map((lane) => ctx.hold(lane)) : read;',
    'const lanes = read;',
    'lanes are stored before the others are read',
    VECTORS,
  ],
  [
    LANES,
    'lanesIn(type).map((_, k) => inLane(f(parts.flatMap((part) => part[k] ?? [])), to, pos)),',
    'lanesIn(type).map((_, k) => f(parts.flatMap((part) => part[k] ?? []))),',
    'lanes do not wrap',
    VECTORS,
  ],
  [
    'cuda/collectives/scans',
    'if (hasBefore) sum = op(before, sum);',
    'if (hasBefore) sum = op(sum, before);',
    'scans of blocks turn operands round',
    BLOCKS,
  ],
  [
    'cuda/collectives/scans',
    'if (lane === 31 || t === count - 1) {',
    'if (lane === 31) {',
    'the last warp is full',
    BLOCKS,
  ],
  [
    'cuda/collectives/scans',
    'if (hasBefore) sum = op(init, before);',
    'if (hasBefore) sum = before;',
    'scans begin with the first value',
    BLOCKS,
  ],
  [
    'cuda/collectives/scans',
    'const last = Math.min(31, count - 1 - 32 * Math.floor(t / 32));',
    'const last = 31;',
    'warps are full',
    BLOCKS,
  ],
  [
    'compiler/ir/orders',
    "new Set(['release', 'acq_rel', 'seq_cst'])",
    "new Set(['acq_rel', 'seq_cst'])",
    'releases release nothing',
    ORDERS,
  ],
  [
    'compiler/frontend/atomic-calls',
    "order: given.order === 'relaxed' ? undefined : (given.order as MemoryOrder | undefined),",
    'order: undefined,',
    'all atomics are relaxed',
    ORDERS,
  ],
  [
    'compiler/frontend/array-makers',
    'const held = ctx.holdValue(value);\n  eachIndex',
    'const held = value;\n  eachIndex',
    'what fills an array is computed for each element',
    LOCALS,
  ],
  [
    'compiler/frontend/objects',
    'for (const name of [...type.getters.keys(), ...type.setters.keys()]) fields.delete(name);',
    '',
    'a property hides an accessor behind it',
    OBJECTS,
  ],
  [
    'compiler/render/wasm/statements',
    'if (k > 0) blendPart(g, store.value.type',
    'if (k > 1) blendPart(g, store.value.type',
    'what the second branch stores is stored by all lanes',
    JOINT,
  ],
];
