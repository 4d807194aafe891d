/**
 * Takes back what ES5 output makes of destructuring, `for … of`, default parameters and spread objects, which kernels have as they are.
 *
 * `_slicedToArray(cuda.grid(2), 2)` is its argument; the `try … catch … finally` around an iterator is the loop over an array
 * that the author wrote. Helpers are known by their source, as minifiers rename and inline them. Trees are changed in place.
 */
import type {
  AnyNode,
  CallExpression,
  Expression,
  ForStatement,
  Identifier,
  Node,
  Statement,
  TryStatement,
} from 'acorn';
import type { Captured, FunctionNode } from './captured.ts';
import { undoDefaults } from './es5-parameters.ts';
import { isSpreadHelper, spreadLiteral } from './es5-spread.ts';
import type { FreeVariables } from './free-variables.ts';
import { rewrite, walk } from './walk.ts';

/** Whether there can be anything to take back in a text with these captured values. */
export function mayHaveHelpers(text: string, captures: Iterable<Captured>): boolean {
  if (/\b(?:try|arguments)\b|\bObject\.assign\b/.test(text)) return true;
  for (const captured of captures) if (captured.found && mayHelp(captured.value)) return true;
  return false;
}

const modulesWithout = new WeakSet<object>();

/** Whether a captured value is a helper, or a module that has one. */
function mayHelp(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isHelper(value);
  if (modulesWithout.has(value) || !isModule(value)) return false;
  // Exports of CommonJS may be getters, which are not to be run for nothing.
  if (Object.prototype.toString.call(value) !== '[object Module]') return true;
  try {
    if (Object.values(value).some((each) => isHelper(each) || (isObject(each) && isModule(each)))) return true;
  } catch {
    return true; // Some export has no value yet.
  }
  modulesWithout.add(value);
  return false;
}

const isHelper = (value: unknown): boolean => isIterationHelper(value) || isSpreadHelper(value);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Rewrites a function whose free names and their values are known. */
export function undoHelpers(fn: FunctionNode, free: FreeVariables, captures: ReadonlyMap<string, Captured>): void {
  const values = new Map<Node, unknown>();
  for (const [name, uses] of free) {
    const captured = captures.get(name);
    if (captured?.found) for (const use of uses) values.set(use, captured.value);
  }
  const calls = new Map<Node, Node>();
  const spreads = new Set<Node>();
  let loops = false;
  walk(fn, (at) => {
    const node = at as AnyNode;
    loops ||= node.type === 'TryStatement';
    const [first] = node.type === 'CallExpression' ? node.arguments : [];
    if (node.type !== 'CallExpression' || first === undefined) return true;
    const callee = calleeValue(node.callee, values);
    if (isIterationHelper(callee)) calls.set(node, first);
    // A literal of the helper's own is what it may store to.
    else if (isMade(first) && isSpreadHelper(callee)) spreads.add(node);
    return true;
  });
  if (loops) undoLoops(fn);
  undoDefaults(fn);
  const items = (node: Node): Node | undefined => {
    const inner = calls.get(node);
    return inner && (items(inner) ?? inner);
  };
  if (calls.size > 0) rewrite(fn, items);
  if (spreads.size > 0) rewrite(fn, (at) => (spreads.has(at) ? spreadLiteral(at as CallExpression) : undefined));
}

const isMade = ({ type }: Node): boolean => type === 'ObjectExpression' || type === 'CallExpression';

/** The value of `helper`, `tslib.__read` or `(0, helpers.default)`. */
function calleeValue(callee: Node, values: ReadonlyMap<Node, unknown>): unknown {
  const node = callee as AnyNode;
  if (node.type === 'SequenceExpression' && node.expressions[0]?.type === 'Literal') {
    const last = node.expressions.at(-1);
    return last && calleeValue(last, values);
  }
  if (node.type !== 'MemberExpression') return values.get(node);
  const object = values.get(node.object);
  const key = nameOf(node.property);
  // Modules alone: getters of other objects are not to be run.
  if (object === Object && key === 'assign') return Object.assign;
  if (node.computed || key === undefined || typeof object !== 'object' || object === null) return undefined;
  return isModule(object) && Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
}

/** A module's namespace, or the exports of one that was compiled to CommonJS. */
function isModule(object: object): boolean {
  return Object.prototype.toString.call(object) === '[object Module]' || Reflect.get(object, '__esModule') === true;
}

/**
 * Whether a captured function is a helper that gives the items of its first argument: Babel's and swc's `_slicedToArray` and
 * `_createForOfIteratorHelper`, TypeScript's `__read`. They alone take an array, and a number or a flag, and ask for its iterator.
 */
export function isIterationHelper(value: unknown): boolean {
  if (typeof value !== 'function' || value.length < 1 || value.length > 2) return false;
  const text = Function.prototype.toString.call(value);
  if (/\.iterator\b|@@iterator/.test(text)) return true;
  // `return arrayWithHoles(r) || iterableToArrayLimit(r, e) || unsupportedIterableToArray(r, e) || nonIterableRest()`
  const call = String.raw`\s*[\w$]+\s*`;
  const chain = String.raw`return${call}\(\1\)\s*\|\|${call}\(\1,\s*\2\)\s*\|\|${call}\(\1,\s*\2\)\s*\|\|${call}\(\)`;
  return new RegExp(String.raw`\(\s*([\w$]+),\s*([\w$]+)\)\s*\{[^]*${chain}`).test(text);
}

/** The parts of a loop over an iterator. */
interface Loop {
  readonly iterator: string;
  /** The result of `next()`, whose `.value` the body uses. */
  readonly step: string;
  readonly loop: ForStatement;
  readonly label: Identifier | undefined;
  /** Flags that belong to the machinery alone. */
  readonly flags: readonly string[];
}

