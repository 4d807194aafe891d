/**
 * Quotients of integers that leave no remainder by the way their dividend was made: `(i - i % width) / width`, `i * (i + 1) / 2`, `8 * k / 4`. They
 * are whole numbers in JavaScript, so that they are computed by integer division and can be indices. Of floats they are quotients as any.
 */
import { WARP_SIZE } from '../ir/warp.ts';
import type { TExpr } from '../types/tree.ts';
import { isLiteral } from './values.ts';

/** Names of values are looked through a few deep. */
const MOST_STEPS = 6;

/** What a value that is never assigned again was computed as. */
export function source(e: TExpr, steps = 0): TExpr {
  if (steps === MOST_STEPS) return e;
  if (e.k === 'index') return source(e.a, steps + 1);
  return e.k === 'local' && e.local.is !== undefined ? source(e.local.is, steps + 1) : e;
}

function isNumber(e: TExpr, value: number): boolean {
  return isLiteral(e) && e.value === value;
}

/** Whether two expressions have one value, now. */
export function isSame(a: TExpr, b: TExpr): boolean {
  if (a.k === 'local' && b.k === 'local' && a.local === b.local) return true;
  const [x, y] = [source(a), source(b)];
  switch (x.k) {
    case 'lit':
      return y.k === 'lit' && Object.is(x.value, y.value);
    case 'local':
      return y.k === 'local' && x.local === y.local;
    case 'arg':
      return y.k === 'arg' && x.arg === y.arg;
    case 'special':
      return y.k === 'special' && x.name === y.name;
    case 'extent':
      return y.k === 'extent' && x.root === y.root && x.axis === y.axis;
    case 'shift':
      return y.k === 'shift' && x.fn === y.fn && isSame(x.a, y.a) && isSame(x.b, y.b);
    case 'arith':
      return y.k === 'arith' && x.fn === y.fn && isSame(x.a, y.a) && isSame(x.b, y.b);
    default:
      return false;
  }
}

/** Whether `e` is the remainder of `of` divided by `by`. */
function isRemainder(e: TExpr, of: TExpr, by: TExpr): boolean {
  const x = source(e);
  if (x.k === 'arith' && x.fn === 'rem') return isSame(x.a, of) && isSame(x.b, by);
  if (x.k !== 'bits' || x.fn !== 'and') return false;
  const d = source(by);
  const isPower = isLiteral(d) && typeof d.value === 'number' && d.value > 0 && Number.isInteger(Math.log2(d.value));
  return isPower && isSame(x.a, of) && isNumber(source(x.b), Number(d.value) - 1);
}

/** Whether `a` is `b + 1` or `b - 1`. */
function isNextTo(a: TExpr, b: TExpr): boolean {
  const x = source(a);
  return x.k === 'arith' && (x.fn === 'add' || x.fn === 'sub') && isSame(x.a, b) && isNumber(source(x.b), 1);
}

/** Whether `e` is a multiple of `by`, if both are integers; `isKnown` says what the program has asked. */
export function isMultipleOf(e: TExpr, by: TExpr, isKnown: (e: TExpr, by: TExpr) => boolean = () => false): boolean {
  const x = source(e);
  const d = source(by);
  if (isKnown(e, by)) return true;
  if (isLiteral(x) && isLiteral(d)) {
    if (typeof x.value !== 'number' || typeof d.value !== 'number' || d.value === 0) return false;
    return Number.isInteger(x.value) && Number.isInteger(d.value) && x.value % d.value === 0;
  }
  if (x.k === 'special' && x.name === 'warpSize') return isLiteral(d) && WARP_SIZE % Number(d.value) === 0;
  if (x.k !== 'arith') return false;
  if (x.fn === 'sub' && isRemainder(x.b, x.a, d)) return true;
  if (x.fn === 'add' || x.fn === 'sub') return isMultipleOf(x.a, d, isKnown) && isMultipleOf(x.b, d, isKnown);
  if (x.fn !== 'mul') return false;
  if (isLiteral(d) && (isMultipleOf(x.a, d, isKnown) || isMultipleOf(x.b, d, isKnown))) return true;
  return isNumber(d, 2) && (isNextTo(x.a, x.b) || isNextTo(x.b, x.a));
}
