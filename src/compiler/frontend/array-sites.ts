/**
 * JavaScript arrays in kernels. A literal is a tuple, whose items are variables and constants; where it is indexed by a variable or
 * stored to, it becomes memory: constant memory while nothing is stored to it and all items are known, else memory of the thread, which
 * is filled where the literal stands, each time that control comes there. Its elements have the type that inference gives to one
 * variable for them all.
 */

import { c64, c128, integerRange, isTimeDType, isVectorDType } from '../../dtype/index.ts';
import { type Element, elementOf, OPEN, OPEN_COMPLEX } from '../elements.ts';
import { type ElemType, isFloat } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Root, TExpr } from '../types/tree.ts';
import { addIndex, compare, toIndex } from './arithmetic.ts';
import { allocateView, constantView, elementValue, indexView, laneIn, viewValue } from './arrays.ts';
import { toComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isCallable } from './function-choices.ts';
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

/** The numbers, complex numbers or vectors of nested tuples, row by row; undefined where they are not a rectangle of these. */
interface Rectangle {
  readonly shape: readonly number[];
  readonly items: readonly Value[];
}

function rectangle(v: Value): Rectangle | undefined {
  if (v.kind === 'scalar' || v.kind === 'complex' || v.kind === 'vector')
    return v.present === undefined ? { shape: [], items: [v] } : undefined;
  if (v.kind !== 'tuple' || v.present !== undefined) return undefined;
  const rows = v.items.map(rectangle);
  const [first] = rows;
  if (first === undefined || rows.some((row) => String(row?.shape) !== String(first.shape))) return undefined;
  return { shape: [rows.length, ...first.shape], items: rows.flatMap((row) => row?.items ?? []) };
}

/** The parts of a value: of a real number where complex ones are wanted both. */
function partsOf(v: Value, ofComplex: boolean): readonly TExpr[] {
  if (v.kind === 'vector') return v.lanes;
  const z = ofComplex ? toComplex(v) : undefined;
  return z !== undefined ? [z.re, z.im] : v.kind === 'scalar' ? [v.expr] : [];
}

/** The elements of memory for such values; undefined where they are of different kinds. */
export function elementFor(items: readonly Value[]): Element | undefined {
  const vector = items.find((v) => v.kind === 'vector');
  if (vector !== undefined)
    return items.every((v) => v.kind === 'vector' && v.type === vector.type) ? elementOf(vector.type) : undefined;
  if (items.every((v) => v.kind === 'scalar')) return OPEN;
  const casts = new Set(items.flatMap((v) => partsOf(v, true).map((e) => (e.k === 'cast' ? e.to : undefined))));
  const [to] = casts;
  if (casts.size > 1 || (to !== 'f32' && to !== 'f64')) return OPEN_COMPLEX;
  return elementOf(to === 'f32' ? c64 : c128);
}

/** The numbers that values are made of, where all of them are known. */
function knownNumbers(items: readonly Value[], { record, open }: Element): NonNullable<Root['values']> | undefined {
  const lane = record === undefined || open ? undefined : laneIn(record);
  // What only the type's own rounding makes of a number is left to the kernel.
  if (lane !== undefined && !/^(?:f32|f64|[iu](?:8|16|32|64))$/.test(lane)) return undefined;
  const numbers = items.flatMap((v) => partsOf(v, record?.kind === 'c').map((e) => knownNumber(e, lane)));
  return numbers.every((n) => n !== undefined) ? numbers : undefined;
}

function knownNumber(e: TExpr, lane: ElemType | undefined): number | bigint | boolean | undefined {
  if (e.k === 'lit') return e.value;
  if (e.k === 'like') return knownNumber(e.a, lane);
  if (e.k !== 'cast' || e.to !== lane || lane === undefined || e.a.k !== 'lit') return undefined;
  const { value } = e.a;
  if (isFloat(lane)) return Number(value);
  const [low, high] = integerRange(lane) ?? [0, 0];
  return Number.isInteger(Number(value)) && Number(value) >= low && Number(value) <= high ? value : undefined;
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
    const fields = [...columns].map(([name, items]): [string, Value] => {
      const column = tuple.columns?.get(name);
      if (column !== undefined) return [name, viewValue(indexView(ctx, column, held, pos), pos)];
      const site = tuple.site && columnSite(tuple.site, name);
      return [name, indexTuple(ctx, { kind: 'tuple', items, site }, held, pos)];
    });
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
  const element = elementFor(found.items);
  if (element === undefined) return refuse(tuple, pos);
  const values = knownNumbers(found.items, element);
  if (values !== undefined) {
    const known = site === undefined ? undefined : ctx.hostArrays.get(site);
    if (known !== undefined) return known;
    const view = constantView(ctx, found.shape, values, element, site, pos);
    if (site !== undefined) ctx.hostArrays.set(site, view);
    return view;
  }
  if (site !== undefined && !ctx.hints.isMemory(site)) return ctx.hints.useMemory(site);
  const view = filled(ctx, found, element, pos);
  (view.root as { readonly: boolean }).readonly = true;
  return view;
}

