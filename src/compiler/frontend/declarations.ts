/**
 * Declarations: `const`, `let` and `var`, with patterns, and the variables of `for … of`.
 */
import type { AnyNode, VariableDeclaration } from 'acorn';
import { destructure } from './assignments.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { declareEmpty } from './names.ts';
import { isReassigned } from './reassigned.ts';
import { isAbsent, type Scope, type Value } from './values.ts';

export function declaration(ctx: Evaluation, node: VariableDeclaration, scope: Scope): void {
  if ((node.kind as string) === 'using' || (node.kind as string) === 'await using') {
    fail('K101', ctx.pos(node, scope), '`using` cannot be used in a kernel: memory in a kernel is not disposed');
  }
  for (const d of node.declarations) {
    if (d.init == null) {
      if (node.kind !== 'var' && d.id.type === 'Identifier') declareEmpty(ctx, d.id.name, scope, ctx.pos(d.id, scope));
      continue;
    }
    const value = named(ctx.parts.evaluate(ctx, d.init, scope), d.id);
    destructure(ctx, d.id, value, scope, (target, v) => declareOne(ctx, node, target, v, scope));
  }
}

/** `const tile = cuda.shared.array(…)` and `const f = () => …` name memory and functions for messages. */
function named(v: Value, id: AnyNode): Value {
  if (v.kind === 'function' && v.fn.name === '' && id.type === 'Identifier')
    return { ...v, fn: { ...v.fn, name: id.name } };
  if (v.kind !== 'view' || id.type !== 'Identifier' || !v.view.name.startsWith('%')) return v;
  (v.view.root as { name: string }).name = id.name;
  return { kind: 'view', view: { ...v.view, name: id.name } };
}

/** Declares one name of a declaration, with its value. */
export function declareOne(
  ctx: Evaluation,
  node: VariableDeclaration,
  target: AnyNode,
  value: Value,
  scope: Scope,
): void {
  const pos = ctx.pos(target, scope);
  if (target.type !== 'Identifier') return fail('K101', pos, 'this cannot be declared in a kernel');
  if (node.kind === 'var') {
    const known = scope.find(target.name);
    if (known !== undefined && (known.value !== undefined || isAbsent(value))) return ctx.assign(known, value, pos);
    const binding = known ?? ctx.declare(scope, target.name, pos, !isReassigned(scope.captured.node, target));
    return ctx.initialise(binding, value, pos);
  }
  const constant = node.kind === 'const' || !isReassigned(scope.captured.node, target);
  ctx.initialise(ctx.declare(scope, target.name, pos, constant), value, pos);
}
