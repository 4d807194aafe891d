/**
 * Makers of tree expressions that fold what is known while compiling, with JavaScript's meaning.
 *
 * Literals have no type of their own, so folding them in double precision here gives what a minifier's folding gives.
 */
import type { CompareOp } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { isLiteral, literal } from './values.ts';

type ArithFn = 'add' | 'sub' | 'mul' | 'div' | 'rem' | 'pow';

function isLit(e: TExpr, value: number): boolean {
  return e.k === 'lit' && e.value === value && !Object.is(e.value, -0);
}

function foldNumbers(fn: ArithFn, a: number, b: number): number {
  switch (fn) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return a / b;
    case 'rem':
      return a % b;
    case 'pow':
      return a ** b;
  }
}

function foldBigints(fn: ArithFn, a: bigint, b: bigint): bigint | undefined {
  switch (fn) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'div':
      return b === 0n ? undefined : a / b;
    case 'rem':
      return b === 0n ? undefined : a % b;
    case 'pow':
      return b < 0n || b > 64n ? undefined : a ** b;
  }
}

/** `a fn b`. */
export function arith(fn: ArithFn, a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(a) && isLiteral(b)) {
    if (typeof a.value === 'bigint' && typeof b.value === 'bigint') {
      const v = foldBigints(fn, a.value, b.value);
      if (v !== undefined) return literal(v, pos);
    } else if (typeof a.value !== 'bigint' && typeof b.value !== 'bigint') {
      return literal(foldNumbers(fn, Number(a.value), Number(b.value)), pos);
    }
  }
  return { k: 'arith', fn, a, b, pos };
}

/** Index arithmetic, where 0 and 1 are neutral. */
export function addIndex(a: TExpr | undefined, b: TExpr, pos: Pos): TExpr {
  if (a === undefined || isLit(a, 0)) return b;
  return isLit(b, 0) ? a : arith('add', a, b, pos);
}

export function mulIndex(a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLit(a, 1)) return b;
  if (isLit(b, 1)) return a;
  if (isLit(a, 0) || isLit(b, 0)) return literal(0, pos);
  return arith('mul', a, b, pos);
}

/** A value used as an index; literals stay what they are. */
export function toIndex(e: TExpr): TExpr {
  return e.k === 'lit' || e.k === 'extent' || e.k === 'index' ? e : { k: 'index', a: e, pos: e.pos };
}

export function negate(a: TExpr, pos: Pos): TExpr {
  if (isLiteral(a)) return typeof a.value === 'bigint' ? literal(-a.value, pos) : literal(-Number(a.value), pos);
  return { k: 'neg', a, pos };
}

/** As a condition: JavaScript's truthiness. */
export function truth(e: TExpr): TExpr {
  if (isLiteral(e)) return literal(Boolean(e.value), e.pos);
  switch (e.k) {
    case 'compare':
    case 'not':
    case 'truth':
    case 'logic':
    case 'test':
    case 'absent':
      return e;
    default:
      return { k: 'truth', a: e, pos: e.pos };
  }
}

export function not(e: TExpr, pos: Pos): TExpr {
  const t = truth(e);
  if (isLiteral(t)) return literal(!t.value, pos);
  if (t.k === 'not') return truth(t.a);
  return { k: 'not', a: t, pos };
}

export function compare(fn: CompareOp, a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(a) && isLiteral(b)) {
    const [x, y] = [a.value, b.value];
    switch (fn) {
      // Both spellings of equality are one here, as the values are of one kind.
      case 'eq':
        return literal(x === y, pos);
      case 'ne':
        return literal(x !== y, pos);
      case 'lt':
        return literal(x < y, pos);
      case 'le':
        return literal(x <= y, pos);
      case 'gt':
        return literal(x > y, pos);
      case 'ge':
        return literal(x >= y, pos);
    }
  }
  return { k: 'compare', fn, a, b, pos };
}

export function select(cond: TExpr, a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(cond)) return cond.value ? a : b;
  return { k: 'select', cond, a, b, pos };
}

export function bits(fn: 'and' | 'or' | 'xor', a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(a) && isLiteral(b)) {
    if (typeof a.value === 'bigint' && typeof b.value === 'bigint') {
      return literal(fn === 'and' ? a.value & b.value : fn === 'or' ? a.value | b.value : a.value ^ b.value, pos);
    }
    if (typeof a.value !== 'bigint' && typeof b.value !== 'bigint') {
      const [x, y] = [Number(a.value), Number(b.value)];
      return literal(fn === 'and' ? x & y : fn === 'or' ? x | y : x ^ y, pos);
    }
  }
  // x | 0 is the coercion to a 32-bit integer, not a bit operation.
  if (fn === 'or' && isLit(b, 0)) return { k: 'toInt', unsigned: false, a, pos };
  if (fn === 'or' && isLit(a, 0)) return { k: 'toInt', unsigned: false, a: b, pos };
  return { k: 'bits', fn, a, b, pos };
}

/** `~a`; `~~a` is the coercion to a 32-bit integer. */
export function bitnot(a: TExpr, pos: Pos): TExpr {
  if (isLiteral(a)) return literal(typeof a.value === 'bigint' ? ~a.value : ~Number(a.value), pos);
  return a.k === 'bitnot' ? { k: 'toInt', unsigned: false, a: a.a, pos } : { k: 'bitnot', a, pos };
}

export function shift(fn: 'shl' | 'shr' | 'ushr', a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(a) && isLiteral(b)) {
    if (typeof a.value === 'bigint' && typeof b.value === 'bigint') {
      if (fn !== 'ushr' && b.value >= 0n && b.value < 64n)
        return literal(fn === 'shl' ? a.value << b.value : a.value >> b.value, pos);
    } else if (typeof a.value !== 'bigint' && typeof b.value !== 'bigint') {
      const [x, y] = [Number(a.value), Number(b.value)];
      return literal(fn === 'shl' ? x << y : fn === 'shr' ? x >> y : x >>> y, pos);
    }
  }
  if (isLit(b, 0)) return { k: 'toInt', unsigned: fn === 'ushr', a, pos };
  return { k: 'shift', fn, a, b, pos };
}
