/**
 * Methods of arrays in kernels: `get`, `set`, `slice`, `field`, `reshape` and `view`, with the host's forms.
 */
import type { AnyNode, CallExpression, Expression, SpreadElement } from 'acorn';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, toIndex } from './arithmetic.ts';
import { keepApart, markStored } from './array-choices.ts';
import { isReduction, reduction } from './array-reductions.ts';
import { elementType, elementValue, indexView, type SlicePart, sliceView } from './arrays.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldView } from './record-fields.ts';
import { reshapeView, viewAs } from './reshaping.ts';
import { isSequenceMethod, putValue, sequenceMethod } from './sequence-methods.ts';
import { eachIndex, eachItem, isSequence, itemOf, type Sequence } from './sequences.ts';
import { storeValue } from './stores.ts';
import { describeValue, literal, type Scope, scalar, UNDEFINED, type Value, type View } from './values.ts';

export function arrayMethod(
  ctx: Evaluation,
  view: View,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value {
  if (isReduction(name)) return reduction(ctx, view, name, node.arguments.length, pos);
  const own: Value = { kind: 'view', view };
  if (isSequence(own) && isSequenceMethod(name) && (name !== 'slice' || view.root.made === true))
    return sequenceMethod(ctx, own, name, node, scope, pos);
  if (name === 'reverse') return reverseView(ctx, view, pos);
  if (name === 'fill') return fillView(ctx, view, node, scope, pos);
  if (name === 'slice') {
    const parts = node.arguments.map((a) => slicePart(ctx, a, scope));
    if (!parts.some((p) => 'start' in p) && parts.length >= view.axes.length) {
      return fail('K236', pos, 'a slice needs at least one range', {
        help: `for one element write ${view.name}${'[i]'.repeat(view.axes.length)}`,
      });
    }
    return { kind: 'view', view: sliceView(ctx, view, parts, pos) };
  }
  if (name === 'field') {
    const [first] = node.arguments;
    const given = first === undefined ? undefined : ctx.parts.evaluate(ctx, first, scope);
    if (given?.kind !== 'host' || typeof given.value !== 'string' || node.arguments.length !== 1) {
      return fail('K312', pos, "field needs the name of a member: field('x')");
    }
    return { kind: 'view', view: fieldView(view, given.value, pos) };
  }
  if (name === 'reshape' || name === 'view') {
    const args = node.arguments.map((a) => ctx.parts.evaluate(ctx, a, scope));
    const [first] = args;
    if (name === 'view') {
      const type = elementType(first?.kind === 'host' ? first.value : undefined, 'view', pos);
      return { kind: 'view', view: viewAs(ctx, view, type, pos) };
    }
    const dims = first?.kind === 'tuple' ? first.items : args;
    return {
      kind: 'view',
      view: reshapeView(
        ctx,
        view,
        dims.map((d) => ctx.scalar(d, pos, 'a length')),
        pos,
      ),
    };
  }
  if (name === 'set') return setView(ctx, view, node, scope, pos);
  if (name !== 'get') return fail('K223', pos, `arrays have no method ${name} in a kernel`);
  const indices = elements(ctx, node.arguments, scope, pos);
  return elementValue(elementView(ctx, view, 'get', indices, pos), pos);
}

/** The element of an array at one index an axis. */
function elementView(ctx: Evaluation, view: View, name: string, indices: readonly Value[], pos: Pos): View {
  const { length } = view.axes;
  if (indices.length !== length) {
    const needs = length === 1 ? '1 index' : `${length} indices`;
    return fail('K236', pos, `${name} needs ${needs} for ${view.name}, not ${indices.length}`);
  }
  return indices.reduce((v, index) => indexView(ctx, v, ctx.scalar(index, pos, 'an index'), pos), view);
}

/** `a.set(value, …index)`, and JavaScript's `a.set(values, offset)` of arrays of one axis. */
function setView(ctx: Evaluation, view: View, node: CallExpression, scope: Scope, pos: Pos): Value {
  const [value, ...rest] = elements(ctx, node.arguments, scope, pos);
  if (value === undefined) return fail('K316', pos, 'set needs a value');
  if (view.axes.length === 1 && isSequence(value) && (rest.length === 0 || !isRecordType(view)))
    copyElements(ctx, view, value, rest, pos);
  else storeValue(ctx, elementView(ctx, view, 'set', rest, pos), value, pos);
  return UNDEFINED;
}

/** Whether elements can be assigned tuples: sub-arrays of structs. */
function isRecordType(view: View): boolean {
  return view.element.record !== undefined;
}

/** `a.set(values, offset)`. */
function copyElements(ctx: Evaluation, view: View, values: Sequence, rest: readonly Value[], pos: Pos): void {
  const are = values.kind === 'view' && values.view.root === view.root ? 'are' : 'may be';
  if (values.kind === 'view')
    keepApart(values.view.root, view.root, () =>
      fail('K242', pos, `${view.name} and what is copied into it ${are} parts of one array`, {
        help: 'copy the elements in a loop, in the order in which none is overwritten before it is read',
      }),
    );
  const [first] = rest;
  const offset = first === undefined ? literal(0, pos) : ctx.hold(ctx.scalar(first, pos, 'an index'));
  const at = (index: TExpr): View => indexView(ctx, view, arith('add', offset, index, pos), pos);
  eachItem(ctx, values, pos, ({ item, index }) => storeValue(ctx, at(index), item, pos));
}

/** `a.reverse()`: the elements of the only axis change places; gives the array. */
function reverseView(ctx: Evaluation, view: View, pos: Pos): Value {
  const n = view.axes[0]?.extent;
  if (n === undefined || view.axes.length > 1 || isRecordType(view))
    return fail('K223', pos, 'reverse is for arrays of numbers with one axis', { help: 'write a loop' });
  markStored(view.root, pos);
  const half: TExpr = { k: 'round', fn: 'trunc', a: arith('div', toIndex(n), literal(2, pos), pos), pos };
  const first = sliceView(ctx, view, [{ start: undefined, stop: half, step: undefined }], pos);
  eachIndex(ctx, first, pos, (index) => {
    const other = arith('sub', arith('sub', n, literal(1, pos), pos), index, pos);
    const [a, b] = [itemOf(ctx, view, index, pos), itemOf(ctx, view, other, pos)];
    putValue(ctx, view, index, b, pos);
    putValue(ctx, view, other, a, pos);
  });
  return { kind: 'view', view };
}

/** `a.fill(value, from, to)`: of all elements, or of a part of the only axis. */
function fillView(ctx: Evaluation, view: View, node: CallExpression, scope: Scope, pos: Pos): Value {
  const [value, start, stop] = elements(ctx, node.arguments, scope, pos);
  if (value === undefined) return fail('K316', pos, 'fill needs a value');
  if (view.axes.length > 1 && (view.element.open === true || start !== undefined))
    return fail('K240', pos, `${view.name} has rank ${view.axes.length}: its rows are filled one by one`, {
      help: `for (const row of ${view.name}) row.fill(0)`,
    });
  const whole = view.element.record !== undefined || value.kind === 'vector';
  const held = whole ? ctx.holdValue(value) : scalar(ctx.hold(ctx.scalar(value, pos)));
  const bound = (v: Value | undefined): TExpr | undefined =>
    v === undefined ? undefined : ctx.scalar(v, pos, 'a bound');
  const part = { start: bound(start), stop: bound(stop), step: undefined };
  const filled = start === undefined ? view : sliceView(ctx, view, [part], pos);
  const each = (v: View): void => {
    if (v.axes.length === 0) storeValue(ctx, v, held, pos);
    else eachIndex(ctx, v, pos, (index) => each({ ...indexView(ctx, v, index, pos), checks: v.checks }));
  };
  each(filled);
  return { kind: 'view', view };
}

function slicePart(ctx: Evaluation, node: Expression | SpreadElement, scope: Scope): SlicePart {
  const pos = ctx.pos(node, scope);
  if (node.type === 'ArrayExpression') {
    const part = (k: number): ReturnType<Evaluation['scalar']> | undefined => {
      const e: AnyNode | null | undefined = node.elements[k];
      if (e == null) return undefined;
      const v = ctx.parts.evaluate(ctx, e, scope);
      return v.kind === 'host' && (v.value === undefined || v.value === null)
        ? undefined
        : ctx.scalar(v, pos, 'a bound');
    };
    return { start: part(0), stop: part(1), step: part(2) };
  }
  const v = ctx.parts.evaluate(ctx, node, scope);
  if (v.kind === 'host' && typeof v.value === 'string') {
    const text = v.value.trim();
    const match = /^(-?\d+)?\s*:\s*(-?\d+)?(?:\s*:\s*(-?\d+)?)?$/.exec(text);
    if (match === null)
      return fail('K236', pos, `'${text}' is not a range`, { help: "write '1:5', '::2', ':' or [start, stop, step]" });
    const bound = (s: string | undefined): ReturnType<typeof literal> | undefined =>
      s === undefined ? undefined : literal(Number(s), pos);
    return { start: bound(match[1]), stop: bound(match[2]), step: bound(match[3]) };
  }
  if (v.kind === 'tuple') {
    const part = (k: number): ReturnType<Evaluation['scalar']> | undefined => {
      const item = v.items[k];
      if (item === undefined || (item.kind === 'host' && (item.value === undefined || item.value === null)))
        return undefined;
      return ctx.scalar(item, pos, 'a bound');
    };
    return { start: part(0), stop: part(1), step: part(2) };
  }
  if (v.kind !== 'scalar') return fail('K236', pos, `a slice takes indices and ranges, not ${describeValue(v)}`);
  return { index: v.expr };
}
