/**
 * Nested JavaScript arrays as array memory: `[[1, 2], [3, 4]]`, also with TypedArrays as rows.
 *
 * The shape is read off the first item of each level and checked against all others. Without a dtype the elements decide, and
 * they must agree: numbers are f64, whole or not; bigints i64; booleans bool; `{ re, im }` c128; strings `'U…'` as long as the longest; `Date` datetime64[ms].
 */
import {
  bool,
  c128,
  codecOf,
  converterBetween,
  type DType,
  dataClassOf,
  datetime64,
  describeDType,
  dtypeOfTypedArray,
  f64,
  i64,
  isScalarDType,
  isTypedArray,
  type ScalarName,
  type TypedArray,
  unicodeCharSeq,
} from '../dtype/index.ts';
import { TsambaRangeError, TsambaTypeError } from '../errors.ts';
import { compactLayout, formatShape, normalizeShape, type StridedLayout, sizeOf } from '../layout/index.ts';
import { describedValue, describes } from '../options.ts';
import { show } from '../show.ts';

/** Newly made memory. */
export interface NestedMemory {
  readonly data: TypedArray;
  readonly bytes: Uint8Array;
  readonly dtype: DType;
  readonly layout: StridedLayout;
}

/** Reads a nested array (or a scalar, which has no axes) into compact C-ordered memory. Throws TypeError, RangeError. */
export function readNested(value: unknown, wanted: DType | undefined): NestedMemory {
  const text = typeof value === 'string' && wanted === undefined;
  if (value === undefined || value === null || text || typeof value === 'function') {
    const shown = value === undefined || value === null ? String(value) : `a ${typeof value}`;
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      `an array is made of a TypedArray, an NDArray, nested arrays or a number, got ${shown}`,
    );
  }
  const shape = shapeOf(value);
  const dtype = wanted ?? inferDType(value, shape) ?? f64;
  normalizeShape(shape, dtype.itemSize);
  const layout = compactLayout(shape, dtype.itemSize);
  const Data = dataClassOf(dtype);
  const data = new Data((sizeOf(shape) * dtype.itemSize) / Data.BYTES_PER_ELEMENT);
  const bytes = new Uint8Array(data.buffer);
  const view = new DataView(data.buffer);
  const codec = codecOf(dtype);
  let offset = 0;
  const readLevel = (item: unknown, axis: number): void => {
    const length = shape[axis];
    if (length === undefined) {
      if (Array.isArray(item) || isTypedArray(item)) throw ragged(shape, axis, 'an array');
      codec.write(view, offset, item);
      offset += dtype.itemSize;
      return;
    }
    if (isTypedArray(item)) {
      if (item.length !== length || axis !== shape.length - 1) throw ragged(shape, axis, item.length);
      const convert = rowConverter(dtypeOfTypedArray(item), dtype);
      for (const element of item) readLevel(convert(element), axis + 1);
    } else {
      if (!Array.isArray(item)) throw ragged(shape, axis, 'a single value');
      if (item.length !== length) throw ragged(shape, axis, item.length);
      // By index: holes in the array must not be passed over.
      for (let i = 0; i < length; i++) readLevel(item[i], axis + 1);
    }
  };
  readLevel(value, 0);
  return { data, bytes, dtype, layout };
}

/** Elements of a row that is a TypedArray convert as array elements do: integers wrap. */
function rowConverter(from: DType, to: DType): (value: unknown) => unknown {
  if (!isScalarDType(to)) return (value) => value;
  return converterBetween(from.name as ScalarName, to.name as ScalarName);
}

/** As many axes as NumPy has. An array that contains itself would have no end of them. */
const MAX_AXES = 64;

function shapeOf(value: unknown): number[] {
  const shape: number[] = [];
  let item = value;
  while (Array.isArray(item)) {
    shape.push(item.length);
    if (shape.length > MAX_AXES) {
      throw new TsambaRangeError('E_RAGGED', `arrays are nested more than ${MAX_AXES} deep, or one contains itself`);
    }
    item = item[0];
  }
  if (isTypedArray(item)) shape.push(item.length);
  return shape;
}

function ragged(shape: readonly number[], axis: number, got: string | number): TsambaRangeError {
  const count = (items: number): string => `${items} ${items === 1 ? 'item' : 'items'}`;
  const length = shape[axis];
  const wanted = length === undefined ? 'a single value' : count(length);
  return new TsambaRangeError(
    'E_RAGGED',
    `nested arrays must be rectangular: after the first row the shape is ${formatShape(shape)}, ` +
      `but on axis ${axis} there ${typeof got === 'number' && got !== 1 ? 'are' : 'is'} ` +
      `${typeof got === 'number' ? count(got) : got} in place of ${wanted}`,
  );
}

