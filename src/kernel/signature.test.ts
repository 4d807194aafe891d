import { describe, expect, it } from 'vitest';
import { datetime64, f32, f32x4, i32, struct, unicodeCharSeq } from '../dtype/index.ts';
import { parseFunction, parseSignature, parseSignatures, parseType, types } from './signature.ts';
import { showType } from './type-text.ts';

describe('one signature', () => {
  it('has scalars and arrays in Numba’s spelling', () => {
    const { args } = parseSignature('void(float32[:], int32, f8[:, ::1], int8[::1, :])');
    expect(args).toEqual([
      { kind: 'array', elem: 'f32', ndim: 1, layout: 'A', unit: 4 },
      { kind: 'scalar', type: 'i32' },
      { kind: 'array', elem: 'f64', ndim: 2, layout: 'C', unit: 8 },
      { kind: 'array', elem: 'i8', ndim: 2, layout: 'F', unit: 1 },
    ]);
  });

  it.each([
    ['b1', 'bool'],
    ['boolean', 'bool'],
    ['i1', 'int8'],
    ['int16', 'i16'],
    ['i4', 'i32'],
    ['int64', 'i64'],
    ['intp', 'i64'],
    ['u1', 'uint8'],
    ['uint16', 'u16'],
    ['u4', 'u32'],
    ['uintp', 'u64'],
    ['f2', 'f16'],
    ['f4', 'f32'],
    ['float64', 'f64'],
    ['types.float32', 'f32'],
    ['np.int32', 'i32'],
    ['f32[::1]', 'f32[::1]'],
    ['f32[:,:,:]', 'f32[:, :, :]'],
    ['f32[::1,:,:]', 'f32[::1, :, :]'],
    ['(f32, i32[:])', '(f32, i32[:])'],
    ['UniTuple(f32, 2)', '(f32, f32)'],
    ['Tuple((f32, i32[:]))', '(f32, i32[:])'],
    ['Tuple(f32, i32)', '(f32, i32)'],
    ["Array(float32, 2, 'C')", 'f32[:, ::1]'],
    ["types.Array(int32, 1, 'A')", 'i32[:]'],
    ["Array(complex64, 2, 'F', True)", 'c64[::1, :]'],
    ["Array(f8, 3, 'A', readonly=True)", 'f64[:, :, :]'],
    ['double', 'f64'],
    ['float', 'f32'],
    ['float_', 'f32'],
    ['half', 'f16'],
    ['int_', 'i64'],
    ['int', 'i32'],
    ['unsigned', 'u32'],
    ['unsigned int', 'u32'],
    ['long long', 'i64'],
    ['unsigned  long long[:]', 'u64[:]'],
    ['short int', 'i16'],
    ['char', 'int8'],
    ['unsigned char[::1]', 'uint8[::1]'],
    ['byte', 'uint8'],
    ['uchar', 'uint8'],
    ['intc', 'i32'],
    ['longlong', 'i64'],
    ['size_t', 'u64'],
    ['ssize_t', 'i64'],
    ['bool_', 'bool'],
    ['complex128', 'c128'],
    ['c16[:]', 'c128[:]'],
    ['bfloat16[:]', 'bf16[:]'],
    ['u8c[:]', 'u8c[:]'],
    ['float32x4[:]', 'f32x4[:]'],
    ['float4[::1]', 'f32x4[::1]'],
    ['float4', 'f32x4'],
    ['cuda.uchar4[:, :]', 'u8x4[:, :]'],
    ['datetime64[s]', 'datetime64[s]'],
    ["NPTimedelta('D')", 'timedelta64[D]'],
    ['U8[:]', 'U8[:]'],
    ['UnicodeCharSeq(8)[:]', 'U8[:]'],
    ['[unichr x 8][:]', 'U8[:]'],
    ['S5[::1]', 'S5[::1]'],
    ['datetime64[ns][:]', 'datetime64[ns][:]'],
    ["NPDatetime('ns')[:]", 'datetime64[ns][:]'],
    ['M8[D][::1]', 'datetime64[D][::1]'],
    ["NPTimedelta('us')[:, :]", 'timedelta64[us][:, :]'],
    ['()', '()'],
  ])('%s is %s', (text, shown) => {
    expect(showType(parseType(text))).toBe(shown);
  });

  it('needs no return type, and allows a trailing comma', () => {
    expect(parseSignature('(f32[:], i32,)').text).toBe('void(f32[:], i32)');
    expect(parseSignature(' none ( ) ').text).toBe('void()');
  });

  it.each([
    ['void(f32[:], i8)', "'i8' is not supported: it is int8 in Tsamba and int64 in NumPy: write 'int8' or 'int64'"],
    ['void(u8)', "'u8' is not supported: it is uint8 in Tsamba and uint64 in NumPy"],
    ['void(float33)', "'float33' is not a type: did you mean 'float32'?"],
    ['void(unsinged int)', "'unsinged' is not a type: did you mean 'unsigned'?"],
    ['void(xyzzyplugh)', "'xyzzyplugh' is not a type: the types are bool, int8"],
    ['void(long)', "'long' is not supported: it has 32 bits on Windows and 64 elsewhere: write int32 or int64"],
    ['void(uint)', "'uint' is not supported: it is 64 bits to Numba and 32 to OpenCL C"],
    ['void(pyobject)', "'pyobject' is not supported: it only exists in Python"],
    ['void(unicode_type)', "'unicode_type' is not supported: a string is part of what the kernel is compiled for"],
    ['void(Optional(f32))', "'Optional' is not supported: whether an argument is there"],
    ['void(CPointer(f32))', "'CPointer' is not supported: a kernel takes arrays: write float32[:]"],
    ['void(U3)', 'U3 can only be passed in arrays: write U3[:]'],
    ['void(U8)', 'U8 can only be passed in arrays: write U8[:]'],
    ["void(NPDatetime('fs')[:])", 'datetime64 takes a unit, one of Y, M, W'],
    ["Array(float32, 2, 'X')", 'a kernel returns nothing, so it must have a void return type, not Array'],
    ["void(Array(float32, 2, 'X'))", "the layout of an array is 'C', 'F' or 'A', which is any"],
    ['void(Array(float32))', "expected ',' before '))'"],
    ['void(f32[...])', 'an array has as many axes as the signature says'],
    ['void(UniTuple(f32, x))', 'UniTuple needs a type and a count'],
    ['void(f32[)', "expected ':' before ')'"],
    ['void(f32[::2])', "a contiguous axis is written '::1'"],
    ['void(f32[:, ::1, :])', "'::1' stands at the last axis (C) or at the first (F)"],
    ['void(f32[::1, ::1])', 'only one axis can be contiguous'],
    ['void(f32', "expected ')' at the end"],
    ['void(f32) x', "unexpected 'x' after the end"],
    ['f32(f32)', 'a kernel returns nothing, so it must have a void return type, not f32'],
    ['f32[:]', "a signature has its argument types in parentheses: 'void(f32[:])'"],

    ['void(f32[:],,)', "expected a type before ',)'"],
    ['', "expected '(' at the end"],
  ])('%s is refused', (text, message) => {
    expect(() => parseSignature(text)).toThrow(message);
    expect(() => parseSignature(text)).toThrow(TypeError);
  });
});

