/**
 * Which functions of a module may run on a device: those that are handed to `jit` and its like, and those that such functions may call.
 *
 * Who is called by whom cannot be told across modules. So every function counts that could be compiled by its syntax, but for callbacks of calls
 * that are not Tsamba's; in a module that has nothing to do with Tsamba only what it exports and computes with something else of the module.
 */
import type { AnyNode, CallExpression, Node, Program } from 'acorn';
import type { FunctionNode } from '../compiler/frontend/captured.ts';
import { freeVariables } from '../compiler/frontend/free-variables.ts';
import { GLOBALS } from '../compiler/frontend/globals.ts';
import { forEachChild, walk } from '../compiler/frontend/walk.ts';
import { isFunction, type Scan } from './scan.ts';

/** A function, or a class, of the device. */
export interface Found {
  readonly node: Node;
  /** What the author calls it. */
  readonly name: string;
  /** Names that it takes from outside. */
  readonly free: readonly string[];
  /** Stands in a call that takes device functions, so that the host never calls it. */
  readonly argument: boolean;
  /** For declarations: where a statement about it can stand, at the beginning of its block or after it. */
  readonly statement: number | undefined;
}

/** Where a node stands. */
interface Place {
  readonly name: string;
  readonly role: 'argument' | 'value' | 'callback';
  /** The beginning of the block around it, behind directives; undefined where statements cannot be put in. */
  readonly block: number | undefined;
  readonly top: boolean;
}

/** The functions of the device, in the order of the text. */
export function findFunctions(program: Program, scan: Scan): Found[] {
  const found: Found[] = [];
  const classes: (Found & { readonly exported: boolean })[] = [];
  const visit = (of: Node, place: Place): void => {
    const node = of as AnyNode;
    if (isFunction(node)) {
      const name = node.id?.name ?? place.name;
      const one = deviceFunction(node as FunctionNode & AnyNode, { ...place, name }, scan);
      if (one !== undefined) found.push(one);
      // What the host may call may make functions of the device.
      if (one?.argument !== true) visitInside(node, place, visit);
      return;
    }
    if ((node.type === 'ClassDeclaration' || node.type === 'ClassExpression') && node.superClass == null) {
      const name = node.id?.name ?? place.name;
      const statement = node.type === 'ClassDeclaration' ? node.end : undefined;
      const one = { node, name, free: freeOfClass(node), argument: false, statement };
      if (name !== '') classes.push({ ...one, exported: place.top && scan.exported.has(name) });
    }
    visitPlaced(node, place, scan, visit);
  };
  visit(program, { name: '', role: 'callback', block: undefined, top: true });
  const chosen = scan.usesTsamba ? found : ofPlainModule(found, scan);
  const used = new Set(chosen.flatMap(({ free }) => free));
  const taken = classes.filter(
    ({ node, name, free, exported }) =>
      used.has(name) || (scan.usesTsamba && exported && free.every((n) => isKnown(n, scan)) && isComputation(node)),
  );
  // A function in a class that is taken is read as a part of it.
  const outside = chosen.filter(
    (one) => !taken.some(({ node }) => node.start <= one.node.start && one.node.end <= node.end),
  );
  return [...outside, ...taken].sort((a, b) => a.node.start - b.node.start);
}

