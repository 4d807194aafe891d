/**
 * Calls of functions of floats: those of the math table, exact ones on the parts of numbers, bits of numbers, norms, and the hardware's approximations.
 */
import { spelled } from '../intrinsics.ts';
import type { MathFn, ValueType } from '../ir/ops.ts';
import type { ExactFn } from '../math/exact.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare, select } from './arithmetic.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { literal, scalar, type Value } from './values.ts';

/** Argument `k`, evaluated once. */
function held(call: Call, k: number): TExpr {
  return call.ctx.hold(number(call, k), `%${call.name}`);
}

function tuple(...items: readonly TExpr[]): Value {
  return { kind: 'tuple', items: items.map((item) => scalar(item)) };
}

/** A number that is used in several steps: those of halves are of f32. */
function widened(a: TExpr): TExpr {
  return { k: 'widen', a, pos: a.pos };
}

/** A function of the math table, or of those that floats have beside it. */
export function math(fn: (TExpr & { k: 'math' })['fn'], operands = 1, fast = false): Handler {
  return (call) => {
    count(call, operands);
    const args = Array.from({ length: operands }, (_, k) => number(call, k));
    return scalar({ k: 'math', fn, args, fast, pos: call.pos });
  };
}

function pair(fn: 'fmin' | 'fmax' | 'copysign'): Handler {
  return (call) => {
    count(call, 2);
    return scalar({ k: 'minmax', fn, a: number(call, 0), b: number(call, 1), pos: call.pos });
  };
}

/** Two functions of one operand: `[sin x, cos x]`. */
function both(first: MathFn, second: MathFn, fast = false): Handler {
  return (call) => {
    count(call, 1);
    const { pos } = call;
    const args = [held(call, 0)];
    return tuple({ k: 'math', fn: first, args, fast, pos }, { k: 'math', fn: second, args, fast, pos });
  };
}

function exact(fn: ExactFn, operands: 1 | 2): Handler {
  return (call) => {
    count(call, operands);
    const args = Array.from({ length: operands }, (_, k) => number(call, k));
    return scalar({ k: 'exact', fn, args, pos: call.pos });
  };
}

const ldexp: Handler = (call) => {
  count(call, 2);
  return scalar({ k: 'exact', fn: 'ldexp', args: [number(call, 0)], by: number(call, 1), pos: call.pos });
};

const frexp: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  const args = [held(call, 0)];
  return tuple({ k: 'exact', fn: 'mantissa', args, pos }, { k: 'exact', fn: 'exponent', args, pos });
};

const modf: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  const x = held(call, 0);
  const whole = call.ctx.hold({ k: 'round', fn: 'trunc', a: x, pos }, '%modf');
  const finite: TExpr = { k: 'test', fn: 'isFinite', a: x, pos };
  const rest = select(finite, arith('sub', x, whole, pos), arith('mul', literal(0, pos), whole, pos), pos);
  const infinite: TExpr = { k: 'compare', fn: 'eq', a: { k: 'abs', a: x, pos }, b: literal(Infinity, pos), pos };
  const part = select(infinite, literal(0, pos), rest, pos);
  return tuple({ k: 'minmax', fn: 'copysign', a: part, b: x, pos }, whole);
};

/** sin πx or cos πx: what is left of x over a multiple of a half is exact, and at most a quarter. */
function ofPi(fn: 'sin' | 'cos'): Handler {
  return (call) => {
    count(call, 1);
    const { ctx, pos } = call;
    const half = literal(0.5, pos);
    const x = ctx.hold(arith('div', widened(number(call, 0)), literal(1, pos), pos), `%${call.name}`);
    const steps = ctx.hold({ k: 'round', fn: 'rint', a: arith('add', x, x, pos), pos }, '%steps');
    const rest = arith('sub', x, arith('mul', steps, half, pos), pos);
    const angle = ctx.hold(arith('mul', rest, literal(Math.PI, pos), pos), '%angle');
    const part = (of: MathFn): TExpr => ctx.hold({ k: 'math', fn: of, args: [angle], pos }, `%${of}`);
    const [sine, cosine] = [part('sin'), part('cos')];
    // The quarter turn that is left, 0 to 3.
    const turns: TExpr = { k: 'round', fn: 'floor', a: arith('mul', steps, literal(0.25, pos), pos), pos };
    const quarter = ctx.hold(arith('sub', steps, arith('mul', literal(4, pos), turns, pos), pos), '%quarter');
    const is = (n: number): TExpr => compare('eq', quarter, literal(n, pos), pos);
    const minus = (e: TExpr): TExpr => arith('sub', literal(0, pos), e, pos);
    const values = [sine, cosine, minus(sine), minus(cosine)];
    const at = (n: number): TExpr => values[(n + (fn === 'cos' ? 1 : 0)) % 4] ?? sine;
    return scalar(select(is(0), at(0), select(is(1), at(1), select(is(2), at(2), at(3), pos), pos), pos));
  };
}

