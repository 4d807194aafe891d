/**
 * Records in kernels: the assignment of whole elements, and copies of them. Where their members are is `record-fields.ts`.
 *
 * `p[i]` of an array of structs is a view without axes: it names the element, as a JavaScript variable names an object. Members
 * are scalars, further records, or, for sub-arrays, views. What is assigned as a whole is copied member by member, so that
 * padding stays as it is. `{ ...p[i] }` is a copy in variables.
 */
import { isTextDType } from '../../dtype/index.ts';
import { describeElement } from '../elements.ts';
import type { Pos } from '../source.ts';
import type { Overwrite, TExpr } from '../types/tree.ts';
import { arith, compare } from './arithmetic.ts';
import { mayBeSame } from './array-choices.ts';
import { allocateView, element, laneOfView } from './arrays.ts';
import { complex, complexValue, toComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldNames, fieldView, isRecord, member, part, partValue } from './record-fields.ts';
import { regionOf } from './regions.ts';
import { storeText, textType } from './texts.ts';
import { describeValue, isLiteral, literal, mapScalars, readLocal, scalar, type Value, type View } from './values.ts';
import { laneMemory, storeLanes, vectorOfElement } from './vectors.ts';

/** Sub-arrays of more elements than this are copied in loops. */
const UNROLLED = 16;
/** A copy in variables has at most so many scalars. */
const MOST_SCALARS = 64;

/** The extent of the first axis, where it is known. */
function lengthOf(view: View): number | undefined {
  const extent = view.axes[0]?.extent;
  return extent !== undefined && isLiteral(extent) ? Number(extent.value) : undefined;
}

// ---------------------------------------------------------------- whole records

/**
 * `p[i] = value`, `p[i].f = value`: from another record or array, an object literal, a tuple. The target has been evaluated; all
 * of the value is read before anything is stored.
 */
export function assignWhole(ctx: Evaluation, target: View, value: Value, pos: Pos): void {
  const to = ctx.holdValue({ kind: 'view', view: target });
  if (to.kind === 'view' && target.axes.length === 0 && vectorOfElement(target.element) !== undefined)
    return storeVector(ctx, to.view, value, pos);
  // Parts of the target may stand in a literal, in another order: `p[i].f = [p[i].f[1], p[i].f[0]]`.
  const from = value.kind === 'view' ? value : detached(ctx, value, pos, target);
  if (to.kind !== 'view') return;
  const by: Overwrite = { region: regionOf(to.view), pos };
  copyInto(ctx, to.view, ctx.holdValue(from), by);
  ctx.emit({ k: 'overwritten', by, pos });
}

/** A vector is a value: storing one leaves no name with what was there. */
function storeVector(ctx: Evaluation, target: View, value: Value, pos: Pos, by?: Overwrite): void {
  const type = vectorOfElement(target.element);
  if (type === undefined) throw new Error('no vector');
  storeLanes(ctx, type, laneMemory(type, target, laneOfView(type, target, pos)), value, pos, by);
}

function copyInto(ctx: Evaluation, target: View, value: Value, by: Overwrite): void {
  const { pos } = by;
  if (target.axes.length > 0) return copyArray(ctx, target, value, by);
  if (vectorOfElement(target.element) !== undefined) return storeVector(ctx, target, value, pos, by);
  if (target.element.record === undefined) {
    ctx.emit({ k: 'store', mem: element(target, pos), value: ctx.scalar(value, pos), part: by, pos });
    return;
  }
  const { record } = target.element;
  if (isTextDType(record)) return storeText(ctx, target, record, value, (to, from) => copyInto(ctx, to, from, by), pos);
  const names = fieldNames(target);
  if (target.element.record.kind === 'c' && toComplex(value) !== undefined) {
    const { re, im } = toComplex(value) ?? complexValue(value, pos);
    copyInto(ctx, fieldView(target, 're', pos), scalar(re), by);
    return copyInto(ctx, fieldView(target, 'im', pos), scalar(im), by);
  }
  const given =
    value.kind === 'record' ? [...value.fields.keys()] : isRecord(value) ? fieldNames(value.view) : undefined;
  if (given === undefined) {
    return fail(
      'K242',
      pos,
      `cannot store ${describeValue(value)} to ${target.name}, whose elements are ${describeElement(target.element)}`,
      {
        help: `assign { ${names.join(', ')} }, another element, or single members: ${target.name}${target.checks.length === 0 ? '' : '[i]'}.${names[0] ?? 'x'}`,
      },
    );
  }
  const missing = names.find((name) => !given.includes(name));
  const unknown = given.find((name) => !names.includes(name));
  if (missing !== undefined || unknown !== undefined) {
    return fail(
      'K242',
      pos,
      missing !== undefined
        ? `the member ${missing} of ${target.name} is missing in the value assigned`
        : `${target.name} has no member ${unknown}`,
      { help: `its elements are { ${names.join(', ')} }; to change some of them assign to the members` },
    );
  }
  for (const name of names) {
    const from =
      value.kind === 'record' ? value.fields.get(name) : isRecord(value) ? member(value.view, name, pos) : undefined;
    if (from !== undefined) copyInto(ctx, fieldView(target, name, pos), from, by);
  }
}

