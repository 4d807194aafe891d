/**
 * Statements of the source, branches and jumps. What runs in a loop or a branch goes into a list of its own.
 */
import type { AnyNode, ReturnStatement } from 'acorn';
import type { Pos } from '../source.ts';
import { block, labelledBlock } from './blocks.ts';
import { evaluateClass } from './classes.ts';
import { declaration } from './declarations.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation, JumpTarget } from './evaluation.ts';
import { branchStatement, condition, discard } from './expressions.ts';
import { doWhileStatement, forIn, forOf, forStatement, whileStatement } from './loops.ts';
import { jumps } from './measures.ts';
import { declareAhead, hoistFunctions } from './names.ts';
import { noteResult } from './partial-variables.ts';
import { constantText } from './printing.ts';
import { switchStatement } from './switch.ts';
import { describeValue, isAbsent, type Scope, UNDEFINED } from './values.ts';

/** Writes the statements of a list; what follows a jump is never reached and left out. */
export function statements(ctx: Evaluation, list: readonly AnyNode[], scope: Scope): void {
  declareAhead(ctx, list, scope);
  hoistFunctions(ctx, list, scope);
  for (const s of list) {
    statement(ctx, s, scope, []);
    if (jumps(ctx.list)) return;
  }
}

function statement(ctx: Evaluation, node: AnyNode, scope: Scope, labels: readonly string[]): void {
  const pos = ctx.pos(node, scope);
  switch (node.type) {
    case 'EmptyStatement':
    case 'FunctionDeclaration':
    case 'DebuggerStatement':
      return;
    case 'ExpressionStatement':
      return discard(ctx, node.expression, scope);
    case 'VariableDeclaration':
      return declaration(ctx, node, scope);
    case 'BlockStatement':
      return labels.length === 0 ? block(ctx, node, scope) : labelledBlock(ctx, node, scope, labels, pos);
    case 'IfStatement':
      return ifStatement(
        ctx,
        node.test,
        () => block(ctx, node.consequent, scope),
        node.alternate == null
          ? undefined
          : () => {
              if (node.alternate != null) block(ctx, node.alternate, scope);
            },
        scope,
        pos,
      );
    case 'ForStatement':
      return forStatement(ctx, node, scope, labels, pos);
    case 'WhileStatement':
      return whileStatement(ctx, node, scope, labels, pos);
    case 'DoWhileStatement':
      return doWhileStatement(ctx, node, scope, labels, pos);
    case 'ForOfStatement':
      return forOf(ctx, node, scope, labels, pos);
    case 'ForInStatement':
      return forIn(ctx, node, scope, labels, pos);
    case 'SwitchStatement':
      return switchStatement(ctx, node, scope, labels, pos);
    case 'LabeledStatement':
      return statement(ctx, node.body, scope, [...labels, node.label.name]);
    case 'BreakStatement':
    case 'ContinueStatement': {
      const target = jumpTarget(ctx, node.type === 'BreakStatement', node.label?.name, pos);
      ctx.emit({ k: node.type === 'BreakStatement' ? 'break' : 'continue', label: target.label, pos });
      return;
    }
    case 'ReturnStatement':
      return returnStatement(ctx, node, scope, pos);
    case 'ThrowStatement':
      return throwStatement(ctx, node.argument, scope, pos);
    case 'TryStatement':
      return fail('K101', pos, '`try` cannot be used in a kernel: nothing can be caught there', {
        help: 'test the condition instead',
      });
    case 'ClassDeclaration': {
      const type = evaluateClass(ctx, node, scope);
      if (node.id != null) ctx.declare(scope, node.id.name, pos, true).value = { kind: 'class', type };
      return;
    }
    default:
      return fail('K101', pos, `${node.type} cannot be used in a kernel`);
  }
}

function ifStatement(
  ctx: Evaluation,
  test: AnyNode,
  then: () => void,
  otherwise: (() => void) | undefined,
  scope: Scope,
  pos: Pos,
): void {
  if (otherwise === undefined && test.type === 'LogicalExpression' && test.operator === '&&') {
    // if (a && b) S is if (a) if (b) S: what guards an access then stands around it.
    return ifStatement(
      ctx,
      test.left,
      () => ifStatement(ctx, test.right, then, undefined, scope, pos),
      undefined,
      scope,
      pos,
    );
  }
  branchStatement(ctx, condition(ctx, test, scope), then, otherwise ?? (() => {}), pos);
}

function jumpTarget(ctx: Evaluation, isBreak: boolean, name: string | undefined, pos: Pos): JumpTarget {
  const targets = ctx.frame.targets;
  for (let k = targets.length - 1; k >= 0; k--) {
    const t = targets[k];
    if (t === undefined) continue;
    if (
      name !== undefined
        ? t.names.includes(name) && (isBreak || t.kind === 'loop')
        : isBreak
          ? t.kind !== 'block'
          : t.kind === 'loop'
    )
      return t;
  }
  return fail(
    'K103',
    pos,
    name === undefined ? 'there is no loop here to leave' : `there is no loop or block labelled ${name} here`,
  );
}

function returnStatement(ctx: Evaluation, node: ReturnStatement, scope: Scope, pos: Pos): void {
  const frame = ctx.frame;
  if (frame.fn === 'kernel') {
    if (node.argument != null) kernelResult(ctx, node.argument, scope);
    ctx.emit({ k: 'return', pos });
    return;
  }
  const value = node.argument == null ? UNDEFINED : ctx.parts.evaluate(ctx, node.argument, scope);
  noteResult(
    ctx,
    frame,
    value,
    pos,
    `${frame.fn.name || 'this function'}() returns ${node.argument == null ? 'nothing' : describeValue(value)} here`,
  );
  frame.returned = true;
  if (frame.label !== undefined) ctx.emit({ k: 'break', label: frame.label, pos });
}

/** What a kernel returns: nothing, though minifiers write `return void f()` and `return a && b()`. */
export function kernelResult(ctx: Evaluation, node: AnyNode, scope: Scope): void {
  const effects =
    /^(AssignmentExpression|UpdateExpression|CallExpression|SequenceExpression|LogicalExpression|ConditionalExpression)$/.test(
      node.type,
    );
  if (effects) return discard(ctx, node, scope);
  const value = ctx.parts.evaluate(ctx, node, scope);
  if (isAbsent(value)) return;
  fail('K317', ctx.pos(node, scope), `a kernel returns nothing, but this returns ${describeValue(value)}`, {
    help: 'store the result in an array argument',
  });
}

function throwStatement(ctx: Evaluation, node: AnyNode, scope: Scope, pos: Pos): void {
  let message = 'error thrown';
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    const [text] = node.arguments;
    if (text !== undefined) message = constantText(ctx, [text], scope);
  } else fail('K101', pos, 'only errors can be thrown in a kernel', { help: "throw new Error('what went wrong')" });
  // Without `debug` there is nobody to tell: the thread ends.
  ctx.emit(ctx.options.debug ? { k: 'trap', message, pos } : { k: 'return', pos });
}
