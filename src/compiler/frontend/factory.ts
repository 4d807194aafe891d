/**
 * The factory form of a kernel, `({ cuda, gain }) => (y) => {…}` with `{ captures: { cuda, gain } }`.
 *
 * The factory is called to get the kernel; which of the kernel's free names stand for which captures is read off the
 * factory's parameter, and off the declarations that ES5 output makes of it (`var gain = _ref.gain`). Property keys
 * survive minifiers, so this works where there is no inspector and every name has been shortened.
 */
import type { AnyNode, CallExpression, Node } from 'acorn';
import type { SourceText } from '../source.ts';
import { attachedTo } from './attached.ts';
import type { FunctionNode } from './captured.ts';
import { fail } from './diagnostics.ts';
import { parseFunction } from './parse.ts';
import { sourceOf } from './positions.ts';

type AnyFunction = (...args: never[]) => unknown;

/** Values of the names that the factory declares, as far as they follow from the captures. */
export type FactoryNames = ReadonlyMap<string, unknown>;

/** Calls a factory; undefined when `fn` is no factory but a kernel itself. */
export function openFactory(
  fn: AnyFunction,
  captures: Readonly<Record<string, unknown>>,
  name: string | undefined,
): { readonly inner: AnyFunction; readonly names: FactoryNames } | undefined {
  const source = sourceOf(fn, name ?? fn.name);
  const node = parseFunction(source);
  if (!returnsFunction(node)) return undefined;
  const names = new Map<string, unknown>();
  const [param] = node.params;
  if (param !== undefined) bind(param, captures, names);
  checkKeys(node, captures, source);
  if (node.body.type === 'BlockStatement') {
    for (const statement of node.body.body as AnyNode[]) {
      if (statement.type !== 'VariableDeclaration') continue;
      for (const { id, init } of statement.declarations) {
        const value = init ? evaluate(init, names) : undefined;
        if (value !== undefined) bind(id, value.value, names);
      }
    }
  }
  const inner = (fn as (given: unknown) => unknown)(captures);
  if (typeof inner !== 'function') {
    fail('K012', { source, start: node.start, end: node.body.start }, 'this factory did not return a function', {
      help: 'write ({ gain }) => (y) => { … }: called with the captures, the outer function returns the kernel',
    });
  }
  // What a plugin has left knows the author's names; those that are read off here may be a minifier's, and mean other things there.
  const known = attachedTo(inner as AnyFunction) !== undefined;
  return { inner: inner as AnyFunction, names: known ? new Map() : names };
}

/** Whether a function ends by returning a function, written in place or declared in it. */
function returnsFunction(node: FunctionNode): boolean {
  if (node.params.length > 1) return false;
  const body = node.body as AnyNode;
  if (body.type !== 'BlockStatement') return isFunctionNode(body);
  const last = body.body.at(-1) as AnyNode | undefined;
  if (last?.type !== 'ReturnStatement' || !last.argument) return false;
  const value = last.argument as AnyNode;
  if (value.type !== 'Identifier')
    return isFunctionNode(value.type === 'SequenceExpression' ? value.expressions.at(-1) : value);
  return (body.body as AnyNode[]).some(
    (statement) =>
      (statement.type === 'FunctionDeclaration' && statement.id?.name === value.name) ||
      (statement.type === 'VariableDeclaration' &&
        statement.declarations.some(
          ({ id, init }) => id.type === 'Identifier' && id.name === value.name && isFunctionNode(init),
        )),
  );
}

function isFunctionNode(node: Node | null | undefined): boolean {
  if (node?.type === 'CallExpression') return isMarked(node as CallExpression);
  return node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';
}

/** A function with what a build plugin leaves on it: a call with the function, its name, its text and where that stands. A minifier may have changed all else. */
function isMarked({ arguments: [fn, ...texts] }: CallExpression): boolean {
  if (fn === undefined || texts.length < 3 || fn.type === 'CallExpression' || !isFunctionNode(fn)) return false;
  return texts
    .slice(0, 3)
    .every((node) => node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string'));
}

/** Every key that the parameter takes must be among the captures: a misspelt one would otherwise just be undefined. */
function checkKeys(node: FunctionNode, captures: Readonly<Record<string, unknown>>, source: SourceText): void {
  const pattern = node.params[0] as AnyNode | undefined;
  if (pattern?.type !== 'ObjectPattern') return;
  for (const property of pattern.properties) {
    if (property.type !== 'Property' || property.value.type === 'AssignmentPattern') continue;
    const key = keyOf(property);
    if (key === undefined || key in captures) continue;
    fail('K010', { source, start: property.start, end: property.end }, `captures has no ${key}`, {
      help: `add it: { captures: { ${[...Object.keys(captures), key].join(', ')} } }`,
    });
  }
}

function keyOf(property: { readonly computed: boolean; readonly key: Node }): string | undefined {
  const key = property.key as AnyNode;
  if (key.type === 'Literal') return String(key.value);
  return key.type === 'Identifier' && !property.computed ? key.name : undefined;
}

/** Binds the names of a pattern to the parts of a value; what it cannot follow stays unbound. */
function bind(pattern: Node, value: unknown, names: Map<string, unknown>): void {
  const node = pattern as AnyNode;
  if (node.type === 'Identifier') names.set(node.name, value);
  if (node.type === 'AssignmentPattern' && value !== undefined) bind(node.left, value, names);
  if (node.type !== 'ObjectPattern' || typeof value !== 'object' || value === null) return;
  for (const property of node.properties) {
    if (property.type !== 'Property') continue;
    const key = keyOf(property);
    if (key !== undefined) bind(property.value, Reflect.get(value, key), names);
  }
}

/** The value of `a` or `a.b.c` over names known already. */
function evaluate(expression: Node, names: FactoryNames): { readonly value: unknown } | undefined {
  const node = expression as AnyNode;
  if (node.type === 'Identifier') return names.has(node.name) ? { value: names.get(node.name) } : undefined;
  if (node.type !== 'MemberExpression') return undefined;
  const object = evaluate(node.object, names)?.value;
  const key = keyOf({ computed: node.computed, key: node.property });
  if (typeof object !== 'object' || object === null || key === undefined) return undefined;
  return { value: Reflect.get(object, key) };
}
