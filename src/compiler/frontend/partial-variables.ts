/**
 * Variables that are read, and functions that return, where not every path has given a value: a variable that a loop assigns further
 * down, a branch that returns nothing. What such a value is made of is told in `optionals.ts`.
 */
import type { Pos } from '../source.ts';
import { toComplex } from './complex.ts';
import type { Evaluation, Frame } from './evaluation.ts';
import { neverEnds } from './measures.ts';
import { emptyLike, hasObject, isObject, storeResult } from './object-slots.ts';
import { presenceNote, withFlag, withoutFlag } from './optionals.ts';
import { leftBy, settleResult } from './recursion.ts';
import { type Binding, isAbsent, isOptional, literal, mapScalars, readLocal, scalar, type Value } from './values.ts';

/** The value of a variable. */
export function readVariable(ctx: Evaluation, binding: Binding, pos: Pos): Value {
  const { flag } = binding;
  if (binding.value === undefined) {
    if (flag === undefined || ctx.loops === binding.loops) return binding.empty ?? nothingYet(binding);
    // A loop: what is read may have been assigned further down, a round ago.
    const nought = scalar(literal(0, pos));
    const guess = ctx.hints.isComplex(binding) ? (toComplex(nought) ?? nought) : nought;
    binding.value = emptyLike(ctx, binding, ctx.hints.shapeOf(binding) ?? guess, pos);
    binding.supposed = true;
    if (binding.value.kind === 'scalar' && binding.value.expr.k === 'local')
      ctx.supposed.set(binding.value.expr.local, undefined);
  }
  // A node of its own for every read, so that live ranges can tell them apart.
  const value = mapScalars(binding.value, (e) => (e.k === 'local' ? { ...e, pos, range: undefined } : e));
  if (flag === undefined) return value;
  if (binding.vanishes !== true && isAssignedHere(ctx, binding)) {
    binding.relied = true;
    return value;
  }
  return withFlag(ctx, value, flag, pos);
}

/**
 * A member of what has been taken for a number because it is read in a loop before it is assigned: any number will do until it
 * is known. `refuse` is what to do if it stays a number.
 */
export function supposedMember(ctx: Evaluation, object: Value, pos: Pos, refuse: () => never): Value {
  if (object.kind !== 'scalar' || object.expr.k !== 'local' || !ctx.supposed.has(object.expr.local)) return refuse();
  const local = ctx.newLocal('%member', pos, false);
  ctx.supposed.set(object.expr.local, refuse);
  ctx.supposed.set(local, undefined);
  return scalar(readLocal(local, pos));
}

function nothingYet({ name, pos }: Binding): Value {
  return { kind: 'host', value: undefined, name, why: { text: `${name} is declared without a value`, pos } };
}

function isAssignedHere(ctx: Evaluation, { assignedIn }: Binding): boolean {
  for (let at: typeof ctx.inBranch | undefined = ctx.inBranch; at !== undefined; at = at.outer)
    if (assignedIn?.has(at) === true) return true;
  return false;
}

/** What tells the results of one call from those of others. */
function resultPlace({ fn, site }: Frame): Pick<Binding, 'name' | 'pos'> | undefined {
  if (fn === 'kernel' || site === undefined) return undefined;
  const pos = { source: fn.captured.source, start: fn.node.start, end: fn.node.end, caller: site };
  return { name: 'return', pos };
}

/** What a path through a function returns; undefined for nothing. */
export function noteResult(ctx: Evaluation, frame: Frame, returned: Value, pos: Pos, why: string): void {
  if (frame.fn === 'kernel' || neverEnds(ctx.list)) return;
  frame.flag ??= ctx.newLocal('%has', pos, false);
  if (isOptional(returned)) frame.returnedNothing = true;
  const value = leftBy(ctx, frame, returned, pos);
  settleResult(ctx, frame, value);
  if (!isAbsent(value)) {
    const plain = withoutFlag(value);
    const at = resultPlace(frame);
    const wanted = at !== undefined && ctx.hints.isComplex(at) ? (toComplex(plain) ?? plain) : plain;
    const given = ctx.parts.asObject(ctx, wanted, pos);
    if (at !== undefined && frame.result?.kind === 'scalar' && given.kind === 'complex') ctx.hints.becomesComplex(at);
    const what = `the result of ${frame.fn.name || 'this function'}`;
    if (isObject(given) && (frame.result?.kind === 'object' || hasObject(given))) {
      frame.result = storeResult(ctx, frame.result, given, what, pos, frame.scope);
    } else {
      frame.result ??= ctx.slot(given, `%${frame.fn.name || 'result'}`, pos);
      ctx.store(frame.result, given, what, pos);
    }
  }
  ctx.emit({ k: 'presence', flag: frame.flag, is: presenceNote(value), why, pos });
}
