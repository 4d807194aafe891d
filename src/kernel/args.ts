/**
 * From a launch's arguments to argument types: what kind each is, and whether it is one that a kernel can take.
 *
 * Nothing is copied or compiled here. Host arrays come out as `NDArray`s with the way they are to be copied; `staging.ts`
 * brings them to the device. Numbers come out polymorphic: the kernel's uses of them decide their type.
 */

import { ArrayMemory } from '../array/array-memory.ts';
import { type DeviceNDArray, memoryOf } from '../array/device-array.ts';
import { deviceOf, imageOnDevice, isBorrowed, isOnDevice } from '../array/device-create.ts';
import { isImage } from '../array/image.ts';
import type { NDArray } from '../array/ndarray.ts';
import { asHostArray } from '../array/ndarray-create.ts';
import type { ArgType, Layout } from '../compiler/contract.ts';
import { alignmentOf, elementOf, MAX_ALIGN, recordKey } from '../compiler/elements.ts';
import { functionOfKernel, hostOnlyOf } from '../compiler/intrinsics.ts';
import { ELEM_SIZE, type ElemType } from '../compiler/ir/ops.ts';
import { type VectorToken, vectorTypeOf } from '../dtype/index.ts';
import { TsambaTypeError } from '../errors.ts';
import { type StridedLayout, strideUnit } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { ownValue } from '../options.ts';
import { show } from '../show.ts';
import { type Direction, directionOf } from './hints.ts';
import { numberOf, type ObjectParts, objectParts } from './object-arguments.ts';
import { complexScalar, type ScalarValue, scalarType, timeScalar, vectorScalar } from './scalar.ts';

/** The type of an array argument. */
export type ArrayType = Extract<ArgType, { kind: 'array' }>;

/** A host array. Its type is what it will be on the device: packed, until `Staging` finds that it shares memory with another. */
export interface HostTyped {
  readonly kind: 'host';
  type: ArrayType;
  readonly array: NDArray;
  /** Of the array at the time of the launch: another shape may be assigned to it before it is copied back. */
  readonly layout: StridedLayout;
  readonly direction: Direction;
  /** Whether the direction was said with `cuda.In` and its like. */
  readonly hinted: boolean;
}

/** An argument with its type. */
export type Typed =
  | {
      readonly kind: 'device';
      readonly type: ArrayType;
      readonly array: ArrayMemory;
      /** The object of another library or the picture that was passed, with the view of its memory that was made for this call, which gives it back. */
      readonly borrowed: { readonly by: object; readonly view: DeviceNDArray } | undefined;
    }
  | HostTyped
  | { readonly kind: 'scalar'; readonly type: ArgType; readonly value: ScalarValue }
  | { readonly kind: 'tuple'; readonly type: TupleType; readonly items: readonly Typed[] }
  | { readonly kind: 'constant'; readonly type: ArgType };

/** The type of a JS array or an object. */
export type TupleType = Extract<ArgType, { kind: 'tuple' }>;

/** More items than this in a JS array mean that it was meant as data. */
const MAX_TUPLE = 64;

/** Types one argument of a launch in a context; `where()` names it in messages, as in: argument 3 (`k`). */
export function typeArgument(value: unknown, context: Context, where: () => string, depth = 0): Typed {
  switch (typeof value) {
    case 'number':
      return { kind: 'scalar', type: NUMBER, value };
    case 'bigint':
      return { kind: 'scalar', type: BIGINT, value };
    case 'boolean':
      return { kind: 'scalar', type: BOOLEAN, value };
    case 'undefined':
    case 'string':
      return { kind: 'constant', type: { kind: 'constant', value } };
    case 'function':
      if (hostOnlyOf(value) !== undefined && functionOfKernel(value) === undefined) break;
      return { kind: 'constant', type: { kind: 'constant', value: value as (...args: never[]) => unknown } };
    case 'object':
      if (value === null) return { kind: 'constant', type: { kind: 'constant', value } };
      return typeObject(value, context, where, depth);
  }
  throw refuse(value, where);
}

const NUMBER: ArgType = { kind: 'number' };
const BIGINT: ArgType = { kind: 'bigint' };
const BOOLEAN: ArgType = { kind: 'scalar', type: 'bool' };

function typeObject(value: object, context: Context, where: () => string, depth = 0): Typed {
  if (Array.isArray(value)) return typeTuple(value, context, where, depth);
  // Device arrays, mapped and managed host arrays, and arrays of other libraries: none is copied. A picture of the page is.
  const device = deviceOf(value, context) ?? (isImage(value) ? imageOnDevice(context, value, {}) : undefined);
  if (device !== undefined) {
    const array = memoryOf(device);
    const borrowed = isBorrowed(device, value) ? { by: value, view: device } : undefined;
    return { kind: 'device', type: arrayType(array, array.layout, array.pointer), array, borrowed };
  }
  const time = timeScalar(value);
  if (time !== undefined)
    return { kind: 'scalar', type: { kind: 'scalar', type: 'i64', time: time.type }, value: time.count };
  const complex = complexArgument(value);
  if (complex !== undefined) return complex;
  const lanes = vectorScalar(value) ?? value;
  const vector = vectorTypeOf(lanes);
  if (vector !== undefined) return vectorArgument(vector, lanes);
  const elem = scalarType(value);
  if (elem !== undefined) {
    return { kind: 'scalar', type: { kind: 'scalar', type: elem }, value: (value as { value: ScalarValue }).value };
  }
  const direction = directionOf(value);
  if (direction !== undefined) return typeHinted((value as { array: object }).array, direction, context, where);
  const host = asHostArray(value);
  if (host !== undefined) return typeHost(host, 'inout', false);
  const parts = objectParts(value);
  if (parts !== undefined) return typeFields(value, parts, context, where, depth);
  throw refuse(value, where);
}

