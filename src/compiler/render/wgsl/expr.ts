/**
 * Expressions: from trees to WGSL. What an operation is called, arithmetic.ts, convert.ts and memory.ts know.
 */
import type { Expr, Special } from '../../ir/ops.ts';
import { binaryOf, compareOf, unaryOf } from './arithmetic.ts';
import { call, constantOf, define, type Gen, isWide, varName } from './code.ts';
import { roundsBy } from './constants.ts';
import { bitcastOf, convert } from './convert.ts';
import { loadElement } from './memory.ts';
import { settled } from './sums.ts';

export function printExpr(g: Gen, e: Expr): string {
  const print = (x: Expr): string => printExpr(g, x);
  switch (e.op) {
    case 'const':
      return constantOf(g, e);
    case 'var':
      return varName(e.var);
    case 'param': {
      const value = g.values.get(e.param);
      if (value === undefined) throw new Error(`internal error: parameter ${e.param} has no value`);
      return value;
    }
    case 'special':
      return specialOf(g, e.name);
    case 'unary':
      return unaryOf(g, print, e.fn, e.a);
    case 'binary':
      return binaryOf(g, print, e);
    case 'compare':
      return compareOf(g, print, e.fn, e.a, e.b);
    case 'select':
      return call('select', print(e.b), print(e.a), print(e.cond));
    case 'cast':
      return convert(g, e.a.type, e.to, print(e.a));
    case 'bitcast':
      return bitcastOf(e.a.type, e.type, print(e.a));
    case 'fma': {
      const value = call('fma', print(e.a), print(e.b), print(e.c));
      return roundsBy(e.c) ? settled(g, value) : value;
    }
    case 'call':
      // All others have been expanded.
      if (e.fn !== 'rsqrt') throw new Error(`internal error: a call of ${e.fn} was not expanded`);
      return call('inverseSqrt', ...e.args.map(print));
    case 'load':
      return loadElement(g, print, e.mem);
    case 'intrinsic':
      return intrinsicOf(g, print, e);
    case 'native':
    case 'address':
    case 'available':
      throw new Error(`internal error: ${e.op} was not expanded`);
  }
}

/** By the function that the row names. */
function intrinsicOf(g: Gen, print: (e: Expr) => string, { fn, type, args }: Expr & { op: 'intrinsic' }): string {
  const form = fn.native?.wgsl;
  if (form === undefined) throw new Error(`internal error: ${fn.name} was not expanded`);
  const operands = args.map(print);
  if (!isWide(type)) return call(form.word, ...operands);
  const name = `${fn.name}_64`;
  const text = `fn ${name}(a: vec2<u32>) -> vec2<u32> { return ${form.wide}; }`;
  return call(define(g, name, text), ...operands);
}

const AXES = { x: 0, y: 1, z: 2 } as const;

function specialOf({ options }: Gen, name: Special): string {
  const [what = '', along = 'x'] = name.split('.');
  const axis = AXES[along as 'x' | 'y' | 'z'];
  switch (what) {
    case 'threadIdx':
      return options.onProcessor ? `thread_${along}` : `i32(thread.${along})`;
    case 'blockIdx':
      return `block_${along}`;
    case 'gridDim':
      return `blocks_${along}`;
    case 'blockDim':
      return `${options.block[axis]}i`;
    case 'warpSize':
      return '32i';
    case 'laneId':
      return 'i32(number & 31u)';
    default:
      return `${options.sharedBytes}u`;
  }
}
