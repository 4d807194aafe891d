/**
 * Slots: the variables that hold a value of some structure, a scalar each, and how a value is stored in them.
 */
import { LANES } from '../../dtype/index.ts';
import type { Pos } from '../source.ts';
import type { Local, TExpr, TStmt } from '../types/tree.ts';
import { areAlike, commonForm, freshChoice, holdView, inForm, refuseUnlike, whichOf } from './array-choices.ts';
import { complex, toComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import { isCallable, isSame } from './function-choices.ts';
import { flagOf, presenceNote, withFlag, withoutFlag } from './optionals.ts';
import { isNameable, nameFor } from './regions.ts';
import type { StatementWriter } from './statement-writer.ts';
import {
  type Axis,
  type Binding,
  type ClassValue,
  describeValue,
  isAbsent,
  isLiteral,
  literal,
  readLocal,
  scalar,
  UNDEFINED,
  type Value,
  type View,
} from './values.ts';

/** A value of the same structure whose scalars are fresh variables. */
export function makeSlot(ctx: StatementWriter, like: Value, name: string, pos: Pos): Value {
  const own = ofStructure(ctx, withoutFlag(like), name, pos);
  const optional = 'present' in like && like.present !== undefined;
  return optional ? withFlag(ctx, own, ctx.newLocal('%has', pos, false), pos) : own;
}

function ofStructure(ctx: StatementWriter, like: Value, name: string, pos: Pos): Value {
  switch (like.kind) {
    case 'scalar':
      return scalar(readLocal(ctx.newLocal(name, pos, false), pos));
    case 'complex': {
      const part = (of: string): TExpr => readLocal(ctx.newLocal(`${name}.${of}`, pos, false), pos);
      return complex(part('re'), part('im'));
    }
    case 'vector': {
      const lanes = like.lanes.map((_, k) => readLocal(ctx.newLocal(`${name}.${LANES[k]}`, pos, false), pos));
      return { kind: 'vector', type: like.type, lanes };
    }
    case 'tuple': {
      const place = `${name} ${ctx.hints.site(pos)}`;
      if (ctx.hints.holdsMemory(place)) ctx.hints.storeTo(like.site);
      // Of several arrays by turns: none of them stands for it.
      return {
        ...like,
        site: undefined,
        columns: undefined,
        identity: undefined,
        place,
        items: like.items.map((v, k) => makeSlot(ctx, v, `${name}.${k}`, pos)),
      };
    }
    case 'record':
      return {
        kind: 'record',
        fields: new Map([...like.fields].map(([k, v]) => [k, makeSlot(ctx, v, `${name}.${k}`, pos)])),
        site: like.site,
        type: like.type,
      };
    case 'view': {
      const local = (part: string): TExpr => readLocal(ctx.newLocal(`%${name}.${part}`, pos, false), pos);
      // What the variable will hold further down may be of a wider form.
      const key = `${name} ${like.view.axes.length} ${ctx.hints.site(pos)}`;
      const wider = ctx.hints.formAt(key);
      const form =
        wider !== undefined && areAlike(wider, like.view) ? commonForm(wider, like.view, name, pos) : like.view;
      // A variable that is assigned again, as in `rest = rest.slice('1:')`, may have other extents and strides then.
      const leaf = (e: TExpr, part: string): TExpr => (isLiteral(e) ? e : local(part));
      const axes: Axis[] = form.axes.map((a, k) => ({
        extent: leaf(a.extent, `extent${k}`),
        stride: leaf(a.stride, `stride${k}`),
      }));
      const checks = form.checks.map((c, k) => ({
        index: local(`index${k}`),
        // The bounds of indices that have been given stay what they are: a check against a value of each thread's own costs more.
        extent: isGiven(c.extent) ? c.extent : local(`bound${k}`),
        axis: c.axis,
      }));
      const offset = form.offset && readLocal(ctx.newLocal(`%${name}.offset`, pos, false), pos);
      const root = freshChoice(form.root, name, pos);
      const which = form.which && local('which');
      const view: View = { ...form, root, which, axes, checks, offset, place: { key, like: form } };
      if (!isNameable(view)) return { kind: 'view', view };
      return { kind: 'view', view: { ...view, via: { name: nameFor(view, name, false, pos), at: 0 } } };
    }
    default:
      return like;
  }
}

function fieldsIn(v: Value): ReadonlyMap<string, Value> {
  if (v.kind === 'record') return v.fields;
  const fields = v.kind === 'object' ? [...v.object.fields] : [];
  return new Map(fields.map(([name, { value, empty }]) => [name, value ?? empty ?? UNDEFINED]));
}

function hasFunction(v: Value): boolean {
  return (
    isCallable(v) || (v.kind === 'tuple' && v.items.some(hasFunction)) || [...fieldsIn(v).values()].some(hasFunction)
  );
}

/** What a variable holds and what it would be given, in words that differ. */
function change(from: Value, to: Value): string {
  const [has, gets] = [describeValue(from), describeValue(to)];
  if (has === gets) {
    const others = fieldsIn(to);
    for (const [name, field] of fieldsIn(from)) {
      const [a, b] = [describeValue(field), describeValue(others.get(name) ?? field)];
      if (a !== b) return `holds ${has} whose ${name} is ${a}, and cannot become one whose ${name} is ${b}`;
    }
  }
  const functions = hasFunction(from) && hasFunction(to);
  const other = functions ? 'one like it with other functions' : 'another one like it';
  return `holds ${has} and cannot become ${has === gets ? other : gets}`;
}

/** Stores `value` in the variables of a slot made by `slot`. */
export function fillSlot(ctx: StatementWriter, slot: Value, value: Value, binding: Binding, pos: Pos): void {
  let rebinds = false;
  const holdsObjects = (): boolean => involvesObjects(slot) || involvesObjects(value);
  const conflict = (from = value): never => {
    // What was read in a loop before it was assigned was taken for a number.
    if (
      binding.supposed === true &&
      slot.kind === 'scalar' &&
      /^(?:record|tuple|object|complex|vector|view)$/.test(from.kind)
    )
      ctx.hints.reconsider(binding, from);
    const kinds = [slot, value].every((v) => v.kind === 'record' || v.kind === 'object');
    if (kinds && (binding.scope ?? binding.owner) !== undefined && !ctx.hints.isBox(binding) && holdsObjects())
      ctx.hints.box(binding);
    return fail('K231', pos, `${binding.name} ${change(slot, value)}`, {
      help:
        from.kind === 'vector'
          ? `start it as a vector: ${from.type.name}(0)`
          : hasFunction(slot) && hasFunction(from)
            ? 'choose where it is needed, c ? f : g, or index an array of functions'
            : 'a variable keeps one kind of value; use another name, or index one array instead of choosing between several',
    });
  };
  const moves: { local: Local; value: TExpr }[] = [];
  const names: TStmt[] = [];
  const notes: (() => void)[] = [];
  const plan = (to: Value, given: Value): void => {
    const flag = flagOf(to);
    if (flag !== undefined) {
      const why = isAbsent(given) ? given.why : undefined;
      notes.push(() =>
        ctx.emit({
          k: 'presence',
          flag,
          is: presenceNote(given),
          pos: why?.pos ?? pos,
          ...(why && { why: why.text }),
        }),
      );
      if (isAbsent(given)) return;
    }
    const from = flag === undefined ? given : withoutFlag(given);
    // One of them is memory: so has the other to be.
    if (to.kind === 'tuple' && from.kind === 'view') ctx.hints.holdMemory(to.place);
    if (to.kind === 'view' && from.kind === 'tuple') ctx.hints.beMemory(from);
    if (to.kind === 'scalar' && from.kind === 'scalar') {
      if (to.expr.k === 'local') moves.push({ local: to.expr.local, value: from.expr });
      else conflict();
    } else if (to.kind === 'complex' && toComplex(from) !== undefined) {
      const { re, im } = toComplex(from) ?? to;
      plan(scalar(to.re), scalar(re));
      plan(scalar(to.im), scalar(im));
    } else if (to.kind === 'record' && from.kind === 'complex') {
      plan(to, {
        kind: 'record',
        fields: new Map([
          ['re', scalar(from.re)],
          ['im', scalar(from.im)],
        ]),
      });
    } else if (to.kind === 'scalar' && from.kind === 'complex' && ctx.depth > binding.depth) {
      ctx.hints.becomesComplex(binding);
    } else if (to.kind === 'vector' && from.kind === 'vector' && to.type === from.type) {
      to.lanes.forEach((lane, k) => {
        plan(scalar(lane), scalar(from.lanes[k] ?? lane));
      });
    } else if (to.kind === 'tuple' && from.kind === 'tuple' && to.items.length === from.items.length) {
      to.items.forEach((t, k) => {
        const f = from.items[k];
        if (f !== undefined) plan(t, f);
      });
    } else if (to.kind === 'record' && from.kind === 'record' && sameForm(to, from)) {
      for (const [k, t] of to.fields) {
        const f = from.fields.get(k);
        if (f === undefined) conflict();
        else plan(t, f);
      }
    } else if (to.kind === 'view' && from.kind === 'view') {
      planView(to.view, from.view);
    } else if ((to === from && to.kind === 'functions') || isSame(to, from)) {
      return;
    } else if (to.kind === 'object' && from.kind === 'object' && to.object === from.object) {
      return;
    } else if (ctx.inBranch === binding.boundIn) {
      rebinds = true;
    } else conflict(from);
  };
  const planView = (to: View, given: View): void => {
    // In one stretch of the program the name simply stands for another array from here on.
    const again = ctx.inBranch === binding.boundIn && binding.value === slot;
    const widen = (): never => {
      if (to.place === undefined) throw new Error(`${to.name} is no variable`);
      const { key, like } = to.place;
      return ctx.hints.widen(key, commonForm(like, given, binding.name, pos));
    };
    const from = areAlike(to, given) ? inForm(given, to, pos) : undefined;
    if (from === undefined) {
      if (again) rebinds = true;
      else if (areAlike(to, given)) widen();
      else refuseUnlike(to, given, pos);
      return;
    }
    const leaf = (t: TExpr, f: TExpr): void => {
      if (t.k === 'local') moves.push({ local: t.local, value: f });
      else if (!isSameGiven(t, f)) widen();
    };
    holdView(ctx.hints, to.root, given, binding, pos);
    if (to.which !== undefined) leaf(to.which, whichOf(given, pos));
    to.axes.forEach((a, k) => {
      leaf(a.extent, from.axes[k]?.extent ?? a.extent);
      leaf(a.stride, from.axes[k]?.stride ?? a.stride);
    });
    to.checks.forEach((c, k) => {
      leaf(c.index, from.checks[k]?.index ?? c.index);
      leaf(c.extent, from.checks[k]?.extent ?? c.extent);
    });
    if (to.offset !== undefined) leaf(to.offset, from.offset ?? literal(0, pos));
    if (to.via?.name !== undefined) names.push({ k: 'name', names: to.via.name, of: from.via, pos });
  };
  plan(slot, value);
  if (rebinds) {
    binding.value = makeSlot(ctx, value, binding.name, pos);
    return fillSlot(ctx, binding.value, value, binding, pos);
  }
  // All are read before any is written: [a, b] = [b, a].
  const held = moves.length > 1 ? moves.map((m) => ({ local: m.local, value: ctx.hold(m.value) })) : moves;
  for (const m of held) ctx.emit({ k: 'assign', local: m.local, value: m.value, pos });
  for (const s of names) ctx.emit(s);
  for (const note of notes) note();
}

/** Whether two objects have the same number of fields and the same methods. */
function sameForm(a: Extract<Value, { kind: 'record' }>, b: Extract<Value, { kind: 'record' }>): boolean {
  const [x, y] = [a.type, b.type];
  return a.fields.size === b.fields.size && (x === undefined || y === undefined || isSameClass(x, y));
}

/** Of an evaluation that was given up there may be another object for a class. What a function makes at each call is another class. */
function isSameClass(x: ClassValue, y: ClassValue): boolean {
  if (x === y) return true;
  if (x.evaluation !== undefined && x.evaluation === y.evaluation) return false;
  const methods = [...x.methods].every(([name, { node }]) => y.methods.get(name)?.node === node);
  return x.name === y.name && x.captured.fn === y.captured.fn && methods && x.methods.size === y.methods.size;
}

/** Whether there is an object in a value whose fields are assigned to. */
function involvesObjects(v: Value): boolean {
  if (v.kind === 'tuple') return v.items.some(involvesObjects);
  return v.kind === 'object' || (v.kind === 'record' && [...v.fields.values()].some(involvesObjects));
}

/** The same for the whole launch: a constant, or what the launch says of an array. */
function isGiven(e: TExpr): boolean {
  return isLiteral(e) || e.k === 'extent' || e.k === 'stride';
}

function isSameGiven(a: TExpr, b: TExpr): boolean {
  if (a.k === 'lit' && b.k === 'lit') return a.value === b.value;
  if (a.k === 'extent' && b.k === 'extent') return a.root === b.root && a.axis === b.axis;
  return a.k === 'stride' && b.k === 'stride' && a.root === b.root && a.axis === b.axis && a.unit === b.unit;
}
