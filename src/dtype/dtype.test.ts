/**
 * The tokens: sizes and names, casts, strings, struct layouts, TypedArrays, and what TypeScript makes of them.
 */
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  asDType,
  bf16,
  bool,
  type Complex,
  c64,
  c128,
  charSeq,
  DTYPE,
  type DType,
  dataClassOf,
  datetime64,
  describeDType,
  dtypeOfTypedArray,
  elemOf,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  isDType,
  isTypedArray,
  SCALAR_TOKENS,
  type StructDType,
  sameDType,
  struct,
  type TypedArray,
  timedelta64,
  u8,
  u8c,
  u16,
  u32,
  u64,
  unicodeCharSeq,
  type ValueOf,
} from './index.ts';
import { structOf } from './struct.ts';

describe('dtypes print as programs write them', () => {
  const Inner = struct({ a: c64, 'b c': bool }, { align: true });
  test.each<[DType, string]>([
    [f32, 'f32'],
    [c128, 'c128'],
    [f32.array(3, 2), 'f32.array(3, 2)'],
    [struct({ x: f32, y: i32 }), 'struct({ x: f32, y: i32 })'],
    [struct({ x: c64 }, { align: true }), 'struct({ x: c64 }, { align: true })'],
    [struct({ x: u8, y: f64 }, { align: true }), 'struct({ x: u8, y: f64 }, { align: true })'],
    [
      struct({ n: Inner.array(2), _: i16 }),
      'struct({ n: struct({ a: c64, "b c": bool }, { align: true }).array(2), _: i16 })',
    ],
    [structOf([{ name: 'x', dtype: u8, offset: 4 }], 16), 'struct { x: u8 } with offsets 4 in 16 bytes'],
  ])('%s', (dtype, text) => {
    expect(String(dtype)).toBe(text);
    expect(inspect(dtype)).toBe(text);
    expect(inspect({ dtype }, { breakLength: 200 })).toBe(`{ dtype: ${text} }`);
  });

  test('and what they print makes them again', () => {
    const written = new Function('f32', 'c64', 'bool', 'struct', `return ${Inner}`)(f32, c64, bool, struct);
    expect(sameDType(written as DType, Inner)).toBe(true);
  });
});

describe('tokens', () => {
  test.each<[DType, string, number, number, string]>([
    [bool, 'bool', 1, 1, '|b1'],
    [i8, 'i8', 1, 1, '|i1'],
    [u8, 'u8', 1, 1, '|u1'],
    [i16, 'i16', 2, 2, '<i2'],
    [u16, 'u16', 2, 2, '<u2'],
    [i32, 'i32', 4, 4, '<i4'],
    [u32, 'u32', 4, 4, '<u4'],
    [i64, 'i64', 8, 8, '<i8'],
    [u64, 'u64', 8, 8, '<u8'],
    [f16, 'f16', 2, 2, '<f2'],
    [bf16, 'bf16', 2, 2, '<V2'],
    [f32, 'f32', 4, 4, '<f4'],
    [f64, 'f64', 8, 8, '<f8'],
    [c64, 'c64', 8, 4, '<c8'],
    [c128, 'c128', 16, 8, '<c16'],
  ])('%s', (dtype, name, itemSize, alignment, typestr) => {
    expect([dtype.name, dtype.itemSize, dtype.alignment, dtype.typestr]).toEqual([name, itemSize, alignment, typestr]);
    expect(dtype[DTYPE]).toBe(name);
    expect(Object.isFrozen(dtype)).toBe(true);
    expect(isDType(dtype)).toBe(true);
    expect(`${dtype}`).toBe(name);
    expect(asDType(name === 'i8' ? 'int8' : name === 'u8' ? 'uint8' : name)).toBe(dtype);
    expect(asDType(typestr)).toBe(dtype);
  });

  test('are told from other values, and by their brand across copies of the library', () => {
    for (const value of [null, undefined, 'f32', 32, {}, () => 0, { name: 'f32', itemSize: 4 }]) {
      expect(isDType(value)).toBe(false);
    }
    expect(isDType({ [Symbol.for('tsamba.dtype')]: 'f32' })).toBe(true);
  });

  test('the compiler’s names are those of the scalars', () => {
    for (const [name, token] of Object.entries(SCALAR_TOKENS)) expect(elemOf(token)).toBe(name === 'u8c' ? 'u8' : name);
    expect(() => elemOf(c64)).toThrow(
      'kernels cannot access elements of type c64; pass an array of its parts: a.view(f32)',
    );
    expect(() => elemOf(c128)).toThrow('a.view(f64)');
    expect(() => elemOf(struct({ x: f32 }))).toThrow('struct{x: f32}');
  });
});

