/**
 * Objects whose fields are assigned to: their variables, who refers to them, and variables that hold several by turns.
 *
 * A name for such an object is a name for its variables, which costs nothing and lets every name see every change. A variable that
 * holds one object and then another, as only a thread knows, has fields of its own (a box), into which contents are copied. JavaScript
 * would go on to show changes of the copy through other names for the object: where both are still used, that is refused.
 */
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { fail } from './diagnostics.ts';
import { chosenFunction, isCallable, isSame } from './function-choices.ts';
import { withFlag } from './optionals.ts';
import { fillSlot, makeSlot } from './slots.ts';
import type { StatementWriter } from './statement-writer.ts';
import {
  type Binding,
  type ClassValue,
  describeValue,
  type KernelObject,
  mapScalars,
  type Scope,
  type Value,
} from './values.ts';

type ObjectLike = Extract<Value, { kind: 'record' | 'object' }>;

/** Whether a value is an object, of whatever kind. */
export function isObject(v: Value): v is ObjectLike {
  return v.kind === 'record' || v.kind === 'object';
}

/** The objects with variables in a value. */
function objectsIn(v: Value): KernelObject[] {
  switch (v.kind) {
    case 'object':
      return v.object.choice === undefined
        ? [v.object]
        : [v.object, ...objectsIn(v.object.choice.a), ...objectsIn(v.object.choice.b)];
    case 'tuple':
      return v.items.flatMap(objectsIn);
    case 'record':
      return [...v.fields.values()].flatMap(objectsIn);
    default:
      return [];
  }
}

/** Whether a value has an object in it whose fields are assigned to. */
export function hasObject(v: Value): boolean {
  return objectsIn(v).length > 0;
}

export function newObject(ctx: StatementWriter, name: string, type: ClassValue | undefined, pos: Pos): KernelObject {
  return {
    name,
    pos,
    type,
    fields: new Map(),
    sites: new Set(),
    holders: new Set(),
    loops: ctx.loops,
    madeIn: ctx.inBranch,
    open: false,
    changed: false,
    version: 0,
    twins: new Set(),
  };
}

/** A reference to an object as it is now. */
export function refer(object: KernelObject): Value {
  return { kind: 'object', object, version: object.version };
}

/** One of two objects, decided at run time. Nothing is copied: it is the one or the other. */
export function eitherObject(ctx: StatementWriter, cond: TExpr, a: Value, b: Value, pos: Pos): Value {
  const type = a.kind === 'record' ? a.type : a.kind === 'object' ? a.object.type : undefined;
  return refer({ ...newObject(ctx, 'either object', type, pos), choice: { cond: ctx.hold(cond), a, b } });
}

/** One of two fields. */
export function eitherField(ctx: StatementWriter, cond: TExpr, a: Value, b: Value, pos: Pos): Value {
  const each = (x: Value, y: Value): Value => eitherField(ctx, cond, x, y, pos);
  if (a.kind === 'scalar' && b.kind === 'scalar')
    return { kind: 'scalar', expr: { k: 'select', cond, a: a.expr, b: b.expr, pos } };
  if (a.kind === 'tuple' && b.kind === 'tuple' && a.items.length === b.items.length)
    return { kind: 'tuple', items: a.items.map((x, k) => each(x, b.items[k] ?? x)) };
  if (isSame(a, b)) return a;
  if (isObject(a) && isObject(b)) return eitherObject(ctx, cond, a, b, pos);
  if (isCallable(a) && isCallable(b)) return chosenFunction(cond, a, b, pos);
  return fail('K232', pos, `one of these objects has ${describeValue(a)} here, the other ${describeValue(b)}`, {
    help: 'write an if statement',
  });
}

/** What a variable holds, read anew. */
function current(ctx: StatementWriter, binding: Binding, pos: Pos): Value {
  if (binding.value === undefined) return binding.empty ?? { kind: 'host', value: undefined, name: binding.name };
  const value = mapScalars(binding.value, (e) => (e.k === 'local' ? { ...e, pos, range: undefined } : e));
  return binding.flag === undefined ? value : withFlag(ctx, value, binding.flag, pos);
}