/** Visits what is below a node, with what is known of where that stands. */
function visitPlaced(node: AnyNode, place: Place, scan: Scan, visit: (of: Node, place: Place) => void): void {
  const at = (role: Place['role'], name = ''): Place => ({ ...place, role, name });
  switch (node.type) {
    case 'VariableDeclarator':
      if (node.init) visit(node.init, at('value', node.id.type === 'Identifier' ? node.id.name : ''));
      return;
    case 'AssignmentExpression':
      visit(node.left, at('callback'));
      visit(node.right, at('value', node.left.type === 'Identifier' ? node.left.name : ''));
      return;
    case 'Property': {
      if (node.computed) visit(node.key, at('callback'));
      // A method has no text that could stand by itself.
      if (node.method || node.kind !== 'init') visitInside(node.value, place, visit);
      else visit(node.value, at(place.role, 'name' in node.key ? node.key.name : place.name));
      return;
    }
    case 'CallExpression': {
      visit(node.callee, at('callback'));
      const role = roleOfArguments(node, scan);
      for (const given of node.arguments) visit(given, at(role, place.name));
      return;
    }
    case 'Program':
      visitInside(node, { ...place, block: afterDirectives(node.body, node.body[0]?.start ?? 0) }, visit);
      return;
    case 'BlockStatement':
      visitInside(node, { ...place, top: false, block: afterDirectives(node.body, node.start + 1) }, visit);
      return;
    case 'SwitchCase':
      visitInside(node, { ...at('callback'), top: false, block: undefined }, visit);
      return;
    case 'ReturnStatement':
    case 'ArrayExpression':
      visitInside(node, at(node.type === 'ReturnStatement' ? 'value' : place.role), visit);
      return;
    case 'MethodDefinition':
      visitInside(node.value, at('callback'), visit);
      return;
    default: {
      const keeps = /^(?:Object|Conditional|Logical|Sequence|Parenthesized)Expression$|^Export/.test(node.type);
      const role = /^Export/.test(node.type) ? 'value' : keeps ? place.role : 'callback';
      visitInside(node, at(role, keeps ? place.name : ''), visit);
    }
  }
}

/** Methods of others take callbacks; functions of the module may build kernels of what they are given. */
function roleOfArguments(call: CallExpression, scan: Scan): Place['role'] {
  if (scan.takesFunctions(call)) return 'argument';
  const { callee } = call;
  return callee.type === 'Identifier' && scan.usesTsamba && isKnown(callee.name, scan) ? 'value' : 'callback';
}

function visitInside(of: Node, place: Place, visit: (of: Node, place: Place) => void): void {
  const node = of as AnyNode;
  if (!isFunction(node)) {
    forEachChild(node, (child) => visit(child, place));
    return;
  }
  const inner: Place = { name: '', role: 'callback', block: undefined, top: false };
  for (const param of node.params) visit(param, inner);
  visit(node.body, { ...inner, role: node.body.type === 'BlockStatement' ? 'callback' : 'value' });
}

/** Where statements can begin: a text like 'use strict' must stay the first. */
function afterDirectives(body: readonly Node[], start: number): number {
  let at = start;
  for (const statement of body as readonly AnyNode[]) {
    if (statement.type !== 'ExpressionStatement' || typeof statement.directive !== 'string') break;
    at = statement.end;
  }
  return at;
}

function deviceFunction(node: FunctionNode & AnyNode, place: Place, scan: Scan): Found | undefined {
  const declaration = node.type === 'FunctionDeclaration';
  if (declaration && (node.id == null || place.block === undefined)) return undefined;
  if (!declaration && place.role === 'callback') return undefined;
  if (givesFunction(node)) return undefined;
  const argument = place.role === 'argument';
  const free = [...freeVariables(node).keys()].filter((name) => !GLOBALS.includes(name) && name !== 'arguments');
  if (!argument && !scan.wanted.has(place.name)) {
    if (node.async || node.generator || !free.every((name) => isKnown(name, scan)) || !isComputation(node))
      return undefined;
    if (callsHost(node, scan)) return undefined;
  }
  const statement = declaration ? place.block : undefined;
  return { node, name: place.name, free, argument, statement };
}

/** A factory, `({ gain }) => (y) => {…}`: the function inside is the one that runs on the device. */
function givesFunction(node: FunctionNode): boolean {
  if (node.body.type !== 'BlockStatement') return isFunctionNode(node.body);
  let gives = false;
  const inside = new Set<string>();
  walk(node.body, (of) => {
    const below = of as AnyNode;
    if (isFunction(below)) {
      if (below.id) inside.add(below.id.name);
      return false;
    }
    if (below.type === 'VariableDeclarator' && isFunctionNode(below.init) && below.id.type === 'Identifier')
      inside.add(below.id.name);
    return undefined;
  });
  walk(node.body, (of) => {
    const below = of as AnyNode;
    if (isFunction(below)) return false;
    if (below.type === 'ReturnStatement' && below.argument) {
      const { argument } = below;
      if (isFunctionNode(argument) || (argument.type === 'Identifier' && inside.has(argument.name))) gives = true;
    }
    return undefined;
  });
  return gives;
}

function isFunctionNode(of: Node | null | undefined): boolean {
  const node = of as AnyNode | null | undefined;
  if (node?.type === 'SequenceExpression') return isFunctionNode(node.expressions.at(-1));
  if (node?.type === 'ConditionalExpression') return isFunctionNode(node.consequent) || isFunctionNode(node.alternate);
  return node != null && isFunction(node);
}

