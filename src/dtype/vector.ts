/**
 * Vector types: two, three or four numbers of one scalar type as one value, `f32x4`, with the members x, y, z and w.
 *
 * In memory they are CUDA's: the lanes one after another, aligned to the whole of them where there are two or four, up to 16 bytes. On the
 * host an element is an object `{ x, y, z, w }`; in kernels it is a value like a number, which operators work on lane by lane.
 */
import { TsambaTypeError } from '../errors.ts';
import { DTYPE, type DType, printable, type StructField } from './dtype.ts';
import { type DTypeToken, SCALAR_TOKENS } from './scalars.ts';
import { type SubArrayDType, subArray } from './subarray.ts';
import { rowOf } from './table.ts';
import type * as t from './types.ts';
import type { LaneName, VectorName } from './types.ts';

/** What a lane of a vector can be made of on the host. */
type LaneValue = number | bigint | boolean;

/** A vector dtype; called, it makes a vector. */
export interface VectorToken<out T> extends DType<T> {
  /**
   * `f32x4(x, y, z, w)`, `f32x4(s)` for four times the same, or of shorter vectors and numbers, in order: `f32x4(xy, z, w)`. Each is converted as by
   * the scalar's cast. On the host the result is an object `{ x, y, z, w }`. Throws TypeError for another number of lanes.
   */
  (...parts: readonly (LaneValue | t.VectorParts)[]): T;
  readonly name: VectorName;
  readonly kind: 'V';
  readonly fields: readonly StructField[];
  /** The type of a lane. */
  readonly lane: DTypeToken<unknown>;
  /** A fixed sub-array for the field of a struct. */
  array<const S extends readonly number[]>(...shape: S): SubArrayDType<T, S>;
}

/** The members of vectors. */
export const LANES = ['x', 'y', 'z', 'w'] as const;

/** No access is wider than this many bytes, and no vector is aligned to more. */
export const MOST_VECTOR_ALIGNMENT = 16;

const VECTORS = new Map<string, VectorToken<unknown>>();

/** The vector type of so many lanes of a scalar type. */
export function vectorOf(lane: string, count: number): VectorToken<unknown> | undefined {
  return VECTORS.get(`${lane}x${count}`);
}

/** What the constructors have made: to the host plain objects of their lanes. */
const MADE = new WeakMap<object, VectorToken<unknown>>();

/** The type of an object that `f32x4(…)` and its like have made; undefined for others, elements of arrays among them. */
export function vectorTypeOf(value: object): VectorToken<unknown> | undefined {
  return MADE.get(value);
}

/** Whether a dtype is a vector type. */
export function isVectorDType(dtype: DType): dtype is VectorToken<unknown> {
  return VECTORS.get(dtype.name) === dtype;
}

/** All vector types. */
export function vectorTokens(): Iterable<VectorToken<unknown>> {
  return VECTORS.values();
}

function token<T>(laneName: LaneName, count: 2 | 3 | 4): VectorToken<T> {
  const lane = SCALAR_TOKENS[laneName];
  const name: VectorName = `${laneName}x${count}`;
  const itemSize = lane.itemSize * count;
  const members = LANES.slice(0, count);
  const fields = members.map((member, k) => Object.freeze({ name: member, dtype: lane, offset: k * lane.itemSize }));
  const make = (...parts: readonly unknown[]): unknown => {
    const given = parts.flatMap((part) => lanesOf(part, name));
    if (given.length !== count && !(given.length === 1 && parts.length === 1)) {
      throw new TsambaTypeError('E_CONVERT', `${name} has ${count} lanes, got ${given.length}: ${name}(${members})`);
    }
    const vector = Object.fromEntries(
      members.map((member, k) => [member, lane(given[given.length === 1 ? 0 : k] as LaneValue)]),
    );
    MADE.set(vector, made);
    return vector;
  };
  Object.defineProperty(make, 'name', { value: name });
  Object.defineProperty(make, DTYPE, { value: name });
  Object.assign(make, {
    kind: 'V',
    itemSize,
    // Three lanes are aligned as one is, as CUDA's float3.
    alignment: count === 3 ? lane.itemSize : Math.min(itemSize, MOST_VECTOR_ALIGNMENT),
    typestr: `|V${itemSize}`,
    fields: Object.freeze(fields),
    lane,
    array: <const S extends readonly number[]>(...shape: S) => subArray(make as unknown as DType<T>, shape),
  });
  const made = Object.freeze(printable(make)) as unknown as VectorToken<T>;
  VECTORS.set(name, made);
  return made;
}

