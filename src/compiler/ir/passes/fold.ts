/**
 * Exact simplification of one expression: constants, identities, and cheaper operations that give the same bits.
 *
 * `evaluate.ts` computes the constants. Floats are neither reassociated nor assumed to be finite or positive; functions
 * that devices approximate are left alone; what may fail in checked mode is kept.
 */
import { binary, cast, constant, negate, unary } from '../builder.ts';
import type { Value } from '../evaluate.ts';
import {
  evalBinary,
  evalBitcast,
  evalCast,
  evalCompare,
  evalFma,
  evalIntrinsic,
  evalUnary,
  readElement,
} from '../evaluate.ts';
import { mayFail } from '../measures.ts';
import type { Expr } from '../ops.ts';
import { ELEM_SIZE, isFloat, isUnsigned } from '../ops.ts';
import { divisibility, multipleIn, powerOfTwo, withExactQuotients } from './divisible.ts';
import { fitsInt32 } from './intervals.ts';
import { mapExpr } from './walk.ts';

/** Simplifies an expression and all those in it. */
export function foldExpr(e: Expr): Expr {
  return mapExpr(e, foldNode);
}

/** Simplifies an expression whose operands are simple. */
export function foldNode(e: Expr): Expr {
  const folded = foldConstants(e);
  if (folded) return folded;
  switch (e.op) {
    case 'unary':
      return foldUnary(e);
    case 'binary':
      if (e.type === 'bool') return foldLogic(e);
      return isFloat(e.type) ? foldFloat(e) : foldInteger(e);
    case 'compare':
      return foldCompare(e);
    case 'select':
      return foldSelect(e);
    case 'cast':
      return foldCast(e);
    case 'load':
      return constantElement(e) ?? e;
    case 'bitcast':
      if (e.a.type === e.type) return e.a;
      return e.a.op === 'bitcast' ? foldNode({ ...e, a: e.a.a }) : e;
    default:
      return e;
  }
}

function foldConstants(e: Expr): Expr | undefined {
  switch (e.op) {
    case 'unary': {
      const a = constantIn(e.a);
      return a === undefined ? undefined : constant(e.type, evalUnary(e.fn, e.a.type, a));
    }
    case 'binary': {
      const [a, b] = [constantIn(e.a), constantIn(e.b)];
      // A negative exponent is an error in checked mode.
      if (a === undefined || b === undefined || (e.fn === 'ipow' && Number(b) < 0)) return undefined;
      return constant(e.type, evalBinary(e.fn, e.type, a, b));
    }
    case 'compare': {
      const [a, b] = [constantIn(e.a), constantIn(e.b)];
      return a === undefined || b === undefined ? undefined : constant('bool', evalCompare(e.fn, a, b));
    }
    case 'cast': {
      const a = constantIn(e.a);
      if (a === undefined) return undefined;
      const value = evalCast(e.a.type, e.to, a);
      return e.checked && Number(value) !== Number(a) ? undefined : constant(e.type, value);
    }
    case 'bitcast': {
      const a = constantIn(e.a);
      // A NaN's bits are not kept by JavaScript's numbers.
      return a === undefined || isNotANumber(a) ? undefined : bitcastConstant(e, a);
    }
    case 'fma': {
      const [a, b, c] = [constantIn(e.a), constantIn(e.b), constantIn(e.c)];
      if (a === undefined || b === undefined || c === undefined) return undefined;
      return constant(e.type, evalFma(e.to ?? e.type, Number(a), Number(b), Number(c)));
    }
    case 'intrinsic': {
      const values = e.args.flatMap((x) => (x.op === 'const' ? [x.value] : []));
      return values.length < e.args.length ? undefined : constant(e.type, evalIntrinsic(e.fn, e.type, values));
    }
    default:
      return undefined;
  }
}

function constantIn(e: Expr): Value | undefined {
  return e.op === 'const' ? e.value : undefined;
}

