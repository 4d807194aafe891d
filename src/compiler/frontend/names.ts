/**
 * Names inside a function: which are hoisted to its top, and which are used before they have a value. Which are assigned again is `reassigned.ts`.
 */
import type { AnyNode } from 'acorn';
import type { Pos } from '../source.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { boundIdentifiers } from './free-variables.ts';
import { isReassigned } from './reassigned.ts';
import type { Binding, Scope } from './values.ts';
import { forEachChild, walk } from './walk.ts';

/** Declares `var`s and function declarations of a function body, before its statements run. */
export function hoist(ctx: Evaluation, body: readonly AnyNode[], scope: Scope): void {
  const declareVars = (n: AnyNode): void => {
    if (n.type === 'FunctionDeclaration' || n.type === 'FunctionExpression' || n.type === 'ArrowFunctionExpression')
      return;
    if (n.type === 'VariableDeclaration' && n.kind === 'var') {
      for (const d of n.declarations)
        for (const id of boundIdentifiers(d.id)) {
          if (!scope.names.has(id.name)) declareEmpty(ctx, id.name, scope, ctx.pos(id, scope), body);
        }
    }
    // Only statements hold declarations.
    forEachChild(n, (child) => {
      if (/Statement$|^SwitchCase$|^VariableDeclaration$/.test(child.type)) declareVars(child as AnyNode);
    });
  };
  body.forEach(declareVars);
  hoistFunctions(ctx, body, scope);
}

/**
 * Declares a variable without a value. It needs a flag unless the first that happens to it in its own list of statements is an
 * assignment.
 */
export function declareEmpty(ctx: Evaluation, name: string, scope: Scope, pos: Pos, list?: readonly AnyNode[]): void {
  const ahead = scope.names.get(name);
  const constant = list !== undefined && !isReassigned(scope.captured.node, name);
  const binding = ctx.declare(scope, name, pos, constant);
  if (binding.flag === undefined && (list === undefined ? ahead?.assignedFirst === true : isAssignedFirst(list, name)))
    return;
  binding.flag ??= ctx.newLocal('%has', pos, false);
  ctx.emit({ k: 'presence', flag: binding.flag, is: 'undefined', why: `${name} is declared without a value`, pos });
}

const mentions = new WeakMap<AnyNode, ReadonlySet<string>>();

function mentionedIn(node: AnyNode): ReadonlySet<string> {
  let names = mentions.get(node) as Set<string> | undefined;
  if (names === undefined) {
    const found = new Set<string>();
    walk(node, (n) => {
      if (n.type === 'Identifier') found.add((n as AnyNode & { name: string }).name);
      return true;
    });
    names = found;
    mentions.set(node, found);
  }
  return names;
}

const mentioning = new WeakMap<readonly AnyNode[], ReadonlyMap<string, readonly AnyNode[]>>();

/** The statements of a list that mention a name. */
function thoseWith(list: readonly AnyNode[], name: string): readonly AnyNode[] {
  let byName = mentioning.get(list);
  if (byName === undefined) {
    const found = new Map<string, AnyNode[]>();
    for (const s of list) {
      for (const one of mentionedIn(s)) {
        const known = found.get(one);
        if (known === undefined) found.set(one, [s]);
        else known.push(s);
      }
    }
    byName = found;
    mentioning.set(list, byName);
  }
  return byName.get(name) ?? [];
}

/** Whether the first statement of a list that mentions a name, but to declare it, gives it a value. */
function isAssignedFirst(list: readonly AnyNode[], name: string): boolean {
  for (const s of thoseWith(list, name)) {
    const assigned = firstAssigned(s, name);
    if (assigned !== 'declared') return assigned;
  }
  return false;
}

function firstAssigned(s: AnyNode, name: string): boolean | 'declared' {
  switch (s.type) {
    case 'VariableDeclaration': {
      const d = s.declarations.find((each) => mentionedIn(each).has(name));
      if (d === undefined || d.id.type !== 'Identifier' || d.id.name !== name) return false;
      if (d.init != null) return !mentionedIn(d.init).has(name);
      // Further declarators of the statement may use it.
      const later = s.declarations.slice(s.declarations.indexOf(d) + 1);
      return later.some((each) => mentionedIn(each).has(name)) ? false : 'declared';
    }
    case 'ExpressionStatement':
      return firstAssigned(s.expression, name);
    case 'SequenceExpression': {
      const first = s.expressions.find((e) => mentionedIn(e).has(name));
      return first !== undefined && firstAssigned(first, name);
    }
    case 'AssignmentExpression':
      if (s.operator !== '=' || s.left.type !== 'Identifier' || mentionedIn(s.right).has(name)) {
        // a = b = 0
        return (
          s.operator === '=' && s.left.type === 'Identifier' && s.left.name !== name && firstAssigned(s.right, name)
        );
      }
      return s.left.name === name;
    case 'ForStatement':
      return s.init != null && mentionedIn(s.init).has(name) && firstAssigned(s.init, name);
    default:
      return false;
  }
}

/**
 * Names that `let` and `const` directly in a list of statements will declare. Until then they may not be used, and hide those around them
 * (ECMA-262, BlockDeclarationInstantiation).
 */
export function declareAhead(ctx: Evaluation, body: readonly AnyNode[], scope: Scope): void {
  for (const s of body) {
    if (s.type !== 'VariableDeclaration' || s.kind === 'var') continue;
    for (const { id } of s.declarations) {
      for (const at of boundIdentifiers(id)) {
        const binding = ctx.declare(scope, at.name, ctx.pos(at, scope), true);
        binding.ahead = true;
        binding.assignedFirst = s.kind === 'let' && isAssignedFirst(body, at.name);
      }
    }
  }
}

/** Refuses a name whose declaration comes later. */
export function refuseAhead({ name, ahead = false }: Binding, pos: Pos): void {
  if (ahead) fail('K311', pos, `${name} is used before its declaration`, { help: 'declare it further up' });
}

/** Function declarations directly in a list of statements. */
export function hoistFunctions(ctx: Evaluation, body: readonly AnyNode[], scope: Scope): void {
  for (const s of body) {
    if (s.type !== 'FunctionDeclaration' || s.id == null) continue;
    const b = ctx.declare(scope, s.id.name, ctx.pos(s, scope), true);
    b.value = { kind: 'function', fn: { name: s.id.name, node: s, captured: scope.captured, scope } };
  }
}