/** The argument that a vector of a type is. */
export function vectorType(vector: VectorToken<unknown>): TupleType {
  const lane: ArgType = { kind: 'scalar', type: vector.lane.name as ElemType };
  return { kind: 'tuple', items: vector.fields.map(() => lane), vector };
}

/** A complex number: `{ re, im }`, or a `cuda.scalar` of one. Its parts are typed as numbers are. */
function complexArgument(value: object): Typed | undefined {
  const stated = complexScalar(value);
  const type: ArgType = stated === undefined ? NUMBER : { kind: 'scalar', type: stated.part };
  const from: object = stated?.value ?? value;
  const [re, im] = [ownValue(from, 're'), ownValue(from, 'im')];
  if (typeof re !== 'number' || typeof im !== 'number') return undefined;
  // An object of a class keeps its methods.
  if (stated === undefined && (Object.keys(value).length !== 2 || objectParts(value)?.maker !== undefined))
    return undefined;
  const items = [re, im].map((part): Typed => ({ kind: 'scalar', type, value: part }));
  return { kind: 'tuple', type: { kind: 'tuple', items: [type, type], complex: true }, items };
}

/** A vector: a scalar of the lane's type for each lane. */
function vectorArgument(vector: VectorToken<unknown>, value: object): Typed {
  const type = vectorType(vector);
  const items = vector.fields.map(({ name }, k): Typed => {
    const item = type.items[k] as ArgType;
    return { kind: 'scalar', type: item, value: ownValue(value, name) as ScalarValue };
  });
  return { kind: 'tuple', type, items };
}

/** Objects in objects, JS arrays in JS arrays. */
const DEEPEST = 16;

function checkDepth(depth: number, where: () => string): void {
  if (depth < DEEPEST) return;
  throw new TsambaTypeError(
    'E_ARGUMENT_TYPE',
    `${where()} is nested more than ${DEEPEST} deep, or contains itself: pass its numbers and arrays as arguments of their own`,
  );
}

/** An object: each of its fields is an argument. */
function typeFields(
  value: object,
  { names, maker }: ObjectParts,
  context: Context,
  where: () => string,
  depth: number,
): Typed {
  checkDepth(depth, where);
  const fields = value as Readonly<Record<string, unknown>>;
  const items = names.map((name) => typeArgument(fields[name], context, () => `${where()}.${name}`, depth + 1));
  return { kind: 'tuple', type: { kind: 'tuple', items: items.map((item) => item.type), names, maker }, items };
}

function typeTuple(items: readonly unknown[], context: Context, where: () => string, depth: number): Typed {
  checkDepth(depth, where);
  if (items.length > MAX_TUPLE) {
    throw new TsambaTypeError(
      'E_ARGUMENT_TYPE',
      `${where()} is a JS array of ${items.length}, which would be a tuple: for data pass a TypedArray (Float64Array.from(…)), ndarray(…), or cuda.toDevice(…)`,
    );
  }
  // Holes are undefined, which is refused.
  const typed = Array.from(items, (item, i) => typeArgument(item, context, () => `${where()}[${i}]`, depth + 1));
  return { kind: 'tuple', type: { kind: 'tuple', items: typed.map((item) => item.type) }, items: typed };
}

function typeHinted(array: object, direction: Direction, context: Context, where: () => string): Typed {
  if (isOnDevice(array)) return typeObject(array, context, where);
  const host = Array.isArray(array) ? undefined : asHostArray(array);
  if (host !== undefined) return typeHost(host, direction, true);
  const name = direction === 'in' ? 'In' : direction === 'out' ? 'Out' : 'InOut';
  throw new TsambaTypeError(
    'E_ARGUMENT_TYPE',
    `${where()} is cuda.${name}(${show(array)}): the hint is for host arrays, such as a Float32Array`,
  );
}

function typeHost(array: NDArray, direction: Direction, hinted: boolean): Typed {
  const layout = array.isCContiguous() ? 'C' : array.isFContiguous() ? 'F' : 'C';
  return { kind: 'host', type: arrayType(array, layout, 0), array, layout: array.layout, direction, hinted };
}

/**
 * The type of an array, with the strides that kernels of layout A read in units of the item size where that divides them.
 * `address` is where its first element is on the device, as far as alignment goes.
 */
