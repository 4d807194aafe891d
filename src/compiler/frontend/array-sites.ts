/**
 * JavaScript arrays in kernels. A literal is a tuple, whose items are variables and constants; where it is indexed by a variable or
 * stored to, it becomes memory: constant memory while nothing is stored to it and all items are known, else memory of the thread, which
 * is filled where the literal stands, each time that control comes there. Its elements have the type that inference gives to one
 * variable for them all.
 */

import { type Element, OPEN } from '../elements.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { addIndex, compare, toIndex } from './arithmetic.ts';
import { allocateView, constantView, element, indexView, viewValue } from './arrays.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isSyntax } from './hints.ts';
import { eitherObject, isObject } from './object-slots.ts';
import {
  type ClassValue,
  describeValue,
  isLiteral,
  literal,
  type TupleValue,
  UNDEFINED,
  type Value,
  type View,
} from './values.ts';

/** The numbers of nested tuples, row by row; undefined where they are no rectangle of scalars. */
interface Rectangle {
  readonly shape: readonly number[];
  readonly items: readonly TExpr[];
}

function rectangle(v: Value): Rectangle | undefined {
  if (v.kind === 'scalar') return v.present === undefined ? { shape: [], items: [v.expr] } : undefined;
  if (v.kind !== 'tuple' || v.present !== undefined) return undefined;
  const rows = v.items.map(rectangle);
  const [first] = rows;
  if (first === undefined || rows.some((row) => String(row?.shape) !== String(first.shape))) return undefined;
  return { shape: [rows.length, ...first.shape], items: rows.flatMap((row) => row?.items ?? []) };
}

/** `tuple[index]`, where the index is known at run time alone. */
export function indexTuple(ctx: Evaluation, tuple: TupleValue, index: TExpr, pos: Pos): Value {
  const functions = tuple.items.length > 0 && tuple.items.every(isCallable);
  if (functions) return { kind: 'functions', index: ctx.hold(toIndex(index), '%which'), among: tuple.items };
  if (isListOfArrays(tuple)) return oneOfArrays(ctx, tuple, index, pos);
  if (tuple.items.some((v) => v.kind === 'object') && tuple.items.every(isObject))
    return chosen(ctx, tuple, index, pos);
  const columns = columnsOf(tuple);
  if (columns !== undefined) {
    const held = ctx.hold(index, '%index');
    const fields = [...columns].map(([name, items]): [string, Value] => [
      name,
      indexTuple(ctx, { kind: 'tuple', items }, held, pos),
    ]);
    return { kind: 'record', fields: new Map(fields), type: classOf(tuple), among: tuple.items };
  }
  return viewValue(indexView(ctx, memoryOf(ctx, tuple, pos), index, pos), pos);
}

/** Whether the elements are arrays that have names of their own, or are arguments and the like: no rows of a literal. */
function isListOfArrays({ items, site }: TupleValue): boolean {
  const { elements } = (site ?? {}) as { elements?: readonly ({ type: string } | null)[] };
  if (elements?.some((e) => e?.type === 'ArrayExpression') === true) return false;
  return items.some((v) => v.kind === 'view' && v.view.axes.length > 0);
}

/** `[a, b][index]`. */
function oneOfArrays(ctx: Evaluation, { items }: TupleValue, index: TExpr, pos: Pos): Value {
  const held = ctx.hold(toIndex(index), '%which');
  checkChoice(ctx, held, items.length, 'arrays', pos);
  const from = (k: number): Value => {
    const one = (): Value => items[k] ?? UNDEFINED;
    if (k >= items.length - 1) return one();
    return ctx.choose(compare('eq', held, literal(k, pos), pos), one, () => from(k + 1), pos);
  };
  return from(0);
}

/** In checked mode: stops where an index chooses none of `count` things. */
export function checkChoice(ctx: Evaluation, index: TExpr, count: number, what: string, pos: Pos): void {
  if (!ctx.options.checked) return;
  const [low, high] = [literal(0, pos), literal(count, pos)];
  const outside: TExpr = {
    k: 'logic',
    fn: 'or',
    a: compare('lt', index, low, pos),
    b: compare('ge', index, high, pos),
    pos,
  };
  const message = `an index is out of range of an array of ${count} ${what}`;
  ctx.emit({ k: 'if', cond: outside, then: [{ k: 'trap', message, pos }], else: [], pos });
}

/** The class that all objects are of. */
function classOf({ items }: TupleValue): ClassValue | undefined {
  const types = items.map((v) => (v.kind === 'record' ? v.type : undefined));
  return types.every((type) => type === types[0]) ? types[0] : undefined;
}

/** One of several objects with variables: a change of it reaches the one that it is. */
function chosen(ctx: Evaluation, { items }: TupleValue, index: TExpr, pos: Pos): Value {
  const held = ctx.hold(toIndex(index), '%index');
  checkChoice(ctx, held, items.length, 'objects', pos);
  return items.reduceRight((others, item, k) =>
    eitherObject(ctx, compare('eq', held, literal(k, pos), pos), item, others, pos),
  );
}