/** The Euclidean norm of its operands, or 1 over it; of as many as there are where `operands` is undefined. */
function norm(operands: number | undefined, inverse: boolean): Handler {
  return (call) => {
    if (operands === undefined) count(call, 1, Number.POSITIVE_INFINITY);
    else count(call, operands);
    const { pos } = call;
    const [first = literal(0, pos), ...others] = call.args.map((_, k) => widened(number(call, k)));
    const own: TExpr = others.length === 0 ? { k: 'abs', a: first, pos } : first;
    const size = others.reduce((a, b): TExpr => ({ k: 'math', fn: 'hypot', args: [a, b], pos }), own);
    return scalar(inverse ? { k: 'math', fn: 'div', args: [literal(1, pos), size], pos } : size);
  };
}

const rcbrt: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  const root: TExpr = { k: 'math', fn: 'cbrt', args: [widened(number(call, 0))], pos };
  return scalar({ k: 'math', fn: 'div', args: [literal(1, pos), root], pos });
};

/** A power: `exp2` of a product with log₂ 10 would lose what the product is rounded by. */
const exp10: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  return scalar({ k: 'math', fn: 'pow', args: [literal(10, pos), number(call, 0)], pos });
};

const fdim: Handler = (call) => {
  count(call, 2);
  const { pos } = call;
  const [a, b] = [held(call, 0), held(call, 1)];
  // NaN of either, and 0 of two infinities.
  return scalar(select(compare('le', a, b, pos), literal(0, pos), arith('sub', a, b, pos), pos));
};

/** C's fmin and fmax: NaN gives 0. */
const saturate: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  const low: TExpr = { k: 'minmax', fn: 'fmax', a: number(call, 0), b: literal(0, pos), pos };
  return scalar({ k: 'minmax', fn: 'fmin', a: low, b: literal(1, pos), pos });
};

/** The exponent of x as frexp gives it, less 1. */
function exponent(call: Call, x: TExpr): TExpr {
  const { pos } = call;
  return arith('sub', { k: 'exact', fn: 'exponent', args: [x], pos }, literal(1, pos), pos);
}

const logb: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  const x = held(call, 0);
  const size: TExpr = { k: 'abs', a: x, pos };
  const whole: TExpr = { k: 'like', a: { k: 'cast', to: 'f32', a: exponent(call, x), pos }, b: x, pos };
  const other = select(compare('eq', x, literal(0, pos), pos), literal(-Infinity, pos), size, pos);
  const plain: TExpr = {
    k: 'logic',
    fn: 'and',
    a: { k: 'test', fn: 'isFinite', a: x, pos },
    b: compare('ne', x, literal(0, pos), pos),
    pos,
  };
  return scalar(select(plain, whole, other, pos));
};

const ilogb: Handler = (call) => {
  count(call, 1);
  const { pos } = call;
  const x = held(call, 0);
  const infinite = compare('eq', { k: 'abs', a: x, pos }, literal(Infinity, pos), pos);
  const some: TExpr = {
    k: 'logic',
    fn: 'and',
    a: { k: 'test', fn: 'isFinite', a: x, pos },
    b: compare('ne', x, literal(0, pos), pos),
    pos,
  };
  const other = select(infinite, literal(2 ** 31 - 1, pos), literal(-(2 ** 31), pos), pos);
  return scalar(select(some, exponent(call, x), other, pos));
};

/** The same bits under another type. */
function bits(from: ValueType, to: ValueType): Handler {
  return (call) => {
    count(call, 1);
    return scalar({ k: 'bitcast', from, to, a: number(call, 0), what: spelled(call.name), pos: call.pos });
  };
}

function half(fn: 'bits' | 'value'): Handler {
  return (call) => {
    count(call, 1);
    return scalar({ k: 'half', fn, a: number(call, 0), what: spelled(call.name), pos: call.pos });
  };
}

