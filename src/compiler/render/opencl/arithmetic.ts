/**
 * Arithmetic: what OpenCL C says as it is (the print table), and what goes through a helper (the legalise table).
 *
 * Signed integers wrap in the IR and must not in C: sums and products are computed unsigned.
 */
import type { BinaryOp, CompareOp, Expr, UnaryOp, ValueType } from '../../ir/ops.ts';
import { isFloat } from '../../ir/ops.ts';
import { type C, callOf, castTo, type Gen, Level, typeOf, unsignedConstant, unsignedOf, within } from './code.ts';
import { approximation, define, type HelperName, helper, saturatedFma } from './helpers.ts';

/** Prints operands. */
export type Print = (e: Expr) => C;

type SignedInt = 'i32' | 'i64';

export function isSigned(type: ValueType): type is SignedInt {
  return type === 'i32' || type === 'i64';
}

// ---------------------------------------------------------------- tables

interface Infix {
  readonly op: string;
  readonly level: Level;
  /** How tightly the left operand must hold together. */
  readonly left: Level;
}

const INFIX: Readonly<Partial<Record<BinaryOp, Infix>>> = {
  add: { op: '+', level: Level.sum, left: Level.sum },
  sub: { op: '-', level: Level.sum, left: Level.sum },
  mul: { op: '*', level: Level.product, left: Level.product },
  and: { op: '&', level: Level.loose, left: Level.unary },
  or: { op: '|', level: Level.loose, left: Level.unary },
  xor: { op: '^', level: Level.loose, left: Level.unary },
};

const BOOLEAN: Readonly<Partial<Record<BinaryOp, string>>> = { and: '&&', or: '||', xor: '!=' };

const COMPARE: Readonly<Record<CompareOp, string>> = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' };

/** The device's own approximations of f32, without `native_`. */
const APPROXIMATIONS: Readonly<Partial<Record<UnaryOp, string>>> = {
  exp2Approx: 'exp2',
  log2Approx: 'log2',
  rcpApprox: 'recip',
  rsqrtApprox: 'rsqrt',
  sqrtApprox: 'sqrt',
  sinApprox: 'sin',
  cosApprox: 'cos',
};

const FLOAT_FUNCTIONS: Readonly<Partial<Record<UnaryOp, string>>> = {
  abs: 'fabs',
  sqrt: 'sqrt',
  floor: 'floor',
  ceil: 'ceil',
  trunc: 'trunc',
  rint: 'rint',
  isNaN: 'isnan',
  isFinite: 'isfinite',
};

// ---------------------------------------------------------------- one operand

export function unaryOf(g: Gen, print: Print, fn: UnaryOp, a: Expr): C {
  const { type } = a;
  if (fn === 'uniform') return print(a);
  if (type === 'bool') return { text: `!${within(print(a), Level.unary)}`, level: Level.unary };
  if (fn === 'neg' || fn === 'not') return negated(print, fn, a);
  if (isFloat(type)) return floatUnary(g, print, fn, a);
  switch (fn) {
    case 'abs':
      return isSigned(type) ? castTo(typeOf(type), callOf('abs', print(a))) : print(a);
    default:
      return callOf(helper(g, fn as HelperName, type), print(a));
  }
}

function negated(print: Print, fn: 'neg' | 'not', a: Expr): C {
  const { type } = a;
  if (fn === 'neg' && !isFloat(type)) {
    const zero = unsignedOf(type) === 'ulong' ? '0UL' : '0u';
    const text = `${zero} - ${within(unsigned(print, a), Level.product)}`;
    const difference: C = { text, level: Level.sum };
    return isSigned(type) ? castTo(typeOf(type), difference) : difference;
  }
  // A blank apart: two signs in a row are another operator.
  return { text: `${fn === 'neg' ? '-' : '~'}${within(print(a), Level.atom)}`, level: Level.unary };
}

const ROUNDING: ReadonlySet<UnaryOp> = new Set(['floor', 'ceil', 'trunc', 'rint', 'round']);

function floatUnary(g: Gen, print: Print, fn: UnaryOp, a: Expr): C {
  if (g.target.roundsNaN === true && ROUNDING.has(fn)) return callOf(keepingNaN(g, fn, a.type), print(a));
  return floatFunction(g, print, fn, a);
}