describe('casts', () => {
  test('floats truncate and saturate, NaN gives 0', () => {
    expect([1.9, -1.9, 300, -300, Number.NaN, Infinity, -Infinity].map((x) => i8(x))).toEqual([
      1, -1, 127, -128, 0, 127, -128,
    ]);
    expect([1.9, -0.5, 255.9, 256, 1e30].map((x) => u8(x))).toEqual([1, 0, 255, 255, 255]);
    expect(Object.is(u8(-0.5), 0)).toBe(true);
    expect(Object.is(i8(-0.5), 0)).toBe(true);
    expect([i16(4e4), i16(-4e4), u16(7e4), u16(-1)]).toEqual([32767, -32768, 65535, 0]);
    expect([i32(2 ** 31), i32(-(2 ** 31) - 1), u32(2 ** 32), u32(-1)]).toEqual([
      2147483647, -2147483648, 4294967295, 0,
    ]);
    expect([i64(1.9), i64(-1e30), i64(1e30), i64(Number.NaN)]).toEqual([1n, -(2n ** 63n), 2n ** 63n - 1n, 0n]);
    expect([u64(-5), u64(2 ** 64), u64(2 ** 63)]).toEqual([0n, 2n ** 64n - 1n, 2n ** 63n]);
    expect([i64(2 ** 63), i64(-(2 ** 63)), i64(2 ** 62)]).toEqual([2n ** 63n - 1n, -(2n ** 63n), 2n ** 62n]);
  });

  test('bigints wrap', () => {
    expect([i8(300n), u8(-1n), i16(40000n), u16(-1n)]).toEqual([44, 255, -25536, 65535]);
    expect([i32(2n ** 31n), u32(-1n), u32(2n ** 40n + 7n)]).toEqual([-2147483648, 4294967295, 7]);
    expect([i64(2n ** 63n), u64(-1n)]).toEqual([-(2n ** 63n), 2n ** 64n - 1n]);
  });

  test('floats round, once', () => {
    expect(f32(0.1)).toBe(Math.fround(0.1));
    expect(f64(0.1)).toBe(0.1);
    expect([f16(0.1), f16(65519), f16(65520), f16(-1e9)]).toEqual([0.0999755859375, 65504, Infinity, -Infinity]);
    expect([bf16(0.1), bf16(3.3961775e38), bf16(-3.3961776e38)]).toEqual([
      0.10009765625,
      3.3895313892515355e38,
      -Infinity,
    ]);
    // Just above a tie: as doubles these would be it, and go down.
    expect([bf16(2n ** 62n + 2n ** 54n + 1n), bf16(-(2n ** 62n + 2n ** 54n + 1n))]).toEqual([
      2 ** 62 + 2 ** 55,
      -(2 ** 62 + 2 ** 55),
    ]);
    expect([f32(3n), f16(2049n), f64(2n ** 53n + 1n)]).toEqual([3, 2048, 2 ** 53]);
  });

  test('a bigint goes to f32 in one rounding', () => {
    // Rounding to 53 bits first would make this a tie, which then goes down to even.
    const x = 2n ** 60n + 2n ** 36n + 1n;
    expect(Math.fround(Number(x))).toBe(2 ** 60);
    expect(f32(x)).toBe(2 ** 60 + 2 ** 37);
    expect(f32(-x)).toBe(-(2 ** 60) - 2 ** 37);
    expect(f32(2n ** 60n + 2n ** 36n)).toBe(2 ** 60);
    expect(f32(2n ** 60n + 3n * 2n ** 36n)).toBe(2 ** 60 + 2 ** 38);
    expect(f32(2n ** 200n)).toBe(Infinity);
    for (let bits = 20n; bits < 64n; bits++) {
      for (const low of [0n, 1n, 5n]) {
        const value = (0x9e3779b97f4a7c15n >> (64n - bits)) + low;
        const rounded = f32(value);
        expect(rounded).toBe(Math.fround(rounded));
        const error = (r: number): bigint => (BigInt(r) > value ? BigInt(r) - value : value - BigInt(r));
        const ulp = 2 ** (Math.floor(Math.log2(rounded)) - 23);
        for (const other of [rounded - ulp, rounded + ulp]) {
          if (Number.isInteger(other)) expect(error(rounded) <= error(other)).toBe(true);
        }
      }
    }
  });

  test('bool is C’s: all but zero is true', () => {
    expect([bool(0), bool(-0), bool(2), bool(Number.NaN), bool(0n), bool(1n), bool(false)]).toEqual([
      false,
      false,
      true,
      true,
      false,
      true,
      false,
    ]);
    expect([i32(true), f64(false), u64(true)]).toEqual([1, 0, 1n]);
  });

  test('other values are refused', () => {
    expect(() => f32('1' as never)).toThrow('cannot convert a value of type string to f32');
    expect(() => i32({ re: 1, im: 0 } as never)).toThrow('take its .re or .im');
    expect(() => u64(undefined as never)).toThrow(TypeError);
    expect(() => bool(null as never)).toThrow('cannot convert null to bool');
    expect(() => f16([1] as never)).toThrow('cannot convert an array to f16');
    expect(() => i8('1' as never)).toThrow(TypeError);
  });

  test('complex numbers', () => {
    expect(c64(0.1, 2)).toEqual({ re: Math.fround(0.1), im: 2 });
    expect(c128({ re: 0.1, im: -0.5 })).toEqual({ re: 0.1, im: -0.5 });
    expect(c128(3n)).toEqual({ re: 3, im: 0 });
    expect(() => c64('1' as never)).toThrow(
      'cannot convert a value of type string to c64; give a number or { re, im }',
    );
    expect(() => c64({ re: 1 } as never)).toThrow('an object without numbers re and im');
  });
});

