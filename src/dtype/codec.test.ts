/**
 * Elements in memory: every dtype written and read back at odd offsets, half precision against a table of all its values.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bf16,
  bool,
  c64,
  c128,
  codecOf,
  converterBetween,
  type DType,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  narrowCodec,
  SCALARS,
  struct,
  u8,
  u16,
  u32,
  u64,
} from './index.ts';

const { decode: decodeHalf, encode: encodeHalf } = narrowCodec(SCALARS.f16.narrow);

function readElement(view: DataView, offset: number, dtype: DType): unknown {
  return codecOf(dtype).read(view, offset);
}

function writeElement(view: DataView, offset: number, dtype: DType, value: unknown): void {
  codecOf(dtype).write(view, offset, value);
}

const point = struct({ x: f32, tag: u8, id: i64 }, { align: true });
const record = struct({ inner: struct({ z: c64, on: bool }), grid: i16.array(2, 3) });

describe('elements', () => {
  test.each<[DType, unknown, number[]]>([
    [bool, true, [1]],
    [i8, -2, [0xfe]],
    [u8, 254, [0xfe]],
    [i16, -2, [0xfe, 0xff]],
    [u16, 0x1234, [0x34, 0x12]],
    [i32, -2, [0xfe, 0xff, 0xff, 0xff]],
    [u32, 0xfffffffe, [0xfe, 0xff, 0xff, 0xff]],
    [i64, -2n, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    [u64, 2n ** 63n, [0, 0, 0, 0, 0, 0, 0, 0x80]],
    [f16, 1.5, [0x00, 0x3e]],
    [bf16, -1.5, [0xc0, 0xbf]],
    [struct({ t: u8, w: bf16.array(2) }), { t: 1, w: [2, -(2 ** -133)] }, [1, 0x00, 0x40, 0x01, 0x80]],
    [f32, 1.5, [0, 0, 0xc0, 0x3f]],
    [f64, 1.5, [0, 0, 0, 0, 0, 0, 0xf8, 0x3f]],
    [c64, { re: 1.5, im: -2 }, [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]],
    [c128, { re: 0, im: 1.5 }, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]],
    [struct({ a: u8, b: i16 }), { a: 7, b: -2 }, [7, 0xfe, 0xff]],
    [
      struct({ m: u8.array(2, 2) }),
      {
        m: [
          [1, 2],
          [3, 4],
        ],
      },
      [1, 2, 3, 4],
    ],
  ])('%s %o: little-endian, at any offset, and no byte more', (dtype, value, bytes) => {
    for (const offset of [0, 1, 3, 8]) {
      const buffer = new Uint8Array(32).fill(0xaa);
      const view = new DataView(buffer.buffer);
      writeElement(view, offset, dtype, value);
      expect([...buffer.subarray(offset, offset + dtype.itemSize)]).toEqual(bytes);
      expect(buffer.filter((byte, i) => byte !== 0xaa && (i < offset || i >= offset + dtype.itemSize))).toHaveLength(0);
      expect(readElement(view, offset, dtype)).toEqual(value);
    }
  });

  test('structs are plain objects, their padding is left alone', () => {
    const buffer = new Uint8Array(16).fill(0xaa);
    const view = new DataView(buffer.buffer);
    writeElement(view, 0, point, { x: 1, tag: 2, id: 3n });
    expect([...buffer.subarray(4, 8)]).toEqual([2, 0xaa, 0xaa, 0xaa]);
    expect(readElement(view, 0, point)).toEqual({ x: 1, tag: 2, id: 3n });
    const big = new DataView(new ArrayBuffer(record.itemSize));
    const value = {
      inner: { z: { re: 1, im: 2 }, on: true },
      grid: [
        [1, 2, 3],
        [4, 5, -6],
      ],
    };
    writeElement(big, 0, record, value);
    expect(readElement(big, 0, record)).toEqual(value);
  });

  test('a struct is written whole or not at all', () => {
    const buffer = new Uint8Array(16).fill(0xaa);
    const view = new DataView(buffer.buffer);
    const write = (value: unknown) => () => writeElement(view, 0, point, value);
    expect(write({ x: 1, tag: 2 })).toThrow(
      "field 'id' of struct{x: f32, tag: u8, id: i64} is missing; give every field",
    );
    expect(write({ x: 1, tag: 2, id: 3n, z: 0 })).toThrow("has no field 'z'");
    expect(write({ x: 1, teg: 2, id: 3n })).toThrow("has no field 'teg'; did you mean 'tag'?");
    expect(write(5)).toThrow('must be a plain object, got a value of type number');
    expect(write([1, 2, 3n])).toThrow('got an array');
    expect(write(null)).toThrow('got null');
    expect(buffer.every((byte) => byte === 0xaa)).toBe(true);
  });

  test('sub-arrays must have their shape', () => {
    const view = new DataView(new ArrayBuffer(32));
    const dtype = struct({ m: f32.array(2, 2) });
    expect(() => writeElement(view, 0, dtype, { m: [[1, 2]] })).toThrow('f32[2,2] needs 2 items on axis 0, got 1');
    expect(() =>
      writeElement(view, 0, dtype, {
        m: [
          [1, 2],
          [3, 4, 5],
        ],
      }),
    ).toThrow('needs 2 items on axis 1, got 3');
    expect(() => writeElement(view, 0, dtype, { m: 1 })).toThrow('got a value of type number');
    writeElement(view, 0, dtype, { m: [new Float32Array([1, 2]), [3, 4]] });
    expect(readElement(view, 0, dtype)).toEqual({
      m: [
        [1, 2],
        [3, 4],
      ],
    });
  });

  test('writing converts as casts do', () => {
    const view = new DataView(new ArrayBuffer(16));
    const through = (dtype: DType, value: unknown): unknown => {
      writeElement(view, 0, dtype, value);
      return readElement(view, 0, dtype);
    };
    expect([through(u8, 300), through(u8, -1), through(u8, 1.9), through(i16, 1e9)]).toEqual([255, 0, 1, 32767]);
    expect([through(i64, 1.5), through(f32, 3n), through(bool, 2), through(c64, 2)]).toEqual([
      1n,
      3,
      true,
      { re: 2, im: 0 },
    ]);
    expect(() => through(f32, { re: 1, im: 0 })).toThrow(TypeError);
  });
});

describe('half precision', () => {
  /** All finite non-negative halves by their bits, from the definition. */
  const halves = Array.from({ length: 0x7c00 }, (_, bits) => {
    const exponent = bits >> 10;
    const fraction = bits & 0x3ff;
    return exponent === 0 ? fraction / 2 ** 24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  });

  test('all 65536 bit patterns', () => {
    const wrong = halves.filter((value, bits) => {
      const decoded = Object.is(decodeHalf(bits), value) && Object.is(decodeHalf(bits | 0x8000), -value);
      return !decoded || encodeHalf(value) !== bits || encodeHalf(-value) !== (bits | 0x8000);
    });
    expect(wrong).toEqual([]);
    expect([decodeHalf(0x7c00), decodeHalf(0xfc00)]).toEqual([Infinity, -Infinity]);
    for (let bits = 0x7c01; bits < 0x8000; bits++) {
      if (!Number.isNaN(decodeHalf(bits)) || !Number.isNaN(decodeHalf(bits | 0x8000))) expect.fail(`NaN ${bits}`);
    }
    expect([encodeHalf(Infinity), encodeHalf(-Infinity), encodeHalf(Number.NaN)]).toEqual([0x7c00, 0xfc00, 0x7e00]);
  });

  test('ties go to even, just beside a tie to the nearer', () => {
    const top = [...halves, 65536];
    const wrong = halves.filter((value, bits) => {
      const tie = (value + Number(top[bits + 1])) / 2;
      const even = bits % 2 === 0 ? bits : bits + 1;
      const [below, above] = [encodeHalf(tie * (1 - 2 ** -52)), encodeHalf(tie * (1 + 2 ** -52))];
      return encodeHalf(tie) !== even || below !== bits || above !== bits + 1;
    });
    expect(wrong).toEqual([]);
    expect(encodeHalf(Number.MIN_VALUE)).toBe(0);
    expect(encodeHalf(-Number.MIN_VALUE)).toBe(0x8000);
  });
});

