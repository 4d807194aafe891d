/**
 * Expressions: from trees to registers. Which instruction an operation is, arithmetic.ts and convert.ts know.
 */

import type { ValueName } from '../../intrinsics/native.ts';
import type { Expr, ValueType } from '../../ir/ops.ts';
import { isAboveSubnormals } from '../../ir/passes/intervals.ts';
import { binaryOp, floatCompare, round, selectOp, unaryOp } from './arithmetic.ts';
import { assertUniform, checkCast, checkExponent } from './checks.ts';
import type { Operand } from './code.ts';
import { convert } from './convert.ts';
import { type Gen, immediate, inRegister, isWide, readVar, TYPES } from './gen.ts';
import { intrinsicOp, placed } from './intrinsics.ts';
import { genericAddress, loadElement } from './memory.ts';
import { halfOp } from './narrow.ts';
import { parameter, specialValue } from './specials.ts';

/** The value of an expression: a register, or an immediate. Predicates (bool) are always in registers. */
export function evaluate(g: Gen, e: Expr): Operand {
  const known = g.evaluated.get(e);
  if (known !== undefined) return known;
  const result = compute(g, e);
  g.evaluated.set(e, result);
  return result;
}

function compute(g: Gen, e: Expr): Operand {
  switch (e.op) {
    case 'const':
      if (e.type === 'bool') return g.code.once('p', 'mov.pred', e.value ? '1' : '0');
      return immediate(e.type, e.value);
    case 'var':
      return readVar(g, e.var);
    case 'param':
      return parameter(g, e.param);
    case 'special':
      return specialValue(g, e.name);
    case 'unary': {
      const a = g.value(e.a);
      if (e.fn === 'uniform') return assertUniform(g, e, a);
      if (e.fn === 'neg' && isConvertedInteger(e.a)) return flippedSign(g, e.a.type, inRegister(g, e.a.type, a));
      return unaryOp(g, e.fn, e.a.type, a);
    }
    case 'binary':
      return saturated(g, e) ?? fused(g, e) ?? plainBinary(g, e);
    case 'compare':
      return compareValues(g, e);
    case 'select':
      return selectOp(g, e.type, g.value(e.cond), g.value(e.a), g.value(e.b));
    case 'cast': {
      const a = g.value(e.a);
      const result = convert(g, e.a.type, e.to, a);
      checkCast(g, e, a, result);
      return result;
    }
    case 'bitcast':
      return bitcast(g, e, g.value(e.a));
    case 'fma':
      return e.to === undefined
        ? fma(g, e.type, g.value(e.a), g.value(e.b), g.value(e.c))
        : halfOp(g, e.to, 'fma.rn', [g.value(e.a), g.value(e.b), g.value(e.c)]);
    case 'call':
      return call(g, e);
    case 'intrinsic':
      return intrinsicOp(g, e);
    case 'load':
      return loadElement(g, e.mem);
    case 'native':
      return nativeOp(g, e);
    case 'address':
      return genericAddress(g, e.mem);
    case 'available':
      throw new Error('internal error: externals were not settled');
  }
}

/** The instruction of a library's intrinsic: its name, or a text with places for the result and the operands. */
function nativeOp(g: Gen, e: Expr & { op: 'native' }): Operand {
  const text = e.fn.native.ptx?.(e.type as ValueName, g.target.capability);
  if (text === undefined) throw new Error(`internal error: ${e.fn.name} was not settled`);
  const args = e.args.map((a) => inRegister(g, a.type, g.value(a)));
  const { reg } = TYPES[e.type];
  return text.includes('$') ? placed(g, reg, text, args) : g.code.value(reg, text, args);
}

function isConvertedInteger(e: Expr): boolean {
  return e.op === 'cast' && (e.type === 'f32' || e.type === 'f64') && e.a.type !== 'f32' && e.a.type !== 'f64';
}

/**
 * The negative of a float that comes from an integer, by its bits: after `cvt` and `neg` of a truth value a GPU was seen to have 0
 * where -0 is right, as if the integer had been negated first.
 */
function flippedSign(g: Gen, type: ValueType, a: Operand): Operand {
  const wide = type === 'f64';
  const bits = g.code.value(wide ? 'rd' : 'r', wide ? 'mov.b64' : 'mov.b32', [a]);
  const flipped = wide
    ? g.code.value('rd', 'xor.b64', [bits, '0x8000000000000000'])
    : g.code.value('r', 'xor.b32', [bits, '0x80000000']);
  return g.code.value(wide ? 'fd' : 'f', wide ? 'mov.b64' : 'mov.b32', [flipped]);
}

function plainBinary(g: Gen, e: Expr & { op: 'binary' }): Operand {
  const [a, b] = [g.value(e.a), g.value(e.b)];
  if (e.fn === 'ipow') checkExponent(g, e, b);
  return binaryOp(g, e.fn, e.type, a, b);
}