describe('strings', () => {
  test.each<[string, DType]>([
    ['float32', f32],
    ['<f4', f32],
    ['=f4', f32],
    ['f4', f32],
    ['f32', f32],
    [' float64 ', f64],
    ['f8', f64],
    ['int8', i8],
    ['i1', i8],
    ['|i1', i8],
    ['uint8', u8],
    ['<i8', i64],
    ['<u8', u64],
    ['int64', i64],
    ['bool', bool],
    ['?', bool],
    ['bool_', bool],
    ['b1', bool],
    ['complex64', c64],
    ['<c8', c64],
    ['c16', c128],
    ['float16', f16],
    ['bfloat16', bf16],
    ['|S8', charSeq(8)],
    ['S8', charSeq(8)],
    ['<U3', unicodeCharSeq(3)],
    ['[unichr x 3]', unicodeCharSeq(3)],
    ['[char x 8]', charSeq(8)],
    ['<M8[ns]', datetime64('ns')],
    ['datetime64[D]', datetime64('D')],
    ['m8[us]', timedelta64('us')],
  ])('%j', (text, dtype) => {
    expect(asDType(text)).toBe(dtype);
  });

  test.each([
    [
      'i8',
      "'i8' is ambiguous: int8 here, int64 in NumPy. Write 'int8' or the token i8 for one byte, 'int64' or '<i8' for eight",
    ],
    ['u8', "'u8' is ambiguous: uint8 here, uint64 in NumPy"],
    ['>f4', "'>f4' is big-endian, which devices cannot read; convert the data and write '<f4'"],
    ['flaot32', "unknown dtype 'flaot32'; did you mean 'float32'?"],
    ['Float32', "did you mean 'float32'?"],
    ['float', "'float64', as Python has it"],
    ['xyzzy', "unknown dtype 'xyzzy' (known:"],
    ['', "unknown dtype ''"],
    ['O', "'O' (Python objects) has no counterpart on devices"],
    ['datetime64', 'datetime64 takes a unit, one of Y, M, W, D, h, m, s, ms, us, ns'],
    ['<m8[fs]', "timedelta64 takes a unit, one of Y, M, W, D, h, m, s, ms, us, ns, got 'fs'"],
    ['U', "'U' does not say how long the strings are"],
    ['S0', "'S0' does not say how long the strings are"],
    // Opaque bytes: ml_dtypes' bfloat16 is '<V2'.
    ['|V2', "unknown dtype '|V2'"],
    ['V2', "unknown dtype 'V2'"],
    ['bfloat', "did you mean 'bfloat16'?"],
    // A wrong digit is likelier than one too many.
    ['f31', "did you mean 'f32'?"],
    ['u17', "did you mean 'u16'?"],
  ])('%j is refused', (text, message) => {
    expect(() => asDType(text)).toThrow(message);
    expect(() => asDType(text)).toThrow(TypeError);
  });

  test('other values are refused', () => {
    expect(() => asDType(32 as never)).toThrow("dtype must be a dtype such as f32 or 'float32', got 32");
    expect(() => asDType(Float32Array as never)).toThrow('got the class Float32Array: write f32');
    expect(() => asDType(f32.array(3) as never)).toThrow('give the dtype f32 and put [3] at the end of the shape');
  });
});

