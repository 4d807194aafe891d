/**
 * Objects that live in the kernel: literals, fields, assignment to fields. Classes are in `classes.ts`, the variables of objects that
 * are assigned to in `object-slots.ts`.
 *
 * An object that nobody assigns to is its values: it may be copied, chosen and put in variables freely, and its literals stay
 * constants. Where it turns out that a field of it is assigned to, evaluation starts again, and the object made there has a variable a
 * field from then on.
 */
import type { AnyNode, AssignmentExpression, ObjectExpression } from 'acorn';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { refuseUndefined } from './absence.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldName } from './field-names.ts';
import {
  changeAt,
  fieldsOfObject,
  isObject,
  newObject,
  refer,
  refuseChangeOfTwins,
  refuseReplaced,
} from './object-slots.ts';
import { withFlag } from './optionals.ts';
import { readVariable } from './partial-variables.ts';
import { isRecord } from './record-fields.ts';
import { snapshot } from './records.ts';
import { didYouMean } from './suggest.ts';
import {
  type Absence,
  type Binding,
  type ClassValue,
  describeValue,
  type FunctionValue,
  isLiteral,
  type KernelObject,
  type Scope,
  scalar,
  UNDEFINED,
  type Value,
} from './values.ts';

type ObjectLike = Extract<Value, { kind: 'record' | 'object' }>;

/** A new object of these fields. */
export function makeObject(
  ctx: Evaluation,
  fields: ReadonlyMap<string, Value>,
  type: ClassValue | undefined,
  pos: Pos,
): Value {
  const site = ctx.hints.site(pos);
  if (!ctx.hints.isChanged(site)) return { kind: 'record', fields, site, type, identity: { from: 'kernel' } };
  const object = newObject(ctx, 'this object', type, pos);
  for (const [name, value] of fields) defineField(ctx, object, name, value, false, pos);
  return refer(object);
}

/** Makes a field. `constant`: it keeps its first value, so that literals stay literals. */
export function defineField(
  ctx: Evaluation,
  object: KernelObject,
  name: string,
  value: Value,
  constant: boolean,
  pos: Pos,
): void {
  const { depth, loops } = ctx;
  const field: Binding = { name, pos, constant, value: undefined, depth, loops, owner: object };
  if (!constant && (ctx.hints.vanishes(field) || ctx.inBranch !== object.madeIn)) {
    field.flag = ctx.newLocal('%has', pos, false);
    field.vanishes = true;
    const why = `the field ${name} gets a value on some paths only`;
    object.prologue?.push({ k: 'presence', flag: field.flag, is: 'undefined', why, pos });
  }
  object.fields.set(name, field);
  ctx.initialise(field, value, pos);
}

/** The object literal `{ a, b: 1, ...c, f() {…}, get g() {…} }`. */
export function objectLiteral(ctx: Evaluation, node: ObjectExpression, scope: Scope): Value {
  const pos = ctx.pos(node, scope);
  const parts = node.properties.filter((p) => p.type === 'SpreadElement' || p.kind === 'init');
  const names: string[] = [];
  const values = ctx.sequence(
    parts.map((p, k) => () => {
      if (p.type === 'SpreadElement') return spread(ctx, ctx.parts.evaluate(ctx, p.argument, scope), ctx.pos(p, scope));
      names[k] = p.computed ? computedName(ctx, p.key, scope) : fieldName(p.key);
      return ctx.parts.evaluate(ctx, p.value, scope);
    }),
  );
  const fields = new Map<string, Value>();
  parts.forEach((p, k) => {
    const value = values[k];
    if (value === undefined) return;
    if (p.type !== 'SpreadElement') fields.set(names[k] ?? '', value);
    else if (value.kind === 'record') for (const [name, field] of value.fields) fields.set(name, field);
  });
  if (parts.length === node.properties.length) return makeObject(ctx, fields, undefined, pos);
  const type = accessorsOf(node, scope, (p) => {
    const k = parts.indexOf(p);
    const value = values[k];
    return value?.kind === 'record' && p.type === 'SpreadElement' ? [...value.fields.keys()] : [names[k] ?? ''];
  });
  for (const name of [...type.getters.keys(), ...type.setters.keys()]) fields.delete(name);
  return makeObject(ctx, fields, type, pos);
}

function computedName(ctx: Evaluation, key: AnyNode, scope: Scope): string {
  const v = ctx.parts.evaluate(ctx, key, scope);
  if (v.kind === 'host' && typeof v.value === 'string') return v.value;
  if (v.kind === 'scalar' && isLiteral(v.expr)) return String(v.expr.value);
  return fail('K101', ctx.pos(key, scope), 'the name of a field must be known at compile time', {
    help: 'give each field a name of its own, or use cuda.local.array(shape, dtype)',
  });
}