function isCallable(v: Value): boolean {
  return v.kind === 'function' || (v.kind === 'host' && typeof v.value === 'function');
}

/** The members of objects that all have the same ones, as tuples. */
function columnsOf({ items }: TupleValue): ReadonlyMap<string, readonly Value[]> | undefined {
  const records = items.filter((v) => v.kind === 'record');
  const [first] = records;
  if (first === undefined || records.length < items.length) return undefined;
  const names = [...first.fields.keys()];
  const columns = new Map<string, readonly Value[]>();
  for (const name of names) {
    const column = records.flatMap((r) => r.fields.get(name) ?? []);
    if (column.length < records.length) return undefined;
    columns.set(name, column);
  }
  return records.every((r) => r.fields.size === names.length) ? columns : undefined;
}

/** The memory that a tuple is where it has to be some. What can only be read so is read-only. */
export function memoryOf(ctx: Evaluation, tuple: TupleValue, pos: Pos): View {
  const found = rectangle(tuple);
  const { site } = tuple;
  // Rows that had to be memory of their own become parts of it.
  const ofRows = tuple.items.some((v) => v.kind === 'view' && v.view.root.made === true);
  if (ofRows && site !== undefined && !ctx.hints.isMemory(site)) return ctx.hints.useMemory(site);
  if (found === undefined || found.items.length === 0) return refuse(tuple, pos);
  const values = found.items.map((e) => (isLiteral(e) ? e.value : undefined));
  if (values.every((v) => v !== undefined)) {
    const known = site === undefined ? undefined : ctx.hostArrays.get(site);
    if (known !== undefined) return known;
    const view = constantView(ctx, found.shape, values, '%array', site, pos);
    if (site !== undefined) ctx.hostArrays.set(site, view);
    return view;
  }
  if (site !== undefined && !ctx.hints.isMemory(site)) return ctx.hints.useMemory(site);
  const view = filled(ctx, found, pos);
  (view.root as { readonly: boolean }).readonly = true;
  return view;
}

function refuse(tuple: TupleValue, pos: Pos): never {
  if (tuple.items.length === 0) return fail('K239', pos, 'an array without elements cannot be indexed');
  const odd = tuple.items.find((v) => v.kind !== 'scalar') ?? tuple;
  const rows = tuple.items.every((v) => v.kind === 'tuple');
  return fail(
    'K239',
    pos,
    rows
      ? 'rows of different lengths cannot be indexed by a variable'
      : `an array that holds ${describeValue(odd)} cannot be indexed by a variable`,
    {
      help: rows
        ? 'give all rows the same length'
        : 'index arrays of numbers, of equal rows of numbers, or of functions',
    },
  );
}

/** Memory of the thread with these elements. */
function filled(ctx: Evaluation, { shape, items }: Rectangle, pos: Pos): View {
  const view = localView(ctx, shape, pos);
  items.forEach((value, k) => {
    ctx.emit({ k: 'store', mem: element(flat(view, k, pos), pos), value, pos });
  });
  return view;
}

/** Memory of the thread for numbers of any type. */
export function localView(ctx: Evaluation, shape: readonly number[], pos: Pos): View {
  return localLike(ctx, undefined, shape, pos);
}

/** Memory of the thread for elements of a type; of any type where it is open. */
export function localLike(ctx: Evaluation, element: Element | undefined, shape: readonly number[], pos: Pos): View {
  if (element?.record !== undefined)
    return fail('K239', pos, 'arrays of structs are not made this way', { help: 'cuda.local.array(n, dtype)' });
  const view = allocateView(ctx, 'local', shape, element ?? OPEN, '%array', pos);
  view.root.made = true;
  return view;
}

/** The k-th element of an array as it lies in memory. */
function flat(view: View, k: number, pos: Pos): View {
  return { ...view, axes: [], offset: addIndex(view.offset, literal(k, pos), pos) };
}

/** A tuple that stands in the program: memory, if that has turned out to be needed. */
export function madeAt(ctx: Evaluation, site: object, items: readonly Value[], pos: Pos): Value {
  const tuple: TupleValue = { kind: 'tuple', items, site };
  if (!ctx.hints.isMemory(site)) return tuple;
  const found = rectangle(tuple);
  if (found === undefined || found.items.length === 0) return refuse(tuple, pos);
  const view = filled(ctx, found, pos);
  // A store to an array of the host would not reach it.
  if (!isSyntax(site)) (view.root as { readonly: boolean }).readonly = true;
  return { kind: 'view', view };
}

/** A store to an element of a tuple: it has to be memory. Returns where there is no memory that could stand for it. */
export function storeTo(ctx: Evaluation, v: Value): void {
  if (v.kind === 'tuple') ctx.hints.beMemory(v);
}
