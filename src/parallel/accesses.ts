/**
 * How kernels read and write neighbouring elements: 16 bytes at a time where an array lies so, else one by one.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import {
  c64,
  c128,
  type DType,
  isVectorDType,
  SCALAR_TOKENS,
  type ScalarName,
  spellDType,
  vectorOf,
} from '../dtype/index.ts';
import type { Vec } from '../kernel/types.ts';
import type { Read } from './input.ts';
import { LANE_WORDS } from './lane-words.ts';
import { remember } from './memo.ts';
import type { Value } from './operator.ts';

/** Bytes of one access. */
const BYTES = 16;

/** Elements as vectors of 16 bytes. */
export interface Packed {
  /** Elements of a vector. */
  readonly count: number;
  /** Device functions: that many from element `i` on, a multiple of `count`. */
  readonly load: (array: Vec<Value>, i: number) => readonly Value[];
  readonly store: (array: Vec<Value>, i: number, values: readonly Value[]) => void;
}

type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

/** How the elements of an array are packed, the same object for arrays of one dtype; undefined for arrays that do not lie so: steps, odd addresses, elements of other sizes. */
export function packedOf(array: DeviceNDArray | undefined): Packed | undefined {
  if (array === undefined || array.ndim !== 1 || !array.isCContiguous() || array.pointer % BYTES !== 0)
    return undefined;
  const { dtype } = array;
  return remember(['packing', spellDType(dtype)], () => packing(dtype));
}

/** The lanes of an element: how many, of which scalar, and how it is made of them and taken apart. */
interface Lanes {
  readonly scalar: string;
  readonly count: number;
  readonly make: (lanes: readonly Value[]) => Value;
  readonly parts: (value: Value) => readonly Value[];
}

function packing(dtype: DType): Packed | undefined {
  const lanes = lanesOf(dtype);
  if (lanes === undefined) return undefined;
  const scalar = SCALAR_TOKENS[lanes.scalar as ScalarName];
  const all = BYTES / scalar.itemSize;
  const vector = vectorOf(lanes.scalar, all);
  if (vector === undefined || all % lanes.count !== 0) return undefined;
  const count = all / lanes.count;
  const places = Array.from({ length: count }, (_, k) =>
    Array.from({ length: lanes.count }, (_, l) => k * lanes.count + l),
  );
  const captures = { ...LANE_WORDS, vector, all, count, places, make: lanes.make, parts: lanes.parts };
  return {
    count,
    load: device(
      ({ assumeAligned, vector, all, count, places, make }: typeof captures) =>
        (array: Vec<Value>, i: number) => {
          const v = assumeAligned(array, 16).view(vector)[Math.floor(i / count)] as Value as Quad;
          const lanes = all === 4 ? [v.x, v.y, v.z, v.w] : [v.x, v.y];
          return places.map((place) => make(place.map((l) => lanes[l] as Value)));
        },
      captures,
    ),
    store: device(
      ({ assumeAligned, vector, count, parts }: typeof captures) =>
        (array: Vec<Value>, i: number, values: readonly Value[]) => {
          const taken = values.map((value) => parts(value)) as readonly (readonly Value[])[];
          const [a, b] = [taken[0] as readonly Value[], taken[count - 1] as readonly Value[]];
          assumeAligned(array, 16).view(vector)[Math.floor(i / count)] = (
            count === 4 ? vector(...values) : count === 2 ? vector(...a, ...b) : vector(...a)
          ) as Value;
        },
      captures,
    ),
  };
}

interface Quad {
  readonly x: Value;
  readonly y: Value;
  readonly z: Value;
  readonly w: Value;
}

function lanesOf(dtype: DType): Lanes | undefined {
  const { kind, fields, itemSize, name } = dtype;
  if (kind === 'c') return complexLanes(dtype);
  if (fields !== undefined && !isVectorDType(dtype)) return structLanes(dtype);
  if (!'iuf'.includes(kind) || (itemSize !== 4 && itemSize !== 8)) return undefined;
  return { scalar: name, count: 1, make: firstOf, parts: alone };
}

const firstOf = ((lanes: readonly Value[]): Value => lanes[0] as Value) as Lanes['make'];
const alone = ((value: Value): readonly Value[] => [value]) as Lanes['parts'];

function complexLanes({ name }: DType): Lanes {
  const captures = { make: name === 'c64' ? c64 : c128 };
  return {
    scalar: name === 'c64' ? 'f32' : 'f64',
    count: 2,
    make: device(
      ({ make }: typeof captures) =>
        (lanes: readonly Value[]) =>
          make(lanes[0] as Value, lanes[1] as Value),
      captures,
    ) as unknown as Lanes['make'],
    parts: ((z: { readonly re: Value; readonly im: Value }) => [z.re, z.im]) as Lanes['parts'],
  };
}

/** Structs whose members are all of one scalar type, and fill a vector or half of one. */
function structLanes({ fields = [], itemSize }: DType): Lanes | undefined {
  const [first] = fields;
  if (first === undefined || !'iuf'.includes(first.dtype.kind) || first.dtype.fields !== undefined) return undefined;
  const size = first.dtype.itemSize;
  const isDense = fields.every(({ dtype, offset }, k) => dtype.name === first.dtype.name && offset === k * size);
  if (!isDense || size < 4 || itemSize !== size * fields.length || BYTES % itemSize !== 0) return undefined;
  let [make, parts] = [(() => ({})) as unknown as Lanes['make'], (() => []) as unknown as Lanes['parts']];
  fields.forEach(({ name }, k) => {
    const captures = { rest: make, before: parts, name, k };
    make = device(
      ({ rest, name, k }: typeof captures) =>
        (lanes: readonly Value[]) => ({ ...(rest(lanes) as object), [name]: lanes[k] as Value }),
      captures,
    ) as unknown as Lanes['make'];
    parts = device(
      ({ before, name }: typeof captures) =>
        (value: Readonly<Record<string, Value>>) => [...before(value as Value), value[name] as Value],
      captures,
    ) as unknown as Lanes['parts'];
  });
  return { scalar: first.dtype.name, count: fields.length, make, parts };
}

/** Elements one by one, `count` of them. */
export function oneByOne(read: Read, count: number): (argument: Value, i: number) => readonly Value[] {
  return remember(['one by one', read, count], () => readingOnes(read, count));
}

function readingOnes(read: Read, count: number): (argument: Value, i: number) => readonly Value[] {
  const captures = { read, places: Array.from({ length: count }, (_, k) => k) };
  return device(
    ({ read, places }: typeof captures) =>
      (argument: Value, i: number) =>
        places.map((k) => read(argument, i + k)),
    captures,
  );
}

/** The same for stores. */
export function storeOneByOne(out: Vec<Value>, i: number, values: readonly Value[]): void {
  values.forEach((value, k) => {
    out[i + k] = value;
  });
}
