/**
 * Arrays in kernels: how arguments, shared, local, constant and captured arrays become views, and what indexing does to them.
 *
 * A view is symbolic: a root, an offset and axes. `A[i]` of a matrix is a view with one axis less; when all axes have an index
 * there is an element, and only then memory is touched. Slicing follows NumPy's rules.
 */
import { asDType, dtypeOfTypedArray, elemOf, isDType, isScalarDType, isTypedArray } from '../../dtype/index.ts';
import { type ArgType, type CapturedArray, DEVICE_ARRAY, NDARRAY } from '../contract.ts';
import { ELEM_SIZE, type ElemType, type Space } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Root, TExpr, TMem } from '../types/tree.ts';
import { addIndex, arith, compare, mulIndex, select, toIndex } from './arithmetic.ts';
import type { Context } from './context.ts';
import { size, touchesMemory } from './context.ts';
import { fail } from './diagnostics.ts';
import { type Axis, isLiteral, literal, scalar, type Value, type View } from './values.ts';

type RootInit = Omit<Root, 'id' | 'written'>;

function addRoot(ctx: Context, init: RootInit): Root {
  const root: Root = { ...init, id: ctx.roots.length, written: false };
  ctx.roots.push(root);
  return root;
}

/** Axes of a compact array with the given extents. */
function compactAxes(extents: readonly TExpr[], order: 'C' | 'F', pos: Pos): Axis[] {
  const axes: Axis[] = [];
  let stride: TExpr = literal(1, pos);
  const indices = extents.map((_, k) => k);
  for (const k of order === 'C' ? indices.reverse() : indices) {
    const extent = extents[k];
    if (extent === undefined) continue;
    axes[k] = { extent, stride };
    stride = mulIndex(extent, stride, pos);
  }
  return axes;
}

function viewOf(root: Root, axes: readonly Axis[], unit: number): View {
  return { root, axes, offset: undefined, unit, checks: [], name: root.name, firstAxis: 0 };
}

/** The view of an array argument. */
export function argumentView(
  ctx: Context,
  type: Extract<ArgType, { kind: 'array' }>,
  name: string,
  path: readonly number[],
  pos: Pos,
): View {
  const root = addRoot(ctx, {
    name,
    space: 'global',
    elem: type.elem,
    pos,
    from: { path },
    readonly: type.readonly === true,
  });
  const extents = Array.from({ length: type.ndim }, (_, axis): TExpr => ({ k: 'extent', root, axis, pos }));
  if (type.layout !== 'A') return viewOf(root, compactAxes(extents, type.layout, pos), ELEM_SIZE[type.elem]);
  const axes = extents.map(
    (extent, axis): Axis => ({ extent, stride: { k: 'stride', root, axis, unit: type.unit, pos } }),
  );
  return viewOf(root, axes, type.unit);
}

/** Memory of fixed shape made inside the kernel. */
export function allocateView(
  ctx: Context,
  space: Space,
  shape: readonly number[],
  elem: ElemType,
  name: string,
  pos: Pos,
): View {
  const length = shape.reduce((a, b) => a * b, 1);
  const root = addRoot(ctx, { name, space, elem, pos, length, readonly: false });
  return viewOf(
    root,
    compactAxes(
      shape.map((n) => literal(n, pos)),
      'C',
      pos,
    ),
    ELEM_SIZE[elem],
  );
}

/** Dynamic shared memory: as many elements as the launch gave bytes for. */
export function dynamicView(ctx: Context, elem: ElemType, name: string, pos: Pos): View {
  const root = addRoot(ctx, { name, space: 'shared', elem, pos, dynamic: true, readonly: false });
  const bytes: TExpr = { k: 'special', name: 'sharedBytes', pos };
  const extent: TExpr =
    ELEM_SIZE[elem] === 1
      ? toIndex(bytes)
      : toIndex({ k: 'shift', fn: 'shr', a: bytes, b: literal(Math.log2(ELEM_SIZE[elem]), pos), pos });
  return viewOf(root, [{ extent: ctx.hold(extent, `%${name}.length`), stride: literal(1, pos) }], ELEM_SIZE[elem]);
}

// ---------------------------------------------------------------- arrays of the host

interface HostArray {
  readonly data: ArrayBufferView;
  readonly elem: ElemType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly byteOffset: number;
}

