/**
 * Calls of device functions, which are inlined where they are called.
 *
 * Inlining gives every call its own types, works on all devices alike, and lets functions take views, tuples and functions. A
 * `return` that is not the last statement leaves the inlined block by a jump.
 */
import type { AnyNode, Node } from 'acorn';
import type { Pos } from '../source.ts';
import type { TStmt } from '../types/tree.ts';
import { destructure } from './assignments.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation, Frame, RecursiveCall } from './evaluation.ts';
import { hoist } from './names.ts';
import { withFlag } from './optionals.ts';
import { noteResult } from './partial-variables.ts';
import { isReassigned } from './reassigned.ts';
import { callAgain, callRecursive, finish, outerCall, pathTo } from './recursion.ts';
import { objectsOf } from './recursion-results.ts';
import { describeValue, type FunctionValue, isAbsent, Scope, UNDEFINED, type Value } from './values.ts';
import { forEachChild } from './walk.ts';

/** Calls from within device functions, in one kernel. Those that stand in the kernel itself are as many as its author wrote. */
const MAX_INLINED = 4096;

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
      ctx.initialise(ctx.declare(scope, node.name, at, !isReassigned(fn.captured.node, node)), given, at);
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
