/**
 * Takes out of a tree what tools put in and no kernel means: Istanbul's counters (`cov_x().s[3]++`), esbuild's kept names
 * (`__name((x) => x, 'f')`), directives such as `'use strict'`, `debugger`, empty statements. Everything after this sees
 * the function as its author wrote it.
 *
 * Trees are changed in place; the nodes that stay keep their positions.
 */
import type { AnyNode, Expression, Node, Statement } from 'acorn';
import { isNode, walk } from './walk.ts';

/**
 * Whether an expression is an Istanbul counter: `cov_ab12().s[3]++`, `.f[0]++`, `.b[1][0]++`; `cov_ab12.s[3]++` in older
 * versions. Minifiers shorten the name of the called form, so there the shape alone decides.
 */
function isCoverageCounter(expression: Node): boolean {
  const node = expression as AnyNode;
  if (node.type !== 'UpdateExpression' || node.operator !== '++') return false;
  let at = node.argument as AnyNode;
  let indices = 0;
  while (at.type === 'MemberExpression' && at.computed && isCount(at.property as AnyNode)) {
    at = at.object as AnyNode;
    indices++;
  }
  if (at.type !== 'MemberExpression' || at.computed || at.property.type !== 'Identifier') return false;
  const table = at.property.name;
  if (indices !== (table === 's' || table === 'f' ? 1 : table === 'b' || table === 'bT' ? 2 : -1)) return false;
  const root = at.object as AnyNode;
  if (root.type === 'Identifier') return /^_*cov_/.test(root.name);
  return root.type === 'CallExpression' && root.arguments.length === 0 && root.callee.type === 'Identifier';
}

function isCount(node: AnyNode): boolean {
  return node.type === 'Literal' && (typeof node.value === 'number' || /^\d+$/.test(String(node.value)));
}

/**
 * The function in `__name((x) => x, 'f')`, by which esbuild's `keepNames` (tsx has it on) keeps a function's name. The
 * helper's own name may be minified; nothing that a kernel calls takes a function and a string.
 */
function namedFunction(node: AnyNode): AnyNode | undefined {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.arguments.length !== 2)
    return undefined;
  const [fn, name] = node.arguments as AnyNode[];
  if (name?.type !== 'Literal' || typeof name.value !== 'string') return undefined;
  return fn?.type === 'ArrowFunctionExpression' || fn?.type === 'FunctionExpression' ? fn : undefined;
}

/** Whether a statement is `__name(f, 'f')`, which follows a declaration of `f`. */
function isNaming(node: AnyNode): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== '__name')
    return false;
  const [fn, name] = node.arguments as AnyNode[];
  return fn?.type === 'Identifier' && name?.type === 'Literal' && typeof name.value === 'string';
}

/**
 * Whether a text can hold anything to be taken out: a counter, a string (of a directive or of a kept name), `debugger`, an empty
 * statement. Most kernels hold none, and need not be walked.
 */
function mayNeedCleaning(text: string): boolean {
  return /["'`]|\bdebugger\b|;\s*;|\.(?:s|f|b|bT)\[/.test(text);
}

/** Cleans everything below `root`, the tree of `text`. */
export function clean(root: Node, text: string): void {
  if (!mayNeedCleaning(text)) return;
  unminifyNaming(root);
  cleanBelow(root);
}

/** Gives a minified `__name(f, 'f')` its name back where `f` is declared in the tree. */
function unminifyNaming(root: Node): void {
  const declared = new Set<string>();
  walk(root, (at) => {
    const node = at as AnyNode;
    if (node.type === 'FunctionDeclaration' && node.id) declared.add(node.id.name);
    return true;
  });
  if (declared.size === 0) return;
  walk(root, (at) => {
    const node = at as AnyNode;
    if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.arguments.length !== 2) return true;
    const [fn, name] = node.arguments as AnyNode[];
    if (fn?.type !== 'Identifier' || !declared.has(fn.name)) return true;
    if (name?.type === 'Literal' && typeof name.value === 'string') node.callee.name = '__name';
    return true;
  });
}

function cleanBelow(node: Node): void {
  for (const [key, value] of Object.entries(node) as [string, unknown][]) {
    if (Array.isArray(value)) cleanList(node as AnyNode, key, value);
    else if (isNode(value)) cleanChild(node as AnyNode, key, value as AnyNode);
  }
}

function put(node: AnyNode, key: string, value: unknown): void {
  (node as unknown as Record<string, unknown>)[key] = value;
}