/** A function that rounds, by the target's own for all but NaN. */
function keepingNaN(g: Gen, fn: UnaryOp, type: ValueType): string {
  const [T, name] = [typeOf(type), `${fn}_or_nan_${type}`];
  const rounded = `${fn === 'round' ? helper(g, fn, type) : fn}(a)`;
  return define(g, name, `${T} ${name}(${T} a) { return a != a ? a : ${rounded}; }`);
}

function floatFunction(g: Gen, print: Print, fn: UnaryOp, a: Expr): C {
  const simple = FLOAT_FUNCTIONS[fn];
  if (simple !== undefined) return callOf(simple, print(a));
  if (fn === 'round' || fn === 'sign') return callOf(helper(g, fn, a.type), print(a));
  if (fn === 'tanhApprox') return callOf('tanh', print(a));
  const native = APPROXIMATIONS[fn];
  if (native === undefined) throw new Error(`internal error: there is no ${fn} of ${a.type}`);
  if (a.type === 'f32') return callOf(approximation(g, native), print(a));
  return native === 'recip'
    ? { text: `1.0 / ${within(print(a), Level.unary)}`, level: Level.product }
    : callOf(native, print(a));
}

// ---------------------------------------------------------------- two operands

export function binaryOf(g: Gen, print: Print, fn: BinaryOp, a: Expr, b: Expr): C {
  const { type } = a;
  if (type === 'bool') {
    const op = BOOLEAN[fn] ?? '';
    return { text: `${within(print(a), Level.unary)} ${op} ${within(print(b), Level.unary)}`, level: Level.loose };
  }
  if (isFloat(type)) return floatBinary(g, print, fn, a, b);
  if (fn === 'shl' || fn === 'shr') return shift(print, fn, a, b);
  if (fn === 'add' || fn === 'sub' || fn === 'mul') {
    return isSigned(type) ? castTo(typeOf(type), unsignedBinary(print, fn, a, b)) : infix(print, fn, a, b);
  }
  if (INFIX[fn]) return infix(print, fn, a, b);
  if ((fn === 'div' || fn === 'rem') && isPlainDivisor(b)) {
    const op = fn === 'div' ? '/' : '%';
    return {
      text: `${within(print(a), Level.unary)} ${op} ${within(print(b), Level.unary)}`,
      level: Level.product,
    };
  }
  switch (fn) {
    case 'min':
    case 'max':
      return callOf(fn, print(a), print(b));
    case 'mulhi':
      return callOf('mul_hi', print(a), print(b));
    case 'floordiv':
      return callOf(helper(g, isSigned(type) ? fn : 'div', type), print(a), print(b));
    default:
      return callOf(helper(g, fn as HelperName, type), print(a), print(b));
  }
}

/** Neither 0 nor -1. */
function isPlainDivisor(e: Expr): boolean {
  return e.op === 'const' && e.value !== 0 && e.value !== 0n && e.value !== -1 && e.value !== -1n;
}

/** Where signed integers need not wrap: in indices, which are in range. */
export function infix(print: Print, fn: BinaryOp, a: Expr, b: Expr): C {
  const how = INFIX[fn];
  if (!how) throw new Error(`internal error: there is no ${fn} of ${a.type}`);
  const right = Math.max(how.left - 1, Level.unary) as Level;
  return { text: `${within(print(a), how.left)} ${how.op} ${within(print(b), right)}`, level: how.level };
}

function shift(print: Print, fn: 'shl' | 'shr', a: Expr, b: Expr): C {
  const { type } = a;
  const mask = unsignedOf(type) === 'ulong' ? 63 : 31;
  const count =
    b.op === 'const'
      ? String(Number(BigInt(b.value) & BigInt(mask)))
      : `(${within(print(b), Level.unary)} & ${mask}${isSigned(type) ? '' : 'u'})`;
  if (fn === 'shl' && isSigned(type)) {
    const shifted: C = { text: `${within(unsigned(print, a), Level.unary)} << ${count}`, level: Level.loose };
    return castTo(typeOf(type), shifted);
  }
  return { text: `${within(print(a), Level.unary)} ${fn === 'shl' ? '<<' : '>>'} ${count}`, level: Level.loose };
}

