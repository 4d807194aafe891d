/**
 * Hyperbolic and trigonometric functions of complex numbers and their inverses.
 *
 * After W. Kahan, "Branch cuts for complex elementary functions" (1987), in the form that CPython's cmath gives them; exceptional values
 * as in C99's Annex G. The trigonometric ones are the hyperbolic ones of iz.
 */
import type { Expr } from '../ir/ops.ts';
import {
  beyondExp,
  by,
  type ComplexBody,
  type ComplexFn,
  call,
  divide,
  exponential,
  fromPolar,
  isBounded,
  isInfinite,
  logarithm,
  type Parts,
  power,
  selectParts,
  squareRoot,
} from './complex.ts';
import {
  abs,
  add,
  and,
  branch,
  copysign,
  div,
  eq,
  gt,
  isNotANumber,
  lt,
  mul,
  neg,
  not,
  or,
  select,
  sub,
} from './notation.ts';

/** sinh and cosh of x as e · s and e · c: beyond the range of the exponential e is half of one, and so are they. */
function hyperbolic(x: Expr): { readonly sinh: Expr; readonly cosh: Expr; readonly rest: Expr } {
  const huge = beyondExp(abs(x));
  const half = call('exp', mul(abs(x), 0.5));
  return {
    sinh: select(huge, copysign(mul(half, 0.5), x), call('sinh', x)),
    cosh: select(huge, mul(half, 0.5), call('cosh', x)),
    rest: select(huge, half, by(x, 1, 1)),
  };
}

function sinh(x: Expr, y: Expr): Parts {
  const h = hyperbolic(x);
  const re = mul(mul(h.sinh, call('cos', y)), h.rest);
  const im = mul(mul(h.cosh, call('sin', y)), h.rest);
  const vague = and(or(eq(x, 0), isInfinite(x)), not(isBounded(y)));
  return { re: select(vague, x, re), im: select(eq(y, 0), y, im) };
}

function cosh(x: Expr, y: Expr): Parts {
  const h = hyperbolic(x);
  const re = mul(mul(h.cosh, call('cos', y)), h.rest);
  const im = mul(mul(h.sinh, call('sin', y)), h.rest);
  const vague = and(isInfinite(x), not(isBounded(y)));
  const flat = or(and(eq(x, 0), not(isBounded(y))), and(eq(y, 0), not(isBounded(x))));
  const zero = mul(copysign(by(x, 1, 1), x), copysign(by(x, 0, 0), y));
  return { re: select(vague, abs(x), re), im: select(flat, zero, im) };
}

function tanh(x: Expr, y: Expr): Parts {
  const [t, u, c] = [call('tanh', x), call('tan', y), div(1, call('cosh', x))];
  const product = mul(t, u);
  const den = add(mul(product, product), 1);
  const re = div(mul(t, add(mul(u, u), 1)), den);
  const im = mul(mul(div(u, den), c), c);
  const far = isInfinite(x);
  const vague = and(far, not(isBounded(y)));
  return {
    re: select(far, copysign(by(x, 1, 1), x), select(eq(x, 0), x, re)),
    im: select(eq(y, 0), y, select(vague, copysign(by(x, 0, 0), y), im)),
  };
}

/** f(iz) / i, for the odd functions: the trigonometric one of the hyperbolic one. */
function turned(f: (x: Expr, y: Expr) => Parts): (x: Expr, y: Expr) => Parts {
  return (x, y) => {
    const { re, im } = f(neg(y), x);
    return { re: im, im: neg(re) };
  };
}

// ---------------------------------------------------------------- inverses

/** Beyond this, |z| ± 1 is |z|, and sums of it might overflow. Infinities are, NaN is not. */
function isFar(x: Expr, y: Expr): Expr {
  const limit = by(x, 2 ** 60, 2 ** 500);
  return or(gt(abs(x), limit), gt(abs(y), limit));
}

/** log |2z| of a large z. */
function logOfTwice(x: Expr, y: Expr): Expr {
  return add(call('log', call('hypot', mul(x, 0.5), mul(y, 0.5))), 2 * Math.LN2);
}

/** Both parts, by the first pair where `far` holds. */
function farOrNear(far: Expr, a: Parts, b: Parts): Parts {
  const [re = a.re, im = a.im] = branch(false, far, [a.re, a.im], [b.re, b.im]);
  return { re, im };
}

function acos(x: Expr, y: Expr): Parts {
  const [s1, s2] = [squareRoot(sub(1, x), neg(y)), squareRoot(add(1, x), y)];
  const near = {
    re: mul(call('atan2', s1.re, s2.re), 2),
    im: call('asinh', sub(mul(s2.re, s1.im), mul(s2.im, s1.re))),
  };
  const far = { re: call('atan2', abs(y), x), im: neg(copysign(logOfTwice(x, y), y)) };
  const { re, im } = farOrNear(isFar(x, y), far, near);
  return { re: select(and(eq(x, 0), isNotANumber(y)), Math.PI / 2, re), im };
}