function isKnown(name: string, { declared, hostOnly }: Scan): boolean {
  if (GLOBALS.includes(name)) return true;
  // What nothing declares may be defined by the build.
  return declared.has(name) ? !hostOnly.has(name) : !HOST_GLOBALS.has(name) && !/^(?:HTML|SVG|GPU|CSS)/.test(name);
}

/** What runtimes and pages have. */
const HOST_GLOBALS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...['document', 'window', 'self', 'navigator', 'location', 'history', 'localStorage', 'sessionStorage', 'alert'],
  ...['requestAnimationFrame', 'cancelAnimationFrame', 'Image', 'Worker', 'Node', 'Element', 'OffscreenCanvas', 'Bun'],
  ...['Deno', 'require', 'module', 'exports', 'process', 'importScripts', 'getComputedStyle', 'matchMedia'],
]);

function freeOfClass(body: Node): string[] {
  const { start, end } = body;
  const fn = { type: 'ArrowFunctionExpression', start, end, params: [], body, expression: true, async: false };
  const free = freeVariables(fn as unknown as FunctionNode);
  return [...free.keys()].filter((name) => !GLOBALS.includes(name) && name !== 'arguments');
}

const HOST_SYNTAX: ReadonlySet<string> = new Set([
  ...['AwaitExpression', 'YieldExpression', 'Super', 'ImportExpression', 'MetaProperty', 'TaggedTemplateExpression'],
]);

/** Whether all of a node is what kernels may say. */
function isComputation(node: Node): boolean {
  const inClass = node.type.startsWith('Class');
  let computes = true;
  walk(node, (of) => {
    const below = of as AnyNode;
    if (HOST_SYNTAX.has(below.type) || (below.type === 'ThisExpression' && !inClass)) computes = false;
    if (isFunction(below) && (below.async || below.generator)) computes = false;
    if (below.type === 'Literal' && 'regex' in below) computes = false;
    return computes;
  });
  return computes;
}

/** Methods of kernels and arrays that the host calls. */
const HOST_CALL =
  /^(?:launch|launchAsync|configure|forAll|compile|copyToHost|copyToHostAsync|toDevice|deviceArray|then|addEventListener)$/;

function callsHost(node: Node, scan: Scan): boolean {
  let host = false;
  walk(node, (of) => {
    const below = of as AnyNode;
    if (below.type !== 'CallExpression') return undefined;
    const { callee } = below;
    // Reductions of a block stand in kernels; what makes kernels does not.
    const method =
      callee.type === 'MemberExpression' && callee.property.type === 'Identifier' ? callee.property.name : '';
    if (HOST_CALL.test(method) || /^(?:jit|g?u?vectorize)$/.test(method)) host = true;
    if (callee.type === 'Identifier' && scan.takesFunctions(below)) host = true;
    return !host;
  });
  return host;
}

/** In a module that does not know Tsamba: what is exported and needs something of the module, and what that calls. */
function ofPlainModule(found: readonly Found[], scan: Scan): Found[] {
  const plain = found.filter(({ node, name }) => name !== '' && callsOnlyNames(node));
  const chosen = new Set(plain.filter(({ name, free }) => scan.exported.has(name) && free.length > 0));
  for (let size = -1; size !== chosen.size; ) {
    size = chosen.size;
    const called = new Set([...chosen].flatMap(({ free }) => free));
    for (const one of plain) if (called.has(one.name)) chosen.add(one);
  }
  return found.filter((one) => chosen.has(one));
}

/** `f(x)` and `Math.sin(x)` are of kernels and of everybody; `list.push(x)` and strings are of the host. */
function callsOnlyNames(node: Node): boolean {
  let only = true;
  walk(node, (of) => {
    const below = of as AnyNode;
    if (below.type === 'Literal' && typeof below.value === 'string') only = false;
    if (below.type === 'TemplateLiteral' || below.type === 'NewExpression') only = false;
    if (below.type === 'CallExpression' && below.callee.type === 'MemberExpression') {
      const { object } = below.callee;
      if (object.type !== 'Identifier' || object.name !== 'Math') only = false;
    }
    return only;
  });
  return only;
}
