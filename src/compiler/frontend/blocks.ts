/**
 * Lists of statements in a scope of their own, and what a list ends in.
 */
import type { AnyNode } from 'acorn';
import type { Pos } from '../source.ts';
import type { TStmt } from '../types/tree.ts';
import type { Evaluation, JumpTarget } from './evaluation.ts';
import { Scope } from './values.ts';

/** The statements of a block, or the one statement that stands for it. */
export function block(ctx: Evaluation, node: AnyNode, scope: Scope): void {
  const inner = new Scope(scope, scope.captured, false);
  ctx.parts.statements(ctx, node.type === 'BlockStatement' ? node.body : [node], inner);
  inner.closed = true;
}

/** A block that `break` may leave by name. */
export function labelledBlock(ctx: Evaluation, node: AnyNode, scope: Scope, labels: readonly string[], pos: Pos): void {
  const target: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'block' };
  ctx.frame.targets.push(target);
  const body = ctx.branch(() => block(ctx, node, scope));
  ctx.frame.targets.pop();
  ctx.emit({ k: 'block', label: target.label, body, pos });
}

/** Whether a list ends by leaving a construct. */
export function endsIn(list: readonly TStmt[], label: number): boolean {
  const last = list.at(-1);
  return last?.k === 'break' && last.label === label;
}
