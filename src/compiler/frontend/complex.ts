/**
 * Complex numbers in kernels: what is one, and the operators on them.
 *
 * A complex number is a value, as in Numba, and a pair of real trees to all that comes behind the front end. Both parts are of one
 * type: `like` ties what only one of them is computed with. A real operand has no imaginary part, rather than one of 0 (C99, Annex G),
 * so that `z * 2` multiplies both parts and `z + x` leaves the imaginary part alone.
 */
import type { CompareOp } from '../ir/ops.ts';
import type { ComplexFn } from '../math/complex.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare, negate, not, select, truth } from './arithmetic.ts';
import { fail } from './diagnostics.ts';
import type { StatementWriter } from './statement-writer.ts';
import { describeValue, isLiteral, literal, type Value } from './values.ts';

export type Complex = Extract<Value, { kind: 'complex' }>;

/** What operations on complex numbers need of an evaluation. */
export type Writer = Pick<StatementWriter, 'temp' | 'hold'>;

export function complex(re: TExpr, im: TExpr): Complex {
  return { kind: 'complex', re, im };
}

/** A complex number, or an object that can stand for one: `{ re, im }`. Undefined for all else, real numbers included. */
export function asComplex(v: Value): Complex | undefined {
  if (v.kind === 'complex') return v;
  if (v.kind !== 'record' || v.fields.size !== 2) return undefined;
  const [re, im] = [v.fields.get('re'), v.fields.get('im')];
  return re?.kind === 'scalar' && im?.kind === 'scalar' ? paired(re.expr, im.expr) : undefined;
}

/** As `asComplex`, of real numbers as well. */
export function toComplex(v: Value): Complex | undefined {
  return v.kind === 'scalar' ? ofReal(v.expr) : asComplex(v);
}

/** What is stored where a complex number belongs; real numbers have an imaginary part of 0. */
export function complexValue(v: Value, pos: Pos): Complex {
  return (
    toComplex(v) ??
    fail('K221', pos, `expected a complex number, but this is ${describeValue(v)}`, { help: 'write c64(re, im)' })
  );
}

/** Two reals of any types as one number: floats, of one type. */
export function paired(re: TExpr, im: TExpr): Complex {
  return complex(like(fraction(re), im), like(fraction(im), re));
}

function ofReal(re: TExpr): Complex {
  return paired(re, literal(0, re.pos));
}

function like(a: TExpr, b: TExpr): TExpr {
  return { k: 'like', a, b, pos: a.pos };
}

/** A number that is not an integer: parts are floats. */
function fraction(e: TExpr): TExpr {
  return like(e, literal(0.5, e.pos));
}

/** A part that is used twice. A variable is read twice: nothing is assigned in between. */
function twice(ctx: Writer, e: TExpr): TExpr {
  return isLiteral(e) || e.k === 'local' || e.k === 'arg' ? e : ctx.hold(e);
}

function held(ctx: Writer, z: Complex): Complex {
  return complex(twice(ctx, z.re), twice(ctx, z.im));
}

/** A complex number where only a real one will do. */
export function refuseComplex(what: string, pos: Pos): never {
  return fail('K205', pos, `expected ${what === 'a number' ? 'a real number' : what}, but this is complex`, {
    help: 'take its size or a part: Math.abs(z), z.re, z.im',
  });
}

// ---------------------------------------------------------------- operators

const ORDER: ReadonlySet<string> = new Set(['<', '<=', '>', '>=']);

/** A binary operator of which an operand is complex; undefined where none is. */
export function complexBinary(
  ctx: Writer,
  operator: string,
  left: Value,
  right: Value,
  pos: Pos,
): Complex | TExpr | undefined {
  const [a, b] = [asComplex(left), asComplex(right)];
  if (a === undefined && b === undefined) return undefined;
  if ((a ?? toComplex(left)) === undefined || (b ?? toComplex(right)) === undefined) return undefined;
  if (ORDER.has(operator)) {
    return fail('K205', pos, `complex numbers have no order: ${operator} does not take them`, {
      help: 'compare sizes or parts: Math.abs(z) < 2, z.re < w.re',
    });
  }
  switch (operator) {
    case '==':
    case '===':
      return equal(ctx, left, right, pos);
    case '!=':
    case '!==':
      return not(equal(ctx, left, right, pos), pos);
    case '+':
    case '-':
      return sum(ctx, operator === '+' ? 'add' : 'sub', left, right, pos);
    case '*':
      return product(ctx, left, right, pos);
    case '/':
      return quotient(ctx, left, right, pos);
    case '**':
      return power(ctx, left, right, pos);
    default:
      return fail('K205', pos, `the operator ${operator} does not take complex numbers`, {
        help: 'take their parts: z.re, z.im',
      });
  }
}

function isReal(v: Value): v is Extract<Value, { kind: 'scalar' }> {
  return v.kind === 'scalar';
}

/** The value of an operand that is not a real number. */
function operand(v: Value, pos: Pos): Complex {
  return asComplex(v) ?? complexValue(v, pos);
}

/** Whether both parts are equal. */
export function equal(ctx: Writer, left: Value, right: Value, pos: Pos): TExpr {
  const [a, b] = [complexValue(left, pos), complexValue(right, pos)];
  const test = (fn: CompareOp, x: TExpr, y: TExpr): TExpr => compare(fn, x, y, pos);
  // Both sides of `and` are computed: neither may be much work or read memory twice.
  return both(ctx, test('eq', a.re, b.re), test('eq', a.im, b.im), pos);
}

