/**
 * Takes back what ES5 output makes of default parameters:
 * `var width = arguments.length > 1 && arguments[1] !== undefined ? arguments[1] : 0.5;` is a parameter `width = 0.5`.
 */
import type { AnyNode, Node, Pattern } from 'acorn';
import type { FunctionNode } from './captured.ts';
import { rewrite, walk } from './walk.ts';

/** Rewrites a function and those in it, in place. */
export function undoDefaults(fn: FunctionNode): void {
  const functions: FunctionNode[] = [];
  let used = false;
  walk(fn, (at) => {
    const node = at as AnyNode;
    if (node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration') functions.push(node as FunctionNode);
    if (node.type === 'Identifier' && node.name === 'arguments') used = true;
    return true;
  });
  // Inner functions first: an `arguments` that is left belongs to the function around.
  if (used) for (const each of functions.reverse()) restore(each);
}

/** Gives each default its parameter back, and puts that where `arguments` was asked; minifiers move it into expressions. */
function restore(fn: FunctionNode): void {
  const defaults = new Map<number, Node | undefined>();
  const name = (index: number): string => `argument$${index}`;
  rewrite(fn.body, (node) => {
    const found = fallbackOf(node);
    if (found === undefined || found.index < fn.params.length) return undefined;
    defaults.set(found.index, found.fallback);
    return { type: 'Identifier', name: name(found.index), start: node.start, end: node.end } as Node;
  });
  const count = Math.max(-1, ...defaults.keys()) + 1;
  for (let index = fn.params.length; index < count; index++) {
    const fallback = defaults.get(index);
    const { start, end } = fallback ?? fn.body;
    const left = { type: 'Identifier', name: name(index), start, end };
    const param = fallback === undefined ? left : { type: 'AssignmentPattern', left, right: fallback, start, end };
    fn.params.push(param as Pattern);
  }
}

/** `fallback` in `arguments.length > i && arguments[i] !== undefined ? arguments[i] : fallback`; none without the middle part. */
function fallbackOf(at: Node): { readonly index: number; readonly fallback: Node | undefined } | undefined {
  const node = at as AnyNode;
  const index = node.type === 'ConditionalExpression' ? argumentIndex(node.consequent) : undefined;
  if (node.type !== 'ConditionalExpression' || index === undefined) return undefined;
  const test = node.test as AnyNode;
  if (isCount(test, index)) return isUndefined(node.alternate) ? { index, fallback: undefined } : undefined;
  if (test.type !== 'LogicalExpression' || test.operator !== '&&' || !isCount(test.left, index)) return undefined;
  const given = test.right as AnyNode;
  if (given.type !== 'BinaryExpression' || given.operator !== '!==') return undefined;
  const [a, b] = [given.left, given.right];
  const compared = (argumentIndex(a) === index && isUndefined(b)) || (isUndefined(a) && argumentIndex(b) === index);
  return compared ? { index, fallback: node.alternate } : undefined;
}

/** `arguments.length > i`, or the other way round. */
function isCount(test: Node, index: number): boolean {
  const node = test as AnyNode;
  if (node.type !== 'BinaryExpression' || (node.operator !== '>' && node.operator !== '<')) return false;
  const [length, bound] = node.operator === '>' ? [node.left, node.right] : [node.right, node.left];
  const member = length as AnyNode;
  if (member.type !== 'MemberExpression' || member.computed || !isName(member.object, 'arguments')) return false;
  return (
    isName(member.property, 'length') && (bound as AnyNode).type === 'Literal' && Reflect.get(bound, 'value') === index
  );
}

/** `i` in `arguments[i]`. */
function argumentIndex(expression: Node): number | undefined {
  const node = expression as AnyNode;
  if (node.type !== 'MemberExpression' || !node.computed || !isName(node.object, 'arguments')) return undefined;
  const index = node.property as AnyNode;
  return index.type === 'Literal' && typeof index.value === 'number' ? index.value : undefined;
}

function isUndefined(expression: Node): boolean {
  const node = expression as AnyNode;
  return isName(node, 'undefined') || (node.type === 'UnaryExpression' && node.operator === 'void');
}

function isName(expression: Node, name: string): boolean {
  const node = expression as AnyNode;
  return node.type === 'Identifier' && node.name === name;
}
