/**
 * Reading and writing one element of any dtype at a byte offset, in the devices' byte order (little-endian).
 *
 * A codec is made once a dtype and cached. It knows every dtype: narrow floats by their bits, bool as one byte, complex
 * numbers as `{ re, im }`, structs as plain objects, sub-arrays as nested arrays, strings as strings, dates as `Date`. Offsets need no alignment.
 */

import { TsambaTypeError } from '../errors.ts';
import { describedValue } from '../options.ts';
import { toComplex } from './complex.ts';
import { converterTo } from './convert.ts';
import { type DType, describeDType, type StructField } from './dtype.ts';
import { narrowCodec } from './narrow-float.ts';
import { nearest } from './spelling.ts';
import { rowOf, type ScalarName, type ScalarRow, type StorageArrays } from './table.ts';
import { isTextDType, readText, type TextDType, writeText } from './text.ts';
import { countOf, hostTime, isTimeDType, showTime, type TimeToken } from './time.ts';

/** How elements of one dtype are read and written. */
export interface Codec {
  /** The element as it prints, where that is not what its value says. */
  show?(view: DataView, offset: number): string;
  /** The element at a byte offset: number, bigint, boolean, `{ re, im }`, or a plain object. */
  read(view: DataView, offset: number): unknown;
  /** Converts by the rule of casts and writes. Throws TypeError for a value that the dtype cannot hold. */
  write(view: DataView, offset: number, value: unknown): void;
}

const CODECS = new WeakMap<DType, Codec>();

/** The codec of a dtype. */
export function codecOf(dtype: DType): Codec {
  let codec = CODECS.get(dtype);
  if (codec === undefined) {
    codec = makeCodec(dtype);
    CODECS.set(dtype, codec);
  }
  return codec;
}

function makeCodec(dtype: DType): Codec {
  if (dtype.fields !== undefined) return structCodec(dtype, dtype.fields);
  if (dtype.base !== undefined && dtype.subShape !== undefined) return subArrayCodec(dtype, dtype.base, dtype.subShape);
  if (dtype.name === 'c64') return complexCodec(dtype, RAW.Float32Array, 4);
  if (dtype.name === 'c128') return complexCodec(dtype, RAW.Float64Array, 8);
  if (isTextDType(dtype)) return textCodec(dtype);
  if (isTimeDType(dtype)) return timeCodec(dtype);
  const name = dtype.name as ScalarName;
  const raw = scalarCodec(rowOf(name));
  const convert = converterTo(name);
  return { read: raw.read, write: (view, offset, value) => raw.write(view, offset, convert(value)) };
}

interface RawCodec {
  read(view: DataView, offset: number): number | bigint | boolean;
  /** The value has been converted. */
  write(view: DataView, offset: number, value: number | bigint | boolean): void;
}

const RAW: Readonly<Record<keyof StorageArrays, RawCodec>> = {
  Int8Array: { read: (v, o) => v.getInt8(o), write: (v, o, x) => v.setInt8(o, Number(x)) },
  Uint8Array: { read: (v, o) => v.getUint8(o), write: (v, o, x) => v.setUint8(o, Number(x)) },
  Uint8ClampedArray: { read: (v, o) => v.getUint8(o), write: (v, o, x) => v.setUint8(o, Number(x)) },
  Int16Array: { read: (v, o) => v.getInt16(o, true), write: (v, o, x) => v.setInt16(o, Number(x), true) },
  Uint16Array: { read: (v, o) => v.getUint16(o, true), write: (v, o, x) => v.setUint16(o, Number(x), true) },
  Int32Array: { read: (v, o) => v.getInt32(o, true), write: (v, o, x) => v.setInt32(o, Number(x), true) },
  Uint32Array: { read: (v, o) => v.getUint32(o, true), write: (v, o, x) => v.setUint32(o, Number(x), true) },
  BigInt64Array: { read: (v, o) => v.getBigInt64(o, true), write: (v, o, x) => v.setBigInt64(o, BigInt(x), true) },
  BigUint64Array: { read: (v, o) => v.getBigUint64(o, true), write: (v, o, x) => v.setBigUint64(o, BigInt(x), true) },
  Float32Array: { read: (v, o) => v.getFloat32(o, true), write: (v, o, x) => v.setFloat32(o, Number(x), true) },
  Float64Array: { read: (v, o) => v.getFloat64(o, true), write: (v, o, x) => v.setFloat64(o, Number(x), true) },
};

