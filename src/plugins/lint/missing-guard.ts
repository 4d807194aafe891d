/**
 * `missing-guard`: an index of the thread that reaches an array without having been compared with anything. Threads come in blocks, so more of them run than
 * were asked for.
 */
import { callOf, declaredNames, gridCall, isBarrier, type KernelNode, parameterNames } from './kernels.ts';
import { kernelRule, type Rule } from './rule.ts';
import { bare, child, list, type Node, nameOf, some, walk } from './tree.ts';

export const missingGuard: Rule = kernelRule(
  'problem',
  'Require a comparison before the index of a thread reaches an array',
  {
    unguarded:
      '`{{name}}` indexes `{{array}}` and is never compared with its length: threads come in blocks, so more run than you asked for. ' +
      'Write `if ({{name}} < {{array}}.length)`.',
  },
  (kernel, context) => {
    // Kernels whose threads work together have grids that fit: all threads of a block must come to the barrier.
    if (some(kernel.body, (node) => isBarrier(node) || isShared(node))) return;
    const places = gridVariables(kernel);
    if (places.size === 0) return;
    const derived = derivedFrom(places, kernel);
    const checked = comparedNames(kernel);
    const arrays = parameterNames(kernel);
    for (const [name, node] of places) {
      const own = derived.get(name) ?? new Set([name]);
      if ([...own].some((one) => checked.has(one))) continue;
      const array = indexedBy(kernel, name, arrays);
      if (array !== undefined) context.report({ node, messageId: 'unguarded', data: { name, array } });
    }
  },
);

function isShared(node: Node): boolean {
  return node.type === 'MemberExpression' && nameOf(child(node, 'property')) === 'shared';
}

/** Variables that hold the place of the thread in the grid, with the call that gives it. */
function gridVariables({ body }: KernelNode): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>();
  walk(body, (node) => {
    if (node.type !== 'VariableDeclarator') return;
    const [id, init] = [child(node, 'id'), child(node, 'init')];
    if (id === undefined || init === undefined || gridCall(init) === undefined) return;
    for (const name of declaredNames(id)) found.set(name, init);
  });
  return found;
}

/** For each variable of the grid those that are computed from it. */
function derivedFrom(
  places: ReadonlyMap<string, Node>,
  { body }: KernelNode,
): ReadonlyMap<string, ReadonlySet<string>> {
  const derived = new Map<string, Set<string>>([...places.keys()].map((name) => [name, new Set([name])]));
  for (let round = 0; round < 3; round++) {
    walk(body, (node) => {
      const assigned = assignment(node);
      if (assigned === undefined) return;
      for (const names of derived.values()) {
        if (!some(assigned.value, (inner) => names.has(nameOf(inner) ?? ''))) continue;
        for (const name of declaredNames(assigned.target)) names.add(name);
      }
    });
  }
  return derived;
}

function assignment(node: Node): { readonly target: Node; readonly value: Node } | undefined {
  const [target, value] =
    node.type === 'VariableDeclarator'
      ? [child(node, 'id'), child(node, 'init')]
      : node.type === 'AssignmentExpression'
        ? [child(node, 'left'), child(node, 'right')]
        : [];
  if (target === undefined || value === undefined || bare(target).type === 'MemberExpression') return undefined;
  return { target: bare(target), value };
}

const COMPARISONS = /^(?:[<>]=?|[!=]==?|%|&)$/;

/** Names that some condition or bound looks at: comparisons, remainders, masks, `Math.min`, loops, `switch`. */
function comparedNames({ body }: KernelNode): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (node: Node | undefined): void => {
    if (node !== undefined) walk(node, (inner) => void names.add(nameOf(inner) ?? ''));
  };
  walk(body, (node) => {
    if (node.type === 'BinaryExpression' && COMPARISONS.test(String(node['operator']))) add(node);
    if (/^(?:If|While|For|Switch|Conditional|DoWhile)/.test(node.type))
      add(child(node, 'test') ?? child(node, 'discriminant'));
    const call = node.type === 'CallExpression' ? callOf(node) : undefined;
    // A function of the program's own may look at it.
    if (call !== undefined && !KNOWN.test(call.name)) for (const arg of list(node, 'arguments')) add(arg);
  });
  return names;
}

/** Calls that compare nothing. */
const KNOWN =
  /^(?:sin|cos|tan|sqrt|exp|log|pow|abs|fround|imul|f(?:16|32|64)|[iu](?:8|16|32|64)|bf16|add|sub|log2|exp2)$/;

/** The parameter that a variable, alone or in a sum, is an index of. */
function indexedBy({ body }: KernelNode, name: string, arrays: ReadonlySet<string>): string | undefined {
  let found: string | undefined;
  walk(body, (node) => {
    if (found !== undefined || node.type !== 'MemberExpression' || node['computed'] !== true) return;
    const [object, property] = [child(node, 'object'), child(node, 'property')];
    const base = object === undefined ? undefined : baseName(object);
    if (base === undefined || property === undefined || !arrays.has(base)) return;
    if (some(property, (inner) => nameOf(inner) === name)) found = base;
  });
  return found;
}

/** `a` of `a[i][j]`. */
function baseName(node: Node): string | undefined {
  const inner = bare(node);
  if (inner.type !== 'MemberExpression') return nameOf(inner);
  const object = child(inner, 'object');
  return inner['computed'] === true && object !== undefined ? baseName(object) : undefined;
}