function acosh(x: Expr, y: Expr): Parts {
  const [s1, s2] = [squareRoot(sub(x, 1), y), squareRoot(add(x, 1), y)];
  const near = {
    re: call('asinh', add(mul(s1.re, s2.re), mul(s1.im, s2.im))),
    im: mul(call('atan2', s1.im, s2.re), 2),
  };
  const far = { re: logOfTwice(x, y), im: call('atan2', y, x) };
  const { re, im } = farOrNear(isFar(x, y), far, near);
  return { re, im: select(and(eq(x, 0), isNotANumber(y)), Math.PI / 2, im) };
}

function asinh(x: Expr, y: Expr): Parts {
  const [s1, s2] = [squareRoot(add(1, y), neg(x)), squareRoot(sub(1, y), x)];
  const near = {
    re: call('asinh', sub(mul(s1.re, s2.im), mul(s2.re, s1.im))),
    im: call('atan2', y, sub(mul(s1.re, s2.re), mul(s1.im, s2.im))),
  };
  const far = { re: copysign(logOfTwice(x, y), x), im: call('atan2', y, abs(x)) };
  const { re, im } = farOrNear(isFar(x, y), far, near);
  return { re, im: select(eq(y, 0), y, im) };
}

function atanh(x0: Expr, y0: Expr): Parts {
  // An odd function: of the half plane on the right.
  const left = lt(copysign(by(x0, 1, 1), x0), 0);
  const [x, y] = [abs(x0), select(left, neg(y0), y0)];
  const ay = abs(y);
  const infinite = or(isInfinite(x), isInfinite(y));
  const size = call('hypot', mul(x, 0.5), mul(y, 0.5));
  const far = {
    re: select(infinite, by(x, 0, 0), div(div(mul(x, 0.25), size), size)),
    im: copysign(by(x, Math.PI / 2, Math.PI / 2), y),
  };
  const gap = sub(1, x);
  const near = {
    re: mul(call('log1p', div(mul(x, 4), add(mul(gap, gap), mul(ay, ay)))), 0.25),
    im: mul(call('atan2', mul(y, 2), sub(mul(gap, add(x, 1)), mul(ay, ay))), 0.5),
  };
  // Beside ±1 the square of y vanishes.
  const pole = and(eq(x, 1), lt(ay, by(x, 2 ** -60, 2 ** -500)));
  const beside = {
    re: select(eq(ay, 0), Infinity, mul(sub(by(x, Math.LN2, Math.LN2), call('log', ay)), 0.5)),
    im: select(eq(ay, 0), y, copysign(mul(call('atan2', by(x, 2, 2), neg(ay)), 0.5), y)),
  };
  const { re, im } = farOrNear(isFar(x, y), far, selectParts(pole, beside, near));
  const vague = or(and(isInfinite(x), isNotANumber(y)), isNotANumber(x));
  const angle = select(and(vague, not(isInfinite(y))), add(x, y), im);
  const own = { re: select(eq(x, 0), x, re), im: angle };
  return selectParts(left, { re: neg(own.re), im: neg(own.im) }, own);
}

// ---------------------------------------------------------------- the table

function unary(body: (x: Expr, y: Expr) => Parts): ComplexBody {
  return (x, y) => {
    if (x === undefined || y === undefined) throw new RangeError('a complex function lacks an argument');
    return body(x, y);
  };
}

/** What computes each function from the parts of its arguments, of one type. */
export const COMPLEX: Readonly<Record<ComplexFn, ComplexBody>> = {
  div: (a, b, c, d) => {
    if (a === undefined || b === undefined || c === undefined || d === undefined)
      throw new RangeError('a complex quotient lacks an operand');
    return divide(a, b, c, d);
  },
  sqrt: unary(squareRoot),
  exp: unary(exponential),
  log: unary(logarithm),
  polar: unary(fromPolar),
  pow: (x, y, u, v) => {
    if (x === undefined || y === undefined || u === undefined) throw new RangeError('a complex power lacks an operand');
    return power(x, y, u, v);
  },
  sin: unary(turned(sinh)),
  cos: unary((x, y) => cosh(neg(y), x)),
  tan: unary(turned(tanh)),
  asin: unary(turned(asinh)),
  acos: unary(acos),
  atan: unary(turned(atanh)),
  sinh: unary(sinh),
  cosh: unary(cosh),
  tanh: unary(tanh),
  asinh: unary(asinh),
  acosh: unary(acosh),
  atanh: unary(atanh),
};
