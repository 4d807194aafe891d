/**
 * Calls of what the lanes of a warp do together (shuffles, votes, matches, `syncWarp`), of the grid's barrier and of `nanosleep`.
 *
 * Each becomes a statement whose result is a temporary: the order in which lanes exchange values is the order of the source.
 */
import { intrinsic } from '../intrinsics.ts';
import type { WarpOp } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { truth } from './arithmetic.ts';
import { asComplex, complex } from './complex.ts';
import { count, type Handler, number, word } from './intrinsic-call.ts';
import { mapScalars, readLocal, scalar, UNDEFINED, type Value } from './values.ts';

const ALL_LANES = 0xffffffff;

function exchange(fn: WarpOp, operands: (values: readonly TExpr[]) => readonly TExpr[], takes: number): Handler {
  return (call) => {
    const { ctx, pos } = call;
    count(call, takes + 1);
    const mask = word('u32', number(call, 0), 'the mask');
    const args = operands(Array.from({ length: takes }, (_, k) => number(call, k + 1)));
    const result = ctx.newLocal(`%${call.name}`, pos, true);
    ctx.emit({ k: 'warp', fn, mask, args, result, pos });
    return scalar(readLocal(result, pos));
  };
}

function shuffle(fn: WarpOp): Handler {
  const exchanged = exchange(fn, (values) => values.map((e, k) => (k === 0 ? e : word('i32', e, 'the lane'))), 2);
  return (call) => {
    const [mask, value, lane] = call.args;
    if (value === undefined || mask === undefined || lane === undefined) return exchanged(call);
    if (value.kind === 'tuple' || value.kind === 'record' || value.kind === 'vector') {
      // So do structs, tuples and vectors: all of them are read before the first part goes.
      const [held, given, by] = [value, mask, lane].map((v) => mapScalars(v, (e) => call.ctx.hold(e))) as [
        Value,
        Value,
        Value,
      ];
      return mapScalars(held, (e) => {
        const part = exchanged({ ...call, args: [given, scalar(e), by] });
        return part.kind === 'scalar' ? part.expr : e;
      });
    }
    const z = asComplex(value);
    if (z === undefined) return exchanged(call);
    // Complex numbers go by parts.
    const [re, im] = [z.re, z.im].map((e) => scalar(call.ctx.hold(e)));
    const [first, second] = [re, im].map((part) => exchanged({ ...call, args: [mask, part ?? value, lane] }));
    return first?.kind === 'scalar' && second?.kind === 'scalar' ? complex(first.expr, second.expr) : UNDEFINED;
  };
}
const vote = (fn: WarpOp): Handler => exchange(fn, (values) => values.map(truth), 1);
const match = (fn: WarpOp): Handler => exchange(fn, (values) => values, 1);

const matchAll: Handler = (call) => {
  const mask = match('matchAll')(call);
  if (mask.kind !== 'scalar') return mask;
  // All lanes that take part, or none of them: the answer to "do all agree" is in the mask.
  return { kind: 'tuple', items: [mask, scalar(truth(mask.expr))] };
};

const activeMask: Handler = (call) => {
  const { ctx, pos } = call;
  count(call, 0);
  const result = ctx.newLocal('%activeMask', pos, true);
  ctx.emit({ k: 'warp', fn: 'activeMask', args: [], result, pos });
  return scalar(readLocal(result, pos));
};

/** `(1 << laneId) - 1`. */
const laneMaskLt: Handler = (call) => {
  const { pos } = call;
  count(call, 0);
  const one: TExpr = word('u32', { k: 'lit', value: 1, pos }, 'the mask');
  const lane: TExpr = { k: 'special', name: 'laneId', pos };
  const above: TExpr = { k: 'shift', fn: 'shl', a: one, b: lane, pos };
  return scalar({ k: 'arith', fn: 'sub', a: above, b: one, pos });
};

const syncWarp: Handler = (call) => {
  const { ctx, pos } = call;
  count(call, 0, 1);
  const mask: TExpr = call.args.length === 0 ? { k: 'lit', value: ALL_LANES, pos } : number(call, 0);
  ctx.emit({ k: 'warp', fn: 'sync', mask: word('u32', mask, 'the mask'), args: [], pos });
  return UNDEFINED;
};

const nanosleep: Handler = (call) => {
  count(call, 1);
  call.ctx.emit({ k: 'rest', nanoseconds: word('u32', number(call, 0), 'the time'), pos: call.pos });
  return UNDEFINED;
};

/** What `cg.thisGrid()` is in a kernel. */
const GRID: object = Object.freeze({ sync: intrinsic<() => number>('cg.thisGrid().sync') });

const thisGrid: Handler = (call) => {
  count(call, 0);
  return { kind: 'host', value: GRID, name: 'cg.thisGrid()' };
};

/** Numba's gives an i32 that says nothing; so does this. */
const syncGrid: Handler = (call) => {
  count(call, 0);
  call.ctx.emit({ k: 'barrier', kind: 'grid', pos: call.pos });
  return literal(0, call.pos);
};

function literal(value: number, pos: Pos): Value {
  return scalar({ k: 'lit', value, pos });
}

export const WARP_HANDLERS: Readonly<Record<string, Handler>> = {
  shflSync: shuffle('shfl'),
  shflUpSync: shuffle('shflUp'),
  shflDownSync: shuffle('shflDown'),
  shflXorSync: shuffle('shflXor'),
  allSync: vote('all'),
  anySync: vote('any'),
  eqSync: vote('eq'),
  ballotSync: vote('ballot'),
  matchAnySync: match('matchAny'),
  matchAllSync: matchAll,
  activeMask,
  laneMaskLt,
  syncWarp,
  nanosleep,
  'cg.thisGrid': thisGrid,
  'cg.thisGrid().sync': syncGrid,
};
