import { describe, expect, it } from 'vitest';
import { f32, i32 } from '../dtype/index.ts';
import { parseSignature, parseSignatures, parseType, showType } from './signature.ts';

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
    ['Tuple((f32,))', '((f32,),)'],
    ['()', '()'],
  ])('%s is %s', (text, shown) => {
    expect(showType(parseType(text))).toBe(shown);
  });

  it('needs no return type, and allows a trailing comma', () => {
    expect(parseSignature('(f32[:], i32,)').text).toBe('void(f32[:], i32)');
    expect(parseSignature(' none ( ) ').text).toBe('void()');
  });

  it.each([
    ['void(f32[:], i8)', "'i8' is int8 in Tsamba and int64 in NumPy: write 'int8' or 'int64'"],
    ['void(u8)', "'u8' is uint8 in Tsamba and uint64 in NumPy"],
    ['void(float33)', "'float33' is not a type: the types are"],
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
