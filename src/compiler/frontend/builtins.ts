/**
 * Host functions that kernels may call: `Math.*`, casts (`f32(x)`, `Number(x)`, `BigInt(x)`), `Number.isNaN`, `console.log`.
 *
 * They are recognised by identity, so that whatever a bundler calls them they are the same.
 */
import type { CallExpression } from 'acorn';
import { type DType, elemOf, isClamped, isScalarDType, isTimeDType, isVectorDType } from '../../dtype/index.ts';
import type { MathFn } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { RoundFn, TExpr } from '../types/tree.ts';
import { arith, bits, not, shift, truth } from './arithmetic.ts';
import { complexBuiltin, complexCast } from './complex-calls.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { isObjectFunction, numberTest, objectFunction } from './kinds.ts';
import { makeObject, spread } from './objects.ts';
import { isNativeText } from './parse.ts';
import { consoleLog, constantText } from './printing.ts';
import { isJavaScriptArray, sameValue } from './same-value.ts';
import { countOf, isTime, makeTime } from './times.ts';
import { isLiteral, literal, type Scope, scalar, UNDEFINED, type Value } from './values.ts';
import { isVector, makeVector, vectorFunction } from './vectors.ts';

type Build = (args: readonly TExpr[], pos: Pos) => TExpr;

interface Builtin {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly build: Build;
}

const TABLE = new Map<unknown, Builtin>();

function define(fn: unknown, name: string, min: number, max: number, build: Build): void {
  if (typeof fn === 'function') TABLE.set(fn, { name, min, max, build });
}

function arg(args: readonly TExpr[], k: number): TExpr {
  const e = args[k];
  if (e === undefined) throw new Error('argument count was checked');
  return e;
}

/** Folds a function of literals with JavaScript's own. */
function folding(fn: (...x: number[]) => number, build: Build): Build {
  return (args, pos) => {
    const values = args.map((a) => (a.k === 'lit' && typeof a.value === 'number' ? a.value : undefined));
    return values.every((v): v is number => v !== undefined) ? literal(fn(...values), pos) : build(args, pos);
  };
}

const MATH1: readonly MathFn[] = [
  'exp',
  'expm1',
  'log',
  'log2',
  'log10',
  'log1p',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sinh',
  'cosh',
  'tanh',
  'asinh',
  'acosh',
  'atanh',
  'cbrt',
];

for (const name of MATH1) {
  const fn = (Math as unknown as Record<string, (x: number) => number>)[name];
  if (fn !== undefined)
    define(
      fn,
      `Math.${name}`,
      1,
      1,
      folding(fn, (a, pos) => ({ k: 'math', fn: name, args: [arg(a, 0)], pos })),
    );
}
define(
  Math.sqrt,
  'Math.sqrt',
  1,
  1,
  folding(Math.sqrt, (a, pos) => ({ k: 'math', fn: 'sqrt', args: [arg(a, 0)], pos })),
);
define(
  Math.atan2,
  'Math.atan2',
  2,
  2,
  folding(Math.atan2, (a, pos) => ({ k: 'math', fn: 'atan2', args: [arg(a, 0), arg(a, 1)], pos })),
);
define(Math.pow, 'Math.pow', 2, 2, (a, pos) => arith('pow', arg(a, 0), arg(a, 1), pos));
define(Math.hypot, 'Math.hypot', 1, 8, (a, pos) =>
  a.length === 1
    ? { k: 'abs', a: arg(a, 0), pos }
    : a.slice(1).reduce<TExpr>((x, y) => ({ k: 'math', fn: 'hypot', args: [x, y], pos }), arg(a, 0)),
);
for (const fn of ['floor', 'ceil', 'round', 'trunc'] as const satisfies readonly RoundFn[]) {
  define(
    Math[fn],
    `Math.${fn}`,
    1,
    1,
    folding(Math[fn], (a, pos) => ({ k: 'round', fn, a: arg(a, 0), pos })),
  );
}
define(
  Math.abs,
  'Math.abs',
  1,
  1,
  folding(Math.abs, (a, pos) => ({ k: 'abs', a: arg(a, 0), pos })),
);
define(
  Math.sign,
  'Math.sign',
  1,
  1,
  folding(Math.sign, (a, pos) => ({ k: 'sign', a: arg(a, 0), pos })),
);
for (const fn of ['min', 'max'] as const) {
  define(
    Math[fn],
    `Math.${fn}`,
    0,
    64,
    folding(Math[fn], (a, pos) =>
      a.length === 0
        ? literal(Math[fn](), pos)
        : a.slice(1).reduce<TExpr>((x, y) => ({ k: 'minmax', fn, a: x, b: y, pos }), arg(a, 0)),
    ),
  );
}
define(
  Math.imul,
  'Math.imul',
  2,
  2,
  folding(Math.imul, (a, pos) => ({ k: 'imul', a: arg(a, 0), b: arg(a, 1), pos })),
);
define(
  Math.clz32,
  'Math.clz32',
  1,
  1,
  folding(Math.clz32, (a, pos) => ({ k: 'clz32', a: arg(a, 0), pos })),
);
define(Math.fround, 'Math.fround', 1, 1, (a, pos) => ({ k: 'cast', to: 'f32', a: arg(a, 0), pos }));
// A number, as in JavaScript: what is computed of it does not round to f16.
define((Math as { f16round?: unknown }).f16round, 'Math.f16round', 1, 1, (a, pos) => ({
  k: 'widen',
  a: { k: 'cast', to: 'f16', a: arg(a, 0), pos },
  pos,
}));
define(Number, 'Number', 1, 1, (a, pos) => ({ k: 'cast', to: 'f64', a: arg(a, 0), by: 'Number', pos }));
define(BigInt, 'BigInt', 1, 1, (a, pos) => ({ k: 'cast', to: 'i64', a: arg(a, 0), by: 'BigInt', pos }));
define(Boolean, 'Boolean', 1, 1, (a) => truth(arg(a, 0)));
define(BigInt.asIntN, 'BigInt.asIntN', 2, 2, (a, pos) => asBits('i64', a, pos));
define(BigInt.asUintN, 'BigInt.asUintN', 2, 2, (a, pos) => asBits('u64', a, pos));
// biome-ignore lint/suspicious/noGlobalIsNan: kernels may use either
for (const fn of [Number.isNaN, isNaN])
  define(fn, 'isNaN', 1, 1, (a, pos) => ({ k: 'test', fn: 'isNaN', a: arg(a, 0), pos }));