export function arrayType(array: ArrayMemory | NDArray, layout: Layout, address: number): ArrayType {
  const { elem, size, align, record, clamped } = elementOf(array.dtype);
  const unit = layout === 'A' ? strideUnit(array.strides, size) : size;
  const readonly = array instanceof ArrayMemory && array.readOnly;
  const actual = Math.min(align, actualAlignment(layout, address, array.strides));
  // Every property is there, also where it says nothing: none is looked for elsewhere.
  return {
    kind: 'array',
    elem,
    clamped,
    ndim: array.shape.length,
    layout,
    unit,
    readonly: readonly ? true : undefined,
    align: record === undefined && actual < align ? actual : undefined,
    record: record === undefined ? undefined : { dtype: record, align: actual },
  };
}

function actualAlignment(layout: Layout, address: number, strides: readonly number[]): number {
  return layout === 'A' ? Math.min(alignmentOf(address), alignmentAlong(strides)) : alignmentOf(address);
}

/** What all steps along the axes of an array are multiples of. */
function alignmentAlong(strides: readonly number[]): number {
  return strides.reduce((least, stride) => Math.min(least, alignmentOf(stride)), MAX_ALIGN);
}

/** Whether an array has its elements where a kernel of this type takes them to be; strides are known to be multiples of the unit. */
export function isAligned(type: ArrayType, pointer: number, strides: readonly number[]): boolean {
  // Arrays that are aligned better than this have a faster kernel.
  if (type.align !== undefined) return actualAlignment(type.layout, pointer, strides) === type.align;
  const align = type.record?.align ?? ELEM_SIZE[type.elem];
  // Bit operations see the low bits of any address; `%` of numbers beyond 32 bits is a call.
  if ((pointer & (align - 1)) !== 0) return false;
  return type.layout !== 'A' || (type.record === undefined && type.unit >= align) || alignmentAlong(strides) >= align;
}

function refuse(value: unknown, where: () => string): TsambaTypeError {
  return new TsambaTypeError(
    'E_ARGUMENT_TYPE',
    `${where()} is ${show(value)}, which a kernel cannot take: ${instead(value)}`,
  );
}

function instead(value: unknown): string {
  switch (typeof value) {
    case 'function':
      return 'it is for the host; pass a function of your own';
    case 'object':
      if (value instanceof ArrayBuffer || value instanceof DataView)
        return 'pass a TypedArray of it, such as new Float32Array(buffer)';
      if (value instanceof Promise) return 'await it first';
      return 'pass its numbers and arrays as arguments of their own, or in a plain object';
    default:
      return 'kernels take arrays, numbers, bigints, booleans, strings, functions, and JS arrays and plain objects of those';
  }
}

/** A key that is equal for equal types, and only for those. */
export function typeKey(type: ArgType): string {
  switch (type.kind) {
    case 'number':
      return type.only === undefined ? 'n' : type.only === 'fraction' ? 'f' : 'w';
    case 'bigint':
      return 'b';
    case 'scalar':
      return type.time?.name ?? type.type;
    case 'tuple': {
      const { items, names, maker, vector } = type;
      if (vector !== undefined) return vector.name;
      if (names === undefined) return `${type.complex ? 'z' : ''}(${items.map(typeKey).join(',')})`;
      const fields = items.map((item, k) => `${JSON.stringify(names[k])}:${typeKey(item)}`).join(',');
      return `${maker === undefined ? '' : `@${numberOf(maker)}`}{${fields}}`;
    }
    case 'constant': {
      const { value } = type;
      if (typeof value === 'function') return `f${numberOf(value)}`;
      return value === undefined ? 'undefined' : JSON.stringify(value);
    }
    case 'array':
      if (type.record !== undefined) return `${recordKey(type.record.dtype)}%${type.record.align}${arrayKey(type)}`;
      return type.align === undefined ? `${type.elem}${arrayKey(type)}` : `${type.elem}%${type.align}${arrayKey(type)}`;
  }
}

function arrayKey(type: ArrayType): string {
  const stores = `${type.readonly ? 'r' : ''}${type.clamped ? 'c' : ''}`;
  return `${type.layout}${type.ndim}${type.layout === 'A' ? `/${type.unit}` : ''}${stores}`;
}

/** The greatest number of elements, and of steps of a stride, that 32-bit indices reach. */
const MAX_INDEX = 2 ** 31 - 1;

/** What indices count in an array of records, as sub-arrays may have it: bytes; else elements. */
export function stepsOf(type: ArrayType, itemSize: number): number {
  return type.record === undefined ? 1 : itemSize;
}

/** Whether an array needs indices of 64 bits. */
export function isWide(array: Pick<NDArray, 'shape' | 'strides' | 'size' | 'itemSize'>, type: ArrayType): boolean {
  const steps = stepsOf(type, array.itemSize);
  if (array.size * steps > MAX_INDEX) return true;
  let reach = 0;
  for (let axis = 0; axis < array.shape.length; axis++) {
    const extent = array.shape[axis] ?? 1;
    if (extent > MAX_INDEX) return true;
    if (type.layout === 'A')
      reach += (Math.max(extent - 1, 0) * Math.abs(array.strides[axis] ?? 0) * steps) / type.unit;
  }
  return reach > MAX_INDEX;
}
