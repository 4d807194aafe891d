/**
 * Values that may be undefined or null: tests for that, copies that keep the question open, variables that are read where not
 * every path has given them a value.
 *
 * Such a value consists of variables and a flag. Every read of its variables names the flag, which says that a value is needed
 * there (`presence.ts` refuses it where there may be none); who merely asks or copies takes the flag off.
 */
import type { Pos } from '../source.ts';
import type { Absent, Local, TExpr } from '../types/tree.ts';
import { refuseElement } from './absence.ts';
import type { Context, Frame } from './context.ts';
import { fail } from './diagnostics.ts';
import {
  type Absence,
  type Binding,
  describeValue,
  isAbsent,
  isLiteral,
  isOptional,
  literal,
  mapScalars,
  readLocal,
  scalar,
  type Value,
} from './values.ts';

/** What a program asks: whether a value is absent. */
export function askAbsent(v: Value, as: Absent | 'either', pos: Pos): TExpr {
  if (v.kind === 'scalar' && v.expr.k === 'load') return refuseElement(v.expr.pos);
  if (v.kind === 'view' && v.view.axes.length === 0 && v.view.checks.length > 0) return refuseElement(pos);
  return absentTest(v, as, pos);
}

/** Whether a value is absent; a literal where that is certain. */
export function absentTest(v: Value, as: Absent | 'either', pos: Pos): TExpr {
  if (isAbsent(v)) return literal(as === 'either' || (v.value === null) === (as === 'null'), pos);
  const flag = flagOf(v);
  return flag === undefined ? literal(false, pos) : { k: 'absent', a: { k: 'local', local: flag, pos }, as, pos };
}

export function flagOf(v: Value): Local | undefined {
  return 'present' in v ? v.present : undefined;
}

/** What the note of presence of a copy says. */
export function presenceNote(v: Value): Local | Absent | 'present' {
  if (isAbsent(v)) return v.value === null ? 'null' : 'undefined';
  return flagOf(v) ?? 'present';
}

/** The value without its flag: to copy it as it is, there or not. */
export function withoutFlag(v: Value): Value {
  const flag = flagOf(v);
  if (flag === undefined) return v;
  const plain = mapScalars(v, (e) => (e.k === 'local' && e.flag === flag ? readLocal(e.local, e.pos) : e));
  return { ...plain, present: undefined } as Value;
}

/** A value that is there when `flag` says so. What is no variable is put into one, as uses are told by variables. */
export function withFlag(ctx: Context, v: Value, flag: Local, pos: Pos): Value {
  const need = (e: TExpr): TExpr => {
    const at = e.k === 'local' ? e : ctx.temp(e);
    return at.k === 'local' ? { k: 'local', local: at.local, flag: at.flag ?? flag, pos: at.pos } : at;
  };
  switch (v.kind) {
    case 'scalar':
      return { kind: 'scalar', expr: need(v.expr), present: flag };
    case 'view': {
      const { view } = v;
      const varies = (e: TExpr): TExpr => (e.k === 'local' ? need(e) : e);
      const axes = view.axes.map(({ extent, stride }) => ({ extent: varies(extent), stride: varies(stride) }));
      const checks = view.checks.map((c) => ({ ...c, index: varies(c.index), extent: varies(c.extent) }));
      return {
        kind: 'view',
        view: { ...view, axes, checks, offset: need(view.offset ?? literal(0, pos)) },
        present: flag,
      };
    }
    case 'tuple':
    case 'record':
      return { ...mapScalars(v, need), present: flag } as Value;
    default:
      return fail('K319', pos, `${describeValue(v)} is not there on all paths that lead here`, {
        help: 'only numbers, objects, tuples and arrays can be left undefined; write an if statement around the use',
      });
  }
}

/** A copy in variables of its own that stay as they are. */
export function keepOptional(ctx: Context, v: Value, flag: Local): Value {
  const { pos } = flag;
  const copied = mapScalars(withoutFlag(v), (e) => (isLiteral(e) ? e : ctx.temp(e)));
  const own = ctx.newLocal('%has', pos, true);
  ctx.emit({ k: 'presence', flag: own, is: flag, pos });
  return withFlag(ctx, copied, own, pos);
}

/** The value of a variable. */
export function readVariable(ctx: Context, binding: Binding, pos: Pos): Value {
  const { flag } = binding;
  if (binding.value === undefined) {
    if (flag === undefined || ctx.loops === binding.loops) return binding.empty ?? nothingYet(binding);
    // A loop: what is read may have been assigned further down, a round ago.
    binding.value = ctx.slot(ctx.hints.shapeOf(binding) ?? scalar(literal(0, pos)), binding.name, pos);
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
export function supposedMember(ctx: Context, object: Value, pos: Pos, refuse: () => never): Value {
  if (object.kind !== 'scalar' || object.expr.k !== 'local' || !ctx.supposed.has(object.expr.local)) return refuse();
  const local = ctx.newLocal('%member', pos, false);
  ctx.supposed.set(object.expr.local, refuse);
  ctx.supposed.set(local, undefined);
  return scalar(readLocal(local, pos));
}

function nothingYet({ name, pos }: Binding): Value {
  return { kind: 'host', value: undefined, name, why: { text: `${name} is declared without a value`, pos } };
}

function isAssignedHere(ctx: Context, { assignedIn }: Binding): boolean {
  for (let at: typeof ctx.inBranch | undefined = ctx.inBranch; at !== undefined; at = at.outer)
    if (assignedIn?.has(at) === true) return true;
  return false;
}

/** Notes that a variable has just got a value, or what `value` says there is. */
export function notePresence(ctx: Context, binding: Binding, value: Value, pos: Pos, why?: Absence): void {
  const is = presenceNote(value);
  if (is === 'present') {
    if (binding.flag === undefined) return;
    binding.assignedIn ??= new Set();
    binding.assignedIn.add(ctx.inBranch);
  } else {
    if (binding.flag === undefined) {
      // It had a value all the time, and uses of it did not ask.
      if (binding.value !== undefined) ctx.hints.reconsider(binding, undefined);
      binding.flag = ctx.newLocal('%has', pos, false);
    }
    if (binding.relied === true && ctx.loops > binding.loops) ctx.hints.reconsider(binding, undefined);
    binding.vanishes = true;
  }
  ctx.emit({ k: 'presence', flag: binding.flag, is, pos: why?.pos ?? pos, ...(why && { why: why.text }) });
}

/** What a path through a function returns; undefined for nothing. */
export function noteResult(ctx: Context, frame: Frame, value: Value, pos: Pos, why: string): void {
  if (frame.fn === 'kernel') return;
  frame.flag ??= ctx.newLocal('%has', pos, false);
  if (isOptional(value)) frame.returnedNothing = true;
  if (!isAbsent(value)) {
    const given = withoutFlag(value);
    frame.result ??= ctx.slot(given, `%${frame.fn.name || 'result'}`, pos);
    ctx.store(frame.result, given, `the result of ${frame.fn.name || 'this function'}`, pos);
  }
  ctx.emit({ k: 'presence', flag: frame.flag, is: presenceNote(value), why, pos });
}
