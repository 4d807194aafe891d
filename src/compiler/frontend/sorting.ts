/**
 * `a.sort(compare)` and `a.toSorted(compare)` in kernels: a thread sorts the elements of an array alone, stably, as JavaScript does.
 */
import type { AnyNode } from 'acorn';
import type { Pos } from '../source.ts';
import { inline } from './device-functions.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { knownLength } from './sequences.ts';
import type { Value, View } from './values.ts';

type Numbers = { [k: number]: number; readonly length: number };
type Compare = (a: number, b: number) => number;

/** Arrays of up to so many elements are sorted by exchanges that do not depend on them: their loops unroll, and the elements stay in registers. */
const FEW = 16;

// In the language of kernels: they may use nothing but their parameters.

/** Exchanges neighbours. */
function sortFew(a: Numbers, compare: Compare): number {
  for (let end = a.length - 1; end > 0; end--) {
    for (let k = 0; k < end; k++) {
      const x = a[k] as number;
      const y = a[k + 1] as number;
      const turn = compare(x, y) > 0;
      a[k] = turn ? y : x;
      a[k + 1] = turn ? x : y;
    }
  }
  return 0;
}

/** Puts each element where it belongs among those before it. */
function sortMany(a: Numbers, compare: Compare): number {
  for (let i = 1; i < a.length; i++) {
    const x = a[i] as number;
    let k = i;
    while (k > 0 && compare(a[k - 1] as number, x) > 0) {
      a[k] = a[k - 1] as number;
      k--;
    }
    a[k] = x;
  }
  return 0;
}

/** `(a, b) => a - b`, without a difference that might wrap. */
function ascending(a: number, b: number): number {
  return a > b ? 1 : 0;
}

/** `(a, b) => b - a`. */
function descending(a: number, b: number): number {
  return a < b ? 1 : 0;
}

/** The order of typed arrays: -0 before 0, and NaN last. */
function inOrder(a: number, b: number): number {
  const turned = a > b || (a === b && Object.is(b, -0) && !Object.is(a, -0)) || (Number.isNaN(a) && !Number.isNaN(b));
  return turned ? 1 : 0;
}

/** Sorts the elements of an array in memory. */
export function sortView(ctx: Evaluation, view: View, compare: Value | undefined, pos: Pos): void {
  if (view.axes.length !== 1 || view.element.record !== undefined)
    fail('K235', pos, 'sort orders arrays of numbers with one axis in a kernel', {
      help: 'sort indices, order.sort((i, j) => key[i] - key[j])',
    });
  const own: Value = { kind: 'view', view };
  const n = knownLength({ kind: 'view', view }, pos);
  inline(ctx, n !== undefined && n <= FEW ? sortFew : sortMany, [own, order(view, compare, pos)], pos);
}

function order(view: View, compare: Value | undefined, pos: Pos): Value {
  const known = (value: Compare): Value => ({ kind: 'host', value, name: value.name });
  if (compare === undefined) {
    if (view.element.open === true)
      fail('K316', pos, 'sort without a function orders a JavaScript array as text, 10 before 9', {
        help: 'sort((a, b) => a - b)',
      });
    return known(inOrder);
  }
  const way = compare.kind === 'function' ? difference(compare.fn.node) : undefined;
  return way === undefined ? compare : known(way === 'ab' ? ascending : descending);
}

/** Whether a function gives the difference of its parameters, and which of them it subtracts. */
function difference({
  params,
  body,
}: {
  readonly params: readonly AnyNode[];
  readonly body: AnyNode;
}): 'ab' | 'ba' | undefined {
  const only = body.type === 'BlockStatement' && body.body.length === 1 ? body.body[0] : undefined;
  const e = only?.type === 'ReturnStatement' ? only.argument : body;
  const [a, b] = params.map((p) => (p.type === 'Identifier' ? p.name : undefined));
  if (params.length !== 2 || e?.type !== 'BinaryExpression' || e.operator !== '-' || a === b) return undefined;
  const [left, right] = [e.left, e.right].map((x) => (x.type === 'Identifier' ? x.name : ''));
  return left === a && right === b ? 'ab' : left === b && right === a ? 'ba' : undefined;
}