test('complex numbers are made of one or two numbers', () => {
  const of = c64 as unknown as (...given: readonly unknown[]) => unknown;
  expect(of(1)).toEqual({ re: 1, im: 0 });
  expect(() => of(1, 2, 3)).toThrow('c64(re, im) takes 1 or 2 arguments, got 3');
  expect(() => of(1, '2')).toThrow("c64(re, im) takes two numbers, got 1 and '2'");
  expect(() => of({ re: 1, im: 2 }, 3)).toThrow('takes two numbers');
});

describe('structs', () => {
  test('are aligned or not', () => {
    expect(() => struct({ x: u8 }, { align: 'yes' as never })).toThrow("must be true or false, got 'yes'");
  });

  const offsets = (s: StructDType): number[] => s.fields.map((field) => field.offset);

  test('NumPy’s layouts, aligned and packed', () => {
    const bytes = struct({ a: u8, b: u8, x: u8, y: u32, z: u8 }, { align: true });
    expect([bytes.itemSize, offsets(bytes), bytes.alignment]).toEqual([12, [0, 1, 2, 4, 8], 4]);
    const mixed = struct({ a: f64, b: i32, c: c64, d: u8.array(5) }, { align: true });
    expect([mixed.itemSize, offsets(mixed)]).toEqual([32, [0, 8, 12, 20]]);
    const packed = struct({ i: i32, j: f32.array(3, 2) });
    expect([packed.itemSize, offsets(packed), packed.alignment]).toEqual([28, [0, 4], 1]);
    const nested = struct({ x: i32, y: struct({ i: i32, j: f32.array(3, 3) }) });
    expect([nested.itemSize, offsets(nested), nested.typestr]).toEqual([44, [0, 4], '|V44']);
    expect(struct({ a: u8, b: f64 }).itemSize).toBe(9);
  });

  test('an aligned struct inside an aligned struct keeps its alignment, a packed one has none', () => {
    const inner = { a: u8, b: f64 };
    expect(offsets(struct({ x: u8, y: struct(inner, { align: true }) }, { align: true }))).toEqual([0, 8]);
    expect(offsets(struct({ x: u8, y: struct(inner) }, { align: true }))).toEqual([0, 1]);
    const array = struct({ x: u8, y: struct(inner, { align: true }).array(2) }, { align: true });
    expect([array.itemSize, offsets(array)]).toEqual([40, [0, 8]]);
  });

  test('are equal by their fields', () => {
    const s = struct({ x: f32, y: i32 });
    expect(sameDType(s, struct({ x: 'float32', y: 'int32' }))).toBe(true);
    expect(sameDType(s, struct({ x: f32, z: i32 }))).toBe(false);
    expect(sameDType(s, struct({ y: f32, x: i32 }))).toBe(false);
    expect(sameDType(s, struct({ x: f32, y: u32 }))).toBe(false);
    expect(sameDType(struct({ x: u8, y: i32 }), struct({ x: u8, y: i32 }, { align: true }))).toBe(false);
    expect(sameDType(struct({ x: f32.array(2, 3) }), struct({ x: f32.array(2, 3) }))).toBe(true);
    expect(sameDType(struct({ x: f32.array(2, 3) }), struct({ x: f32.array(6) }))).toBe(false);
    expect(sameDType(struct({ x: f32.array(2) }), struct({ x: f64 }))).toBe(false);
    expect(sameDType(f32, i32)).toBe(false);
    expect(sameDType(i32, u32)).toBe(false);
  });

  test('are described by their fields', () => {
    expect(describeDType(struct({ x: f32, y: struct({ z: i8.array(2, 3) }) }))).toBe(
      'struct{x: f32, y: struct{z: i8[2,3]}}',
    );
  });

  test('what is no struct is refused', () => {
    expect(() => struct({})).toThrow('struct() needs at least one field');
    expect(() => struct({ x: 'flaot32' as never })).toThrow(
      "struct field 'x': unknown dtype 'flaot32'; did you mean 'float32'?",
    );
    expect(() => struct({ '0': f32 })).toThrow("name it '_0'");
    expect(() => struct({ x: f32, '17': f32 })).toThrow("name it '_17'");
    expect(struct({ '01': f32, x1: f32 }).fields).toHaveLength(2);
    expect(() => struct([f32] as never)).toThrow('struct() takes an object of fields');
    expect(() => f32.array()).toThrow('needs at least one length');
    expect(() => f32.array(0)).toThrow('lengths must be positive');
    expect(() => f32.array(1.5)).toThrow(TypeError);
  });
});