/** An integer as an unsigned one of its width. What is computed unsigned anyway is not converted there and back. */
function unsigned(print: Print, e: Expr): C {
  const { type } = e;
  if (!isSigned(type)) return print(e);
  if (e.op === 'const') return unsignedConstant(type, BigInt(e.value));
  if (e.op === 'binary' && (e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul')) {
    return unsignedBinary(print, e.fn, e.a, e.b);
  }
  const value = print(e);
  const signed = `(${typeOf(type)})`;
  // A conversion to the signed type first makes no difference.
  const inner =
    value.level === Level.unary && value.text.startsWith(signed) ? value.text.slice(signed.length) : undefined;
  return castTo(unsignedOf(type), inner === undefined ? value : { text: inner, level: Level.unary });
}

function unsignedBinary(print: Print, fn: BinaryOp, a: Expr, b: Expr): C {
  return infix((e) => unsigned(print, e), fn, a, b);
}

function floatBinary(g: Gen, print: Print, fn: BinaryOp, a: Expr, b: Expr): C {
  switch (fn) {
    case 'add':
    case 'sub':
      return fused(g, print, fn, a, b) ?? infix(print, fn, a, b);
    case 'mul':
      return infix(print, fn, a, b);
    case 'div':
      return { text: `${within(print(a), Level.product)} / ${within(print(b), Level.unary)}`, level: Level.product };
    case 'divApprox':
      return callOf('native_divide', print(a), print(b));
    case 'rem':
      return callOf('fmod', print(a), print(b));
    case 'copysign':
      return callOf('copysign', print(a), print(b));
    case 'fmin':
    case 'fmax': {
      const fused = fn === 'fmin' ? saturated(a, b) : undefined;
      if (fused !== undefined) return callOf(saturatedFma(g), print(fused.a), print(fused.b), print(fused.c));
      if (!isLimit(fn, a) && !isLimit(fn, b)) return callOf(helper(g, fn, a.type), print(a), print(b));
      const [value, limit] = isLimit(fn, b) ? [a, b] : [b, a];
      return callOf(helper(g, fn === 'fmin' ? 'atMost' : 'atLeast', a.type), print(value), print(limit));
    }
    default:
      return callOf(helper(g, fn as HelperName, a.type), print(a), print(b));
  }
}

/**
 * `a * b + c` as one operation, where the kernel allows it and the compiler may not see it: AMD's packs products of neighbours into vectors
 * first, and then finds nothing to fuse.
 */
function fused(g: Gen, print: Print, fn: 'add' | 'sub', a: Expr, b: Expr): C | undefined {
  if (g.target.dialect !== 'hip' || !g.kernel.contract) return undefined;
  const negated = (c: C): C => ({ text: `-${within(c, Level.atom)}`, level: Level.unary });
  if (a.op === 'binary' && a.fn === 'mul') {
    const c = print(b);
    return callOf('fma', print(a.a), print(a.b), fn === 'sub' ? negated(c) : c);
  }
  if (b.op !== 'binary' || b.fn !== 'mul') return undefined;
  const x = print(b.a);
  return callOf('fma', fn === 'sub' ? negated(x) : x, print(b.b), print(a));
}

/** The fma of f32 in `fmin(fmax(fma(…), 0), 1)`. */
function saturated(a: Expr, b: Expr): (Expr & { op: 'fma' }) | undefined {
  if (b.type !== 'f32' || b.op !== 'const' || b.value !== 1 || a.op !== 'binary' || a.fn !== 'fmax') return undefined;
  const { a: sum, b: zero } = a;
  return sum.op === 'fma' && zero.op === 'const' && Object.is(zero.value, 0) ? sum : undefined;
}

/** Whether a comparison with it is all that fmin or fmax takes: a constant, and of zeros the one that wins. */
function isLimit(fn: 'fmin' | 'fmax', e: Expr): boolean {
  if (e.op !== 'const') return false;
  const value = Number(e.value);
  return !Number.isNaN(value) && !Object.is(value, fn === 'fmin' ? 0 : -0);
}

// ---------------------------------------------------------------- comparisons and choice

export function compareOf(print: Print, fn: CompareOp, a: Expr, b: Expr): C {
  const text = `${within(print(a), Level.sum)} ${COMPARE[fn]} ${within(print(b), Level.sum)}`;
  return { text, level: Level.loose };
}

export function selectOf(cond: C, a: C, b: C): C {
  return {
    text: `${within(cond, Level.unary)} ? ${within(a, Level.sum)} : ${within(b, Level.sum)}`,
    level: Level.loose,
  };
}
