/**
 * Calls: of intrinsics, casts, Math, methods of arrays, and of device functions, which are inlined where they are called.
 *
 * Inlining gives every call its own types, works on all devices alike, and lets functions take views, tuples and functions. A
 * `return` that is not the last statement leaves the inlined block by a jump.
 */
import type { AnyNode, CallExpression, Node } from 'acorn';
import { charSeq, datetime64, isDType, isNaT, timedelta64, unicodeCharSeq } from '../../dtype/index.ts';
import { KernelError } from '../../errors.ts';
import { externalOf } from '../intrinsics/external.ts';
import { nativeOf } from '../intrinsics/native.ts';
import { functionOfKernel, intrinsicName } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import type { TStmt } from '../types/tree.ts';
import { refuseUndefined } from './absence.ts';
import { compare } from './arithmetic.ts';
import { arrayFrom, fillNew, newArray, Unfilled } from './array-makers.ts';
import { arrayMethod } from './array-methods.ts';
import { isReduction } from './array-reductions.ts';
import { checkChoice, storeTo } from './array-sites.ts';
import { destructure } from './assignments.ts';
import { builtIn, callBuiltin, callDType } from './builtins.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation, Frame, RecursiveCall } from './evaluation.ts';
import { callNative, callOverload } from './extension-calls.ts';
import { callExternal } from './external-calls.ts';
import { callIntrinsic } from './intrinsic-calls.ts';
import { memberOf, memberParts } from './members.ts';
import { hoist, isReassigned } from './names.ts';
import { withFlag } from './optionals.ts';
import { noteResult, supposedMember } from './partial-variables.ts';
import { callAgain, callRecursive, finish, outerCall, pathTo } from './recursion.ts';
import { objectsOf } from './recursion-results.ts';
import { isSequenceMethod, sequenceMethod } from './sequence-methods.ts';
import { isSequence } from './sequences.ts';
import { isTextMethod, textMember, textMethod, textType } from './texts.ts';
import { askNaT } from './times.ts';
import { describeValue, type FunctionValue, isAbsent, literal, Scope, UNDEFINED, type Value } from './values.ts';
import { forEachChild } from './walk.ts';

/** Calls from within device functions, in one kernel. Those that stand in the kernel itself are as many as its author wrote. */
const MAX_INLINED = 4096;

/** What may be a method of an array; those that there are none of get an error of their own. */
const ARRAY_METHODS: ReadonlySet<string> = new Set('slice get field reshape view set fill reverse from of'.split(' '));

