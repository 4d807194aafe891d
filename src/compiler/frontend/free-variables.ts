/**
 * Which names a function takes from outside: JavaScript's scope rules over an acorn tree.
 *
 * Parameters, destructuring, hoisted `var` and functions, block `let`/`const`/`class`, `catch` and loop heads bind;
 * labels, property keys and `new.target` are not names at all. Values are not looked at: that is `capture.ts`.
 */
import type { AnyNode, BlockStatement, Identifier, Node } from 'acorn';
import type { FunctionNode } from './captured.ts';
import { childrenOf } from './walk.ts';

interface Scope {
  readonly names: Set<string>;
  readonly parent: Scope | undefined;
}

/** The identifiers that a binding pattern (a parameter, the left of a declarator) declares, in source order. */
export function boundIdentifiers(pattern: Node): Identifier[] {
  const node = pattern as AnyNode;
  switch (node.type) {
    case 'Identifier':
      return [node];
    case 'ObjectPattern':
      return node.properties.flatMap((p) => boundIdentifiers(p.type === 'Property' ? p.value : p.argument));
    case 'ArrayPattern':
      return node.elements.flatMap((element) => (element === null ? [] : boundIdentifiers(element)));
    case 'AssignmentPattern':
      return boundIdentifiers(node.left);
    case 'RestElement':
      return boundIdentifiers(node.argument);
    default: // A member expression, in an assignment pattern: binds nothing.
      return [];
  }
}

/** The uses of each free name, in the order of the source. */
export type FreeVariables = Map<string, Identifier[]>;

/**
 * The names that are free in a function, each with its uses. A function expression's own name is bound in it. Globals
 * such as `Math` and `undefined` are free names too.
 */
export function freeVariables(fn: FunctionNode): FreeVariables {
  const free: FreeVariables = new Map();
  visitFunction(fn, undefined, free);
  return free;
}

function isFunction(node: AnyNode): node is AnyNode & FunctionNode {
  return (
    node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration'
  );
}

function visitFunction(fn: FunctionNode, outer: Scope | undefined, free: FreeVariables): void {
  // Default values of parameters see the parameters but not what the body declares, hence two scopes.
  const head: Scope = { names: new Set(), parent: outer };
  if (fn.id) head.names.add(fn.id.name);
  if (fn.type !== 'ArrowFunctionExpression') head.names.add('arguments');
  for (const param of fn.params) for (const { name } of boundIdentifiers(param)) head.names.add(name);
  for (const param of fn.params) visit(param, head, free);
  const body: Scope = { names: new Set(), parent: head };
  if (fn.body.type === 'BlockStatement') {
    hoistVars(fn.body, body.names);
    declareLexical(fn.body.body, body.names);
    for (const statement of fn.body.body) visit(statement, body, free);
  } else {
    visit(fn.body, body, free);
  }
}

/** `var` names of a function body, and its block-level functions, which sloppy code sees in the whole function. */
function hoistVars(node: Node, into: Set<string>): void {
  for (const child of childrenOf(node) as AnyNode[]) {
    if (child.type === 'VariableDeclaration' && child.kind === 'var') {
      for (const { id } of child.declarations) for (const { name } of boundIdentifiers(id)) into.add(name);
    }
    if (child.type === 'FunctionDeclaration' && child.id) into.add(child.id.name);
    // Only statements hold declarations; functions and classes keep theirs.
    if (/Statement$|^SwitchCase$|^CatchClause$/.test(child.type)) hoistVars(child, into);
  }
}

/** `let`, `const`, `using`, class and function names declared directly in a list of statements. */
function declareLexical(statements: readonly Node[], into: Set<string>): void {
  for (const statement of statements as readonly AnyNode[]) {
    if (statement.type === 'VariableDeclaration' && statement.kind !== 'var') {
      for (const { id } of statement.declarations) for (const { name } of boundIdentifiers(id)) into.add(name);
    }
    if ((statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') && statement.id) {
      into.add(statement.id.name);
    }
  }
}

function visitBlock(statements: BlockStatement['body'], scope: Scope, free: FreeVariables): void {
  const inner: Scope = { names: new Set(), parent: scope };
  declareLexical(statements, inner.names);
  for (const statement of statements) visit(statement, inner, free);
}

function visit(of: Node, scope: Scope, free: FreeVariables): void {
  const node = of as AnyNode;
  if (isFunction(node)) {
    visitFunction(node, scope, free);
    return;
  }
  switch (node.type) {
    case 'Identifier':
      reference(node, scope, free);
      return;
    case 'MemberExpression':
      visit(node.object, scope, free);
      if (node.computed) visit(node.property, scope, free);
      return;
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      if (node.computed) visit(node.key, scope, free);
      if (node.value) visit(node.value, scope, free);
      return;
    case 'LabeledStatement':
      visit(node.body, scope, free);
      return;
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
      return;
    case 'BlockStatement':
    case 'StaticBlock':
      visitBlock(node.body as BlockStatement['body'], scope, free);
      return;
    case 'SwitchStatement':
      visit(node.discriminant, scope, free);
      visitCases(node.cases, scope, free);
      return;
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'CatchClause':
    case 'ClassDeclaration':
    case 'ClassExpression':
      visitHeaded(node, scope, free);
      return;
    default:
      for (const child of childrenOf(node)) visit(child, scope, free);
  }
}

type Case = Extract<AnyNode, { type: 'SwitchCase' }>;

/** All cases of a switch share one block. */
function visitCases(cases: readonly Case[], scope: Scope, free: FreeVariables): void {
  const inner: Scope = { names: new Set(), parent: scope };
  for (const { consequent } of cases) declareLexical(consequent, inner.names);
  for (const { test, consequent } of cases) {
    if (test) visit(test, inner, free);
    for (const statement of consequent) visit(statement, inner, free);
  }
}

/** Nodes whose head declares names that the rest of the node sees. */
function visitHeaded(node: AnyNode, scope: Scope, free: FreeVariables): void {
  const inner: Scope = { names: new Set(), parent: scope };
  if (node.type === 'ForStatement' && node.init) declareLexical([node.init], inner.names);
  if (node.type === 'ForInStatement' || node.type === 'ForOfStatement') declareLexical([node.left], inner.names);
  if (node.type === 'CatchClause' && node.param)
    for (const { name } of boundIdentifiers(node.param)) inner.names.add(name);
  if ((node.type === 'ClassDeclaration' || node.type === 'ClassExpression') && node.id) inner.names.add(node.id.name);
  for (const child of childrenOf(node)) visit(child, inner, free);
}

function reference(node: Identifier, scope: Scope, free: FreeVariables): void {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) if (at.names.has(node.name)) return;
  const uses = free.get(node.name);
  if (uses === undefined) free.set(node.name, [node]);
  else uses.push(node);
}
