/**
 * Partial evaluation: a captured function and its argument types become the tree that inference works on.
 */

import { LANES, type VectorToken } from '../../dtype/index.ts';
import type { ArgType, CompileOptions, Constant } from '../contract.ts';
import type { Pos } from '../source.ts';
import { typeOfElem } from '../types/lattice.ts';
import type { ScalarArg, TExpr, TStmt } from '../types/tree.ts';
import { madeAt } from './array-sites.ts';
import { argumentView } from './arrays.ts';
import { destructure } from './assignments.ts';
import type { CapturedFunction } from './captured.ts';
import { asObject, classOfHost } from './classes.ts';
import { paired } from './complex.ts';
import { fail } from './diagnostics.ts';
import { Evaluation } from './evaluation.ts';
import { condition, evaluate } from './expressions.ts';
import { Hints, Reconsider } from './hints.ts';
import { call } from './inlining.ts';
import { refuseMixedKinds } from './kinds.ts';
import { hoist } from './names.ts';
import { resolvePresence } from './presence.ts';
import { isReassigned } from './reassigned.ts';
import { type Settled, settleNames } from './record-names.ts';
import { ownText } from './records.ts';
import { guessAgain } from './recursion.ts';
import { kernelResult, statements } from './statements.ts';
import { chosenTexts } from './texts.ts';
import { timeOf } from './times.ts';
import { unfoldRecursion } from './unfold.ts';
import { isAbsent, Scope, scalar, UNDEFINED, type Value } from './values.ts';
import { vectorOf } from './vectors.ts';

export interface PartiallyEvaluated extends Settled {
  readonly context: Evaluation;
}

/** What is done to a program once it has been evaluated. */
export type Settle = (body: readonly TStmt[]) => readonly TStmt[];

export function evaluatePartially(
  fn: CapturedFunction,
  args: readonly ArgType[],
  options: CompileOptions,
  settle: Settle = (body) => body,
): PartiallyEvaluated {
  const hints = new Hints();
  for (;;) {
    hints.stale = false;
    try {
      const result = evaluateWith(fn, args, options, hints, settle);
      if (!hints.stale) return result;
    } catch (error) {
      if (!(error instanceof Reconsider) && !hints.stale) throw error;
    }
  }
}

function evaluateWith(
  fn: CapturedFunction,
  args: readonly ArgType[],
  options: CompileOptions,
  hints: Hints,
  settle: Settle,
): PartiallyEvaluated {
  const ctx = new Evaluation(
    { evaluate, condition, statements, call, asObject, ownText, chosenTexts, guessAgain },
    fn,
    options,
    hints,
  );
  const scope = new Scope(undefined, fn, true);
  ctx.frames.push({ fn: 'kernel', label: undefined, result: undefined, returned: false, targets: [], site: undefined });
  if (fn.node.async === true || fn.node.generator === true) {
    fail('K101', ctx.pos(fn.node, scope), `a kernel cannot be ${fn.node.async ? 'async' : 'a generator'}`, {
      help: 'a kernel runs to its end; wait on the host',
    });
  }
  const body = ctx.collect(() => {
    parameters(ctx, fn, args, scope);
    const node = fn.node.body;
    if (node.type !== 'BlockStatement') kernelResult(ctx, node, scope);
    else {
      hoist(ctx, node.body, scope);
      statements(ctx, node.body, scope);
    }
  });
  if (body.at(-1)?.k === 'return') body.pop();
  for (const refuse of ctx.supposed.values()) refuse?.();
  refuseMixedKinds(ctx);
  return { context: ctx, ...settleNames(ctx, unfoldRecursion(ctx, settle(resolvePresence(body)))) };
}

function parameters(ctx: Evaluation, fn: CapturedFunction, args: readonly ArgType[], scope: Scope): void {
  const rest = fn.node.params.at(-1)?.type === 'RestElement';
  if (!rest && args.length > fn.node.params.length) {
    const names = fn.node.params.map((p) => fn.source.text.slice(p.start, p.end)).join(', ');
    fail(
      'K316',
      ctx.pos(fn.node, scope),
      `the kernel takes ${fn.node.params.length} arguments (${names}), not ${args.length}`,
    );
  }
  fn.node.params.forEach((param, k) => {
    const pos = ctx.pos(param, scope);
    const target = param.type === 'RestElement' ? param.argument : param;
    const named = target.type === 'AssignmentPattern' ? target.left : target;
    const name = named.type === 'Identifier' ? named.name : `argument ${k + 1}`;
    const type = args[k];
    const value: Value =
      param.type === 'RestElement'
        ? { kind: 'tuple', items: args.slice(k).map((t, n) => argument(ctx, t, `${name}[${n}]`, [k + n], pos)) }
        : type === undefined
          ? constantArgument(undefined, name, [k], pos)
          : argument(ctx, type, name, [k], pos);
    destructure(ctx, target, value, scope, (node, v) => {
      const at = ctx.pos(node, scope);
      if (node.type !== 'Identifier') return fail('K101', at, 'this parameter cannot be used in a kernel');
      const constant = !isReassigned(fn.node, node);
      const binding = ctx.declare(scope, node.name, at, constant);
      if (isAbsent(v)) ctx.initialise(binding, v, at);
      else if (constant) binding.value = ctx.named(rename(v, node.name), node.name, at);
      else ctx.initialise(binding, v, at);
    });
  });
}

