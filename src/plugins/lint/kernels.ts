/**
 * Kernels in a file: functions that are given to `jit`, and what in them is known of the thread.
 */
import { bare, child, isFunction, lastName, list, type Node, nameOf, numberOf, walk } from './tree.ts';

/** A kernel as it is written. */
export interface KernelNode {
  readonly fn: Node;
  readonly body: Node;
  readonly params: readonly Node[];
  /** The options of `jit`. */
  readonly options: Node | undefined;
}

/** The kernel that a call of `jit` makes, if its function is written there: `cuda.jit(() => …)`, or a factory with `captures`. */
export function kernelOf(call: Node): KernelNode | undefined {
  const callee = child(call, 'callee');
  const [first, options] = list(call, 'arguments');
  if (callee === undefined || first === undefined || lastName(callee) !== 'jit') return undefined;
  const given = bare(first);
  if (!isFunction(given)) return undefined;
  const inner = isFactory(options) ? returnedFunction(given) : undefined;
  const fn = inner ?? given;
  const body = child(fn, 'body');
  return body === undefined ? undefined : { fn, body, params: list(fn, 'params'), options };
}

function isFactory(options: Node | undefined): boolean {
  return options !== undefined && hasOption(options, 'captures');
}

function returnedFunction(fn: Node): Node | undefined {
  const body = child(fn, 'body');
  const inner = body === undefined ? undefined : bare(body);
  return inner !== undefined && isFunction(inner) ? inner : undefined;
}

/** Whether an object literal has a key. */
export function hasOption(options: Node, name: string): boolean {
  return list(options, 'properties').some((property) => nameOf(child(property, 'key')) === name);
}

/** The names of parameters that are plain identifiers. */
export function parameterNames({ params }: KernelNode): ReadonlySet<string> {
  return new Set(params.map(nameOf).filter((name) => name !== undefined));
}

/** A call of a member of the vocabulary, `cuda.grid(1)`: its name and its arguments. */
export function callOf(node: Node): { readonly name: string; readonly args: readonly Node[] } | undefined {
  const inner = bare(node);
  const callee = inner.type === 'CallExpression' ? child(inner, 'callee') : undefined;
  const name = callee === undefined ? undefined : lastName(callee);
  return name === undefined ? undefined : { name, args: list(inner, 'arguments') };
}

/** Names of calls behind which all threads of a block have met. */
const BARRIERS =
  /^(?:syncThreads|syncThreadsCount|syncThreadsAnd|syncThreadsOr|syncthreads\w*|barrier|workGroupBarrier)$/i;

/** Whether a call is a barrier for the block. */
export function isBarrier(node: Node): boolean {
  const call = callOf(node);
  return call !== undefined && BARRIERS.test(call.name);
}

/** Calls that give a thread its place in the grid. */
const PLACES: ReadonlySet<string> = new Set(['grid', 'getGlobalId', 'get_global_id']);
const LOCAL_PLACES: ReadonlySet<string> = new Set(['getLocalId', 'get_local_id', 'laneId']);

/** `cuda.grid(2)`: how many dimensions; `getGlobalId(0)`: 1. */
export function gridCall(node: Node): number | undefined {
  const call = callOf(node);
  if (call === undefined || !PLACES.has(call.name)) return undefined;
  const [first] = call.args;
  return call.name === 'grid' && first !== undefined ? numberOf(first) : 1;
}

/** What differs between threads of a block by itself: `threadIdx`, `laneId`, `grid(…)`, `getLocalId(…)`. */
export function isThreadSource(node: Node): boolean {
  const name = nameOf(node);
  if (name === 'threadIdx' || name === 'laneId' || name === 'laneid') return true;
  const call = node.type === 'CallExpression' ? callOf(node) : undefined;
  return call !== undefined && (PLACES.has(call.name) || LOCAL_PLACES.has(call.name));
}

/** Calls whose result all threads of a block share, whatever they give. */
const SHARED_RESULTS = /^(?:syncThreads(?:Count|And|Or)|syncthreads\w+|uniform|workGroupReduce\w*)$/i;

export function isUniformCall(node: Node): boolean {
  const call = node.type === 'CallExpression' ? callOf(node) : undefined;
  return call !== undefined && SHARED_RESULTS.test(call.name);
}

/** The variables that a pattern declares, in order. */
export function declaredNames(pattern: Node): readonly string[] {
  const names: string[] = [];
  walk(pattern, (node) => {
    if (/^TS/.test(node.type)) return false;
    if (node.type === 'Property' || node.type === 'AssignmentPattern') {
      const inner = child(node, node.type === 'Property' ? 'value' : 'left');
      if (inner !== undefined) names.push(...declaredNames(inner));
      return false;
    }
    const name = nameOf(node);
    if (name !== undefined) names.push(name);
    return true;
  });
  return names;
}
