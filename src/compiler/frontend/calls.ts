/**
 * What a call calls: intrinsics, casts, Math, methods of arrays, and device functions, which `inlining.ts` inlines.
 */
import type { AnyNode, CallExpression } from 'acorn';
import { charSeq, datetime64, isDType, isNaT, timedelta64, unicodeCharSeq } from '../../dtype/index.ts';
import { KernelError } from '../../errors.ts';
import { externalOf } from '../intrinsics/external.ts';
import { nativeOf } from '../intrinsics/native.ts';
import { functionOfKernel, intrinsicName } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import { refuseUndefined } from './absence.ts';
import { compare } from './arithmetic.ts';
import { arrayFrom, fillNew, newArray, Unfilled } from './array-makers.ts';
import { arrayMethod } from './array-methods.ts';
import { isReduction } from './array-reductions.ts';
import { checkChoice, storeTo } from './array-sites.ts';
import { builtIn, callBuiltin, callDType } from './builtins.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { callNative, callOverload } from './extension-calls.ts';
import { callExternal } from './external-calls.ts';
import { callIntrinsic } from './intrinsic-calls.ts';
import { isKnownText, isKnownTextMethod, knownTextMethod } from './known-texts.ts';
import { memberOf, memberParts } from './members.ts';
import { supposedMember } from './partial-variables.ts';
import { isSequenceMethod, sequenceMethod } from './sequence-methods.ts';
import { isSequence } from './sequences.ts';
import { isTextMethod, textMember, textMethod, textType } from './texts.ts';
import { askNaT } from './times.ts';
import { describeValue, type FunctionValue, isAbsent, literal, type Scope, UNDEFINED, type Value } from './values.ts';

/** What may be a method of an array; those that there are none of get an error of their own. */
const ARRAY_METHODS: ReadonlySet<string> = new Set('slice get field reshape view set fill reverse from of'.split(' '));

export function callExpression(ctx: Evaluation, node: CallExpression, scope: Scope, discarded: boolean): Value {
  const pos = ctx.pos(node, scope);
  const callee = node.callee;
  if (callee.type === 'Super') return fail('K101', pos, '`super` cannot be used in a kernel');
  if (callee.type === 'MemberExpression' && !callee.computed && callee.object.type !== 'Super') {
    const name = (callee.property as { name: string }).name;
    if (ARRAY_METHODS.has(name) || isSequenceMethod(name) || isReduction(name) || isKnownTextMethod(name)) {
      const object = ctx.parts.evaluate(ctx, callee.object, scope);
      const result = methodOf(ctx, object, name, node, scope, pos);
      if (result !== undefined) return result;
      // It has been evaluated; what it is called on need not be again.
      ctx.pinned.set(callee.object, object);
      try {
        return callFunction(ctx, node, scope, pos, discarded);
      } finally {
        ctx.pinned.delete(callee.object);
      }
    }
  }
  return callFunction(ctx, node, scope, pos, discarded);
}