function undoLoops(fn: FunctionNode): void {
  const found = new Map<Node, Loop>();
  const flags = new Set<string>();
  walk(fn, (node) => {
    const loop = node.type === 'TryStatement' ? loopOf(node as TryStatement) : undefined;
    if (loop !== undefined) {
      found.set(node, loop);
      for (const flag of loop.flags) flags.add(flag);
    }
    return true;
  });
  if (found.size === 0) return;
  const iterators = new Set([...found.values()].map(({ iterator }) => iterator));
  rewrite(fn, (at) => {
    const loop = found.get(at);
    if (loop !== undefined) return plainLoop(at as TryStatement, loop);
    const node = at as AnyNode;
    // `it = helper(a)` and `it = a[Symbol.iterator]()` become `it = a`.
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && iterators.has(node.id.name)) {
      if (node.init) node.init = iterated(node.init);
    }
    if (node.type === 'AssignmentExpression' && node.left.type === 'Identifier' && iterators.has(node.left.name)) {
      node.right = iterated(node.right);
    }
    if (node.type === 'VariableDeclaration') {
      node.declarations = node.declarations.filter(({ id }) => id.type !== 'Identifier' || !flags.has(id.name));
      if (node.declarations.length === 0)
        return { type: 'BlockStatement', body: [], start: node.start, end: node.end } as Node;
    }
    return undefined;
  });
}

/** `a` of `helper(a)` or `a[Symbol.iterator]()`. */
function iterated(init: Expression): Expression {
  if (init.type !== 'CallExpression') return init;
  const [first] = init.arguments;
  if (first !== undefined && first.type !== 'SpreadElement') return first;
  const { callee } = init;
  return callee.type === 'MemberExpression' && callee.computed && callee.object.type !== 'Super' ? callee.object : init;
}

/** Reads `try { [label:] for (…; !(step = it.n()).done; …) … } catch … finally …`; undefined for any other. */
function loopOf({ block, handler, finalizer }: TryStatement): Loop | undefined {
  if (!handler || !finalizer || block.body.length !== 1) return undefined;
  let statement = block.body[0] as AnyNode;
  let label: Identifier | undefined;
  if (statement.type === 'LabeledStatement') {
    label = statement.label;
    statement = statement.body as AnyNode;
  }
  if (
    statement.type !== 'ForStatement' ||
    statement.test?.type !== 'UnaryExpression' ||
    statement.test.operator !== '!'
  ) {
    return undefined;
  }
  const flags: string[] = [];
  // swc keeps the outcome: `!(completed = (step = it.next()).done)`.
  let done = statement.test.argument as AnyNode;
  if (done.type === 'AssignmentExpression' && done.left.type === 'Identifier') {
    flags.push(done.left.name);
    done = done.right as AnyNode;
  }
  if (done.type !== 'MemberExpression' || done.computed || nameOf(done.property) !== 'done') return undefined;
  const assigned = done.object as AnyNode;
  if (assigned.type !== 'AssignmentExpression' || assigned.left.type !== 'Identifier') return undefined;
  const next = assigned.right as AnyNode;
  if (next.type !== 'CallExpression' || next.callee.type !== 'MemberExpression') return undefined;
  const iterator = nameOf(next.callee.object);
  const method = nameOf(next.callee.property);
  if (iterator === undefined || (method !== 'n' && method !== 'next')) return undefined;
  walk(handler.body, (at) => {
    const node = at as AnyNode;
    if (node.type === 'AssignmentExpression' && node.left.type === 'Identifier') flags.push(node.left.name);
    return true;
  });
  return { iterator, step: assigned.left.name, loop: statement, label, flags };
}

function nameOf(node: Node): string | undefined {
  return node.type === 'Identifier' ? (node as Identifier).name : undefined;
}

/** The loop that the author wrote, behind what its head declared or did besides. */
function plainLoop(attempt: TryStatement, { iterator, step, loop, label }: Loop): Node {
  const { start, end } = loop;
  const item: Identifier = { type: 'Identifier', name: `${step}$value`, start, end };
  rewrite(loop.body, (at) => {
    const node = at as AnyNode;
    if (node.type !== 'MemberExpression' || nameOf(node.object) !== step || nameOf(node.property) !== 'value')
      return undefined;
    return { ...item, start: node.start, end: node.end };
  });
  const of: Statement = {
    type: 'ForOfStatement',
    left: {
      type: 'VariableDeclaration',
      kind: 'const',
      declarations: [{ type: 'VariableDeclarator', id: item, init: null, start, end }],
      start,
      end,
    },
    right: { type: 'Identifier', name: iterator, start, end },
    body: loop.body,
    await: false,
    start,
    end,
  };
  const body: Statement[] = [...headOf(loop, iterator, step)];
  body.push(label === undefined ? of : { type: 'LabeledStatement', label, body: of, start, end });
  return { type: 'BlockStatement', body, start: attempt.start, end: attempt.end } as Node;
}

/** What the head of the loop does besides starting the iterator. */
function headOf({ init }: ForStatement, iterator: string, step: string): Statement[] {
  if (!init) return [];
  const { start, end } = init;
  if (init.type === 'VariableDeclaration') {
    const declarations = init.declarations.filter(({ id }) => nameOf(id) !== step);
    return declarations.length === 0 ? [] : [{ ...init, declarations }];
  }
  const parts = init.type === 'SequenceExpression' ? init.expressions : [init];
  const kept = parts.filter(
    (part) =>
      part.type !== 'CallExpression' ||
      part.callee.type !== 'MemberExpression' ||
      nameOf(part.callee.object) !== iterator,
  );
  return kept.map((expression) => ({ type: 'ExpressionStatement', expression, start, end }));
}