function cleanList(node: AnyNode, key: string, list: unknown[]): void {
  const statements = key === 'body' || key === 'consequent';
  const kept: unknown[] = [];
  for (const item of list) {
    if (!isNode(item)) {
      kept.push(item);
    } else if (statements) {
      const statement = cleanStatement(item as Statement);
      if (statement !== undefined) kept.push(statement);
    } else {
      kept.push(cleanExpression(item as AnyNode));
    }
  }
  put(node, key, kept);
}

function cleanChild(parent: AnyNode, key: string, child: AnyNode): void {
  const ignored = parent.type === 'ForStatement' && (key === 'init' || key === 'update');
  if (ignored && child.type !== 'VariableDeclaration') {
    put(parent, key, effectOf(child) ?? null);
  } else if (isStatementSlot(parent, key)) {
    put(parent, key, cleanStatement(child as Statement) ?? emptyFor(parent, key, child));
  } else {
    put(parent, key, cleanExpression(child));
  }
}

function isStatementSlot(parent: AnyNode, key: string): boolean {
  if (key === 'body') return /^(For|While|DoWhile|Labeled)/.test(parent.type);
  return parent.type === 'IfStatement' && (key === 'consequent' || key === 'alternate');
}

/** What stands for a statement that was only a counter where the grammar wants one. */
function emptyFor(parent: AnyNode, key: string, child: AnyNode): AnyNode | null {
  if (parent.type === 'IfStatement' && key === 'alternate') return null;
  return { type: 'BlockStatement', start: child.start, end: child.end, body: [] };
}

/** The statement without what it should not have; undefined when nothing is left. */
function cleanStatement(statement: Statement): Statement | undefined {
  if (statement.type === 'EmptyStatement' || statement.type === 'DebuggerStatement') return undefined;
  if (statement.type === 'ExpressionStatement') {
    if (isDirective(statement)) return undefined;
    const effect = effectOf(statement.expression as AnyNode);
    if (effect === undefined) return undefined;
    statement.expression = effect as Expression;
    return statement;
  }
  cleanBelow(statement);
  return statement;
}

function isDirective(statement: AnyNode): boolean {
  return 'directive' in statement && typeof statement.directive === 'string';
}

/** An expression whose value is used: a sequence loses its counters, and is no sequence when one part remains. */
function cleanExpression(node: AnyNode): AnyNode {
  if (node.type === 'SequenceExpression') {
    const last = node.expressions.length - 1;
    const kept = node.expressions.flatMap((part, i) => {
      const cleaned = i === last ? cleanExpression(part as AnyNode) : effectOf(part as AnyNode);
      return cleaned === undefined ? [] : [cleaned as Expression];
    });
    if (kept.length === 1 && kept.length <= last) return kept[0] as AnyNode;
    node.expressions = kept;
    return node;
  }
  const named = namedFunction(node);
  if (named !== undefined) return cleanExpression(named);
  cleanBelow(node);
  return node;
}

/** An expression whose value nobody uses; undefined when it was only counters. */
function effectOf(node: AnyNode): AnyNode | undefined {
  if (isCoverageCounter(node) || isNaming(node)) return undefined;
  if (node.type === 'SequenceExpression') {
    const kept = node.expressions.flatMap((part) => {
      const effect = effectOf(part as AnyNode);
      return effect === undefined ? [] : [effect as Expression];
    });
    if (kept.length <= 1) return kept[0] as AnyNode | undefined;
    node.expressions = kept;
    return node;
  }
  // Minifiers turn `if (c) { counter; f() } else { counter }` into `c ? (counter, f()) : counter`.
  if (node.type === 'ConditionalExpression') return conditionalEffect(node);
  if (node.type === 'LogicalExpression') {
    const right = effectOf(node.right as AnyNode);
    if (right === undefined) return cleanExpression(node.left as AnyNode);
    node.left = cleanExpression(node.left as AnyNode) as Expression;
    node.right = right as Expression;
    return node;
  }
  return cleanExpression(node);
}

function conditionalEffect(node: Extract<AnyNode, { type: 'ConditionalExpression' }>): AnyNode {
  const test = cleanExpression(node.test as AnyNode) as Expression;
  const then = effectOf(node.consequent as AnyNode);
  const otherwise = effectOf(node.alternate as AnyNode);
  if (then === undefined && otherwise === undefined) return test as AnyNode;
  if (then !== undefined && otherwise !== undefined) {
    node.test = test;
    node.consequent = then as Expression;
    node.alternate = otherwise as Expression;
    return node;
  }
  const { start, end } = node;
  const right = (then ?? otherwise) as Expression;
  return { type: 'LogicalExpression', operator: then === undefined ? '||' : '&&', left: test, right, start, end };
}