function refuse(tuple: TupleValue, pos: Pos): never {
  if (tuple.items.length === 0) return fail('K239', pos, 'an array without elements cannot be indexed');
  if (columnsOf(tuple) !== undefined)
    return fail('K239', pos, 'objects of an array cannot be exchanged or replaced where a variable says which', {
      help: 'keep an array for each field, or order indices: order.sort((i, j) => key[i] - key[j])',
    });
  const odd =
    tuple.items.find((v) => rectangle(v) === undefined) ?? tuple.items.find((v) => v.kind !== 'scalar') ?? tuple;
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
        : 'index arrays of numbers, complex numbers or vectors of one type, of equal rows of these, of objects that have the same fields, or of functions',
    },
  );
}

/** Memory of the thread with these elements. */
function filled(ctx: Evaluation, { shape, items }: Rectangle, element: Element, pos: Pos): View {
  const view = localLike(ctx, element, shape, pos);
  items.forEach((value, k) => {
    const at = elementValue(flat(view, k, pos), pos);
    const ofComplex = at.kind === 'complex';
    const parts = partsOf(value, ofComplex);
    const held = parts.length > 1 ? parts.map((e) => (isLiteral(e) ? e : ctx.hold(e))) : parts;
    partsOf(at, ofComplex).forEach((place, n) => {
      const part = held[n];
      if (place.k === 'load' && part !== undefined) ctx.emit({ k: 'store', mem: place.mem, value: part, pos });
    });
  });
  return view;
}

/** Memory of the thread for elements of a type; of any type where it is open. */
export function localLike(ctx: Evaluation, element: Element | undefined, shape: readonly number[], pos: Pos): View {
  const record = element?.record;
  if (record !== undefined && record.kind !== 'c' && !isVectorDType(record) && !isTimeDType(record))
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
  const tuple: TupleValue = { kind: 'tuple', items, site, identity: { from: isSyntax(site) ? 'kernel' : 'launch' } };
  if (!ctx.hints.isMemory(site)) return { ...tuple, columns: filledColumns(ctx, tuple, site, pos) };
  const found = rectangle(tuple);
  const element = found && elementFor(found.items);
  if (found === undefined || element === undefined || found.items.length === 0) return refuse(tuple, pos);
  const view = filled(ctx, found, element, pos);
  // A store to an array of the host would not reach it.
  if (!isSyntax(site)) (view.root as { readonly: boolean }).readonly = true;
  return { kind: 'view', view };
}

/** The members of objects that are indexed by a variable, in memory of the thread. */
function filledColumns(ctx: Evaluation, tuple: TupleValue, site: object, pos: Pos): TupleValue['columns'] {
  const own = COLUMNS.get(site);
  if (own === undefined) return undefined;
  const views = new Map<string, View>();
  for (const [name, items] of columnsOf(tuple) ?? []) {
    const column = own.get(name);
    if (column === undefined || !ctx.hints.isMemory(column)) continue;
    const found = rectangle({ kind: 'tuple', items });
    const element = found && elementFor(found.items);
    if (found === undefined || element === undefined) continue;
    const view = filled(ctx, found, element, pos);
    (view.root as { readonly: boolean }).readonly = true;
    views.set(name, view);
  }
  return views;
}

/** What stands for the members of one name of the objects that are made at a site. */
const COLUMNS = new WeakMap<object, Map<string, object>>();

function columnSite(site: object, name: string): object {
  const columns = COLUMNS.get(site) ?? new Map<string, object>();
  COLUMNS.set(site, columns);
  const column = columns.get(name) ?? {};
  columns.set(name, column);
  return column;
}

/** A store to an element of a tuple: it has to be memory. Returns where there is no memory that could stand for it. */
export function storeTo(ctx: Evaluation, v: Value): void {
  if (v.kind === 'tuple') ctx.hints.beMemory(v);
}
