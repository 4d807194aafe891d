/**
 * The exact meaning of every scalar operation, on JavaScript values: number, bigint (64-bit integers) and boolean.
 *
 * Constant folding, the reference interpreter and the simulator all ask this file, so it is written to be right in every
 * corner rather than fast. Values come in and go out in the representation of ops.ts: f32 already rounded, i32 in range.
 */

import { codecOf, narrowCodec, roundToOdd, rowOf, SCALAR_TOKENS } from '../../dtype/index.ts';
import type { Intrinsic } from '../intrinsics/row.ts';
import { hostMath } from '../math/host.ts';
import { type FusedType, fusedMultiplyAdd, roundHalfEven } from './exact.ts';
import type { BinaryOp, CompareOp, ElemType, Expr, MathFn, UnaryOp, ValueType } from './ops.ts';
import { ELEM_SIZE, isFloat, isUnsigned, widen } from './ops.ts';

export type Value = number | bigint | boolean;

export function zero(type: ValueType): Value {
  return type === 'bool' ? false : type === 'i64' || type === 'u64' ? 0n : 0;
}

/** Wraps an exact integer into an integer type, in the representation of its widened type. */
function wrap(type: ElemType, x: bigint): Value {
  switch (type) {
    case 'i64':
      return BigInt.asIntN(64, x);
    case 'u64':
      return BigInt.asUintN(64, x);
    default:
      return Number(isUnsigned(type) ? BigInt.asUintN(width(type), x) : BigInt.asIntN(width(type), x));
  }
}

function width(type: ElemType): number {
  return type === 'bool' ? 1 : 8 * ELEM_SIZE[type];
}

function round(type: ElemType, x: number): number {
  const { narrow } = rowOf(type);
  if (narrow === undefined) return type === 'f32' ? Math.fround(x) : x;
  const { decode, encode } = narrowCodec(narrow);
  return decode(encode(x));
}

/** An operation that the type does not have: the verifier should have refused it. */
function noSuch(fn: string, type: string): never {
  throw new Error(`internal error: there is no ${fn} of ${type}`);
}

// ---------------------------------------------------------------- one operand

export function evalUnary(fn: UnaryOp, type: ValueType, a: Value): Value {
  if (fn === 'uniform') return a;
  if (typeof a === 'boolean') return fn === 'not' ? !a : noSuch(fn, type);
  if (isFloat(type)) return floatUnary(fn, type, Number(a));
  return integerUnary(fn, type, BigInt(a));
}

function floatUnary(fn: UnaryOp, type: ValueType, a: number): Value {
  switch (fn) {
    case 'neg':
      return -a;
    case 'abs':
      return Math.abs(a);
    case 'sqrt':
      return round(type, Math.sqrt(a));
    case 'floor':
      return Math.floor(a);
    case 'ceil':
      return Math.ceil(a);
    case 'trunc':
      return Math.trunc(a);
    case 'rint':
      return roundHalfEven(a);
    case 'round':
      return Math.round(a);
    case 'sign':
      return Math.sign(a);
    case 'toInt32':
      return a | 0;
    case 'isNaN':
      return Number.isNaN(a);
    case 'isFinite':
      return Number.isFinite(a);
    default:
      return approximation(fn, type, a);
  }
}

/** As a good approximation is: the true value, rounded. */
function approximation(fn: UnaryOp, type: ValueType, a: number): Value {
  const x = type === 'f32' && fn !== 'tanhApprox' ? flush(a) : a;
  const y = round(type, approximated(fn, type, x));
  return type === 'f32' && fn !== 'tanhApprox' ? flush(y) : y;
}

/** A denormal f32 becomes the zero of its sign. */
function flush(x: number): number {
  return Math.abs(x) < 2 ** -126 ? x * 0 : x;
}

function approximated(fn: UnaryOp, type: ValueType, x: number): number {
  switch (fn) {
    case 'exp2Approx':
      return 2 ** x;
    case 'log2Approx':
      return Math.log2(x);
    case 'rcpApprox':
      return 1 / x;
    case 'rsqrtApprox':
      return 1 / Math.sqrt(x);
    case 'sqrtApprox':
      return Math.sqrt(x);
    case 'sinApprox':
      return Math.sin(x);
    case 'cosApprox':
      return Math.cos(x);
    case 'tanhApprox':
      return Math.tanh(x);
    default:
      return noSuch(fn, type);
  }
}

function integerUnary(fn: UnaryOp, type: ValueType, a: bigint): Value {
  switch (fn) {
    case 'neg':
      return wrap(type, -a);
    case 'abs':
      return wrap(type, a < 0n ? -a : a);
    case 'not':
      return wrap(type, ~a);
    case 'sign':
      return wrap(type, a > 0n ? 1n : a < 0n ? -1n : 0n);
    default:
      return noSuch(fn, type);
  }
}

