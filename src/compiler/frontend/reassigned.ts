/**
 * Which variables of a function get a second value, by JavaScript's scopes: of two variables of one name each is looked at for itself. Minifiers give variables the same name wherever their scopes
 * let them, and what is assigned once stays known while compiling.
 */
import type { AnyNode, Identifier, Node } from 'acorn';
import { boundIdentifiers } from './free-variables.ts';
import { forEachChild } from './walk.ts';

interface Variable {
  /** Where it is declared. */
  readonly declared: Identifier[];
  /** Declarations by `var` that have been met. */
  vars: number;
  isReassigned: boolean;
}

interface Scope {
  readonly variables: Map<string, Variable>;
  readonly parent: Scope | undefined;
}

interface Found {
  /** By the identifiers that declare variables. */
  readonly byPlace: ReadonlyMap<Node, Variable>;
  /** All that are assigned, for identifiers that are not in the text. */
  readonly names: ReadonlySet<string>;
}

const LOOPS: ReadonlySet<string> = new Set([
  'ForStatement',
  'WhileStatement',
  'DoWhileStatement',
  'ForOfStatement',
  'ForInStatement',
]);

const cache = new WeakMap<object, Found>();

/** Whether a variable may get a second value. `root` is the outermost function that it can be used in; of a name, whether any variable of that name may. */
export function isReassigned(root: AnyNode, target: Identifier | string): boolean {
  let found = cache.get(root);
  if (found === undefined) {
    found = reassigned(root);
    cache.set(root, found);
  }
  if (typeof target === 'string') return found.names.has(target);
  return found.byPlace.get(target)?.isReassigned ?? found.names.has(target.name);
}

function reassigned(root: AnyNode): Found {
  const byPlace = new Map<Node, Variable>();
  const names = new Set<string>();

  const declare = (scope: Scope, ids: readonly Identifier[]): void => {
    for (const id of ids) {
      const known = scope.variables.get(id.name) ?? { declared: [], vars: 0, isReassigned: false };
      known.declared.push(id);
      scope.variables.set(id.name, known);
      byPlace.set(id, known);
    }
  };
  const find = (name: string, from: Scope | undefined): Variable | undefined => {
    for (let scope = from; scope !== undefined; scope = scope.parent) {
      const known = scope.variables.get(name);
      if (known !== undefined) return known;
    }
    return undefined;
  };
  const assign = (pattern: AnyNode, scope: Scope | undefined): void => {
    for (const { name } of boundIdentifiers(pattern)) {
      names.add(name);
      const variable = find(name, scope);
      if (variable !== undefined) variable.isReassigned = true;
    }
  };
  /** `let`, `const`, classes and functions directly in a list of statements. */
  const declareLexical = (scope: Scope, statements: readonly Node[]): void => {
    for (const statement of statements as readonly AnyNode[]) {
      if (statement.type === 'VariableDeclaration' && statement.kind !== 'var')
        for (const { id } of statement.declarations) declare(scope, boundIdentifiers(id));
      if ((statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') && statement.id)
        declare(scope, [statement.id]);
    }
  };
  /** `var`s of a function, wherever they stand in it. */
  const declareVars = (scope: Scope, node: Node): void => {
    forEachChild(node, (one) => {
      const child = one as AnyNode;
      if (child.type === 'VariableDeclaration' && child.kind === 'var')
        for (const { id } of child.declarations) declare(scope, boundIdentifiers(id));
      // Only statements hold declarations; functions and classes keep theirs.
      if (/Statement$|^SwitchCase$|^CatchClause$/.test(child.type)) declareVars(scope, child);
    });
  };
  const inside = (parent: Scope | undefined): Scope => ({ variables: new Map(), parent });
  /** The scope that a node opens, with what is declared in it. */
  const opened = (node: AnyNode, scope: Scope | undefined): Scope | undefined => {
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression': {
        const own = inside(scope);
        if (node.type === 'FunctionExpression' && node.id) declare(own, [node.id]);
        for (const param of node.params) declare(own, boundIdentifiers(param));
        if (node.body.type === 'BlockStatement') {
          declareVars(own, node.body);
          declareLexical(own, node.body.body);
        }
        return own;
      }
      case 'BlockStatement':
      case 'StaticBlock': {
        const own = inside(scope);
        declareLexical(own, node.body);
        return own;
      }
      case 'SwitchStatement': {
        const own = inside(scope);
        for (const { consequent } of node.cases) declareLexical(own, consequent);
        return own;
      }
      case 'CatchClause': {
        const own = inside(scope);
        if (node.param) declare(own, boundIdentifiers(node.param));
        return own;
      }
      case 'ForStatement': {
        const own = inside(scope);
        if (node.init) declareLexical(own, [node.init]);
        return own;
      }
      case 'ForOfStatement':
      case 'ForInStatement': {
        const own = inside(scope);
        declareLexical(own, [node.left]);
        return own;
      }
      default:
        return scope;
    }
  };

  const visit = (node: AnyNode, outer: Scope | undefined, inLoop: boolean, isBody = false): void => {
    // The block of a function is where its scope has been opened.
    const scope = isBody ? outer : opened(node, outer);
    if (node.type === 'AssignmentExpression') assign(node.left as AnyNode, scope);
    else if (node.type === 'UpdateExpression') assign(node.argument as AnyNode, scope);
    else if (node.type === 'VariableDeclaration') {
      for (const { id, init } of node.declarations) {
        if (node.kind !== 'var') {
          if (init == null) assign(id as AnyNode, scope);
          continue;
        }
        const variable = id.type === 'Identifier' ? find(id.name, scope) : undefined;
        if (variable !== undefined) variable.vars++;
        // A `var` in a loop keeps last round's value; one declared twice has two.
        if (inLoop || (variable?.vars ?? 0) > 1) assign(id as AnyNode, scope);
      }
    }
    const isFor = node.type === 'ForOfStatement' || node.type === 'ForInStatement';
    if (isFor && node.left.type !== 'VariableDeclaration') assign(node.left as AnyNode, scope);
    // Each round of `for (let v of list)` has a variable of its own, which the list gives a value.
    const own = isFor && node.left.type === 'VariableDeclaration' && node.left.kind !== 'var' ? node.left : undefined;
    const body = /Function/.test(node.type) ? (node as AnyNode & { readonly body?: Node }).body : undefined;
    const loop = inLoop || LOOPS.has(node.type);
    forEachChild(node, (child) => {
      if (child !== own) visit(child as AnyNode, scope, loop, child === body && child.type === 'BlockStatement');
    });
  };
  visit(root, undefined, false);
  return { byPlace, names };
}
