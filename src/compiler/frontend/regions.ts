/**
 * The memory that views of records and references to scalars stand for, as far as it is known while compiling: what
 * `record-names.ts` needs to tell whether one may be the other.
 */
import { isTextDType } from '../../dtype/index.ts';
import { ELEM_SIZE } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { RecordName, Region, TExpr, TMem } from '../types/tree.ts';
import { rootsOf } from './array-choices.ts';
import { isSame } from './exact-quotients.ts';
import { isLiteral, literal, type View } from './values.ts';

/** Whether a variable for this is JavaScript's reference to an object: a record, or an array inside one. */
export function isNameable(view: View): boolean {
  return view.axes.length === 0 ? view.element.record !== undefined : view.via !== undefined;
}

/** A number that is `scale * base + start`; of a constant, base and scale are 0. */
interface Linear {
  readonly base: unknown;
  readonly scale: number;
  readonly start: number;
}

export function regionOf({ root, level, element, axes, offset, unit, disp }: View): Region {
  const count = axes.reduce(
    (n, { extent }) => n * (isLiteral(extent) ? Number(extent.value) : Number.POSITIVE_INFINITY),
    1,
  );
  return { root, level, bytes: element.size * count, place: placeOf(offset, unit, disp) };
}

/** The name of a record that a view is. */
export function nameFor(view: View, name: string, constant: boolean, pos: Pos): RecordName {
  const { which, offset, unit, disp, checks, axes, element } = view;
  const isText = axes.length === 0 && element.record !== undefined && isTextDType(element.record);
  const named: RecordName = {
    name,
    pos,
    constant,
    region: regionOf(view),
    base: { which, index: offset ?? literal(0, pos), unit, disp, checks },
  };
  named.text = isText ? named : view.via?.name?.text;
  return named;
}

export function regionOfScalar({ root, elem, index, unit, disp }: TMem): Region {
  // Nothing is part of a scalar.
  return { root, level: Number.POSITIVE_INFINITY, bytes: ELEM_SIZE[elem], place: placeOf(index, unit, disp) };
}

function placeOf(offset: TExpr | undefined, unit: number, disp: number): Region['place'] {
  const sum = offset === undefined ? { base: 0, scale: 0, start: 0 } : linear(offset);
  return sum && { base: sum.base, scale: sum.scale * unit, start: sum.start * unit + disp };
}

/** Variables are looked through a few deep. */
const MOST_STEPS = 4;

/** How much more `a` is than `b`, where that is known while compiling. */
export function difference(a: TExpr, b: TExpr): number | undefined {
  const [x, y] = [linear(a, 0, true), linear(b, 0, true)];
  if (x !== undefined && y !== undefined && x.base === y.base && x.scale === y.scale) return x.start - y.start;
  const [[p, more], [q, less]] = [withoutLiteral(a), withoutLiteral(b)];
  return isSame(p, q) ? more - less : undefined;
}

function withoutLiteral(e: TExpr): readonly [rest: TExpr, literal: number] {
  return e.k === 'arith' && e.fn === 'add' && isLiteral(e.b) ? [e.a, Number(e.b.value)] : [e, 0];
}

/** `now`: of variables that may be assigned again as well. */
function linear(e: TExpr, steps = 0, now = false): Linear | undefined {
  switch (e.k) {
    case 'lit':
      return { base: 0, scale: 0, start: Number(e.value) };
    case 'index':
      return linear(e.a, steps, now);
    case 'local':
      if (!e.local.stable && !now) return undefined;
      return (
        (e.local.is !== undefined && steps < MOST_STEPS ? linear(e.local.is, steps + 1, now) : undefined) ?? {
          base: e.local,
          scale: 1,
          start: 0,
        }
      );
    case 'arg':
      return { base: e.arg, scale: 1, start: 0 };
    case 'special':
      return { base: e.name, scale: 1, start: 0 };
    case 'arith':
      return e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul'
        ? combine(e.fn, linear(e.a, steps, now), linear(e.b, steps, now))
        : undefined;
    default:
      return undefined;
  }
}

function combine(fn: 'add' | 'sub' | 'mul', a: Linear | undefined, b: Linear | undefined): Linear | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (fn === 'mul') {
    const [factor, of] = a.scale === 0 ? [a, b] : [b, a];
    if (factor.scale !== 0) return undefined;
    return { base: of.base, scale: of.scale * factor.start, start: of.start * factor.start };
  }
  if (b.scale === 0) return { ...a, start: fn === 'add' ? a.start + b.start : a.start - b.start };
  return fn === 'add' && a.scale === 0 ? { ...b, start: a.start + b.start } : undefined;
}

/**
 * Whether two regions may have memory in common: `'arguments'` where only a launch can make it so, by giving the same memory to
 * two arguments.
 */
export function overlap(a: Region, b: Region): boolean | 'arguments' {
  let found: false | 'arguments' = false;
  for (const p of rootsOf(a.root)) {
    for (const q of rootsOf(b.root)) {
      if (p === q && !isApart(a, b)) return true;
      // All dynamic shared arrays begin at one address.
      if (p !== q && p.dynamic === true && q.dynamic === true) return true;
      if (p !== q && p.space === 'global' && q.space === 'global') found = 'arguments';
    }
  }
  return found;
}

function isApart({ place: p, bytes: n }: Region, { place: q, bytes: m }: Region): boolean {
  if (p === undefined || q === undefined || p.base !== q.base || p.scale !== q.scale) return false;
  return p.start + n <= q.start || q.start + m <= p.start;
}