// ---------------------------------------------------------------- intrinsics

export function evalIntrinsic(fn: Intrinsic<Expr>, type: ValueType, args: readonly Value[]): Value {
  const own = fn.types.find((t) => t === type);
  if (own === undefined || fn.evaluate === undefined) return noSuch(fn.name, type);
  return wrap(type, fn.evaluate(own, ...args.map(BigInt)));
}

// ---------------------------------------------------------------- two operands

export function evalBinary(fn: BinaryOp, type: ValueType, a: Value, b: Value): Value {
  switch (type) {
    case 'bool':
      return boolBinary(fn, Boolean(a), Boolean(b));
    case 'i32':
    case 'u32':
      return wordBinary(fn, type, Number(a), Number(b));
    case 'i64':
    case 'u64':
      return longBinary(fn, type, BigInt(a), BigInt(b));
    default:
      return round(type, floatBinary(fn, type, Number(a), Number(b)));
  }
}

function boolBinary(fn: BinaryOp, a: boolean, b: boolean): boolean {
  switch (fn) {
    case 'and':
      return a && b;
    case 'or':
      return a || b;
    case 'xor':
      return a !== b;
    default:
      return noSuch(fn, 'bool');
  }
}

function word(type: 'i32' | 'u32', x: number): number {
  return type === 'i32' ? x | 0 : x >>> 0;
}

/** 32 bits: JavaScript's own operators, in which the quotient of two such integers is exact enough to truncate. */
function wordBinary(fn: BinaryOp, type: 'i32' | 'u32', a: number, b: number): number {
  switch (fn) {
    case 'add':
      return word(type, a + b);
    case 'sub':
      return word(type, a - b);
    case 'mul':
      return word(type, Math.imul(a, b));
    case 'mulhi':
      return Number((BigInt(a) * BigInt(b)) >> 32n);
    case 'div':
      return b === 0 ? 0 : word(type, Math.trunc(a / b));
    case 'rem':
      return b === 0 ? 0 : word(type, a % b);
    case 'floordiv':
      return b === 0 ? 0 : word(type, Math.floor(a / b));
    case 'and':
      return word(type, a & b);
    case 'or':
      return word(type, a | b);
    case 'xor':
      return word(type, a ^ b);
    case 'shl':
      return word(type, a << b);
    case 'shr':
      return type === 'i32' ? a >> b : a >>> b;
    case 'min':
      return Math.min(a, b);
    case 'max':
      return Math.max(a, b);
    case 'ipow':
      return Number(wrap(type, integerPower(type, BigInt(a), BigInt(b))));
    default:
      return noSuch(fn, type);
  }
}

function longBinary(fn: BinaryOp, type: 'i64' | 'u64', a: bigint, b: bigint): Value {
  const count = BigInt.asUintN(6, b);
  switch (fn) {
    case 'add':
      return wrap(type, a + b);
    case 'sub':
      return wrap(type, a - b);
    case 'mul':
      return wrap(type, a * b);
    case 'mulhi':
      return (a * b) >> 64n;
    case 'div':
      return b === 0n ? 0n : wrap(type, a / b);
    case 'rem':
      return b === 0n ? 0n : a % b;
    case 'floordiv':
      return b === 0n ? 0n : wrap(type, a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n));
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'shl':
      return wrap(type, a << count);
    case 'shr':
      return a >> count;
    case 'min':
      return a < b ? a : b;
    case 'max':
      return a > b ? a : b;
    case 'ipow':
      return integerPower(type, a, b);
    default:
      return noSuch(fn, type);
  }
}

function integerPower(type: ValueType, base: bigint, exponent: bigint): bigint {
  if (exponent < 0n) return 0n;
  let result = 1n;
  let square = base;
  for (let e = exponent; e > 0n; e >>= 1n) {
    if (e & 1n) result = BigInt.asIntN(64, result * square);
    square = BigInt.asIntN(64, square * square);
  }
  return BigInt(wrap(type, result) as number | bigint);
}

/** In double precision; the caller rounds. For f32, + - * / are then right: a double has more than twice the digits. */
function floatBinary(fn: BinaryOp, type: ValueType, a: number, b: number): number {
  switch (fn) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return a / b;
    case 'divApprox':
      return flush(flush(a) / flush(b));
    case 'rem':
      return a % b;
    case 'min':
      return Math.min(a, b);
    case 'max':
      return Math.max(a, b);
    case 'fmin':
      return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b);
    case 'fmax':
      return Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
    case 'copysign':
      return negative(b) ? -Math.abs(a) : Math.abs(a);
    default:
      return noSuch(fn, type);
  }
}