function copyArray(ctx: Evaluation, target: View, value: Value, by: Overwrite): void {
  const { pos } = by;
  const length = lengthOf(target) ?? 0;
  if (value.kind === 'tuple') {
    if (value.items.length !== length) failLength(target, length, String(value.items.length), pos);
    value.items.forEach((item, k) => {
      copyInto(ctx, part(target, literal(k, pos), pos), item, by);
    });
    return;
  }
  if (value.kind !== 'view' || value.view.axes.length !== target.axes.length) {
    return fail(
      'K242',
      pos,
      `cannot store ${describeValue(value)} to ${target.name}, an array of rank ${target.axes.length}`,
      {
        help: 'assign an array of the same shape, a tuple, or single elements',
      },
    );
  }
  const source = value.view;
  const given = lengthOf(source);
  if (given !== length)
    failLength(target, length, given === undefined ? 'a number not known at compile time' : String(given), pos);
  const copy = (index: TExpr): void => copyInto(ctx, part(target, index, pos), partValue(source, index, pos), by);
  if (length <= UNROLLED) for (let k = 0; k < length; k++) copy(literal(k, pos));
  else countedLoop(ctx, length, copy, pos);
}

function failLength(target: View, length: number, given: string, pos: Pos): never {
  return fail('K242', pos, `${target.name} has ${length} elements, the value assigned has ${given}`, {
    help: 'for single elements write a loop',
  });
}

function countedLoop(ctx: Evaluation, length: number, body: (index: TExpr) => void, pos: Pos): void {
  const counter = ctx.newLocal('%k', pos, false);
  const label = ctx.newLabel();
  const k = readLocal(counter, pos);
  ctx.emit({ k: 'assign', local: counter, value: literal(0, pos), pos });
  const list = ctx.branch(() => {
    ctx.emit({
      k: 'if',
      cond: compare('ge', k, literal(length, pos), pos),
      then: [{ k: 'break', label, pos }],
      else: [],
      pos,
    });
    body(ctx.temp(k));
  });
  const update = ctx.branch(() => {
    ctx.emit({ k: 'assign', local: counter, value: arith('add', k, literal(1, pos), pos), pos });
  });
  ctx.emit({ k: 'loop', label, body: list, update, pos });
}

// ---------------------------------------------------------------- copies

/** A string of its own, in memory of the thread, which later stores to the array leave alone. */
export function ownText(ctx: Evaluation, value: Value, pos: Pos): Value {
  if (value.kind !== 'view' || textType(value) === undefined) return value;
  const { view } = value;
  const own = allocateView(ctx, 'local', [], view.element, view.name, pos);
  assignWhole(ctx, own, value, pos);
  return { kind: 'view', view: own };
}

/** A record as an object of variables, which later stores to the array leave alone. */
export function snapshot(ctx: Evaluation, view: View, pos: Pos): Extract<Value, { kind: 'record' }> {
  const copied = copyOut(ctx, view, pos);
  if (copied.kind !== 'record') throw new Error('a record was copied as none');
  return copied;
}

/** Whether this is the sub-array of one record, or a row of it, whose shape is known: `p[i].f`, `p[i]['f'][k]`. */
export function isSubArray(view: View): boolean {
  return view.via !== undefined && view.axes.length > 0 && hasKnownShape(view);
}

function hasKnownShape(view: View): boolean {
  return view.axes.every((a) => isLiteral(a.extent));
}

/** A record as an object of variables, a sub-array as a tuple of them. */
function copyOut(ctx: Evaluation, view: View, pos: Pos): Value {
  let left = MOST_SCALARS;
  const part = (e: TExpr): TExpr => {
    if (--left >= 0) return ctx.temp(e);
    return fail(
      'K243',
      pos,
      `${view.name} has more than ${MOST_SCALARS} numbers, too many to be copied into variables`,
      {
        help: 'copy it to an element of cuda.local.array(1, dtype)',
      },
    );
  };
  const copy = (v: Value): Value => {
    if (v.kind === 'scalar') return scalar(part(v.expr));
    if (v.kind === 'complex') return complex(part(v.re), part(v.im));
    if (v.kind === 'vector') return mapScalars(v, part);
    if (v.kind !== 'view') return v;
    if (v.view.axes.length === 0) {
      const fields = fieldNames(v.view).map((name): [string, Value] => [name, copy(member(v.view, name, pos))]);
      return { kind: 'record', fields: new Map(fields) };
    }
    const items = Array.from({ length: lengthOf(v.view) ?? 0 }, (_, k) =>
      copy(partValue(v.view, literal(k, pos), pos)),
    );
    return { kind: 'tuple', items };
  };
  return copy(ctx.holdValue({ kind: 'view', view }));
}

/**
 * The value with a copy of each record and sub-array in it: what stands on the right of `[p[i], p[j]] = [p[j], p[i]]`. With a target, of each
 * record and sub-array that is in the same memory.
 */
export function detached(ctx: Evaluation, v: Value, pos: Pos, target?: View): Value {
  const each = (item: Value): Value => detached(ctx, item, pos, target);
  switch (v.kind) {
    case 'view': {
      if (textType(v) !== undefined) return ownText(ctx, v, pos);
      const own = target === undefined ? isRecord(v) || isSubArray(v.view) : mayBeSame(v.view.root, target.root);
      const whole = own && (target === undefined || hasKnownShape(v.view));
      return whole ? copyOut(ctx, v.view, pos) : v;
    }
    case 'tuple':
      return { kind: 'tuple', items: v.items.map(each) };
    case 'record':
      return { ...v, fields: new Map([...v.fields].map(([name, item]) => [name, each(item)])) };
    default:
      return v;
  }
}
