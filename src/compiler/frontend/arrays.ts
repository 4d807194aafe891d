/**
 * Arrays in kernels: how arguments, shared, local, constant and captured arrays become views, and what indexing does to them.
 *
 * A view is symbolic: a root, an offset and axes. `A[i]` of a matrix is a view with one axis less; when all axes have an index
 * there is an element, and only then memory is touched. Slicing follows NumPy's rules.
 */
import { asDType, type DType, dtypeOfTypedArray, isDType, isTypedArray } from '../../dtype/index.ts';
import { bytesOf } from '../../dtype/typedarray.ts';
import { type ArgType, type CapturedArray, DEVICE_ARRAY, NDARRAY } from '../contract.ts';
import { alignmentOf, type Element, elementOf, fieldsOf, MAX_ALIGN, scalarElement } from '../elements.ts';
import { ELEM_SIZE, type ElemType, type Space } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { openElements } from '../types/open-elements.ts';
import type { Root, TExpr, TMem, Via } from '../types/tree.ts';
import { addIndex, arith, compare, mulIndex, select, toIndex } from './arithmetic.ts';
import { complex } from './complex.ts';
import { packValues } from './constant-data.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { size, touchesMemory } from './measures.ts';
import { difference } from './regions.ts';
import { type Axis, isLiteral, literal, readLocal, scalar, type Value, type View } from './values.ts';
import { type LaneType, vectorElement, vectorOfElement } from './vectors.ts';

type RootInit = Omit<Root, 'id' | 'written' | 'elem'> & { readonly element: Element };

function addRoot(ctx: Evaluation, init: RootInit): Root {
  const { name, space, element, pos } = init;
  const own = <Key extends keyof RootInit>(key: Key): RootInit[Key] | undefined =>
    Object.hasOwn(init, key) ? init[key] : undefined;
  const id = ctx.roots.length;
  // Each property by its name: V8 takes microseconds to add some to a copy of an object.
  const root: Root = {
    id,
    name,
    space,
    elem: element.elem,
    align: element.record === undefined || element.open ? own('align') : MAX_ALIGN,
    pos,
    from: own('from'),
    length: own('length'),
    dynamic: own('dynamic'),
    data: own('data'),
    open: element.open ? openElements(id, name, pos) : undefined,
    values: own('values'),
    made: own('made'),
    madeIn: own('madeIn'),
    site: own('site'),
    readonly: init.readonly,
    written: false,
    among: own('among'),
  };
  ctx.roots.push(root);
  return root;
}

/** Axes of a compact array with the given extents. */
export function compactAxes(extents: readonly TExpr[], order: 'C' | 'F', pos: Pos): Axis[] {
  const axes: Axis[] = [];
  let stride: TExpr = literal(1, pos);
  for (const extent of order === 'C' ? [...extents].reverse() : extents) {
    axes.push({ extent, stride });
    stride = mulIndex(extent, stride, pos);
  }
  return order === 'C' ? axes.reverse() : axes;
}

/** Axes of a compact array whose extents are known. */
function fixedAxes(shape: readonly number[], pos: Pos): Axis[] {
  return compactAxes(
    shape.map((n) => literal(n, pos)),
    'C',
    pos,
  );
}

function viewOf(root: Root, element: Element, axes: readonly Axis[], unit = element.size, align = element.align): View {
  return {
    root,
    which: undefined,
    element,
    axes,
    offset: undefined,
    unit,
    disp: 0,
    align,
    checks: [],
    name: root.name,
    firstAxis: 0,
    level: 0,
    via: undefined,
    place: undefined,
  };
}

/** The view of an array argument. */
export function argumentView(
  ctx: Evaluation,
  type: Extract<ArgType, { kind: 'array' }>,
  name: string,
  path: readonly number[],
  pos: Pos,
): View {
  const { record } = type;
  const element = record === undefined ? scalarElement(type.elem, type.clamped) : elementOf(record.dtype);
  const root = addRoot(ctx, {
    name,
    space: 'global',
    element,
    pos,
    from: { path },
    readonly: type.readonly === true,
  });
  const extents: TExpr[] = [];
  for (let axis = 0; axis < type.ndim; axis++) extents.push({ k: 'extent', root, axis, pos });
  const align = record?.align ?? type.align;
  if (type.layout !== 'A') return viewOf(root, element, compactAxes(extents, type.layout, pos), element.size, align);
  const axes = extents.map(
    (extent, axis): Axis => ({ extent, stride: { k: 'stride', root, axis, unit: type.unit, pos } }),
  );
  return viewOf(root, element, axes, type.unit, align);
}

