/**
 * Calls of intrinsics: geometry, barriers, and the integer functions of the vocabulary. Functions of floats are `float-calls.ts`, memory spaces and atomics are
 * `memory-calls.ts` and `atomic-calls.ts`, what few kernels call `rare-calls.ts`.
 */
import type { CallExpression } from 'acorn';
import type { Row } from '../intrinsics/define.ts';
import { INTRINSICS } from '../intrinsics/table.ts';
import { spelled } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, toIndex, truth } from './arithmetic.ts';
import { atomicHandlers } from './atomic-calls.ts';
import { complexValue, selectComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { FLOAT_HANDLERS } from './float-calls.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { MEMORY_HANDLERS } from './memory-calls.ts';
import { isHalfArithmetic, rareHandler } from './rare-call.ts';
import { RESULT_HANDLERS } from './result-call.ts';
import { VALUE_HANDLERS } from './value-calls.ts';
import { isLiteral, readLocal, type Scope, scalar, UNDEFINED, type Value } from './values.ts';
import { isVector, lanewise } from './vectors.ts';

export function callIntrinsic(
  ctx: Evaluation,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
  discarded: boolean,
): Value {
  const handler = HANDLERS[name] ?? rareHandler(name);
  if (handler === undefined) {
    if (/^(thread|block|grid)(Idx|Dim)$|^laneId$|^warpSize$/.test(name))
      return fail('K314', pos, `${name} is a value, not a function`, { help: `${name}.x` });
    return fail('K330', pos, `${spelled(name)} is not supported in this version`, {
      help: 'FEATURES.md lists what kernels can use',
    });
  }
  const args = elements(ctx, node.arguments, scope, pos);
  const call = { ctx, name, args, node, scope, pos, discarded };
  if (args.some(isVector) && isOfNumbers(name))
    return lanewise(ctx, args, pos, (lanes) => ctx.scalar(handler({ ...call, args: lanes.map(scalar) }), pos));
  return handler(call);
}

/** Whether an intrinsic is a function of numbers, each thread for itself: vectors go through it lane by lane. */
function isOfNumbers(name: string): boolean {
  if (INTRINSICS.has(name) || name === 'selp') return true;
  if (HANDLERS[name] === undefined) return isHalfArithmetic(name);
  // Pairs, and bits of another type, are not what a lane holds.
  return Object.hasOwn(FLOAT_HANDLERS, name) && !/sincos|frexp|modf|(?:As|To)[A-Z]/.test(name);
}

// ---------------------------------------------------------------- geometry

const AXES = ['x', 'y', 'z'] as const;

function special(name: 'threadIdx' | 'blockIdx' | 'blockDim' | 'gridDim', axis: number, pos: Pos): TExpr {
  return toIndex({ k: 'special', name: `${name}.${AXES[axis] ?? 'x'}`, pos });
}

function perAxis(call: Call, of: (axis: number) => TExpr): Value {
  count(call, 0, 1);
  const given = call.args[0];
  const n = given === undefined ? 1 : given.kind === 'scalar' && isLiteral(given.expr) ? given.expr.value : undefined;
  if (n !== 1 && n !== 2 && n !== 3)
    return fail('K331', call.pos, `${spelled(call.name)} needs the number of dimensions as the constant 1, 2 or 3`);
  if (n === 1) return scalar(of(0));
  return {
    kind: 'tuple',
    items: Array.from({ length: n }, (_, k) => scalar(call.ctx.hold(of(k), `%${call.name}.${AXES[k] ?? ''}`))),
  };
}

const grid: Handler = (call) =>
  perAxis(call, (axis) => {
    const { pos } = call;
    return arith(
      'add',
      arith('mul', special('blockIdx', axis, pos), special('blockDim', axis, pos), pos),
      special('threadIdx', axis, pos),
      pos,
    );
  });

const gridSize: Handler = (call) =>
  perAxis(call, (axis) =>
    arith('mul', special('gridDim', axis, call.pos), special('blockDim', axis, call.pos), call.pos),
  );

// ---------------------------------------------------------------- barriers and fences

function barrier(kind: 'sync' | 'count' | 'and' | 'or', whole?: true): Handler {
  return (call) => {
    const { ctx, pos } = call;
    count(call, kind === 'sync' ? 0 : 1);
    if (kind === 'sync') {
      ctx.emit({ k: 'barrier', kind, whole, pos });
      return UNDEFINED;
    }
    const result = ctx.newLocal(`%${call.name}`, pos, true);
    ctx.emit({ k: 'barrier', kind, pred: truth(number(call, 0)), result, pos });
    return scalar(readLocal(result, pos));
  };
}

function fence(scope: 'block' | 'device' | 'system'): Handler {
  return (call) => {
    count(call, 0);
    call.ctx.emit({ k: 'fence', scope, pos: call.pos });
    return UNDEFINED;
  };
}

// ---------------------------------------------------------------- numbers

/** A call of what the table of intrinsics has. */
function ofTable(fn: Row): Handler {
  return (call) => {
    count(call, fn.arity);
    const args = Array.from({ length: fn.arity }, (_, k) => number(call, k));
    return scalar({ k: 'intrinsic', fn, args, pos: call.pos });
  };
}

/** A handler for each call that kernels often make, by its name behind `cuda.` or `roc.`; a value that is used twice is held first (`call.ctx.hold`). */
const HANDLERS: Readonly<Record<string, Handler>> = {
  grid,
  gridSize,
  syncThreads: barrier('sync'),
  syncBlock: barrier('sync', true),
  syncThreadsCount: barrier('count'),
  syncThreadsAnd: barrier('and'),
  syncThreadsOr: barrier('or'),
  threadFence: fence('device'),
  threadFenceBlock: fence('block'),
  threadFenceSystem: fence('system'),
  ...MEMORY_HANDLERS,
  ...atomicHandlers('atomic'),
  ...RESULT_HANDLERS,
  ...VALUE_HANDLERS,
  uniform: (call) => {
    count(call, 1);
    return scalar({ k: 'uniform', a: number(call, 0), pos: call.pos });
  },
  selp: (call) => {
    count(call, 3);
    const [, a, b] = call.args;
    if (a?.kind === 'complex' || b?.kind === 'complex') {
      const [first, second] = [a, b].map((v) => complexValue(v ?? UNDEFINED, call.pos));
      if (first !== undefined && second !== undefined)
        return selectComplex(call.ctx, truth(number(call, 0)), first, second, call.pos);
    }
    return scalar({ k: 'select', cond: truth(number(call, 0)), a: number(call, 1), b: number(call, 2), pos: call.pos });
  },
  ...Object.fromEntries([...INTRINSICS].map(([name, row]) => [name, ofTable(row)])),
  ...FLOAT_HANDLERS,
};