type LiteralPart = ObjectExpression['properties'][number];

/** Accessors of an object literal, as the class that they would be of. Of one name the last holds, which may be a plain property's: `namesOf` those of. */
function accessorsOf(
  node: ObjectExpression,
  scope: Scope,
  namesOf: (part: LiteralPart) => readonly string[],
): ClassValue {
  const getters = new Map<string, FunctionValue>();
  const setters = new Map<string, FunctionValue>();
  const own = new Set<string>();
  for (const p of node.properties) {
    if (p.type === 'SpreadElement' || p.kind === 'init' || p.value.type !== 'FunctionExpression') {
      for (const name of namesOf(p)) {
        own.add(name);
        getters.delete(name);
        setters.delete(name);
      }
      continue;
    }
    const name = fieldName(p.key);
    own.add(name);
    const fn: FunctionValue = { name, node: p.value, captured: scope.captured, scope };
    (p.kind === 'get' ? getters : setters).set(name, fn);
  }
  const none = new Map<string, never>();
  const { captured } = scope;
  return {
    name: '',
    captured,
    scope,
    construct: undefined,
    methods: none,
    getters,
    setters,
    initialisers: [],
    statics: none,
    own: [...own],
  };
}

/** What `...v` puts into an object: the fields as they are now. */
export function spread(ctx: Evaluation, v: Value, pos: Pos): Extract<Value, { kind: 'record' }> {
  if (isRecord(v)) return snapshot(ctx, v.view, pos);
  if (v.kind === 'complex') {
    const { re, im } = v;
    return { kind: 'record', fields: new Map([re, im].map((e, k) => [k === 0 ? 're' : 'im', scalar(ctx.hold(e))])) };
  }
  const object = ctx.parts.asObject(ctx, v, pos);
  if (isObject(object)) {
    return { kind: 'record', fields: ownProperties(ctx, object, pos) };
  }
  return fail('K222', pos, `only an object can be spread here, not ${describeValue(v)}`);
}

/** The fields of an object as they are now. */
export function fieldsOf(ctx: Evaluation, v: ObjectLike, pos: Pos): ReadonlyMap<string, Value> {
  if (v.kind === 'object') refuseReplaced(v, pos);
  return fieldsOfObject(ctx, v, pos);
}

/** What an object has of its own, as it is now: fields, and what the accessors of a literal give. */
export function ownProperties(ctx: Evaluation, v: ObjectLike, pos: Pos): ReadonlyMap<string, Value> {
  const fields = [...fieldsOf(ctx, v, pos)].filter(([name]) => !name.startsWith('#'));
  const type = v.kind === 'record' ? v.type : v.object.type;
  if (type?.own === undefined) return new Map(fields);
  const known = new Map(fields);
  const read = (name: string): Value => {
    const getter = type.getters.get(name);
    return known.get(name) ?? (getter === undefined ? UNDEFINED : ctx.parts.call(ctx, getter, [], pos, v));
  };
  return new Map([...type.own, ...known.keys()].map((name) => [name, read(name)]));
}

/** An object as its values now; other values as they are. */
export function settled(ctx: Evaluation, v: Value, pos: Pos): Value {
  if (v.kind !== 'object') return v;
  const fields = [...fieldsOf(ctx, v, pos)].map(([name, x]): [string, Value] => [name, settled(ctx, x, pos)]);
  return { kind: 'record', fields: new Map(fields), type: v.object.type };
}

/** `o.name`. */
export function readField(ctx: Evaluation, v: ObjectLike, name: string, pos: Pos): Value {
  if (v.kind === 'object') {
    refuseReplaced(v, pos);
    const { choice } = v.object;
    if (choice !== undefined) {
      const side = (x: Value) => (): Value => readField(ctx, x as ObjectLike, name, pos);
      return ctx.choose(choice.cond, side(choice.a), side(choice.b), pos);
    }
  }
  const type = v.kind === 'record' ? v.type : v.object.type;
  const known = v.kind === 'record' ? v.fields.get(name) : boundField(ctx, v, name, pos);
  if (known !== undefined) return known;
  const getter = type?.getters.get(name);
  if (getter !== undefined) return ctx.parts.call(ctx, getter, [], pos, v);
  const method = type?.methods.get(name);
  if (method !== undefined) return { kind: 'function', fn: method };
  return { kind: 'host', value: undefined, name, why: missing(v, name, pos) };
}

function boundField(ctx: Evaluation, v: Extract<Value, { kind: 'object' }>, name: string, pos: Pos): Value | undefined {
  const field = v.object.fields.get(name);
  if (field === undefined) return undefined;
  const value = readVariable(ctx, field, pos);
  return v.present === undefined ? value : withFlag(ctx, value, v.present, pos);
}