function both(ctx: Writer, a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(a)) return a.value ? b : a;
  if (isLiteral(b)) return b.value ? a : b;
  return { k: 'logic', fn: 'and', a: ctx.hold(a), b: ctx.hold(b), pos };
}

/** JavaScript's truthiness of a number: it is not 0. */
export function complexTruth(ctx: Writer, { re, im }: Complex, pos: Pos): TExpr {
  const [a, b] = [truth(re), truth(im)];
  if (isLiteral(a)) return a.value ? a : b;
  if (isLiteral(b)) return b.value ? b : a;
  return { k: 'logic', fn: 'or', a: ctx.hold(a), b: ctx.hold(b), pos };
}

function sum(ctx: Writer, fn: 'add' | 'sub', left: Value, right: Value, pos: Pos): Complex {
  if (isReal(right)) {
    const a = operand(left, pos);
    const x = twice(ctx, right.expr);
    return complex(arith(fn, a.re, x, pos), like(a.im, x));
  }
  const b = operand(right, pos);
  if (isReal(left)) {
    const x = twice(ctx, left.expr);
    return complex(arith(fn, x, b.re, pos), like(fn === 'sub' ? negate(b.im, pos) : b.im, x));
  }
  const a = operand(left, pos);
  return complex(arith(fn, a.re, b.re, pos), arith(fn, a.im, b.im, pos));
}

function isSame(a: TExpr, b: TExpr): boolean {
  return a === b || (a.k === 'local' && b.k === 'local' && a.local === b.local);
}

function product(ctx: Writer, left: Value, right: Value, pos: Pos): Complex {
  if (isReal(left) || isReal(right)) {
    const [z, real] = isReal(left) ? [right, left] : [left, right];
    const { re, im } = operand(z, pos);
    const x = twice(ctx, complexFactor(real, pos));
    // The author's order: it is the left operand's position that messages show first.
    const times = (part: TExpr): TExpr => (isReal(left) ? arith('mul', x, part, pos) : arith('mul', part, x, pos));
    return complex(times(re), times(im));
  }
  const a = held(ctx, operand(left, pos));
  const b = held(ctx, operand(right, pos));
  const times = (x: TExpr, y: TExpr): TExpr => arith('mul', x, y, pos);
  const re = arith('sub', times(a.re, b.re), times(a.im, b.im), pos);
  if (isSame(a.re, b.re) && isSame(a.im, b.im)) {
    // x y + y x is twice x y, exactly.
    const xy = ctx.temp(times(a.re, a.im));
    return complex(re, arith('add', xy, xy, pos));
  }
  return complex(re, arith('add', times(a.re, b.im), times(a.im, b.re), pos));
}

function complexFactor(v: Value, pos: Pos): TExpr {
  return v.kind === 'scalar' ? v.expr : fail('K221', pos, `expected a number, but this is ${describeValue(v)}`);
}

function quotient(ctx: Writer, left: Value, right: Value, pos: Pos): Complex {
  if (isReal(right)) {
    const { re, im } = operand(left, pos);
    const x = twice(ctx, right.expr);
    return complex(arith('div', re, x, pos), arith('div', im, x, pos));
  }
  const [a, b] = [complexValue(left, pos), operand(right, pos)];
  return complexCall(ctx, 'div', [a.re, a.im, b.re, b.im], pos);
}

/** Powers by literals up to this are products, as in CPython. */
const MOST_PRODUCTS = 100;

export function power(ctx: Writer, left: Value, right: Value, pos: Pos): Complex {
  const base = complexValue(left, pos);
  if (isReal(right)) {
    const n = isLiteral(right.expr) ? Number(right.expr.value) : undefined;
    if (n !== undefined && Number.isInteger(n) && Math.abs(n) <= MOST_PRODUCTS) return integerPower(ctx, base, n, pos);
    return complexCall(ctx, 'pow', [base.re, base.im, right.expr], pos);
  }
  const { re, im } = operand(right, pos);
  return complexCall(ctx, 'pow', [base.re, base.im, re, im], pos);
}

function integerPower(ctx: Writer, base: Complex, n: number, pos: Pos): Complex {
  if (n < 0) return quotient(ctx, { kind: 'scalar', expr: literal(1, pos) }, integerPower(ctx, base, -n, pos), pos);
  let square = held(ctx, base);
  let result: Complex | undefined;
  for (let left = n; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = result === undefined ? square : held(ctx, product(ctx, result, square, pos));
    if (left > 1) square = held(ctx, product(ctx, square, square, pos));
  }
  const one = literal(1, pos);
  return result ?? complex(like(one, square.re), like(literal(0, pos), square.re));
}

export function negated({ re, im }: Complex, pos: Pos): Complex {
  return complex(negate(re, pos), negate(im, pos));
}

export function conjugate({ re, im }: Complex, pos: Pos): Complex {
  return complex(re, negate(im, pos));
}

/** One of two numbers, where both may be evaluated. */
export function selectComplex(ctx: Writer, cond: TExpr, a: Complex, b: Complex, pos: Pos): Complex {
  const test = ctx.hold(cond);
  return complex(select(test, a.re, b.re, pos), select(test, a.im, b.im, pos));
}

/** A function that has a body of its own (`compiler/math/complex.ts`), of the parts of its arguments. Evaluated here, once. */
export function complexCall(ctx: Writer, fn: ComplexFn, parts: readonly TExpr[], pos: Pos): Complex {
  const args = parts.map((part) => twice(ctx, part));
  const call = {};
  return complex(
    ctx.temp({ k: 'complex', fn, part: 're', args, call, pos }, `%${fn}.re`),
    ctx.temp({ k: 'complex', fn, part: 'im', args, call, pos }, `%${fn}.im`),
  );
}
