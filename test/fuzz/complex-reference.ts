/**
 * Functions of complex numbers by their definitions in exponentials and logarithms, in double precision.
 */
import type { Complex } from '../../src/index.ts';

export interface ComplexFunction {
  /** `$1`, `$2`: its arguments. */
  readonly text: string;
  readonly of: readonly ('complex' | 'real')[];
  /** Undefined where a rounding decides, or where numbers get large. */
  readonly value: (...args: Complex[]) => Complex | undefined;
}

const of = (re: number, im = 0): Complex => ({ re, im });
const plus = (a: Complex, b: Complex): Complex => of(a.re + b.re, a.im + b.im);
const minus = (a: Complex, b: Complex): Complex => of(a.re - b.re, a.im - b.im);
const times = (a: Complex, b: Complex): Complex => of(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
const scaled = (a: Complex, k: number): Complex => of(a.re * k, a.im * k);
const over = (a: Complex, b: Complex): Complex => scaled(times(a, of(b.re, -b.im)), 1 / (b.re * b.re + b.im * b.im));
const I = of(0, 1);
const ONE = of(1);

const exp = (z: Complex): Complex => of(Math.exp(z.re) * Math.cos(z.im), Math.exp(z.re) * Math.sin(z.im));
const log = (z: Complex): Complex => of(Math.log(Math.hypot(z.re, z.im)), Math.atan2(z.im, z.re));
const sqrt = (z: Complex): Complex => (z.re === 0 && z.im === 0 ? z : exp(scaled(log(z), 0.5)));
const sinh = (z: Complex): Complex => scaled(minus(exp(z), exp(scaled(z, -1))), 0.5);
const cosh = (z: Complex): Complex => scaled(plus(exp(z), exp(scaled(z, -1))), 0.5);
const turned = (z: Complex): Complex => times(I, z);
const back = (z: Complex): Complex => times(of(0, -1), z);
const asinh = (z: Complex): Complex => log(plus(z, sqrt(plus(times(z, z), ONE))));
const acosh = (z: Complex): Complex => log(plus(z, times(sqrt(plus(z, ONE)), sqrt(minus(z, ONE)))));
const atanh = (z: Complex): Complex => scaled(minus(log(plus(ONE, z)), log(minus(ONE, z))), 0.5);

type Map1 = (z: Complex) => Complex;
const UNARY: Readonly<Record<string, Map1>> = {
  exp,
  log,
  sqrt,
  sinh,
  cosh,
  tanh: (z) => over(sinh(z), cosh(z)),
  sin: (z) => back(sinh(turned(z))),
  cos: (z) => cosh(turned(z)),
  tan: (z) => back(over(sinh(turned(z)), cosh(turned(z)))),
  asinh,
  acosh,
  atanh,
  asin: (z) => back(asinh(turned(z))),
  acos: (z) => minus(of(Math.PI / 2), back(asinh(turned(z)))),
  atan: (z) => back(atanh(turned(z))),
  log2: (z) => scaled(log(z), Math.LOG2E),
  log10: (z) => scaled(log(z), Math.LOG10E),
};

/** Away from cuts, zeros and poles, which are on the axes, and of moderate size. */
const isPlain = ({ re, im }: Complex): boolean =>
  [re, im].every((x) => Math.abs(x) > 1 / 256 && Math.abs(x) < 12) &&
  Math.hypot(re * re - im * im - 1, 2 * re * im) > 0.05;
const isModerate = (z: Complex): boolean => Math.hypot(z.re, z.im) < 1e25 && Math.hypot(z.re, z.im) > 1e-20;

function checked(f: (...args: Complex[]) => Complex): ComplexFunction['value'] {
  return (...args) => {
    const value = f(...args);
    return isModerate(value) ? value : undefined;
  };
}

const plain = (f: (...args: Complex[]) => Complex): ComplexFunction['value'] => {
  const value = checked(f);
  return (...args) => (args.every(isPlain) ? value(...args) : undefined);
};

export const COMPLEX_FUNCTIONS: readonly ComplexFunction[] = [
  ...Object.entries(UNARY).map(
    ([name, f]): ComplexFunction => ({ text: `Math.${name}($1)`, of: ['complex'], value: plain((z) => f(z ?? ONE)) }),
  ),
  {
    text: 'Math.pow($1, $2)',
    of: ['complex', 'complex'],
    value: plain((a = ONE, b = ONE) => exp(times(b, log(a)))),
  },
  { text: '($1) ** 2', of: ['complex'], value: plain((z = ONE) => times(z, z)) },
  {
    text: '($1) ** ($2)',
    of: ['complex', 'real'],
    value: (z = ONE, p = ONE) => (isPlain(z) ? checked(() => exp(scaled(log(z), p.re)))() : undefined),
  },
  { text: 'c64(Math.abs($1), 0)', of: ['complex'], value: checked((z = ONE) => of(Math.hypot(z.re, z.im))) },
  { text: 'c64(0, cuda.arg($1))', of: ['complex'], value: plain((z = ONE) => of(0, Math.atan2(z.im, z.re))) },
  {
    text: 'cuda.polar($1, $2)',
    of: ['real', 'real'],
    value: checked((size = ONE, angle = ONE) => of(size.re * Math.cos(angle.re), size.re * Math.sin(angle.re))),
  },
];