/** An element of a constant array, where it is known which one. */
function constantElement({ type, mem }: Expr & { op: 'load' }): Expr | undefined {
  const { array, index, scale, disp, elem, checks } = mem;
  if (array.data === undefined || index.op !== 'const') return undefined;
  for (const { index: at, extent } of checks) {
    if (at.op !== 'const' || extent.op !== 'const') return undefined;
    if (Number(at.value) < 0 || Number(at.value) >= Number(extent.value)) return undefined;
  }
  const { buffer, byteOffset, byteLength } = array.data;
  const address = Number(index.value) * scale + disp;
  if (!(address >= 0 && address + ELEM_SIZE[elem] <= byteLength)) return undefined;
  const value = readElement(new DataView(buffer, byteOffset, byteLength), address, elem);
  return isNotANumber(value) ? undefined : constant(type, value);
}

function isNotANumber(value: Value | undefined): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

function bitcastConstant(e: Expr & { op: 'bitcast' }, a: Value): Expr | undefined {
  const value = evalBitcast(e.a.type, e.type, a);
  return isNotANumber(value) ? undefined : constant(e.type, value);
}

/** Whether an expression is this constant; the zeros are told apart. */
function is(e: Expr, value: number): boolean {
  return e.op === 'const' && (typeof e.value === 'bigint' ? e.value === BigInt(value) : Object.is(e.value, value));
}

/** The same value twice: only of leaves, which is what copies come down to. */
function same(a: Expr, b: Expr): boolean {
  if (a === b) return !mayFail(a);
  if (a.op === 'var') return b.op === 'var' && a.var === b.var;
  if (a.op === 'const') return b.op === 'const' && a.type === b.type && Object.is(a.value, b.value);
  if (a.op === 'param') return b.op === 'param' && a.param === b.param;
  return a.op === 'special' && b.op === 'special' && a.name === b.name;
}

function foldUnary(e: Expr & { op: 'unary' }): Expr {
  const { a } = e;
  if (e.fn === 'not' && e.type === 'bool') {
    const opposite = negate(a);
    return opposite.op === 'unary' && opposite.fn === 'not' ? e : opposite;
  }
  if ((e.fn === 'neg' || e.fn === 'not' || e.fn === 'uniform') && a.op === 'unary' && a.fn === e.fn) {
    return e.fn === 'uniform' ? a : a.a;
  }
  if (e.fn === 'toInt32') return fitsInt32(a) ? cast('i32', a) : e;
  return e.fn === 'abs' && isUnsigned(e.type) ? a : e;
}

function foldLogic(e: Expr & { op: 'binary' }): Expr {
  const [a, b] = e.a.op === 'const' ? [e.b, e.a] : [e.a, e.b];
  if (b.op === 'const') {
    if (e.fn === 'xor') return b.value ? negate(a) : a;
    // One value decides nothing, the other everything.
    if (b.value === (e.fn === 'and')) return a;
    return mayFail(a) ? e : b;
  }
  if (same(a, b) && e.fn !== 'xor') return a;
  return e;
}

/** x * 1, x / 1, x - 0 and x + -0 are x for every x, also for NaN and both zeros; x + 0 is not. */
function foldFloat(e: Expr & { op: 'binary' }): Expr {
  const { fn, a, b } = e;
  switch (fn) {
    case 'add':
      return is(b, -0) ? a : is(a, -0) ? b : e;
    case 'sub':
      return is(b, 0) ? a : e;
    case 'mul':
      if (is(b, 1)) return a;
      if (is(a, 1)) return b;
      return is(b, -1) ? unary('neg', a) : is(a, -1) ? unary('neg', b) : e;
    case 'div':
      if (is(b, 1)) return a;
      return b.op === 'const' ? byReciprocal(e, Number(b.value)) : e;
    default:
      return e;
  }
}

/** Dividing by a power of two is multiplying by its reciprocal, which is one as well. */
function byReciprocal(e: Expr & { op: 'binary' }, divisor: number): Expr {
  const reciprocal = 1 / divisor;
  const exponent = Math.log2(Math.abs(divisor));
  const exact = Number.isInteger(exponent) && Math.abs(exponent) <= (e.type === 'f32' ? 126 : 1022);
  return exact && 2 ** exponent === Math.abs(divisor) ? binary('mul', e.a, constant(e.type, reciprocal)) : e;
}