/** Memory of fixed shape made inside the kernel. */
export function allocateView(
  ctx: Evaluation,
  space: Space,
  shape: readonly number[],
  element: Element,
  name: string,
  pos: Pos,
  align?: number,
): View {
  // Calls inside each other have an array each.
  const call = space === 'local' ? ctx.frames.findLast((f) => f.recursion !== undefined)?.recursion : undefined;
  const count = shape.reduce((a, b) => a * b, 1);
  const length = (count * (call?.depth ?? 1) * element.size) / ELEM_SIZE[element.elem];
  const madeIn = space === 'local' ? ctx.loops : undefined;
  const root = addRoot(ctx, { name, space, element, pos, length, align, madeIn, readonly: false });
  // Of records, each of which begins where the one before ends, only the first is aligned as the array is.
  const known =
    element.record === undefined && call === undefined ? Math.max(root.align ?? 1, element.align) : element.align;
  const view = viewOf(root, element, fixedAxes(shape, pos), element.size, known);
  return call === undefined
    ? view
    : { ...view, offset: mulIndex(readLocal(call.level, pos), literal(count, pos), pos) };
}

/** Constant memory that holds numbers of the program. */
export function constantView(
  ctx: Evaluation,
  shape: readonly number[],
  values: NonNullable<Root['values']>,
  element: Element,
  site: object | undefined,
  pos: Pos,
): View {
  const { elem, open, record } = element;
  const lane = record === undefined ? elem : laneIn(record);
  const data = open ? undefined : packValues(values, lane, pos);
  const length = data === undefined ? values.length : data.length / ELEM_SIZE[elem];
  const init = { name: '%array', space: 'constant', element, pos, length, readonly: true, site } as const;
  const root = addRoot(ctx, data === undefined ? { ...init, values } : { ...init, data });
  return viewOf(root, element, fixedAxes(shape, pos));
}

/** The type of the scalars that a vector or a complex number is made of. */
export function laneIn(dtype: DType): ElemType {
  return (fieldsOf(dtype)?.[0]?.dtype.name ?? 'u8') as ElemType;
}

/** Dynamic shared memory: as many elements as the launch gave bytes for. */
export function dynamicView(ctx: Evaluation, element: Element, name: string, pos: Pos): View {
  const root = addRoot(ctx, { name, space: 'shared', element, pos, dynamic: true, readonly: false });
  const bytes: TExpr = { k: 'special', name: 'sharedBytes', pos };
  const power = Math.log2(element.size);
  const count: TExpr =
    power === 0
      ? bytes
      : Number.isInteger(power)
        ? { k: 'shift', fn: 'shr', a: bytes, b: literal(power, pos), pos }
        : { k: 'round', fn: 'trunc', a: arith('div', toIndex(bytes), literal(element.size, pos), pos), pos };
  const extent = ctx.hold(toIndex(count), `%${name}.length`);
  return viewOf(root, element, [{ extent, stride: literal(1, pos) }]);
}

// ---------------------------------------------------------------- arrays of the host

interface HostArray {
  readonly data: ArrayBufferView;
  readonly element: Element;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly byteOffset: number;
}

function readHostArray(value: object): HostArray | undefined {
  if (isTypedArray(value)) {
    const element = elementOf(dtypeOfTypedArray(value));
    const { size } = element;
    return { data: value, element, shape: [value.byteLength / size], strides: [size], byteOffset: 0 };
  }
  if (!(NDARRAY in value)) return undefined;
  const a = value as unknown as {
    data: ArrayBufferView;
    dtype: unknown;
    shape: readonly number[];
    strides: readonly number[];
    byteOffset: number;
  };
  if (!isDType(a.dtype)) return undefined;
  const element = elementOf(a.dtype);
  return { data: a.data, element, shape: a.shape, strides: a.strides, byteOffset: a.byteOffset };
}