describe('TypedArrays', () => {
  test.each<[TypedArray, DType]>([
    [new Int8Array(1), i8],
    [new Uint8Array(1), u8],
    [new Uint8ClampedArray(1), u8c],
    [Buffer.alloc(1), u8],
    [new Int16Array(1), i16],
    [new Uint16Array(1), u16],
    [new Int32Array(1), i32],
    [new Uint32Array(1), u32],
    [new BigInt64Array(1), i64],
    [new BigUint64Array(1), u64],
    [new Float32Array(1), f32],
    [new Float64Array(1), f64],
    [runInNewContext('new Float32Array(1)') as Float32Array, f32],
  ])('%o', (array, dtype) => {
    expect(isTypedArray(array)).toBe(true);
    expect(dtypeOfTypedArray(array)).toBe(dtype);
  });

  test('a dtype’s own class holds its elements', () => {
    for (const token of Object.values(SCALAR_TOKENS)) expect(dataClassOf(token).BYTES_PER_ELEMENT).toBe(token.itemSize);
    expect([bool, f16, c64, c128, struct({ x: f32 })].map((d) => dataClassOf(d).name)).toEqual([
      'Uint8Array',
      'Uint16Array',
      'Float32Array',
      'Float64Array',
      'Uint8Array',
    ]);
  });

  test('other views are none', () => {
    expect(isTypedArray(new DataView(new ArrayBuffer(4)))).toBe(false);
    expect(isTypedArray([1, 2])).toBe(false);
    expect(() => dtypeOfTypedArray(new DataView(new ArrayBuffer(4)) as never)).toThrow(TypeError);
  });
});

test('TypeScript sees the element types', () => {
  expectTypeOf(f32(1)).toExtend<number>();
  expectTypeOf(i64(1)).toExtend<bigint>();
  expectTypeOf(bool(1)).toExtend<boolean>();
  const single: f32 = 1.5;
  const plain: number = single;
  expect(plain).toBe(1.5);
  expectTypeOf<f64>().not.toExtend<f32>();
  expectTypeOf<ValueOf<'float32'>>().toEqualTypeOf<f32>();
  expectTypeOf<ValueOf<'<i8'>>().toEqualTypeOf<i64>();
  expectTypeOf<ValueOf<typeof u16>>().toEqualTypeOf<u16>();
  expectTypeOf(asDType(f32)).toExtend<DType<f32>>();
  // @ts-expect-error an f64 dtype is no f32 dtype
  const wrong: DType<f32> = f64;
  expect(wrong).toBe(f64);
  const point = struct({ x: f32, n: i64, z: c64 });
  expectTypeOf<ValueOf<typeof point>>().toEqualTypeOf<{ x: number; n: bigint; z: Complex }>();
});