function foldInteger(e: Expr & { op: 'binary' }): Expr {
  const commutes = ['add', 'mul', 'and', 'or', 'xor', 'min', 'max'].includes(e.fn);
  const [a, b] = commutes && e.a.op === 'const' ? [e.b, e.a] : [e.a, e.b];
  const zero = constant(e.type, 0);
  const orZero = mayFail(a) ? e : zero;
  switch (e.fn) {
    case 'add':
    case 'or':
    case 'xor':
    case 'sub':
    case 'shl':
    case 'shr':
      if (is(b, 0)) return a;
      if (same(a, b) && (e.fn === 'xor' || e.fn === 'sub')) return zero;
      if (e.fn === 'sub' && isMaskOf(b, a)) return binary('and', a, complement(b.b));
      return e.fn === 'or' && same(a, b) ? a : reassociate(e, a, b);
    case 'mul':
      if (is(b, 1)) return a;
      return is(b, 0) ? orZero : reassociate(e, a, b);
    case 'and':
      if (is(b, 0)) return orZero;
      return same(a, b) || isAllOnes(b) ? a : e;
    case 'min':
    case 'max':
      return same(a, b) ? a : e;
    case 'div':
    case 'floordiv':
      if (is(b, 1)) return a;
      return is(b, 0) ? orZero : shifted(e, a, b);
    case 'rem':
      return is(b, 1) || is(b, 0) ? orZero : masked(e, a, b);
    default:
      return e;
  }
}

/** Whether `b` is some of the bits of `a`. */
function isMaskOf(b: Expr, a: Expr): b is Expr & { op: 'binary'; b: Expr & { op: 'const' } } {
  return b.op === 'binary' && b.fn === 'and' && b.b.op === 'const' && same(a, b.a);
}

function complement(mask: Expr & { op: 'const' }): Expr {
  return constant(mask.type, evalUnary('not', mask.type, mask.value));
}

function isAllOnes(e: Expr): boolean {
  if (e.op !== 'const' || typeof e.value === 'boolean') return false;
  return BigInt.asIntN(e.type === 'i32' || e.type === 'u32' ? 32 : 64, BigInt(e.value)) === -1n;
}

/** (x + 1) + 2 is x + 3, and (x * 2) * 3 is x * 6: integers wrap alike either way. */
function reassociate(e: Expr & { op: 'binary' }, a: Expr, b: Expr): Expr {
  if (
    (e.fn === 'add' || e.fn === 'mul') &&
    b.op === 'const' &&
    a.op === 'binary' &&
    a.fn === e.fn &&
    a.b.op === 'const'
  ) {
    return foldNode(binary(e.fn, a.a, constant(e.type, evalBinary(e.fn, e.type, a.b.value, b.value))));
  }
  return a === e.a ? e : binary(e.fn, a, b);
}

/** Division that rounds down is an arithmetic shift; so is truncating division of what is not negative. */
function shifted(e: Expr & { op: 'binary' }, a: Expr, b: Expr): Expr {
  const k = powerOfTwo(b);
  const rightWay = e.fn === 'floordiv' || isNotNegative(a);
  return k !== undefined && rightWay ? binary('shr', a, constant(e.type, k)) : e;
}

function masked(e: Expr & { op: 'binary' }, a: Expr, b: Expr): Expr {
  if (powerOfTwo(b) === undefined || b.op !== 'const' || !isNotNegative(a)) return e;
  return binary(
    'and',
    a,
    constant(e.type, evalBinary('sub', e.type, b.value, e.type === 'i64' || e.type === 'u64' ? 1n : 1)),
  );
}

