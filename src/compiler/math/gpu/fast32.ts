/**
 * f32 functions with fastMath on GPUs: the hardware's approximations as they are. Denormals are flushed, errors are what the
 * PTX ISA states for ex2, lg2, sin, cos, tanh and rcp: large for the logarithms near 1 and for sin and cos of large arguments.
 */
import type { Expr, MathFn } from '../../ir/ops.ts';
import { add, copysign, gt, mul, neg, select, sub } from '../notation.ts';
import { approx, fma } from './notation.ts';

const ex2 = (x: Expr): Expr => approx('exp2Approx', x);
const lg2 = (x: Expr): Expr => approx('log2Approx', x);
const rcp = (x: Expr): Expr => approx('rcpApprox', x);

function exp(x: Expr): Expr {
  return ex2(mul(x, Math.LOG2E));
}

/** e^x / 2 and e^-x / 2. */
function halves(x: Expr): readonly [Expr, Expr] {
  const scaled = mul(x, Math.LOG2E);
  return [ex2(sub(scaled, 1)), ex2(fma(scaled, -1, -1))];
}

/** Functions of one argument. */
export const FAST_UNARY: Readonly<Partial<Record<MathFn, (x: Expr) => Expr>>> = {
  exp,
  exp2: ex2,
  log: (x) => mul(lg2(x), Math.LN2),
  log2: lg2,
  log10: (x) => mul(lg2(x), Math.LOG10E * Math.LN2),
  sin: (x) => approx('sinApprox', x),
  cos: (x) => approx('cosApprox', x),
  tan: (x) => mul(approx('sinApprox', x), rcp(approx('cosApprox', x))),
  sinh: (x) => {
    const [grown, shrunk] = halves(x);
    return sub(grown, shrunk);
  },
  cosh: (x) => {
    const [grown, shrunk] = halves(x);
    return add(grown, shrunk);
  },
  tanh: (x) => approx('tanhApprox', x),
  rsqrt: (x) => approx('rsqrtApprox', x),
  cbrt: (x) => copysign(ex2(mul(lg2(select(gt(x, 0), x, neg(x))), 1 / 3)), x),
};

/** Of a positive base, or one whose sign does not matter: NaN for negative bases. */
export function fastPow(x: Expr, y: Expr): Expr {
  return ex2(mul(y, lg2(x)));
}

export function fastHypot(...args: readonly Expr[]): Expr {
  const [first, ...others] = args;
  if (!first) throw new RangeError('hypot needs an argument');
  return approx(
    'sqrtApprox',
    others.reduce((sum: Expr, x) => fma(x, x, sum), mul(first, first)),
  );
}
