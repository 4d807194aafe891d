/**
 * `reshape` and `view` of arrays in kernels: the same memory in another shape, or as elements of another type.
 */
import type { Element } from '../elements.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare, mulIndex, toIndex } from './arithmetic.ts';
import { compactAxes, viewSize } from './arrays.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { type Axis, isLiteral, literal, type View } from './values.ts';

/** Whether two strides are the same for certain. */
function isSame(a: TExpr, b: TExpr): boolean {
  if (a === b) return true;
  if (a.k === 'index') return isSame(a.a, b);
  if (b.k === 'index') return isSame(a, b.a);
  if (a.k === 'lit') return b.k === 'lit' && a.value === b.value;
  if (a.k === 'extent') return b.k === 'extent' && a.root === b.root && a.axis === b.axis;
  if (a.k === 'local') return b.k === 'local' && a.local === b.local && a.local.stable;
  return a.k === 'arith' && b.k === 'arith' && a.fn === b.fn && isSame(a.a, b.a) && isSame(a.b, b.b);
}

/** Whether the elements lie one after another, the last axis fastest: what is known of that while compiling. */
function isCompact({ axes, element, unit }: View, pos: Pos): boolean {
  if (unit !== element.size) return false;
  const wanted = compactAxes(
    axes.map((a) => a.extent),
    'C',
    pos,
  );
  return axes.every((a, k) => isSame(a.stride, (wanted[k] as Axis).stride));
}

/** The same elements in another shape; one of `dims` may be -1, which is what remains. */
export function reshapeView(ctx: Evaluation, view: View, dims: readonly TExpr[], pos: Pos): View {
  if (!isCompact(view, pos)) {
    return fail(
      'K246',
      pos,
      `${view.name} is not known to be contiguous: its elements cannot be taken in another shape`,
      {
        help: 'reshape a whole array in C order, before it is sliced, or index it as it is',
      },
    );
  }
  if (dims.length === 0)
    return fail('K246', pos, `reshape of ${view.name} needs a shape`, { help: 'reshape(4, -1), or reshape([4, -1])' });
  const negative = dims.find((d) => isLiteral(d) && Number(d.value) < 0 && d.value !== -1);
  if (negative !== undefined && isLiteral(negative))
    return fail('K246', pos, `the length ${String(negative.value)} of a shape is negative`, {
      help: 'lengths are positive; one may be -1, which is what remains',
    });
  const size = viewSize(view, pos);
  const open = dims.filter((d) => isLiteral(d) && d.value === -1).length;
  if (open > 1) return fail('K246', pos, 'one length of a shape can be -1, not more');
  const product = (list: readonly TExpr[]): TExpr => list.reduce((n, d) => mulIndex(n, d, pos), literal(1, pos));
  const given = dims
    .filter((d) => !(isLiteral(d) && d.value === -1))
    .map((d) => (isLiteral(d) ? d : ctx.hold(toIndex(d))));
  const known = product(given);
  const rest = (): TExpr =>
    isLiteral(size) && isLiteral(known)
      ? literal(Math.trunc(Number(size.value) / Number(known.value)), pos)
      : ctx.hold({ k: 'round', fn: 'trunc', a: arith('div', toIndex(size), toIndex(known), pos), pos }, '%length');
  const next = [...given];
  const extents = dims.map((d) => (isLiteral(d) && d.value === -1 ? rest() : (next.shift() as TExpr)));
  const total = product(extents);
  if (isLiteral(size) && isLiteral(total)) {
    if (size.value !== total.value) {
      return fail('K246', pos, `${view.name} has ${String(size.value)} elements, and the shape ${String(total.value)}`);
    }
  } else if (ctx.options.checked) {
    const message = `reshape of ${view.name}: the shape has another number of elements`;
    const wrong = compare('ne', toIndex(total), toIndex(size), pos);
    ctx.emit({ k: 'if', cond: wrong, then: [{ k: 'trap', message, pos }], else: [], pos });
  }
  return { ...view, axes: compactAxes(extents, 'C', pos) };
}

/** The same bytes as elements of another type; the last axis gets longer or shorter. */
export function viewAs(ctx: Evaluation, view: View, element: Element, pos: Pos): View {
  const { axes, unit } = view;
  const [from, to] = [view.element.size, element.size];
  const last = axes.at(-1);
  const whole = from % to === 0 || to % from === 0;
  if (
    view.element.open ||
    last === undefined ||
    unit !== from ||
    !whole ||
    !isLiteral(last.stride) ||
    last.stride.value !== 1
  ) {
    return fail('K246', pos, `the elements of ${view.name} cannot be taken as others`, {
      help: 'the last axis has to be contiguous, and one size of elements a multiple of the other',
    });
  }
  const shorter = to > from;
  const ratio = shorter ? to / from : from / to;
  const many = (e: TExpr): TExpr => (shorter ? e : mulIndex(e, literal(ratio, pos), pos));
  const { extent } = last;
  const length = !shorter
    ? many(extent)
    : isLiteral(extent)
      ? literal(Math.trunc(Number(extent.value) / ratio), pos)
      : ctx.hold(
          { k: 'round', fn: 'trunc', a: arith('div', toIndex(extent), literal(ratio, pos), pos), pos },
          '%length',
        );
  const scaled = axes.map((a): Axis => ({ extent: a.extent, stride: many(a.stride) }));
  scaled[axes.length - 1] = { extent: length, stride: literal(shorter ? ratio : 1, pos) };
  // What lies at a place that is only known at run time is as aligned as the elements that it is counted in.
  const start = view.offset === undefined && axes.length === 1 && view.disp === 0;
  return {
    ...view,
    element,
    axes: scaled,
    offset: view.offset && many(view.offset),
    unit: shorter ? from : to,
    align: Math.min(start ? view.align : Math.min(view.align, view.element.align), to),
  };
}