/** Whether an integer is certainly not negative. */
export function isNotNegative(e: Expr): boolean {
  if (isUnsigned(e.type)) return true;
  switch (e.op) {
    case 'const':
      return Number(e.value) >= 0;
    case 'special':
      return true;
    case 'cast':
      if (e.to === 'u8' || e.to === 'u16' || e.a.type === 'bool') return true;
      if (e.to === 'i64') return e.a.type === 'u32' || (e.a.type === 'i32' && isNotNegative(e.a));
      return e.to === 'i32' && e.a.type === 'i32' && isNotNegative(e.a);
    case 'select':
      return isNotNegative(e.a) && isNotNegative(e.b);
    case 'binary':
      switch (e.fn) {
        case 'and':
        case 'max':
          return isNotNegative(e.a) || isNotNegative(e.b);
        case 'div':
        case 'floordiv':
        case 'min':
        case 'or':
        case 'xor':
          return isNotNegative(e.a) && isNotNegative(e.b);
        case 'rem':
        case 'shr':
          return isNotNegative(e.a);
        default:
          return false;
      }
    default:
      return false;
  }
}

function foldCompare(e: Expr & { op: 'compare' }): Expr {
  if (same(e.a, e.b) && !isFloat(e.a.type)) return constant('bool', e.fn === 'eq' || e.fn === 'le' || e.fn === 'ge');
  if (e.a.type !== 'bool') return divisibility(e);
  const [a, b] = e.a.op === 'const' ? [e.b, e.a] : [e.a, e.b];
  if (b.op !== 'const') return e;
  return b.value === (e.fn === 'eq') ? a : negate(a);
}

function foldSelect(e: Expr & { op: 'select' }): Expr {
  const { cond, a, b } = e;
  if (cond.op === 'const') {
    const [taken, other] = cond.value ? [a, b] : [b, a];
    return mayFail(other) ? e : taken;
  }
  if (same(a, b) && !mayFail(cond)) return a;
  const size = sizeOf(e);
  if (size !== undefined) return unary('abs', size);
  const multiple = multipleIn(cond);
  if (multiple !== undefined) {
    const [inA, inB] = multiple.when ? [withExactQuotients(a, multiple), b] : [a, withExactQuotients(b, multiple)];
    if (inA !== a || inB !== b) return foldSelect({ ...e, a: inA, b: inB });
  }
  if (a.op === 'const' && b.op === 'const' && e.type === 'bool' && a.value !== b.value)
    return a.value ? cond : negate(cond);
  return cond.op === 'unary' && cond.fn === 'not' ? { ...e, cond: cond.a, a: b, b: a } : e;
}

/** The x of `x < 0 ? -x : x`, or the other way round: of words, whose least one is its own negative either way. */
function sizeOf({ type, cond, a, b }: Expr & { op: 'select' }): Expr | undefined {
  if (type !== 'i32' || cond.op !== 'compare' || cond.b.op !== 'const' || Number(cond.b.value) !== 0) return undefined;
  const below = cond.fn === 'lt' || cond.fn === 'le';
  if (!below && cond.fn !== 'gt' && cond.fn !== 'ge') return undefined;
  const [x, negative] = below ? [b, a] : [a, b];
  return negative.op === 'unary' && negative.fn === 'neg' && same(negative.a, x) && same(cond.a, x) ? x : undefined;
}

function foldCast(e: Expr & { op: 'cast' }): Expr {
  const { a } = e;
  if (e.to === a.type) return a;
  // f64 holds all integers of 32 bits.
  if (a.op === 'cast' && a.to === 'f64' && e.to === a.a.type && (e.to === 'i32' || e.to === 'u32')) return a.a;
  if (e.checked || a.op !== 'cast' || a.checked) return e;
  // Through another integer type that is wide enough, or down to 32 bits anyway: the last step decides.
  const isWord = (t: string): boolean => t === 'i32' || t === 'u32';
  const isLong = (t: string): boolean => t === 'i64' || t === 'u64';
  const integers = [e.to, a.to, a.a.type].every((t) => isWord(t) || isLong(t));
  return integers && (isWord(e.to) || isLong(a.to)) ? foldNode(cast(e.to, a.a)) : e;
}
