/**
 * Which arrays and objects are one and the same, as `===`, `!==` and `Object.is` ask. What the kernel makes is known by where it was made; what
 * a variable holds by turns, and two arrays of a launch, which may be one, are not.
 */
import type { Pos } from '../source.ts';
import type { Root, TExpr } from '../types/tree.ts';
import { compare, select } from './arithmetic.ts';
import { rootsOf, whichOf } from './array-choices.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isObject } from './object-slots.ts';
import { absentTest, withoutFlag } from './optionals.ts';
import { isSameExpression } from './recursion.ts';
import {
  describeValue,
  hostIdentity,
  type Identity,
  isLiteral,
  isOptional,
  literal,
  type Value,
  type View,
} from './values.ts';

/** Whether a value is an array or an object, which JavaScript compares by identity. */
export function isThing(v: Value): boolean {
  if (v.kind === 'host') return typeof v.value === 'object' && v.value !== null;
  return isObject(v) || v.kind === 'tuple' || (v.kind === 'view' && v.view.axes.length > 0);
}

/** Whether two arrays or objects are the same one. */
export function identical(ctx: Evaluation, a: Value, b: Value, operator: string, pos: Pos): TExpr {
  const same = compareThings(ctx, withoutFlag(a), withoutFlag(b), pos);
  if (same === undefined) return refuse(a, b, operator, pos);
  const there = (v: Value, rest: TExpr): TExpr =>
    isOptional(v)
      ? { k: 'logic', fn: 'and', a: { k: 'not', a: absentTest(v, 'either', pos), pos }, b: rest, pos }
      : rest;
  if (!isOptional(a) || !isOptional(b)) return there(a, there(b, same));
  return refuse(a, b, operator, pos);
}

function refuse(a: Value, b: Value, operator: string, pos: Pos): never {
  return fail(
    'K221',
    pos,
    `${operator} asks whether ${describeValue(a)} and ${describeValue(b)} are the same one, which is not known in a kernel`,
    { help: 'compare their fields or elements, or give each a number of its own' },
  );
}

/** Undefined where it is not known. */
function compareThings(ctx: Evaluation, a: Value, b: Value, pos: Pos): TExpr | undefined {
  if (a.kind === 'object' && a.object.choice !== undefined) {
    const { cond, a: first, b: second } = a.object.choice;
    const [x, y] = [compareThings(ctx, first, b, pos), compareThings(ctx, second, b, pos)];
    if (x === undefined || y === undefined) return undefined;
    return isLiteral(x) && isLiteral(y) && x.value === y.value ? x : select(cond, x, y, pos);
  }
  if (b.kind === 'object' && b.object.choice !== undefined) return compareThings(ctx, b, a, pos);
  if (a.kind === 'view' && b.kind === 'view') return compareViews(a.view, b.view, pos);
  if (a.kind === 'object' && b.kind === 'object') {
    if (a.object === b.object) return a.version === b.version ? literal(true, pos) : undefined;
    // What a variable holds by turns may be a copy of the other.
    const copies = [a, b].some(({ object }) => object.sites.size > 0 || object.twins.size > 0);
    return copies ? undefined : literal(false, pos);
  }
  const [x, y] = [identityOf(a), identityOf(b)];
  if (x === undefined || y === undefined) return undefined;
  if (x === y) return literal(true, pos);
  const mayBeSame = (x.from === 'launch' && y.from !== 'kernel') || (y.from === 'launch' && x.from !== 'kernel');
  return mayBeSame ? undefined : literal(false, pos);
}

function identityOf(v: Value): Identity | undefined {
  switch (v.kind) {
    case 'tuple':
    case 'record':
      return v.identity;
    case 'host':
      return hostIdentity(v.value as object);
    case 'view':
      return { from: v.view.root.space === 'global' ? 'launch' : 'kernel' };
    default:
      return v.kind === 'object' && v.object.sites.size === 0 ? { from: 'kernel' } : undefined;
  }
}

function isApart(a: Root, b: Root): boolean {
  return a !== b && !(a.space === 'global' && b.space === 'global');
}

function compareViews(a: View, b: View, pos: Pos): TExpr | undefined {
  if (!isWhole(a) || !isWhole(b)) return undefined;
  const [one, other] = [rootsOf(a.root), rootsOf(b.root)];
  if (one.length > 1 || other.length > 1) {
    // It is the same array where it is the same one of them, if all of them are different ones.
    const all = [...new Set([...one, ...other])];
    if (all.filter((root) => root.space === 'global').length > 1) return undefined;
    return compare('eq', whichOf(a, pos), whichOf(b, pos), pos);
  }
  const [x, y] = [one[0], other[0]];
  if (x === undefined || y === undefined) return undefined;
  if (x !== y) return isApart(x, y) ? literal(false, pos) : undefined;
  const same = a.axes.every(({ extent, stride }, k) => {
    const axis = b.axes[k];
    return axis !== undefined && isSameExpression(extent, axis.extent) && isSameExpression(stride, axis.stride);
  });
  return same && a.axes.length === b.axes.length ? literal(true, pos) : undefined;
}

function isWhole({ checks, offset, disp }: View): boolean {
  return checks.length === 0 && offset === undefined && disp === 0;
}