/** The numbers in an argument of a constructor: one, or those of a vector, of which each member has its place. */
function lanesOf(part: unknown, name: string): readonly unknown[] {
  if (typeof part !== 'object' || part === null) return [part];
  const lanes = LANES.filter((lane) => Object.hasOwn(part, lane));
  if (lanes.length < 2 || lanes.length !== Object.keys(part).length) {
    throw new TsambaTypeError('E_CONVERT', `${name} is made of numbers and vectors { x, y, … }, got an object`);
  }
  return lanes.map((lane) => (part as Record<string, unknown>)[lane]);
}

/** NumPy's names for lanes, as in Numba's `float32x4`. */
export function longNameOf({ lane, fields }: VectorToken<unknown>): string {
  return `${rowOf(lane.name).names[0]}x${fields.length}`;
}

export type i8x2 = t.Vector<'i8x2'>;
/** Two i8 as one value: dtype, type for annotations, and constructor `i8x2(x, y)`, `i8x2(s)`. Numba's `int8x2`. */
export const i8x2: VectorToken<i8x2> = token('i8', 2);
export type i8x3 = t.Vector<'i8x3'>;
/** Three i8 as one value: dtype, type for annotations, and constructor `i8x3(x, y, z)`, `i8x3(s)`. Numba's `int8x3`. */
export const i8x3: VectorToken<i8x3> = token('i8', 3);
export type i8x4 = t.Vector<'i8x4'>;
/** Four i8 as one value: dtype, type for annotations, and constructor `i8x4(x, y, z, w)`, `i8x4(s)`. Numba's `int8x4`. */
export const i8x4: VectorToken<i8x4> = token('i8', 4);
export type u8x2 = t.Vector<'u8x2'>;
/** Two u8 as one value: dtype, type for annotations, and constructor `u8x2(x, y)`, `u8x2(s)`. Numba's `uint8x2`. */
export const u8x2: VectorToken<u8x2> = token('u8', 2);
export type u8x3 = t.Vector<'u8x3'>;
/** Three u8 as one value: dtype, type for annotations, and constructor `u8x3(x, y, z)`, `u8x3(s)`. Numba's `uint8x3`. */
export const u8x3: VectorToken<u8x3> = token('u8', 3);
export type u8x4 = t.Vector<'u8x4'>;
/** Four u8 as one value: dtype, type for annotations, and constructor `u8x4(x, y, z, w)`, `u8x4(s)`. Numba's `uint8x4`. */
export const u8x4: VectorToken<u8x4> = token('u8', 4);
export type i16x2 = t.Vector<'i16x2'>;
/** Two i16 as one value: dtype, type for annotations, and constructor `i16x2(x, y)`, `i16x2(s)`. Numba's `int16x2`. */
export const i16x2: VectorToken<i16x2> = token('i16', 2);
export type i16x3 = t.Vector<'i16x3'>;
/** Three i16 as one value: dtype, type for annotations, and constructor `i16x3(x, y, z)`, `i16x3(s)`. Numba's `int16x3`. */
export const i16x3: VectorToken<i16x3> = token('i16', 3);
export type i16x4 = t.Vector<'i16x4'>;
/** Four i16 as one value: dtype, type for annotations, and constructor `i16x4(x, y, z, w)`, `i16x4(s)`. Numba's `int16x4`. */
export const i16x4: VectorToken<i16x4> = token('i16', 4);
export type u16x2 = t.Vector<'u16x2'>;
/** Two u16 as one value: dtype, type for annotations, and constructor `u16x2(x, y)`, `u16x2(s)`. Numba's `uint16x2`. */
export const u16x2: VectorToken<u16x2> = token('u16', 2);
export type u16x3 = t.Vector<'u16x3'>;
/** Three u16 as one value: dtype, type for annotations, and constructor `u16x3(x, y, z)`, `u16x3(s)`. Numba's `uint16x3`. */
export const u16x3: VectorToken<u16x3> = token('u16', 3);
export type u16x4 = t.Vector<'u16x4'>;
/** Four u16 as one value: dtype, type for annotations, and constructor `u16x4(x, y, z, w)`, `u16x4(s)`. Numba's `uint16x4`. */
export const u16x4: VectorToken<u16x4> = token('u16', 4);
export type i32x2 = t.Vector<'i32x2'>;
/** Two i32 as one value: dtype, type for annotations, and constructor `i32x2(x, y)`, `i32x2(s)`. Numba's `int32x2`. */
export const i32x2: VectorToken<i32x2> = token('i32', 2);
export type i32x3 = t.Vector<'i32x3'>;
/** Three i32 as one value: dtype, type for annotations, and constructor `i32x3(x, y, z)`, `i32x3(s)`. Numba's `int32x3`. */
export const i32x3: VectorToken<i32x3> = token('i32', 3);
export type i32x4 = t.Vector<'i32x4'>;
/** Four i32 as one value: dtype, type for annotations, and constructor `i32x4(x, y, z, w)`, `i32x4(s)`. Numba's `int32x4`. */
export const i32x4: VectorToken<i32x4> = token('i32', 4);
export type u32x2 = t.Vector<'u32x2'>;
/** Two u32 as one value: dtype, type for annotations, and constructor `u32x2(x, y)`, `u32x2(s)`. Numba's `uint32x2`. */
export const u32x2: VectorToken<u32x2> = token('u32', 2);
export type u32x3 = t.Vector<'u32x3'>;
/** Three u32 as one value: dtype, type for annotations, and constructor `u32x3(x, y, z)`, `u32x3(s)`. Numba's `uint32x3`. */
export const u32x3: VectorToken<u32x3> = token('u32', 3);
export type u32x4 = t.Vector<'u32x4'>;
/** Four u32 as one value: dtype, type for annotations, and constructor `u32x4(x, y, z, w)`, `u32x4(s)`. Numba's `uint32x4`. */
export const u32x4: VectorToken<u32x4> = token('u32', 4);
export type i64x2 = t.Vector<'i64x2'>;
/** Two i64 as one value: dtype, type for annotations, and constructor `i64x2(x, y)`, `i64x2(s)`. Numba's `int64x2`. */
export const i64x2: VectorToken<i64x2> = token('i64', 2);
export type i64x3 = t.Vector<'i64x3'>;
/** Three i64 as one value: dtype, type for annotations, and constructor `i64x3(x, y, z)`, `i64x3(s)`. Numba's `int64x3`. */
export const i64x3: VectorToken<i64x3> = token('i64', 3);
export type i64x4 = t.Vector<'i64x4'>;
/** Four i64 as one value: dtype, type for annotations, and constructor `i64x4(x, y, z, w)`, `i64x4(s)`. Numba's `int64x4`. */
export const i64x4: VectorToken<i64x4> = token('i64', 4);
export type u64x2 = t.Vector<'u64x2'>;
/** Two u64 as one value: dtype, type for annotations, and constructor `u64x2(x, y)`, `u64x2(s)`. Numba's `uint64x2`. */
export const u64x2: VectorToken<u64x2> = token('u64', 2);
export type u64x3 = t.Vector<'u64x3'>;
/** Three u64 as one value: dtype, type for annotations, and constructor `u64x3(x, y, z)`, `u64x3(s)`. Numba's `uint64x3`. */
export const u64x3: VectorToken<u64x3> = token('u64', 3);
export type u64x4 = t.Vector<'u64x4'>;
/** Four u64 as one value: dtype, type for annotations, and constructor `u64x4(x, y, z, w)`, `u64x4(s)`. Numba's `uint64x4`. */
export const u64x4: VectorToken<u64x4> = token('u64', 4);
export type f16x2 = t.Vector<'f16x2'>;
/** Two f16 as one value: dtype, type for annotations, and constructor `f16x2(x, y)`, `f16x2(s)`. Numba's `float16x2`. */
export const f16x2: VectorToken<f16x2> = token('f16', 2);
export type f16x3 = t.Vector<'f16x3'>;
/** Three f16 as one value: dtype, type for annotations, and constructor `f16x3(x, y, z)`, `f16x3(s)`. Numba's `float16x3`. */
export const f16x3: VectorToken<f16x3> = token('f16', 3);
export type f16x4 = t.Vector<'f16x4'>;
/** Four f16 as one value: dtype, type for annotations, and constructor `f16x4(x, y, z, w)`, `f16x4(s)`. Numba's `float16x4`. */
export const f16x4: VectorToken<f16x4> = token('f16', 4);
export type bf16x2 = t.Vector<'bf16x2'>;
/** Two bf16 as one value: dtype, type for annotations, and constructor `bf16x2(x, y)`, `bf16x2(s)`. Numba's `bfloat16x2`. */
export const bf16x2: VectorToken<bf16x2> = token('bf16', 2);
export type bf16x3 = t.Vector<'bf16x3'>;
/** Three bf16 as one value: dtype, type for annotations, and constructor `bf16x3(x, y, z)`, `bf16x3(s)`. Numba's `bfloat16x3`. */
export const bf16x3: VectorToken<bf16x3> = token('bf16', 3);
export type bf16x4 = t.Vector<'bf16x4'>;
/** Four bf16 as one value: dtype, type for annotations, and constructor `bf16x4(x, y, z, w)`, `bf16x4(s)`. Numba's `bfloat16x4`. */
export const bf16x4: VectorToken<bf16x4> = token('bf16', 4);
export type f32x2 = t.Vector<'f32x2'>;
/** Two f32 as one value: dtype, type for annotations, and constructor `f32x2(x, y)`, `f32x2(s)`. Numba's `float32x2`. */
export const f32x2: VectorToken<f32x2> = token('f32', 2);
export type f32x3 = t.Vector<'f32x3'>;
/** Three f32 as one value: dtype, type for annotations, and constructor `f32x3(x, y, z)`, `f32x3(s)`. Numba's `float32x3`. */
export const f32x3: VectorToken<f32x3> = token('f32', 3);
export type f32x4 = t.Vector<'f32x4'>;
/** Four f32 as one value: dtype, type for annotations, and constructor `f32x4(x, y, z, w)`, `f32x4(s)`. Numba's `float32x4`. */
export const f32x4: VectorToken<f32x4> = token('f32', 4);
export type f64x2 = t.Vector<'f64x2'>;
/** Two f64 as one value: dtype, type for annotations, and constructor `f64x2(x, y)`, `f64x2(s)`. Numba's `float64x2`. */
export const f64x2: VectorToken<f64x2> = token('f64', 2);
export type f64x3 = t.Vector<'f64x3'>;
/** Three f64 as one value: dtype, type for annotations, and constructor `f64x3(x, y, z)`, `f64x3(s)`. Numba's `float64x3`. */
export const f64x3: VectorToken<f64x3> = token('f64', 3);
export type f64x4 = t.Vector<'f64x4'>;
/** Four f64 as one value: dtype, type for annotations, and constructor `f64x4(x, y, z, w)`, `f64x4(s)`. Numba's `float64x4`. */
export const f64x4: VectorToken<f64x4> = token('f64', 4);