/** The dtype that all elements agree on; undefined when there are none. Throws TypeError for a mixture. */
function inferDType(value: unknown, shape: readonly number[]): DType | undefined {
  let found: DType | undefined;
  const visit = (item: unknown, axis: number): void => {
    if (Array.isArray(item)) {
      if (axis === shape.length) throw ragged(shape, axis, 'an array');
      for (let i = 0; i < item.length; i++) visit(item[i], axis + 1);
      return;
    }
    const own = isTypedArray(item) ? dtypeOfTypedArray(item) : elementDType(item);
    const text = own.kind === 'U' && found?.kind === 'U';
    const dtype = text ? longer(own, found) : own;
    if (text) found = dtype;
    if (found !== undefined && found !== dtype) {
      throw new TsambaTypeError(
        'E_MIXED',
        `array elements must be of one kind, got a mixture of ${named(found)} and ${named(dtype)}; convert them, or give the dtype`,
      );
    }
    found = dtype;
  };
  visit(value, 0);
  return found;
}

function longer(a: DType, b: DType | undefined): DType {
  return b === undefined || a.itemSize > b.itemSize ? a : b;
}

function elementDType(item: unknown): DType {
  if (typeof item === 'number') return f64;
  if (typeof item === 'boolean') return bool;
  if (typeof item === 'bigint') {
    if (BigInt.asIntN(64, item) === item) return i64;
    throw new TsambaRangeError('E_CONVERT', `${item}n does not fit i64, the dtype of bigints; give dtype: u64 or f64`);
  }
  if (typeof item === 'string') return unicodeCharSeq(Math.max(1, Array.from(item).length));
  if (item instanceof Date) return datetime64('ms');
  if (typeof item === 'object' && item !== null) {
    if (typeof describedValue(item, 're') === 'number' && typeof describedValue(item, 'im') === 'number') return c128;
    throw new TsambaTypeError('E_CONVERT', objectAdvice(item));
  }
  const shown = item === undefined ? 'undefined (a hole in the array?)' : item === null ? 'null' : `a ${typeof item}`;
  throw new TsambaTypeError(
    'E_CONVERT',
    `array elements must be numbers, bigints, booleans, strings or dates, got ${shown}`,
  );
}

/** Objects of other libraries, by what they have, and how an array is made of each. */
const KEPT_IN: readonly { readonly members: readonly string[]; readonly write: string }[] = [
  // ImageData, and what reads pictures.
  {
    members: ['data', 'width', 'height'],
    write: 'write ndarray(x.data, { shape: [x.height, x.width, 4] })',
  },
  // Tensors of onnxruntime.
  { members: ['data', 'dims'], write: 'write ndarray(x.data, { shape: x.dims })' },
  // Attributes of three.js.
  { members: ['array', 'itemSize'], write: 'write ndarray(x.array, { shape: [x.count, x.itemSize] })' },
];

function objectAdvice(item: object): string {
  const name = item.constructor?.name ?? 'Object';
  if (item instanceof ArrayBuffer || item instanceof DataView || name === 'SharedArrayBuffer') {
    return `${show(item)} does not say what its elements are: give a TypedArray over it, such as new Float32Array(buffer)`;
  }
  if (item instanceof Promise) return 'got a Promise: await it first';
  if (describes(item, 'markChanged'))
    return "got a SmartArray: its get('gpu') is a device array, its get('host') a host array";
  if (describes(item, 'toArray'))
    return `got ${show(item)}: its toArray() makes an array of it, of Apache Arrow without a copy`;
  const inside = KEPT_IN.find(({ members }) => members.every((member) => describes(item, member)));
  if (inside !== undefined) return `got ${show(item)}, which has its elements in a member: ${inside.write}`;
  if (Symbol.iterator in item)
    return `got ${show(item)}: write Array.from(…) or Float64Array.from(…) to make an array of it`;
  return 'array elements that are objects need a dtype, such as ndarray(points, { dtype: struct({ x: f32, y: f32 }) })';
}

function named(dtype: DType): string {
  if (dtype === f64) return 'numbers (f64)';
  if (dtype === i64) return 'bigints (i64)';
  if (dtype === bool) return 'booleans';
  if (dtype.kind === 'U') return 'strings';
  if (dtype.kind === 'M') return 'dates';
  return dtype === c128 ? 'complex numbers' : describeDType(dtype);
}