// biome-ignore lint/suspicious/noGlobalIsFinite: kernels may use either
for (const fn of [Number.isFinite, isFinite])
  define(fn, 'isFinite', 1, 1, (a, pos) => ({ k: 'test', fn: 'isFinite', a: arg(a, 0), pos }));
for (const fn of [Number.isInteger, Number.isSafeInteger])
  define(fn, `Number.${fn.name}`, 1, 1, (a, pos) => ({ k: 'test', fn: 'isInteger', a: arg(a, 0), pos }));

/** `BigInt.asIntN` and `asUintN`: of fewer bits than 64, by shifts and by a mask. */
function asBits(to: 'i64' | 'u64', args: readonly TExpr[], pos: Pos): TExpr {
  const width = arg(args, 0);
  const n = width.k === 'lit' ? Number(width.value) : -1;
  if (!(Number.isInteger(n) && n >= 0 && n <= 64))
    return fail('K102', pos, 'the width must be known at compile time and at most 64', {
      help: 'BigInt.asUintN(64, x)',
    });
  const a = arg(args, 1);
  if (a.k === 'lit' && typeof a.value === 'bigint')
    return literal(to === 'i64' ? BigInt.asIntN(n, a.value) : BigInt.asUintN(n, a.value), pos);
  const whole: TExpr = { k: 'cast', to, a, pos };
  if (n === 64) return whole;
  if (to === 'u64') return bits('and', whole, literal((1n << BigInt(n)) - 1n, pos), pos);
  if (n === 0) return literal(0n, pos);
  const unused = literal(BigInt(64 - n), pos);
  return shift('shr', shift('shl', whole, unused, pos), unused, pos);
}

