/**
 * Functions that call themselves: the body is evaluated once, for all calls. What differs from call to call is in variables, which
 * `recursion-frames.ts` keeps on a stack while a call inside runs.
 *
 * An argument is taken for the same in all calls until a call inside has another one; what calls return is taken for a number until a `return` says
 * what it is. Either starts the evaluation again (`hints.ts`).
 */
import type { AnyNode } from 'acorn';
import type { Pos } from '../source.ts';
import { operands } from '../types/parts.ts';
import type { Recursion, TExpr } from '../types/tree.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation, Frame, RecursiveCall } from './evaluation.ts';
import { changeAt, contentsLeaving, sitesIn } from './object-slots.ts';
import { presenceNote, withFlag, withoutFlag } from './optionals.ts';
import {
  describeValue,
  type FunctionValue,
  isAbsent,
  isOptional,
  literal,
  mapScalars,
  Scope,
  scalar,
  UNDEFINED,
  type Value,
} from './values.ts';

const nameOf = (fn: FunctionValue): string => fn.name || 'this function';

/** The frame of the call that a call of the same function is inside of. Closures of one text that have captured different values are not the same. */
export function outerCall(ctx: Evaluation, { node, captured }: FunctionValue): Frame | undefined {
  return ctx.frames.findLast((f) => f.fn !== 'kernel' && f.fn.node === node && f.fn.captured === captured);
}

/** The syntax of a function, and of those that call themselves around the call whose frame is, or would be, number `at`. */
export function pathTo(ctx: Evaluation, { node }: FunctionValue, at: number = ctx.frames.length): object[] {
  const around = ctx.frames.slice(0, at).filter((f) => f.recursion !== undefined);
  return [node, ...around.flatMap((f) => (f.fn === 'kernel' ? [] : [f.fn.node]))];
}

/** The outermost call of a function that calls itself. `body` evaluates it, with the arguments that all calls share or have in variables. */
export function callRecursive(
  ctx: Evaluation,
  fn: FunctionValue,
  args: readonly Value[],
  self: Value | undefined,
  varying: ReadonlySet<number>,
  pos: Pos,
  body: (call: RecursiveCall) => Value,
): Value {
  const held = withDefaults(ctx, fn, args).map((a, k) => (varying.has(k) ? a : ctx.holdValue(a)));
  const level = ctx.newLocal('%level', pos, false);
  const first = ctx.nextLocal;
  const given = held.map((a, k) => {
    if (!varying.has(k)) return a;
    if (isOptional(a)) return refuse(fn, `argument ${k + 1}, which`, pos);
    const slot = ctx.slot(a, parameterName(fn, k), pos);
    ctx.store(slot, a, `argument ${k + 1} of ${nameOf(fn)}`, pos);
    return slot;
  });
  const call: RecursiveCall = {
    name: nameOf(fn),
    pos,
    level,
    depth: ctx.options.maxRecursion ?? 1,
    first,
    last: first,
    results: new Set(),
    given,
    self,
  };
  let result: Value = UNDEFINED;
  ctx.loops++;
  const list = ctx.branch(() => {
    result = body(call);
  });
  ctx.loops--;
  call.last = ctx.nextLocal;
  ctx.emit({ k: 'recursive', of: call, body: list, pos });
  return result;
}

function parameterName({ node }: FunctionValue, k: number): string {
  const given: AnyNode | undefined = node.params[k];
  const param = given?.type === 'AssignmentPattern' ? given.left : given;
  return param?.type === 'Identifier' ? param.name : '%argument';
}

/** The arguments of a call, with `f(n, depth = 0)`'s constants where there are none: calls differ in numbers then, and not in whether there is one. */
function withDefaults(ctx: Evaluation, fn: FunctionValue, args: readonly Value[]): readonly Value[] {
  const { params } = fn.node;
  return Array.from({ length: Math.max(args.length, params.length) }, (_, k) => {
    const arg = args[k] ?? UNDEFINED;
    const param: AnyNode | undefined = params[k];
    const missing = arg.kind === 'host' && arg.value === undefined;
    if (!missing || param?.type !== 'AssignmentPattern' || !isConstant(param.right)) return arg;
    return ctx.parts.evaluate(ctx, param.right, new Scope(fn.scope, fn.captured, true));
  });
}

