/**
 * Syntax trees as ESLint, typescript-eslint and oxlint have them: what the rules use of nodes, and walks over them.
 */

/** A node of ESTree, or of TypeScript's additions to it. */
export interface Node {
  /** ESTree's name of the kind of node. */
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Where nodes point back to, and what is not syntax. */
const NO_CHILDREN: ReadonlySet<string> = new Set([
  'parent',
  'loc',
  'range',
  'tokens',
  'comments',
  'extra',
  'start',
  'end',
]);

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** The child nodes, in the order of the text. */
export function childrenOf(node: Node): readonly Node[] {
  return Object.entries(node).flatMap(([key, value]) => {
    if (NO_CHILDREN.has(key)) return [];
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

/** Calls `visit` for a node and all below it, from the outside in; not for what is below a node for which it gives false. */
export function walk(node: Node, visit: (node: Node) => unknown): void {
  if (visit(node) === false) return;
  for (const child of childrenOf(node)) walk(child, visit);
}

/** Whether a node or one below it is what `test` looks for. */
export function some(node: Node, test: (node: Node) => boolean): boolean {
  return test(node) || childrenOf(node).some((child) => some(child, test));
}

/** A child by its name, if it is there. */
export function child(node: Node, key: string): Node | undefined {
  const value = node[key];
  return isNode(value) ? value : undefined;
}

/** Children in a list by its name; holes are left out. */
export function list(node: Node, key: string): readonly Node[] {
  const value = node[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

const WRAPPERS: ReadonlySet<string> = new Set([
  'TSNonNullExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
  'ParenthesizedExpression',
  'ChainExpression',
]);

/** An expression without what only concerns types: `x!`, `x as T`, `(x)`. */
export function bare(node: Node): Node {
  const inner = WRAPPERS.has(node.type) ? child(node, 'expression') : undefined;
  return inner === undefined ? node : bare(inner);
}

/** The name of an identifier. */
export function nameOf(node: Node | undefined): string | undefined {
  return node?.type === 'Identifier' && typeof node['name'] === 'string' ? node['name'] : undefined;
}

/** `x` of `a.b.x` and of `x`: what is called or read. */
export function lastName(node: Node): string | undefined {
  const inner = bare(node);
  if (inner.type !== 'MemberExpression') return nameOf(inner);
  return inner['computed'] === true ? undefined : nameOf(child(inner, 'property'));
}

/** The value of a number literal. */
export function numberOf(node: Node): number | undefined {
  const inner = bare(node);
  const { value } = inner;
  return /^(?:Numeric)?Literal$/.test(inner.type) && typeof value === 'number' ? value : undefined;
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'ArrowFunctionExpression',
  'FunctionExpression',
  'FunctionDeclaration',
]);

export function isFunction(node: Node): boolean {
  return FUNCTIONS.has(node.type);
}