describe('errors of signatures', () => {
  it.each([
    ['void(flaot32[:], i32)', '  void(flaot32[:], i32)\n       ^^^^^^^'],
    ['void(f32[:], unsigned  long)', '  void(f32[:], unsigned  long)\n               ^^^^^^^^^^^^^^'],
    ['void(f32[:, ::1, :])', '  void(f32[:, ::1, :])\n          ^^^^^^^^^^^'],
    ['void(f32', '  void(f32\n          ^'],
    ['void(f32) x', '  void(f32) x\n            ^'],
  ])('point into %j', (text, frame) => {
    expect(() => parseSignature(text)).toThrow(frame);
  });
});

describe('structs', () => {
  const Point = struct({ x: f32, y: f32 });

  it('have names that are given, or come as values', () => {
    const [named] = parseSignatures('void(Point[::1], Point)', { Point });
    const [value] = parseSignatures(types.void(types.array(Point, 1, 'C'), Point));
    expect(named?.args).toEqual(value?.args);
    expect(named?.args[0]).toMatchObject({ kind: 'array', ndim: 1, layout: 'C', record: { dtype: Point } });
    expect(() => parseSignature('void(Piont[:])', { Point })).toThrow("did you mean 'Point'?");
  });
});

describe('signatures as values', () => {
  it('print as text does', () => {
    const signature = types.void(
      types.array(f32),
      types.array('float64', 2, 'F'),
      i32,
      types.uniTuple(f32, 2),
      types.tuple(i32, 'f32[:]'),
    );
    expect(String(signature)).toBe('void(f32[:], f64[::1, :], i32, (f32, f32), (i32, f32[:]))');
    expect(parseSignatures([signature, types.void()]).map(({ text }) => text)).toEqual([String(signature), 'void()']);
    expect(parseSignatures([types.array(f32x4), types.array(unicodeCharSeq(3)), f32]).map(({ text }) => text)).toEqual([
      'void(f32x4[:], U3[:], f32)',
    ]);
  });

  it('are checked where they are made', () => {
    expect(String(types.void(datetime64('s')))).toBe('void(datetime64[s])');
    expect(() => types.void(unicodeCharSeq(3))).toThrow('U3 can only be passed in arrays: types.array(U3)');
    expect(() => types.array(f32, 1.5)).toThrow('a whole number of axes');
    expect(() => types.array(f32, 1, 'K' as 'C')).toThrow("'C', 'F' or 'A', got 'K'");
    expect(() => types.uniTuple(f32, -1)).toThrow(TypeError);
  });
});

describe('functions of other languages', () => {
  it('take what C has', () => {
    expect(parseFunction('unsigned int(const float*, unsigned long long, double *, int)')).toEqual({
      params: [
        { elem: 'f32', pointer: true },
        { elem: 'u64', pointer: false },
        { elem: 'f64', pointer: true },
        { elem: 'i32', pointer: false },
      ],
      result: 'u32',
    });
  });

  it('do not take void', () => {
    expect(() => parseFunction('float32(void)')).toThrow("'void' is what a function gives, not a type of values");
  });
});

describe('what jit takes as signature', () => {
  it('is a string', () => {
    expect(parseSignatures('void(f32[:])')).toHaveLength(1);
  });

  it('is a list of types, tokens among them', () => {
    expect(parseSignatures(['f32[:]', i32, f32]).map(({ text }) => text)).toEqual(['void(f32[:], i32, f32)']);
  });

  it('is several signatures', () => {
    const texts = parseSignatures(['void(f32[:])', '(f64[:])']).map(({ text }) => text);
    expect(texts).toEqual(['void(f32[:])', 'void(f64[:])']);
    expect(parseSignatures([['f32[:]'], [f32]]).map(({ text }) => text)).toEqual(['void(f32[:])', 'void(f32)']);
  });

  it.each([
    [42, "signature must be a string such as 'void(f32[:], i32)' or a list, got 42"],
    [['f32[:]', 3], "a signature lists types such as 'f32[:]' or i32, got 3"],
    [[null], 'a signature lists types such as'],
  ])('is not %o', (input, message) => {
    expect(() => parseSignatures(input)).toThrow(message);
  });
});