/** The bytes of a host array in C order. */
function packBytes(a: HostArray): Uint8Array {
  const item = a.element.size;
  const count = a.shape.reduce((x, y) => x * y, 1);
  const out = new Uint8Array(count * item);
  const bytes = bytesOf(a.data);
  const index = a.shape.map(() => 0);
  for (let k = 0; k < count; k++) {
    let from = a.byteOffset;
    for (let d = 0; d < index.length; d++) from += (index[d] ?? 0) * (a.strides[d] ?? 0);
    out.set(bytes.subarray(from, from + item), k * item);
    for (let d = index.length - 1; d >= 0; d--) {
      index[d] = (index[d] ?? 0) + 1;
      if ((index[d] ?? 0) < (a.shape[d] ?? 0)) break;
      index[d] = 0;
    }
  }
  return out;
}

/** A captured host array as constant memory, a captured device array as global memory; undefined when it is neither. */
export function capturedView(ctx: Evaluation, value: object, name: string, pos: Pos): View | undefined {
  const known = ctx.hostArrays.get(value);
  if (known !== undefined) return known;
  let view: View | undefined;
  const device = deviceArrayOf(ctx, value);
  if (device !== undefined) view = capturedDeviceView(ctx, device, name, pos);
  else {
    const host = readHostArray(value);
    if (host === undefined) return undefined;
    const { element } = host;
    const data = packBytes(host);
    const length = data.length / ELEM_SIZE[element.elem];
    const root = addRoot(ctx, { name, space: 'constant', element, pos, data, length, readonly: true });
    view = viewOf(root, element, fixedAxes(host.shape, pos));
  }
  ctx.hostArrays.set(value, view);
  return view;
}

/** The device array that a host object is, or has by the CUDA array interface. */
function deviceArrayOf(ctx: Evaluation, value: object): CapturedArray | undefined {
  if (DEVICE_ARRAY in value) return (value as { [DEVICE_ARRAY]: CapturedArray })[DEVICE_ARRAY];
  return '__cuda_array_interface__' in value ? ctx.options.importArray?.(value) : undefined;
}

function capturedDeviceView(ctx: Evaluation, array: CapturedArray, name: string, pos: Pos): View {
  const element = elementOf(array.dtype);
  const { shape, strides, pointer } = array;
  const unit = strides.every((s) => s % element.size === 0) ? element.size : 1;
  const align = Math.min(element.align, ...[pointer, ...strides].map(alignmentOf));
  const from = { capture: ctx.captured.length };
  const root = addRoot(ctx, { name, space: 'global', element, pos, from, readonly: array.readonly === true });
  ctx.captured.push(array);
  const axes = shape.map((n, k) => ({ extent: literal(n, pos), stride: literal((strides[k] ?? 0) / unit, pos) }));
  return viewOf(root, element, axes, unit, align);
}

