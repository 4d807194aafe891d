/**
 * Where the members of records are: of a struct, a complex number, a string. What is done with whole records is `records.ts`.
 */
import { type DType, isTextDType } from '../../dtype/index.ts';
import { alignmentOf, describeElement, elementOf, fieldsOf } from '../elements.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { addIndex, mulIndex } from './arithmetic.ts';
import { elementValue, viaIndex } from './arrays.ts';
import { fail } from './diagnostics.ts';
import { didYouMean } from './suggest.ts';
import { type Axis, literal, type Value, type View } from './values.ts';

/** A view of elements that have members. */
type RecordView = View & { readonly element: { readonly record: DType } };

/** Whether a value is one record in memory. A string is none: it has no members to the author. */
export function isRecord(v: Value): v is { readonly kind: 'view'; readonly view: RecordView } {
  if (v.kind !== 'view' || v.view.axes.length > 0) return false;
  const { record } = v.view.element;
  return record !== undefined && !isTextDType(record);
}

/** The member of every element of a view: NumPy's `p['x']`. Sub-arrays add their axes. */
export function fieldView(view: View, name: string, pos: Pos): View {
  const fields = view.element.record === undefined ? undefined : fieldsOf(view.element.record);
  if (fields === undefined) {
    return fail('K312', pos, `the elements of ${view.name} are ${describeElement(view.element)}: they have no members`);
  }
  const field = fields.find((f) => f.name === name);
  if (field === undefined) {
    const names = fields.map((f) => f.name);
    return fail(
      'K312',
      pos,
      `there is no member ${name} in ${view.name}, whose elements are ${describeElement(view.element)}`,
      {
        help: didYouMean(name, names) ?? `the members are ${names.join(', ')}`,
      },
    );
  }
  return memberView(view, field.dtype, field.offset, `${view.name}.${name}`, pos);
}

function memberView(view: View, dtype: DType, offset: number, name: string, pos: Pos): View {
  const disp = view.disp + offset;
  const level = view.level + 1;
  const via = view.via && { ...view.via, at: view.via.at === undefined ? undefined : view.via.at + offset };
  if (dtype.base === undefined) return { ...view, element: elementOf(dtype), disp, name, level, via };
  const inner = elementOf(dtype.base);
  // Offsets of elements and of what is in them are counted in a unit that divides both.
  const unit = gcd(view.unit, inner.size);
  const factor = literal(view.unit / unit, pos);
  const axes: Axis[] = view.axes.map((a) => ({ extent: a.extent, stride: mulIndex(a.stride, factor, pos) }));
  let stride = inner.size / unit;
  const own: Axis[] = [];
  for (const length of [...(dtype.subShape ?? [])].reverse()) {
    own.unshift({ extent: literal(length, pos), stride: literal(stride, pos) });
    stride *= length;
  }
  return {
    ...view,
    element: inner,
    axes: [...axes, ...own],
    offset: view.offset === undefined ? undefined : mulIndex(view.offset, factor, pos),
    unit,
    disp,
    align: Math.min(view.align, alignmentOf(inner.size)),
    name,
    level,
    via,
  };
}

/** Whether the elements of a view have a member of this name. */
export function isMember(view: View, name: string): boolean {
  return fieldNames(view).includes(name);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** `p[i].x`: a scalar to be read, a record, or the view of a sub-array. */
export function member(view: View, name: string, pos: Pos): Value {
  const found = fieldView({ ...view, via: view.via ?? { name: undefined, at: 0 } }, name, pos);
  return found.axes.length === 0 ? elementValue(found, pos) : { kind: 'view', view: found };
}

/** `p[i].f[k]` of an index known to be inside. */
export function part(view: View, index: TExpr, pos: Pos): View {
  const [axis, ...axes] = view.axes;
  if (axis === undefined) return view;
  const offset = addIndex(view.offset, mulIndex(index, axis.stride, pos), pos);
  return { ...view, axes, offset, level: view.level + 1, via: viaIndex(view, index) };
}

export function partValue(view: View, index: TExpr, pos: Pos): Value {
  const inner = part(view, index, pos);
  return inner.axes.length === 0 ? elementValue(inner, pos) : { kind: 'view', view: inner };
}

export function fieldNames(view: View): readonly string[] {
  return view.element.record === undefined ? [] : (fieldsOf(view.element.record) ?? []).map((f) => f.name);
}
