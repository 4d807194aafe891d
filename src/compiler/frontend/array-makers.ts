/**
 * Arrays that kernels make by constructors: `new Float32Array(9)`, `new Array(9).fill(0)`, `Array.from({ length: 4 }, f)`. Their lengths are
 * known while compiling; what has a type of its own has it from the class.
 */
import type { CallExpression, NewExpression } from 'acorn';
import { type DType, dtypeOfTypedArray, isTypedArray } from '../../dtype/index.ts';
import { elementOf } from '../elements.ts';
import type { Pos } from '../source.ts';
import { elementFor, localLike, madeAt } from './array-sites.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { put, putValue } from './sequence-methods.ts';
import { callValue, eachIndex, eachItem, isSequence, itemOf, knownLength, withCharacters } from './sequences.ts';
import { describeValue, isLiteral, literal, type Scope, scalar, UNDEFINED, type Value, type View } from './values.ts';

/** `new Array(n)`: a length, and no values yet. */
export class Unfilled {
  readonly length: number;
  constructor(length: number) {
    this.length = length;
  }
}

/** Arrays of up to so many elements are tuples until they have to be memory. */
const MOST_ITEMS = 64;

/** The dtype of a TypedArray class; undefined for other values. */
function classDType(v: Value): DType | undefined {
  if (v.kind !== 'host' || typeof v.value !== 'function') return undefined;
  const { prototype } = v.value as { prototype?: unknown };
  if (typeof prototype !== 'object' || prototype === null || !('BYTES_PER_ELEMENT' in v.value)) return undefined;
  const array = Reflect.construct(v.value, [0]) as object;
  return isTypedArray(array) ? dtypeOfTypedArray(array) : undefined;
}

function lengthFrom(ctx: Evaluation, v: Value, what: string, pos: Pos): number {
  const n = ctx.scalar(v, pos, 'a length');
  if (!isLiteral(n))
    return fail('K332', pos, `the length of ${what} must be known at compile time`, { help: 'use a constant' });
  const length = Number(n.value);
  if (Number.isInteger(length) && length > 0) return length;
  return fail('K332', pos, `${String(n.value)} is not a valid length for ${what}`, {
    help: 'lengths are positive integers',
  });
}

/** `new Float32Array(…)`, `new Array(…)`; undefined for other classes. */
export function newArray(
  ctx: Evaluation,
  callee: Value,
  node: NewExpression | CallExpression,
  scope: Scope,
  pos: Pos,
): Value | undefined {
  if (callee.kind === 'host' && callee.value === Array) {
    const args = elements(ctx, node.arguments, scope, pos);
    const [n] = args;
    if (args.length !== 1 || n?.kind !== 'scalar') return madeAt(ctx, node, args, pos);
    return { kind: 'host', value: new Unfilled(lengthFrom(ctx, n, 'an array', pos)), name: 'new Array(n)' };
  }
  const dtype = node.type === 'NewExpression' ? classDType(callee) : undefined;
  if (dtype === undefined) return undefined;
  const args = elements(ctx, node.arguments, scope, pos);
  const [source] = args;
  if (args.length === 1 && source?.kind === 'scalar') {
    const view = localLike(ctx, elementOf(dtype), [lengthFrom(ctx, source, `${dtype.name} elements`, pos)], pos);
    fill(ctx, view, literal(dtype.name === 'i64' || dtype.name === 'u64' ? 0n : 0, pos), pos);
    return { kind: 'view', view };
  }
  if (args.length === 1 && source !== undefined) return typedFrom(ctx, dtype, source, pos);
  return fail('K316', pos, 'an array in a kernel is made from a length, or from another array', {
    help: 'new Float32Array(16)',
  });
}

/** A typed array with the elements of another array. */
function typedFrom(ctx: Evaluation, dtype: DType, source: Value, pos: Pos): Value {
  const n = isSequence(source) ? knownLength(source, pos) : undefined;
  if (!isSequence(source) || n === undefined || n === 0)
    return fail('K332', pos, `an array of ${dtype.name} cannot be made from ${describeValue(source)} in a kernel`, {
      help: 'give it a length, or an array whose length is known at compile time',
    });
  const out = localLike(ctx, elementOf(dtype), [n], pos);
  eachItem(ctx, source, pos, ({ item, index }) => put(ctx, out, index, ctx.scalar(item, pos), pos));
  return { kind: 'view', view: out };
}

