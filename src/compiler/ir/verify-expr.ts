/**
 * What can be wrong with one expression, its operands being right: types and the representation of constants.
 *
 * A part of the verifier; `verify.ts` has the statements.
 */

import type { BinaryOp, Expr, Kernel, MathFn, UnaryOp, ValueType } from './ops.ts';
import { isFloat, isInt, widen } from './ops.ts';
import { exprParts } from './parts.ts';

const BINARY_MATH: ReadonlySet<MathFn> = new Set<MathFn>(['atan2', 'pow', 'hypot']);

/** What is wrong, or undefined. */
export function exprFault(e: Expr, kernel: Kernel): string | undefined {
  switch (e.op) {
    case 'const':
      return constantFault(e);
    case 'var':
      return e.type === e.var.type ? undefined : `${e.var.name} is ${e.var.type}, read as ${e.type}`;
    case 'param': {
      const p = kernel.params[e.param];
      if (!p) return `there is no parameter ${e.param}`;
      // An address is a number too.
      return p.type === e.type || (p.type === 'ptr' && e.type === 'u64')
        ? undefined
        : `parameter ${p.name} is ${p.type}, read as ${e.type}`;
    }
    case 'special':
      return e.type === (e.name === 'sharedBytes' ? 'u32' : 'i32') ? undefined : `${e.name} as ${e.type}`;
    case 'unary':
      return unaryFault(e.fn, e.a.type, e.type);
    case 'binary': {
      if (e.a.type !== e.b.type) return `${e.fn} of ${e.a.type} and ${e.b.type}`;
      if (e.type !== e.a.type) return `${e.fn} of ${e.a.type} gives ${e.type}`;
      return hasBinary(e.fn, e.type) ? undefined : `${e.fn} of ${e.type}`;
    }
    case 'compare':
      if (e.a.type !== e.b.type) return `${e.fn} of ${e.a.type} and ${e.b.type}`;
      return e.a.type === 'bool' && e.fn !== 'eq' && e.fn !== 'ne' ? `${e.fn} of bool` : undefined;
    case 'select':
      if (e.cond.type !== 'bool') return `select on ${e.cond.type}`;
      return e.a.type === e.type && e.b.type === e.type
        ? undefined
        : `select of ${e.a.type} and ${e.b.type} gives ${e.type}`;
    case 'cast':
      return e.type === widen(e.to) ? undefined : `a cast to ${e.to} gives ${e.type}`;
    case 'bitcast':
      return bits(e.type) === bits(e.a.type) && bits(e.type) > 1 ? undefined : `the bits of ${e.a.type} as ${e.type}`;
    case 'fma':
      return [e.a, e.b, e.c].every((x) => x.type === e.type) &&
        isFloat(e.type) &&
        (e.to === undefined || e.type === 'f32')
        ? undefined
        : `fma of ${e.a.type}, ${e.b.type}, ${e.c.type}`;
    case 'call': {
      const want = BINARY_MATH.has(e.fn) ? 2 : 1;
      if (e.args.length !== want) return `${e.fn} with ${e.args.length} operands`;
      return e.args.every((x) => x.type === e.type) && isFloat(e.type)
        ? undefined
        : `${e.fn} of ${e.args.map((x) => x.type).join(', ')} gives ${e.type}`;
    }
    case 'intrinsic':
      if (e.args.length !== e.fn.arity) return `${e.fn.name} with ${e.args.length} operands`;
      return e.fn.types.some((t) => t === e.type) && e.args.every((x) => x.type === e.type)
        ? undefined
        : `${e.fn.name} of ${e.args.map((x) => x.type).join(', ')} gives ${e.type}`;
    case 'native':
      return exprParts(e).every((x) => x.type === e.type) ? undefined : `operands of ${e.fn.name} are not ${e.type}`;
    case 'address':
    case 'available':
      return undefined;
    case 'load':
      return e.type === widen(e.mem.elem) ? undefined : `a load of ${e.mem.elem} gives ${e.type}`;
  }
}

function bits(type: ValueType): number {
  if (type === 'bool') return 1;
  return type === 'i32' || type === 'u32' || type === 'f32' ? 32 : 64;
}

function constantFault({ type, value }: Expr & { op: 'const' }): string | undefined {
  const wrong = `a constant ${String(value)} (${typeof value}) of type ${type}`;
  switch (type) {
    case 'bool':
      return typeof value === 'boolean' ? undefined : wrong;
    case 'i32':
      return typeof value === 'number' && Object.is(value | 0, value) ? undefined : wrong;
    case 'u32':
      return typeof value === 'number' && Object.is(value >>> 0, value) ? undefined : wrong;
    case 'i64':
      return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? undefined : wrong;
    case 'u64':
      return typeof value === 'bigint' && BigInt.asUintN(64, value) === value ? undefined : wrong;
    case 'f32':
      return typeof value === 'number' && Object.is(Math.fround(value), value) ? undefined : wrong;
    case 'f64':
      return typeof value === 'number' ? undefined : wrong;
  }
}

function unaryFault(fn: UnaryOp, a: ValueType, type: ValueType): string | undefined {
  const result = fn === 'isNaN' || fn === 'isFinite' ? 'bool' : fn === 'toInt32' ? 'i32' : a;
  if (type !== result) return `${fn} of ${a} gives ${type}`;
  return hasUnary(fn, a) ? undefined : `${fn} of ${a}`;
}

function hasUnary(fn: UnaryOp, type: ValueType): boolean {
  switch (fn) {
    case 'uniform':
      return true;
    case 'neg':
    case 'abs':
    case 'sign':
      return type !== 'bool';
    case 'not':
      return !isFloat(type);
    case 'rcpApprox':
    case 'rsqrtApprox':
      return type === 'f32' || type === 'f64';
    case 'exp2Approx':
    case 'log2Approx':
    case 'sqrtApprox':
    case 'sinApprox':
    case 'cosApprox':
    case 'tanhApprox':
      return type === 'f32';
    default:
      return isFloat(type);
  }
}

function hasBinary(fn: BinaryOp, type: ValueType): boolean {
  switch (fn) {
    case 'and':
    case 'or':
    case 'xor':
      return !isFloat(type);
    case 'shl':
    case 'shr':
    case 'floordiv':
    case 'ipow':
    case 'mulhi':
      return isInt(type);
    case 'divApprox':
      return type === 'f32';
    case 'fmin':
    case 'fmax':
    case 'copysign':
      return isFloat(type);
    default:
      return type !== 'bool';
  }
}