function isConstant(node: AnyNode): boolean {
  return node.type === 'Literal' || (node.type === 'UnaryExpression' && isConstant(node.argument));
}

/** A call inside of the call whose frame is `frame`. */
export function callAgain(
  ctx: Evaluation,
  fn: FunctionValue,
  frame: Frame,
  args: readonly Value[],
  self: Value | undefined,
  pos: Pos,
): Value {
  const { recursion } = frame;
  if (ctx.options.maxRecursion === undefined) {
    return fail(
      'K315',
      pos,
      `${nameOf(fn)} calls itself: recursion cannot be compiled without a depth, as a kernel has no stack to grow`,
      {
        help: 'set the maximum depth of calls with the option { maxRecursion: 16 } of jit; or write a loop, with cuda.local.array as the stack if it needs one',
      },
    );
  }
  if (recursion === undefined) return ctx.hints.recurses(pathTo(ctx, fn, ctx.frames.indexOf(frame)));
  const path = pathTo(ctx, fn, ctx.frames.indexOf(frame));
  const inner = ctx.frames.slice(ctx.frames.indexOf(frame) + 1).find((f) => f.recursion !== undefined);
  if (inner?.recursion !== undefined) {
    return fail(
      'K315',
      pos,
      `${nameOf(fn)} is called again from within ${inner.recursion.name}, which calls itself, too`,
      {
        help: `functions that call each other may do so by way of one of them only: let ${inner.recursion.name} and ${nameOf(fn)} be one function`,
      },
    );
  }
  if (self !== undefined && !isSame(self, recursion.self ?? UNDEFINED))
    return refuse(fn, 'the object that it is called on', pos);
  const given = withDefaults(ctx, fn, args);
  const held = Array.from({ length: Math.max(given.length, recursion.given.length) }, (_, k) =>
    ctx.holdValue(given[k] ?? UNDEFINED),
  );
  const { varying } = ctx.hints.recursion(path) ?? { varying: new Set() };
  for (const [k, arg] of held.entries()) {
    const outer = recursion.given[k] ?? UNDEFINED;
    if (varying.has(k) || isSame(arg, outer)) continue;
    if (isOptional(arg) || isOptional(outer)) return refuse(fn, `argument ${k + 1}, which`, pos);
    if (!isVariable(arg) || !isVariable(outer)) {
      return fail(
        'K315',
        pos,
        `argument ${k + 1} of ${nameOf(fn)} is ${describeValue(outer)} in the outermost call, and another one here`,
        {
          help: 'nested calls may differ in numbers, in tuples of numbers, and in which part of an array they are passed; objects and functions must be the same in all of them',
        },
      );
    }
    ctx.hints.recurses(path, { argument: k });
  }
  const body = ctx.collect(() => {
    for (const k of varying) {
      const [slot, arg] = [recursion.given[k], held[k]];
      if (slot !== undefined && arg !== undefined) ctx.store(slot, arg, `argument ${k + 1} of ${nameOf(fn)}`, pos);
    }
  });
  const result = resultOf(ctx, fn, frame, pos);
  ctx.emit({ k: 'recurse', of: recursion, body, pos });
  const unknown = ctx.hints.recursion(path)?.result === undefined;
  return mapScalars(result, (e) => {
    if (e.k !== 'local') return e;
    const own = ctx.temp(e, `%${fn.name || 'result'}`);
    if (unknown && own.k === 'local') ctx.supposed.set(own.local, undefined);
    return own;
  });
}