/** Stores one value to all elements of an array whose axis is known. */
function fill(ctx: Evaluation, view: View, value: ReturnType<typeof literal>, pos: Pos): void {
  const held = isLiteral(value) ? value : ctx.temp(value);
  const n = Number((view.axes[0]?.extent as { value?: unknown } | undefined)?.value ?? 0);
  if (n <= MOST_ITEMS / 4) for (let k = 0; k < n; k++) put(ctx, view, literal(k, pos), held, pos);
  else eachIndex(ctx, view, pos, (index) => put(ctx, view, index, held, pos));
}

/** `new Array(n).fill(x)`. */
export function fillNew(ctx: Evaluation, { length }: Unfilled, node: CallExpression, scope: Scope, pos: Pos): Value {
  const args = elements(ctx, node.arguments, scope, pos);
  const [value] = args;
  if (args.length !== 1 || value === undefined || !/^(?:scalar|complex|vector)$/.test(value.kind))
    return fail(
      'K332',
      pos,
      `all elements would be one and the same: ${value === undefined ? 'nothing' : describeValue(value)}`,
      {
        help: 'Array.from({ length: n }, () => [0, 0]) makes a row for each',
      },
    );
  if (length <= MOST_ITEMS) {
    const held = ctx.holdValue(value);
    return madeAt(
      ctx,
      node,
      Array.from({ length }, () => held),
      pos,
    );
  }
  const view = localLike(ctx, elementFor([value]), [length], pos);
  const held = ctx.holdValue(value);
  eachIndex(ctx, view, pos, (index) => putValue(ctx, view, index, held, pos));
  return { kind: 'view', view };
}

/** `Array.from(…)`, `Array.of(…)` and those of typed arrays; undefined for other calls. */
export function arrayFrom(
  ctx: Evaluation,
  object: Value,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value | undefined {
  const isArray = object.kind === 'host' && object.value === Array;
  const dtype = isArray ? undefined : classDType(object);
  if (!isArray && dtype === undefined) return undefined;
  const args = elements(ctx, node.arguments, scope, pos);
  const items = name === 'of' ? args : itemsFrom(ctx, args, node, scope, pos);
  if (dtype !== undefined) return typedFrom(ctx, dtype, { kind: 'tuple', items }, pos);
  return madeAt(ctx, node, items, pos);
}

/** The elements that `from(source, f)` gives. */
function itemsFrom(ctx: Evaluation, args: readonly Value[], node: CallExpression, scope: Scope, pos: Pos): Value[] {
  const [given = UNDEFINED, f] = args;
  const source = withCharacters(given);
  const lengthOnly = source.kind === 'record' && source.fields.size === 1 ? source.fields.get('length') : undefined;
  const unfilled = source.kind === 'host' && source.value instanceof Unfilled ? source.value.length : undefined;
  const n =
    lengthOnly !== undefined
      ? lengthFrom(ctx, lengthOnly, 'an array', pos)
      : (unfilled ?? (isSequence(source) ? knownLength(source, pos) : undefined));
  if (n === undefined || n > MOST_ITEMS)
    return fail(
      'K332',
      pos,
      `an array of up to ${MOST_ITEMS} elements can be made here, if their number is known at compile time`,
      {
        help: 'Array.from({ length: 4 }, (_, k) => k); for more: new Float32Array(n), and a loop',
      },
    );
  return Array.from({ length: n }, (_, k) => {
    const index = literal(k, pos);
    const item = !isSequence(source)
      ? UNDEFINED
      : source.kind === 'tuple'
        ? (source.items[k] ?? UNDEFINED)
        : itemOf(ctx, source.view, index, pos);
    if (f === undefined && !isSequence(source))
      return fail('K332', pos, 'Array.from needs a function for the elements', {
        help: 'Array.from({ length: n }, () => 0)',
      });
    return ctx.holdValue(f === undefined ? item : callValue(ctx, f, [item, scalar(index)], node, scope));
  });
}
