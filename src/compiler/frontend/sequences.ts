/**
 * Going through the elements of tuples and of the first axis of arrays: tuples in copies of the code, arrays in a loop.
 */
import type { AnyNode, CallExpression } from 'acorn';
import type { Label } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare } from './arithmetic.ts';
import { indexView, viewValue } from './arrays.ts';
import type { Evaluation } from './evaluation.ts';
import { isLiteral, literal, readLocal, type Scope, type TupleValue, type Value, type View } from './values.ts';

/** What can be gone through. */
export type Sequence = TupleValue | (Extract<Value, { kind: 'view' }> & { readonly present?: undefined });

export function isSequence(v: Value): v is Sequence {
  if ('present' in v && v.present !== undefined) return false;
  return v.kind === 'tuple' || (v.kind === 'view' && v.view.axes.length > 0);
}

/** A string that is known as its characters, `for (const c of 'ACGT')`; any other value as it is. */
export function withCharacters(v: Value): Value {
  if (v.kind !== 'host' || typeof v.value !== 'string') return v;
  const items = Array.from(v.value, (c): Value => ({ kind: 'host', value: c, name: JSON.stringify(c) }));
  return { kind: 'tuple', items };
}

export function lengthOf(v: Sequence, pos: Pos): TExpr {
  return v.kind === 'tuple' ? literal(v.items.length, pos) : (v.view.axes[0]?.extent ?? literal(0, pos));
}

/** The number of elements, where it is known while compiling. */
export function knownLength(v: Sequence, pos: Pos): number | undefined {
  const length = lengthOf(v, pos);
  return isLiteral(length) ? Number(length.value) : undefined;
}

/**
 * As `knownLength`, for what reads all elements: of a slice such as `a.subarray(4 * i, 4 * i + 4)` those that are named. Where the array ends
 * before, an index is out of range.
 */
export function namedLength(v: Sequence, pos: Pos): number | undefined {
  return knownLength(v, pos) ?? (v.kind === 'view' ? v.view.axes[0]?.whole : undefined);
}

/** `view[index]`, read now. */
export function itemOf(ctx: Evaluation, view: View, index: TExpr, pos: Pos): Value {
  return ctx.holdValue(viewValue(indexView(ctx, view, index, pos), pos));
}

export interface Round {
  readonly item: Value;
  readonly index: TExpr;
  /** Ends the loop. */
  leave(): void;
}

/** Runs `each` for every element from `from` on, backwards if need be. */
export function eachItem(
  ctx: Evaluation,
  over: Sequence,
  pos: Pos,
  each: (round: Round) => void,
  { from = 0, backwards = false }: { readonly from?: number; readonly backwards?: boolean } = {},
): void {
  const label = ctx.newLabel();
  const leave = (): void => ctx.emit({ k: 'break', label, pos });
  if (over.kind === 'tuple') {
    const order = over.items.map((_, k) => k).slice(from);
    const body = ctx.branch(() => {
      for (const k of backwards ? order.reverse() : order) {
        const item = over.items[k];
        if (item !== undefined) each({ item, index: literal(k, pos), leave });
      }
    });
    ctx.emit({ k: 'block', label, body, pos });
    return;
  }
  const { view } = over;
  const visit = (index: TExpr): void => each({ item: itemOf(ctx, view, index, pos), index, leave });
  loopOver(ctx, label, lengthOf(over, pos), { from, backwards }, visit, pos);
}

/** Runs `each` for every index of a view's first axis. */
export function eachIndex(ctx: Evaluation, view: View, pos: Pos, each: (index: TExpr) => void): void {
  const length = view.axes[0]?.extent ?? literal(0, pos);
  loopOver(ctx, ctx.newLabel(), length, { from: 0, backwards: false }, each, pos);
}

function loopOver(
  ctx: Evaluation,
  label: Label,
  length: TExpr,
  { from, backwards }: { readonly from: number; readonly backwards: boolean },
  each: (index: TExpr) => void,
  pos: Pos,
): void {
  const counter = ctx.newLocal('%i', pos, false);
  const read = (): TExpr => readLocal(counter, pos);
  const one = literal(1, pos);
  const start = backwards ? arith('sub', length, one, pos) : literal(from, pos);
  ctx.emit({ k: 'assign', local: counter, value: start, pos });
  ctx.loops++;
  const body = ctx.branch(() => {
    const done = backwards ? compare('lt', read(), literal(from, pos), pos) : compare('ge', read(), length, pos);
    ctx.emit({ k: 'if', cond: done, then: [{ k: 'break', label, pos }], else: [], pos });
    each(ctx.temp(read()));
  });
  const update = ctx.branch(() => {
    ctx.emit({ k: 'assign', local: counter, value: arith(backwards ? 'sub' : 'add', read(), one, pos), pos });
  });
  ctx.loops--;
  ctx.emit({ k: 'loop', label, body, update, pos });
}

/** A call of a value with values, as if it stood in the program in place of `node`; `run` evaluates it. */
function withCall<R>(
  ctx: Evaluation,
  fn: Value,
  args: readonly Value[],
  node: AnyNode,
  run: (call: CallExpression) => R,
): R {
  const { start, end } = node;
  const named = (name: string): Extract<AnyNode, { type: 'Identifier' }> => ({ type: 'Identifier', name, start, end });
  const callee = named('callback');
  const nodes = args.map((_, k) => named(`argument${k}`));
  ctx.pinned.set(callee, fn);
  args.forEach((v, k) => {
    const own = nodes[k];
    if (own !== undefined) ctx.pinned.set(own, v);
  });
  try {
    return run({ type: 'CallExpression', callee, arguments: nodes, optional: false, start, end });
  } finally {
    ctx.pinned.delete(callee);
    for (const own of nodes) ctx.pinned.delete(own);
  }
}

/** Functions of the host take what they need, and get no more. */
function argumentsFor(fn: Value, args: readonly Value[]): readonly Value[] {
  return fn.kind === 'host'
    ? args.slice(0, Math.max(1, (fn.value as { length?: number } | undefined)?.length ?? 1))
    : args;
}

export function callValue(ctx: Evaluation, fn: Value, args: readonly Value[], node: AnyNode, scope: Scope): Value {
  return withCall(ctx, fn, argumentsFor(fn, args), node, (call) => ctx.parts.evaluate(ctx, call, scope));
}

/** As `callValue`, for what is asked of the result: whether it is true. */
export function askValue(ctx: Evaluation, fn: Value, args: readonly Value[], node: AnyNode, scope: Scope): TExpr {
  return withCall(ctx, fn, argumentsFor(fn, args), node, (call) => ctx.parts.condition(ctx, call, scope));
}
