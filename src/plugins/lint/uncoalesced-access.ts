/**
 * `uncoalesced-access`: neighbouring threads touch elements that are far apart. A GPU reads memory in pieces of 32 to 128 bytes; each thread then costs a
 * piece of its own.
 */
import { callOf, gridCall, type KernelNode, parameterNames } from './kernels.ts';
import { kernelRule, type Rule } from './rule.ts';
import { bare, child, lastName, list, type Node, nameOf, numberOf, walk } from './tree.ts';

export const uncoalescedAccess: Rule = kernelRule(
  'suggestion',
  'Disallow accesses by which neighbouring threads touch elements far apart',
  {
    outer:
      'Neighbouring threads touch different rows of `{{array}}`: `{{index}}` follows x and is not the last index. Let x be the last index, so that a warp reads ' +
      'neighbouring elements, or stage a tile in shared memory.',
    stride:
      'Neighbouring threads touch elements of `{{array}}` that are `{{factor}}` apart. Let x be added to the index and not multiplied, so that a warp reads ' +
      'neighbouring elements, or stage a tile in shared memory.',
  },
  (kernel, context) => {
    const strides = stridesOf(kernel);
    const few = fewValued(kernel);
    const arrays = parameterNames(kernel);
    const seen = new Set<Node>();
    walk(kernel.body, (node) => {
      if (node.type !== 'MemberExpression' || node['computed'] !== true || seen.has(node)) return;
      const access = accessOf(node, seen);
      if (access === undefined || !arrays.has(access.array)) return;
      const { array, indices } = access;
      const last = indices.at(-1);
      if (last === undefined) return;
      const innermost = strideOf(last, strides);
      const outer = indices
        .slice(0, -1)
        .find((index) => ['near', 'far'].includes(String(strideOf(index, strides).step)));
      if (outer !== undefined && innermost.step === 0 && !isFew(last, few)) {
        context.report({ node, messageId: 'outer', data: { array, index: context.sourceCode.getText(outer) } });
      } else if (innermost.step === 'far') {
        const factor = innermost.factor === undefined ? 'far' : context.sourceCode.getText(innermost.factor);
        context.report({ node, messageId: 'stride', data: { array, factor } });
      }
    });
  },
);

/** Variables of loops that take a few values, `for (let c = 0; c < 3; c++)`. */
function fewValued({ body }: KernelNode): ReadonlySet<string> {
  const names = new Set<string>();
  walk(body, (node) => {
    const test = node.type === 'ForStatement' ? child(node, 'test') : undefined;
    const [left, right] = test === undefined ? [] : [child(test, 'left'), child(test, 'right')];
    const bound = right === undefined ? undefined : numberOf(right);
    const name = nameOf(left);
    if (name !== undefined && bound !== undefined && bound <= NEAR_FACTOR) names.add(name);
  });
  return names;
}

/** Whether an innermost index picks one of a few neighbours: the channels of a pixel. */
function isFew(index: Node, few: ReadonlySet<string>): boolean {
  const value = numberOf(index);
  const name = nameOf(bare(index));
  return (value !== undefined && value < NEAR_FACTOR) || (name !== undefined && few.has(name));
}

/** By how much an expression grows from a thread to its neighbour along x. */
interface Stride {
  /** 0: not at all. `'unknown'`: nothing can be said. `'far'`: by a factor that is large or not known. */
  readonly step: 0 | 'near' | 'far' | 'unknown';
  readonly factor?: Node | undefined;
}

const NONE: Stride = { step: 0 };
const NEAR: Stride = { step: 'near' };
const UNKNOWN: Stride = { step: 'unknown' };
/** Elements that are read with few pieces more than needed: the channels of a pixel. */
const NEAR_FACTOR = 4;

/** Variables that follow x. */
function stridesOf({ body }: KernelNode): ReadonlyMap<string, Stride> {
  const strides = new Map<string, Stride>();
  walk(body, (node) => {
    const [target, value] =
      node.type === 'VariableDeclarator'
        ? [child(node, 'id'), child(node, 'init')]
        : node.type === 'AssignmentExpression'
          ? [child(node, 'left'), undefined]
          : [];
    if (target === undefined) return;
    const name = nameOf(bare(target));
    // What is assigned again may be anything.
    if (name !== undefined) strides.set(name, value === undefined ? UNKNOWN : strideOf(value, strides));
    else if (value !== undefined) declarePattern(target, value, strides);
  });
  return strides;
}