/** The fields of an object and what they hold now. */
export function fieldsOfObject(ctx: StatementWriter, v: ObjectLike, pos: Pos): ReadonlyMap<string, Value> {
  if (v.kind === 'record') return v.fields;
  const { choice, fields } = v.object;
  if (choice === undefined) return new Map([...fields].map(([name, b]) => [name, current(ctx, b, pos)]));
  const { cond, a, b } = choice;
  if (!isObject(a) || !isObject(b)) throw new Error('a choice between no objects');
  const others = fieldsOfObject(ctx, b, pos);
  const both = [...fieldsOfObject(ctx, a, pos)].filter(([name]) => others.has(name));
  return new Map(both.map(([name, x]) => [name, eitherField(ctx, cond, x, others.get(name) ?? x, pos)]));
}

// ---------------------------------------------------------------- who refers to what

/** Notes that a variable refers to the objects in a value. */
export function hold(binding: Binding, v: Value): void {
  for (const object of objectsIn(v)) object.holders.add(binding);
}

/** Whether a name can still be used. Names inside of `leaving` cannot. */
function isAlive(binding: Binding, leaving: Scope | undefined, seen: ReadonlySet<Binding> = new Set()): boolean {
  if (seen.has(binding)) return false;
  if (binding.owner !== undefined)
    return [...binding.owner.holders].some((b) => isAlive(b, leaving, new Set([...seen, binding])));
  for (let at = binding.scope; at !== undefined; at = at.parent) if (at.closed || at === leaving) return false;
  return true;
}

/** A variable other than `but` that refers to an object and can still be used. */
function otherName(object: KernelObject, but: Binding | undefined, leaving?: Scope): Binding | undefined {
  return [...object.holders].find(
    (b) => b !== but && b.value !== undefined && objectsIn(b.value).includes(object) && isAlive(b, leaving),
  );
}

function refuseTwin(what: string, name: string, pos: Pos, at?: Pos): never {
  return fail(
    'K245',
    pos,
    `${what} holds several objects in turn, so it has a copy of this one; ${name} still names the object itself, and would not show changes to the copy`,
    {
      help: `give it an object of its own, { ...${/^[\w$]+$/.test(name) ? name : 'o'} }, or keep an index instead of the object`,
      labels: at === undefined ? [] : [{ pos: at, text: 'copied here' }],
    },
  );
}

/** Before an object is changed: no other may be the same one to JavaScript. */
export function refuseChangeOfTwins(object: KernelObject, pos: Pos): void {
  for (const twin of object.twins) {
    const name = otherName(twin, undefined);
    if (name !== undefined) refuseTwin(object.name, name.name, pos);
  }
}

/** Refuses a reference to what has been replaced since. */
export function refuseReplaced({ object, version }: Extract<Value, { kind: 'object' }>, pos: Pos): void {
  if (object.version === version) return;
  fail('K245', pos, `this names an object that ${object.name} held before it was given another`, {
    help: 'make a copy while it is there: const old = { ...o }',
  });
}

/** The site of objects that were not made in the kernel. */
const OUTSIDE = 'outside';

/** Notes that an object made there is assigned to. */
export function changeAt(ctx: StatementWriter, site: string | undefined, pos: Pos): void {
  if (site !== undefined && site !== OUTSIDE) return ctx.hints.change(site);
  fail('K240', pos, 'this object is captured or an argument of the launch, and stays as it is', {
    help: 'make a copy: const p = { ...o }; results go to arrays',
  });
}

// ---------------------------------------------------------------- variables that hold several objects

function isBox(ctx: StatementWriter, binding: Binding): boolean {
  return binding.boxed === true || ctx.hints.isBox(binding);
}