function noField(v: ObjectLike, name: string, pos: Pos): never {
  return refuseUndefined(name, pos, missing(v, name, pos));
}

/** A field that there is none of: undefined to who asks, an error to who uses it. */
function missing(v: ObjectLike, name: string, pos: Pos): Absence {
  const type = v.kind === 'record' ? v.type : v.object.type;
  const names = [...(v.kind === 'record' ? v.fields : v.object.fields).keys()];
  const all = [...names, ...(type?.methods.keys() ?? []), ...(type?.getters.keys() ?? [])];
  const place = type?.name ? `objects of class ${type.name}` : `{ ${names.join(', ')} }`;
  return { text: `there is no field ${name} in ${place}`, pos, error: { code: 'K312', help: didYouMean(name, all) } };
}

/** Whether `o.name = x` is a matter of objects, and not of memory. */
export function hasFields(v: Value): boolean {
  return isObject(v) || v.kind === 'class' || v.kind === 'function' || (v.kind === 'host' && v.value !== undefined);
}

/** `o.name = value`. */
export function assignField(ctx: Evaluation, v: Value, name: string, value: Value, pos: Pos): void {
  if (!isObject(v)) {
    return fail('K240', pos, `cannot store to ${name} of ${describeValue(v)}`, {
      help: 'captured values are read at the first launch and do not change: use a variable of the kernel, or pass an array',
    });
  }
  if (v.kind === 'object') {
    refuseReplaced(v, pos);
    if (v.object.choice !== undefined) return assignChoice(ctx, v.object.choice, name, value, pos);
  }
  const type = v.kind === 'record' ? v.type : v.object.type;
  const setter = type?.setters.get(name);
  if (setter !== undefined) return void ctx.parts.call(ctx, setter, [value], pos, v);
  if (v.kind === 'object') return assignBound(ctx, v, name, value, pos);
  if (!v.fields.has(name)) noField(v, name, pos);
  for (const one of v.among ?? [v]) if (one.kind === 'record') changeAt(ctx, one.site, pos);
}

function assignBound(
  ctx: Evaluation,
  v: Extract<Value, { kind: 'object' }>,
  name: string,
  value: Value,
  pos: Pos,
): void {
  const { object } = v;
  const site = ctx.hints.site(object.pos);
  const field = object.fields.get(name);
  if (field === undefined) {
    if (!object.open) noField(v, name, pos);
    // What a branch of a constructor leaves out is undefined.
    if (ctx.inBranch !== object.madeIn) ctx.hints.change(site);
    return defineField(ctx, object, name, value, !ctx.hints.isChanged(site), pos);
  }
  refuseChangeOfTwins(object, pos);
  object.changed = true;
  for (const from of object.sites) changeAt(ctx, from, pos);
  if (field.constant) return ctx.hints.change(site);
  // Through a name that may have no object.
  if (v.present !== undefined) need(ctx, boundField(ctx, v, name, pos));
  ctx.assign(field, value, pos);
}

function need(ctx: Evaluation, v: Value | undefined): void {
  if (v?.kind === 'scalar') ctx.temp(v.expr);
  else if (v?.kind === 'tuple') for (const item of v.items) need(ctx, item);
  else if (v?.kind === 'record') for (const item of v.fields.values()) need(ctx, item);
}

function assignChoice(
  ctx: Evaluation,
  { cond, a, b }: { readonly cond: TExpr; readonly a: Value; readonly b: Value },
  name: string,
  value: Value,
  pos: Pos,
): void {
  const held = ctx.holdValue(value);
  const arm = (v: Value) => ctx.branch(() => assignField(ctx, v, name, held, pos));
  ctx.emit({ k: 'if', cond, then: arm(a), else: arm(b), pos });
}

/** `o.name = value`, `o.name += value`; gives what was stored. `combine` makes it of what there was and the right side. */
export function storeField(
  ctx: Evaluation,
  object: Value,
  name: string,
  node: AssignmentExpression,
  scope: Scope,
  pos: Pos,
  combine: ((old: Value, right: Value) => Value) | undefined,
): Value {
  const right = (): Value => ctx.parts.evaluate(ctx, node.right, scope);
  if (combine === undefined || !isObject(object)) {
    const value = right();
    // The value of the assignment is that of its right side, whatever becomes of the field.
    const held = value.kind === 'view' || isObject(value) ? value : ctx.holdValue(value);
    assignField(ctx, object, name, held, pos);
    return held;
  }
  const [old, by] = ctx.sequence([() => readField(ctx, object, name, pos), right]);
  const value = ctx.holdValue(combine(old, by));
  assignField(ctx, object, name, value, pos);
  return value;
}