/** `const [x, y] = cuda.grid(2)`, `const { x: tx } = cuda.threadIdx`: x follows x. */
function declarePattern(target: Node, value: Node, strides: Map<string, Stride>): void {
  if (target.type === 'ArrayPattern' && gridCall(value) !== undefined) {
    const name = nameOf(list(target, 'elements')[0]);
    if (name !== undefined) strides.set(name, NEAR);
  }
  if (target.type !== 'ObjectPattern' || lastName(value) !== 'threadIdx') return;
  for (const property of list(target, 'properties')) {
    const name = nameOf(child(property, 'value'));
    if (name !== undefined && nameOf(child(property, 'key')) === 'x') strides.set(name, NEAR);
  }
}

function strideOf(node: Node, strides: ReadonlyMap<string, Stride>): Stride {
  const inner = bare(node);
  const name = nameOf(inner);
  if (name !== undefined) return strides.get(name) ?? NONE;
  if (inner.type === 'BinaryExpression') return ofBinary(inner, strides);
  const dimensions = inner.type === 'CallExpression' ? gridCall(inner) : undefined;
  if (dimensions === 1) return isAlongX(inner) ? NEAR : NONE;
  if (isThreadX(inner)) return NEAR;
  return mentionsX(inner, strides) ? UNKNOWN : NONE;
}

/** `getGlobalId(1)` goes along y. */
function isAlongX(node: Node): boolean {
  const call = callOf(node);
  const [first] = call?.args ?? [];
  return call?.name === 'grid' || first === undefined || numberOf(first) === 0;
}

function isThreadX(node: Node): boolean {
  const call = callOf(node);
  if (call !== undefined) return /^get_?local_?id$/i.test(call.name) && isAlongX(node);
  const object = node.type === 'MemberExpression' ? child(node, 'object') : undefined;
  return object !== undefined && lastName(node) === 'x' && lastName(object) === 'threadIdx';
}

function mentionsX(node: Node, strides: ReadonlyMap<string, Stride>): boolean {
  let found = false;
  walk(node, (inner) => {
    const name = nameOf(inner);
    found ||= isThreadX(inner) || (name !== undefined && (strides.get(name) ?? NONE).step !== 0);
  });
  return found;
}

function ofBinary(node: Node, strides: ReadonlyMap<string, Stride>): Stride {
  const [left, right] = [child(node, 'left'), child(node, 'right')];
  if (left === undefined || right === undefined) return UNKNOWN;
  const [a, b] = [strideOf(left, strides), strideOf(right, strides)];
  if (a.step === 0 && b.step === 0) return NONE;
  if (a.step === 'unknown' || b.step === 'unknown') return UNKNOWN;
  switch (node['operator']) {
    case '+':
      return a.step === 'far' ? a : b.step === 'far' ? b : NEAR;
    case '-':
      return b.step === 0 ? a : UNKNOWN;
    case '*':
      return times(a, b, left, right);
    default:
      return UNKNOWN;
  }
}

function times(a: Stride, b: Stride, left: Node, right: Node): Stride {
  if (a.step !== 0 && b.step !== 0) return UNKNOWN;
  const [own, factor] = a.step === 0 ? [b, left] : [a, right];
  const value = numberOf(factor);
  return value !== undefined && Math.abs(value) <= NEAR_FACTOR ? own : { step: 'far', factor };
}

interface Access {
  readonly array: string;
  readonly indices: readonly Node[];
}

/** `a[i][j]` as an array and its indices. The accesses inside it are marked as seen. */
function accessOf(node: Node, seen: Set<Node>): Access | undefined {
  const indices: Node[] = [];
  let at = node;
  while (at.type === 'MemberExpression' && at['computed'] === true) {
    seen.add(at);
    const [object, property] = [child(at, 'object'), child(at, 'property')];
    if (object === undefined || property === undefined) return undefined;
    // `a[y, x]` has several in one pair of brackets.
    indices.unshift(...(property.type === 'SequenceExpression' ? list(property, 'expressions') : [property]));
    at = bare(object);
  }
  const array = nameOf(at);
  return array === undefined ? undefined : { array, indices };
}
