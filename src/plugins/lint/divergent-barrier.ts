/**
 * `divergent-barrier`: a barrier that stands where only some threads of a block come. The compiler refuses it too (K401), at the first launch.
 */
import { declaredNames, isBarrier, isThreadSource, isUniformCall, type KernelNode } from './kernels.ts';
import { kernelRule, type Rule } from './rule.ts';
import { bare, child, childrenOf, isFunction, lastName, list, type Node, nameOf } from './tree.ts';

export const divergentBarrier: Rule = kernelRule(
  'problem',
  'Disallow barriers that only some threads of a block reach',
  {
    divergent:
      'Only some threads of the block reach this barrier: `{{condition}}` depends on the thread, and those that reach it would wait forever. ' +
      'Move the barrier out of the {{what}}, and leave inside what only some threads do.',
  },
  (kernel, context) => {
    const varying = varyingNames(kernel);
    visit(kernel.body, undefined, varying, (node, { test, what }) => {
      if (!isBarrier(node)) return;
      const condition = context.sourceCode.getText(test).replace(/\s+/g, ' ');
      context.report({ node, messageId: 'divergent', data: { condition, what } });
    });
  },
);

/** What keeps some threads away. */
interface Guard {
  readonly test: Node;
  readonly what: string;
}

const CONTROL: Readonly<
  Record<string, { readonly test: string; readonly inside: readonly string[]; readonly what: string }>
> = {
  IfStatement: { test: 'test', inside: ['consequent', 'alternate'], what: 'branch' },
  ConditionalExpression: { test: 'test', inside: ['consequent', 'alternate'], what: 'expression' },
  WhileStatement: { test: 'test', inside: ['body'], what: 'loop' },
  DoWhileStatement: { test: 'test', inside: ['body'], what: 'loop' },
  ForStatement: { test: 'test', inside: ['body', 'update'], what: 'loop' },
  SwitchStatement: { test: 'discriminant', inside: ['cases'], what: 'switch' },
  LogicalExpression: { test: 'left', inside: ['right'], what: 'expression' },
};

/** Visits what stands under a condition that differs between threads. */
function visit(
  node: Node,
  guard: Guard | undefined,
  varying: ReadonlySet<string>,
  told: (node: Node, guard: Guard) => void,
): void {
  if (guard !== undefined) told(node, guard);
  if (isFunction(node)) return;
  const control = CONTROL[node.type];
  const test = control === undefined ? undefined : child(node, control.test);
  const own =
    control !== undefined && test !== undefined && varies(test, varying) ? { test, what: control.what } : undefined;
  if (control === undefined || own === undefined) {
    for (const inner of childrenOf(node)) visit(inner, guard, varying, told);
    return;
  }
  for (const key of control.inside) {
    const single = child(node, key);
    for (const inner of single === undefined ? list(node, key) : [single]) visit(inner, own, varying, told);
  }
}

/** Whether an expression may differ between the threads of a block. */
function varies(node: Node, names: ReadonlySet<string>): boolean {
  if (isUniformCall(node) || isFunction(node) || /^TS(?!NonNull|As|Satisfies|TypeAssertion)/.test(node.type))
    return false;
  // Arrays are the same for all; what they hold where a thread looks is not.
  if (node.type === 'MemberExpression' && ['length', 'shape', 'size', 'ndim'].includes(lastName(node) ?? ''))
    return false;
  if (isThreadSource(node)) return true;
  if (node.type === 'MemberExpression' && node['computed'] !== true) {
    const object = child(node, 'object');
    const property = nameOf(child(node, 'property'));
    return property === 'threadIdx' || property === 'laneId' || (object !== undefined && varies(object, names));
  }
  const name = nameOf(node);
  if (name !== undefined) return names.has(name);
  return childrenOf(node).some((inner) => varies(inner, names));
}

/** Variables that may differ between the threads of a block, by what is assigned to them, or by who comes to the assignment. */
function varyingNames({ body }: KernelNode): ReadonlySet<string> {
  const names = new Set<string>();
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    assignments(body, false, names);
  }
  return names;
}

function assignments(node: Node, guarded: boolean, names: Set<string>): void {
  if (isFunction(node)) return;
  const add = (target: Node | undefined, value: Node | undefined): void => {
    if (target === undefined || bare(target).type === 'MemberExpression') return;
    if (guarded || (value !== undefined && varies(value, names)))
      for (const name of declaredNames(bare(target))) names.add(name);
  };
  if (node.type === 'VariableDeclarator') {
    const value = child(node, 'init');
    // A variable of the branch that declares it is seen by those who are in it.
    const target = child(node, 'id');
    if (target !== undefined && value !== undefined && varies(value, names))
      for (const name of declaredNames(target)) names.add(name);
  } else if (node.type === 'AssignmentExpression') add(child(node, 'left'), child(node, 'right'));
  else if (node.type === 'UpdateExpression') add(child(node, 'argument'), undefined);
  const control = CONTROL[node.type];
  const test = control === undefined ? undefined : child(node, control.test);
  const inside = guarded || (test !== undefined && varies(test, names));
  for (const inner of childrenOf(node)) assignments(inner, inside, names);
}
