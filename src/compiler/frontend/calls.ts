/**
 * Calls: of intrinsics, casts, Math, methods of arrays, and of device functions, which are inlined where they are called.
 *
 * Inlining gives every call its own types, works on all devices alike, and lets functions take views, tuples and functions. A
 * `return` that is not the last statement leaves the inlined block by a jump.
 */
import type { AnyNode, CallExpression, Node } from 'acorn';
import { isDType } from '../../dtype/index.ts';
import { KernelError } from '../../errors.ts';
import { intrinsicName } from '../intrinsics.ts';
import type { Pos } from '../source.ts';
import type { TStmt } from '../types/tree.ts';
import { arrayMethod } from './array-methods.ts';
import { destructure } from './assignments.ts';
import { builtIn, callBuiltin, callDType } from './builtins.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation, Frame } from './evaluation.ts';
import { callIntrinsic } from './intrinsic-calls.ts';
import { hoist, isReassigned } from './names.ts';
import { withFlag } from './optionals.ts';
import { noteResult } from './partial-variables.ts';
import { describeValue, type FunctionValue, isAbsent, Scope, UNDEFINED, type Value } from './values.ts';
import { forEachChild } from './walk.ts';

/** Calls from within device functions, in one kernel. Those that stand in the kernel itself are as many as its author wrote. */
const MAX_INLINED = 4096;

/** What may be a method of an array; those that there are none of get an error of their own. */
const ARRAY_METHODS: ReadonlySet<string> = new Set(['slice', 'get', 'field', 'set', 'at', 'fill']);

export function callExpression(ctx: Evaluation, node: CallExpression, scope: Scope, discarded: boolean): Value {
  const pos = ctx.pos(node, scope);
  const callee = node.callee;
  if (callee.type === 'Super') return fail('K101', pos, '`super` cannot be used in a kernel');
  if (callee.type === 'MemberExpression' && !callee.computed && callee.object.type !== 'Super') {
    const name = (callee.property as { name: string }).name;
    if (ARRAY_METHODS.has(name)) {
      const object = ctx.parts.evaluate(ctx, callee.object, scope);
      if (object.kind === 'view') return arrayMethod(ctx, object.view, name, node, scope, pos);
    }
  }
  const fn = ctx.parts.evaluate(ctx, callee, scope);
  if (fn.kind === 'function') {
    const args = elements(ctx, node.arguments, scope, pos);
    return ctx.parts.call(ctx, fn.fn, args, pos);
  }
  if (fn.kind !== 'host') return fail('K314', pos, `${describeValue(fn)} cannot be called`);
  const intrinsic = intrinsicName(fn.value);
  if (intrinsic !== undefined) return callIntrinsic(ctx, intrinsic, node, scope, pos, discarded);
  if (isDType(fn.value)) return callDType(ctx, fn.value, node, scope, pos);
  if (typeof fn.value !== 'function') return fail('K314', pos, `${describeValue(fn)} is not a function`);
  const builtin = callBuiltin(ctx, fn.value, fn.name, node, scope, pos);
  if (builtin !== undefined) return builtin;
  if (isDestructuringHelper(fn.value)) return elements(ctx, node.arguments, scope, pos)[0] ?? UNDEFINED;
  try {
    const read = scope.captured.read(fn.value as (...args: never[]) => unknown, pos);
    const args = elements(ctx, node.arguments, scope, pos);
    return ctx.parts.call(
      ctx,
      { name: read.source.name || fn.name, node: read.node, captured: read, scope: undefined },
      args,
      pos,
    );
  } catch (cause) {
    // Node writes some of its own functions in JavaScript, performance.now among them.
    if (cause instanceof KernelError && cause.location?.file.startsWith('node:')) return builtIn(fn.name, pos);
    throw cause;
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
export function call(ctx: Evaluation, fn: FunctionValue, args: readonly Value[], pos: Pos): Value {
  const active = ctx.frames.some((f) => f.fn !== 'kernel' && f.fn.node === fn.node);
  if (active) {
    return fail(
      'K315',
      pos,
      `${fn.name || 'this function'} calls itself: recursion cannot be compiled, as a kernel has no stack to grow`,
      {
        help: 'write a loop, with cuda.local.array as the stack if it needs one',
      },
    );
  }
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
        help: 'each call is compiled where it stands, so that functions that call each other twice double the code at each level: use a loop, or keep a result that is asked for twice',
      },
    );
  }
  const frame: Frame = { fn, label: undefined, result: undefined, returned: false, targets: [], site: pos };
  const scope = new Scope(fn.scope, fn.captured, true);
  ctx.frames.push(frame);
  try {
    bindParameters(ctx, fn, args, scope);
    const body = fn.node.body;
    if (body.type !== 'BlockStatement') return ctx.parts.evaluate(ctx, body, scope);
    hoist(ctx, body.body, scope);
    return inlineBody(ctx, fn, frame, body.body, scope, pos);
  } finally {
    ctx.frames.pop();
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
  const single = last?.type === 'ReturnStatement' && countReturns(body) === 1;
  const list = ctx.collect(() => {
    if (single && last?.type === 'ReturnStatement') {
      ctx.parts.statements(ctx, body.slice(0, -1), scope);
      if (last.argument != null) tail = ctx.parts.evaluate(ctx, last.argument, scope);
      return;
    }
    // A return may keep control from what stands further down.
    ctx.stretch(() => ctx.parts.statements(ctx, body, scope));
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