function negative(x: number): boolean {
  return x < 0 || Object.is(x, -0);
}

// ---------------------------------------------------------------- comparisons, fma, functions

export function evalCompare(fn: CompareOp, a: Value, b: Value): boolean {
  switch (fn) {
    case 'eq':
      return a === b;
    case 'ne':
      return a !== b;
    case 'lt':
      return a < b;
    case 'le':
      return a <= b;
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
  }
}

/** a * b + c with one rounding. */
export function evalFma(type: FusedType, a: number, b: number, c: number): number {
  return fusedMultiplyAdd(type, a, b, c);
}

/** The function in double precision, for f32 rounded afterwards: JavaScript's own where Math has it. */
export function evalCall(fn: MathFn, type: 'f32' | 'f64', args: readonly number[]): number {
  return round(type, hostMath(fn)(...args));
}

// ---------------------------------------------------------------- conversions

const RANGE: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  i8: [-0x80n, 0x7fn],
  u8: [0n, 0xffn],
  i16: [-0x8000n, 0x7fffn],
  u16: [0n, 0xffffn],
  i32: [-0x80000000n, 0x7fffffffn],
  u32: [0n, 0xffffffffn],
  i64: [-(1n << 63n), (1n << 63n) - 1n],
  u64: [0n, (1n << 64n) - 1n],
};

/** The conversion of ops.ts: narrows to `to`, then widens again. */
export function evalCast(from: ValueType, to: ElemType, a: Value): Value {
  if (to === 'bool') return typeof a === 'number' ? a !== 0 && !Number.isNaN(a) : Boolean(a);
  const source = typeof a === 'boolean' ? (a ? 1 : 0) : a;
  if (isFloat(to)) {
    if (typeof source === 'number') return round(to, source);
    return to === 'f64' ? Number(source) : round(to, roundToOdd(source));
  }
  return isFloat(from) ? saturate(to, Number(source)) : wrap(to, BigInt(source));
}

/** Float to integer: truncates, saturates, NaN gives 0. */
function saturate(to: ElemType, x: number): Value {
  const [least, most] = RANGE[to] ?? noSuch('conversion', to);
  if (Number.isNaN(x)) return zero(widen(to));
  if (x <= Number(least)) return wrap(to, least);
  // Number(most) may have been rounded up by one; then everything below it is in range.
  if (x >= Number(most)) return wrap(to, most);
  return wrap(to, BigInt(Math.trunc(x)));
}

const scratch = new DataView(new ArrayBuffer(8));

/** The same bits under another type of the same width. */
export function evalBitcast(from: ValueType, to: ValueType, a: Value): Value {
  writeElement(scratch, 0, from, a);
  return readElement(scratch, 0, to);
}

// ---------------------------------------------------------------- memory

/** Reads a little-endian element and widens it. */
export function readElement(view: DataView, address: number, elem: ElemType): Value {
  switch (elem) {
    case 'bool':
      return view.getUint8(address) !== 0;
    case 'i8':
      return view.getInt8(address);
    case 'u8':
      return view.getUint8(address);
    case 'i16':
      return view.getInt16(address, true);
    case 'u16':
      return view.getUint16(address, true);
    case 'i32':
      return view.getInt32(address, true);
    case 'u32':
      return view.getUint32(address, true);
    case 'f32':
      return view.getFloat32(address, true);
    case 'i64':
      return view.getBigInt64(address, true);
    case 'u64':
      return view.getBigUint64(address, true);
    case 'f64':
      return view.getFloat64(address, true);
    default:
      return codecOf(SCALAR_TOKENS[elem]).read(view, address) as number;
  }
}

/** Narrows a value of the widened type (integers wrap, floats round) and writes it, little-endian. */
export function writeElement(view: DataView, address: number, elem: ElemType, value: Value): void {
  switch (elem) {
    case 'bool':
      view.setUint8(address, value ? 1 : 0);
      return;
    case 'i8':
    case 'u8':
      view.setUint8(address, Number(value) & 0xff);
      return;
    case 'i16':
    case 'u16':
      view.setUint16(address, Number(value) & 0xffff, true);
      return;
    case 'i32':
    case 'u32':
      view.setUint32(address, Number(value), true);
      return;
    case 'f32':
      view.setFloat32(address, Number(value), true);
      return;
    case 'i64':
    case 'u64':
      view.setBigUint64(address, BigInt.asUintN(64, BigInt(value)), true);
      return;
    case 'f64':
      view.setFloat64(address, Number(value), true);
      return;
    default:
      codecOf(SCALAR_TOKENS[elem]).write(view, address, value);
  }
}
