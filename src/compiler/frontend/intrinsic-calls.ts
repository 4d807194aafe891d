/**
 * Calls of intrinsics: geometry, barriers, and the integer and float functions of the vocabulary. Memory spaces and atomics are
 * `memory-calls.ts`, what a warp does together `warp-calls.ts`, the words of `roc` `roc-calls.ts`.
 */
import type { CallExpression } from 'acorn';
import type { Row } from '../intrinsics/define.ts';
import { INTRINSICS } from '../intrinsics/table.ts';
import { spelled } from '../intrinsics.ts';
import type { MathFn } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, toIndex, truth } from './arithmetic.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { MEMORY_HANDLERS } from './memory-calls.ts';
import { ROC_HANDLERS } from './roc-calls.ts';
import { isLiteral, readLocal, type Scope, scalar, UNDEFINED, type Value } from './values.ts';
import { WARP_HANDLERS } from './warp-calls.ts';

export function callIntrinsic(
  ctx: Evaluation,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
  discarded: boolean,
): Value {
  const handler = HANDLERS[name];
  if (handler === undefined) {
    if (/^(thread|block|grid)(Idx|Dim)$|^laneId$|^warpSize$/.test(name))
      return fail('K314', pos, `${name} is a value, not a function`, { help: `${name}.x` });
    return fail('K330', pos, `${spelled(name)} is not supported in this version`, {
      help: 'FEATURES.md lists what kernels can use',
    });
  }
  const args = elements(ctx, node.arguments, scope, pos);
  return handler({ ctx, name, args, node, scope, pos, discarded });
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

function barrier(kind: 'sync' | 'count' | 'and' | 'or'): Handler {
  return (call) => {
    const { ctx, pos } = call;
    count(call, kind === 'sync' ? 0 : 1);
    if (kind === 'sync') {
      ctx.emit({ k: 'barrier', kind, pos });
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

function math(fn: MathFn | 'sqrt'): Handler {
  return (call) => {
    count(call, 1);
    return scalar({ k: 'math', fn, args: [number(call, 0)], pos: call.pos });
  };
}

/** A call of what the table of intrinsics has. */
function ofTable(fn: Row): Handler {
  return (call) => {
    count(call, fn.arity);
    const args = Array.from({ length: fn.arity }, (_, k) => number(call, k));
    return scalar({ k: 'intrinsic', fn, args, pos: call.pos });
  };
}

function pair(fn: 'fmin' | 'fmax' | 'copysign'): Handler {
  return (call) => {
    count(call, 2);
    return scalar({ k: 'minmax', fn, a: number(call, 0), b: number(call, 1), pos: call.pos });
  };
}

/** A handler for each call that kernels know, by its name behind `cuda.` or `roc.`; a value that is used twice is held first (`call.ctx.hold`). */
const HANDLERS: Readonly<Record<string, Handler>> = {
  ...WARP_HANDLERS,
  grid,
  gridSize,
  syncThreads: barrier('sync'),
  syncThreadsCount: barrier('count'),
  syncThreadsAnd: barrier('and'),
  syncThreadsOr: barrier('or'),
  threadFence: fence('device'),
  threadFenceBlock: fence('block'),
  threadFenceSystem: fence('system'),
  ...MEMORY_HANDLERS,
  ...ROC_HANDLERS,
  uniform: (call) => {
    count(call, 1);
    return scalar({ k: 'uniform', a: number(call, 0), pos: call.pos });
  },
  selp: (call) => {
    count(call, 3);
    return scalar({ k: 'select', cond: truth(number(call, 0)), a: number(call, 1), b: number(call, 2), pos: call.pos });
  },
  fma: (call) => {
    count(call, 3);
    return scalar({ k: 'fma', args: [number(call, 0), number(call, 1), number(call, 2)], pos: call.pos });
  },
  rint: (call) => {
    count(call, 1);
    return scalar({ k: 'round', fn: 'rint', a: number(call, 0), pos: call.pos });
  },
  ...Object.fromEntries([...INTRINSICS].map(([name, row]) => [name, ofTable(row)])),
  fmin: pair('fmin'),
  fmax: pair('fmax'),
  copysign: pair('copysign'),
  cbrt: math('cbrt'),
  rsqrt: math('rsqrt'),
  exp2: math('exp2'),
  erf: math('erf'),
  erfc: math('erfc'),
  tgamma: math('tgamma'),
  lgamma: math('lgamma'),
};