function compareValues(g: Gen, e: Expr & { op: 'compare' }): Operand {
  const type = e.a.type;
  const [a, b] = [g.value(e.a), g.value(e.b)];
  if (type === 'bool') {
    const differ = g.code.value('p', 'xor.pred', [a, b]);
    return e.fn === 'ne' ? differ : g.code.value('p', 'not.pred', [differ]);
  }
  if (type === 'f32' || type === 'f64') return floatCompare(g, e.fn, type, a, b);
  const sign = e.fn === 'eq' || e.fn === 'ne' ? TYPES[type].bits : TYPES[type].arith;
  return g.code.value('p', `setp.${e.fn}.${sign}`, [a, b]);
}

function bitcast(g: Gen, e: Expr & { op: 'bitcast' }, a: Operand): Operand {
  const [from, to] = [TYPES[e.a.type], TYPES[e.type]];
  if (from.reg === to.reg && e.a.op !== 'const') return a;
  const source = e.a.op === 'const' ? inRegister(g, e.a.type, a) : a;
  return from.reg === to.reg
    ? source
    : g.code.value(to.reg, `mov.${isWide(e.type) || e.type === 'f64' ? 'b64' : 'b32'}`, [source]);
}

/** `a * b + c` in one instruction, where the kernel allows it. As nvcc does: also of products that are used elsewhere. */
function fused(g: Gen, e: Expr & { op: 'binary' }): Operand | undefined {
  const { type } = e;
  if (!g.kernel.contract || (type !== 'f32' && type !== 'f64') || (e.fn !== 'add' && e.fn !== 'sub')) return undefined;
  const negated = (x: Operand): Operand => unaryOp(g, 'neg', type, x);
  // Twice a float is exact.
  const twice = doubled(e.a);
  if (twice !== undefined) {
    const c = g.value(e.b);
    return fma(g, type, g.value(twice), immediate(type, 2), e.fn === 'sub' ? negated(c) : c);
  }
  if (isProduct(e.a)) {
    const [x, y, c] = [g.value(e.a.a), g.value(e.a.b), g.value(e.b)];
    return fma(g, type, x, y, e.fn === 'sub' ? negated(c) : c);
  }
  if (!isProduct(e.b)) return undefined;
  const [c, x, y] = [g.value(e.a), g.value(e.b.a), g.value(e.b.b)];
  return fma(g, type, e.fn === 'sub' ? negated(x) : x, y, c);
}

/** What is added to itself, in a sum that is nothing else. */
function doubled(e: Expr): Expr | undefined {
  if (e.op !== 'binary' || e.fn !== 'add') return undefined;
  const { a, b } = e;
  return a === b || (a.op === 'var' && b.op === 'var' && a.var.id === b.var.id) ? a : undefined;
}

/** `fmin(fmax(x, 0), 1)` of a sum or product, which is a modifier of the instruction. NaN gives 0 either way. */
function saturated(g: Gen, e: Expr & { op: 'binary' }): Operand | undefined {
  const inner = e.a;
  if (e.type !== 'f32' || e.fn !== 'fmin' || !isConstant(e.b, 1)) return undefined;
  if (inner.op !== 'binary' || inner.fn !== 'fmax' || !isConstant(inner.b, 0)) return undefined;
  const x = inner.a;
  const { ftz } = round(g, 'f32');
  if (x.op === 'fma' && x.to === undefined)
    return g.code.value('f', `fma.rn${ftz}.sat.f32`, [g.value(x.a), g.value(x.b), g.value(x.c)]);
  if (x.op !== 'binary' || (x.fn !== 'add' && x.fn !== 'mul')) return undefined;
  return g.code.value('f', `${x.fn}.rn${ftz}.sat.f32`, [g.value(x.a), g.value(x.b)]);
}

function isConstant(e: Expr, value: number): boolean {
  return e.op === 'const' && Object.is(e.value, value);
}

function isProduct(e: Expr): e is Expr & { op: 'binary' } {
  return e.op === 'binary' && e.fn === 'mul';
}

function fma(g: Gen, type: 'f32' | 'f64', a: Operand, b: Operand, c: Operand): Operand {
  return g.code.value(TYPES[type].reg, `fma.rn${round(g, type).ftz}.${type}`, [a, b, c]);
}

/** All calls have been expanded, but of what the hardware has an instruction for that is as good as any other way. */
function call(g: Gen, e: Expr & { op: 'call' }): Operand {
  const [a] = e.args;
  if (e.fn !== 'rsqrt' || e.type !== 'f32' || a === undefined) {
    throw new Error(`internal error: a call of ${e.fn} was not expanded`);
  }
  // Subnormal arguments take three more instructions, where there can be any.
  const ftz = isAboveSubnormals(a) ? '.ftz' : round(g, 'f32').ftz;
  return g.code.value('f', `rsqrt.approx${ftz}.f32`, [inRegister(g, 'f32', g.value(a))]);
}