describe('from one element type to another', () => {
  const convert = (from: DType, to: DType, value: unknown): unknown =>
    converterBetween(from.name as 'f32', to.name as 'f32')(value);

  test('integers wrap, floats saturate', () => {
    expect(convert(i32, u8, 300)).toBe(44);
    expect(convert(f32, u8, 300)).toBe(255);
    expect(convert(i32, i8, 200)).toBe(-56);
    expect(convert(i8, u16, -1)).toBe(65535);
    expect(convert(u32, i32, 4294967295)).toBe(-1);
    expect(convert(i32, u32, -1)).toBe(4294967295);
    expect(convert(i32, u64, -1)).toBe(2n ** 64n - 1n);
    expect(convert(u32, i64, 4294967295)).toBe(4294967295n);
    expect(convert(f64, u64, -1)).toBe(0n);
    expect(convert(i64, i32, 2n ** 31n)).toBe(-2147483648);
    expect(convert(u64, i64, 2n ** 63n)).toBe(-(2n ** 63n));
    expect(convert(i64, i16, -1n)).toBe(-1);
    expect(convert(bool, f32, true)).toBe(1);
    expect(convert(i32, bool, 2)).toBe(true);
    expect(convert(i16, f16, 2049)).toBe(2048);
  });

  test('as TypedArrays wrap integers', () => {
    const types = [i8, u8, i16, u16, i32, u32] as const;
    const arrays = {
      i8: Int8Array,
      u8: Uint8Array,
      i16: Int16Array,
      u16: Uint16Array,
      i32: Int32Array,
      u32: Uint32Array,
    };
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.constantFrom(...types), fc.integer(), (from, to, n) => {
        const value = Number(arrays[from.name as 'i8'].of(n)[0]);
        expect(convert(from, to, value)).toBe(Number(arrays[to.name as 'i8'].of(value)[0]));
      }),
    );
  });
});