/** Stores an object in a variable that holds several by turns; false for other variables. */
export function putInBox(ctx: StatementWriter, binding: Binding, given: Value, pos: Pos): boolean {
  if (!isBox(ctx, binding)) {
    // Made anew in each round of a loop, and seen outside of it: the next round must not overwrite what the variable has.
    if (objectsIn(given).some((object) => object.loops > binding.loops)) {
      if (isObject(given)) ctx.hints.box(binding);
      refuseTuple(binding, pos);
    }
    return false;
  }
  if (!isObject(given)) return false;
  // What was read before, in a loop, was taken for a number.
  if (binding.supposed === true && binding.value?.kind === 'scalar') ctx.hints.reconsider(binding, given);
  if (binding.value?.kind !== 'object') binding.value = emptyLike(ctx, binding, given, pos);
  binding.value = moveInto(ctx, binding.value, given, binding, pos);
  return true;
}

/** The variables of a binding that will hold values like this one. */
export function emptyLike(ctx: StatementWriter, binding: Binding, like: Value, pos: Pos): Value {
  if (!isObject(like) || (!isBox(ctx, binding) && !hasObject(like))) return makeSlot(ctx, like, binding.name, pos);
  if (!isBox(ctx, binding)) ctx.hints.box(binding);
  const box = makeBox(ctx, like, binding, pos);
  box.holders.add(binding);
  return refer(box);
}

function refuseTuple(binding: Binding, pos: Pos): never {
  return fail('K245', pos, `${binding.name} holds different tuples of objects in turn, and these are changed`, {
    help: 'use a variable for each object',
  });
}

/** An object with fields like those of another, and no values yet; `slot`: with those of a slot. */
function makeBox(ctx: StatementWriter, like: ObjectLike, binding: Binding, pos: Pos, slot = false): KernelObject {
  const type = like.kind === 'record' ? like.type : like.object.type;
  const box: KernelObject = { ...newObject(ctx, binding.name, type, pos), loops: binding.loops };
  for (const [name, v] of fieldsOfObject(ctx, like, pos)) {
    const base = { name, pos, constant: false, depth: -1, loops: binding.loops, owner: box };
    const field: Binding = { ...base, value: undefined, boxed: true };
    field.value = slot ? v : makeSlot(ctx, v, `${binding.name}.${name}`, pos);
    if (isObject(v)) {
      const inner = makeBox(ctx, v, field, pos, slot);
      inner.holders.add(field);
      field.value = refer(inner);
    }
    box.fields.set(name, field);
  }
  return box;
}

/** Stores what a `return` gives beside others: `result` is what the first of them made. Names inside of `leaving` go. */
export function storeResult(
  ctx: StatementWriter,
  result: Value | undefined,
  given: ObjectLike,
  name: string,
  pos: Pos,
  leaving: Scope | undefined,
): Value {
  const binding: Binding = { name, pos, constant: false, value: undefined, depth: -1, loops: ctx.loops };
  const like = result !== undefined && isObject(result) ? result : given;
  const box =
    like.kind === 'object' && like === result ? like : refer(makeBox(ctx, like, binding, pos, like === result));
  return moveInto(ctx, box, given, binding, pos, leaving);
}

/** Copies the contents of an object into a box. Names inside of `leaving` are about to go. */
function moveInto(
  ctx: StatementWriter,
  box: Value,
  given: ObjectLike,
  binding: Binding,
  pos: Pos,
  leaving?: Scope,
): Value {
  if (box.kind !== 'object' || (given.kind === 'object' && given.object === box.object)) return box;
  const to = slotsOf(box.object);
  const from = contentsOf(ctx, given, pos);
  replace(ctx, box.object, given, binding, pos, leaving);
  fillSlot(ctx, to, from, { ...binding, value: to, depth: -1 }, pos);
  return refer(box.object);
}