/** A method of arrays; undefined where the object is none that has it. */
function methodOf(
  ctx: Evaluation,
  object: Value,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value | undefined {
  if (object.kind === 'view' && textType(object) !== undefined) {
    if (isTextMethod(name)) return textMethod(ctx, object, name, elements(ctx, node.arguments, scope, pos), pos);
    // Not those of arrays that have the same name.
    if (isKnownTextMethod(name)) return textMember(ctx, object, name, pos);
  }
  if (object.kind === 'view' && !(isKnownTextMethod(name) && !ARRAY_METHODS.has(name) && !isSequenceMethod(name)))
    return arrayMethod(ctx, object.view, name, node, scope, pos);
  if (object.kind === 'tuple' && isSequence(object)) {
    if (isSequenceMethod(name)) return sequenceMethod(ctx, object, name, node, scope, pos);
    if (name === 'fill' || name === 'reverse') storeTo(ctx, object);
  }
  if (object.kind !== 'host') return undefined;
  if (isKnownText(object) && isKnownTextMethod(name))
    return knownTextMethod(ctx, object, name, elements(ctx, node.arguments, scope, pos), pos);
  if (name === 'fill' && object.value instanceof Unfilled) return fillNew(ctx, object.value, node, scope, pos);
  return name === 'from' || name === 'of' ? arrayFrom(ctx, object, name, node, scope, pos) : undefined;
}

function callFunction(ctx: Evaluation, node: CallExpression, scope: Scope, pos: Pos, discarded: boolean): Value {
  const { fn, self } = calleeOf(ctx, node.callee, scope);
  // Of a value that is not known yet: what the method gives is not known either.
  if (fn.kind === 'scalar' && fn.expr.k === 'local' && ctx.supposed.has(fn.expr.local)) {
    elements(ctx, node.arguments, scope, pos);
    return supposedMember(ctx, fn, pos, () => fail('K314', pos, `${describeValue(fn)} cannot be called`));
  }
  if (fn.kind === 'function') return callWith(ctx, fn.fn, self, node, scope, pos);
  if (fn.kind === 'class') {
    return fail('K314', pos, `${describeValue(fn)} cannot be called without new`, {
      help: `new ${fn.type.name || 'C'}(…)`,
    });
  }
  if (fn.kind === 'functions')
    return callOne(ctx, fn, node, () => callExpression(ctx, node, scope, discarded), scope, pos);
  if (isAbsent(fn) && fn.why !== undefined) return refuseUndefined(fn.name, pos, fn.why);
  if (fn.kind !== 'host') return fail('K314', pos, `${describeValue(fn)} cannot be called`);
  const external = externalOf(fn.value);
  if (external !== undefined) return callExternal(ctx, external, node, scope, pos, discarded);
  const native = nativeOf(fn.value);
  if (native !== undefined) return callNative(ctx, native, node, scope, pos);
  const intrinsic = intrinsicName(fn.value);
  if (intrinsic !== undefined) return callIntrinsic(ctx, intrinsic, node, scope, pos, discarded);
  if (fn.value === Array) {
    const made = newArray(ctx, fn, node, scope, pos);
    if (made !== undefined) return made;
  }
  const dtype = madeDType(ctx, fn.value, node, scope, pos);
  if (dtype !== undefined) return dtype;
  if (fn.value === isNaT) return askNaT(ctx, elements(ctx, node.arguments, scope, pos), pos);
  if (isDType(fn.value)) return callDType(ctx, fn.value, node, scope, pos);
  if (typeof fn.value !== 'function') return fail('K314', pos, `${describeValue(fn)} is not a function`);
  const overloaded = callOverload(ctx, fn.value, node, scope, pos);
  if (overloaded !== undefined) return overloaded;
  const builtin = callBuiltin(ctx, fn.value, fn.name, node, scope, pos);
  if (builtin !== undefined) return builtin;
  if (isDestructuringHelper(fn.value)) return elements(ctx, node.arguments, scope, pos)[0] ?? UNDEFINED;
  try {
    const read = scope.captured.read(functionOfKernel(fn.value) ?? (fn.value as AnyFunction), pos);
    if (read.node.body.type === 'ClassExpression' && /^class\b/.test(Function.prototype.toString.call(fn.value))) {
      fail('K314', pos, `${fn.name} is a class, which cannot be called without new`, { help: `new ${fn.name}(…)` });
    }
    const name = read.source.name || fn.name;
    return callWith(ctx, { name, node: read.node, captured: read, scope: undefined }, self, node, scope, pos);
  } catch (cause) {
    // Node writes some of its own functions in JavaScript, performance.now among them.
    if (cause instanceof KernelError && cause.location?.file.startsWith('node:')) return builtIn(fn.name, pos);
    throw cause;
  }
}

type AnyFunction = (...args: never[]) => unknown;

/** The function that a call names, and the object that it is called on as a method. */
function calleeOf(ctx: Evaluation, callee: AnyNode, scope: Scope): { fn: Value; self: Value | undefined } {
  // What stands before a `?.` has been evaluated.
  if (callee.type !== 'MemberExpression' || ctx.pinned.has(callee))
    return { fn: ctx.parts.evaluate(ctx, callee, scope), self: undefined };
  const { object, key, pos } = memberParts(ctx, callee, scope);
  return { fn: memberOf(ctx, object, key, pos), self: object };
}

function callWith(
  ctx: Evaluation,
  fn: FunctionValue,
  self: Value | undefined,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value {
  if (self === undefined || fn.node.type === 'ArrowFunctionExpression')
    return ctx.parts.call(ctx, fn, elements(ctx, node.arguments, scope, pos), pos);
  let args: readonly Value[] = [];
  const [receiver] = ctx.sequence([
    () => self,
    () => {
      args = elements(ctx, node.arguments, scope, pos);
      return { kind: 'tuple', items: args };
    },
  ]);
  return ctx.parts.call(ctx, fn, args, pos, receiver);
}

/** The call of one of several functions, decided at run time: all arguments are computed, then a switch. */
function callOne(
  ctx: Evaluation,
  { index, among }: Extract<Value, { kind: 'functions' }>,
  node: CallExpression,
  call: () => Value,
  scope: Scope,
  pos: Pos,
): Value {
  const nodes = node.arguments.map((a) => (a.type === 'SpreadElement' ? a.argument : a));
  const args = ctx.sequence(nodes.map((a) => () => ctx.parts.evaluate(ctx, a, scope)));
  nodes.forEach((a, k) => {
    ctx.pinned.set(a, ctx.holdValue(args[k] ?? UNDEFINED));
  });
  checkChoice(ctx, index, among.length, 'functions', pos);
  const from = (k: number): Value => {
    const one = (): Value => {
      ctx.pinned.set(node.callee, among[k] ?? UNDEFINED);
      try {
        return call();
      } finally {
        ctx.pinned.delete(node.callee);
      }
    };
    if (k >= among.length - 1) return one();
    return ctx.choose(compare('eq', index, literal(k, pos), pos), one, () => from(k + 1), pos);
  };
  try {
    return from(0);
  } finally {
    for (const a of nodes) ctx.pinned.delete(a);
  }
}

/** Functions of the host that make a dtype of a constant. */
const DTYPE_MAKERS: readonly unknown[] = [charSeq, unicodeCharSeq, datetime64, timedelta64];

/** `datetime64('s')` in a kernel, the dtype. */
function madeDType(ctx: Evaluation, fn: unknown, node: CallExpression, scope: Scope, pos: Pos): Value | undefined {
  if (!DTYPE_MAKERS.includes(fn)) return undefined;
  const { name } = fn as { readonly name: string };
  const [of] = elements(ctx, node.arguments, scope, pos);
  const given =
    of?.kind === 'host' ? of.value : of?.kind === 'scalar' && of.expr.k === 'lit' ? of.expr.value : undefined;
  try {
    const value = (fn as (of: unknown) => unknown)(given);
    return { kind: 'host', value, name: `${name}(${JSON.stringify(given)})` };
  } catch (cause) {
    return fail('K322', pos, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What Babel and TypeScript call to take an array apart in ES5. */
function isDestructuringHelper(fn: unknown): boolean {
  const name = (fn as { name?: string }).name ?? '';
  if (name === '_slicedToArray' || name === '_toArray' || name === '__read') return true;
  return /_?iterableToArrayLimit|arrayWithHoles|Invalid attempt to destructure/.test(
    Function.prototype.toString.call(fn),
  );
}
