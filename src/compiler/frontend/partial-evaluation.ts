/**
 * Partial evaluation: a captured function and its argument types become the tree that inference works on.
 */

import type { ArgType, CompileOptions } from '../contract.ts';
import { typeOfElem } from '../types/lattice.ts';
import type { ScalarArg, TStmt } from '../types/tree.ts';
import { argumentView } from './arrays.ts';
import { destructure } from './assignments.ts';
import { call } from './calls.ts';
import type { CapturedFunction } from './captured.ts';
import { fail } from './diagnostics.ts';
import { Evaluation } from './evaluation.ts';
import { condition, evaluate } from './expressions.ts';
import { Hints, Reconsider } from './hints.ts';
import { hoist, isReassigned } from './names.ts';
import { resolvePresence } from './presence.ts';
import { kernelResult, statements } from './statements.ts';
import { Scope, scalar, type Value } from './values.ts';

export interface PartiallyEvaluated {
  readonly context: Evaluation;
  readonly body: readonly TStmt[];
}

export function evaluatePartially(
  fn: CapturedFunction,
  args: readonly ArgType[],
  options: CompileOptions,
): PartiallyEvaluated {
  const hints = new Hints();
  for (;;) {
    try {
      return evaluateWith(fn, args, options, hints);
    } catch (error) {
      if (!(error instanceof Reconsider)) throw error;
    }
  }
}

function evaluateWith(
  fn: CapturedFunction,
  args: readonly ArgType[],
  options: CompileOptions,
  hints: Hints,
): PartiallyEvaluated {
  const ctx = new Evaluation({ evaluate, condition, statements, call }, options, hints);
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
  return { context: ctx, body: resolvePresence(body) };
}

function parameters(ctx: Evaluation, fn: CapturedFunction, args: readonly ArgType[], scope: Scope): void {
  const rest = fn.node.params.at(-1)?.type === 'RestElement';
  const required = fn.node.params.filter((p) => p.type !== 'AssignmentPattern' && p.type !== 'RestElement').length;
  if (args.length < required || (!rest && args.length > fn.node.params.length)) {
    const names = fn.node.params.map((p) => fn.source.text.slice(p.start, p.end)).join(', ');
    fail(
      'K316',
      ctx.pos(fn.node, scope),
      `the kernel takes ${required}${required === fn.node.params.length ? '' : ` to ${fn.node.params.length}`} arguments (${names}), not ${args.length}`,
    );
  }
  fn.node.params.forEach((param, k) => {
    const pos = ctx.pos(param, scope);
    const name = param.type === 'Identifier' ? param.name : `argument ${k}`;
    const target = param.type === 'RestElement' ? param.argument : param;
    const type = args[k];
    const value: Value =
      param.type === 'RestElement'
        ? { kind: 'tuple', items: args.slice(k).map((t, n) => argument(ctx, t, `${name}[${n}]`, [k + n], pos)) }
        : type === undefined
          ? { kind: 'host', value: undefined, name }
          : argument(ctx, type, name, [k], pos);
    destructure(ctx, target, value, scope, (node, v) => {
      const at = ctx.pos(node, scope);
      if (node.type !== 'Identifier') return fail('K101', at, 'this parameter cannot be used in a kernel');
      const constant = !isReassigned(fn.node, node.name);
      const binding = ctx.declare(scope, node.name, at, constant);
      if (constant) binding.value = ctx.named(rename(v, node.name), node.name, at);
      else ctx.initialise(binding, v, at);
    });
  });
}

/** Destructured arguments are called by their own names. */
function rename(v: Value, name: string): Value {
  if (v.kind !== 'view' || !/[[\] ]/.test(v.view.name)) return v;
  (v.view.root as { name: string }).name = name;
  return { kind: 'view', view: { ...v.view, name } };
}

function argument(
  ctx: Evaluation,
  type: ArgType,
  name: string,
  path: readonly number[],
  pos: ReturnType<Evaluation['pos']>,
): Value {
  switch (type.kind) {
    case 'array':
      return { kind: 'view', view: argumentView(ctx, type, name, path, pos) };
    case 'tuple':
      return { kind: 'tuple', items: type.items.map((t, k) => argument(ctx, t, `${name}[${k}]`, [...path, k], pos)) };
    default: {
      const given: ScalarArg['given'] = type.kind === 'scalar' ? typeOfElem(type.type) : type.kind;
      const arg: ScalarArg = { name, path, pos, given, type: undefined, demand: undefined, defaulted: false };
      ctx.args.push(arg);
      return scalar({ k: 'arg', arg, pos });
    }
  }
}
