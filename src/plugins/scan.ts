/**
 * What a module says of itself by its syntax: which names are Tsamba's, which calls take functions of the device, what it exports.
 *
 * By names and not by scopes: a function that is taken for one of the device without being one costs a few bytes, and nothing else.
 */
import type { AnyNode, CallExpression, ImportDeclaration, Node, Program } from 'acorn';
import { boundIdentifiers } from '../compiler/frontend/free-variables.ts';
import { walk } from '../compiler/frontend/walk.ts';

/** Calls that make kernels and device functions, of whatever object. */
const MAKERS: ReadonlySet<string> = new Set(['jit', 'vectorize', 'guvectorize']);

/** Calls that take device functions where they are Tsamba's: of `cuda`, `roc`, their `block` and `warp`, and of `tsamba/parallel`. */
const TAKERS: ReadonlySet<string> = new Set([
  ...['reduce', 'reduceInto', 'segmentedReduce', 'reduceByKey', 'reduceByKeyInto', 'transform', 'map', 'constant'],
  ...['inclusiveScan', 'exclusiveScan', 'scanByKey', 'segmentedScan', 'sort', 'argsort', 'sortByKey', 'segmentedSort'],
  ...[
    'topK',
    'select',
    'selectInto',
    'partition',
    'partitionInto',
    'unique',
    'uniqueInto',
    'uniqueByKey',
    'any',
    'all',
  ],
  ...['uniqueByKeyInto', 'runLengthEncode', 'runLengthEncodeInto', 'countIf', 'merge', 'searchSorted', 'collect'],
  ...['minmax', 'argmin', 'argmax', 'gather', 'scatter', 'histogram', 'declareDevice', 'deviceFunction', 'Reduce'],
]);

/** Packages whose functions no kernel calls. */
const HOST_PACKAGE = /^(?:node:|react\b|preact\b|vue\b|svelte\b|solid-js\b|@angular\/)/;

export interface Scan {
  /** Every name that the module declares in any scope. */
  readonly declared: ReadonlySet<string>;
  /** Names that are imported from where no device function comes. */
  readonly hostOnly: ReadonlySet<string>;
  /** Names of functions that are handed to calls that take device functions. */
  readonly wanted: ReadonlySet<string>;
  readonly exported: ReadonlySet<string>;
  /** Whether it imports Tsamba, or makes kernels. */
  readonly usesTsamba: boolean;
  /** Whether a call takes device functions. */
  takesFunctions(call: CallExpression): boolean;
}

/** Scans the module. */
export function scan(program: Program): Scan {
  const declared = new Set<string>();
  const hostOnly = new Set<string>();
  const ours = new Set<string>();
  const aliases = new Set<string>();
  const exported = new Set<string>();
  const calls: CallExpression[] = [];
  let usesTsamba = false;
  const visit = (of: Node): undefined => {
    const node = of as AnyNode;
    if (node.type === 'ImportDeclaration') {
      const from = String(node.source.value);
      if (/^tsamba(?:\/|$)/.test(from)) usesTsamba = true;
      noteImports(node, from, { declared, hostOnly, ours, aliases });
    } else if (node.type === 'VariableDeclarator') {
      for (const { name } of boundIdentifiers(node.id)) declared.add(name);
      if (node.init && isOurs(node.init, ours)) {
        for (const { name } of boundIdentifiers(node.id)) ours.add(name);
        for (const name of aliasesIn(node.id, node.init)) aliases.add(name);
      }
    } else if (isFunction(node)) {
      if (node.id) declared.add(node.id.name);
      for (const param of node.params) for (const { name } of boundIdentifiers(param)) declared.add(name);
    } else if ((node.type === 'ClassDeclaration' || node.type === 'ClassExpression') && node.id) {
      declared.add(node.id.name);
    } else if (node.type === 'CatchClause' && node.param) {
      for (const { name } of boundIdentifiers(node.param)) declared.add(name);
    } else if (node.type === 'ExportNamedDeclaration' || node.type === 'ExportDefaultDeclaration') {
      noteExports(node, exported);
    } else if (node.type === 'CallExpression') calls.push(node);
  };
  walk(program, visit);
  const takesFunctions = (call: CallExpression): boolean => takes(call, ours, aliases);
  const taking = calls.filter(takesFunctions);
  const wanted = new Set(taking.flatMap(({ arguments: given }) => given.flatMap(namesIn)));
  return {
    ...{ declared, hostOnly, wanted, exported, takesFunctions },
    usesTsamba: usesTsamba || ours.size > 0 || taking.length > 0,
  };
}