function replace(
  ctx: StatementWriter,
  box: KernelObject,
  given: ObjectLike,
  binding: Binding | undefined,
  pos: Pos,
  leaving: Scope | undefined,
): void {
  for (const name of box.holders) {
    if (name === binding || name.loops >= ctx.loops || !isAlive(name, leaving)) continue;
    if (name.value !== undefined && objectsIn(name.value).includes(box)) refuseTwin(box.name, name.name, pos);
  }
  box.version++;
  noteSource(ctx, box, given, pos, leaving);
  const values = fieldsOfObject(ctx, given, pos);
  for (const [name, field] of box.fields) {
    const value = values.get(name);
    if (field.value?.kind === 'object' && value !== undefined && isObject(value)) {
      replace(ctx, field.value.object, value, field, pos, leaving);
      field.value = refer(field.value.object);
    }
  }
}

/** What is put into a box, and who still names it. */
function noteSource(ctx: StatementWriter, box: KernelObject, given: Value, pos: Pos, leaving: Scope | undefined): void {
  if (given.kind === 'record') {
    // An element of an array that a variable picks is any of them.
    for (const one of given.among ?? [given]) {
      const site = (one.kind === 'record' ? one.site : undefined) ?? OUTSIDE;
      box.sites.add(site);
      if (box.changed) changeAt(ctx, site, pos);
    }
    return;
  }
  if (given.kind !== 'object') return;
  const { object } = given;
  if (object.choice !== undefined) {
    noteSource(ctx, box, object.choice.a, pos, leaving);
    return noteSource(ctx, box, object.choice.b, pos, leaving);
  }
  const name = otherName(object, undefined, leaving);
  if (name === undefined) return;
  // One that is made anew in this round is gone in the next.
  if (object.loops !== ctx.loops) refuseTwin(box.name, name.name, pos);
  object.twins.add(box);
  box.twins.add(object);
}

/**
 * What a function returns by its contents: objects in it become values, which others are made of. `named` is told of an object that a name
 * outside of `leaving` still stands for, which would be another one then.
 */
export function contentsLeaving(
  ctx: StatementWriter,
  v: Value,
  leaving: Scope | undefined,
  named: (name: string) => never,
  pos: Pos,
): Value {
  const each = (x: Value): Value => contentsLeaving(ctx, x, leaving, named, pos);
  if (v.kind === 'tuple') return { ...v, items: v.items.map(each) };
  if (!isObject(v)) return v;
  if (v.kind === 'object') {
    const { choice } = v.object;
    if (choice !== undefined) for (const one of [choice.a, choice.b]) each(one);
    const all = choice === undefined ? [v.object, ...v.object.twins] : [];
    for (const object of all) {
      const name = otherName(object, undefined, leaving);
      if (name !== undefined) named(name.name);
    }
  }
  const type = v.kind === 'record' ? v.type : v.object.type;
  const fields = new Map([...fieldsOfObject(ctx, v, pos)].map(([name, x]) => [name, each(x)]));
  return { kind: 'record', fields, type };
}

/** The places where the objects in a value were made that have no variables. */
export function sitesIn(v: Value): readonly string[] {
  if (v.kind === 'tuple') return v.items.flatMap(sitesIn);
  if (v.kind !== 'record') return [];
  return [v.site ?? OUTSIDE, ...[...v.fields.values()].flatMap(sitesIn)];
}

/** The variables of a box, as a slot. */
function slotsOf(box: KernelObject): Value {
  const slot = (v: Value | undefined): Value => (v?.kind === 'object' ? slotsOf(v.object) : (v as Value));
  return { kind: 'record', fields: new Map([...box.fields].map(([name, b]) => [name, slot(b.value)])) };
}

function contentsOf(ctx: StatementWriter, v: ObjectLike, pos: Pos): Value {
  const each = (x: Value): Value => (isObject(x) ? contentsOf(ctx, x, pos) : x);
  return { kind: 'record', fields: new Map([...fieldsOfObject(ctx, v, pos)].map(([name, x]) => [name, each(x)])) };
}