/** An argument that the kernel is compiled for as it is; messages say that it came with the launch. */
function constantArgument(value: Constant, name: string, [first = 0]: readonly number[], pos: Pos): Value {
  if (typeof value === 'function') return { kind: 'host', value, name };
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  const which = name.startsWith('argument ') ? name : `argument ${first + 1} (\`${name}\`)`;
  return { kind: 'host', value, name, why: { text: `${which} is ${shown}`, pos } };
}

/** Destructured arguments are called by their own names. */
function rename(v: Value, name: string): Value {
  if (v.kind === 'scalar' && v.expr.k === 'arg' && v.expr.arg.name.startsWith('argument '))
    (v.expr.arg as { name: string }).name = name;
  if (v.kind !== 'view' || !/[[\]. ]/.test(v.view.name)) return v;
  (v.view.root as { name: string }).name = name;
  return { kind: 'view', view: { ...v.view, name } };
}

function argument(ctx: Evaluation, type: ArgType, name: string, path: readonly number[], pos: Pos): Value {
  switch (type.kind) {
    case 'array':
      return { kind: 'view', view: argumentView(ctx, type, name, path, pos) };
    case 'tuple': {
      const { items, names, maker } = type;
      if (type.complex) return complexArgument(ctx, items, name, path, pos);
      if (type.vector !== undefined) return vectorArgument(ctx, type.vector, items, name, path, pos);
      if (names === undefined) return tupleArgument(ctx, type, name, path, pos, false);
      const fields = names.map((key, k): [string, Value] => {
        const item = items[k];
        return [key, item === undefined ? UNDEFINED : argument(ctx, item, `${name}.${key}`, [...path, k], pos)];
      });
      const own = maker && classOfHost(ctx, maker, pos);
      return { kind: 'record', fields: new Map(fields), type: own, identity: { from: 'launch' } };
    }
    case 'constant':
      return constantArgument(type.value, name, path, pos);
    default: {
      const given = givenType(type);
      const arg: ScalarArg = { name, path, pos, given, type: undefined, demand: undefined, defaulted: false };
      ctx.args.push(arg);
      const value: TExpr = { k: 'arg', arg, pos };
      return type.kind === 'scalar' && type.time !== undefined ? timeOf(type.time, value) : scalar(value);
    }
  }
}

/** How the type of a scalar argument begins: fractional numbers take the float type of what they meet. */
function givenType(type: Exclude<ArgType, { kind: 'array' | 'tuple' | 'constant' }>): ScalarArg['given'] {
  if (type.kind === 'scalar') return typeOfElem(type.type);
  if (type.kind !== 'number' || type.only === undefined) return type.kind;
  return type.only === 'fraction' ? 'F' : 'u32';
}

/** A complex number comes as its parts. */
function complexArgument(
  ctx: Evaluation,
  items: readonly ArgType[],
  name: string,
  path: readonly number[],
  pos: ReturnType<Evaluation['pos']>,
): Value {
  const [re, im] = items.map((t, k) => argument(ctx, t, `${name}.${k === 0 ? 're' : 'im'}`, [...path, k], pos));
  if (re?.kind !== 'scalar' || im?.kind !== 'scalar') throw new Error(`${name} has no parts`);
  return paired(re.expr, im.expr);
}

/** A vector comes as its lanes. */
function vectorArgument(
  ctx: Evaluation,
  vector: VectorToken<unknown>,
  items: readonly ArgType[],
  name: string,
  path: readonly number[],
  pos: ReturnType<Evaluation['pos']>,
): Value {
  const lanes = items.map((t, k) => ctx.scalar(argument(ctx, t, `${name}.${LANES[k]}`, [...path, k], pos), pos));
  return vectorOf(vector, lanes);
}

/** An array of the host, in variables. The rows of one in memory are parts of it. */
function tupleArgument(
  ctx: Evaluation,
  type: Extract<ArgType, { kind: 'tuple' }>,
  name: string,
  path: readonly number[],
  pos: ReturnType<Evaluation['pos']>,
  isRow: boolean,
): Value {
  const inMemory = isRow || ctx.hints.isMemory(type);
  const items = type.items.map((t, k) => {
    const [own, at] = [`${name}[${k}]`, [...path, k]];
    return inMemory && t.kind === 'tuple' && !t.complex && t.vector === undefined && t.names === undefined
      ? tupleArgument(ctx, t, own, at, pos, true)
      : argument(ctx, t, own, at, pos);
  });
  return isRow ? { kind: 'tuple', items } : madeAt(ctx, type, items, pos);
}