/** Where a call leaves what it returns, as calls inside of it do. */
function resultOf(ctx: Evaluation, fn: FunctionValue, frame: Frame, pos: Pos): Value {
  const known = ctx.hints.recursion(pathTo(ctx, fn, ctx.frames.indexOf(frame)))?.result;
  if (known !== undefined && isAbsent(known)) return UNDEFINED;
  frame.asked = true;
  frame.result ??= ctx.slot(known ?? scalar(literal(0, pos)), `%${fn.name || 'result'}`, pos);
  return frame.result;
}

/** What all objects that a function returns are changed through. */
export function resultSite(ctx: Evaluation, fn: FunctionValue, at: number): string {
  return `result of ${ctx.hints.nameOf(pathTo(ctx, fn, at))}`;
}

/**
 * What a call leaves: of objects their contents, of which each caller makes one of its own. An object that is changed then, and that others
 * may name, is refused.
 */
export function leftBy(ctx: Evaluation, frame: Frame, value: Value, pos: Pos): Value {
  const { fn, recursion, scope } = frame;
  if (recursion === undefined || fn === 'kernel') return value;
  if (ctx.hints.isChanged(resultSite(ctx, fn, ctx.frames.indexOf(frame))))
    for (const site of sitesIn(value)) changeAt(ctx, site, pos);
  const named = (name: string): never =>
    fail('K315', pos, `${recursion.name} calls itself and returns an object that ${name} still names`, {
      help: 'return an object of its own: return { ...o }',
    });
  return contentsLeaving(ctx, value, scope, named, pos);
}

/** Sees to it that a result fits what calls inside were taken to return. */
export function settleResult(ctx: Evaluation, frame: Frame, value: Value): void {
  if (frame.recursion === undefined || frame.fn === 'kernel' || isAbsent(value)) return;
  frame.gave = true;
  const path = pathTo(ctx, frame.fn, ctx.frames.indexOf(frame));
  const known = ctx.hints.recursion(path)?.result;
  if (frame.asked === true && known === undefined && frame.result?.kind !== value.kind)
    ctx.hints.recurses(path, { result: withoutFlag(value) });
}

/**
 * Where a number and something else meet while it is not known what a call inside returns, the number may be what it was taken for: it is taken
 * for the other. If that is wrong, it is known the next time.
 */
export function guessAgain(ctx: Evaluation, a: Value, b: Value): void {
  const other = a.kind === 'scalar' ? b : a;
  if (other.kind === 'scalar' || !isVariable(other)) return;
  const at = ctx.frames.findLastIndex((f) => f.recursion !== undefined && f.asked === true);
  const frame = ctx.frames[at];
  if (frame === undefined || frame.fn === 'kernel') return;
  const path = pathTo(ctx, frame.fn, at);
  if (ctx.hints.recursion(path)?.result === undefined) ctx.hints.recurses(path, { result: withoutFlag(other) });
}

/** The end of the function: what it leaves is not a variable of one call; calls inside that wanted a value get one. */
export function finish(ctx: Evaluation, call: Recursion, frame: Frame, pos: Pos): void {
  if (frame.fn === 'kernel') return;
  const { result, flag, returnedNothing } = frame;
  if (result === undefined) return;
  if (frame.gave !== true)
    return ctx.hints.recurses(pathTo(ctx, frame.fn, ctx.frames.indexOf(frame)), { result: UNDEFINED });
  mapScalars(result, (e) => {
    if (e.k === 'local') call.results.add(e.local);
    return e;
  });
  if (flag === undefined) return;
  call.results.add(flag);
  if (frame.asked !== true || returnedNothing !== true) return;
  // The calls inside have used the value.
  mapScalars(withFlag(ctx, result, flag, pos), (e) => ctx.temp(e, '%needed'));
}

function refuse(fn: FunctionValue, what: string, pos: Pos): never {
  return fail('K315', pos, `${what} is not the same kind of value in all calls of ${nameOf(fn)}, which calls itself`, {
    help: 'give each call all of its arguments, and of one kind each',
  });
}

