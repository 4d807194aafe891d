/**
 * Expressions: from trees to C. What an operation is called, arithmetic.ts, convert.ts and memory.ts know.
 */
import type { ValueName } from '../../intrinsics/native.ts';
import type { Expr, Special } from '../../ir/ops.ts';
import { binaryOf, compareOf, selectOf, unaryOf } from './arithmetic.ts';
import { atom, type C, callOf, castTo, constantOf, type Gen, Level, paramName, varName } from './code.ts';
import { bitcastOf, convert } from './convert.ts';
import { blockAlong, blocksAlong } from './grid-positions.ts';
import { threadNumber } from './helpers.ts';
import { intrinsicOf } from './intrinsics.ts';
import { loadElement, pointerTo } from './memory.ts';
import { hidden } from './opaque.ts';

export function printExpr(g: Gen, e: Expr): C {
  const plain = printed(g, e);
  return g.opaque.has(e) ? hidden(e, plain) : plain;
}

function printed(g: Gen, e: Expr): C {
  const print = (x: Expr): C => printExpr(g, x);
  switch (e.op) {
    case 'const':
      return constantOf(e);
    case 'var':
      return atom(varName(e.var));
    case 'param':
      return e.type === 'bool'
        ? { text: `${paramName(g, e.param)} != 0`, level: Level.loose }
        : atom(paramName(g, e.param));
    case 'special':
      return specialOf(g, e.name);
    case 'unary':
      return unaryOf(g, print, e.fn, e.a);
    case 'binary':
      return binaryOf(g, print, e.fn, e.a, e.b);
    case 'compare':
      return compareOf(print, e.fn, e.a, e.b);
    case 'select':
      return selectOf(print(e.cond), print(e.a), print(e.b));
    case 'cast':
      return convert(g, e.a.type, e.to, print(e.a));
    case 'bitcast':
      return bitcastOf(e.a.type, e.type, print(e.a));
    case 'fma':
      return callOf('fma', print(e.a), print(e.b), print(e.c));
    case 'call': {
      // All others have been expanded.
      if (e.fn !== 'rsqrt' || e.type !== 'f32') throw new Error(`internal error: a call of ${e.fn} was not expanded`);
      return callOf('rsqrt', ...e.args.map(print));
    }
    case 'intrinsic':
      return intrinsicOf(g, print, e);
    case 'load':
      return loadElement(g, print, e.mem);
    case 'native':
      return nativeOf(g, e, e.args.map(print));
    case 'address':
      return pointerTo(g, print, e.mem);
    case 'available':
      throw new Error('internal error: externals were not settled');
  }
}

/** The function or expression of a library's intrinsic. */
function nativeOf({ target }: Gen, { fn, type }: Expr & { op: 'native' }, args: readonly C[]): C {
  const named = type as ValueName;
  const text = target.dialect === 'hip' ? fn.native.hip?.(named, target.arch ?? '') : fn.native.opencl?.(named);
  if (text === undefined) throw new Error(`internal error: ${fn.name} was not settled`);
  if (/^\w+$/.test(text)) return callOf(text, ...args);
  return {
    text: `(${text.replace(/\$(\d)/g, (_, k: string) => `(${args[Number(k) - 1]?.text ?? ''})`)})`,
    level: Level.atom,
  };
}

const SPECIALS: Readonly<Record<string, string>> = {
  threadIdx: 'get_local_id',
  blockDim: 'get_local_size',
};

function specialOf(g: Gen, name: Special): C {
  switch (name) {
    case 'warpSize':
      return atom('32');
    case 'laneId':
      return castTo('int', { text: `${threadNumber(g)} & 31u`, level: Level.loose });
    case 'sharedBytes':
      return atom('shared_bytes');
    default: {
      const early = g.positions.get(name);
      return early === undefined ? readSpecial(g, name) : atom(early);
    }
  }
}

/** What OpenCL calls a place or a size, as an int. */
export function readSpecial(g: Gen, name: Special): C {
  const [what = '', along = ''] = name.split('.');
  const axis = along === 'x' ? 0 : along === 'y' ? 1 : 2;
  if (what === 'blockIdx') return castTo('int', blockAlong(g, axis));
  if (what === 'gridDim') return castTo('int', blocksAlong(g, axis));
  return castTo('int', atom(`${SPECIALS[what]}(${axis})`));
}
