/**
 * Functions of complex numbers, written in operations on their parts: quotient, square root, exponential, logarithm, power.
 * `complex-trig.ts` has the hyperbolic and trigonometric ones.
 *
 * Branch cuts, signed zeros, infinities and NaN are those of C99's Annex G, as in CPython's cmath; powers go by polar coordinates, as
 * in CPython. Errors: docs/math.md. Bodies call the functions of reals, and branch where arguments are rare (`lower.ts`).
 */
import type { Expr, MathFn } from '../ir/ops.ts';
import {
  abs,
  add,
  and,
  branch,
  copysign,
  div,
  eq,
  ge,
  gt,
  isNotANumber,
  lt,
  mul,
  ne,
  neg,
  not,
  type Operand,
  or,
  select,
  sqrt,
  sub,
} from './notation.ts';

export type ComplexFn =
  | 'div'
  | 'sqrt'
  | 'exp'
  | 'log'
  | 'pow'
  | 'polar'
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'sinh'
  | 'cosh'
  | 'tanh'
  | 'asinh'
  | 'acosh'
  | 'atanh';

/** A complex value. */
export interface Parts {
  readonly re: Expr;
  readonly im: Expr;
}

/** Builds the result from the parts of the arguments. */
export type ComplexBody = (...parts: readonly Expr[]) => Parts;

export function call(fn: MathFn, ...args: readonly Expr[]): Expr {
  const type = args[0]?.type === 'f64' ? 'f64' : 'f32';
  return { op: 'call', type, fn, args };
}

/** A constant for each precision, of the type of `like`. */
export function by(like: Expr, f32: number, f64: number): Expr {
  return { op: 'const', type: like.type, value: like.type === 'f64' ? f64 : Math.fround(f32) };
}

export function isInfinite(x: Expr): Expr {
  return eq(abs(x), Infinity);
}

export function isBounded(x: Expr): Expr {
  return lt(abs(x), Infinity);
}

/** The larger of two magnitudes; the second where one is NaN. */
function larger(a: Expr, b: Expr): Expr {
  return select(gt(a, b), a, b);
}

/** Both parts of one of two values, of which only the one that is wanted is computed; the first is rarely wanted. */
function unlikelyParts(cond: Expr, a: Parts, b: Parts): Parts {
  const [re = a.re, im = a.im] = branch(true, cond, [a.re, a.im], [b.re, b.im]);
  return { re, im };
}

// ---------------------------------------------------------------- quotient

/** 1 or a power of two that brings a magnitude to where squares neither overflow nor vanish, and which of the three it was. */
function scaling(size: Expr): { readonly big: Expr; readonly small: Expr; readonly scale: Expr; readonly back: Expr } {
  const big = gt(size, by(size, 2 ** 40, 2 ** 400));
  const small = lt(size, by(size, 2 ** -40, 2 ** -400));
  const of = (down: Expr, up: Expr): Expr => select(big, down, select(small, up, by(size, 1, 1)));
  return {
    big,
    small,
    scale: of(by(size, 2 ** -90, 2 ** -720), by(size, 2 ** 90, 2 ** 720)),
    back: of(by(size, 2 ** 90, 2 ** 720), by(size, 2 ** -90, 2 ** -720)),
  };
}

/** 1 with the sign of an infinity, 0 with that of any other number. */
function boxed(x: Expr): Expr {
  return copysign(select(isInfinite(x), by(x, 1, 1), by(x, 0, 0)), x);
}

/** (a + bi) / (c + di). Annex G.5.1. */
export function divide(a: Expr, b: Expr, c: Expr, d: Expr): Parts {
  const num = larger(abs(a), abs(b));
  const den = larger(abs(c), abs(d));
  const [low, high] = [by(a, 2 ** -40, 2 ** -400), by(a, 2 ** 40, 2 ** 400)];
  const within = (x: Expr): Expr => and(gt(x, low), lt(x, high));
  return unlikelyParts(not(and(within(num), within(den))), divideScaled(a, b, c, d), quotient(a, b, c, d));
}

function quotient(a: Expr, b: Expr, c: Expr, d: Expr): Parts {
  const square = add(mul(c, c), mul(d, d));
  return {
    re: div(add(mul(a, c), mul(b, d)), square),
    im: div(sub(mul(b, c), mul(a, d)), square),
  };
}

