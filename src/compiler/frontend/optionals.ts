/**
 * Values that may be undefined or null: tests for that, and copies that keep the question open.
 *
 * Such a value consists of variables and a flag. Every read of its variables names the flag, which says that a value is needed
 * there (`presence.ts` refuses it where there may be none); who merely asks or copies takes the flag off.
 */
import type { Pos } from '../source.ts';
import type { Absent, Local, TExpr } from '../types/tree.ts';
import { refuseElement } from './absence.ts';
import { fail } from './diagnostics.ts';
import type { StatementWriter } from './statement-writer.ts';
import {
  type Absence,
  type Binding,
  describeValue,
  isAbsent,
  isLiteral,
  literal,
  mapScalars,
  readLocal,
  type Value,
} from './values.ts';

/** What a program asks: whether a value is absent. */
export function askAbsent(v: Value, as: Absent | 'either', pos: Pos): TExpr {
  if (v.kind === 'scalar' && v.expr.k === 'load') return refuseElement(v.expr.pos);
  if (v.kind === 'complex' && v.re.k === 'load') return refuseElement(v.re.pos);
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
export function withFlag(ctx: StatementWriter, v: Value, flag: Local, pos: Pos): Value {
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
        view: {
          ...view,
          which: view.which && varies(view.which),
          axes,
          checks,
          offset: need(view.offset ?? literal(0, pos)),
        },
        present: flag,
      };
    }
    case 'complex':
    case 'vector':
    case 'tuple':
    case 'record':
      return { ...mapScalars(v, need), present: flag } as Value;
    case 'object':
      return { ...v, present: flag };
    default:
      return fail('K319', pos, `${describeValue(v)} does not exist on all paths that lead here`, {
        help: 'only numbers, objects, tuples and arrays can be left undefined; write an if statement around the use',
      });
  }
}

/** A copy in variables of its own that stay as they are. */
export function keepOptional(ctx: StatementWriter, v: Value, flag: Local): Value {
  const { pos } = flag;
  const copied = mapScalars(withoutFlag(v), (e) => (isLiteral(e) ? e : ctx.temp(e)));
  const own = ctx.newLocal('%has', pos, true);
  ctx.emit({ k: 'presence', flag: own, is: flag, pos });
  return withFlag(ctx, copied, own, pos);
}

/** Notes that a variable has just got a value, or what `value` says there is. */
export function notePresence(ctx: StatementWriter, binding: Binding, value: Value, pos: Pos, why?: Absence): void {
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
