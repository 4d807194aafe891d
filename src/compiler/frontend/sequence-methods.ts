/**
 * JavaScript's methods of arrays: on tuples, on arrays that the kernel makes, and on views of any memory.
 */
import type { CallExpression } from 'acorn';
import { isVectorDType } from '../../dtype/index.ts';
import type { Pos } from '../source.ts';
import type { Local, TExpr } from '../types/tree.ts';
import { arith, compare, not, select } from './arithmetic.ts';
import { elementFor, localLike, madeAt, memoryOf } from './array-sites.ts';
import { element, indexView, sliceView } from './arrays.ts';
import { toComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { applyBinary } from './operators.ts';
import { withFlag } from './optionals.ts';
import {
  askValue,
  callValue,
  eachIndex,
  eachItem,
  itemOf,
  knownLength,
  lengthOf,
  namedLength,
  type Sequence,
} from './sequences.ts';
import { sortView } from './sorting.ts';
import { storeValue } from './stores.ts';
import { textType } from './texts.ts';
import { isTime } from './times.ts';
import {
  isLiteral,
  literal,
  mapScalars,
  readLocal,
  type Scope,
  scalar,
  UNDEFINED,
  type Value,
  type View,
} from './values.ts';

interface MethodCall {
  readonly ctx: Evaluation;
  readonly self: Sequence;
  readonly name: string;
  readonly args: readonly Value[];
  readonly node: CallExpression;
  readonly scope: Scope;
  readonly pos: Pos;
}

/** Arrays of up to so many elements are mapped into variables. */
const UNROLLED = 16;

/** A variable with a first value. */
function variable({ ctx, pos }: MethodCall, name: string, value: TExpr): Local {
  const local = ctx.newLocal(name, pos, false);
  ctx.emit({ k: 'assign', local, value, pos });
  return local;
}

function given({ args, name, pos }: MethodCall, k: number): Value {
  return args[k] ?? fail('K316', pos, `${name} needs ${k === 0 ? 'an argument' : `argument ${k + 1}`}`);
}

/** Runs a callback for every element until it `stops`; gives a variable that says whether it did. */
function search(call: MethodCall, stops: (found: TExpr) => TExpr, before = false): Value {
  const { ctx, self, node, scope, pos } = call;
  const callback = given(call, 0);
  const result = variable(call, `%${call.name}`, literal(before, pos));
  eachItem(ctx, self, pos, ({ item, index, leave }) => {
    const cond = stops(askValue(ctx, callback, [item, scalar(index), self], node, scope));
    const then = ctx.branch(() => {
      ctx.emit({ k: 'assign', local: result, value: literal(!before, pos), pos });
      leave();
    });
    ctx.emit({ k: 'if', cond, then, else: [], pos });
  });
  return scalar(readLocal(result, pos));
}

/** The first or last element that `matches`, by its index; -1 if none does. */
function indexWhere(call: MethodCall, matches: (item: Value, index: TExpr) => TExpr, backwards = false): Local {
  const { ctx, self, pos } = call;
  const at = variable(call, `%${call.name}`, literal(-1, pos));
  eachItem(
    ctx,
    self,
    pos,
    ({ item, index, leave }) => {
      const then = ctx.branch(() => {
        ctx.emit({ k: 'assign', local: at, value: index, pos });
        leave();
      });
      ctx.emit({ k: 'if', cond: matches(item, index), then, else: [], pos });
    },
    { backwards },
  );
  return at;
}

function findIndex(call: MethodCall, backwards: boolean): Value {
  const { ctx, self, node, scope, pos } = call;
  const callback = given(call, 0);
  const test = (item: Value, index: TExpr): TExpr => askValue(ctx, callback, [item, scalar(index), self], node, scope);
  return scalar(readLocal(indexWhere(call, test, backwards), pos));
}

/** `find`: the element, or nothing. */
function find(call: MethodCall, backwards: boolean): Value {
  const { ctx, self, node, scope, pos } = call;
  const callback = given(call, 0);
  const flag = ctx.newLocal('%has', pos, false);
  const why = `${call.name} finds nothing`;
  ctx.emit({ k: 'presence', flag, is: 'undefined', why, pos });
  let slot: Value | undefined;
  eachItem(
    ctx,
    self,
    pos,
    ({ item, index, leave }) => {
      const cond = askValue(ctx, callback, [item, scalar(index), self], node, scope);
      slot ??= ctx.slot(item, '%found', pos);
      const own = slot;
      const then = ctx.branch(() => {
        ctx.store(own, item, 'what is found', pos);
        ctx.emit({ k: 'presence', flag, is: 'present', pos });
        leave();
      });
      ctx.emit({ k: 'if', cond, then, else: [], pos });
    },
    { backwards },
  );
  return slot === undefined ? UNDEFINED : withFlag(ctx, slot, flag, pos);
}

function indexOf(call: MethodCall, backwards: boolean): Local {
  const { ctx, args, pos } = call;
  if (args.length > 1)
    fail('K316', pos, `${call.name} takes 1 argument in a kernel`, { help: 'search a part: v.subarray(from)' });
  const value = ctx.holdValue(given(call, 0));
  // Strings and dates are compared as `===` compares them.
  if (textType(value) !== undefined || isTime(value) || (value.kind === 'host' && typeof value.value === 'string'))
    return indexWhere(call, (item) => ctx.scalar(applyBinary(ctx, '===', item, value, pos), pos), backwards);
  const wanted = ctx.scalar(value, pos);
  const nan = (a: TExpr): TExpr => ({ k: 'test', fn: 'isNaN', a, pos });
  return indexWhere(
    call,
    (item) => {
      const own = ctx.scalar(item, pos);
      const equal = compare('eq', own, wanted, pos);
      if (call.name !== 'includes' || (isLiteral(wanted) && !Number.isNaN(wanted.value))) return equal;
      // `includes` finds NaN.
      return { k: 'logic', fn: 'or', a: equal, b: { k: 'logic', fn: 'and', a: nan(own), b: nan(wanted), pos }, pos };
    },
    backwards,
  );
}

function reduce(call: MethodCall, backwards: boolean): Value {
  const { ctx, self, args, node, scope, pos } = call;
  const callback = given(call, 0);
  const start = args[1];
  const n = knownLength(self, pos);
  if (start === undefined && n === 0) fail('K316', pos, `${call.name} of no elements needs a first value`);
  if (start === undefined && backwards) fail('K316', pos, 'reduceRight needs a first value in a kernel');
  const begin =
    start ?? (self.kind === 'tuple' ? (self.items[0] ?? UNDEFINED) : itemOf(ctx, self.view, literal(0, pos), pos));
  // A sum of complex numbers may begin with 0.
  const widens = ctx.hints.isComplex({ name: 'what is reduced', pos });
  const first = widens ? (toComplex(begin) ?? begin) : begin;
  const slot = ctx.slot(first, '%reduced', pos);
  ctx.store(slot, first, 'what is reduced', pos);
  eachItem(
    ctx,
    self,
    pos,
    ({ item, index }) => {
      const next = callValue(ctx, callback, [ctx.holdValue(anew(slot)), item, scalar(index), self], node, scope);
      ctx.store(slot, next, 'what is reduced', pos);
    },
    { from: start === undefined ? 1 : 0, backwards },
  );
  return ctx.holdValue(anew(slot));
}

/** A read of its own of variables, so that live ranges can tell it from others. */
function anew(v: Value): Value {
  return mapScalars(v, (e) => (e.k === 'local' ? { ...e, range: undefined } : e));
}

function map(call: MethodCall): Value {
  const { ctx, self, node, scope, pos } = call;
  const callback = given(call, 0);
  const n = namedLength(self, pos);
  if (n === undefined)
    return fail('K332', pos, 'map makes an array, whose length must be known at compile time', {
      help: 'write a loop that stores to an array of your own',
    });
  if (self.kind === 'tuple' || ((self.view.element.open === true || isValue(self.view)) && n <= UNROLLED)) {
    const items = Array.from({ length: n }, (_, k) => {
      const index = literal(k, pos);
      const item = self.kind === 'tuple' ? (self.items[k] ?? UNDEFINED) : itemOf(ctx, self.view, index, pos);
      return ctx.holdValue(callValue(ctx, callback, [item, scalar(index), self], node, scope));
    });
    return madeAt(ctx, node, items, pos);
  }
  const out = localLike(ctx, self.view.element, [n], pos);
  eachIndex(ctx, out, pos, (index) => {
    const item = itemOf(ctx, self.view, index, pos);
    const value = callValue(ctx, callback, [item, scalar(index), self], node, scope);
    putValue(ctx, out, index, value, pos);
  });
  return { kind: 'view', view: out };
}

/** Whether the elements are values of several numbers, which a function may make other ones of. */
function isValue({ axes, element: { record } }: View): boolean {
  return axes.length === 1 && record !== undefined && (record.kind === 'c' || isVectorDType(record));
}

/** As `put`, of a complex number or a vector as well. */
export function putValue(ctx: Evaluation, view: View, index: TExpr, value: Value, pos: Pos): void {
  if (view.element.record === undefined) put(ctx, view, index, ctx.scalar(value, pos), pos);
  else storeValue(ctx, { ...indexView(ctx, view, index, pos), checks: [] }, value, pos);
}

/** Stores to an element whose index is inside. */
export function put(ctx: Evaluation, view: View, index: TExpr, value: TExpr, pos: Pos): void {
  ctx.emit({ k: 'store', mem: { ...element(indexView(ctx, view, index, pos), pos), checks: [] }, value, pos });
}

function forEach(call: MethodCall): Value {
  const { ctx, self, node, scope, pos } = call;
  const callback = given(call, 0);
  eachItem(ctx, self, pos, ({ item, index }) => {
    callValue(ctx, callback, [item, scalar(index), self], node, scope);
  });
  return UNDEFINED;
}

function at(call: MethodCall): Value {
  const { ctx, self, pos } = call;
  const index = ctx.scalar(given(call, 0), pos, 'an index');
  const n = lengthOf(self, pos);
  const held = isLiteral(index) ? index : ctx.hold(index, '%at');
  const zero = literal(0, pos);
  const from = isLiteral(held)
    ? Number(held.value) < 0
      ? arith('add', n, held, pos)
      : held
    : select(compare('lt', held, zero, pos), arith('add', n, held, pos), held, pos);
  if (self.kind === 'view') return itemOf(ctx, self.view, from, pos);
  return isLiteral(from) && self.items[Number(from.value)] !== undefined
    ? (self.items[Number(from.value)] as Value)
    : fail('K235', pos, `a tuple of ${self.items.length} is indexed by a variable, or beyond its last element`, {
        help: 'index it: v[i]',
      });
}

/** `subarray(from, to)`: a view of the same memory. `slice`: a copy. */
function part(call: MethodCall): Value {
  const { ctx, self, args, name, node, pos } = call;
  const bound = (k: number): TExpr | undefined =>
    args[k] === undefined ? undefined : ctx.scalar(args[k] as Value, pos, 'a bound');
  const [start, stop] = [bound(0), bound(1)];
  const constant = [start, stop].every((b) => b === undefined || isLiteral(b));
  if (self.kind === 'tuple' && constant) {
    const value = (e: TExpr | undefined): number | undefined =>
      e !== undefined && isLiteral(e) ? Number(e.value) : undefined;
    return madeAt(ctx, node, self.items.slice(value(start), value(stop)), pos);
  }
  const of = self.kind === 'tuple' ? memoryOf(ctx, self, pos) : self.view;
  const view = sliceView(ctx, of, [{ start, stop, step: undefined }], pos);
  if (name === 'subarray') return { kind: 'view', view };
  if (namedLength({ kind: 'view', view }, pos) === undefined)
    return fail('K332', pos, 'slice(from, to) makes an array, whose length must be known at compile time', {
      help: 'subarray(from, to) is a view of the same elements; a.slice(k, k + 3) has a known length',
    });
  return copyOf(ctx, { kind: 'view', view }, node, pos);
}

/** An array of its own with the elements of another, whose length is known. */
export function copyOf(ctx: Evaluation, self: Sequence, node: object, pos: Pos): Value {
  if (self.kind === 'tuple') return madeAt(ctx, node, self.items, pos);
  const n = namedLength(self, pos);
  if (self.view.axes.length !== 1 || n === undefined)
    return fail('K332', pos, 'only arrays of one axis are copied in a kernel', { help: 'write a loop' });
  const out = localLike(ctx, self.view.element, [n], pos);
  eachIndex(ctx, out, pos, (index) => putValue(ctx, out, index, itemOf(ctx, self.view, index, pos), pos));
  return { kind: 'view', view: out };
}

/** `sort` of the array itself, `toSorted` of a copy. */
function sorted(call: MethodCall): Value {
  const { ctx, self, args, name, node, pos } = call;
  const own = name === 'sort' ? self : copyOf(ctx, self, node, pos);
  if (own.kind === 'tuple') ctx.hints.beMemory(own);
  if (own.kind !== 'view') return fail('K235', pos, `${name} orders arrays of numbers in a kernel`);
  sortView(ctx, own.view, args[0], pos);
  return own;
}

/** `filter`: a copy of the elements that pass, in an array of which so many are used. */
function filter(call: MethodCall): Value {
  const { ctx, self, node, scope, pos } = call;
  const callback = given(call, 0);
  const n = namedLength(self, pos);
  const element = self.kind === 'view' ? self.view.element : elementFor(self.items);
  if (n === undefined || element === undefined || (self.kind === 'view' && self.view.axes.length > 1))
    return fail('K332', pos, 'filter copies numbers of an array whose length is known at compile time', {
      help: 'count or sum those that pass in a loop, or with reduce',
    });
  if (n === 0) return madeAt(ctx, node, [], pos);
  const out = localLike(ctx, element, [n], pos);
  const count = variable(call, '%count', literal(0, pos));
  eachItem(ctx, self, pos, ({ item, index }) => {
    const cond = askValue(ctx, callback, [item, scalar(index), self], node, scope);
    const then = ctx.branch(() => {
      const at = ctx.hold(readLocal(count, pos));
      putValue(ctx, out, at, item, pos);
      ctx.emit({ k: 'assign', local: count, value: arith('add', at, literal(1, pos), pos), pos });
    });
    ctx.emit({ k: 'if', cond, then, else: [], pos });
  });
  const stop = ctx.hold(readLocal(count, pos));
  return { kind: 'view', view: sliceView(ctx, out, [{ start: undefined, stop, step: undefined }], pos) };
}

const METHODS: Readonly<Record<string, (call: MethodCall) => Value>> = {
  at,
  every: (call) => search(call, (cond) => not(cond, call.pos), true),
  some: (call) => search(call, (cond) => cond),
  filter,
  find: (call) => find(call, false),
  findLast: (call) => find(call, true),
  findIndex: (call) => findIndex(call, false),
  findLastIndex: (call) => findIndex(call, true),
  forEach,
  includes: (call) => scalar(compare('ge', readLocal(indexOf(call, false), call.pos), literal(0, call.pos), call.pos)),
  indexOf: (call) => scalar(readLocal(indexOf(call, false), call.pos)),
  lastIndexOf: (call) => scalar(readLocal(indexOf(call, true), call.pos)),
  map,
  reduce: (call) => reduce(call, false),
  reduceRight: (call) => reduce(call, true),
  slice: part,
  sort: sorted,
  subarray: part,
  toSorted: sorted,
};

export function isSequenceMethod(name: string): boolean {
  return Object.hasOwn(METHODS, name);
}

/** `self.name(…)`. */
export function sequenceMethod(
  ctx: Evaluation,
  self: Sequence,
  name: string,
  node: CallExpression,
  scope: Scope,
  pos: Pos,
): Value {
  const method = METHODS[name];
  if (method === undefined) throw new Error(`no method ${name}`);
  const args = elements(ctx, node.arguments, scope, pos);
  return method({ ctx, self, name, args, node, scope, pos });
}
