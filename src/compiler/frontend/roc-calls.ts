/**
 * Calls of the vocabulary of `roc`: OpenCL's work-item functions, barriers and fences with a scope, shared arrays, atomics, and what
 * the lanes of a wavefront exchange. Work items are threads here, and work-groups blocks.
 */
import { spelled } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import type { TExpr, WaveOp } from '../types/tree.ts';
import { arith, compare, select, toIndex, truth } from './arithmetic.ts';
import { atomicHandlers } from './atomic-calls.ts';
import { fail } from './diagnostics.ts';
import { type Call, count, type Handler, number, word } from './intrinsic-call.ts';
import { shapeOf, sharedArray } from './memory-calls.ts';
import { isLiteral, literal, readLocal, scalar, UNDEFINED } from './values.ts';

// ---------------------------------------------------------------- work items

const AXES = ['x', 'y', 'z'] as const;
type Axis = (typeof AXES)[number];

function special(name: 'threadIdx' | 'blockIdx' | 'blockDim' | 'gridDim', axis: Axis, pos: Pos): TExpr {
  return toIndex({ k: 'special', name: `${name}.${axis}`, pos });
}

/** A work-item function of a dimension; `beyond` is what OpenCL gives for dimensions that do not exist (6.12.1). */
function workItem(of: (axis: Axis, pos: Pos) => TExpr, beyond: 0 | 1): Handler {
  return (call) => {
    const { ctx, pos } = call;
    count(call, 1);
    const dim = number(call, 0);
    if (isLiteral(dim)) {
      const { value } = dim;
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
        return fail('K340', pos, `${spelled(call.name)} takes a dimension, 0, 1 or 2, not ${String(value)}`);
      }
      const axis = AXES[value];
      return scalar(axis === undefined ? literal(beyond, pos) : of(axis, pos));
    }
    const held = ctx.hold(toIndex(dim), '%dim');
    const value = AXES.reduceRight<TExpr>(
      (rest, axis, k) => select(compare('eq', held, literal(k, pos), pos), of(axis, pos), rest, pos),
      toIndex(literal(beyond, pos)),
    );
    return scalar(ctx.hold(toIndex(value), `%${call.name}`));
  };
}

const globalSize = (axis: Axis, pos: Pos): TExpr =>
  arith('mul', special('gridDim', axis, pos), special('blockDim', axis, pos), pos);

const globalId = (axis: Axis, pos: Pos): TExpr => {
  const first = arith('mul', special('blockIdx', axis, pos), special('blockDim', axis, pos), pos);
  return arith('add', first, special('threadIdx', axis, pos), pos);
};

/** A launch does not keep how many dimensions it was written with: up to the last that has more than one work item. */
const workDim: Handler = (call) => {
  count(call, 0);
  const { pos } = call;
  const many = (axis: Axis): TExpr => compare('gt', globalSize(axis, pos), literal(1, pos), pos);
  const upToY = select(many('y'), literal(2, pos), literal(1, pos), pos);
  return scalar({ k: 'cast', to: 'u32', a: select(many('z'), literal(3, pos), upToY, pos), pos });
};

// ---------------------------------------------------------------- barriers and fences

/** `roc.CLK_LOCAL_MEM_FENCE` and `roc.CLK_GLOBAL_MEM_FENCE`, with Numba's values. */
const LOCAL = 0;
const GLOBAL = 1;

function checkScope(call: Call, least: number): typeof LOCAL | typeof GLOBAL {
  count(call, least, 1);
  const { pos } = call;
  if (call.args.length === 0) return GLOBAL;
  const given = number(call, 0);
  const value = isLiteral(given) ? given.value : undefined;
  if (value === LOCAL || value === GLOBAL) return value;
  return fail(
    'K341',
    pos,
    `${spelled(call.name)} takes roc.CLK_LOCAL_MEM_FENCE or roc.CLK_GLOBAL_MEM_FENCE, not ${value === undefined ? 'a value that is computed in the kernel' : String(value)}`,
    { help: 'a barrier that orders both is the one for global memory' },
  );
}

/** Either scope is a barrier of the whole work-group. What it does is more than either asks for: it orders both kinds of memory. */
const barrier: Handler = (call) => {
  checkScope(call, 0);
  call.ctx.emit({ k: 'barrier', kind: 'sync', pos: call.pos });
  return UNDEFINED;
};

const memFence: Handler = (call) => {
  const scope = checkScope(call, 1) === LOCAL ? 'block' : 'device';
  call.ctx.emit({ k: 'fence', scope, pos: call.pos });
  return UNDEFINED;
};

/** A work-group barrier is a barrier of each wavefront in it; that it is reached uniformly is checked as for any. */
const waveBarrier: Handler = (call) => {
  count(call, 0);
  call.ctx.emit({ k: 'barrier', kind: 'sync', pos: call.pos });
  return UNDEFINED;
};

// ---------------------------------------------------------------- memory

const rocShared: Handler = (call) => {
  const { pos } = call;
  if (call.args.length === 2 && shapeOf(call).some((n) => n === 0)) {
    fail('K332', pos, 'roc.shared.array of length 0 has no elements', {
      help: 'lengths are positive; shared memory sized by the launch is cuda.shared.array(0, dtype), with sharedBytes',
    });
  }
  count(call, 2);
  return sharedArray(call);
};

// ---------------------------------------------------------------- wavefronts

function exchange(call: Call, fn: WaveOp, args: readonly TExpr[]): TExpr {
  const { ctx, pos } = call;
  const result = ctx.newLocal(`%${call.name}`, pos, true);
  ctx.emit({ k: 'warp', fn, args, result, pos });
  return readLocal(result, pos);
}

function lane(a: TExpr): TExpr {
  return word('i32', a, 'the lane');
}

function permute(fn: WaveOp): Handler {
  return (call) => {
    count(call, 2);
    return scalar(exchange(call, fn, [number(call, 1), lane(number(call, 0))]));
  };
}

const activeLanePermute: Handler = (call) => {
  count(call, 4);
  const { ctx } = call;
  const identity = ctx.hold(number(call, 2), '%identity');
  const useIdentity = ctx.hold(truth(number(call, 3)), '%useIdentity');
  const given = exchange(call, 'shflPull', [number(call, 0), lane(number(call, 1)), identity]);
  return scalar(select(useIdentity, identity, given, call.pos));
};

export const ROC_HANDLERS: Readonly<Record<string, Handler>> = {
  'roc.getGlobalId': workItem(globalId, 0),
  'roc.getLocalId': workItem((axis, pos) => special('threadIdx', axis, pos), 0),
  'roc.getGroupId': workItem((axis, pos) => special('blockIdx', axis, pos), 0),
  'roc.getNumGroups': workItem((axis, pos) => special('gridDim', axis, pos), 1),
  'roc.getGlobalSize': workItem(globalSize, 1),
  'roc.getLocalSize': workItem((axis, pos) => special('blockDim', axis, pos), 1),
  'roc.getWorkDim': workDim,
  'roc.barrier': barrier,
  'roc.memFence': memFence,
  'roc.waveBarrier': waveBarrier,
  'roc.shared.array': rocShared,
  'roc.dsPermute': permute('shflPush'),
  'roc.dsBpermute': permute('shflPull'),
  'roc.activeLanePermuteWaveWidth': activeLanePermute,
  ...atomicHandlers('roc.atomic'),
};