function readHostArray(value: object, name: string, pos: Pos): HostArray | undefined {
  if (isTypedArray(value)) {
    const elem = elemOf(dtypeOfTypedArray(value));
    const length = value.byteLength / ELEM_SIZE[elem];
    return { data: value, elem, shape: [length], strides: [ELEM_SIZE[elem]], byteOffset: 0 };
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
  if (!isScalarDType(a.dtype)) {
    return fail(
      'K321',
      pos,
      `the captured array ${name} has element type ${a.dtype.name}, which kernels cannot read in this version`,
      {
        help: 'capture arrays of bool, integers or floats',
      },
    );
  }
  return { data: a.data, elem: elemOf(a.dtype), shape: a.shape, strides: a.strides, byteOffset: a.byteOffset };
}

/** The bytes of a host array in C order. */
function packBytes(a: HostArray): Uint8Array {
  const item = ELEM_SIZE[a.elem];
  const count = a.shape.reduce((x, y) => x * y, 1);
  const out = new Uint8Array(count * item);
  const bytes = new Uint8Array(a.data.buffer, a.data.byteOffset, a.data.byteLength);
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
export function capturedView(ctx: Context, value: object, name: string, pos: Pos): View | undefined {
  const known = ctx.hostArrays.get(value);
  if (known !== undefined) return known;
  let view: View | undefined;
  if (DEVICE_ARRAY in value) {
    const array = (value as { [DEVICE_ARRAY]: CapturedArray })[DEVICE_ARRAY];
    const item = ELEM_SIZE[array.elem];
    const unit = array.strides.every((s) => s % item === 0) ? item : 1;
    const root = addRoot(ctx, {
      name,
      space: 'global',
      elem: array.elem,
      pos,
      from: { capture: ctx.captured.length },
      readonly: false,
    });
    ctx.captured.push(array);
    view = viewOf(
      root,
      array.shape.map((n, k) => ({ extent: literal(n, pos), stride: literal((array.strides[k] ?? 0) / unit, pos) })),
      unit,
    );
  } else {
    const host = readHostArray(value, name, pos);
    if (host === undefined) return undefined;
    const data = packBytes(host);
    const root = addRoot(ctx, {
      name,
      space: 'constant',
      elem: host.elem,
      pos,
      data,
      length: data.length / ELEM_SIZE[host.elem],
      readonly: true,
    });
    view = viewOf(
      root,
      compactAxes(
        host.shape.map((n) => literal(n, pos)),
        'C',
        pos,
      ),
      ELEM_SIZE[host.elem],
    );
  }
  ctx.hostArrays.set(value, view);
  return view;
}

/** The element type named by a dtype token or string given in a kernel. */
export function elementType(value: unknown, what: string, pos: Pos): ElemType {
  let dtype: unknown;
  try {
    dtype = typeof value === 'string' ? asDType(value) : value;
  } catch (cause) {
    return fail('K322', pos, `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (!isDType(dtype))
    return fail('K322', pos, `${what} needs an element type`, { help: 'pass a dtype such as f32 or i32' });
  if (!isScalarDType(dtype)) {
    return fail('K322', pos, `${what}: elements of type ${dtype.name} cannot be used in kernels in this version`, {
      help: 'use bool, an integer or a float type',
    });
  }
  return elemOf(dtype);
}

// ---------------------------------------------------------------- indexing

/** `view[index]`: a view of one axis less. */
export function indexView(ctx: Context, view: View, index: TExpr, pos: Pos): View {
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
    root: view.root,
    axes: view.axes.slice(1),
    offset: addIndex(view.offset, mulIndex(held, axis.stride, pos), pos),
    unit: view.unit,
    checks: [...view.checks, { index: held, extent: axis.extent, axis: view.firstAxis }],
    name: view.name,
    firstAxis: view.firstAxis + 1,
  };
}

/** The memory of the single element that a view without axes is. */
export function element(view: View, pos: Pos): TMem {
  return { root: view.root, index: view.offset ?? literal(0, pos), unit: view.unit, checks: view.checks, pos };
}

/** An element when no axis is left, else a view. */
export function viewValue(view: View, pos: Pos): Value {
  return view.axes.length === 0 && view.checks.length > 0
    ? scalar({ k: 'load', mem: element(view, pos), pos })
    : { kind: 'view', view };
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

function clampBound(ctx: Context, e: TExpr, extent: TExpr, low: TExpr, high: TExpr, pos: Pos): TExpr {
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
export function sliceView(ctx: Context, view: View, parts: readonly SlicePart[], pos: Pos): View {
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
    axes.push({ extent, stride: mulIndex(axis.stride, literal(step, pos), pos) });
  });
  const held = axes.map((a) => ({ extent: a.extent, stride: isLiteral(a.stride) ? a.stride : ctx.hold(a.stride) }));
  return {
    ...view,
    axes: held,
    offset: offset === undefined || isLiteral(offset) ? offset : ctx.hold(offset, '%offset'),
    checks,
  };
}
