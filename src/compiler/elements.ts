/**
 * Elements of arrays as the compiler sees them: scalars, and records of them (structs, complex numbers, strings, dates).
 *
 * The IR knows scalars only. An array of records is memory in which members are accessed at their offsets; this says how large
 * such an element is, how it is aligned, and what its members are. What members mean in a kernel is `frontend/records.ts`.
 */
import {
  DTYPE,
  type DType,
  describeDType,
  elemOf,
  f32,
  f64,
  i64,
  isClamped,
  isScalarDType,
  isTextDType,
  isTimeDType,
  isVectorDType,
  SCALAR_TOKENS,
  type StructField,
  subArray,
} from '../dtype/index.ts';
import { ELEM_SIZE, type ElemType } from './ir/ops.ts';

/** The type of an array's elements. Equal dtypes may have different objects; one dtype has one. */
export interface Element {
  /** What the memory is made of: the scalar itself, or for records an unsigned integer as large as each member (else a byte). */
  readonly elem: ElemType;
  /** Bytes of one element. */
  readonly size: number;
  /** The greatest alignment, up to 16, that all elements of an aligned array have. */
  readonly align: number;
  /** Set for records: the struct or complex type. */
  readonly record: DType | undefined;
  /** Stores clamp and round: u8c, whose `elem` is u8. */
  readonly clamped?: true | undefined;
  /** Inference finds the scalar; until then sizes and offsets count elements. */
  readonly open?: true | undefined;
}

/** The elements of a JavaScript array. */
export const OPEN: Element = { elem: 'u8', size: 1, align: 1, record: undefined, open: true };

/** A dtype that stands for an open scalar, and one for two of them. */
const PART = openDType('number', 'f', 1);
const PAIR: DType = {
  ...openDType('complex number', 'c', 2),
  fields: [
    { name: 're', dtype: PART, offset: 0 },
    { name: 'im', dtype: PART, offset: 1 },
  ],
};

function openDType(name: string, kind: 'f' | 'c', itemSize: number): DType {
  return { [DTYPE]: name, name, kind, itemSize, alignment: 1, typestr: '' };
}

/** The elements of a JavaScript array of complex numbers: two each of one open type. */
export const OPEN_COMPLEX: Element = { elem: 'u8', size: 2, align: 1, record: PAIR, open: true };

const CLAMPED: Element = { elem: 'u8', size: 1, align: 1, record: undefined, clamped: true };

const SCALARS = new Map<ElemType, Element>();
const RECORDS = new WeakMap<DType, Element>([[PART, OPEN]]);

/** The largest alignment that any member needs, or that any access has use for. */
export const MAX_ALIGN = 16;

/** The largest power of two that divides `n`, at most `MAX_ALIGN`; that for 0. */
export function alignmentOf(n: number): number {
  for (let power = MAX_ALIGN; power > 1; power /= 2) if (n % power === 0) return power;
  return 1;
}

export function scalarElement(elem: ElemType, clamped: true | undefined = undefined): Element {
  if (clamped) return CLAMPED;
  let known = SCALARS.get(elem);
  if (known === undefined) {
    known = { elem, size: ELEM_SIZE[elem], align: ELEM_SIZE[elem], record: undefined };
    SCALARS.set(elem, known);
  }
  return known;
}

/** The element that a dtype describes. Throws NotSupportedError for a bare sub-array. */
export function elementOf(dtype: DType): Element {
  if (isScalarDType(dtype)) return scalarElement(elemOf(dtype), isClamped(dtype) || undefined);
  let known = RECORDS.get(dtype);
  if (known === undefined) {
    if (fieldsOf(dtype) === undefined) elemOf(dtype);
    known = { elem: storageOf(dtype), size: dtype.itemSize, align: alignmentOf(dtype.itemSize), record: dtype };
    RECORDS.set(dtype, known);
  }
  return known;
}

/** The dtype that an element was made of. */
export function dtypeOfElement({ record, elem, clamped }: Element): DType {
  return record ?? SCALAR_TOKENS[clamped ? 'u8c' : elem];
}

const COMPLEX: Readonly<Record<string, readonly StructField[]>> = {
  c64: [
    { name: 're', dtype: f32, offset: 0 },
    { name: 'im', dtype: f32, offset: 4 },
  ],
  c128: [
    { name: 're', dtype: f64, offset: 0 },
    { name: 'im', dtype: f64, offset: 8 },
  ],
};

/** The only member of a string, the sub-array of its characters, and of a date, its count. No name of an author's is spelled so. */
export const CONTENT = '(content)';

const CONTENTS = new WeakMap<DType, readonly StructField[]>();

function contentOf(dtype: DType): readonly StructField[] | undefined {
  const known = CONTENTS.get(dtype);
  if (known !== undefined) return known;
  if (!isTextDType(dtype) && !isTimeDType(dtype)) return undefined;
  const content = isTextDType(dtype) ? subArray(dtype.unit, [dtype.length]) : i64;
  const fields = [{ name: CONTENT, dtype: content, offset: 0 }];
  CONTENTS.set(dtype, fields);
  return fields;
}

/** The members of a struct or complex number, or what is in a string or a date; undefined for other types. */
export function fieldsOf(dtype: DType): readonly StructField[] | undefined {
  return dtype.fields ?? COMPLEX[dtype.name] ?? contentOf(dtype);
}

/** Each scalar in a record, with its offset; of sub-arrays the first and the last. */
function* leaves(dtype: DType, offset: number): Generator<{ readonly size: number; readonly offset: number }> {
  const fields = fieldsOf(dtype);
  if (fields !== undefined) {
    for (const field of fields) yield* leaves(field.dtype, offset + field.offset);
  } else if (dtype.base !== undefined) {
    yield* leaves(dtype.base, offset);
    yield* leaves(dtype.base, offset + dtype.itemSize - dtype.base.itemSize);
  } else yield { size: dtype.itemSize, offset };
}

const UNSIGNED: Readonly<Record<number, ElemType>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/** Members of one size at multiples of it are elements of one array; others are bytes. */
function storageOf(dtype: DType): ElemType {
  const all = [...leaves(dtype, 0)];
  const size = all[0]?.size ?? 1;
  const same = dtype.itemSize % size === 0 && all.every((leaf) => leaf.size === size && leaf.offset % size === 0);
  return same ? (UNSIGNED[size] ?? 'u8') : 'u8';
}

const KEYS = new WeakMap<DType, string>();

/** A key that is equal for records of equal members at equal offsets, and only for those. */
export function recordKey(dtype: DType): string {
  let key = KEYS.get(dtype);
  if (key === undefined) {
    if (isVectorDType(dtype) || isTextDType(dtype) || isTimeDType(dtype)) return dtype.name;
    const fields = fieldsOf(dtype) ?? [];
    const members = fields.map((field) => `${JSON.stringify(field.name)}@${field.offset}:${memberKey(field.dtype)}`);
    key = `{${members.join(',')}}${dtype.itemSize}`;
    KEYS.set(dtype, key);
  }
  return key;
}

function memberKey(dtype: DType): string {
  if (dtype.base !== undefined) return `${memberKey(dtype.base)}[${String(dtype.subShape)}]`;
  return fieldsOf(dtype) === undefined ? dtype.name : recordKey(dtype);
}

/** An element type as messages show it. */
export function describeElement(element: Element): string {
  if (element.open) return element.record === undefined ? 'numbers' : 'complex numbers';
  if (element.record !== undefined) return describeDType(element.record);
  return element.clamped ? 'u8c' : element.elem;
}
