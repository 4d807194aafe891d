/**
 * Binary operators on values: which tree node an operator is, and what comparing with undefined means while compiling.
 */
import type { CompareOp } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, bits, compare, not, shift } from './arithmetic.ts';
import { asComplex, complexBinary, equal } from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isMultipleOf } from './exact-quotients.ts';
import { identical, isThing } from './identity.ts';
import { absentTest, askAbsent } from './optionals.ts';
import { knownText, textOperator } from './texts.ts';
import { isTime, timeOperator } from './times.ts';
import { isAbsent, isLiteral, isOptional, literal, scalar, type Value } from './values.ts';
import { isVector, vectorOperator } from './vectors.ts';

const COMPARE: Readonly<Record<string, CompareOp>> = {
  '==': 'eq',
  '===': 'eq',
  '!=': 'ne',
  '!==': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};
const ARITH: Readonly<Record<string, 'add' | 'sub' | 'mul' | 'div' | 'rem' | 'pow'>> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'rem',
  '**': 'pow',
};
const BITS: Readonly<Record<string, 'and' | 'or' | 'xor'>> = { '&': 'and', '|': 'or', '^': 'xor' };
const SHIFT: Readonly<Record<string, 'shl' | 'shr' | 'ushr'>> = { '<<': 'shl', '>>': 'shr', '>>>': 'ushr' };

function quotient(a: TExpr, b: TExpr, pos: Pos): TExpr {
  const exact = arith('div', a, b, pos);
  if (isLiteral(exact) || !isMultipleOf(a, b)) return exact;
  return { k: 'round', fn: 'trunc', a: exact, exact: true, pos };
}

const isString = (v: Value): boolean => v.kind === 'host' && typeof v.value === 'string';

/** A binary operator on two numbers, real or complex, on strings that are known, or on things. */
export function applyBinary(ctx: Evaluation, operator: string, left: Value, right: Value, pos: Pos): Value {
  if ((isTime(left) || isTime(right)) && !isAbsent(left) && !isAbsent(right))
    return timeOperator(ctx, operator, left, right, pos);
  const ofText = textOperator(ctx, operator, left, right, pos);
  if (ofText !== undefined) return ofText;
  if ((isVector(left) || isVector(right)) && !isAbsent(left) && !isAbsent(right)) {
    const apply = (a: TExpr, b: TExpr): TExpr => ctx.scalar(applyBinary(ctx, operator, scalar(a), scalar(b), pos), pos);
    return vectorOperator(ctx, operator, left, right, pos, apply);
  }
  const joined = operator === '+' && (isString(left) || isString(right)) ? knownText([left, right]) : undefined;
  if (joined !== undefined) return { kind: 'host', value: joined, name: 'text' };
  const cmp = COMPARE[operator];
  if (
    (cmp === 'eq' || cmp === 'ne') &&
    isThing(left) &&
    isThing(right) &&
    (left.kind !== 'host' || right.kind !== 'host')
  ) {
    const same = identical(ctx, left, right, operator, pos);
    return scalar(cmp === 'eq' ? same : not(same, pos));
  }
  if (cmp !== undefined && (left.kind === 'host' || right.kind === 'host')) {
    if (left.kind === 'host' && right.kind === 'host') {
      const same = operator.length === 2 ? (left.value ?? null) === (right.value ?? null) : left.value === right.value;
      if (cmp === 'eq' || cmp === 'ne') return scalar(literal(same === (cmp === 'eq'), pos));
    }
    const [nothing, value] = isAbsent(left) ? [left, right] : [right, left];
    if (isAbsent(nothing) && (cmp === 'eq' || cmp === 'ne')) {
      const as = operator.length === 2 ? 'either' : nothing.value === null ? 'null' : 'undefined';
      const absent = askAbsent(value, as, pos);
      return scalar(cmp === 'eq' ? absent : not(absent, pos));
    }
  }
  if ((cmp === 'eq' || cmp === 'ne') && isOptional(left) !== isOptional(right)) {
    // What is not there equals nothing that is.
    const there = not(absentTest(isOptional(left) ? left : right, 'either', pos), pos);
    const isComplex = (asComplex(left) ?? asComplex(right)) !== undefined;
    const same = isComplex
      ? equal(ctx, left, right, pos)
      : compare('eq', ctx.scalar(left, pos), ctx.scalar(right, pos), pos);
    const both: TExpr = { k: 'logic', fn: 'and', a: there, b: same, pos };
    return scalar(cmp === 'eq' ? both : not(both, pos));
  }
  const ofComplex = complexBinary(ctx, operator, left, right, pos);
  if (ofComplex !== undefined) return 'kind' in ofComplex ? ofComplex : scalar(ofComplex);
  const a = ctx.scalar(left, pos);
  const b = ctx.scalar(right, pos);
  if (cmp !== undefined) return scalar(compare(cmp, a, b, pos));
  const ar = ARITH[operator];
  if (ar === 'div') return scalar(quotient(a, b, pos));
  if (ar !== undefined) return scalar(arith(ar, a, b, pos));
  const bit = BITS[operator];
  if (bit !== undefined) return scalar(bits(bit, a, b, pos));
  const sh = SHIFT[operator];
  if (sh !== undefined) return scalar(shift(sh, a, b, pos));
  return fail('K101', pos, `the operator ${operator} cannot be used in a kernel`);
}
