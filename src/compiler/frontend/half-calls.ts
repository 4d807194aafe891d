/**
 * Calls of `cuda.fp16` and `cuda.bf16`: functions whose operands become f16 or bf16, and whose results are. Each is made of what operators and `Math.*`
 * are made of; their types round.
 */
import type { CompareOp, MathFn } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Half } from '../types/lattice.ts';
import type { RoundFn, TExpr } from '../types/tree.ts';
import { arith, compare } from './arithmetic.ts';
import { count, type Handler, number } from './intrinsic-call.ts';
import { literal, scalar } from './values.ts';

/** What a function makes of its operands, which have been evaluated. */
type Body = (pos: Pos, a: TExpr, b: TExpr, c: TExpr) => TExpr;

/** A function's operands, and what it makes of them; `predicate`: a truth value. */
interface Row {
  readonly operands: 1 | 2 | 3;
  readonly body: Body;
  readonly predicate?: true;
}

const one = (body: Body): Row => ({ operands: 1, body });
const two = (body: Body): Row => ({ operands: 2, body });
const three = (body: Body): Row => ({ operands: 3, body });

const sum =
  (fn: 'add' | 'sub' | 'mul' | 'div'): Body =>
  (pos, a, b) =>
    arith(fn, a, b, pos);
const fma: Body = (pos, a, b, c) => ({ k: 'fma', args: [a, b, c], pos });
const choice =
  (fn: 'min' | 'max' | 'fmin' | 'fmax'): Body =>
  (pos, a, b) => ({ k: 'minmax', fn, a, b, pos });
const math = (fn: MathFn | 'sqrt'): Row => one((pos, a) => ({ k: 'math', fn, args: [a], pos }));
const round = (fn: RoundFn): Row => one((pos, a) => ({ k: 'round', fn, a, pos }));

/** Between 0 and 1; of NaN 0. */
const saturated =
  (body: Body): Body =>
  (pos, a, b, c) =>
    choice('fmin')(pos, choice('fmax')(pos, body(pos, a, b, c), literal(0, pos), a), literal(1, pos), a);

const not = (a: TExpr, pos: Pos): TExpr => ({ k: 'not', a, pos });
const either = (a: TExpr, b: TExpr, pos: Pos): TExpr => ({ k: 'logic', fn: 'or', a, b, pos });

/** A comparison that is false where one of its operands is NaN; `unordered`: true. */
function comparison(fn: CompareOp, unordered: boolean): Row {
  const differ: Body = (pos, a, b) => either(compare('lt', a, b, pos), compare('gt', a, b, pos), pos);
  const is: Body = fn === 'ne' ? differ : (pos, a, b) => compare(fn, a, b, pos);
  const opposite = { eq: 'ne', ne: 'eq', lt: 'ge', le: 'gt', gt: 'le', ge: 'lt' } as const;
  const body: Body = unordered ? (pos, a, b, c) => not(comparison(opposite[fn], false).body(pos, a, b, c), pos) : is;
  return { operands: 2, body, predicate: true };
}

const COMPARES: readonly CompareOp[] = ['eq', 'ne', 'ge', 'gt', 'le', 'lt'];

const FUNCTIONS: Readonly<Record<string, Row>> = {
  hadd: two(sum('add')),
  hsub: two(sum('sub')),
  hmul: two(sum('mul')),
  hdiv: two(sum('div')),
  hfma: three(fma),
  haddSat: two(saturated(sum('add'))),
  hsubSat: two(saturated(sum('sub'))),
  hmulSat: two(saturated(sum('mul'))),
  hfmaSat: three(saturated(fma)),
  hfmaRelu: three((pos, a, b, c) => choice('max')(pos, fma(pos, a, b, c), literal(0, pos), a)),
  hneg: one((pos, a) => ({ k: 'neg', a, pos })),
  habs: one((pos, a) => ({ k: 'abs', a, pos })),
  hmin: two(choice('fmin')),
  hmax: two(choice('fmax')),
  hminNan: two(choice('min')),
  hmaxNan: two(choice('max')),
  ...Object.fromEntries(COMPARES.map((fn) => [`h${fn}`, comparison(fn, false)])),
  ...Object.fromEntries(COMPARES.map((fn) => [`h${fn}u`, comparison(fn, true)])),
  hisnan: { operands: 1, body: (pos, a) => ({ k: 'test', fn: 'isNaN', a, pos }), predicate: true },
  hsin: math('sin'),
  hcos: math('cos'),
  htanh: math('tanh'),
  hexp: math('exp'),
  hexp2: math('exp2'),
  hexp10: one((pos, a) => ({ k: 'math', fn: 'pow', args: [literal(10, pos), a], pos })),
  hlog: math('log'),
  hlog2: math('log2'),
  hlog10: math('log10'),
  hsqrt: math('sqrt'),
  hrsqrt: math('rsqrt'),
  hrcp: one((pos, a) => arith('div', literal(1, pos), a, pos)),
  hceil: round('ceil'),
  hfloor: round('floor'),
  htrunc: round('trunc'),
  hrint: round('rint'),
};

function handler(to: Half, { operands, body }: Row): Handler {
  return (call) => {
    count(call, operands);
    const { ctx, pos } = call;
    const [a, b, c] = Array.from({ length: operands }, (_, k) => {
      const x: TExpr = { k: 'cast', to, a: number(call, k), pos };
      return ctx.hold(x, `%${call.name}`);
    });
    const none = literal(0, pos);
    return scalar(body(pos, a ?? none, b ?? none, c ?? none));
  };
}

/** Functions by their names: `fp16.hadd`, `bf16.hadd`. */
export const HALF_HANDLERS: Readonly<Record<string, Handler>> = Object.fromEntries(
  (
    [
      ['fp16', 'f16'],
      ['bf16', 'bf16'],
    ] as const
  ).flatMap(([module, to]) => Object.entries(FUNCTIONS).map(([name, row]) => [`${module}.${name}`, handler(to, row)])),
);

/** Those that work lane by lane on vectors. */
export function isHalfArithmetic(name: string): boolean {
  const [module, fn = ''] = name.split('.');
  const row = module === 'fp16' || module === 'bf16' ? FUNCTIONS[fn] : undefined;
  return row !== undefined && row.predicate === undefined;
}
