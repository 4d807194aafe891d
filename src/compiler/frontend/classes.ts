/**
 * Classes: those of the kernel and captured ones, `new`, and functions that are used as constructors.
 *
 * A class without `extends` is functions that share a `this`: methods, getters and setters are inlined like other device functions.
 */
import type { AnyNode, NewExpression } from 'acorn';
import { isDType } from '../../dtype/index.ts';
import { hostOnlyOf, intrinsicName } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import { newArray } from './array-makers.ts';
import type { FunctionNode } from './captured.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldName } from './field-names.ts';
import { fromHost } from './members.ts';
import { newObject, refer } from './object-slots.ts';
import { defineField } from './objects.ts';
import { isNativeText } from './parse.ts';
import {
  type ClassValue,
  describeValue,
  type FunctionValue,
  type KernelObject,
  Scope,
  UNDEFINED,
  type Value,
} from './values.ts';

type ClassNode = Extract<AnyNode, { type: 'ClassDeclaration' | 'ClassExpression' }>;

type AnyFunction = (...args: never[]) => unknown;

/** Objects in objects of the host that are taken apart: some refer to themselves. */
const MOST_DEPTH = 8;

/** The value of a class of the kernel; `host` for one that was captured. */
export function evaluateClass(ctx: Evaluation, node: ClassNode, outer: Scope, host?: AnyFunction): ClassValue {
  const pos = ctx.pos(node, outer);
  const { captured } = outer;
  if (node.superClass != null) {
    fail('K101', ctx.pos(node.superClass, outer), 'a class with `extends` cannot be used in a kernel', {
      help: 'keep an object of the other class in a field, or write the methods out',
    });
  }
  const name = host?.name ?? node.id?.name ?? '';
  const scope = new Scope(outer, captured, false);
  const methods = new Map<string, FunctionValue>();
  const getters = new Map<string, FunctionValue>();
  const setters = new Map<string, FunctionValue>();
  const statics = new Map<string, Value>();
  const initialisers: { name: string; node: AnyNode; value: AnyNode | undefined }[] = [];
  let construct: FunctionValue | undefined;
  const type: ClassValue = {
    name,
    captured,
    scope,
    evaluation: ctx,
    get construct() {
      return construct;
    },
    methods,
    getters,
    setters,
    initialisers,
    statics,
  };
  if (node.id != null) {
    const self: Value = host === undefined ? { kind: 'class', type } : { kind: 'host', value: host, name };
    ctx.declare(scope, node.id.name, pos, true).value = self;
  }
  for (const member of node.body.body) {
    if (member.type === 'StaticBlock') {
      if (host === undefined && !isNaming(member.body)) {
        fail('K101', ctx.pos(member, outer), 'a static block cannot be used in a kernel');
      }
      continue;
    }
    if (member.computed) fail('K101', ctx.pos(member, outer), 'members of a class in a kernel have plain names');
    const key = fieldName(member.key);
    if (member.type === 'PropertyDefinition') {
      if (!member.static) initialisers.push({ name: key, node: member, value: member.value ?? undefined });
      else if (host === undefined)
        statics.set(
          key,
          member.value == null ? UNDEFINED : ctx.holdValue(ctx.parts.evaluate(ctx, member.value, scope)),
        );
      continue;
    }
    const fn: FunctionValue = { name: key, node: member.value as FunctionNode, captured, scope };
    if (member.kind === 'constructor') construct = { ...fn, name };
    else if (member.static) statics.set(key, { kind: 'function', fn });
    else (member.kind === 'get' ? getters : member.kind === 'set' ? setters : methods).set(key, fn);
  }
  return type;
}

/** `__name(this, "V3")`, by which esbuild keeps the name of a class. */
function isNaming(body: readonly AnyNode[]): boolean {
  return body.every(
    (s) =>
      s.type === 'ExpressionStatement' &&
      s.expression.type === 'CallExpression' &&
      s.expression.arguments[0]?.type === 'ThisExpression' &&
      s.expression.arguments[1]?.type === 'Literal',
  );
}

/** The class that a function of the host is: a class, or a function with a prototype. Undefined for what is neither. */
export function classOfHost(ctx: Evaluation, fn: AnyFunction, pos: Pos): ClassValue | undefined {
  const known = ctx.classes.get(fn);
  if (known !== undefined) return known;
  const prototype = (fn as { prototype?: unknown }).prototype;
  if (typeof prototype !== 'object' || prototype === null || hostOnlyOf(fn) !== undefined) return undefined;
  if (isNativeText(Function.prototype.toString.call(fn))) return undefined;
  const read = ctx.kernel.read(fn, pos);
  const { body } = read.node;
  const type =
    body.type === 'ClassExpression'
      ? evaluateClass(ctx, body, new Scope(undefined, read, true), fn)
      : ofPrototype({ name: fn.name, node: read.node, captured: read, scope: undefined }, prototype, ctx, pos);
  ctx.classes.set(fn, type);
  return type;
}