/** The element type named by a dtype token or string given in a kernel. */
export function elementType(value: unknown, what: string, pos: Pos): Element {
  let dtype: unknown;
  try {
    dtype = typeof value === 'string' ? asDType(value) : value;
    if (isDType(dtype)) return elementOf(dtype);
  } catch (cause) {
    return fail('K322', pos, `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  return fail('K322', pos, `${what} needs an element type`, { help: 'pass a dtype such as f32 or i32' });
}

// ---------------------------------------------------------------- indexing

/** `view[index]`: a view of one axis less. */
export function indexView(ctx: Evaluation, view: View, index: TExpr, pos: Pos): View {
  const axis = view.axes[0];
  if (axis === undefined) return fail('K233', pos, `too many indices for ${view.name}, which has no axis left`);
  if (isLiteral(index)) {
    const n = index.value;
    if (typeof n === 'bigint' || typeof n === 'boolean' || !Number.isInteger(n)) {
      return fail('K234', pos, `an index of ${view.name} must be an integer; this is ${String(n)}`, {
        help: 'indices are numbers: i32(j), Math.floor(x)',
      });
    }
    const extent = axis.extent;
    if (n < 0 || (isLiteral(extent) && typeof extent.value === 'number' && n >= extent.value)) {
      const length = isLiteral(extent) ? ` (length ${extent.value})` : '';
      return fail('K235', pos, `index ${n} is out of range for axis ${view.firstAxis} of ${view.name}${length}`, {
        help:
          n < 0
            ? `negative indices do not count from the end here: write ${view.name}[${view.name}.length - ${-n}]`
            : undefined,
      });
    }
  }
  // It is used twice, in the address and in the check: what is more than a little work is computed once.
  const held = touchesMemory(index) || size(index) > 6 ? ctx.temp(toIndex(index), '%index') : toIndex(index);
  return {
    ...view,
    axes: view.axes.slice(1),
    offset: addIndex(view.offset, mulIndex(held, axis.stride, pos), pos),
    checks: [...view.checks, { index: held, extent: axis.extent, axis: view.firstAxis }],
    firstAxis: view.firstAxis + 1,
    // A row of a sub-array is an object of its own.
    level: view.via === undefined ? view.level : view.level + 1,
    via: viaIndex(view, index),
  };
}

/** How an element of a sub-array is reached. */
export function viaIndex({ via, axes, unit }: View, index: TExpr): Via | undefined {
  if (via === undefined) return undefined;
  const stride = axes[0]?.stride;
  const known = via.at !== undefined && isLiteral(index) && stride !== undefined && isLiteral(stride);
  return { ...via, at: known ? Number(via.at) + Number(index.value) * Number(stride.value) * unit : undefined };
}

/** The memory of the single scalar that a view without axes is. */
export function element(view: View, pos: Pos): TMem {
  const { root, which, element: scalar, unit, disp, checks } = view;
  const align = Math.min(view.align, alignmentOf(disp), scalar.size);
  const via = view.via?.name === undefined ? undefined : view.via;
  const { elem, clamped } = scalar;
  return { root, elem, clamped, which, index: view.offset ?? literal(0, pos), unit, disp, align, checks, via, pos };
}

/** The memory of the first lane of a vector. */
export function laneOfView(type: LaneType, view: View, pos: Pos): TMem {
  return element({ ...view, element: elementOf(type.lane) }, pos);
}

/** The element that a view without axes is: a scalar is read when it is used, a record stays where it is. */
export function elementValue(view: View, pos: Pos): Value {
  const type = vectorOfElement(view.element);
  if (type !== undefined) return vectorElement(type, view, laneOfView(type, view, pos), pos);
  const { record } = view.element;
  if (record === undefined) return scalar({ k: 'load', mem: element(view, pos), pos });
  return record.kind === 'c' ? complexElement(view, record, pos) : { kind: 'view', view };
}

/** A complex number is a value: both parts are read when it is used. */
function complexElement(view: View, dtype: DType, pos: Pos): Value {
  const [re, im] = (fieldsOf(dtype) ?? []).map(({ dtype: part, offset }): TExpr => {
    const own = { ...view, element: elementOf(part), disp: view.disp + offset, level: view.level + 1 };
    const via = view.via && { ...view.via, at: view.via.at === undefined ? undefined : view.via.at + offset };
    return { k: 'load', mem: element({ ...own, via }, pos), pos };
  });
  if (re === undefined || im === undefined) throw new Error(`${dtype.name} has no parts`);
  return complex(re, im);
}

/** An element when no axis is left, else a view. */
export function viewValue(view: View, pos: Pos): Value {
  return view.axes.length === 0 && view.checks.length > 0 ? elementValue(view, pos) : { kind: 'view', view };
}

/** Number of elements. */
export function viewSize(view: View, pos: Pos): TExpr {
  return view.axes.reduce<TExpr>((n, a) => mulIndex(n, a.extent, pos), literal(1, pos));
}

// ---------------------------------------------------------------- slicing

/** One part of a slice: an index, or a range with bounds that may be missing. */
export type SlicePart =
  | { readonly index: TExpr }
  | { readonly start: TExpr | undefined; readonly stop: TExpr | undefined; readonly step: TExpr | undefined };

function clampBound(ctx: Evaluation, e: TExpr, extent: TExpr, low: TExpr, high: TExpr, pos: Pos): TExpr {
  const i = ctx.hold(toIndex(e));
  const wrapped = select(compare('lt', i, literal(0, pos), pos), arith('add', i, extent, pos), i, pos);
  return minmax('min', minmax('max', wrapped, low, pos), high, pos);
}

function minmax(fn: 'min' | 'max', a: TExpr, b: TExpr, pos: Pos): TExpr {
  if (isLiteral(a) && isLiteral(b) && typeof a.value === 'number' && typeof b.value === 'number') {
    return literal(fn === 'min' ? Math.min(a.value, b.value) : Math.max(a.value, b.value), pos);
  }
  return { k: 'minmax', fn, a, b, pos };
}

/** `view.slice(…)`, one part an axis, missing axes whole. */
export function sliceView(ctx: Evaluation, view: View, parts: readonly SlicePart[], pos: Pos): View {
  if (parts.length > view.axes.length) {
    return fail('K236', pos, `${parts.length} slice parts for ${view.name}, which has rank ${view.axes.length}`);
  }
  let offset = view.offset;
  const axes: Axis[] = [];
  const checks = [...view.checks];
  view.axes.forEach((axis, k) => {
    const part = parts[k];
    if (part === undefined) {
      axes.push(axis);
      return;
    }
    if ('index' in part) {
      const i = ctx.hold(toIndex(part.index));
      checks.push({ index: i, extent: axis.extent, axis: view.firstAxis + k });
      offset = addIndex(offset, mulIndex(i, axis.stride, pos), pos);
      return;
    }
    const stepLiteral = part.step === undefined ? 1 : isLiteral(part.step) ? part.step.value : undefined;
    if (typeof stepLiteral !== 'number' || !Number.isInteger(stepLiteral) || stepLiteral === 0) {
      return fail('K237', pos, 'the step of a slice in a kernel must be a non-zero integer constant');
    }
    const n = axis.extent;
    const zero = literal(0, pos);
    const step = stepLiteral;
    let start: TExpr;
    let length: TExpr;
    if (step > 0) {
      start = part.start === undefined ? zero : clampBound(ctx, part.start, n, zero, n, pos);
      const stop = part.stop === undefined ? n : clampBound(ctx, part.stop, n, zero, n, pos);
      length = part.start === undefined ? stop : arith('sub', stop, start, pos);
    } else {
      const last = arith('sub', n, literal(1, pos), pos);
      const before = literal(-1, pos);
      start = part.start === undefined ? last : clampBound(ctx, part.start, n, before, last, pos);
      const stop = part.stop === undefined ? before : clampBound(ctx, part.stop, n, before, last, pos);
      length = arith('sub', start, stop, pos);
    }
    const magnitude = Math.abs(step);
    if (magnitude > 1) {
      const rounded = arith('add', length, literal(magnitude - 1, pos), pos);
      length =
        isLiteral(rounded) && typeof rounded.value === 'number'
          ? literal(Math.floor(rounded.value / magnitude), pos)
          : { k: 'round', fn: 'trunc', a: arith('div', toIndex(rounded), literal(magnitude, pos), pos), pos };
    }
    length = minmax('max', length, zero, pos);
    const extent = isLiteral(length) ? length : ctx.hold(toIndex(length), '%length');
    offset = addIndex(offset, mulIndex(ctx.hold(toIndex(start)), axis.stride, pos), pos);
    const [from, to] = [part.start ?? zero, part.stop];
    const wanted = step === 1 && to !== undefined ? difference(to, from) : undefined;
    const whole = wanted !== undefined && wanted > 0 ? wanted : undefined;
    axes.push({ extent, stride: mulIndex(axis.stride, literal(step, pos), pos), whole });
  });
  const held = axes.map((a) => ({ ...a, stride: isLiteral(a.stride) ? a.stride : ctx.hold(a.stride) }));
  return {
    ...view,
    axes: held,
    offset: offset === undefined || isLiteral(offset) ? offset : ctx.hold(offset, '%offset'),
    checks,
    via: view.via && { ...view.via, at: undefined },
  };
}