/** What elements of a row's type are, out of what memory is made of. */
function scalarCodec({ kind, storage, narrow }: ScalarRow): RawCodec {
  const raw = RAW[storage];
  if (kind === 'b') {
    return { read: (v, o) => raw.read(v, o) !== 0, write: (v, o, x) => raw.write(v, o, x ? 1 : 0) };
  }
  if (narrow === undefined) return raw;
  const { decode, encode } = narrowCodec(narrow);
  return { read: (v, o) => decode(Number(raw.read(v, o))), write: (v, o, x) => raw.write(v, o, encode(Number(x))) };
}

function complexCodec(dtype: DType, part: RawCodec, partSize: number): Codec {
  return {
    read: (view, offset) => ({ re: part.read(view, offset), im: part.read(view, offset + partSize) }),
    write: (view, offset, value) => {
      const { re, im } = toComplex(value, dtype.name);
      part.write(view, offset, re);
      part.write(view, offset + partSize, im);
    },
  };
}

function textCodec(dtype: TextDType): Codec {
  return {
    read: (view, offset) => readText(view, offset, dtype),
    write: (view, offset, value) => writeText(view, offset, dtype, value),
    show: (view, offset) => JSON.stringify(readText(view, offset, dtype)),
  };
}

function timeCodec(dtype: TimeToken): Codec {
  return {
    read: (view, offset) => hostTime(dtype, view.getBigInt64(offset, true)),
    write: (view, offset, value) => view.setBigInt64(offset, countOf(dtype, value), true),
    show: (view, offset) => showTime(dtype, view.getBigInt64(offset, true)),
  };
}

function structCodec(dtype: DType, fields: readonly StructField[]): Codec {
  const parts = fields.map((field) => ({ ...field, codec: codecOf(field.dtype) }));
  const names = new Set(fields.map((field) => field.name));
  return {
    read(view, offset) {
      return Object.fromEntries(parts.map((part) => [part.name, part.codec.read(view, offset + part.offset)]));
    },
    write(view, offset, value) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        const shown = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
        throw new TsambaTypeError(
          'E_CONVERT',
          `an element of ${describeDType(dtype)} must be a plain object, got ${shown}`,
        );
      }
      // All is checked before anything is written, so that an error leaves the element as it was.
      for (const key of Object.keys(value)) if (!names.has(key)) throw unknownField(dtype, key, names);
      const given = parts.map(({ name }) => describedValue(value, name));
      for (const [i, { name }] of parts.entries()) {
        if (given[i] === undefined) {
          throw new TsambaTypeError(
            'E_CONVERT',
            `field '${name}' of ${describeDType(dtype)} is missing; give every field`,
          );
        }
      }
      const scratch = new DataView(new ArrayBuffer(dtype.itemSize));
      for (const [i, part] of parts.entries()) {
        part.codec.write(scratch, part.offset, given[i]);
        // Field by field: the padding between fields is not ours to touch.
        copyBytes(view, offset + part.offset, scratch, part.offset, part.dtype.itemSize);
      }
    },
  };
}

function copyBytes(to: DataView, toOffset: number, from: DataView, fromOffset: number, count: number): void {
  const target = new Uint8Array(to.buffer, to.byteOffset + toOffset, count);
  target.set(new Uint8Array(from.buffer, from.byteOffset + fromOffset, count));
}

function unknownField(dtype: DType, key: string, names: ReadonlySet<string>): TsambaTypeError {
  const near = nearest(key, names);
  const hint = near === undefined ? '' : `; did you mean '${near}'?`;
  return new TsambaTypeError('E_CONVERT', `${describeDType(dtype)} has no field '${key}'${hint}`);
}

function subArrayCodec(dtype: DType, base: DType, shape: readonly number[]): Codec {
  const codec = codecOf(base);
  // Bytes between neighbours on each axis, last axis fastest.
  const steps = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, n) => product * n, base.itemSize));
  const readAxis = (view: DataView, offset: number, axis: number): unknown => {
    const length = shape[axis];
    if (length === undefined) return codec.read(view, offset);
    return Array.from({ length }, (_, i) => readAxis(view, offset + i * (steps[axis] ?? 0), axis + 1));
  };
  const writeAxis = (view: DataView, offset: number, axis: number, value: unknown): void => {
    const length = shape[axis];
    if (length === undefined) {
      codec.write(view, offset, value);
      return;
    }
    const items =
      Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value as Iterable<unknown>) : undefined;
    if (items?.length !== length) {
      const got = items === undefined ? `a value of type ${typeof value}` : `${items.length}`;
      throw new TsambaTypeError(
        'E_CONVERT',
        `${describeDType(dtype)} needs ${length} items on axis ${axis}, got ${got}`,
      );
    }
    items.forEach((item, i) => {
      writeAxis(view, offset + i * (steps[axis] ?? 0), axis + 1, item);
    });
  };
  return {
    read: (view, offset) => readAxis(view, offset, 0),
    write: (view, offset, value) => writeAxis(view, offset, 0, value),
  };
}