/** Whether variables can hold what it is. */
function isVariable(v: Value): boolean {
  switch (v.kind) {
    case 'scalar':
    case 'complex':
    case 'vector':
    case 'view':
      return true;
    case 'tuple':
      return v.items.every(isVariable);
    case 'record':
      return [...v.fields.values()].every(isVariable);
    default:
      return false;
  }
}

/** Whether two values are the same whenever the calls that have them run. */
function isSame(a: Value, b: Value): boolean {
  if (presenceNote(a) !== presenceNote(b)) return false;
  switch (a.kind) {
    case 'scalar':
      return b.kind === 'scalar' && isSameExpression(a.expr, b.expr);
    case 'complex':
      return b.kind === 'complex' && isSameExpression(a.re, b.re) && isSameExpression(a.im, b.im);
    case 'vector':
      return b.kind === 'vector' && a.type === b.type && a.lanes.every((e, k) => isSameAs(e, b.lanes[k]));
    case 'tuple':
      return (
        b.kind === 'tuple' &&
        a.items.length === b.items.length &&
        a.items.every((v, k) => isSame(v, b.items[k] ?? UNDEFINED))
      );
    case 'record':
      return (
        b.kind === 'record' &&
        a.fields.size === b.fields.size &&
        [...a.fields].every(([k, v]) => isSame(v, b.fields.get(k) ?? UNDEFINED))
      );
    case 'view': {
      if (b.kind !== 'view') return false;
      const [v, w] = [a.view, b.view];
      if (
        v.root !== w.root ||
        v.element !== w.element ||
        v.unit !== w.unit ||
        v.disp !== w.disp ||
        v.axes.length !== w.axes.length ||
        v.checks.length !== w.checks.length
      )
        return false;
      const axes = v.axes.every(
        (x, k) => isSameAs(x.extent, w.axes[k]?.extent) && isSameAs(x.stride, w.axes[k]?.stride),
      );
      const checks = v.checks.every(
        (x, k) => isSameAs(x.index, w.checks[k]?.index) && isSameAs(x.extent, w.checks[k]?.extent),
      );
      return axes && checks && (v.offset === undefined ? w.offset === undefined : isSameAs(v.offset, w.offset));
    }
    case 'object':
      return b.kind === 'object' && a.object === b.object;
    case 'function':
      return b.kind === 'function' && a.fn.node === b.fn.node && a.fn.scope === b.fn.scope;
    case 'functions':
      return (
        b.kind === 'functions' &&
        isSameExpression(a.index, b.index) &&
        a.among.every((f, k) => isSame(f, b.among[k] ?? UNDEFINED))
      );
    case 'class':
      return b.kind === 'class' && a.type === b.type;
    case 'host':
      return b.kind === 'host' && Object.is(a.value, b.value);
  }
}

function isSameAs(a: TExpr, b: TExpr | undefined): boolean {
  return b !== undefined && isSameExpression(a, b);
}

/** Whether two expressions of what stays as it is are the same. */
export function isSameExpression(a: TExpr, b: TExpr): boolean {
  if (a === b) return true;
  switch (a.k) {
    case 'lit':
      return b.k === 'lit' && Object.is(a.value, b.value);
    case 'local':
      return b.k === 'local' && a.local === b.local && a.local.stable;
    case 'arg':
      return b.k === 'arg' && a.arg === b.arg;
    case 'special':
      return b.k === 'special' && a.name === b.name;
    case 'extent':
      return b.k === 'extent' && a.root === b.root && a.axis === b.axis;
    case 'stride':
      return b.k === 'stride' && a.root === b.root && a.axis === b.axis && a.unit === b.unit;
    case 'index':
      return b.k === 'index' && isSameExpression(a.a, b.a);
    case 'arith': {
      if (b.k !== 'arith' || a.fn !== b.fn) return false;
      const others = operands(b);
      return operands(a).every((e, k) => isSameAs(e, others[k]));
    }
    default:
      return false;
  }
}