/** The call of a known host function; undefined when it is none of them. */
export function callBuiltin(
  ctx: Evaluation,
  fn: unknown,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value | undefined {
  if (
    fn === console.log ||
    fn === console.info ||
    fn === console.debug ||
    fn === console.warn ||
    fn === console.error
  ) {
    return consoleLog(ctx, node, scope, pos);
  }
  if (fn === console.assert) return consoleAssert(ctx, node, scope, pos);
  if (fn === Math.random) {
    return fail('K318', pos, 'Math.random cannot be used in a kernel: every thread would need a state of its own', {
      help: 'keep one generator state per thread in an array, or upload random numbers',
    });
  }
  if (fn === Object.getOwnPropertyDescriptors || fn === Object.defineProperties) {
    return mergeRecords(ctx, elements(ctx, node.arguments, scope, pos), pos);
  }
  if (isObjectFunction(fn)) return objectFunction(ctx, fn, elements(ctx, node.arguments, scope, pos), pos);
  if (fn === Array.isArray || fn === Object.is) {
    const [a = UNDEFINED, b = UNDEFINED] = elements(ctx, node.arguments, scope, pos);
    return fn === Object.is ? sameValue(ctx, a, b, pos) : scalar(literal(isJavaScriptArray(a), pos));
  }
  const builtin = TABLE.get(fn);
  if (builtin === undefined) {
    if (isNativeText(Function.prototype.toString.call(fn)) || isHostGlobal(fn)) return builtIn(name, pos);
    return undefined;
  }
  const given = elements(ctx, node.arguments, scope, pos);
  const counts = builtin.name === 'Number' || builtin.name === 'BigInt';
  const values = counts ? given.map((v) => (isTime(v) ? scalar(countOf(v)) : v)) : given;
  if (values.length < builtin.min || values.length > builtin.max) {
    const want = builtin.min === builtin.max ? String(builtin.min) : `${builtin.min} to ${builtin.max}`;
    return fail(
      'K316',
      pos,
      `${builtin.name} takes ${want} argument${builtin.max === 1 ? '' : 's'}, not ${values.length}`,
    );
  }
  const ofNumber = numberTest(ctx, fn, values[0], pos);
  if (ofNumber !== undefined) return ofNumber;
  const ofComplex = complexBuiltin(ctx, builtin.name, values, pos);
  if (ofComplex !== undefined) return ofComplex;
  if (values.some(isVector))
    return vectorFunction(ctx, builtin.name, values, pos, (lanes) => builtin.build(lanes, pos));
  return scalar(
    builtin.build(
      values.map((v) => ctx.scalar(v, pos)),
      pos,
    ),
  );
}

const TEXT = 'text is made on the host, from the result of copyToHost; console.log prints numbers and text in a kernel';

/** What to do instead of functions that people look for. */
const HOST_ONLY: Readonly<Record<string, string>> = {
  String: TEXT,
  'JSON.stringify': TEXT,
  'Number.parseInt': 'Math.trunc(x) and i32(x) drop the fraction; parse text on the host',
  parseInt: 'Math.trunc(x) and i32(x) drop the fraction; parse text on the host',
  'Number.parseFloat': 'text is read on the host: pass a number',
  parseFloat: 'text is read on the host: pass a number',
  'Date.now': 'pass the time as an argument',
  'performance.now': 'pass the time as an argument; events measure how long launches take',
};

/** A function of the host, whose source is not there or would say nothing. */
export function builtIn(name: string, pos: Pos): never {
  return fail('K314', pos, `${name} is built into the engine and cannot be called in a kernel`, {
    help: HOST_ONLY[name] ?? 'kernels can use Math, casts, and the members of cuda',
  });
}

/** What esbuild's `__spreadProps` does with objects that are literals: their members in one. */
function mergeRecords(ctx: Evaluation, values: readonly Value[], pos: Pos): Value {
  return makeObject(ctx, new Map(values.flatMap((v) => [...spread(ctx, v, pos).fields])), undefined, pos);
}

/** `f32(x)`, `i32(x)`, …. */
export function callDType(ctx: Evaluation, dtype: DType, node: CallExpression, scope: Scope, pos: Pos): Value {
  if (dtype.kind === 'c') return complexCast(ctx, dtype, elements(ctx, node.arguments, scope, pos), pos);
  if (isVectorDType(dtype)) return makeVector(ctx, dtype, elements(ctx, node.arguments, scope, pos), pos);
  if (isTimeDType(dtype)) return makeTime(ctx, dtype, elements(ctx, node.arguments, scope, pos), pos);
  if (!isScalarDType(dtype))
    return fail('K322', pos, `${dtype.name} is not a cast that a kernel can make`, {
      help: 'cast to bool, an integer or a float type',
    });
  const values = elements(ctx, node.arguments, scope, pos);
  const [value] = values;
  if (values.length !== 1 || value === undefined)
    return fail('K316', pos, `${dtype.name}(x) takes 1 argument, not ${values.length}`);
  const a = isTime(value) ? countOf(value) : ctx.scalar(value, pos);
  const to = elemOf(dtype);
  if (isClamped(dtype)) return scalar({ k: 'cast', to, a, by: 'u8c', pos });
  return scalar(to === 'bool' ? truth(a) : { k: 'cast', to, a, pos });
}

function consoleAssert(ctx: Evaluation, node: CallExpression, scope: Scope, pos: Pos): Value {
  const [test, ...rest] = node.arguments;
  if (test !== undefined && test.type !== 'SpreadElement' && ctx.options.debug) {
    const message = rest.length === 0 ? 'assertion failed' : `assertion failed: ${constantText(ctx, rest, scope)}`;
    const cond = ctx.parts.condition(ctx, test, scope);
    if (isLiteral(cond) && cond.value) return UNDEFINED;
    ctx.emit({ k: 'if', cond: not(cond, pos), then: [{ k: 'trap', message, pos }], else: [], pos });
  }
  return UNDEFINED;
}

/** Globals of the host that Node writes in JavaScript, so that their source could be read: an error inside of it would help nobody. */
const HOST_GLOBALS: ReadonlySet<string> = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'queueMicrotask',
  'structuredClone',
  'fetch',
]);

function isHostGlobal(fn: unknown): boolean {
  return (
    typeof fn === 'function' && HOST_GLOBALS.has(fn.name) && (globalThis as Record<string, unknown>)[fn.name] === fn
  );
}
