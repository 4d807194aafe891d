/**
 * Calls with complex numbers: `Math.*` and tests of them, `c64(re, im)`, `cuda.conj`, `cuda.arg` and `cuda.polar`.
 */
import type { DType } from '../../dtype/index.ts';
import type { ElemType } from '../ir/ops.ts';
import type { ComplexFn } from '../math/complex.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import {
  asComplex,
  type Complex,
  complex,
  complexCall,
  complexValue,
  conjugate,
  power,
  type Writer,
} from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { count, type Handler, number } from './intrinsic-call.ts';
import { isLiteral, literal, scalar, type Value } from './values.ts';

/** Functions of `Math` that have a body for complex numbers, by their names. */
const UNARY: ReadonlySet<string> = new Set<ComplexFn>([
  'sqrt',
  'exp',
  'log',
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'sinh',
  'cosh',
  'tanh',
  'asinh',
  'acosh',
  'atanh',
]);

/** Logarithms to other bases. */
const BASES: Readonly<Record<string, number>> = { log2: Math.LOG2E, log10: Math.LOG10E };

/** A known function of the host, such as `Math.exp`, of which an argument is complex; undefined where none is. */
export function complexBuiltin(ctx: Writer, name: string, values: readonly Value[], pos: Pos): Value | undefined {
  const [first, second] = values.map(asComplex);
  const [value, exponent] = values;
  if ((first === undefined && second === undefined) || value === undefined) return undefined;
  const fn = name.replace('Math.', '');
  if (fn === 'pow' && exponent !== undefined) return power(ctx, value, exponent, pos);
  if (first === undefined || values.length > 1) return refuse(name, pos);
  if (UNARY.has(fn)) return complexCall(ctx, fn as ComplexFn, [first.re, first.im], pos);
  const base = BASES[fn];
  if (base !== undefined) {
    const { re, im } = complexCall(ctx, 'log', [first.re, first.im], pos);
    const scaled = (part: TExpr): TExpr => ({ k: 'arith', fn: 'mul', a: part, b: literal(base, pos), pos });
    return complex(scaled(re), scaled(im));
  }
  switch (name) {
    case 'Math.abs':
      return scalar({ k: 'math', fn: 'hypot', args: [first.re, first.im], pos });
    case 'isNaN':
      return eitherPart(ctx, 'or', 'isNaN', first, pos);
    case 'isFinite':
      return eitherPart(ctx, 'and', 'isFinite', first, pos);
    default:
      return refuse(name, pos);
  }
}

function eitherPart(ctx: Writer, fn: 'and' | 'or', test: 'isNaN' | 'isFinite', { re, im }: Complex, pos: Pos): Value {
  const of = (part: TExpr): TExpr => ctx.hold({ k: 'test', fn: test, a: part, pos });
  return scalar({ k: 'logic', fn, a: of(re), b: of(im), pos });
}

function refuse(name: string, pos: Pos): never {
  const known = [...UNARY, ...Object.keys(BASES)].join(' ');
  return fail('K205', pos, `${name} does not take complex numbers`, {
    help: `take their parts: z.re, z.im; of complex numbers there are Math.abs pow ${known}`,
  });
}

/** `c64(re, im)`, `c64(re)`, `c64(z)`. */
export function complexCast(ctx: Evaluation, dtype: DType, values: readonly Value[], pos: Pos): Value {
  const to: ElemType = dtype.name === 'c64' ? 'f32' : 'f64';
  const cast = (a: TExpr): TExpr =>
    isLiteral(a) && typeof a.value === 'boolean' ? cast(literal(Number(a.value), pos)) : { k: 'cast', to, a, pos };
  const [re, im] = values;
  if (re === undefined || values.length > 2)
    return fail('K316', pos, `${dtype.name}(re, im) takes 1 or 2 arguments, not ${values.length}`);
  const whole = asComplex(re);
  if (whole !== undefined && im !== undefined) {
    return fail('K316', pos, `${dtype.name}(z) takes one complex number, ${dtype.name}(re, im) two real ones`, {
      help: 'give the parts: z.re, z.im',
    });
  }
  if (whole !== undefined) return complex(cast(whole.re), cast(whole.im));
  return complex(cast(ctx.scalar(re, pos)), cast(im === undefined ? literal(0, pos) : ctx.scalar(im, pos)));
}

/** `cuda.conj(z)`, `cuda.arg(z)`, `cuda.polar(size, angle)`; a real number stands for a complex one. */
export const COMPLEX_HANDLERS: Readonly<Record<string, Handler>> = {
  conj: (call) => {
    count(call, 1);
    const value = call.args[0] ?? scalar(number(call, 0));
    return value.kind === 'scalar' ? value : conjugate(complexValue(value, call.pos), call.pos);
  },
  arg: (call) => {
    count(call, 1);
    const { re, im } = complexValue(call.args[0] ?? scalar(number(call, 0)), call.pos);
    return scalar({ k: 'math', fn: 'atan2', args: [im, re], pos: call.pos });
  },
  polar: (call) => {
    count(call, 1, 2);
    const size = number(call, 0);
    const angle = call.args.length === 1 ? literal(0, call.pos) : number(call, 1);
    return complexCall(call.ctx, 'polar', [size, angle], call.pos);
  },
};