function divideScaled(a0: Expr, b0: Expr, c0: Expr, d0: Expr): Parts {
  const over = scaling(larger(abs(a0), abs(b0)));
  const under = scaling(larger(abs(c0), abs(d0)));
  const [a, b, c, d] = [mul(a0, over.scale), mul(b0, over.scale), mul(c0, under.scale), mul(d0, under.scale)];
  // Where both were scaled alike the scales cancel, and might overflow one by one.
  const alike = or(and(over.big, under.big), and(over.small, under.small));
  const one = by(a, 1, 1);
  const [first, second] = [select(alike, one, under.scale), select(alike, one, over.back)];
  const plain = quotient(a, b, c, d);
  const [re, im] = [mul(mul(plain.re, first), second), mul(mul(plain.im, first), second)];

  const lost = and(isNotANumber(re), isNotANumber(im));
  const byZero = and(and(eq(c, 0), eq(d, 0)), not(and(isNotANumber(a), isNotANumber(b))));
  const ofInfinity = and(or(isInfinite(a), isInfinite(b)), and(isBounded(c), isBounded(d)));
  const byInfinity = and(or(isInfinite(c), isInfinite(d)), and(isBounded(a), isBounded(b)));
  const infinity = copysign(by(c, Infinity, Infinity), c);
  const [p, q, r, s] = [boxed(a), boxed(b), boxed(c), boxed(d)];
  const mend = (value: Expr, zero: Expr, infinite: Expr, vanished: Expr): Expr =>
    select(
      lost,
      select(byZero, zero, select(ofInfinity, mul(infinite, Infinity), select(byInfinity, mul(vanished, 0), value))),
      value,
    );
  return {
    re: mend(re, mul(infinity, a), add(mul(p, c), mul(q, d)), add(mul(a, r), mul(b, s))),
    im: mend(im, mul(infinity, b), sub(mul(q, c), mul(p, d)), sub(mul(b, r), mul(a, s))),
  };
}

// ---------------------------------------------------------------- square root

export function squareRoot(x: Expr, y: Expr): Parts {
  const [ax, ay] = [abs(x), abs(y)];
  const size = larger(ax, ay);
  // |z| + |x| must not overflow, nor be denormal: where that threatens, both are scaled by an even power of two.
  const big = gt(size, by(x, 2 ** 120, 2 ** 1000));
  const small = lt(size, by(x, 2 ** -100, 2 ** -960));
  const scale = select(big, by(x, 2 ** -8, 2 ** -8), select(small, by(x, 2 ** 60, 2 ** 600), by(x, 1, 1)));
  const back = select(big, by(x, 16, 16), select(small, by(x, 2 ** -30, 2 ** -300), by(x, 1, 1)));
  const [sx, sy] = [mul(ax, scale), mul(ay, scale)];
  const root = sqrt(mul(add(sx, call('hypot', sx, sy)), 0.5));
  const s = mul(root, back);
  const d = mul(div(sy, mul(root, 2)), back);
  const right = ge(x, 0);
  const usual = { re: select(right, s, d), im: copysign(select(right, d, s), y) };
  // Zero; infinities, which win over NaN in the imaginary part.
  const rare = not(and(gt(size, 0), and(isBounded(x), isBounded(y))));
  const [zero, tall] = [and(eq(x, 0), eq(y, 0)), isInfinite(y)];
  const wide = isInfinite(x);
  const left = and(wide, lt(x, 0));
  // √(-∞ + yi) is |y| · 0 + ∞i, √(∞ + yi) is ∞ + 0i.
  const none = mul(ay, by(x, 0, 0));
  const re = select(tall, Infinity, select(zero, abs(x), select(left, none, select(wide, ax, add(x, y)))));
  const im = select(
    or(tall, zero),
    y,
    select(left, copysign(ax, y), select(wide, select(isNotANumber(y), y, copysign(none, y)), add(x, y))),
  );
  return unlikelyParts(rare, { re, im }, usual);
}

// ---------------------------------------------------------------- exponential, logarithm

/** The greatest argument of which the exponential is finite, nearly. */
export function beyondExp(x: Expr): Expr {
  return gt(x, by(x, 88, 709));
}