type FunctionLike = Extract<
  AnyNode,
  { type: 'ArrowFunctionExpression' | 'FunctionExpression' | 'FunctionDeclaration' }
>;

/** Whether a node is a function. */
export function isFunction(node: AnyNode): node is FunctionLike {
  const { type } = node;
  return type === 'ArrowFunctionExpression' || type === 'FunctionExpression' || type === 'FunctionDeclaration';
}

interface Names {
  readonly declared: Set<string>;
  readonly hostOnly: Set<string>;
  readonly ours: Set<string>;
  /** Names of calls that take device functions, called by themselves. */
  readonly aliases: Set<string>;
}

function noteImports(node: ImportDeclaration, from: string, { declared, hostOnly, ours, aliases }: Names): void {
  const isTsamba = /^tsamba(?:\/|$)/.test(from);
  for (const specifier of node.specifiers) {
    const { name } = specifier.local;
    declared.add(name);
    if (HOST_PACKAGE.test(from)) hostOnly.add(name);
    const imported = specifier.type === 'ImportSpecifier' ? (specifier.imported as { name?: string }).name : undefined;
    if (isTsamba || /^(?:cuda|roc|hsa)$/.test(imported ?? name)) ours.add(name);
    if (imported !== undefined && (MAKERS.has(imported) || (isTsamba && TAKERS.has(imported)))) aliases.add(name);
  }
}

/** The calls that a declaration names: `const { jit, reduce: sum } = cuda`, `const jit = cuda.jit`. */
function aliasesIn(pattern: Node, init: Node): string[] {
  const [to, from] = [pattern as AnyNode, init as AnyNode];
  const isCall = (key: Node): boolean => {
    const { name } = key as { name?: string };
    return name !== undefined && (MAKERS.has(name) || TAKERS.has(name));
  };
  if (to.type === 'Identifier') return from.type === 'MemberExpression' && isCall(from.property) ? [to.name] : [];
  if (to.type !== 'ObjectPattern') return [];
  return to.properties.flatMap((p) =>
    p.type === 'Property' && isCall(p.key) ? boundIdentifiers(p.value).map(({ name }) => name) : [],
  );
}

function noteExports(
  node: Extract<AnyNode, { type: 'ExportNamedDeclaration' | 'ExportDefaultDeclaration' }>,
  exported: Set<string>,
): void {
  const { declaration } = node;
  if (declaration?.type === 'Identifier') exported.add(declaration.name);
  if (declaration && 'id' in declaration && declaration.id) exported.add(declaration.id.name);
  if (declaration?.type === 'VariableDeclaration')
    for (const { id } of declaration.declarations) for (const { name } of boundIdentifiers(id)) exported.add(name);
  if (node.type !== 'ExportNamedDeclaration' || node.source) return;
  for (const { local } of node.specifiers) if (local.type === 'Identifier') exported.add(local.name);
}

/** Whether an expression is Tsamba or a part of it: `cuda`, `tsamba_1.cuda`, `require('tsamba')`, `await import('tsamba/cuda')`. */
function isOurs(of: Node, ours: ReadonlySet<string>): boolean {
  const node = of as AnyNode;
  if (node.type === 'Identifier') return ours.has(node.name);
  if (node.type === 'MemberExpression') return isOurs(node.object, ours);
  if (node.type === 'AwaitExpression') return isOurs(node.argument, ours);
  const source =
    node.type === 'ImportExpression'
      ? node.source
      : node.type === 'CallExpression' && (node.callee as { name?: string }).name === 'require'
        ? node.arguments[0]
        : undefined;
  return source?.type === 'Literal' && /^tsamba(?:\/|$)/.test(String(source.value));
}

function takes({ callee }: CallExpression, ours: ReadonlySet<string>, aliases: ReadonlySet<string>): boolean {
  const called = (callee.type === 'SequenceExpression' ? callee.expressions.at(-1) : callee) as AnyNode;
  if (called.type === 'Identifier') return aliases.has(called.name);
  if (called.type !== 'MemberExpression' || called.property.type !== 'Identifier') return false;
  const { name } = called.property;
  return MAKERS.has(name) || (TAKERS.has(name) && isOurs(called.object, ours));
}

/** Names that an argument is, or has as values of its fields. */
function namesIn(of: Node): string[] {
  const node = of as AnyNode;
  if (node.type === 'Identifier') return [node.name];
  if (node.type !== 'ObjectExpression') return [];
  return node.properties.flatMap((p) => (p.type === 'Property' && p.value.type === 'Identifier' ? [p.value.name] : []));
}