export function callExpression(ctx: Evaluation, node: CallExpression, scope: Scope, discarded: boolean): Value {
  const pos = ctx.pos(node, scope);
  const callee = node.callee;
  if (callee.type === 'Super') return fail('K101', pos, '`super` cannot be used in a kernel');
  if (callee.type === 'MemberExpression' && !callee.computed && callee.object.type !== 'Super') {
    const name = (callee.property as { name: string }).name;
    if (ARRAY_METHODS.has(name) || isSequenceMethod(name) || isReduction(name) || isTextMethod(name)) {
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
    // A part of a string, and not of an array.
    if (name === 'slice') return textMember(ctx, object, name, pos);
  }
  if (object.kind === 'view') return arrayMethod(ctx, object.view, name, node, scope, pos);
  if (object.kind === 'tuple' && isSequence(object)) {
    if (isSequenceMethod(name)) return sequenceMethod(ctx, object, name, node, scope, pos);
    if (name === 'fill' || name === 'reverse') storeTo(ctx, object);
  }
  if (object.kind !== 'host') return undefined;
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
    if (read.node.body.type === 'ClassExpression') {
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

/** Calls a device function: its body is evaluated here, with the parameters bound to the arguments. */
export function call(ctx: Evaluation, fn: FunctionValue, args: readonly Value[], pos: Pos, self?: Value): Value {
  const outer = outerCall(ctx, fn);
  if (outer !== undefined)
    return objectsOf(ctx, fn, ctx.frames.indexOf(outer), callAgain(ctx, fn, outer, args, self, pos), pos);
  if (fn.node.async === true || fn.node.generator === true) {
    return fail(
      'K101',
      pos,
      `${fn.name || 'this function'} is ${fn.node.async ? 'async' : 'a generator'} and cannot run in a kernel`,
    );
  }
  if (ctx.frames.length > 1 && ++ctx.inlinedWithin > MAX_INLINED) {
    fail(
      'K105',
      pos,
      `device functions that call device functions come to more than ${MAX_INLINED} calls in this kernel`,
      {
        help: 'calls are inlined, so functions that call each other twice double the code at each level: use a loop, or keep a result that is used twice',
      },
    );
  }
  const recursive = ctx.hints.recursion(pathTo(ctx, fn));
  if (recursive === undefined) return evaluateCall(ctx, fn, args, pos, self);
  const result = callRecursive(ctx, fn, args, self, recursive.varying, pos, (recursion) =>
    evaluateCall(ctx, fn, recursion.given, pos, self, recursion),
  );
  return objectsOf(ctx, fn, ctx.frames.length, result, pos);
}

function evaluateCall(
  ctx: Evaluation,
  fn: FunctionValue,
  args: readonly Value[],
  pos: Pos,
  self: Value | undefined,
  recursion?: RecursiveCall,
): Value {
  const scope = new Scope(fn.scope, fn.captured, true);
  const opened: Frame = { fn, label: undefined, result: undefined, returned: false, targets: [], site: pos, scope };
  const frame: Frame = recursion === undefined ? opened : { ...opened, recursion };
  ctx.frames.push(frame);
  // A function made several times has one syntax: what is pinned in one of them is not known in another.
  const { pinned } = ctx;
  ctx.pinned = new Map();
  try {
    if (fn.node.type !== 'ArrowFunctionExpression') {
      const binding = ctx.declare(scope, 'this', pos, true);
      if (self !== undefined) ctx.initialise(binding, self, pos);
    }
    bindParameters(ctx, fn, args, scope);
    const body = fn.node.body;
    if (body.type === 'BlockStatement') {
      hoist(ctx, body.body, scope);
      return inlineBody(ctx, fn, frame, body.body, scope, pos);
    }
    const value = ctx.parts.evaluate(ctx, body, scope);
    if (recursion === undefined) return value;
    noteResult(ctx, frame, value, pos, `${fn.name || 'this function'}() returns ${describeValue(value)} here`);
    finish(ctx, recursion, frame, pos);
    return frame.result ?? UNDEFINED;
  } finally {
    ctx.frames.pop();
    ctx.pinned = pinned;
    scope.closed = true;
  }
}

function bindParameters(ctx: Evaluation, fn: FunctionValue, args: readonly Value[], scope: Scope): void {
  fn.node.params.forEach((param, k) => {
    const arg: Value = param.type === 'RestElement' ? { kind: 'tuple', items: args.slice(k) } : (args[k] ?? UNDEFINED);
    destructure(ctx, param.type === 'RestElement' ? param.argument : param, arg, scope, (node, value) => {
      const at = ctx.pos(node, scope);
      if (node.type !== 'Identifier') return fail('K101', at, 'this parameter cannot be used in a kernel');
      const who = fn.name || 'this function';
      const missing = isAbsent(value) && value.value === undefined && args[k] === undefined;
      const given: Value = missing
        ? { ...value, name: node.name, why: { text: `the parameter ${node.name} of ${who} gets no argument`, pos: at } }
        : value;
      ctx.initialise(ctx.declare(scope, node.name, at, !isReassigned(fn.captured.node, node.name)), given, at);
    });
  });
}

function inlineBody(
  ctx: Evaluation,
  fn: FunctionValue,
  frame: Frame,
  body: readonly AnyNode[],
  scope: Scope,
  pos: Pos,
): Value {
  const last = body.at(-1);
  const label = ctx.newLabel();
  let tail: Value = UNDEFINED;
  const inner: Frame = { ...frame, label };
  ctx.frames[ctx.frames.length - 1] = inner;
  // The common shape: no return but the last statement, whose value needs no variable.
  const single = frame.recursion === undefined && last?.type === 'ReturnStatement' && countReturns(body) === 1;
  const list = ctx.collect(() => {
    if (single && last?.type === 'ReturnStatement') {
      ctx.parts.statements(ctx, body.slice(0, -1), scope);
      if (last.argument != null) tail = ctx.parts.evaluate(ctx, last.argument, scope);
      return;
    }
    // A return may keep control from what stands further down.
    ctx.stretch(() => {
      const made = scope.names.get('this')?.value;
      if (made?.kind === 'object' && made.object.open && countReturns(body) === 0) made.object.madeIn = ctx.inBranch;
      ctx.parts.statements(ctx, body, scope);
    });
    if (inner.result === undefined || !reachesEnd(ctx.list)) return;
    const end = lastOf(fn.node.body, last);
    const loop = last !== undefined && /^(For|While|DoWhile)/.test(last.type);
    const when = loop ? 'this loop ends without a return' : 'control reaches its end';
    noteResult(
      ctx,
      inner,
      UNDEFINED,
      ctx.pos(end, scope),
      `${fn.name || 'this function'}() returns nothing when ${when}`,
    );
  });
  // A jump out of the last statement goes nowhere else.
  if (!single && list.at(-1)?.k === 'break' && inner.returned) {
    const s = list.at(-1);
    if (s?.k === 'break' && s.label === label) list.pop();
  }
  if (list.length > 0) ctx.emit({ k: 'block', label, body: list, inlined: fn.name || '(anonymous)', pos });
  if (single) return tail;
  if (frame.recursion !== undefined) finish(ctx, frame.recursion, inner, pos);
  if (inner.result === undefined) return UNDEFINED;
  const { flag, result, returnedNothing } = inner;
  return returnedNothing === true && flag !== undefined ? withFlag(ctx, result, flag, pos) : result;
}

/** What an error about the end of a function points at: its last statement if that is a loop, else its closing brace. */
function lastOf(body: AnyNode, last: AnyNode | undefined): AnyNode {
  if (last !== undefined && /^(For|While|DoWhile)/.test(last.type)) return last;
  return { ...body, start: body.end - 1 };
}

/** Whether control may leave a list at its end. */
function reachesEnd(list: readonly TStmt[]): boolean {
  const last = list.at(-1);
  switch (last?.k) {
    case 'break':
    case 'continue':
    case 'return':
    case 'trap':
      return false;
    case 'if':
      return reachesEnd(last.then) || reachesEnd(last.else);
    default:
      return true;
  }
}

/** Number of return statements of this function, not of functions inside it. */
function countReturns(list: readonly AnyNode[]): number {
  let n = 0;
  const visit = (node: Node): void => {
    if (node.type === 'ReturnStatement') n++;
    else if (/Statement$|^SwitchCase$/.test(node.type)) forEachChild(node, visit);
  };
  list.forEach(visit);
  return n;
}