/** One of the two words of an f64. */
function wordOf(upper: boolean): Handler {
  return (call) => {
    count(call, 1);
    const { pos } = call;
    const all: TExpr = { k: 'bitcast', from: 'f64', to: 'i64', a: number(call, 0), what: spelled(call.name), pos };
    const word: TExpr = upper ? { k: 'shift', fn: 'shr', a: all, b: literal(32n, pos), pos } : all;
    return scalar({ k: 'cast', to: 'i32', a: word, pos });
  };
}

/** An f64 of its two words. */
const ofWords: Handler = (call) => {
  count(call, 2);
  const { pos } = call;
  const what = spelled(call.name);
  const wide = (k: number): TExpr => ({
    k: 'cast',
    to: 'i64',
    a: { k: 'word', to: k === 0 ? 'i32' : 'u32', a: number(call, k), what, pos },
    pos,
  });
  const high: TExpr = { k: 'shift', fn: 'shl', a: wide(0), b: literal(32n, pos), pos };
  const all: TExpr = { k: 'bits', fn: 'or', a: high, b: wide(1), pos };
  return scalar({ k: 'bitcast', from: 'i64', to: 'f64', a: all, what, pos });
};

const FAST: readonly MathFn[] = ['sin', 'cos', 'tan', 'exp', 'exp2', 'log', 'log2', 'log10', 'tanh', 'rsqrt'];

const fastHandlers: Readonly<Record<string, Handler>> = {
  ...Object.fromEntries(FAST.map((fn) => [`fast.${fn}`, math(fn, 1, true)])),
  'fast.sqrt': math('sqrt', 1, true),
  'fast.pow': math('pow', 2, true),
  'fast.div': math('div', 2, true),
  'fast.sincos': both('sin', 'cos', true),
  'fast.exp10': (call) => {
    count(call, 1);
    const { pos } = call;
    const scaled = arith('mul', widened(number(call, 0)), literal(Math.log2(10), pos), pos);
    return scalar({ k: 'math', fn: 'exp2', args: [scaled], fast: true, pos });
  },
  'fast.rcp': (call) => {
    count(call, 1);
    const { pos } = call;
    return scalar({ k: 'math', fn: 'div', args: [literal(1, pos), number(call, 0)], fast: true, pos });
  },
};

export const FLOAT_HANDLERS: Readonly<Record<string, Handler>> = {
  fma: (call) => {
    count(call, 3);
    return scalar({ k: 'fma', args: [number(call, 0), number(call, 1), number(call, 2)], pos: call.pos });
  },
  rint: (call) => {
    count(call, 1);
    return scalar({ k: 'round', fn: 'rint', a: number(call, 0), pos: call.pos });
  },
  fmin: pair('fmin'),
  fmax: pair('fmax'),
  copysign: pair('copysign'),
  cbrt: math('cbrt'),
  rsqrt: math('rsqrt'),
  exp2: math('exp2'),
  erf: math('erf'),
  erfc: math('erfc'),
  ...Object.fromEntries(
    (['j0', 'j1', 'y0', 'y1', 'erfinv', 'erfcinv', 'erfcx', 'normcdf', 'normcdfinv'] as const).map((fn) => [
      fn,
      math(fn),
    ]),
  ),
  cylBesselI0: math('i0'),
  cylBesselI1: math('i1'),
  rcbrt,
  exp10,
  fdim,
  saturate,
  logb,
  ilogb,
  tgamma: math('tgamma'),
  lgamma: math('lgamma'),
  fmod: math('fmod', 2),
  sinpi: ofPi('sin'),
  cospi: ofPi('cos'),
  sincos: both('sin', 'cos'),
  ldexp,
  frexp,
  modf,
  nextafter: exact('nextafter', 2),
  remainder: exact('remainder', 2),
  norm3d: norm(3, false),
  norm4d: norm(4, false),
  hypot: norm(undefined, false),
  rhypot: norm(undefined, true),
  rnorm3d: norm(3, true),
  rnorm4d: norm(4, true),
  floatAsInt: bits('f32', 'i32'),
  floatAsUint: bits('f32', 'u32'),
  intAsFloat: bits('i32', 'f32'),
  uintAsFloat: bits('u32', 'f32'),
  doubleAsLong: bits('f64', 'i64'),
  longAsDouble: bits('i64', 'f64'),
  doubleToHiInt: wordOf(true),
  doubleToLoInt: wordOf(false),
  hiLoIntToDouble: ofWords,
  halfAsShort: half('bits'),
  shortAsHalf: half('value'),
  ...fastHandlers,
};