export function exponential(x: Expr, y: Expr): Parts {
  // The cosine may bring what overflows back into range: half the exponential, twice.
  const huge = beyondExp(x);
  const e = call('exp', select(huge, mul(x, 0.5), x));
  const rest = select(huge, e, by(x, 1, 1));
  const re = mul(mul(e, call('cos', y)), rest);
  const im = mul(mul(e, call('sin', y)), rest);
  // Of a real number, a real one; exp(±∞ + ti) where t has no direction.
  const [wide, vague] = [isInfinite(x), not(isBounded(y))];
  const bare = eq(y, 0);
  const odd = and(wide, vague);
  const zero = by(x, 0, 0);
  return {
    re: select(bare, mul(e, rest), select(odd, select(lt(x, 0), zero, x), re)),
    im: select(bare, y, select(odd, select(lt(x, 0), copysign(zero, y), sub(y, y)), im)),
  };
}

/** The logarithm of |z|, without overflow, and without loss near the unit circle. */
export function logarithmOfSize(x: Expr, y: Expr): Expr {
  const [ax, ay] = [abs(x), abs(y)];
  const big = gt(larger(ax, ay), by(x, 2 ** 120, 2 ** 1000));
  const small = lt(larger(ax, ay), by(x, 2 ** -100, 2 ** -960));
  const scale = select(big, by(x, 2 ** -8, 2 ** -8), select(small, by(x, 2 ** 60, 2 ** 600), by(x, 1, 1)));
  const shift = select(
    big,
    by(x, 8 * Math.LN2, 8 * Math.LN2),
    select(small, by(x, -60 * Math.LN2, -600 * Math.LN2), by(x, 0, 0)),
  );
  const size = call('hypot', mul(ax, scale), mul(ay, scale));
  const [long, short] = [select(gt(ax, ay), ax, ay), select(gt(ax, ay), ay, ax)];
  const nearOne = and(gt(size, 0.71), and(lt(size, 1.73), not(small)));
  const near = mul(call('log1p', add(mul(sub(long, 1), add(long, 1)), mul(short, short))), 0.5);
  const [value] = branch(false, nearOne, [near], [add(call('log', size), shift)]);
  return value ?? near;
}

export function logarithm(x: Expr, y: Expr): Parts {
  return { re: logarithmOfSize(x, y), im: call('atan2', y, x) };
}

// ---------------------------------------------------------------- polar coordinates, powers

/** A number of this size and direction; a direction of 0 leaves infinity what it is. */
export function fromPolar(size: Expr, angle: Expr): Parts {
  return {
    re: mul(size, call('cos', angle)),
    im: select(eq(angle, 0), mul(copysign(by(size, 1, 1), size), angle), mul(size, call('sin', angle))),
  };
}

/** (x + yi) to the power u + vi; `v` is missing of a real exponent. */
export function power(x: Expr, y: Expr, u: Expr, v?: Expr): Parts {
  const size = call('hypot', x, y);
  const angle = call('atan2', y, x);
  const length = call('pow', size, u);
  const turned = mul(angle, u);
  const parts =
    v === undefined
      ? fromPolar(length, turned)
      : fromPolar(mul(length, call('exp', neg(mul(angle, v)))), add(turned, mul(v, logarithmOfSize(x, y))));
  // z⁰ is 1; 0 to a power with a positive real part is 0.
  const [one, zero] = [by(x, 1, 1), by(x, 0, 0)];
  const none = v === undefined ? eq(u, 0) : and(eq(u, 0), eq(v, 0));
  const ofZero = eq(size, 0);
  const [positive, undefinedPower] = [and(ofZero, gt(u, 0)), and(ofZero, not(gt(u, 0)))];
  const settle = (value: Expr, atNone: Expr): Expr =>
    select(none, atNone, select(positive, zero, select(undefinedPower, by(x, Number.NaN, Number.NaN), value)));
  return { re: settle(parts.re, one), im: settle(parts.im, zero) };
}

/** The value where a condition holds, else the other; for bodies that choose between both parts at once. */
export function selectParts(cond: Expr, a: Parts, b: Parts): Parts {
  return { re: select(cond, a.re, b.re), im: select(cond, a.im, b.im) };
}

/** Whether two numbers differ, NaN from itself too. */
export function differs(a: Expr, b: Operand): Expr {
  return ne(a, b);
}