/** What compilers for old engines make of a class: a constructor, and methods on its prototype. */
function ofPrototype(construct: FunctionValue, prototype: object, ctx: Evaluation, pos: Pos): ClassValue {
  const methods = new Map<string, FunctionValue>();
  const getters = new Map<string, FunctionValue>();
  const setters = new Map<string, FunctionValue>();
  const add = (to: Map<string, FunctionValue>, name: string, fn: unknown): void => {
    if (typeof fn !== 'function' || isNativeText(Function.prototype.toString.call(fn))) return;
    const read = ctx.kernel.read(fn as AnyFunction, pos);
    to.set(name, { name, node: read.node, captured: read, scope: undefined });
  };
  for (const [name, { value, get, set }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor') continue;
    add(methods, name, value);
    add(getters, name, get);
    add(setters, name, set);
  }
  const { name, captured } = construct;
  return {
    name,
    captured,
    scope: undefined,
    construct,
    methods,
    getters,
    setters,
    initialisers: [],
    statics: new Map(),
  };
}

/** A plain object of the host, or one of a class, as the object that it is in a kernel; other values as they are. */
export function asObject(ctx: Evaluation, v: Value, pos: Pos, depth = 0): Value {
  if (depth > MOST_DEPTH) return v;
  if (v.kind !== 'host' || typeof v.value !== 'object' || v.value === null) return v;
  const { value, name } = v;
  if (intrinsicName(value) !== undefined || isDType(value) || ArrayBuffer.isView(value) || value instanceof Promise)
    return v;
  const prototype: unknown = Object.getPrototypeOf(value);
  const maker: unknown = prototype === null ? undefined : (prototype as { constructor?: unknown }).constructor;
  const plain = prototype === null || prototype === Object.prototype || typeof maker !== 'function';
  const type = plain ? undefined : classOfHost(ctx, maker as AnyFunction, pos);
  if (!plain && type === undefined) return v;
  const fields = Object.entries(value).map(([key, x]): [string, Value] => [
    key,
    asObject(ctx, fromHost(ctx, x, `${name}.${key}`, pos), pos, depth + 1),
  ]);
  return { kind: 'record', fields: new Map(fields), type };
}

/** `new V3(x, y, z)`. */
export function newExpression(ctx: Evaluation, node: NewExpression, scope: Scope): Value {
  const pos = ctx.pos(node, scope);
  const callee = ctx.parts.evaluate(ctx, node.callee, scope);
  const array = newArray(ctx, callee, node, scope, pos);
  if (array !== undefined) return array;
  let type: ClassValue | undefined;
  if (callee.kind === 'class') type = callee.type;
  else if (callee.kind === 'host' && typeof callee.value === 'function')
    type = classOfHost(ctx, callee.value as AnyFunction, pos);
  else if (callee.kind === 'function' && callee.fn.node.type !== 'ArrowFunctionExpression')
    type = ofPrototype(callee.fn, {}, ctx, pos);
  if (type === undefined) {
    return fail('K101', pos, `\`new\` cannot be used with ${describeValue(callee)} in a kernel`, {
      help:
        callee.kind === 'host' && callee.value === Date
          ? 'make it on the host, and pass it as an argument: a Date is a datetime64 in kernels'
          : 'a kernel can only create objects of small classes: use cuda.local.array(shape, dtype)',
    });
  }
  return construct(ctx, type, elements(ctx, node.arguments, scope, pos), pos);
}

function construct(ctx: Evaluation, type: ClassValue, args: readonly Value[], pos: Pos): Value {
  const changed = ctx.hints.isChanged(ctx.hints.site(pos));
  const object: KernelObject = newObject(ctx, type.name || 'this object', type, pos);
  object.open = true;
  if (changed) {
    object.prologue = [];
    ctx.emit({ k: 'block', label: ctx.newLabel(), body: object.prologue, pos });
  }
  const self = refer(object);
  for (const { name, node, value } of type.initialisers) {
    // A field that is only declared gets its value in the constructor.
    if (value === undefined || type.scope === undefined) continue;
    const scope = new Scope(type.scope, type.captured, true);
    ctx.declare(scope, 'this', pos, true).value = self;
    defineField(ctx, object, name, ctx.parts.evaluate(ctx, value, scope), !changed, ctx.pos(node, scope));
    scope.closed = true;
  }
  if (type.construct !== undefined) ctx.parts.call(ctx, type.construct, args, pos, self);
  for (const { name, node } of type.initialisers) {
    if (object.fields.has(name) || type.scope === undefined) continue;
    defineField(ctx, object, name, UNDEFINED, !changed, ctx.pos(node, type.scope));
  }
  object.open = false;
  if (changed) return self;
  // Nobody assigns to it: it is its values.
  const fields = [...object.fields].map(([name, b]): [string, Value] => [name, b.value ?? b.empty ?? UNDEFINED]);
  return { kind: 'record', fields: new Map(fields), type, site: ctx.hints.site(pos) };
}
